/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: handles with beginnings of their own, over blocks that are plainly
 * written.
 */
#include "introspect/vars/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/err.h"
#include "tap.h"

#define RANKS 4
#define WORKERS 3

#define FARM_COW_PVARS(X)                                                    \
	X(COUNTER, steps, "steps", RANK, UB, p2p, "Steps")                   \
	X(COUNTER, hist[3], "steps", RANK, UB, p2p, "Steps by their length") \
	X(LEVEL, calves, "calves", RANK, UB, p2p, "Calves now")              \
	X(HIGHWATERMARK, calves_max, "calves", RANK, UB, p2p, "Most calves") \
	X(HIGHWATERMARK, jump_max, "cm", RANK, UB, p2p, "Highest jump")      \
	X(STATE, mood, "calm|wild", RANK, UB, p2p, "How it feels")
#define FARM_HAND_PVARS(X)                                                \
	X(TIMER, work_ns, "ns", WORKER, UB, p2p, "Work")                  \
	X(HIGHWATERMARK, load_max, "kg", WORKER, UB, p2p, "Most carried") \
	X(LOWWATERMARK, milk_low, "l", WORKER, UB, p2p, "Least milk")
#define FARM_FIELD_PVARS(X) \
	X(PERCENTAGE, grass, "grass", NODE, UB, p2p, "Part that is grown")
#define FARM_GATE_PVARS(X)                                              \
	X(COUNTER, passages, "cows", CHAN, UB, p2p, "Cows that passed") \
	X(LEVEL, queue_len, "cows", CHAN, UB, p2p, "Cows that wait")

struct farm_cow_pvars {
	FARM_COW_PVARS(VM_PVAR_FIELD)
};
struct farm_hand_pvars {
	FARM_HAND_PVARS(VM_PVAR_FIELD)
};
struct farm_field_pvars {
	FARM_FIELD_PVARS(VM_PVAR_FIELD)
};
struct farm_gate_pvars {
	FARM_GATE_PVARS(VM_PVAR_FIELD)
};
VM_PVARS_DEFINE(farm_cow, FARM_COW_PVARS)
VM_PVARS_DEFINE(farm_hand, FARM_HAND_PVARS)
VM_PVARS_DEFINE(farm_field, FARM_FIELD_PVARS)
VM_PVARS_DEFINE(farm_gate, FARM_GATE_PVARS)

static struct {
	struct farm_cow_pvars first, second;
} cows[RANKS];
static struct farm_hand_pvars hands[WORKERS];
static struct farm_field_pvars field;

static bool cow_here(unsigned i)
{
	return i != 3;
}

static const struct vm_pvar_place cow_place = {
	.base = (const char *)cows,
	.stride = sizeof(cows[0]),
	.also = sizeof(struct farm_cow_pvars),
	.count = RANKS,
	.here = cow_here,
};
static const struct vm_pvar_place hand_place = {
	.base = (const char *)hands,
	.stride = sizeof(hands[0]),
	.count = WORKERS,
};
static const struct vm_pvar_place field_place = {
	.base = (const char *)&field,
	.count = 1,
};

static void places_set(bool there)
{
	vm_pvars_place(&farm_cow_pvar_table, there ? &cow_place : NULL);
	vm_pvars_place(&farm_hand_pvar_table, there ? &hand_place : NULL);
	vm_pvars_place(&farm_field_pvar_table, there ? &field_place : NULL);
}

static struct vm_session *session_new(int rank)
{
	struct vm_session *session;

	if (vm_session_new(&session, rank) != 0)
		bail("no session");
	return session;
}

static struct vm_handle *handle_new(struct vm_session *session,
				    const char *name)
{
	struct vm_handle_want want = { .number = vm_pvar_find(name) };
	struct vm_handle *handle;

	if (vm_handle_new(&handle, session, &want) != 0)
		bail("no handle for %s", name);
	return handle;
}

static uint64_t value(struct vm_handle *handle)
{
	uint64_t values[16];

	vm_handle_read(handle, values);
	return values[0];
}

static void before_blocks(void)
{
	struct vm_session *session = session_new(1);
	struct vm_handle *steps = handle_new(session, "farm_steps");
	struct vm_handle *work = handle_new(session, "farm_work_ns");
	struct vm_handle *hist = handle_new(session, "farm_hist");
	const uint64_t written[3] = { 1, 0, 3 };
	uint64_t values[3] = { 7, 7, 7 };

	is_int((intmax_t)value(steps), 0, "without blocks a counter is 0");
	vm_handle_read(hist, values);
	ok(!values[0] && !values[1] && !values[2], "so are those of an array");
	vm_handle_write(hist, written);
	vm_handle_read(hist, values);
	ok(values[0] == 1 && !values[1] && values[2] == 3,
	   "which can be written");
	vm_handle_reset(hist);
	vm_handle_read(hist, values);
	ok(!values[0] && !values[1] && !values[2], "and are 0 once more");
	is_int((intmax_t)vm_handle_count(work), 1,
	       "and nobody knows how many workers there will be");
	places_set(true);
	cows[1].first.steps = 5;
	is_int((intmax_t)value(steps), 5, "it counts when there are some");
	hands[0].work_ns = 9;
	is_int((intmax_t)value(work), 9, "of workers, the first one");
	hands[0].work_ns = 0;
	vm_session_free(session);
}

static void counters(void)
{
	struct vm_session *mine = session_new(1), *other = session_new(1);
	struct vm_session *all = session_new(VM_VIEW_PROCESS);
	struct vm_handle *a, *b, *sum;
	uint64_t read = 0, thousand = 1000;

	cows[1].first.steps = 10;
	cows[1].second.steps = 1;
	cows[2].first.steps = 100;
	a = handle_new(mine, "farm_steps");
	b = handle_new(other, "farm_steps");
	sum = handle_new(all, "farm_steps");
	is_int((intmax_t)value(a), 0, "a counter begins with its handle");
	cows[1].first.steps += 7;
	cows[2].first.steps += 3;
	cows[3].first.steps += 1000;
	is_int((intmax_t)value(a), 7, "it counts its rank");
	is_int((intmax_t)value(sum), 10, "or all ranks that are here");
	is_int(vm_handle_reset(a), 0, "it can be reset");
	cows[1].second.steps += 2;
	is_int((intmax_t)value(a), 2, "and counts in both blocks from then on");
	is_int((intmax_t)value(b), 9, "another handle does not notice");
	is_int(vm_handle_readreset(b, &read), 0, "read and reset");
	ok(read == 9 && value(b) == 0, "gives the value and begins again");
	vm_handle_stop(a);
	cows[1].first.steps += 50;
	is_int((intmax_t)value(a), 2, "a stopped handle stands");
	vm_handle_stop(a);
	vm_handle_start(a);
	is_int((intmax_t)value(a), 2, "and goes on from there");
	cows[1].first.steps++;
	is_int((intmax_t)value(a), 3, "when it is started");
	vm_handle_start(a);
	is_int(vm_handle_write(a, &thousand), 0, "it can be written");
	cows[1].first.steps++;
	is_int((intmax_t)value(a), 1001, "and goes on from that");
	vm_handle_stop(a);
	vm_handle_write(a, &thousand);
	vm_handle_readreset(a, &read);
	ok(read == 1000 && value(a) == 0, "the same while it is stopped");
	is_int((intmax_t)value(b), 52, "the other handle counted all of it");
	vm_session_free(mine);
	vm_session_free(other);
	vm_session_free(all);
}

/* A runtime that is started again counts from 0. */
static void anew(void)
{
	struct vm_session *session = session_new(1);
	struct vm_handle *a = handle_new(session, "farm_steps");

	memset(cows, 0, sizeof(cows));
	cows[1].first.steps = 3;
	is_int((intmax_t)value(a), 3, "a counter that has begun again");
	vm_session_free(session);
}

static void arrays(void)
{
	struct vm_session *mine = session_new(2);
	struct vm_session *all = session_new(VM_VIEW_PROCESS);
	struct vm_handle_want want = { .number = vm_pvar_find("farm_hist"),
				       .total = true };
	struct vm_handle *hist = handle_new(mine, "farm_hist"), *sum;
	struct vm_handle *every = handle_new(all, "farm_hist");
	struct vm_handle *work = handle_new(mine, "farm_work_ns"), *busy;
	uint64_t values[8] = { 0 };

	is_int(vm_handle_new(&sum, mine, &want), 0, "a handle of the total");
	want.number = vm_pvar_find("farm_work_ns");
	is_int(vm_handle_new(&busy, mine, &want), 0, "of workers too");
	is_int(vm_handle_count(hist), 3, "an array has its words");
	is_int(vm_handle_count(work), WORKERS, "workers have one each");
	is_int(vm_handle_count(busy), 1, "a total is one value");
	for (unsigned i = 0; i < 3; i++) {
		cows[2].first.hist[i] += i + 1;
		cows[0].first.hist[i] += 10;
		hands[i].work_ns += 100 * (i + 1);
	}
	vm_handle_read(hist, values);
	ok(values[0] == 1 && values[1] == 2 && values[2] == 3, "all are read");
	vm_handle_read(every, values);
	ok(values[0] == 11 && values[1] == 12 && values[2] == 13,
	   "those of the ranks are added up one by one");
	is_int((intmax_t)value(sum), 6, "the total adds them up");
	vm_handle_read(work, values);
	ok(values[0] == 100 && values[1] == 200 && values[2] == 300,
	   "the workers are read in turn");
	is_int((intmax_t)value(busy), 600, "their total too");
	is_int(vm_session_words(mine), 8, "a session knows its words");
	is_int(vm_session_read(mine, values, 8), 8, "and reads all at once");
	ok(values[2] == 3 && values[3] == 100 && values[5] == 300 &&
		   values[6] == 6 && values[7] == 600,
	   "in the order in which the handles were made");
	is_int(vm_session_read(mine, values, 7), 7, "what fits");
	vm_handle_free(work);
	is_int(vm_session_words(mine), 5, "a freed handle is gone");
	is_int(vm_session_read(mine, values, 8), 5, "from the reads too");
	vm_session_free(mine);
	vm_session_free(all);
}

static void watermarks(void)
{
	struct farm_cow_pvars *cow = &cows[0].first;
	struct vm_session *mine = session_new(0), *other = session_new(0);
	struct vm_session *all = session_new(VM_VIEW_PROCESS);
	struct vm_handle *late, *early, *sum, *jump;
	uint64_t raw = 0, fifty = 50;
	int number = vm_pvar_find("farm_calves_max");

	ok(vm_pvar_resets(number), "a watermark of ranks can be reset");
	ok(!vm_pvar_resets(vm_pvar_find("farm_load_max")),
	   "one without a second block cannot");
	cow->calves = 4;
	cow->calves_max = 9;
	early = handle_new(other, "farm_calves_max");
	sum = handle_new(all, "farm_calves_max");
	is_int((intmax_t)value(early), 4, "it begins with the level");
	vm_pvar_value(&raw, number, 0);
	is_int((intmax_t)raw, 9, "what it was is there for all others");
	vm_pvar_max(cow->calves_max, 7);
	late = handle_new(mine, "farm_calves_max");
	ok(value(late) == 4 && value(early) == 7 && value(sum) == 7,
	   "a later handle begins again, the others keep theirs");
	vm_pvar_max(cow->calves_max, 6);
	ok(value(late) == 6 && value(early) == 7, "all go on");
	is_int(vm_handle_readreset(late, &raw), -VMPI_ENOTSUP,
	       "they are not read and reset in one step");
	cow->calves = 1;
	vm_handle_reset(sum);
	ok(value(sum) == 1 && value(late) == 6 && value(early) == 7,
	   "a handle of all ranks lowers all");
	cows[2].first.calves_max = 3;
	ok(value(sum) == 3 && value(late) == 6, "and sees all");
	vm_handle_write(late, &fifty);
	vm_pvar_max(cow->calves_max, 40);
	ok(value(late) == 50 && value(early) == 40, "it can be written");
	vm_handle_stop(early);
	vm_pvar_max(cow->calves_max, 80);
	is_int((intmax_t)value(early), 40, "stopped it stands");
	cow->calves = 2;
	vm_handle_start(early);
	is_int((intmax_t)value(early), 40, "and missed what was meanwhile");
	is_int((intmax_t)value(late), 80, "unlike others");
	vm_pvar_value(&raw, number, 0);
	is_int((intmax_t)raw, 80, "the value without a handle is the greatest");
	cow->jump_max = 100;
	jump = handle_new(mine, "farm_jump_max");
	is_int((intmax_t)value(jump), 0, "without a level it begins with 0");
	vm_session_free(mine);
	vm_session_free(other);
	vm_session_free(all);
}

static void others(void)
{
	struct vm_session *mine = session_new(1);
	struct vm_session *all = session_new(VM_VIEW_PROCESS);
	struct vm_handle_want want = { .number = vm_pvar_find("farm_mood") };
	struct vm_handle_want block = { .number = vm_pvar_find("farm_steps") };
	struct vm_handle_want raw = block;
	struct farm_cow_pvars own = { .steps = 12 };
	struct vm_handle *mood, *low, *load, *grass, *bound, *bare;
	uint64_t zero = 0;

	cows[1].first.mood = 1;
	mood = handle_new(mine, "farm_mood");
	is_int((intmax_t)value(mood), 1, "a state is read");
	is_int(vm_handle_write(mood, &zero), -VMPI_ENOTSUP, "not written");
	is_int(vm_handle_reset(mood), -VMPI_ENOTSUP, "not reset");
	is_int(vm_handle_new(&mood, all, &want), -VMPI_ENOTSUP, "nor added up");
	want.number = vm_pvar_count();
	is_int(vm_handle_new(&mood, mine, &want), -VMPI_ENOENT,
	       "there is no such variable");
	hands[0].milk_low = VM_PVAR_NONE;
	low = handle_new(mine, "farm_milk_low");
	is_int((intmax_t)value(low), 0, "a low-water mark without a level");
	hands[0].milk_low = 8;
	is_int((intmax_t)value(low), 8, "and with one");
	hands[0].load_max = 30;
	load = handle_new(mine, "farm_load_max");
	is_int((intmax_t)value(load), 30, "a mark that cannot be set back");
	is_int(vm_handle_reset(load), -VMPI_ENOTSUP, "says so");
	field.grass = 500000;
	grass = handle_new(all, "farm_grass");
	is_int((intmax_t)value(grass), 500000, "of the node all see the same");
	block.block = &own;
	vm_handle_new(&bound, mine, &block);
	own.steps += 3;
	is_int((intmax_t)value(bound), 3, "a block of an object counts alone");
	raw.absolute = true;
	vm_handle_new(&bare, mine, &raw);
	is_int((intmax_t)value(bare), 3, "an absolute handle has no beginning");
	is_int(vm_handle_reset(bare), -VMPI_ENOTSUP, "and no reset");
	vm_session_free(mine);
	vm_session_free(all);
}

static int looks;

static void gate_look(const void *block)
{
	((struct farm_gate_pvars *)(uintptr_t)block)->queue_len =
		(uint64_t)++looks;
}

/* A variable of a channel has a block, or none at all. */
static void of_channels(void)
{
	struct vm_session *session = session_new(1);
	struct farm_gate_pvars gate = { .passages = 5 };
	struct vm_handle_want want = { .number =
					       vm_pvar_find("farm_passages") };
	struct vm_handle *passages = NULL, *queue;
	uint64_t none;

	is_int(vm_handle_new(&passages, session, &want), -VMPI_EINVAL,
	       "what is of a channel needs its block");
	ok(!passages, "then there is no handle");
	is_int(vm_pvar_value(&none, want.number, 0), -VMPI_ERANK,
	       "nobody else has one");
	want.block = &gate;
	vm_handle_new(&passages, session, &want);
	want.number = vm_pvar_find("farm_queue_len");
	want.refresh = gate_look;
	vm_handle_new(&queue, session, &want);
	gate.passages += 2;
	is_int((intmax_t)value(passages), 2, "it counts from its beginning");
	looks = 6;
	is_int((intmax_t)value(queue), 7,
	       "a block is brought up to date before it is read");
	is_int((intmax_t)value(queue), 8, "each time");
	is_string(vm_pvar_of_name(VM_PVAR_CHAN), "communicator",
		  "users know channels as communicators");
	vm_session_free(session);
}

static int touch(struct vm_handle *handle, void *arg)
{
	(void)handle;
	return ++*(int *)arg == 2 ? 7 : 0;
}

static void each(void)
{
	struct vm_session *session = session_new(0);
	int seen = 0;

	for (int i = 0; i < 3; i++)
		handle_new(session, "farm_steps");
	is_int(vm_session_each(session, touch, &seen), 7, "handles in turn");
	is_int(seen, 2, "until one has a result");
	vm_session_free(session);
}

/*
 * One thread counts, several read and reset the same handle and make others:
 * each step is counted once, and no mark is lost.
 */
#define STEPS 200000
static _Atomic bool done;
static struct vm_handle *shared;
static struct vm_session *shared_session;

static void *reader(void *arg)
{
	uint64_t *sum = arg, read;

	while (!atomic_load(&done)) {
		vm_handle_readreset(shared, &read);
		*sum += read;
	}
	return NULL;
}

static void *marker(void *arg)
{
	bool *fell = arg;
	int number = vm_pvar_find("farm_calves_max");

	while (!atomic_load(&done)) {
		struct vm_handle *mark =
			handle_new(shared_session, "farm_calves_max");
		uint64_t before = 0, after = 0;

		vm_handle_read(mark, &before);
		vm_handle_reset(mark);
		vm_pvar_value(&after, number, 1);
		if (after < before)
			*fell = true;
		vm_handle_free(mark);
	}
	return NULL;
}

static void threads(void)
{
	struct vm_session *keeper = session_new(1);
	struct vm_handle *mark;
	uint64_t sums[2] = { 0 }, rest = 0;
	bool fell[2] = { false, false };
	pthread_t thread[4];

	memset(cows, 0, sizeof(cows));
	shared_session = session_new(1);
	shared = handle_new(shared_session, "farm_steps");
	mark = handle_new(keeper, "farm_calves_max");
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread[i], NULL, reader, &sums[i]);
		pthread_create(&thread[2 + i], NULL, marker, &fell[i]);
	}
	for (uint64_t i = 1; i <= STEPS; i++) {
		vm_pvar_add(cows[1].first.steps, 1);
		vm_pvar_max(cows[1].first.calves_max, i);
	}
	atomic_store(&done, true);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	vm_handle_readreset(shared, &rest);
	is_int((intmax_t)(sums[0] + sums[1] + rest), STEPS,
	       "nothing is counted twice or lost");
	is_int((intmax_t)value(mark), STEPS, "a mark outlives all resets");
	ok(!fell[0] && !fell[1], "and never falls for those without a handle");
	vm_session_free(shared_session);
	vm_session_free(keeper);
}

/* A second block that is read only when something is there. */
#define FARM_DOG_PVARS(X)                                  \
	X(COUNTER, barks, "barks", RANK, UB, p2p, "Barks") \
	X(HIGHWATERMARK, bite_max, "N", RANK, UB, p2p, "Hardest bite")
struct farm_dog_pvars {
	FARM_DOG_PVARS(VM_PVAR_FIELD)
};
VM_PVARS_DEFINE(farm_dog, FARM_DOG_PVARS)

static struct {
	struct farm_dog_pvars first, second;
	_Atomic bool used;
} dogs[RANKS];
static unsigned refreshed;

static void dog_refresh(unsigned i)
{
	refreshed++;
	if (dogs[i].used)
		dogs[i].second.barks = 30;
}

static const struct vm_pvar_place dog_place = {
	.base = (const char *)dogs,
	.stride = sizeof(dogs[0]),
	.also = offsetof(__typeof__(dogs[0]), second),
	.used = offsetof(__typeof__(dogs[0]), used),
	.count = RANKS,
	.refresh = dog_refresh,
};

static void second_block(void)
{
	struct vm_session *session = session_new(1);
	struct vm_handle_want want = { .number = vm_pvar_find("farm_bite_max"),
				       .absolute = true };
	struct vm_handle *barks, *bite, *bare;

	vm_pvars_place(&farm_dog_pvar_table, &dog_place);
	barks = handle_new(session, "farm_barks");
	refreshed = 0;
	dogs[1].first.barks = 2;
	ok(value(barks) == 2 && value(barks) == 2, "the first block is read");
	is_int(refreshed, 0, "with nothing in the second, it alone");
	dogs[1].used = true;
	is_int((intmax_t)value(barks), 32, "then both");
	is_int(refreshed, 1, "brought up to date");
	dogs[1].used = false;
	if (vm_handle_new(&bare, session, &want) != 0)
		bail("no absolute handle");
	dogs[1].first.bite_max = 60;
	is_int((intmax_t)value(bare), 60, "a mark");
	bite = handle_new(session, "farm_bite_max");
	ok(dogs[1].used, "that is set back says that there is a second block");
	ok(value(bite) == 0 && value(bare) == 60, "where it is found");
	vm_session_free(session);
	vm_pvars_place(&farm_dog_pvar_table, NULL);
}

/* What a shortcut says, and the handle; or, where it has none, MISS. */
#define MISS 12345
static uint64_t by_shortcut(struct vm_shortcut *shortcut)
{
	uint64_t value = MISS;

	if (!vm_shortcut_read(shortcut, &value) && value != MISS)
		bail("a shortcut that is not right has written something");
	return value;
}

static void shortcut_of_counter(struct vm_session *session)
{
	struct vm_handle *barks = handle_new(session, "farm_barks");
	struct vm_shortcut shortcut = { 0 };
	const uint64_t written = 40;
	uint64_t taken;

	vm_handle_shorten(barks, &shortcut);
	is_int((intmax_t)by_shortcut(&shortcut), MISS,
	       "a shortcut is not right before the handle was read");
	ok(value(barks) == 0 && value(barks) == 0, "which is without blocks");
	is_int((intmax_t)by_shortcut(&shortcut), 0, "then it says the same");
	vm_pvars_place(&farm_dog_pvar_table, &dog_place);
	is_int((intmax_t)by_shortcut(&shortcut), MISS,
	       "where there are blocks now it is not right");
	dogs[1].first.barks = 5;
	ok(value(barks) == 5 && value(barks) == 5 &&
		   by_shortcut(&shortcut) == 5,
	   "until the handle has seen them");
	dogs[1].first.barks = 8;
	is_int((intmax_t)by_shortcut(&shortcut), 8, "it counts");
	vm_handle_reset(barks);
	is_int((intmax_t)by_shortcut(&shortcut), 0, "begins anew");
	vm_handle_write(barks, &written);
	dogs[1].first.barks = 9;
	is_int((intmax_t)by_shortcut(&shortcut), 41, "with what is written");
	vm_handle_readreset(barks, &taken);
	ok(taken == 41 && by_shortcut(&shortcut) == 0, "and when it is read");
	vm_handle_stop(barks);
	dogs[1].first.barks = 19;
	ok(value(barks) == 0 && by_shortcut(&shortcut) == MISS,
	   "not while the handle is stopped");
	vm_handle_start(barks);
	dogs[1].first.barks = 20;
	ok(value(barks) == 1 && by_shortcut(&shortcut) == 1, "again then");
	dogs[1].used = true;
	vm_pvars_moved();
	ok(value(barks) == 31 && by_shortcut(&shortcut) == MISS,
	   "not when there is a second block");
	dogs[1].used = false;
	ok(value(barks) == 1 && by_shortcut(&shortcut) == 1, "without it, yes");
	vm_pvars_place(&farm_dog_pvar_table, NULL);
	is_int((intmax_t)by_shortcut(&shortcut), MISS,
	       "nor when the blocks are gone");
}

/* Those whose handles say more than one word does. */
static void shortcut_of_others(struct vm_session *session)
{
	static const struct {
		const char *name, *why;
	} others[] = {
		{ "farm_bite_max", "a mark that can be reset" },
		{ "farm_hist", "an array" },
		{ "farm_milk_low", "a low mark" },
	};

	places_set(true);
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct vm_handle *handle = handle_new(session, others[i].name);
		struct vm_shortcut shortcut = { 0 };

		vm_handle_shorten(handle, &shortcut);
		value(handle);
		value(handle);
		is_int((intmax_t)by_shortcut(&shortcut), MISS, "none: %s",
		       others[i].why);
	}
	places_set(false);
}

static void shortcut_of_total(struct vm_session *session)
{
	struct vm_handle_want want = { .number = vm_pvar_find("farm_work_ns"),
				       .total = true };
	static const struct vm_pvar_place one = {
		.base = (const char *)hands,
		.stride = sizeof(hands[0]),
		.count = 1,
	};
	struct vm_shortcut shortcut = { 0 };
	struct vm_handle *work;

	if (vm_handle_new(&work, session, &want) != 0)
		bail("no total");
	vm_handle_shorten(work, &shortcut);
	vm_pvars_place(&farm_hand_pvar_table, &one);
	hands[0].work_ns = 9;
	value(work);
	ok(value(work) == 9 && by_shortcut(&shortcut) == 9,
	   "the total of one worker is that one's");
	vm_pvars_place(&farm_hand_pvar_table, &hand_place);
	hands[2].work_ns = 30;
	value(work);
	ok(value(work) == 39 + hands[1].work_ns &&
		   by_shortcut(&shortcut) == MISS,
	   "that of several has none");
	vm_pvars_place(&farm_hand_pvar_table, NULL);
}

static void shortcuts(void)
{
	struct vm_session *session = session_new(1);

	memset(dogs, 0, sizeof(dogs));
	shortcut_of_counter(session);
	shortcut_of_others(session);
	shortcut_of_total(session);
	vm_session_free(session);
}

int main(void)
{
	vm_pvars_add(&farm_cow_pvar_table);
	vm_pvars_add(&farm_hand_pvar_table);
	vm_pvars_add(&farm_field_pvar_table);
	vm_pvars_add(&farm_dog_pvar_table);
	vm_pvars_add(&farm_gate_pvar_table);
	before_blocks();
	counters();
	anew();
	arrays();
	watermarks();
	others();
	of_channels();
	each();
	threads();
	second_block();
	shortcuts();
	return done_testing();
}
