/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stack-guests HOW: stacks that are not the rank's own.
 *
 *	least	 a thread with the least stack that libc allows
 *	default	 a thread with attributes that do not say how large its stack is
 *	thread	 a thread overflows
 *	handler	 overflows are caught on a stack for signals of the rank's
 *	after	 rank 1 does so, and frees that stack; then rank 0 overflows
 */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf back;
static int rank, caught;

static __attribute__((noinline)) int deep(int depth)
{
	volatile char frame[1024];

	memset((char *)frame, depth, sizeof(frame));
	return depth ? deep(depth - 1) + frame[7] : frame[3];
}

static void *thread_main(void *depth)
{
	deep(*(int *)depth);
	return NULL;
}

/* stack: its bytes; 0: not set. */
static void thread_run(size_t stack, int depth)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	pthread_attr_init(&attr);
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	error = pthread_create(&thread, &attr, thread_main, &depth);
	if (error) {
		printf("no thread: %s\n", strerror(error));
		exit(1);
	}
	pthread_join(thread, NULL);
}

static void on_fault(int number)
{
	(void)number;
	caught++;
	siglongjmp(back, 1);
}

static void faults_catch(void)
{
	struct sigaction action = { .sa_handler = on_fault,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = 65536 };

	stack.ss_sp = malloc(stack.ss_size);
	if (!stack.ss_sp || sigaltstack(&stack, NULL) ||
	    sigaction(SIGSEGV, &action, NULL))
		exit(1);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			deep(INT_MAX);
	signal(SIGSEGV, SIG_DFL);
	free(stack.ss_sp);
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(how, "least")) {
		thread_run(PTHREAD_STACK_MIN, 2);
		printf("rank %d is fine\n", rank);
	} else if (!strcmp(how, "default")) {
		thread_run(0, 3000);
		printf("rank %d is fine\n", rank);
	} else if (!strcmp(how, "thread")) {
		thread_run(1 << 20, INT_MAX);
	} else if (!strcmp(how, "handler") || rank == 1) {
		faults_catch();
		printf("rank %d caught %d\n", rank, caught);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!strcmp(how, "after") && rank == 0)
		deep(INT_MAX);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
