/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads that act for a rank: what they count is seen while they do; and in
 * a process that is a rank the first of them owns its engine.
 */
#include <pthread.h>

#include "base/err.h"
#include "core/local/engine.h"
#include "core/rank/rank.h"
#include "core/runtime/node.h"
#include "introspect/vars/pvar.h"
#include "tap.h"

static int number;

static uint64_t sends(void)
{
	uint64_t value = 0;

	if (vm_pvar_value(&value, number, 0) != 0)
		bail("no value of core_sends");
	return value;
}

static void send_self(int messages)
{
	char c = 0;

	for (int i = 0; i < messages; i++) {
		vmpi_send(vmpi_world(), &c, 1, 0, 1);
		vmpi_recv(vmpi_world(), &c, 1, 0, 1, NULL);
	}
}

#define TURNS 20000
#define TURNS_OTHER (TURNS / 100)

static int under_lock;

static struct vm_engine *engine(void)
{
	return vm_node->ranks[0].engine;
}

static void count(int turns)
{
	for (int i = 0; i < turns; i++) {
		vm_engine_lock(engine());
		under_lock++;
		vm_engine_unlock(engine());
	}
}

static bool is_owner(void)
{
	return vm_engine_is_own(engine(), vm_self->worker);
}

static void *other(void *arg)
{
	if (vmpi_attach(0) != 0)
		bail("cannot attach");
	ok(!is_owner(), "a second one does not");
	count(TURNS_OTHER);
	vmpi_detach();
	return arg;
}

/* The owner and another one, while the bias comes and goes. */
static void engine_owned(void)
{
	pthread_t thread;

	ok(vm_engine_is_own(engine(), NULL), "nobody owns the engine");
	vmpi_attach(0);
	ok(is_owner(), "the first thread of the rank does");
	while (vm_sched.membarrier && !atomic_load(&engine()->biased))
		count(1);
	under_lock = 0;
	pthread_create(&thread, NULL, other, NULL);
	count(TURNS);
	pthread_join(thread, NULL);
	is_int(under_lock, TURNS + TURNS_OTHER, "one at a time has the lock");
	while (vm_sched.membarrier && !atomic_load(&engine()->biased))
		count(1);
	vmpi_detach();
	ok(vm_engine_is_own(engine(), NULL) && !atomic_load(&engine()->biased),
	   "the owner leaves");
}

static void *helper(void *arg)
{
	if (vmpi_attach(0) != 0)
		bail("cannot attach");
	send_self(5);
	is_int((intmax_t)sends(), 8, "those of two threads are added up");
	vmpi_detach();
	return arg;
}

int main(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };
	pthread_t thread;

	vm_node_hooks.process = true;
	is_int(vmpi_start(&config), 0, "a runtime");
	number = vm_pvar_find("core_sends");
	is_int((intmax_t)sends(), 0, "nothing was sent");
	is_int(vmpi_attach(0), 0, "a thread acts for a rank");
	send_self(3);
	is_int((intmax_t)sends(), 3, "its messages are counted at once");
	pthread_create(&thread, NULL, helper, NULL);
	pthread_join(thread, NULL);
	is_int((intmax_t)sends(), 8, "those of a thread that has left stay");
	send_self(1);
	is_int((intmax_t)sends(), 9, "and others go on");
	vmpi_detach();
	is_int((intmax_t)sends(), 9, "when none is left too");
	engine_owned();
	is_int(vmpi_stop(), 0, "the end");
	return done_testing();
}
