/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the first of several things: each kind, now and later; the order;
 * what is not chosen stays; deadlines; tasks that compete; mistakes.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/job.h"

enum { REQ, MATCH, TASK, EVENT, FD, KINDS };

/* What a choice waits for, and how it is made to happen. */
static struct things {
	vmpi_req *req;
	vmpi_msg *msg;
	vmpi_task *task;
	vmpi_event event, task_event;
	int pipe[2];
	int value, result, ready;
} mine;

static int wait_event(void *arg)
{
	EXPECT(vmpi_event_wait(arg) == 0);
	return 11;
}

static void things_make(struct things *things)
{
	memset(things, 0, sizeof(*things));
	EXPECT(pipe(things->pipe) == 0);
	EXPECT(vmpi_irecv(vmpi_world(), &things->req, &things->value,
			  sizeof(int), 0, 1) == 0);
	EXPECT(vmpi_spawn(&things->task, wait_event, &things->task_event) == 0);
}

/* Makes one happen: soon, or at once. */
static void thing_happens(struct things *things, int kind)
{
	int value = 42;

	switch (kind) {
	case REQ:
	case MATCH:
		EXPECT(vmpi_send(vmpi_world(), &value, sizeof(value), 0,
				 kind == REQ ? 1 : 2) == 0);
		break;
	case TASK:
		EXPECT(vmpi_event_set(&things->task_event) == 0);
		break;
	case EVENT:
		EXPECT(vmpi_event_set(&things->event) == 0);
		break;
	default:
		EXPECT(write(things->pipe[1], "x", 1) == 1);
	}
}

/* Whether its outputs are those of the function, and it has ended. */
static bool thing_done(struct things *things, int kind)
{
	char byte;

	switch (kind) {
	case REQ:
		return !things->req && things->value == 42;
	case MATCH:
		return things->msg && vmpi_msg_tag(things->msg) == 2 &&
		       vmpi_msg_drop(&things->msg) == 0;
	case TASK:
		return !things->task && things->result == 11;
	case EVENT:
		return vmpi_event_test(&things->event) == 0 &&
		       vmpi_event_reset(&things->event) == 0;
	default:
		return things->ready == POLLIN &&
		       read(things->pipe[0], &byte, 1) == 1;
	}
}

static int select_until(struct things *things, int *index, uint64_t deadline)
{
	const vmpi_choice choices[KINDS] = {
		[REQ] = VMPI_ON_REQ(&things->req, NULL),
		[MATCH] =
			VMPI_ON_MATCH(vmpi_world(), &things->msg, VMPI_ANY, 2),
		[TASK] = VMPI_ON_TASK(&things->task, &things->result),
		[EVENT] = VMPI_ON_EVENT(&things->event),
		[FD] = VMPI_ON_FD(things->pipe[0], &things->ready, POLLIN),
	};

	return vmpi_select(choices, index, KINDS, deadline);
}

/* Ends what a test has left. */
static void things_end(struct things *things)
{
	if (things->req) {
		EXPECT(vmpi_cancel(things->req) == 0);
		EXPECT(vmpi_wait(&things->req, NULL) == -VMPI_ECANCELED);
	}
	if (things->task) {
		EXPECT(vmpi_event_set(&things->task_event) == 0);
		EXPECT(vmpi_join(&things->task, NULL) == 0);
	}
	close(things->pipe[0]);
	close(things->pipe[1]);
}

/* Each kind alone: it is there already. */
static void now(int rank, int size)
{
	int index;

	(void)size;
	if (rank)
		return;
	for (int kind = 0; kind < KINDS; kind++) {
		things_make(&mine);
		vmpi_yield();
		EXPECT(select_until(&mine, &index, 0) == -VMPI_ETIMEDOUT);
		thing_happens(&mine, kind);
		EXPECT(select_until(&mine, &index, VMPI_NEVER) == 0);
		EXPECT(index == kind && thing_done(&mine, kind));
		EXPECT(select_until(&mine, &index, vmpi_time_ns() + 100000) ==
		       -VMPI_ETIMEDOUT);
		things_end(&mine);
	}
}

static int happen_later(void *arg)
{
	vmpi_sleep(300000);
	thing_happens(&mine, (int)(intptr_t)arg);
	return 0;
}

/* Each kind is waited for. */
static void later(int rank, int size)
{
	vmpi_task *task;
	int index;

	(void)size;
	if (rank)
		return;
	for (intptr_t kind = 0; kind < KINDS; kind++) {
		things_make(&mine);
		EXPECT(vmpi_spawn(&task, happen_later, (void *)kind) == 0);
		EXPECT(select_until(&mine, &index, VMPI_NEVER) == 0);
		EXPECT(index == kind && thing_done(&mine, (int)kind));
		EXPECT(vmpi_join(&task, NULL) == 0);
		things_end(&mine);
	}
}

/* All happen: they come in the order of the list, and each once. */
static void all(int rank, int size)
{
	int index;

	(void)size;
	if (rank)
		return;
	things_make(&mine);
	for (int kind = KINDS - 1; kind >= 0; kind--)
		thing_happens(&mine, kind);
	vmpi_sleep(100000);
	for (int kind = 0; kind < KINDS; kind++) {
		EXPECT(select_until(&mine, &index, VMPI_NEVER) == 0);
		EXPECT(index == kind && thing_done(&mine, kind));
	}
	EXPECT(select_until(&mine, &index, 0) == -VMPI_ETIMEDOUT);
	things_end(&mine);
}

/* Many more than fit on the stack, of all ranks at a time. */
static void many(int rank, int size)
{
	enum { COUNT = 60 };
	vmpi_choice choices[COUNT];
	vmpi_req *reqs[COUNT];
	int values[COUNT], index, to = (rank + 1) % size, seen = 0;

	for (int i = 0; i < COUNT; i++) {
		EXPECT(vmpi_irecv(vmpi_world(), &reqs[i], &values[i], 4,
				  (rank + size - 1) % size, i) == 0);
		choices[i] = (vmpi_choice)VMPI_ON_REQ(&reqs[i], NULL);
	}
	for (int i = 0; i < COUNT; i++) {
		int tag = (i * 7) % COUNT;

		EXPECT(vmpi_send(vmpi_world(), &tag, sizeof(tag), to, tag) ==
		       0);
		EXPECT(vmpi_select(choices, &index, COUNT, VMPI_NEVER) == 0);
		EXPECT(index >= 0 && !reqs[index] && values[index] == index);
		seen++;
	}
	EXPECT(seen == COUNT);
	EXPECT(vmpi_select(choices, &index, COUNT, VMPI_NEVER) == 0);
	EXPECT(index == -1);
}

static _Atomic int taken;

/* Competes for messages; none is lost or taken twice. */
static int compete(void *arg)
{
	vmpi_event *over = arg;
	vmpi_msg *msg = NULL;
	const vmpi_choice choices[] = {
		VMPI_ON_MATCH(vmpi_world(), &msg, VMPI_ANY, 5),
		VMPI_ON_EVENT(over),
	};
	int index = 0;

	while (index == 0) {
		EXPECT(vmpi_select(choices, &index, 2, VMPI_NEVER) == 0);
		if (index == 0) {
			EXPECT(vmpi_msg_drop(&msg) == 0);
			atomic_fetch_add(&taken, 1);
		}
	}
	return 0;
}

static void competitors(int rank, int size)
{
	enum { TASKS = 5, EACH = 200 };
	vmpi_event over = VMPI_EVENT_INIT;
	vmpi_task *tasks[TASKS];

	if (rank) {
		for (int i = 0; i < EACH; i++)
			EXPECT(vmpi_send(vmpi_world(), &i, 4, 0, 5) == 0);
		EXPECT(vmpi_send(vmpi_world(), NULL, 0, 0, 6) == 0);
		return;
	}
	taken = 0;
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_spawn(&tasks[i], compete, &over) == 0);
	for (int i = 1; i < size; i++)
		EXPECT(vmpi_recv(vmpi_world(), NULL, 0, i, 6, NULL) == 0);
	EXPECT(vmpi_event_set(&over) == 0);
	for (int i = 0; i < TASKS; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	EXPECT(taken == (size - 1) * EACH);
}

static void mistakes(int rank, int size)
{
	vmpi_choice choice = { .kind = 99 };
	vmpi_req *none = NULL;
	vmpi_msg *msg;
	int index = 7;

	(void)rank;
	EXPECT(vmpi_select(NULL, &index, 1, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_select(&choice, NULL, 1, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_select(&choice, &index, -1, 0) == -VMPI_EINVAL);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_REQ(NULL, NULL);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_TASK(NULL, NULL);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_EVENT(NULL);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_FD(-1, NULL, POLLIN);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_MATCH(vmpi_world(), NULL, 0, 0);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_EINVAL);
	choice = (vmpi_choice)VMPI_ON_MATCH(vmpi_world(), &msg, size, 0);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == -VMPI_ERANK);
	EXPECT(index == 7);
	choice = (vmpi_choice){ .kind = VMPI_CHOICE_NONE };
	EXPECT(vmpi_select(&choice, &index, 1, 0) == 0 && index == -1);
	choice = (vmpi_choice)VMPI_ON_REQ(&none, NULL);
	EXPECT(vmpi_select(&choice, &index, 1, 0) == 0 && index == -1);
	EXPECT(vmpi_select(NULL, &index, 0, 0) == 0 && index == -1);
}

/* A thread that acts for no rank. */
static void stranger(void)
{
	vmpi_event event = VMPI_EVENT_INIT, task_event = VMPI_EVENT_INIT;
	vmpi_task *task;
	int index = 7, result = 0;
	vmpi_choice choices[2] = { VMPI_ON_EVENT(&event),
				   VMPI_ON_TASK(&task, &result) };

	EXPECT(vmpi_start(NULL) == 0);
	EXPECT(vmpi_spawn(&task, wait_event, &task_event) == 0);
	EXPECT(vmpi_select(choices, &index, 2, vmpi_time_ns() + 1000000) ==
	       -VMPI_ETIMEDOUT);
	EXPECT(vmpi_event_set(&event) == 0);
	EXPECT(vmpi_select(choices, &index, 2, VMPI_NEVER) == 0 && index == 0);
	EXPECT(vmpi_event_reset(&event) == 0);
	EXPECT(vmpi_event_set(&task_event) == 0);
	EXPECT(vmpi_select(choices, &index, 2, VMPI_NEVER) == 0 && index == 1);
	EXPECT(result == 11 && !task);
	EXPECT(vmpi_stop() == 0);
	is_int(job_faults_take(), 0, "a thread waits for events and tasks");
}

/* Writes, and only then says so by an event. */
static void *write_then_set(void *arg)
{
	struct things *things = arg;

	thing_happens(things, FD);
	thing_happens(things, EVENT);
	return NULL;
}

/* Of two that can be done the first one is, whoever hears of which first. */
static void in_turn(int rank, int size)
{
	(void)size;
	for (int i = 0; rank == 0 && i < 200; i++) {
		const vmpi_choice choices[] = {
			VMPI_ON_FD(mine.pipe[0], &mine.ready, POLLIN),
			VMPI_ON_EVENT(&mine.event),
		};
		pthread_t thread;
		int index;

		memset(&mine, 0, sizeof(mine));
		EXPECT(pipe(mine.pipe) == 0);
		EXPECT(pthread_create(&thread, NULL, write_then_set, &mine) ==
		       0);
		EXPECT(vmpi_select(choices, &index, 2, VMPI_NEVER) == 0);
		EXPECT(index == 0 && thing_done(&mine, FD));
		EXPECT(vmpi_select(choices, &index, 2, VMPI_NEVER) == 0);
		EXPECT(index == 1 && thing_done(&mine, EVENT));
		EXPECT(pthread_join(thread, NULL) == 0);
		close(mine.pipe[0]);
		close(mine.pipe[1]);
	}
}

int main(void)
{
	for (int workers = 1; workers <= 2; workers++) {
		job(2, workers, now, "what has happened is found");
		job(2, workers, later, "what happens ends a wait");
		job(2, workers, all, "what happens at once comes in order");
		job(2, workers, in_turn,
		    "what is first in the list comes first");
		job(4, workers, many, "many choices");
		job(4, workers, competitors, "no message is lost or doubled");
		job(2, workers, mistakes, "mistakes");
	}
	stranger();
	return done_testing();
}
