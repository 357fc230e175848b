/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are reported while observing begins and ends at run time.
 */
#include "core/instrument/intercept.h"

#include <setjmp.h>
#include <string.h>

#include "core/instrument/calls.h"
#include "core/rank/vars.h"
#include "mpi/call/call.h"
#include "sched/ult.h"
#include "tap.h"
#include "vmpi.h"

static void test_names(void)
{
	unsigned named = 0;

	is_string(vm_intercept_call_name(VM_API_CALL_wait), "vmpi_wait",
		  "calls of vmpi.h have names");
	is_string(vm_intercept_call_name(VM_CALL_MPI_FIRST),
		  vm_call_name(VM_CALL_Init),
		  "and those of mpi.h, which add themselves");
	is_string(vm_intercept_call_name(0), "none", "0 is none");
	is_string(vm_intercept_call_name(vm_intercept_call_count()), "none",
		  "nor is what is behind the last");
	for (uint32_t call = VM_CALL_MPI_FIRST;
	     call < vm_intercept_call_count(); call++)
		named += strcmp(vm_intercept_call_name(call), "none") != 0;
	is_int((long)named,
	       (long)(vm_intercept_call_count() - VM_CALL_MPI_FIRST),
	       "all of mpi.h's have one");
}

static void test_kept(void)
{
	ok(!vm_intercept_is_kept(),
	   "nobody watches: images lose their entries");
	vm_intercept_set(VM_INTERCEPT_KEEP);
	ok(vm_intercept_is_kept(), "an image that may watch keeps them");
	vm_intercept_clear(VM_INTERCEPT_KEEP);
	is_int(vmpi_set("core_intercept", "keep"), 0, "it can be asked for");
	ok(vm_intercept_is_kept(), "then too");
	is_int(vmpi_set("core_intercept", "auto"), 0, "and taken back");
}

/* What the last call was told to. */
static unsigned told(void)
{
	vm_self->observed = 0;
	vmpi_yield();
	return vm_self->observed;
}

static jmp_buf jump;

/* A call that is left by a jump while it is told to `bits`. */
static void jump_out(void)
{
	const char *frame = __builtin_frame_address(0);

	if (!setjmp(jump)) {
		vm_intercept_enter(VM_API_CALL_wait, frame - 4096);
		longjmp(jump, 1);
	}
}

static int body(void *arg)
{
	const char *frame = __builtin_frame_address(0);

	ok(told() == 0 && vm_self->view == VM_VIEW_COMPUTES,
	   "nobody watches: calls are not seen");
	vm_intercept_set(VM_INTERCEPT_KEEP);
	is_int(told(), 0, "with entries that are only kept neither");
	vm_intercept_set(VM_INTERCEPT_HOOKS);
	ok(told() & VM_INTERCEPT_HOOKS, "watching begins while ranks run");
	is_int(vm_self->call, VM_API_CALL_yield, "the call has its number");

	ok(vm_intercept_enter(VM_API_CALL_wait, frame - 4096), "a call begins");
	ok(!vm_intercept_enter(VM_API_CALL_test, frame - 8192) &&
		   vm_self->call == VM_API_CALL_wait,
	   "a call in a call is not told");
	vm_intercept_set(VM_INTERCEPT_EVENTS);
	ok(!(vm_self->observed & VM_INTERCEPT_EVENTS),
	   "who begins to watch during a call does not hear of its end");
	vm_intercept_clear(VM_INTERCEPT_EVENTS | VM_INTERCEPT_HOOKS);
	ok(vm_self->observed & VM_INTERCEPT_HOOKS,
	   "who heard of its begin does");
	vm_intercept_exit();
	is_int(vm_self->view, VM_VIEW_COMPUTES, "it ends");
	is_int(told(), 0, "watching ends while ranks run");

	vm_intercept_set(VM_INTERCEPT_HOOKS);
	jump_out();
	ok(told() & VM_INTERCEPT_HOOKS && vm_self->view == VM_VIEW_COMPUTES,
	   "after a call that was left by a jump calls are calls again");
	vm_intercept_clear(VM_INTERCEPT_HOOKS | VM_INTERCEPT_KEEP);
	(void)arg;
	return 0;
}

static void test_threads(void)
{
	is_int(vmpi_start(NULL), 0, "a runtime starts");
	vm_intercept_set(VM_INTERCEPT_HOOKS);
	ok(!vm_intercept_enter(VM_API_CALL_wait, __builtin_frame_address(0)),
	   "calls of a thread that acts for no rank are not told");
	is_int(vmpi_attach(0), 0, "it attaches");
	ok(told() & VM_INTERCEPT_HOOKS, "then they are");
	is_int(vmpi_detach(), 0, "it detaches");
	vm_intercept_clear(VM_INTERCEPT_HOOKS);
	is_int(vmpi_stop(), 0, "the runtime stops");
}

int main(void)
{
	test_names();
	test_kept();
	is_int(vmpi_run(&(vmpi_config){ .ranks = 1 }, body, NULL), 0,
	       "a rank runs");
	test_threads();
	return done_testing();
}
