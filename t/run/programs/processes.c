/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work of ranks that are processes: `work`, `threads`, `tests`, `starts`; and ways to end:
 * `abort`, `exit`, `leave`, `die`, `bereft`, by rank 1.  Every rank prints a
 * line with the number of its faults.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define SENDS 1000
#define STARTS 60
#define MANY 400
#define STARS 8	   /* from so many processes on cards go by the first */
#define ROUNDS 100 /* until something has happened that need not */
#define MOST (8 << 20)

static int rank, size;
static _Atomic int faults;

static void expect(int held, const char *what)
{
	if (held)
		return;
	printf("rank %d: not so: %s\n", rank, what);
	faults++;
}

static char byte_of(size_t i, int from, size_t bytes)
{
	return (char)(i * 7 + (size_t)from * 31 + bytes);
}

static int is_from(const char *buf, int from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += bytes / 977 + 1)
		if (buf[i] != byte_of(i, from, bytes))
			return 0;
	return 1;
}

/* To the next rank, from the one before; every way of sending has its turn. */
static void around(char *out, char *in, size_t bytes, int round)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int count = -1, source = round % 2 ? MPI_ANY_SOURCE : before;
	MPI_Request request;
	MPI_Status status;

	for (size_t i = 0; i < bytes; i++)
		out[i] = byte_of(i, rank, bytes);
	memset(in, 0, bytes);
	MPI_Irecv(in, MOST, MPI_CHAR, source, round, MPI_COMM_WORLD, &request);
	if (round % 3 == 0)
		MPI_Send(out, (int)bytes, MPI_CHAR, next, round,
			 MPI_COMM_WORLD);
	else if (round % 3 == 1)
		MPI_Ssend(out, (int)bytes, MPI_CHAR, next, round,
			  MPI_COMM_WORLD);
	else
		MPI_Rsend(out, (int)bytes, MPI_CHAR, next, round,
			  MPI_COMM_WORLD);
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_CHAR, &count);
	expect(count == (int)bytes && status.MPI_SOURCE == before,
	       "a message has its length and source");
	expect(is_from(in, before, bytes), "and its bytes");
	/* A ready send needs its receive. */
	MPI_Barrier(MPI_COMM_WORLD);
}

static void messages(void)
{
	static const size_t sizes[] = { 0,     1,	8,	100,
					4096,  16128,	16129,	65536,
					70001, 1 << 20, 1234567 };
	char *out = malloc(MOST), *in = malloc(MOST);
	int round = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (int way = 0; way < 3; way++)
			around(out, in, sizes[i], round++);
	around(out, in, MOST, round);
	free(out);
	free(in);
}

static void collectives(MPI_Comm comm)
{
	int r, n, sum = -1, scan = -1, seven = 0, mine;
	int *all, *each;
	MPI_Request request;

	MPI_Comm_rank(comm, &r);
	MPI_Comm_size(comm, &n);
	all = calloc(2 * (size_t)n, sizeof(int));
	each = all + n;
	MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm);
	expect(sum == n * (n - 1) / 2, "MPI_Allreduce");
	MPI_Scan(&r, &scan, 1, MPI_INT, MPI_SUM, comm);
	expect(scan == r * (r + 1) / 2, "MPI_Scan");
	if (r == n - 1)
		seven = 7;
	MPI_Bcast(&seven, 1, MPI_INT, n - 1, comm);
	expect(seven == 7, "MPI_Bcast");
	MPI_Allgather(&r, 1, MPI_INT, all, 1, MPI_INT, comm);
	for (int i = 0; i < n; i++)
		expect(all[i] == i, "MPI_Allgather");
	for (int i = 0; i < n; i++)
		all[i] = 100 * r + i;
	MPI_Alltoall(all, 1, MPI_INT, each, 1, MPI_INT, comm);
	for (int i = 0; i < n; i++)
		expect(each[i] == 100 * i + r, "MPI_Alltoall");
	for (int i = 0; i < n; i++)
		all[i] = i;
	MPI_Reduce_scatter_block(all, &mine, 1, MPI_INT, MPI_SUM, comm);
	expect(mine == r * n, "MPI_Reduce_scatter_block");
	MPI_Iallreduce(&r, &sum, 1, MPI_INT, MPI_MAX, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	expect(sum == n - 1, "MPI_Iallreduce");
	MPI_Barrier(comm);
	free(all);
}

static void communicators(void)
{
	char name[MPI_MAX_PROCESSOR_NAME], host[256];
	const char *near = getenv("RANKS_PER_HOST");
	int length, n = 0;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	collectives(comm);
	MPI_Comm_free(&comm);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
	collectives(comm);
	MPI_Comm_size(comm, &n);
	expect(n == (size + 1 - rank % 2) / 2, "MPI_Comm_split");
	MPI_Comm_free(&comm);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &comm);
	MPI_Comm_size(comm, &n);
	expect(n == (near ? atoi(near) : size),
	       "those of a host can share memory");
	collectives(comm);
	MPI_Comm_free(&comm);
	MPI_Get_processor_name(name, &length);
	gethostname(host, sizeof(host));
	expect(!strcmp(name, host), "MPI_Get_processor_name");
}

static void *thread_main(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;
	char *out = malloc(1 << 17), *in = malloc(1 << 17);

	for (int i = 0; i < 40; i++) {
		int bytes = i % 4 ? i * 50 : 1 << 17;
		int next = (rank + 1) % size, before = (rank + size - 1) % size;

		for (int k = 0; k < bytes; k++)
			out[k] = byte_of((size_t)k, rank, (size_t)bytes);
		MPI_Sendrecv(out, bytes, MPI_CHAR, next, i, in, bytes, MPI_CHAR,
			     before, i, comm, MPI_STATUS_IGNORE);
		expect(is_from(in, before, (size_t)bytes),
		       "a thread's message has its bytes");
		if (i % 10 == 0)
			collectives(comm);
	}
	free(out);
	free(in);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	MPI_Comm comm[THREADS];

	for (int i = 0; i < THREADS; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
		pthread_create(&thread[i], NULL, thread_main, &comm[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		MPI_Comm_free(&comm[i]);
	}
}

static void test_for(double seconds)
{
	double begin = MPI_Wtime();
	int flag = 0, none;
	MPI_Request request;

	MPI_Irecv(&none, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
	while (MPI_Wtime() - begin < seconds)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	expect(!flag, "nothing comes");
	MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* How much a counter grows while run() runs. */
static unsigned long long growth_of(const char *name, void (*run)(void))
{
	unsigned long long value = 0;
	MPI_T_pvar_session session;
	MPI_T_pvar_handle handle;
	int index = -1, n = 0, provided;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index);
	MPI_T_pvar_session_create(&session);
	MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &n);
	expect(n == 1, "there is one of the counter");
	run();
	MPI_T_pvar_read(session, handle, &value);
	MPI_T_pvar_session_free(&session);
	MPI_T_finalize();
	return value;
}

static void test_long(void)
{
	test_for(0.3);
}

/* The worker looks now and then whether the rank still tests. */
static void tests(void)
{
	double begin = MPI_Wtime();
	unsigned long long sleeps = growth_of("sched_sleeps", test_long);

	expect(sleeps < 20 + (MPI_Wtime() - begin) / 0.002,
	       "the worker of a rank that only tests seldom wakes");
}

static void send_many(void)
{
	for (int i = 0; i < SENDS; i++)
		if (rank)
			MPI_Send(&i, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
	for (int i = 0, n; rank == 0 && i < SENDS * (size - 1); i++)
		MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
}

/* All have one core. */
static void sends(void)
{
	unsigned long long yields = growth_of("core_yields", send_many);

	expect(!rank || yields >= SENDS / 100,
	       "who only sends lets others have the core");
}

static void start_and_wait(void)
{
	MPI_Request request;

	for (int i = 0; i < STARTS; i++) {
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void start_and_test(void)
{
	MPI_Request request;

	for (int i = 0; i < STARTS; i++) {
		int flag = 0;

		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		while (!flag)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	}
}

/* Rank 0 has begun one in a test, and computes until another rank has finished it:
 * that one says so outside of MPI. */
static void start_and_compute(void)
{
	static const char name[] = "start_and_compute";
	MPI_Request request;
	int flag;

	if (rank == 0)
		unlink(name);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank)
		usleep(20000);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (rank == 0)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	else
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 1)
		expect(close(open(name, O_CREAT | O_WRONLY, 0600)) == 0,
		       "a file is made");
	while (rank == 0 && access(name, F_OK))
		usleep(100);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Whoever waits for one cannot do all. */
static void start_several(void)
{
	int sum = 0, wants = size * (size - 1) / 2, given = rank;
	MPI_Request requests[3];

	for (int i = 0; i < STARTS; i++) {
		MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
		MPI_Iallreduce(&given, &sum, 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &requests[1]);
		MPI_Ibcast(&wants, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[2]);
		if (i % 3 == 0)
			MPI_Wait(&requests[(rank + i) % 2], MPI_STATUS_IGNORE);
		if (i % 3 == 1)
			test_for(0.0001);
		MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
		expect(sum == wants, "MPI_Iallreduce");
	}
}

/* More than come before their senders hear that all is kept; the last ones first. */
static void start_many(void)
{
	static MPI_Request requests[MANY];
	static int sums[MANY];
	int flag = 0, index;

	for (int i = 0; i < MANY; i++)
		MPI_Iallreduce(&size, &sums[i], 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &requests[i]);
	while (!flag)
		MPI_Test(&requests[MANY - 1], &flag, MPI_STATUS_IGNORE);
	MPI_Waitany(MANY, requests, &index, MPI_STATUS_IGNORE);
	for (flag = 0; !flag;)
		MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		expect(sums[i] == size * size, "each sum is right");
}

/* Others begin their part while some wait for something else, or test. */
static void start_apart(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size, n, i;
	MPI_Request request;

	for (i = 0; i < STARTS; i++) {
		int flag = 0;

		MPI_Ibarrier(MPI_COMM_WORLD, &request);
		if (rank % 2)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Sendrecv(&i, 1, MPI_INT, next, 4, &n, 1, MPI_INT, before, 4,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		expect(n == i, "MPI_Sendrecv");
		while (!flag && i % 2)
			MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	/* ... or in the program. */
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (rank)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		usleep(300000);
	if (rank == 1)
		MPI_Send(&n, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Recv(&n, 1, MPI_INT, 1, 5, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Whether each rank has done one of many processes in a test.  After one that had
 * to wait for long, as it does on a busy machine, the next 16 are done by tasks. */
static int all_step(void)
{
	int mine = 0, all = 0;

	for (int i = 0; i < ROUNDS && !all; i++) {
		mine |= growth_of("core_errands_stepped", start_and_test) > 0;
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	return all;
}

/* Whether each rank has once done one of few processes without a task. */
static int all_light(void)
{
	int mine = 0, all = 0;

	for (int i = 0; i < ROUNDS && !all; i++) {
		bool stepped =
			growth_of("core_errands_stepped", start_and_test) > 0;
		bool tasks = growth_of("core_tasks", start_and_test) > 0;

		mine |= !stepped && !tasks;
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	return all;
}

static void starts(void)
{
	expect(growth_of("core_tasks", start_and_wait) < STARTS,
	       "not each collective that is waited for at once is a task");
	if (size >= STARS)
		expect(all_step(), "who tests does it in between");
	else
		expect(all_light(),
		       "among few processes who tests needs no task for it");
	start_many();
	start_and_compute();
	start_several();
	start_apart();
}

/* Rank 1 ends like this; the others wait for it. */
static void end(const char *how)
{
	int none = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank != 1) {
		MPI_Recv(&none, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		return;
	}
	printf("rank 1 has said this");
	if (!strcmp(how, "abort"))
		MPI_Abort(MPI_COMM_WORLD, 42);
	if (!strcmp(how, "exit"))
		exit(33);
	if (!strcmp(how, "leave"))
		exit(0);
	raise(!strcmp(how, "crash") ? SIGSEGV : SIGKILL);
}

/* Rank 1 dies; the others go on without it. */
static void bereft(void)
{
	int got = 0, next = rank ? 0 : 2, class = 0, rc;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		raise(SIGKILL);
	rc = MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
		      MPI_STATUS_IGNORE);
	MPI_Error_class(rc, &class);
	expect(class == MPI_ERR_PROC_ABORTED, "the death is told");
	if (rank > 2)
		return;
	rc = MPI_Sendrecv(&rank, 1, MPI_INT, next, 3, &got, 1, MPI_INT, next, 3,
			  MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	expect(!rc && got == next, "the living talk");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "work";
	int provided = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "work")) {
		messages();
		collectives(MPI_COMM_WORLD);
		communicators();
	} else if (!strcmp(what, "threads")) {
		threads();
	} else if (!strcmp(what, "tests")) {
		tests();
	} else if (!strcmp(what, "sends")) {
		sends();
	} else if (!strcmp(what, "starts")) {
		starts();
	} else if (!strcmp(what, "bereft")) {
		bereft();
		printf("rank %d of %d: %d faults\n", rank, size, faults);
		return 0;
	} else {
		end(what);
	}
	MPI_Finalize();
	printf("rank %d of %d: %d faults\n", rank, size, faults);
	return argc > 2 && rank == 1 ? atoi(argv[2]) : 0;
}
