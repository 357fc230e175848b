/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of counts: hardware counts from perf_event_open() alone, counts of
 * the kernel from there or else from getrusage() and clock_gettime().  A count
 * that is not permitted is an error, never 0.
 */
#include "sched/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sched/clocks.h"

struct kind {
	uint32_t type;
	uint64_t config;
	enum vm_counter_source instead; /* without perf_event_open() */
};

static const struct kind kinds[VMPI_COUNTER_KINDS] = {
	[VMPI_COUNTER_CYCLES] = { PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
				  VM_COUNTER_NONE },
	[VMPI_COUNTER_INSTRUCTIONS] = { PERF_TYPE_HARDWARE,
					PERF_COUNT_HW_INSTRUCTIONS,
					VM_COUNTER_NONE },
	[VMPI_COUNTER_CACHE_REFERENCES] = { PERF_TYPE_HARDWARE,
					    PERF_COUNT_HW_CACHE_REFERENCES,
					    VM_COUNTER_NONE },
	[VMPI_COUNTER_CACHE_MISSES] = { PERF_TYPE_HARDWARE,
					PERF_COUNT_HW_CACHE_MISSES,
					VM_COUNTER_NONE },
	[VMPI_COUNTER_BRANCHES] = { PERF_TYPE_HARDWARE,
				    PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
				    VM_COUNTER_NONE },
	[VMPI_COUNTER_BRANCH_MISSES] = { PERF_TYPE_HARDWARE,
					 PERF_COUNT_HW_BRANCH_MISSES,
					 VM_COUNTER_NONE },
	[VMPI_COUNTER_PAGE_FAULTS] = { PERF_TYPE_SOFTWARE,
				       PERF_COUNT_SW_PAGE_FAULTS,
				       VM_COUNTER_USAGE },
	[VMPI_COUNTER_CONTEXT_SWITCHES] = { PERF_TYPE_SOFTWARE,
					    PERF_COUNT_SW_CONTEXT_SWITCHES,
					    VM_COUNTER_USAGE },
	[VMPI_COUNTER_TASK_CLOCK] = { PERF_TYPE_SOFTWARE,
				      PERF_COUNT_SW_TASK_CLOCK,
				      VM_COUNTER_CLOCK },
};

static int kind_of(const struct vmpi_counter *counter)
{
	return (int)(counter - vm_sched.counters.kinds);
}

/*
 * Opens a descriptor for the calling thread, or -1.  Hardware counts user code,
 * as kernels let everybody do, and always or not at all (pinned): a share of
 * the time would not add up over switches.  Counts of the kernel happen in the
 * kernel.
 */
static int perf_open(int kind)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = kinds[kind].type,
		.config = kinds[kind].config,
		.exclude_hv = 1,
	};

	if (attr.type == PERF_TYPE_HARDWARE) {
		attr.exclude_kernel = 1;
		attr.pinned = 1;
	}
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static bool perf_read(struct vm_counter_worker *worker, int kind,
		      uint64_t *value)
{
	int *fd = &worker->fds[kind];

	if (*fd == 0)
		*fd = perf_open(kind) + 1;
	/* A pinned counter that had to give way reads as the end of the
	 * file. */
	return *fd > 0 &&
	       read(*fd - 1, value, sizeof(*value)) == sizeof(*value);
}

static bool usage_read(int kind, uint64_t *value)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return false;
	if (kind == VMPI_COUNTER_PAGE_FAULTS)
		*value = (uint64_t)(usage.ru_minflt + usage.ru_majflt);
	else
		*value = (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
	return true;
}

static bool clock_read(uint64_t *value)
{
	struct timespec time;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time))
		return false;
	*value = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return true;
}

/* The count of the calling OS thread; false: there is none. */
static bool count_read(struct vm_counter_worker *worker, int kind,
		       enum vm_counter_source source, uint64_t *value)
{
	switch (source) {
	case VM_COUNTER_PERF:
		return perf_read(worker, kind, value);
	case VM_COUNTER_USAGE:
		return usage_read(kind, value);
	case VM_COUNTER_CLOCK:
		return clock_read(value);
	case VM_COUNTER_NONE:
		break;
	}
	return false;
}

/* The count of the calling OS thread for a kind that is open; false: it is
 * lost. */
static bool count(struct vm_worker *worker, int kind, uint64_t *value)
{
	struct vmpi_counter *counter = &vm_sched.counters.kinds[kind];
	enum vm_counter_source source =
		atomic_load_explicit(&counter->source, memory_order_relaxed);

	if (VM_LIKELY(count_read(&worker->counters, kind, source, value)))
		return true;
	atomic_store_explicit(&counter->lost, true, memory_order_relaxed);
	return false;
}

/* The ULT's timer of a kind, as of this opening.  If it is opened inside a
 * section, the timer begins there. */
static struct vm_timer *timer_of(struct vm_ult *ult, int kind)
{
	uint32_t epoch = atomic_load_explicit(
		&vm_sched.counters.kinds[kind].epoch, memory_order_relaxed);
	struct vm_timer *timer = &ult->counters[kind];

	if (VM_UNLIKELY(timer->user != epoch))
		*timer = (struct vm_timer){ .depth = ult->timer.depth,
					    .user = epoch };
	return timer;
}

void vm_counters_switch(struct vm_worker *worker, struct vm_ult *from,
			struct vm_ult *to)
{
	/* Pairs with the store in kind_start(). */
	uint32_t left = atomic_load_explicit(&vm_sched.counters.open,
					     memory_order_acquire);

	for (; left; left &= left - 1) {
		int kind = __builtin_ctz(left);
		struct vm_timer *timer = timer_of(from, kind);
		uint64_t now;

		if (!count(worker, kind, &now))
			continue;
		if (vm_timer_runs(timer))
			vm_timer_suspend(timer, &worker->counters.core[kind],
					 now);
		vm_timer_resume(timer_of(to, kind), now);
	}
}

/* An event of the calling ULT's timer of each kind. */
typedef void (*event)(struct vm_timer *timer, struct vm_timer_core *core,
		      uint64_t now);

static void suspend(struct vm_timer *timer, struct vm_timer_core *core,
		    uint64_t now)
{
	if (vm_timer_runs(timer))
		vm_timer_suspend(timer, core, now);
}

static void resume(struct vm_timer *timer, struct vm_timer_core *core,
		   uint64_t now)
{
	(void)core;
	if (!vm_timer_runs(timer))
		vm_timer_resume(timer, now);
}

static void enter(struct vm_timer *timer, struct vm_timer_core *core,
		  uint64_t now)
{
	resume(timer, core, now);
	vm_timer_enter(timer, now);
}

static void leave(struct vm_timer *timer, struct vm_timer_core *core,
		  uint64_t now)
{
	resume(timer, core, now);
	vm_timer_leave(timer, core, now);
}

static void each(struct vm_ult *self, event happens)
{
	struct vm_worker *worker = self->worker;
	uint32_t left = atomic_load_explicit(&vm_sched.counters.open,
					     memory_order_acquire);

	for (; left; left &= left - 1) {
		int kind = __builtin_ctz(left);
		uint64_t now;

		if (count(worker, kind, &now))
			happens(timer_of(self, kind),
				&worker->counters.core[kind], now);
	}
}

void vm_counters_suspend(struct vm_ult *self)
{
	each(self, suspend);
}

void vm_counters_resume(struct vm_ult *self)
{
	each(self, resume);
}

void vm_counters_enter(struct vm_ult *self)
{
	each(self, enter);
}

void vm_counters_leave(struct vm_ult *self)
{
	each(self, leave);
}

/* Finds how a kind can be counted here; the calling thread tries it. */
static enum vm_counter_source source_find(struct vm_counter_worker *worker,
					  int kind)
{
	enum vm_counter_choice choice =
		(enum vm_counter_choice)sched_cvar.counters;
	uint64_t value;

	if (choice == VM_COUNTERS_OFF)
		return VM_COUNTER_NONE;
	if (choice != VM_COUNTERS_USAGE && perf_read(worker, kind, &value))
		return VM_COUNTER_PERF;
	if (choice == VM_COUNTERS_PERF ||
	    !count_read(worker, kind, kinds[kind].instead, &value))
		return VM_COUNTER_NONE;
	return kinds[kind].instead;
}

/* Opens a kind for its first user; under the lock. */
static int kind_start(struct vm_worker *worker, int kind)
{
	struct vm_counters *counters = &vm_sched.counters;
	struct vmpi_counter *counter = &counters->kinds[kind];
	enum vm_counter_source source = source_find(&worker->counters, kind);

	atomic_store_explicit(&counter->source, source, memory_order_relaxed);
	if (source == VM_COUNTER_NONE)
		return errno == EMFILE || errno == ENFILE ? -VMPI_ELIMIT :
							    -VMPI_ENOTSUP;
	atomic_store_explicit(&counter->lost, false, memory_order_relaxed);
	atomic_fetch_add_explicit(&counter->epoch, 1, memory_order_relaxed);
	/* Pairs with the loads in vm_counters_switch() and each(). */
	atomic_fetch_or_explicit(&counters->open, 1u << kind,
				 memory_order_release);
	vm_clocks_start();
	atomic_fetch_or_explicit(&vm_sched.observed, VM_OBSERVE_COUNTERS,
				 memory_order_relaxed);
	return 0;
}

int vm_counter_open(struct vmpi_counter **counter, int kind)
{
	struct vm_counters *counters = &vm_sched.counters;
	int rc = 0;

	errno = 0;
	vm_lock_take(&counters->lock);
	if (counters->kinds[kind].users == 0)
		rc = kind_start(vm_self->worker, kind);
	if (!rc)
		counters->kinds[kind].users++;
	vm_lock_give(&counters->lock);
	if (!rc)
		*counter = &counters->kinds[kind];
	return rc;
}

void vm_counter_close(struct vmpi_counter *counter)
{
	struct vm_counters *counters = &vm_sched.counters;

	vm_lock_take(&counters->lock);
	/* A runtime that was stopped and started again has no users. */
	if (counter->users > 0 && --counter->users == 0) {
		uint32_t bit = 1u << kind_of(counter);
		uint32_t open = atomic_fetch_and_explicit(&counters->open, ~bit,
							  memory_order_relaxed);

		if (open == bit)
			atomic_fetch_and_explicit(
				&vm_sched.observed,
				~(unsigned)VM_OBSERVE_COUNTERS,
				memory_order_relaxed);
	}
	vm_lock_give(&counters->lock);
}

/* The timer of the calling ULT, which runs, and its count; NULL: lost. */
static struct vm_timer *self_count(const struct vmpi_counter *counter,
				   uint64_t *now)
{
	struct vm_ult *self = vm_self;
	struct vm_timer *timer;

	if (!count(self->worker, kind_of(counter), now) ||
	    atomic_load_explicit(&counter->lost, memory_order_relaxed))
		return NULL;
	timer = timer_of(self, kind_of(counter));
	resume(timer, NULL, *now);
	return timer;
}

int vm_counter_rank(const struct vmpi_counter *counter, uint64_t *value)
{
	uint64_t now;
	struct vm_timer *timer = self_count(counter, &now);

	if (!timer)
		return -VMPI_EIO;
	*value = vm_timer_rank(timer, now);
	return 0;
}

int vm_counter_core(const struct vmpi_counter *counter, uint64_t *value)
{
	struct vm_worker *worker = vm_self->worker;
	uint64_t now;
	struct vm_timer *timer = self_count(counter, &now);

	if (!timer)
		return -VMPI_EIO;
	*value = vm_timer_of_core(&worker->counters.core[kind_of(counter)],
				  timer, now);
	return 0;
}

static void fds_close(struct vm_counter_worker *worker)
{
	for (int kind = 0; kind < VMPI_COUNTER_KINDS; kind++) {
		if (worker->fds[kind] > 0)
			close(worker->fds[kind] - 1);
		worker->fds[kind] = 0;
	}
}

void vm_counters_end(struct vm_worker *worker)
{
	fds_close(&worker->counters);
}

enum vm_counter_source vm_counter_probe(int kind)
{
	struct vm_counter_worker worker = { 0 };
	enum vm_counter_source source = source_find(&worker, kind);

	fds_close(&worker);
	return source;
}
