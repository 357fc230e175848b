/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reporting calls to their observers.
 */
#include "core/instrument/intercept.h"

#include <stdatomic.h>
#include <stddef.h>

#include "core/instrument/overlap_events.h"
#include "core/instrument/calls.h"
#include "core/instrument/hook.h"
#include "core/instrument/profiler.h"
#include "core/rank/rank.h"
#include "core/instrument/trace.h"
#include "core/rank/vars.h"
#include "introspect/measure/vars.h"

_Atomic uint64_t vm_intercept;

const char *const vm_intercept_imports[] = { "vmpi_hook",
					     "MPI_T_init_thread",
					     "PMPI_T_init_thread",
					     "MPI_T_event_handle_alloc",
					     "PMPI_T_event_handle_alloc",
					     NULL };

static const char *const native_names[] = {
#define NAME(name) [VM_API_CALL_##name] = "vmpi_" #name,
	VM_API_CALLS(NAME)
#undef NAME
};

VM_STATIC_ASSERT(VM_API_CALLS_END <= VM_CALL_MPI_FIRST,
		 "the numbers of native calls end before those of MPI");

const char *vm_intercept_call_name(uint32_t call)
{
	const char *name = NULL;

	if (call < VM_API_CALLS_END)
		name = native_names[call];
	else if (call >= VM_CALL_MPI_FIRST && call < vm_intercept_call_count())
		name = vm_intercept_mpi_names[call - VM_CALL_MPI_FIRST];
	return name ? name : "none";
}

uint32_t vm_intercept_call_count(void)
{
	const uint32_t *added = &vm_intercept_mpi_count;

	return VM_CALL_MPI_FIRST + (added ? *added : 0);
}

void vm_intercept_set(unsigned bits)
{
	atomic_fetch_or_explicit(&vm_intercept, bits, memory_order_release);
}

void vm_intercept_clear(unsigned bits)
{
	atomic_fetch_and_explicit(&vm_intercept, ~(uint64_t)bits,
				  memory_order_release);
}

bool vm_intercept_is_kept(void)
{
	return core_cvar.intercept == VM_INTERCEPT_HOW_KEEP ||
	       overlap_cvar.measure || core_cvar.profile[0] ||
	       trace_cvar.file[0] ||
	       atomic_load_explicit(&vm_intercept, memory_order_relaxed) != 0;
}

/*
 * The observers of calls, each at the place of its bit.  Both functions run on
 * the task that calls (vm_self); rank is its rank, or NULL.  What an observer
 * calls itself is not observed.
 */
static const struct observer {
	void (*enter)(struct vm_rank *rank, uint32_t call);
	void (*exit)(struct vm_rank *rank, uint32_t call);
} observers[] = {
#define AT(bit) [__builtin_ctz(VM_INTERCEPT_##bit)]
	AT(OVERLAP) = { vm_overlap_events_enter, vm_overlap_events_exit },
	AT(PROFILE) = { vm_profiler_enter, vm_profiler_exit },
	AT(EVENTS) = { vm_trace_event_enter, vm_trace_event_exit },
	AT(TRACE) = { vm_trace_enter, vm_trace_exit },
	AT(HOOKS) = { vm_hook_enter, vm_hook_exit },
#undef AT
};

static void observe_enter(struct vm_ult *self, unsigned bits)
{
	struct vm_rank *rank = self->owner;

	self->observed = (uint16_t)bits;
	for (bits &= VM_INTERCEPT_OBSERVERS; bits; bits &= bits - 1)
		observers[__builtin_ctz(bits)].enter(rank, self->call);
}

/* Also for a call that was left by longjmp(), which ends when the next one
 * begins. */
static void observe_exit(struct vm_ult *self)
{
	struct vm_rank *rank = self->owner;
	unsigned bits = self->observed & VM_INTERCEPT_OBSERVERS;

	while (bits) {
		unsigned last = 31 - (unsigned)__builtin_clz(bits);

		bits &= ~(1u << last);
		observers[last].exit(rank, self->call);
	}
	self->view = VM_VIEW_COMPUTES;
}

bool vm_intercept_enter(uint32_t call, const void *frame)
{
	struct vm_ult *self = vm_self;

	if (!self || self->view == VM_VIEW_NONE)
		return false;
	if (VM_UNLIKELY(self->view == VM_VIEW_CALLS)) {
		if ((const char *)frame < self->frame)
			return false;
		observe_exit(self);
	}
	self->view = VM_VIEW_CALLS;
	self->frame = frame;
	self->call = (uint16_t)call;
	/* Pairs with vm_intercept_set(): what a watcher has made is there. */
	observe_enter(self, (unsigned)atomic_load_explicit(
				    &vm_intercept, memory_order_acquire));
	return true;
}

void vm_intercept_exit(void)
{
	if (vm_self->view == VM_VIEW_CALLS)
		observe_exit(vm_self);
}

void vm_intercept_body_begin(void)
{
	if (vm_self->view != VM_VIEW_NONE)
		return;
	vm_overlap_events_body_begin();
	vm_profiler_body_begin();
	vm_self->view = VM_VIEW_COMPUTES;
}

void vm_intercept_body_end(void)
{
	if (vm_self->view != VM_VIEW_NONE) {
		vm_profiler_body_end();
		vm_overlap_events_body_end();
	}
	vm_self->view = VM_VIEW_NONE;
}
