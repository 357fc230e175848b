/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages among ranks that are moved from worker to worker at random all the
 * time: of every size, received in every way, with meetings in between.  Each
 * stream from rank to rank comes in order and as it was sent.
 */
#include "core/runtime/migrate.h"

#include <stdlib.h>
#include <string.h>

#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/runtime/node.h"
#include "core/comm/probe.h"
#include "core/rank/vars.h"
#include "job.h"
#include "sched/vars.h"

#define RANKS 24
#define ROUNDS 60
#define EACH 6 /* messages a rank sends in a round */
#define BYTES_MAX 40000

static _Atomic int elsewhere; /* times a rank found itself on another worker */
static uint64_t moves;

static size_t size_of(int source, int dest, int number)
{
	uint64_t random = job_mix((uint64_t)source << 40 |
				  (uint64_t)dest << 20 | (uint64_t)number);

	switch (random % 16) {
	case 0:
		return 20000 + random / 16 % 20000;
	case 1:
	case 2:
		return 100 + random / 16 % 8000;
	default:
		return 12 + random / 16 % 28;
	}
}

/* Whom message i of a round goes to: as many come to each rank. */
static int dest_of(int rank, int round, int i, int size)
{
	return (rank + 1 + (round * 7 + i * 5) % (size - 1)) % size;
}

struct letter {
	int source, number, dest;
};

struct stream {
	int sent[RANKS], got[RANKS];
	vmpi_req *reqs[EACH];
	char *out[EACH];
	char *in;
};

static void letters_send(struct stream *stream, int rank, int round, int size)
{
	vmpi_chan *world = vmpi_world();

	for (int i = 0; i < EACH; i++) {
		int dest = dest_of(rank, round, i, size);
		struct letter letter = { rank, stream->sent[dest]++, dest };
		size_t bytes = size_of(rank, dest, letter.number);

		job_fill(stream->out[i], bytes, (uint64_t)letter.number);
		memcpy(stream->out[i], &letter, sizeof(letter));
		if (i % 3 == 2)
			EXPECT(vmpi_issend(world, &stream->reqs[i],
					   stream->out[i], bytes, dest,
					   i % 2) == 0);
		else
			EXPECT(vmpi_isend(world, &stream->reqs[i],
					  stream->out[i], bytes, dest,
					  i % 2) == 0);
	}
}

static void letter_check(struct stream *stream, const vmpi_status *status,
			 int rank)
{
	struct letter letter;

	memcpy(&letter, stream->in, sizeof(letter));
	EXPECT(letter.source == status->source && letter.dest == rank);
	if (letter.source < 0 || letter.source >= RANKS)
		return;
	EXPECT(letter.number == stream->got[letter.source]);
	stream->got[letter.source] = letter.number + 1;
	EXPECT(status->bytes == size_of(letter.source, rank, letter.number));
	EXPECT(job_filled(stream->in + sizeof(letter),
			  status->bytes - sizeof(letter),
			  (uint64_t)letter.number + sizeof(letter)));
}

/* One message, in one of four ways; all take whatever is the oldest. */
static void letter_take(struct stream *stream, int rank, int way)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status;
	vmpi_msg *msg;
	vmpi_req *req;

	switch (way % 4) {
	case 0:
		EXPECT(vmpi_recv(world, stream->in, BYTES_MAX, VMPI_ANY,
				 VMPI_ANY, &status) == 0);
		break;
	case 1:
		EXPECT(vm_probe(vm_chan_env(world, VM_ANY, VM_ANY), &status) ==
		       0);
		EXPECT(vmpi_recv(world, stream->in, BYTES_MAX, status.source,
				 VMPI_ANY, &status) == 0);
		break;
	case 2:
		EXPECT(vmpi_match(world, &msg, VMPI_ANY, VMPI_ANY) == 0);
		vmpi_yield();
		EXPECT(vmpi_msg_recv(&msg, stream->in, BYTES_MAX, &status) ==
		       0);
		break;
	default:
		EXPECT(vmpi_irecv(world, &req, stream->in, BYTES_MAX, VMPI_ANY,
				  VMPI_ANY) == 0);
		vmpi_sleep(1000);
		EXPECT(vmpi_wait(&req, &status) == 0);
	}
	letter_check(stream, &status, rank);
}

static void body(int rank, int size)
{
	struct stream stream = { .in = malloc(BYTES_MAX) };
	const struct vm_engine *home = vm_rank_self()->engine;
	vmpi_chan *dup;

	for (int i = 0; i < EACH; i++)
		stream.out[i] = malloc(BYTES_MAX);
	for (int round = 0; round < ROUNDS; round++) {
		letters_send(&stream, rank, round, size);
		for (int i = 0; i < EACH; i++)
			letter_take(&stream, rank, rank + round + i);
		EXPECT(vmpi_wait_all(stream.reqs, NULL, EACH) == 0);
		if (round % 4 == 0) {
			EXPECT(vmpi_chan_dup(vmpi_world(), &dup) == 0);
			EXPECT(vmpi_chan_rank(dup) == rank);
			vmpi_chan_free(&dup);
		} else {
			/* Or one takes letters of the next round instead of
			 * those that others wait for. */
			EXPECT(vmpi_barrier(vmpi_world()) == 0);
		}
		elsewhere += vm_rank_self()->engine != home;
		EXPECT(vm_self->worker == vm_rank_self()->engine->worker);
		home = vm_rank_self()->engine;
	}
	for (int i = 0; i < EACH; i++)
		free(stream.out[i]);
	free(stream.in);
	if (rank == 0)
		moves = vm_node->pvars.balance_moves;
}

/* A rank with a task or a thread of its own stays. */
static int task_body(void *arg)
{
	struct vm_engine *home = arg;

	for (int i = 0; i < 200; i++) {
		vmpi_yield();
		EXPECT(vm_rank_self()->engine == home);
	}
	return 0;
}

static void tasks(int rank, int size)
{
	struct vm_engine *home;
	vmpi_task *task;

	(void)size;
	if (rank % 2) {
		for (int i = 0; i < 400; i++)
			vmpi_yield();
		return;
	}
	home = vm_rank_self()->engine;
	EXPECT(vmpi_spawn(&task, task_body, home) == 0);
	for (int i = 0; i < 200; i++)
		vmpi_yield();
	EXPECT(vmpi_join(&task, NULL) == 0);
}

int main(void)
{
	static const int workers[] = { 2, 3, 5 };

	setenv("VMPI_CORE_BALANCE", "auto", 1);
	job(RANKS, 2, body, "without a proof nobody moves");
	is_int(elsewhere, 0, "indeed");
	vm_node_hooks.untied = true;
	for (int i = 0; i < 3; i++) {
		core_cvar.balance_shuffle = 20 + 30 * i;
		job(RANKS, workers[i], body, "messages find who moves");
		ok(moves > 20, "%d moves, %d of them noticed", (int)moves,
		   (int)elsewhere);
	}
	core_cvar.balance_shuffle = 5;
	job(8, 2, tasks, "ranks with tasks stay");
	return done_testing();
}
