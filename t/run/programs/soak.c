/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soak SECONDS SEED: messages, collectives, communicators and threads at random
 * for that long; every byte that arrives is compared.
 *
 * All members of a communicator draw the same numbers, so that all know what
 * each does.  The first wrong byte ends the job, with the seed and the place; at
 * the end rank 0 says what has been done.  The same seed gives the same course
 * up to its end.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define ROUNDS 20 /* between two looks at the clock */
#define TAG_MAX 30000
#define DEPTH_MAX 2 /* of communicators in each other */

/* The amounts of one rank. */
enum { MESSAGES, BYTES, COLLECTIVES, COMMUNICATORS, THREADS, KINDS };

static uint64_t seed, done[KINDS];
static uint64_t draws; /* the state of the numbers that all draw */
static int world_rank;

/* One communicator, and where we are in it. */
struct where {
	MPI_Comm comm;
	int rank, size, depth;
	uint64_t step; /* the number of what is done, the same for all */
};

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static int below(int n)
{
	draws += UINT64_C(0x9e3779b97f4a7c15);
	return (int)(mixed(draws) % (uint64_t)n);
}

__attribute__((format(printf, 2, 3), noreturn)) static void
wrong(const struct where *at, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "soak: seed %llu: step %llu, rank %d, %d of %d: %s\n",
		(unsigned long long)seed, (unsigned long long)at->step,
		world_rank, at->rank, at->size, text);
	MPI_Abort(MPI_COMM_WORLD, 3);
	abort();
}

/* Sizes on both sides of the limits of protocols, and others. */
static int size_draw(void)
{
	static const int sizes[] = { 0,	    1,	   8,	  40,	200,
				     1024,  4000,  8192,  8193, 16128,
				     20000, 65536, 300000 };
	int size = sizes[below(sizeof(sizes) / sizeof(*sizes))];

	switch (below(16)) {
	case 0:
		return below(1 << 20);
	case 1:
		return below(5000);
	default:
		return size > 3 ? size - below(3) : size;
	}
}

/* What `from` sends in a step; part: one of several things there. */
static uint64_t word_of(const struct where *at, int from, int part, size_t i)
{
	return mixed(seed ^ at->step << 24 ^ (uint64_t)part << 48 ^
		     (uint64_t)from << 8 ^ (uint64_t)i * 0x10001);
}

static void fill(const struct where *at, unsigned char *bytes, int count,
		 int from, int part)
{
	for (int i = 0; i < count; i += 8) {
		uint64_t word = word_of(at, from, part, (size_t)i);
		int n = count - i < 8 ? count - i : 8;

		memcpy(bytes + i, &word, (size_t)n);
	}
}

static void compare(const struct where *at, const unsigned char *bytes,
		    int count, int from, int part, const char *what)
{
	for (int i = 0; i < count; i += 8) {
		uint64_t word = word_of(at, from, part, (size_t)i);
		int n = count - i < 8 ? count - i : 8;

		if (memcmp(bytes + i, &word, (size_t)n) != 0)
			wrong(at, "%s: of the %d bytes of %d those from %d on",
			      what, count, from, i);
	}
}

static unsigned char *room(int bytes)
{
	unsigned char *at = calloc((size_t)bytes + 1, 1);

	if (!at) {
		fprintf(stderr, "soak: out of memory\n");
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	return at;
}

static void counted(int bytes)
{
	done[MESSAGES]++;
	done[BYTES] += (uint64_t)bytes;
}

static int tag_of(const struct where *at)
{
	return (int)(at->step % TAG_MAX);
}

static void status_check(const struct where *at, const MPI_Status *status,
			 int from, int bytes, const char *what)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	if (status->MPI_SOURCE != from || status->MPI_TAG != tag_of(at) ||
	    count != bytes)
		wrong(at, "%s: %d bytes of %d with the tag %d, not %d of %d",
		      what, count, status->MPI_SOURCE, status->MPI_TAG, bytes,
		      from);
}

/* One message to the neighbour at a distance, and one of the other side. */
struct exchange {
	int to, from, bytes;
	unsigned char *out, *in;
};

static struct exchange exchange_begin(const struct where *at, int bytes)
{
	int shift = at->size > 1 ? 1 + below(at->size - 1) : 0;
	struct exchange it = { (at->rank + shift) % at->size,
			       (at->rank - shift + at->size) % at->size, bytes,
			       room(bytes), room(bytes) };

	fill(at, it.out, bytes, at->rank, 0);
	return it;
}

static void exchange_end(const struct where *at, struct exchange *it,
			 const char *what)
{
	compare(at, it->in, it->bytes, it->from, 0, what);
	counted(it->bytes);
	free(it->out);
	free(it->in);
}

/* Ways to send without waiting. */
static void send_begin(const struct where *at, const struct exchange *it,
		       MPI_Request *request)
{
	if (below(2))
		MPI_Isend(it->out, it->bytes, MPI_BYTE, it->to, tag_of(at),
			  at->comm, request);
	else
		MPI_Issend(it->out, it->bytes, MPI_BYTE, it->to, tag_of(at),
			   at->comm, request);
}

/* Ways to complete two requests, of which the second is the receive. */
static void both_complete(MPI_Request requests[2], MPI_Status *status)
{
	MPI_Status two[2];
	int flag = 0, index, left = 2;

	switch (below(4)) {
	case 0:
		MPI_Waitall(2, requests, two);
		*status = two[1];
		return;
	case 1:
		while (!flag)
			MPI_Testall(2, requests, &flag, two);
		*status = two[1];
		return;
	case 2:
		while (left--) {
			MPI_Waitany(2, requests, &index, two);
			if (index == 1)
				*status = two[0];
		}
		return;
	default:
		MPI_Wait(&requests[1], status);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	}
}

static void requests_do(struct where *at)
{
	struct exchange it = exchange_begin(at, size_draw());
	MPI_Request requests[2];
	MPI_Status status;
	int any = below(2);

	MPI_Irecv(it.in, it.bytes, MPI_BYTE, any ? MPI_ANY_SOURCE : it.from,
		  tag_of(at), at->comm, &requests[1]);
	send_begin(at, &it, &requests[0]);
	both_complete(requests, &status);
	status_check(at, &status, it.from, it.bytes, "a receive");
	exchange_end(at, &it, "a receive");
	MPI_Barrier(at->comm); /* for those from any source */
}

static void probes_do(struct where *at)
{
	struct exchange it = exchange_begin(at, size_draw());
	MPI_Request request, receive;
	MPI_Message message;
	MPI_Status status;
	int flag = 0, how = below(4);

	send_begin(at, &it, &request);
	if (how & 1)
		MPI_Mprobe(MPI_ANY_SOURCE, tag_of(at), at->comm, &message,
			   &status);
	while (!(how & 1) && !flag)
		MPI_Improbe(it.from, tag_of(at), at->comm, &flag, &message,
			    &status);
	status_check(at, &status, it.from, it.bytes, "a probe");
	if (how & 2) {
		MPI_Mrecv(it.in, it.bytes, MPI_BYTE, &message, &status);
	} else {
		MPI_Imrecv(it.in, it.bytes, MPI_BYTE, &message, &receive);
		MPI_Wait(&receive, &status);
	}
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	exchange_end(at, &it, "a message that was probed");
	MPI_Barrier(at->comm);
}

static void persistent_do(struct where *at)
{
	struct exchange it = exchange_begin(at, size_draw());
	MPI_Request requests[2];
	MPI_Status status;

	MPI_Send_init(it.out, it.bytes, MPI_BYTE, it.to, tag_of(at), at->comm,
		      &requests[0]);
	MPI_Recv_init(it.in, it.bytes, MPI_BYTE, it.from, tag_of(at), at->comm,
		      &requests[1]);
	for (int i = 0; i < 3; i++) {
		memset(it.in, 0, (size_t)it.bytes);
		MPI_Startall(2, requests);
		both_complete(requests, &status);
		compare(at, it.in, it.bytes, it.from, 0, "a persistent one");
		counted(it.bytes);
	}
	for (int i = 0; i < 2; i++)
		MPI_Request_free(&requests[i]);
	exchange_end(at, &it, "a persistent one");
}

/* Bytes with gaps between, to a buffer without. */
static void vectors_do(struct where *at)
{
	int blocks = 1 + below(200), bytes = 1 + below(100);
	struct exchange it = exchange_begin(at, blocks * bytes);
	unsigned char *wide = room(2 * blocks * bytes);
	MPI_Datatype type;

	for (int i = 0; i < blocks; i++)
		memcpy(wide + 2 * i * bytes, it.out + i * bytes, (size_t)bytes);
	MPI_Type_vector(blocks, bytes, 2 * bytes, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	MPI_Sendrecv(wide, 1, type, it.to, tag_of(at), it.in, it.bytes,
		     MPI_BYTE, it.from, tag_of(at), at->comm,
		     MPI_STATUS_IGNORE);
	MPI_Type_free(&type);
	exchange_end(at, &it, "bytes with gaps");
	free(wide);
}

/* Receives that nothing comes for. */
static void cancel_do(struct where *at)
{
	MPI_Request request;
	MPI_Status status;
	char byte;
	int flag;

	for (int i = below(4); i >= 0; i--) {
		MPI_Irecv(&byte, 1, MPI_BYTE, MPI_ANY_SOURCE, TAG_MAX + i,
			  at->comm, &request);
		MPI_Cancel(&request);
		MPI_Wait(&request, &status);
		MPI_Test_cancelled(&status, &flag);
		if (!flag)
			wrong(at, "a receive was not cancelled");
	}
}

/* Short ones of all to one, which come in the order of each sender. */
static void flood_do(struct where *at)
{
	int each = 1 + below(40), to = below(at->size);
	int *next = (int *)(void *)room(at->size * (int)sizeof(int));

	for (int i = 0; i < each && at->rank != to; i++) {
		int pair[2] = { at->rank, i };

		MPI_Send(pair, 2, MPI_INT, to, tag_of(at), at->comm);
		counted(sizeof(pair));
	}
	for (int i = 0; i < each * (at->size - 1) && at->rank == to; i++) {
		MPI_Status status;
		int pair[2];

		MPI_Recv(pair, 2, MPI_INT, MPI_ANY_SOURCE, tag_of(at), at->comm,
			 &status);
		if (status.MPI_SOURCE != pair[0] || next[pair[0]]++ != pair[1])
			wrong(at, "message %d of %d came out of order", pair[1],
			      pair[0]);
	}
	free(next);
	MPI_Barrier(at->comm);
}

struct thread {
	pthread_t thread;
	const struct where *at;
	int bytes, peer, number;
};

static void *thread_main(void *arg)
{
	struct thread *it = arg;
	const struct where *at = it->at;
	unsigned char *out = room(it->bytes), *in = room(it->bytes);

	fill(at, out, it->bytes, at->rank, it->number);
	MPI_Sendrecv(out, it->bytes, MPI_BYTE, it->peer, it->number, in,
		     it->bytes, MPI_BYTE, it->peer, it->number, at->comm,
		     MPI_STATUS_IGNORE);
	compare(at, in, it->bytes, it->peer, it->number, "a thread's");
	free(out);
	free(in);
	return NULL;
}

/* Pairs of ranks, between two threads of each. */
static void threads_do(struct where *at)
{
	struct thread threads[2];
	int bytes = size_draw();
	bool alone = (at->rank ^ 1) >= at->size;

	for (int i = 0; i < 2 && !alone; i++) {
		threads[i] = (struct thread){ .at = at,
					      .bytes = bytes / (i + 1),
					      .peer = at->rank ^ 1,
					      .number = 1 + i };
		if (pthread_create(&threads[i].thread, NULL, thread_main,
				   &threads[i]))
			wrong(at, "a thread cannot be started");
	}
	for (int i = 0; i < 2 && !alone; i++) {
		pthread_join(threads[i].thread, NULL);
		counted(threads[i].bytes);
		done[THREADS]++;
	}
}

/* Collectives. */

static void wait_for(MPI_Request *request)
{
	int flag = 0;

	if (below(2))
		MPI_Wait(request, MPI_STATUS_IGNORE);
	else
		while (!flag)
			MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

static void bcast_do(struct where *at)
{
	int bytes = size_draw(), root = below(at->size);
	unsigned char *buffer = room(bytes);
	MPI_Request request;

	if (at->rank == root)
		fill(at, buffer, bytes, root, 0);
	if (below(2)) {
		MPI_Bcast(buffer, bytes, MPI_BYTE, root, at->comm);
	} else {
		MPI_Ibcast(buffer, bytes, MPI_BYTE, root, at->comm, &request);
		wait_for(&request);
	}
	compare(at, buffer, bytes, root, 0, "a broadcast");
	free(buffer);
}

static void reduce_do(struct where *at)
{
	int count = 1 + size_draw() / 8 % 20000, scan = below(3);
	uint64_t *in = (uint64_t *)(void *)room(count * 8);
	uint64_t *out = (uint64_t *)(void *)room(count * 8);
	int ranks = scan ? at->size : at->rank + 1;
	MPI_Request request;

	for (int i = 0; i < count; i++)
		in[i] = word_of(at, at->rank, 0, (size_t)(i % 64));
	if (!scan) {
		MPI_Scan(in, out, count, MPI_UINT64_T, MPI_SUM, at->comm);
	} else if (scan == 1) {
		MPI_Allreduce(in, out, count, MPI_UINT64_T, MPI_SUM, at->comm);
	} else {
		MPI_Iallreduce(in, out, count, MPI_UINT64_T, MPI_SUM, at->comm,
			       &request);
		wait_for(&request);
	}
	for (int k = 0; k < 64 && k < count; k++) {
		uint64_t sum = 0;

		for (int r = 0; r < ranks; r++)
			sum += word_of(at, r, 0, (size_t)k);
		for (int i = k; i < count; i += 64)
			if (out[i] != sum)
				wrong(at, "element %d of %d of a reduction", i,
				      count);
	}
	free(in);
	free(out);
}

static void gather_do(struct where *at)
{
	int bytes = size_draw() % 5000, root = below(at->size);
	bool all = below(2);
	unsigned char *out = room(bytes), *in = room(bytes * at->size);

	fill(at, out, bytes, at->rank, 0);
	if (all)
		MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE,
			      at->comm);
	else
		MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root,
			   at->comm);
	for (int r = 0; r < at->size && (all || at->rank == root); r++)
		compare(at, in + r * bytes, bytes, r, 0, "what was gathered");
	free(out);
	free(in);
}

/* Rank r sends rank s so many bytes. */
static int block_bytes(int unit, int r, int s)
{
	return unit * (1 + (r + s) % 3);
}

static void alltoall_do(struct where *at)
{
	int unit = size_draw() % 2000, n = at->size;
	int *sizes = (int *)(void *)room(4 * n * (int)sizeof(int));
	int *places = sizes + n, *froms = sizes + 2 * n,
	    *starts = sizes + 3 * n;
	unsigned char *out = room(3 * unit * n), *in = room(3 * unit * n);

	for (int r = 0; r < n; r++) {
		sizes[r] = block_bytes(unit, at->rank, r);
		froms[r] = block_bytes(unit, r, at->rank);
		places[r] = r ? places[r - 1] + sizes[r - 1] : 0;
		starts[r] = r ? starts[r - 1] + froms[r - 1] : 0;
		fill(at, out + places[r], sizes[r], at->rank, 1 + r);
	}
	MPI_Alltoallv(out, sizes, places, MPI_BYTE, in, froms, starts, MPI_BYTE,
		      at->comm);
	for (int r = 0; r < n; r++)
		compare(at, in + starts[r], froms[r], r, 1 + at->rank,
			"one of all to all");
	free(sizes);
	free(out);
	free(in);
}

static void barrier_do(struct where *at)
{
	MPI_Request request;

	if (below(2)) {
		MPI_Barrier(at->comm);
		return;
	}
	MPI_Ibarrier(at->comm, &request);
	wait_for(&request);
}

static void steps_do(struct where *at, int steps);

/* A communicator of all, or of those of a colour, in another order; some steps
 * in it. */
static void communicator_do(struct where *at)
{
	struct where in = { .depth = at->depth + 1, .step = at->step };
	int how = below(3), steps = 1 + below(4), colors = 1 + below(3);
	uint64_t before = draws;
	MPI_Request request;

	if (at->depth == DEPTH_MAX)
		return;
	if (how == 0) {
		MPI_Comm_dup(at->comm, &in.comm);
	} else if (how == 1) {
		MPI_Comm_idup(at->comm, &in.comm, &request);
		wait_for(&request);
	} else {
		MPI_Comm_split(at->comm, at->rank % colors, -at->rank,
			       &in.comm);
		draws += (uint64_t)(at->rank % colors) << 32;
	}
	done[COMMUNICATORS]++;
	MPI_Comm_rank(in.comm, &in.rank);
	MPI_Comm_size(in.comm, &in.size);
	steps_do(&in, steps);
	MPI_Comm_free(&in.comm);
	/* Groups have drawn differently. */
	draws = before + 1;
}

/* What there is to do, and how often; whether it is one collective. */
static const struct act {
	void (*run)(struct where *at);
	int weight;
	bool collective;
} acts[] = {
	{ requests_do, 6, false },     { probes_do, 4, false },
	{ persistent_do, 2, false },   { vectors_do, 2, false },
	{ cancel_do, 1, false },       { flood_do, 3, false },
	{ threads_do, 1, false },      { bcast_do, 3, true },
	{ reduce_do, 3, true },	       { gather_do, 2, true },
	{ alltoall_do, 2, true },      { barrier_do, 1, true },
	{ communicator_do, 2, false },
};

static const struct act *act_draw(void)
{
	const struct act *act = acts;
	int sum = 0, which;

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		sum += acts[i].weight;
	for (which = below(sum); which >= act->weight; act++)
		which -= act->weight;
	return act;
}

static void steps_do(struct where *at, int steps)
{
	for (int i = 0; i < steps; i++) {
		const struct act *act = act_draw();

		at->step++;
		act->run(at);
		done[COLLECTIVES] += act->collective;
	}
}

static void summary_print(double seconds, int ranks)
{
	static const char *const names[KINDS] = { "messages", "bytes",
						  "collectives of a rank",
						  "communicators of a rank",
						  "threads" };
	uint64_t all[KINDS];
	struct rusage usage;

	MPI_Reduce(done, all, KINDS, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (world_rank)
		return;
	all[COLLECTIVES] /= (uint64_t)ranks;
	all[COMMUNICATORS] /= (uint64_t)ranks;
	getrusage(RUSAGE_SELF, &usage);
	printf("soak: seed %llu: %d ranks, %.1f seconds",
	       (unsigned long long)seed, ranks, seconds);
	for (int i = 0; i < KINDS; i++)
		printf(", %llu %s", (unsigned long long)all[i], names[i]);
	printf(", %ld KiB at most; all of it was right\n", usage.ru_maxrss);
}

int main(int argc, char **argv)
{
	double seconds = argc == 3 ? strtod(argv[1], NULL) : 0, begin;
	struct where world = { .comm = MPI_COMM_WORLD };
	int provided, stop = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &world.size);
	world.rank = world_rank;
	if (seconds <= 0 || provided < MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "usage: soak SECONDS SEED\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	draws = seed = strtoull(argv[2], NULL, 0);
	begin = MPI_Wtime();
	while (!stop) {
		steps_do(&world, ROUNDS);
		stop = MPI_Wtime() - begin >= seconds;
		MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	summary_print(MPI_Wtime() - begin, world.size);
	MPI_Finalize();
	return 0;
}
