/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks: which hook sees which calls of which ranks, and adding and removing
 * them while ranks call on several workers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/instrument/calls.h"
#include "tap.h"
#include "vmpi.h"

#define RANKS 4
#define ROUNDS 50

/* What a hook has heard of a rank; each is written by its rank only. */
struct heard {
	long enters, exits, calls[VM_API_CALLS_END];
	int open; /* the call that has begun */
	int wrong;
};

static struct heard heard[RANKS];

static void enter(int rank, int call, void *arg)
{
	struct heard *mine = &((struct heard *)arg)[rank];

	mine->wrong += mine->open != 0 || vmpi_rank() != rank;
	mine->open = call;
	mine->enters++;
	mine->calls[call]++;
	/* Not reported, or there would be no end of it. */
	vmpi_yield();
}

static void leave(int rank, int call, void *arg)
{
	struct heard *mine = &((struct heard *)arg)[rank];

	mine->wrong += mine->open != call;
	mine->open = 0;
	mine->exits++;
	vmpi_yield();
}

static int ring(void *arg)
{
	int rank = vmpi_rank(), number = 0, *wrong = arg;

	for (int i = 0; i < ROUNDS; i++) {
		vmpi_req *req;

		vmpi_irecv(vmpi_world(), &req, &number, sizeof(number),
			   (rank + RANKS - 1) % RANKS, 3);
		vmpi_send(vmpi_world(), &i, sizeof(i), (rank + 1) % RANKS, 3);
		vmpi_wait(&req, NULL);
		if (number != i)
			*wrong = 1;
	}
	return 0;
}

static const vmpi_config config = { .ranks = RANKS, .workers = 2 };

static void test_counts(void)
{
	vmpi_hook *hook = NULL;
	int wrong = 0;

	is_int(vmpi_hook_add(&hook, enter, leave, heard), 0,
	       "a hook before the runtime starts");
	is_int(vmpi_run(&config, ring, &wrong), 0, "ranks run");
	for (int r = 0; r < RANKS; r++) {
		struct heard *mine = &heard[r];

		ok(mine->enters == 3 * ROUNDS && mine->exits == 3 * ROUNDS &&
			   mine->calls[VM_API_CALL_irecv] == ROUNDS &&
			   mine->calls[VM_API_CALL_send] == ROUNDS &&
			   mine->calls[VM_API_CALL_wait] == ROUNDS,
		   "rank %d: each call is told, and those of hooks are not", r);
		is_int(mine->wrong, 0, "rank %d: by itself, ends after begins",
		       r);
	}
	is_int(wrong, 0, "messages are what they are without");
	is_int(vmpi_hook_remove(&hook), 0, "it is removed");
	ok(!hook, "and gone");
	memset(heard, 0, sizeof(heard));
	vmpi_run(&config, ring, &wrong);
	is_int(heard[0].enters, 0, "then it hears nothing");
}

/* Two hooks: the order in which they are called. */
static char order[16];

static void order_add(int rank, int call, void *arg)
{
	strncat(order, arg, sizeof(order) - strlen(order) - 1);
	(void)rank;
	(void)call;
}

static int yield_once(void *arg)
{
	vmpi_yield();
	(void)arg;
	return 0;
}

static void test_order(void)
{
	vmpi_hook *one, *two;

	vmpi_hook_add(&one, order_add, order_add, "a");
	vmpi_hook_add(&two, order_add, order_add, "b");
	vmpi_run(&(vmpi_config){ .ranks = 1 }, yield_once, NULL);
	ok(!strcmp(order, "abba") || !strcmp(order, "baab"),
	   "ends are told in the opposite order (%s)", order);
	vmpi_hook_remove(&one);
	vmpi_hook_remove(&two);
}

/* A hook that is added or removed by a call's own hook. */
static vmpi_hook *late, *first;
static int inside;
static long late_enters, late_exits;

static void late_enter(int rank, int call, void *arg)
{
	late_enters++;
}

static void late_exit(int rank, int call, void *arg)
{
	late_exits++;
}

static void late_add(int rank, int call, void *arg)
{
	if (!late)
		vmpi_hook_add(&late, late_enter, late_exit, NULL);
	inside = vmpi_hook_remove(&first);
}

static int yield_twice(void *arg)
{
	vmpi_yield();
	ok(late_enters == 0 && late_exits == 0,
	   "who comes during a call does not hear of its end");
	vmpi_yield();
	return 0;
}

static void test_late(void)
{
	vmpi_hook_add(&first, late_add, NULL, NULL);
	vmpi_run(&(vmpi_config){ .ranks = 1 }, yield_twice, NULL);
	ok(late_enters == 1 && late_exits == 1, "but of the next call");
	is_int(inside, -VMPI_ESTATE, "a hook cannot remove hooks");
	is_int(vmpi_hook_remove(&first), 0, "others can");
	is_int(vmpi_hook_remove(&late), 0, "all of them");
}

/* Hooks come and go, by an OS thread and by a rank, while ranks call: the
 * memory of a removed one is never read. */
struct fleeting {
	_Atomic int gone;
	_Atomic long seen;
};

static _Atomic int used_after;
static _Atomic int finish;

static void fleeting_seen(int rank, int call, void *arg)
{
	struct fleeting *fleeting = arg;

	if (atomic_load(&fleeting->gone))
		atomic_fetch_add(&used_after, 1);
	vmpi_yield();
	if (atomic_load(&fleeting->gone))
		atomic_fetch_add(&used_after, 1);
	atomic_fetch_add(&fleeting->seen, 1);
}

static void come_and_go(void)
{
	struct fleeting *fleeting = calloc(1, sizeof(*fleeting));
	vmpi_hook *hook;

	if (vmpi_hook_add(&hook, fleeting_seen, fleeting_seen, fleeting))
		atomic_fetch_add(&used_after, 1);
	vmpi_sleep(20000);
	if (vmpi_hook_remove(&hook))
		atomic_fetch_add(&used_after, 1);
	atomic_store(&fleeting->gone, 1);
	free(fleeting);
}

static void *thread_main(void *arg)
{
	for (int i = 0; i < 200; i++)
		come_and_go();
	atomic_store(&finish, 1);
	return arg;
}

static int busy(void *arg)
{
	for (int i = 0; vmpi_rank() == 0 && i < 200; i++)
		come_and_go();
	while (!atomic_load(&finish))
		vmpi_yield();
	return 0;
}

static void test_storm(void)
{
	pthread_t thread;

	is_int(pthread_create(&thread, NULL, thread_main, NULL), 0,
	       "a thread that adds and removes hooks");
	is_int(vmpi_run(&config, busy, NULL), 0, "ranks that call, and do too");
	pthread_join(thread, NULL);
	is_int(used_after, 0, "a hook that is removed is never called again");
}

static void test_mistakes(void)
{
	vmpi_hook *many[9] = { NULL }, *none = NULL;
	int added = 0;

	is_int(vmpi_hook_add(NULL, enter, leave, NULL), -VMPI_EINVAL,
	       "a hook without a place for its handle");
	is_int(vmpi_hook_add(&none, NULL, NULL, NULL), -VMPI_EINVAL,
	       "or without functions");
	is_int(vmpi_hook_remove(&none), -VMPI_EINVAL, "removing none");
	is_int(vmpi_hook_remove(NULL), -VMPI_EINVAL, "or nothing at all");
	while (added < 9 && !vmpi_hook_add(&many[added], enter, NULL, heard))
		added++;
	is_int(added, 8, "there is room for 8");
	is_int(vmpi_hook_add(&none, enter, NULL, NULL), -VMPI_ELIMIT,
	       "and no more");
	while (added > 0)
		vmpi_hook_remove(&many[--added]);
	ok(!vmpi_call_name(-1) && !vmpi_call_name(0) &&
		   !vmpi_call_name(vmpi_call_count()),
	   "what is no call has no name");
	is_string(vmpi_call_name(VM_API_CALL_send), "vmpi_send",
		  "calls have names");
}

int main(void)
{
	test_counts();
	test_order();
	test_late();
	test_storm();
	test_mistakes();
	return done_testing();
}
