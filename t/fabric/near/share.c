/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that both sides move: by one alone, by the other alone, by both; when nobody
 * asks the other one; and when both begin.
 */
#include "fabric/near/share.h"
#include "fabric/shm/ring.h"
#include "pair.h"

enum { BYTES = 300001, ALONE_MOST = 100, ID = 7 };

static struct pair pair;
static char from[BYTES], to[BYTES];

/* Three places of the side's own, which to the other side are one. */
static struct vm_share share_of(unsigned side, size_t bytes)
{
	static struct iovec own[2][3], other[2];
	char *at = side ? to : from;
	size_t third = bytes / 3;

	own[side][0] = (struct iovec){ at, third };
	own[side][1] = (struct iovec){ at + third, third };
	own[side][2] = (struct iovec){ at + 2 * third, bytes - 2 * third };
	other[side] = (struct iovec){ side ? from : to, bytes };
	return (struct vm_share){
		.port = vm_fabric_port(pair.side[side].fabric, 0),
		.process = !side,
		.load = { own[side], &other[side], 3, 1, bytes },
		.write = !side,
	};
}

/* Side 1 receives.  New data go out, and nothing has come. */
static void begin_as(struct vm_share *share, size_t bytes, bool both_ways)
{
	static char next;

	memset(from, ++next, sizeof(from));
	memset(to, 0, sizeof(to));
	*share = share_of(1, bytes);
	share->both_ways = both_ways;
	if (!vm_share_begin(share, 0))
		bail("%zu bytes are not shared", bytes);
}

static void begin(struct vm_share *share, size_t bytes)
{
	begin_as(share, bytes, false);
}

static uint64_t help(const struct vm_share *share)
{
	struct vm_share other = share_of(0, share->load.bytes);

	return vm_share_help(&other, 0, share->number);
}

static void end(struct vm_share *share, const char *how)
{
	is_int(vm_share_end(share), 0, "%zu bytes are moved",
	       share->load.bytes);
	ok(!memcmp(from, to, share->load.bytes), "%s", how);
}

static void by_sender(size_t bytes)
{
	struct vm_share share;

	begin(&share, bytes);
	is_int((intmax_t)help(&share), 0, "nobody waits to be told");
	ok(vm_share_move(&share), "nothing is left to do");
	end(&share, "by the sender");
}

static void told(void)
{
	struct vm_share share;

	begin(&share, BYTES);
	/* As if it had taken a piece, and not moved it yet. */
	share.done += 3;
	ok(!vm_share_await(&share, ID), "the receiver waits");
	is_int((intmax_t)help(&share), ID, "and is to be told");
	ok(vm_share_wait(&share), "that all is there");
	end(&share, "by the sender");
}

static void by_receiver(void)
{
	struct vm_share share;
	int alone = 0;

	begin(&share, BYTES);
	ok(vm_share_move(&share), "one moves all");
	end(&share, "by the receiver");
	is_int((intmax_t)help(&share), 0, "the sender comes too late");
	share = share_of(1, BYTES);
	while (!vm_share_begin(&share, 0) && ++alone < ALONE_MOST)
		;
	ok(alone > 1 && alone < ALONE_MOST, "%d times it is not asked", alone);
	help(&share);
	vm_share_move(&share);
	vm_share_end(&share);
}

static void alone(struct vm_share *share)
{
	ok(vm_share_move(share), "all of it");
	end(share, "by who has begun");
}

static void helped(struct vm_share *share)
{
	help(share);
	ok(vm_share_move(share), "all of it");
	end(share, "with help");
}

/* Whether the other side is asked, which helps then. */
static bool asked(void)
{
	struct vm_share share;

	begin_as(&share, BYTES, true);
	if (share.alone)
		alone(&share);
	else
		helped(&share);
	return !share.alone;
}

/* Both sides begin. */
static void both_ways(void)
{
	struct vm_share first, second = share_of(0, BYTES);
	_Atomic uint64_t *busy_until_ns;
	uint64_t until_ns;

	second.both_ways = true;
	begin_as(&first, BYTES, true);
	ok(!first.alone, "the side is asked that moves nothing of its own");
	ok(vm_share_begin(&second, 0) && second.alone,
	   "the one that does is not");
	busy_until_ns = &second.words->busy_until_ns;
	until_ns = vm_clock_ns() + VM_SHARE_LATELY_NS;
	alone(&second);
	ok(atomic_load(busy_until_ns) >= until_ns &&
		   atomic_load(busy_until_ns) < UINT64_MAX,
	   "it says until when it is about to move more");
	memset(to, 0, sizeof(to));
	helped(&first);
	atomic_store(busy_until_ns, UINT64_MAX - 1);
	ok(!asked(), "until then it is not asked");
	atomic_store(busy_until_ns, vm_clock_ns());
	ok(asked(), "and then it is");
}

static void refused(void)
{
	struct vm_share share, second = share_of(1, BYTES),
			       few = share_of(1, 1000);

	ok(!vm_share_begin(&few, 0), "few bytes are not shared");
	begin(&share, BYTES);
	ok(!vm_share_begin(&second, 0), "there is one at a time");
	help(&share);
	vm_share_move(&share);
	end(&share, "by the first");
}

/* The sender cannot write there, so the receiver reads. */
static void failed(void)
{
	struct vm_share share, other;

	begin(&share, BYTES);
	other = share_of(0, BYTES);
	other.load.there = &(struct iovec){ (void *)8, BYTES };
	vm_share_help(&other, 0, share.number);
	ok(vm_share_move(&share), "the sender has tried");
	end(&share, "by the receiver after all");
}

/* What the sender is to fill, as it sees it. */
static int fill(const struct vm_share *share)
{
	struct vm_share other = share_of(0, share->load.bytes);

	return vm_share_fill(&other, 0, share->number);
}

static void give(struct vm_share *share)
{
	memset(from, 99, sizeof(from));
	memset(to, 0, sizeof(to));
	*share = share_of(1, BYTES);
	if (!vm_share_give(share, 0))
		bail("%d bytes are not given", BYTES);
}

static void given(void)
{
	struct vm_share share, second = share_of(1, BYTES), other;

	give(&share);
	ok(!vm_share_give(&second, 0), "a place is one at a time, too");
	ok(!vm_share_wait(&share), "it is not filled by itself");
	is_int(fill(&share), 0, "the sender fills it");
	ok(vm_share_wait(&share) && !vm_share_take_back(&share),
	   "it cannot be taken back then");
	end(&share, "by the sender alone");
	give(&share);
	ok(vm_share_take_back(&share), "one that nobody fills is taken back");
	is_int(vm_share_end(&share), 0, "and ends");
	is_int(fill(&share), -VMPI_EAGAIN, "the sender comes too late");
	ok(to[0] == 0, "and writes nothing");
	give(&share);
	other = share_of(0, BYTES);
	other.load.there = &(struct iovec){ (void *)8, BYTES };
	ok(vm_share_fill(&other, 0, share.number) < 0,
	   "what cannot be written there is an error");
	ok(vm_share_wait(&share), "behind which nobody writes");
	vm_share_end(&share);
}

int main(void)
{
	vm_clock_init();
	pair_shm = true;
	pair_open(&pair, 1, NULL);
	if (!vm_fabric_near(pair.side[0].fabric, 1) ||
	    !vm_fabric_near(pair.side[1].fabric, 0))
		skip_all("no memory can be moved here");
	/* The rings in which the words lie are there once something was sent. */
	side_send(&pair.side[1], 0, 0, 0, from, 8, true, NULL);
	side_send(&pair.side[0], 1, 0, 0, from, 8, true, NULL);
	POLL_UNTIL(&pair,
		   pair.side[0].packets == 1 && pair.side[1].packets == 1);
	by_sender(BYTES);
	by_sender(16384);
	told();
	both_ways();
	refused();
	by_receiver();
	failed();
	given();
	pair_close(&pair);
	return done_testing();
}
