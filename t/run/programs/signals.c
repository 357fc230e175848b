/* SPDX-License-Identifier: BSD-3-Clause */
/* Signal handlers of ranks; argv[1] says which case. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
