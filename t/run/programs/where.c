/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends in one of the ways of the table, on rank 1; 91-where.t asks for the
 * lines with the comments "at NAME".
 */
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero, number = 7;
static char *volatile nowhere = (char *)8;
static void (*volatile no_function)(void);

static __attribute__((noinline)) void boom(void)
{
	*nowhere = 1; /* at boom */
}

static void segv(void)
{
	boom(); /* at segv */
	zero = 0;
}

static inline __attribute__((always_inline)) void inner(void)
{
	*nowhere = 2; /* at inner */
}

static __attribute__((noinline)) void outer(void)
{
	inner(); /* at outer */
	zero = 0;
}

static __attribute__((noinline)) void fall(int n)
{
	if (n)
		fall(n - 1); /* at fall */
	else
		*nowhere = 3; /* at bottom */
	zero = 0;
}

static void falls(void)
{
	fall(9); /* at falls */
	zero = 0;
}

static void fpe(void)
{
	number = number / zero; /* at fpe */
}

static void ill(void)
{
	__builtin_trap(); /* at ill */
}

static void bus(void)
{
	FILE *file = tmpfile();
	volatile char *bytes =
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);

	number = *bytes; /* at bus */
}

static void null(void)
{
	no_function(); /* at null */
	zero = 0;
}

static void libc(void)
{
	number = (int)strlen(nowhere); /* at libc */
}

static int compare(const void *a, const void *b)
{
	return *nowhere + (a > b); /* at compare */
}

static void sort(void)
{
	int list[] = { 3, 1, 2 };

	qsort(list, 3, sizeof(list[0]), compare); /* at sort */
	zero = 0;
}

static void asserts(void)
{
	assert(number == 1); /* at assert */
}

static void frees(void)
{
	char *volatile block = malloc(10000);

	free(block);
	free(block); /* at free */
	zero = 0;
}

static int deep(volatile int n)
{
	volatile char room[100000];

	room[n] = 1;
	return deep(n + 1) + room[n]; /* at deep */
}

static void stack(void)
{
	number = deep(0);
}

static void *thread_run(void *arg)
{
	*nowhere = 4; /* at thread */
	return arg;
}

static void thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_run, NULL);
	pthread_join(thread, NULL);
}

static void handle(int signal)
{
	*nowhere = (char)signal; /* at handler */
}

static void handler(void)
{
	signal(SIGUSR2, handle);
	raise(SIGUSR2); /* at raise */
	zero = 0;
}

static void on_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	*nowhere = 5; /* at on_op */
}

static void op(void)
{
	int in = 1, out = 2;
	MPI_Op user;

	MPI_Op_create(on_op, 1, &user);
	MPI_Reduce_local(&in, &out, 1, MPI_INT, user); /* at op */
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	*nowhere = 6; /* at on_error */
}

static void errh(void)
{
	MPI_Errhandler user;

	MPI_Comm_create_errhandler(on_error, &user);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, user);
	MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD); /* at errh */
}

static int on_copy(MPI_Comm comm, int key, void *extra, void *in, void *out,
		   int *flag)
{
	*nowhere = 7; /* at on_copy */
	return 0;
}

static void attr(void)
{
	MPI_Comm comm;
	int key;

	MPI_Comm_create_keyval(on_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &comm); /* at attr */
}

static void pointer(void)
{
	MPI_Comm_size(MPI_COMM_WORLD, (int *)nowhere); /* at pointer */
}

static void error_rank(void)
{
	MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD); /* at rank */
}

static void error_comm(void)
{
	MPI_Barrier(MPI_COMM_NULL); /* at comm */
}

static void aborts(void)
{
	MPI_Abort(MPI_COMM_WORLD, 9); /* at abort */
}

static void exits(void)
{
	exit(3); /* at exit */
}

static void raises(void)
{
	raise(SIGTERM); /* at raises */
	zero = 0;
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "segv", segv },	{ "inline", outer },	{ "falls", falls },
	{ "fpe", fpe },		{ "ill", ill },		{ "bus", bus },
	{ "null", null },	{ "libc", libc },	{ "sort", sort },
	{ "assert", asserts },	{ "free", frees },	{ "stack", stack },
	{ "thread", thread },	{ "handler", handler }, { "op", op },
	{ "errh", errh },	{ "attr", attr },	{ "pointer", pointer },
	{ "rank", error_rank }, { "comm", error_comm }, { "abort", aborts },
	{ "exit", exits },	{ "raise", raises },
};

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 2 || (rank == 1 && !strcmp(argv[1], ways[i].name)))
			ways[i].run(); /* at main */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
