/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal handlers of ranks; argv[1] says which case. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <vmpi.h>

static volatile int mine, calls;
static sigjmp_buf back;

static void handler(int number)
{
	calls++;
	if (mine != vmpi_rank() || number != SIGUSR1)
		mine = -1;
}

static void with_info(int number, siginfo_t *info, void *context)
{
	calls += number == SIGUSR2 && info->si_pid == getpid() && context;
}

static void outside(int number)
{
	char line[] = "rank X got it\n";

	/* It may come on any thread, so only its own variables tell. */
	line[5] = (char)('0' + mine);
	calls += number == SIGUSR1;
	if (write(2, line, sizeof(line) - 1) < 0)
		calls = -1;
}

static void jump(int number)
{
	siglongjmp(back, number);
}

static void own(void)
{
	struct sigaction action = { .sa_sigaction = with_info,
				    .sa_flags = SA_SIGINFO };
	struct sigaction old;

	signal(SIGUSR1, handler);
	vmpi_barrier(vmpi_world());
	raise(SIGUSR1);
	sigaction(SIGUSR2, &action, &old);
	vmpi_yield();
	raise(SIGUSR2);
	sigaction(SIGUSR1, NULL, &old);
	printf("rank %d: calls %d mine %d old %d\n", vmpi_rank(), calls, mine,
	       old.sa_handler == handler);
}

/* Odd ranks handle the fault, and go on. */
static void fault(void)
{
	int caught;

	if (vmpi_rank() % 2 == 0)
		return;
	signal(SIGSEGV, jump);
	caught = sigsetjmp(back, 1);
	if (!caught)
		*(volatile int *)(long)calls = 1;
	printf("rank %d caught %d\n", vmpi_rank(), caught);
}

#define ALTERNATE 65536
static __thread char *alternate;
static __thread volatile int landed;
static __thread sigjmp_buf top;

static int on_alternate(void)
{
	char here;

	return &here >= alternate && &here < alternate + ALTERNATE;
}

static void land(int number)
{
	stack_t now;

	sigaltstack(NULL, &now);
	landed += number == SIGSEGV && on_alternate() &&
		  now.ss_flags == SS_ONSTACK && sigaltstack(&now, NULL) == -1;
	vmpi_yield();
	siglongjmp(top, 1);
}

static void where(int number)
{
	landed += on_alternate() ? 10 : 100;
	calls += number;
}

static int deep(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return deep(depth + 1) + frame[0];
}

/* Overflows its stack three times, and goes on. */
static void *overflow(void *arg)
{
	struct sigaction action = { .sa_handler = land,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_size = ALTERNATE }, none;

	alternate = stack.ss_sp = malloc(ALTERNATE);
	if (sigaltstack(&stack, &none) || none.ss_flags != SS_DISABLE)
		landed = 1000;
	sigaction(SIGSEGV, &action, NULL);
	for (volatile int i = 0; i < 3; i++)
		if (!sigsetjmp(top, 1))
			deep(0);
	action.sa_handler = where;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	action.sa_flags = 0;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	printf("rank %d: %s %d\n", mine, (char *)arg, landed);
	return NULL;
}

/* Waits for others in the handler of a fault, and goes on behind it. */
static void step(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	vmpi_barrier(vmpi_world());
	calls += number == SIGILL && info->si_addr != NULL;
#if defined(__x86_64__)
	at->uc_mcontext.gregs[REG_RIP] += 2;
#else
	at->uc_mcontext.pc += 4;
#endif
}

static void resume(void)
{
	struct sigaction action = { .sa_sigaction = step,
				    .sa_flags = SA_SIGINFO };
	volatile double before = mine + 0.5;
	double value = before;

	sigaction(SIGILL, &action, NULL);
	for (int i = 0; i < 3; i++) {
#if defined(__x86_64__)
		__asm__ volatile("addsd %0, %0\n\tud2" : "+x"(value));
#else
		__asm__ volatile("fadd %d0, %d0, %d0\n\tudf #0" : "+w"(value));
#endif
	}
	printf("rank %d: %d %d\n", mine, calls, value == 8 * before);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "own";

	mine = vmpi_rank();
	if (!strcmp(what, "own"))
		own();
	else if (!strcmp(what, "fault"))
		fault();
	else if (!strcmp(what, "ignore")) {
		signal(SIGTERM, SIG_IGN);
		raise(SIGTERM);
		printf("rank %d goes on\n", vmpi_rank());
	} else if (!strcmp(what, "default")) {
		signal(SIGTERM, SIG_IGN);
		if (vmpi_rank() == 1)
			signal(SIGTERM, SIG_DFL);
		vmpi_barrier(vmpi_world());
		if (vmpi_rank() == 1)
			raise(SIGTERM);
		vmpi_barrier(vmpi_world());
	} else if (!strcmp(what, "resume")) {
		resume();
	} else if (!strcmp(what, "overflow")) {
		pthread_t thread;

		overflow("main");
		vmpi_barrier(vmpi_world());
		pthread_create(&thread, NULL, overflow, "thread");
		pthread_join(thread, NULL);
	} else if (!strcmp(what, "outside")) {
		if (vmpi_rank() < 2)
			signal(SIGUSR1, outside);
		vmpi_barrier(vmpi_world());
		if (vmpi_rank() == 2)
			fprintf(stderr, "ready %d\n", (int)getpid());
		for (int i = 0; vmpi_rank() < 2 && !calls && i < 1000; i++)
			usleep(10000);
		vmpi_barrier(vmpi_world());
	}
	return 0;
}
