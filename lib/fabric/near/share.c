/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking pieces.  The words that both take them by lie in the ring from who begins
 * to the other one.
 */
#include "fabric/near/share.h"

#include "base/clock.h"
#include "fabric/conn.h"
#include "fabric/rma.h"

#define SHARED_MIN 16384	/* bytes */
#define PIECE_MOST (128u << 10) /* two of them, or more, in whole pages */
#define PAGE 4096u

/* How many are not shared behind one of which the other side has taken none. */
#define LEFT_ALONE 15

#define WAIT_NS 100000 /* for the other's last piece, until we suspend */

static size_t piece_of(const struct vm_share *share)
{
	size_t bytes = share->load.bytes,
	       half = (bytes / 2 + PAGE - 1) / PAGE * PAGE;

	if (share->alone || share->given)
		return bytes;
	return half < PIECE_MOST ? half : PIECE_MOST;
}

static uint32_t pieces_of(const struct vm_share *share)
{
	size_t piece = piece_of(share);

	return (uint32_t)((share->load.bytes + piece - 1) / piece);
}

/* Takes the next piece: where it begins; SIZE_MAX: there is none. */
static size_t piece_take(const struct vm_share *share)
{
	_Atomic uint64_t *word = &share->words->next;
	uint64_t next = atomic_load_explicit(word, memory_order_relaxed);
	size_t at;

	do {
		at = (size_t)(uint32_t)next * piece_of(share);
		if (next >> 32 != share->number || at >= share->load.bytes)
			return SIZE_MAX;
	} while (!atomic_compare_exchange_weak_explicit(word, &next, next + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return at;
}

static int piece_move(const struct vm_share *share, size_t at)
{
	size_t left = share->load.bytes - at, piece = piece_of(share);

	return vm_rma_near(share->port, share->process, &share->load, at,
			   left < piece ? left : piece, share->write);
}

static void outlet_give(struct vm_shm_writer *outlet)
{
	/* Pairs with the exchange in outlet_take(). */
	atomic_store_explicit(&outlet->shares, false, memory_order_release);
}

/* The words in the ring from there; NULL: there is none. */
static struct vm_shm_share *words_of(const struct vm_share *share,
				     uint32_t port)
{
	struct vm_inlet *inlet =
		vm_inlet_find(share->port, share->process, port);

	return inlet ? &inlet->reader.ring->share : NULL;
}

/* Whether the other side moves loads of its own. */
static bool other_moves(const struct vm_share *share, uint32_t port)
{
	const struct vm_shm_share *words = words_of(share, port);
	uint64_t until = words ? atomic_load_explicit(&words->busy_until_ns,
						      memory_order_relaxed) :
				 0;

	return until && (until == UINT64_MAX || vm_clock_ns() < until);
}

/* Whether nothing of it is under way, and either the other side is expected to
 * take part or it is begun alone.  Under the port's lock. */
static bool outlet_take(struct vm_shm_writer *outlet, struct vm_share *share,
			uint32_t port)
{
	/* Pairs with the store in outlet_give(). */
	if (atomic_exchange_explicit(&outlet->shares, true,
				     memory_order_acquire))
		return false;
	share->alone = !share->given && outlet->alone != 0;
	if (share->given)
		return true;
	if (share->alone)
		outlet->alone--;
	else if (share->both_ways)
		share->alone = other_moves(share, port);
	if (!share->alone || share->both_ways)
		return true;
	outlet_give(outlet);
	return false;
}

static bool is_worth_it(const struct vm_share *share)
{
	const struct vm_fabric *fabric = share->port->fabric;

	return share->load.bytes >= SHARED_MIN && !vm_link_active() &&
	       share->process != fabric->config.process &&
	       vm_shm_moves_near(fabric->shm, share->process) &&
	       vm_shm_moves_far(fabric->shm, share->process);
}

bool vm_share_begin(struct vm_share *share, uint32_t port)
{
	struct vm_to to = { share->process, port };
	struct vm_conn *conn;
	bool begun;

	if (!is_worth_it(share))
		return false;
	vm_port_lock(share->port);
	begun = vm_conn_get(&conn, share->port, to) == 0 && conn->outlet &&
		outlet_take(conn->outlet, share, port);
	if (begun) {
		if (share->write)
			vm_pvar_add(share->port->pvars.writes, 1);
		else
			vm_pvar_add(share->port->pvars.reads, 1);
		vm_pvar_add(share->port->pvars.shm_moved_bytes,
			    share->load.bytes);
	}
	vm_port_unlock_calm(share->port);
	if (!begun)
		return false;
	share->outlet = conn->outlet;
	share->words = &conn->outlet->ring->share;
	share->number = ++conn->outlet->number;
	share->error = 0;
	share->done =
		atomic_load_explicit(&share->words->done, memory_order_relaxed);
	atomic_store_explicit(&share->words->awaited, 0, memory_order_relaxed);
	if (share->both_ways)
		atomic_store_explicit(&share->words->busy_until_ns, UINT64_MAX,
				      memory_order_relaxed);
	/* Pairs with the exchange in piece_take(). */
	atomic_store_explicit(&share->words->next,
			      (uint64_t)share->number << 32,
			      memory_order_release);
	return true;
}

int vm_share_read(const struct vm_share *share)
{
	const struct vm_load *load = &share->load;
	struct vm_port *port = share->port;
	int rc;

	/* The model's time would have to be waited for. */
	if (vm_link_active() || share->process == port->fabric->config.process)
		return -VMPI_ENOTSUP;
	rc = vm_rma_near(port, share->process, load, 0, load->bytes, false);
	if (rc == 0) {
		vm_port_lock(port);
		vm_pvar_add(port->pvars.reads, 1);
		vm_pvar_add(port->pvars.shm_moved_bytes, load->bytes);
		vm_port_unlock_calm(port);
	}
	return rc;
}

/* Whether the other side has moved its pieces. */
static bool is_done(const struct vm_share *share)
{
	/* Pairs with the addition in vm_share_help(). */
	uint32_t done =
		atomic_load_explicit(&share->words->done, memory_order_acquire);

	return (int32_t)(done - share->done) >= 0;
}

bool vm_share_move(struct vm_share *share)
{
	uint32_t others = pieces_of(share);
	size_t at;

	while ((at = piece_take(share)) != SIZE_MAX) {
		others--;
		if (share->error == 0)
			share->error = piece_move(share, at);
	}
	if (!others && !share->alone)
		share->outlet->alone = LEFT_ALONE;
	share->done += others;
	return vm_share_wait(share);
}

bool vm_share_wait(const struct vm_share *share)
{
	uint64_t end;

	if (is_done(share))
		return true;
	for (end = vm_clock_ns() + WAIT_NS; vm_clock_ns() < end;)
		if (is_done(share))
			return true;
	return false;
}

bool vm_share_await(const struct vm_share *share, uint64_t id)
{
	/* Pairs with the load in vm_share_help(): one of the two sees what the
	 * other one has stored. */
	atomic_store(&share->words->awaited, id);
	atomic_thread_fence(memory_order_seq_cst);
	return is_done(share);
}

int vm_share_end(struct vm_share *share)
{
	int rc = share->error;

	if (!share->given &&
	    atomic_load_explicit(&share->words->failed, memory_order_relaxed) ==
		    share->number) {
		share->outlet->alone = UINT32_MAX;
		rc = vm_rma_near(share->port, share->process, &share->load, 0,
				 share->load.bytes, share->write);
	}
	if (share->both_ways)
		atomic_store_explicit(&share->words->busy_until_ns,
				      vm_clock_ns() + VM_SHARE_LATELY_NS,
				      memory_order_relaxed);
	outlet_give(share->outlet);
	return rc;
}

bool vm_share_give(struct vm_share *share, uint32_t port)
{
	share->given = true;
	share->both_ways = share->write = false;
	if (!vm_share_begin(share, port))
		return false;
	share->done++;
	return true;
}

bool vm_share_take_back(struct vm_share *share)
{
	return piece_take(share) != SIZE_MAX;
}

int vm_share_fill(struct vm_share *share, uint32_t port, uint32_t number)
{
	int rc;

	share->given = share->write = true;
	share->number = number;
	vm_bias_take(&share->port->polling);
	share->words = words_of(share, port);
	vm_bias_give(&share->port->polling);
	if (!share->words)
		return -VMPI_ENOTSUP;
	if (piece_take(share) == SIZE_MAX)
		return -VMPI_EAGAIN;
	rc = piece_move(share, 0);
	if (rc)
		atomic_store_explicit(&share->words->failed, number,
				      memory_order_relaxed);
	atomic_fetch_add(&share->words->done, 1);
	return rc;
}

uint64_t vm_share_help(struct vm_share *share, uint32_t port, uint32_t number)
{
	uint64_t awaited = 0;
	size_t at;

	share->words = words_of(share, port);
	share->number = number;
	if (!share->words || !share->load.bytes)
		return 0;
	while ((at = piece_take(share)) != SIZE_MAX) {
		if (piece_move(share, at) != 0)
			atomic_store_explicit(&share->words->failed, number,
					      memory_order_relaxed);
		atomic_fetch_add(&share->words->done, 1);
		awaited = atomic_load(&share->words->awaited);
	}
	return awaited;
}
