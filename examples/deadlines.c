/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadlines: a rank that asks others, of which some are slow and one is silent.
 *
 * Rank 0 asks all others at once and takes the answers that come by a common
 * deadline; it does without the rest.  Then it tells everybody who answered, and
 * gives a slow computation of its own some time, and then more.
 */
#include <stdio.h>
#include <vmpi.h>

enum { RANKS = 6, SILENT = 3, SLOW = 5, ASK = 1, ANSWER, END };

#define MS ((uint64_t)1000000)

/* Answers until it is told to end; answers to questions that are over are left
 * in rank 0's mailbox. */
static int answer(void)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status;
	int rank = vmpi_rank(), question, rc;

	for (;;) {
		rc = vmpi_recv(world, &question, sizeof(question), 0, VMPI_ANY,
			       &status);
		if (rc || status.tag == END)
			return rc;
		if (rank == SILENT)
			continue;
		if (rank == SLOW)
			vmpi_sleep(5 * MS);
		question *= rank;
		rc = vmpi_send(world, &question, sizeof(question), 0, ANSWER);
		if (rc)
			return rc;
	}
}

/* Asks everybody, and counts the answers that come in time. */
static int ask(int question, uint64_t deadline, int answers[RANKS])
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status;
	int value, count = 0, rc = 0;

	for (int rank = 1; rank < RANKS; rank++) {
		answers[rank] = 0;
		vmpi_send(world, &question, sizeof(question), rank, ASK);
	}
	while (count < RANKS - 1) {
		rc = vmpi_recv_until(world, &value, sizeof(value), VMPI_ANY,
				     ANSWER, &status, deadline);
		if (rc)
			break;
		answers[status.source] = value;
		count++;
	}
	return rc && rc != -VMPI_ETIMEDOUT ? rc : count;
}

static int compute(void *arg)
{
	vmpi_sleep(30 * MS);
	*(int *)arg = 42;
	return 0;
}

/* How often it looks before the task has ended. */
static int wait_for(vmpi_task **task)
{
	int looks = 1;

	while (vmpi_join_until(task, NULL, vmpi_time_ns() + 10 * MS) ==
	       -VMPI_ETIMEDOUT)
		looks++;
	return looks;
}

static int lead(void)
{
	int answers[RANKS], result = 0, bad = 0, count, looks;
	vmpi_req *never;
	vmpi_task *task;

	count = ask(7, vmpi_time_ns() + 100 * MS, answers);
	for (int rank = 1; rank < RANKS; rank++)
		bad += answers[rank] && answers[rank] != 7 * rank;
	bad += count < 0 || answers[SILENT];
	printf("%d of %d ranks answered\n", count, RANKS - 1);

	if (vmpi_spawn(&task, compute, &result) != 0)
		return 1;
	looks = wait_for(&task);
	bad += result != 42;
	printf("the task has ended at look %d: %d\n", looks, result);

	/* A receive that has begun is withdrawn if nothing comes. */
	vmpi_irecv(vmpi_world(), &never, &result, sizeof(result), SILENT, 9);
	if (vmpi_wait_until(&never, NULL, 0) == -VMPI_ETIMEDOUT)
		vmpi_cancel(never);
	bad += vmpi_wait(&never, NULL) != -VMPI_ECANCELED;

	for (int rank = 1; rank < RANKS; rank++)
		vmpi_send(vmpi_world(), NULL, 0, rank, END);
	return bad;
}

static int body(void *arg)
{
	(void)arg;
	return vmpi_rank() == 0 ? lead() : answer();
}

int main(void)
{
	int rc = vmpi_run(&(vmpi_config){ .ranks = RANKS, .workers = 2 }, body,
			  NULL);

	if (rc < 0)
		fprintf(stderr, "deadlines: %s\n", vmpi_strerror(rc));
	return rc != 0;
}
