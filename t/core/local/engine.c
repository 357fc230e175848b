/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: the lock and its bias, and messages to ranks that compute.
 */
#include "core/local/engine.h"

#include <sched.h>
#include <stdlib.h>

#include "core/rank/state.h"
#include "job.h"

#define TURNS 20000
#define LONG_BYTES ((size_t)1 << 20)

static struct vm_engine *engine_of(int rank)
{
	return vm_node->ranks[rank].engine;
}

static bool is_biased(int rank)
{
	return atomic_load(&engine_of(rank)->biased);
}

/* Ranks on workers of their own count under the lock of the first one's, who
 * does it most often: the bias goes and comes. */
static int count;

static void count_under_lock(int rank, int size)
{
	struct vm_engine *engine = engine_of(0);

	for (int i = 0; i < (rank ? TURNS / 200 : TURNS); i++) {
		vm_engine_lock(engine);
		count++;
		vm_engine_unlock(engine);
		if (rank && i % 8 == 0)
			sched_yield();
		if (i % 16 == 0 && vm_engine_try(engine)) {
			count++;
			count--;
			vm_engine_unlock(engine);
		}
	}
	vmpi_barrier(vmpi_world());
	vm_engine_lock(engine);
	EXPECT(count == TURNS + (size - 1) * (TURNS / 200));
	vm_engine_unlock(engine);
}

/* Another one takes the lock once; its worker has it for itself again when it
 * has taken it often. */
static void bias_returns(int rank, int size)
{
	(void)size;
	vmpi_barrier(vmpi_world());
	if (rank == 1) {
		vm_engine_lock(engine_of(0));
		EXPECT(!is_biased(0));
		vm_engine_unlock(engine_of(0));
	}
	vmpi_barrier(vmpi_world());
	if (rank == 0)
		while (vm_sched.membarrier && !is_biased(0)) {
			vm_engine_lock(engine_of(0));
			vm_engine_unlock(engine_of(0));
		}
}

/* Messages to a rank that computes until their sender is rid of them. */
static _Atomic bool asked, done;

static void busy_receiver(int rank, int size)
{
	char *data = malloc(LONG_BYTES), small = 0;
	vmpi_chan *world = vmpi_world();
	vmpi_req *reqs[2];

	(void)size;
	asked = done = false;
	vmpi_barrier(world);
	if (rank == 0) {
		job_fill(data, LONG_BYTES, 1);
		while (!asked)
			sched_yield();
		EXPECT(vmpi_send(world, data, LONG_BYTES, 1, 0) == 0);
		EXPECT(vmpi_ssend(world, "a", 1, 1, 1) == 0);
		done = true;
	} else {
		vmpi_irecv(world, &reqs[0], data, LONG_BYTES, 0, 0);
		vmpi_irecv(world, &reqs[1], &small, 1, 0, 1);
		asked = true;
		while (!done)
			sched_yield();
		EXPECT(vm_req_is_done(reqs[0]) && vm_req_is_done(reqs[1]));
		EXPECT(vmpi_wait_all(reqs, NULL, 2) == 0);
		EXPECT(job_filled(data, LONG_BYTES, 1) && small == 'a');
	}
	free(data);
}

/* Sender and receiver compute; the worker of rank 2 has nothing else to do. */
static void busy_pair(int rank, int size)
{
	char *data = malloc(LONG_BYTES);
	vmpi_chan *world = vmpi_world();
	vmpi_req *req;

	(void)size;
	asked = done = false;
	vmpi_barrier(world);
	if (rank == 0) {
		job_fill(data, LONG_BYTES, 2);
		while (!asked)
			sched_yield();
		vmpi_isend(world, &req, data, LONG_BYTES, 1, 0);
		while (!done)
			sched_yield();
		EXPECT(vmpi_wait(&req, NULL) == 0);
	} else if (rank == 1) {
		vmpi_irecv(world, &req, data, LONG_BYTES, 0, 0);
		asked = true;
		while (!vm_req_is_done(req))
			sched_yield();
		done = true;
		EXPECT(vmpi_wait(&req, NULL) == 0);
		EXPECT(job_filled(data, LONG_BYTES, 2));
	} else {
		while (!done)
			vmpi_yield();
	}
	free(data);
}

/* Short messages that are lent: enough to fill a ring, of sizes that go inline
 * too, in one order.  Some receives are posted, some are not. */
#define LENT 300
#define LENT_BYTES 1500

static size_t lent_bytes(int i)
{
	return i % 5 == 4 ? 8 : (size_t)(41 + i * 37 % (LENT_BYTES - 40));
}

static void lent_send(char *data)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *reqs[LENT];

	for (int i = 0; i < LENT; i++) {
		char *from = data + (size_t)i * LENT_BYTES;

		job_fill(from, lent_bytes(i), (uint64_t)i);
		if (i % 7 == 6) {
			reqs[i] = NULL;
			EXPECT(vmpi_send(world, from, lent_bytes(i), 1, 0) ==
			       0);
		} else {
			EXPECT(vmpi_isend(world, &reqs[i], from, lent_bytes(i),
					  1, 0) == 0);
		}
	}
	/* Of half of them the receives are posted only after this. */
	EXPECT(vmpi_wait_all(reqs, NULL, LENT) == 0);
	for (int i = 0; i < LENT; i++)
		memset(data + (size_t)i * LENT_BYTES, -1, lent_bytes(i));
	EXPECT(vmpi_send(world, NULL, 0, 1, 1) == 0);
}

static void lent_receive(char *data)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *reqs[LENT];
	vmpi_status statuses[LENT];
	int i;

	for (i = 0; i < LENT / 2; i++)
		vmpi_irecv(world, &reqs[i], data + (size_t)i * LENT_BYTES,
			   LENT_BYTES, 0, 0);
	vmpi_barrier(world);
	EXPECT(vmpi_recv(world, NULL, 0, 0, 1, NULL) == 0);
	for (; i < LENT; i++)
		vmpi_irecv(world, &reqs[i], data + (size_t)i * LENT_BYTES,
			   LENT_BYTES, 0, 0);
	EXPECT(vmpi_wait_all(reqs, statuses, LENT) == 0);
	for (i = 0; i < LENT; i++)
		EXPECT(statuses[i].bytes == lent_bytes(i) &&
		       job_filled(data + (size_t)i * LENT_BYTES, lent_bytes(i),
				  (uint64_t)i));
}

static void lent_messages(int rank, int size)
{
	char *data = malloc((size_t)LENT * LENT_BYTES);

	(void)size;
	if (rank == 1) {
		lent_receive(data);
	} else {
		vmpi_barrier(vmpi_world());
		lent_send(data);
	}
	free(data);
}

/* Without buffers a lent message that nobody waits for stays with its sender,
 * who waits until it is received. */
static void lent_without_buffers(int rank, int size)
{
	static char data[2][LENT_BYTES];
	vmpi_chan *world = vmpi_world();
	vmpi_req *req;

	(void)size;
	if (rank == 0) {
		job_fill(data[0], LENT_BYTES, 5);
		vmpi_isend(world, &req, data[0], LENT_BYTES, 1, 0);
		EXPECT(vmpi_ssend(world, NULL, 0, 1, 1) == 0);
		EXPECT(!vm_req_is_done(req));
		EXPECT(vmpi_send(world, NULL, 0, 1, 2) == 0);
		EXPECT(vmpi_wait(&req, NULL) == 0);
	} else {
		EXPECT(vmpi_recv(world, NULL, 0, 0, 1, NULL) == 0);
		EXPECT(vmpi_recv(world, NULL, 0, 0, 2, NULL) == 0);
		EXPECT(vmpi_recv(world, data[1], LENT_BYTES, 0, 0, NULL) == 0);
		EXPECT(job_filled(data[1], LENT_BYTES, 5));
	}
}

/* Many workers, of which all send to all, again and again: more rings than are
 * watched.  Before that only those are used that have a message to carry. */
#define MANY 20
#define MANY_ROUNDS 200

static int rings_used(const struct vm_engine *engine)
{
	int used = 0;

	for (int from = 0; from < vm_node->engine_count; from++)
		used += vm_ring_is_used(&engine->in[from]);
	return used;
}

static void pair_only(int rank, int size)
{
	int got;

	(void)size;
	if (rank == 3)
		EXPECT(vmpi_send(vmpi_world(), &rank, sizeof(rank), 4, 0) == 0);
	if (rank == 4)
		EXPECT(vmpi_recv(vmpi_world(), &got, sizeof(got), 3, 0, NULL) ==
			       0 &&
		       got == 3);
	vmpi_barrier(vmpi_world());
	EXPECT(rank != 4 || vm_ring_is_used(&engine_of(4)->in[3]));
	EXPECT(rank == 4 || !vm_ring_is_used(&engine_of(rank)->in[3]));
}

static void all_to_all(int rank, int size)
{
	vmpi_req *reqs[MANY];
	int got[MANY];

	for (int i = 0; i < MANY_ROUNDS; i++) {
		for (int from = 0; from < size; from++)
			vmpi_irecv(vmpi_world(), &reqs[from], &got[from],
				   sizeof(got[from]), from, i);
		for (int to = 0; to < size; to++)
			EXPECT(vmpi_send(vmpi_world(), &rank, sizeof(rank), to,
					 i) == 0);
		EXPECT(vmpi_wait_all(reqs, NULL, size) == 0);
		for (int from = 0; from < size; from++)
			EXPECT(got[from] == from);
	}
	EXPECT(rings_used(engine_of(rank)) == size - 1);
	EXPECT(vm_watch_count(&engine_of(rank)->watch) == VM_WATCHED);
}

int main(void)
{
	plan(10);
	job(3, 3, count_under_lock, "one at a time has the lock");
	job(2, 2, bias_returns, "a worker gets its bias back");
	job(2, 2, busy_receiver, "a waiting sender's worker delivers");
	job(3, 3, busy_pair, "an idle worker delivers");
	job(2, 2, lent_messages, "lent messages come in order and whole");
	job(5, 5, pair_only, "only rings that are used take memory");
	job(MANY, MANY, all_to_all, "no message is overlooked in any of many");
	vmpi_set("sched_spin_us", "0");
	job(2, 2, lent_messages, "also to and from workers that sleep");
	job(2, 2, busy_receiver, "also before it goes to sleep");
	vmpi_set("core_copy_bytes_max", "0");
	job(2, 2, lent_without_buffers, "without buffers the sender waits");
	return done_testing();
}
