/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a worker between ULTs: take in the ULTs that others have woken,
 * poll, spin, sleep.
 *
 * Sleeping without a fence on the waker's side: the sleeper sets `sleeping`,
 * makes every other thread of the process pass a barrier (membarrier), checks
 * once more for work, and only then waits.  A waker that left its work before
 * the barrier is seen by that check; a later one sees `sleeping`.
 */
#include "sched/worker.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/own.h"
#include "introspect/export/export.h"
#include "sched/clocks.h"
#include "sched/futex.h"
#include "sched/local.h"
#include "sched/sanitize.h"
#include "sched/sleepers.h"
#include "sched/topo.h"

#define TIMER_ROUNDS 64 /* switches between checks of the sleepers */
#define POLLS_EAGER 64	/* polls without a pause before a worker slows down */
#define LOOKS_MOST 64	/* polls of a wait between two yields, at most */
#define YIELD_ALONE_NS 1000  /* takes a yield when no other thread can run */
#define YIELD_OWN_NS 2000    /* longer: others of the job had the core */
#define YIELD_LONG_NS 500000 /* longer: another thread computes here */
#define NO_SPINS_TIMES 16    /* so many times as long no wait polls then ... */
#define NO_SPINS_SHARED 2    /* ... or so many on a shared core ... */
#define NO_SPINS_MOST_NS 100000000 /* ... and at most so long */
#define PATIENT_TIMES 4	     /* so many times as long polls who slept ... */
#define SHORT_WAIT_TIMES 8   /* ... in a wait of less than so many */
#define VAIN_ROW 256	     /* polls between readings of the clock */
#define VAIN_ROW_NS 50000    /* in a shorter row no ULT has computed */
#define VAIN_POLLS 1024	     /* after these a worker sleeps ... */
#define SHORT_SLEEP_NS 50000 /* ... for so long, once each row */
#define WATCH_ROUNDS 1024    /* polls for a word before its watcher suspends */
#define WATCH_LOOKS 8	     /* at the word between two polls */

struct vm_sched vm_sched;

/* Keeps the order in which they were woken. */
void vm_worker_inbox(struct vm_worker *worker)
{
	struct vm_ult *ult = atomic_exchange_explicit(&worker->inbox, NULL,
						      memory_order_acquire);
	struct vm_ult *fifo = NULL;

	while (ult) {
		struct vm_ult *next = ult->next;

		ult->next = fifo;
		fifo = ult;
		ult = next;
	}
	while (fifo) {
		struct vm_ult *next = fifo->next;

		vm_pvar_add(worker->pvars.remote_wakes, 1);
		vm_worker_push(worker, fifo);
		fifo = next;
	}
}

/* Checks once everything that can make a ULT runnable; returns whether there
 * were messages, of which there may be more. */
static inline bool collect(struct vm_worker *worker)
{
	bool found = false;

	if (atomic_load_explicit(&worker->inbox, memory_order_relaxed))
		vm_worker_inbox(worker);
	if (VM_UNLIKELY(worker->sleepers != NULL) &&
	    (!worker->head || ++worker->rounds % TIMER_ROUNDS == 0))
		vm_sleepers_run(worker);
	/* Last: it sees whether there is something to run. */
	if (vm_sched.hooks.poll)
		found = vm_sched.hooks.poll(worker);
	return found;
}

bool vm_worker_collect(struct vm_worker *worker)
{
	collect(worker);
	return worker->head || worker->next;
}

struct vm_ult *vm_worker_pick(struct vm_worker *worker)
{
	struct vm_ult *ult = worker->next;

	if (ult) {
		worker->next = NULL;
		if (worker->handoffs++ < VM_HANDOFFS_MAX || !worker->head) {
			vm_pvar_add(worker->pvars.handoffs, 1);
			return ult;
		}
		vm_worker_push(worker, ult);
	}
	worker->handoffs = 0;
	ult = worker->head;
	if (ult) {
		worker->head = ult->next;
		if (!ult->next)
			worker->tail = NULL;
		else
			__builtin_prefetch(ult->next->sp);
	}
	return ult;
}

struct vm_ult *vm_worker_next(struct vm_worker *worker)
{
	collect(worker);
	return vm_worker_pick(worker);
}

bool vm_worker_found(struct vm_worker *worker)
{
	return collect(worker) || worker->head || worker->next;
}

static bool has_work(struct vm_worker *worker)
{
	return vm_worker_found(worker) ||
	       atomic_load_explicit(&vm_sched.stop, memory_order_relaxed);
}

void vm_sched_fence_all(void)
{
	if (vm_sched.membarrier)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

void vm_worker_rest_begin(struct vm_worker *worker)
{
	/* A ULT that sleeps will run by itself. */
	if (worker->sleepers)
		return;
	/* Sequentially consistent, as is the hook's look at whether somebody
	 * watches: one of the two sees the other. */
	atomic_fetch_add(&worker->rests, 1);
	if (vm_sched.hooks.rest)
		vm_sched.hooks.rest(worker);
}

void vm_worker_rest_end(struct vm_worker *worker)
{
	if (!worker->sleepers)
		atomic_fetch_add(&worker->rests, 1);
}

void vm_worker_rest(struct vm_worker *worker, uint64_t limit_ns)
{
	vm_worker_rest_begin(worker);
	vm_futex_wait(&worker->sleeping, 1, limit_ns);
	vm_worker_rest_end(worker);
}

/* Who is woken counts as awake before it has a processor: whoever has that may
 * have to give way. */
static void asleep_begin(struct vm_worker *worker)
{
	atomic_fetch_add_explicit(&vm_sched.asleep, 1, memory_order_relaxed);
	atomic_store_explicit(&worker->asleep, true, memory_order_relaxed);
}

static void asleep_end(struct vm_worker *worker)
{
	if (atomic_exchange_explicit(&worker->asleep, false,
				     memory_order_relaxed))
		atomic_fetch_sub_explicit(&vm_sched.asleep, 1,
					  memory_order_relaxed);
}

/* Sleeps in the kernel.  idle_since: the time since which there has been
 * nothing to run, for a performance variable. */
static void worker_sleep(struct vm_worker *worker, uint64_t idle_since)
{
	uint64_t limit = 0;

	atomic_store_explicit(&worker->sleeping, 1, memory_order_relaxed);
	vm_sched_fence_all();
	if (!has_work(worker)) {
		if (worker->sleepers) {
			uint64_t now = vm_clock_ns();
			uint64_t due = worker->sleepers->deadline;

			limit = due > now ? due - now : 1;
		}
		vm_pvar_add(worker->pvars.sleeps, 1);
		vm_pvar_set(worker->pvars.idle_since_ns, idle_since);
		asleep_begin(worker);
		if (!vm_sched.hooks.sleep ||
		    !vm_sched.hooks.sleep(worker, limit))
			vm_worker_rest(worker, limit);
		asleep_end(worker);
		vm_pvar_set(worker->pvars.idle_since_ns, 0);
	}
	atomic_store_explicit(&worker->sleeping, 0, memory_order_relaxed);
}

/*
 * How long a yield takes while nobody computes here, at most, and how many
 * times as long no wait polls after a longer one.  Where processes of the job
 * share a core each of them may have a little to do; and one that sleeps while
 * the others poll is woken at each message, which takes all of them far longer
 * than their turns.
 */
static uint64_t yield_long_ns(void)
{
	return vm_sched.shared ? YIELD_LONG_NS * (uint64_t)vm_sched.shared :
				 YIELD_LONG_NS;
}

static uint64_t no_spins_ns(uint64_t took)
{
	uint64_t rest =
		took * (vm_sched.shared ? NO_SPINS_SHARED : NO_SPINS_TIMES);

	return rest < NO_SPINS_MOST_NS ? rest : NO_SPINS_MOST_NS;
}

bool vm_worker_give_way(struct vm_worker *worker, uint64_t *now)
{
	uint64_t before = *now, took;

	vm_turn_yield(worker);
	*now = vm_clock_ns();
	took = *now - before;
	if (took > YIELD_ALONE_NS)
		worker->looks = 1;
	else if (worker->looks < LOOKS_MOST)
		worker->looks *= 2;
	if (took < yield_long_ns())
		return true;
	worker->no_spins_until = *now + no_spins_ns(took);
	return false;
}

uint64_t vm_worker_own_ns(uint64_t took)
{
	return vm_sched.shared && took > YIELD_OWN_NS ? YIELD_OWN_NS : took;
}

/* It may be set at any time, also during a wait. */
static uint64_t spin_ns(void)
{
	return 1000 *
	       (uint64_t)__atomic_load_n(&sched_cvar.spin_us, __ATOMIC_RELAXED);
}

/*
 * Where a wake-up takes longer than others poll, as on virtual machines, each
 * of two that answer each other would sleep before the other one's next message
 * for ever.
 */
void vm_worker_slept(struct vm_worker *worker, uint64_t took)
{
	worker->patient = took < SHORT_WAIT_TIMES * spin_ns();
}

uint64_t vm_worker_polls_ns(const struct vm_worker *worker)
{
	return worker->patient && !vm_sched.shared ? PATIENT_TIMES * spin_ns() :
						     spin_ns();
}

/*
 * Whether others of this job may need this processor: other workers or
 * processes, for want of processors, or OS threads that run code of the
 * program.  Programs of others do not count: the kernel shares the processor
 * fairly, and who gives way to one that computes gets it back late.
 */
static bool has_company(void)
{
	return vm_sched_contended() ||
	       atomic_load_explicit(&vm_sched.threads, memory_order_relaxed) >
		       atomic_load_explicit(&vm_sched.threads_asleep,
					    memory_order_relaxed);
}

static bool work_look(void *arg)
{
	return has_work(arg);
}

/* Polls before sleeping; returns whether there is work.  *now is when it last
 * read the clock. */
static bool worker_spin(struct vm_worker *worker, uint64_t *now)
{
	uint64_t spent = 0, since;

	/* In a process of one rank its threads poll. */
	if (vm_sched.hooks.thread_sleep ||
	    (has_company() && vm_worker_spins_not(worker, *now)))
		return false;
	do {
		since = *now;
		for (int i = worker->looks; i > 0; i--) {
			if (has_work(worker))
				return true;
			vm_cpu_relax();
		}
		if (vm_turn_poll(worker, work_look, worker))
			return true;
		if (!has_company())
			*now = vm_clock_ns();
		else if (!vm_worker_give_way(worker, now))
			return false;
		spent += vm_worker_own_ns(*now - since);
	} while (spent < vm_worker_polls_ns(worker));
	return false;
}

static void idle(struct vm_worker *worker)
{
	uint64_t start, now;

	/* An event often comes soon; a pause takes up to 50 ns.  Not before who
	 * is to cause it has had the core. */
	for (int i = vm_sched.shared ? 1 : POLLS_EAGER; i > 0; i--)
		if (has_work(worker))
			return;
	/* Only an idle worker reads the clock, so the idle time is always
	 * known. */
	start = now = vm_clock_ns();
	if (!worker_spin(worker, &now)) {
		/* Who naps wakes by itself. */
		bool naps = worker->sleepers;

		worker_sleep(worker, start);
		now = vm_clock_ns();
		vm_worker_slept(worker, naps ? UINT64_MAX : now - start);
	}
	vm_pvar_add(worker->pvars.idle_ns, now - start);
}

void vm_worker_idle(struct vm_worker *worker)
{
	atomic_store_explicit(&worker->idles, true, memory_order_relaxed);
	idle(worker);
	atomic_store_explicit(&worker->idles, false, memory_order_relaxed);
}

/*
 * Like worker_sleep(), but the run queue holds ULTs that poll.  They may wait
 * for something that wakes no thread, so it is short.
 */
static void worker_sleep_short(struct vm_worker *worker)
{
	struct vm_ult *tail = worker->tail;
	bool observed = vm_clocks_idle(worker);

	atomic_store_explicit(&worker->sleeping, 1, memory_order_relaxed);
	vm_sched_fence_all();
	if (!collect(worker) && worker->tail == tail && !worker->next) {
		vm_pvar_add(worker->pvars.short_sleeps, 1);
		vm_futex_wait(&worker->sleeping, 1, SHORT_SLEEP_NS);
	}
	atomic_store_explicit(&worker->sleeping, 0, memory_order_relaxed);
	vm_clocks_busy(observed);
}

void vm_worker_vain(struct vm_worker *worker)
{
	uint64_t start, now;

	if (VM_LIKELY(++worker->vain % VAIN_ROW != 0) || worker->index < 0)
		return;
	start = now = vm_clock_ns();
	if (now - worker->vain_since >= VAIN_ROW_NS) {
		worker->vain = 0;
	} else if (worker->vain >= VAIN_POLLS && has_company()) {
		worker_sleep_short(worker);
		now = vm_clock_ns();
		vm_pvar_add(worker->pvars.idle_ns, now - start);
	}
	worker->vain_since = now;
}

bool vm_worker_watch(struct vm_worker *worker, const _Atomic uint32_t *word,
		     uint32_t value)
{
	for (int round = 0; round < WATCH_ROUNDS; round++) {
		for (int i = 0; i < WATCH_LOOKS; i++)
			if ((int32_t)(atomic_load_explicit(
					      word, memory_order_acquire) -
				      value) >= 0)
				return true;
		collect(worker);
		if (worker->head || worker->next)
			return false;
		if (round > POLLS_EAGER)
			vm_cpu_relax();
	}
	return false;
}

void vm_worker_nudge_slow(struct vm_worker *worker)
{
	/* Pairs with the check of a worker that sleeps elsewhere
	 * (vm_sched.hooks.sleep). */
	if (atomic_exchange(&worker->sleeping, 0)) {
		asleep_end(worker);
		vm_futex_wake(&worker->sleeping);
		if (vm_sched.hooks.kick)
			vm_sched.hooks.kick(worker);
	}
}

/* Binds the calling OS thread and struct to each other. */
static void worker_enter(struct vm_worker *worker)
{
	worker->root.worker = worker;
	worker->looks = LOOKS_MOST;
	worker->errno_address = &errno;
	__atomic_store_n(&worker->tid, gettid(), __ATOMIC_RELAXED);
	vm_sanitize_thread(&worker->root);
	vm_self = &worker->root;
}

static void *worker_main(void *arg)
{
	struct vm_worker *worker = arg;

	if (sched_cvar.bind)
		vm_topo_bind(worker->index);
	worker_enter(worker);
	vm_stack_of_thread(&worker->root.stack);
	vm_local_find(worker->locals);
	if (vm_sched.hooks.thread_start)
		vm_sched.hooks.thread_start(worker);
	vm_ult_run_all(worker);
	vm_counters_end(worker);
	vm_self = NULL;
	return NULL;
}

void vm_sched_report_stacks(void (*on_stack)(struct vm_ult *from,
					     struct vm_ult *to, bool ends))
{
	vm_sched.on_stack = on_stack;
	atomic_fetch_or_explicit(&vm_sched.observed, VM_OBSERVE_STACKS,
				 memory_order_relaxed);
}

int vm_sched_init(int count)
{
	size_t bytes = (size_t)count * sizeof(struct vm_worker);
	unsigned observed = vm_sched_observed() &
			    (VM_OBSERVE_CLOCKS | VM_OBSERVE_STACKS);

	vm_sched = (struct vm_sched){ .worker_count = count,
				      .on_stack = vm_sched.on_stack,
				      .observed = observed };
	vm_lock_init(&vm_sched.adopted_lock);
	vm_list_init(&vm_sched.adopted);
	vm_sched.workers = vm_export_alloc(bytes, VM_CACHELINE);
	if (!vm_sched.workers)
		return -VMPI_ENOMEM;
	for (int i = 0; i < count; i++)
		vm_sched.workers[i].index = i;
	vm_own_spare();
	vm_clock_start((enum vm_clock_choice)sched_cvar.clock);
	if (sched_cvar.rank_time)
		vm_clocks_start();
	vm_sched.processors = vm_topo_processors();
	vm_sched.crowded = count > vm_sched.processors;
	vm_sched.shared = vm_topo_shared();
	vm_sched.membarrier = syscall(SYS_membarrier,
				      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
				      0, 0) == 0;
	return 0;
}

int vm_sched_start(void)
{
	vm_local_freeze();
	for (int i = 0; i < vm_sched.worker_count; i++) {
		int rc = vm_own_create(&vm_sched.workers[i].thread, worker_main,
				       &vm_sched.workers[i]);

		if (rc) {
			vm_log(VM_ERROR, "cannot start worker %d of %d: %s", i,
			       vm_sched.worker_count, vm_own_why(rc));
			vm_sched.worker_count = i;
			return -VMPI_ELIMIT;
		}
	}
	return 0;
}

void vm_sched_stop(void)
{
	atomic_store_explicit(&vm_sched.stop, true, memory_order_release);
	for (int i = 0; i < vm_sched.worker_count; i++) {
		atomic_thread_fence(memory_order_seq_cst);
		vm_worker_nudge(&vm_sched.workers[i]);
	}
	for (int i = 0; i < vm_sched.worker_count; i++)
		pthread_join(vm_sched.workers[i].thread, NULL);
}

void vm_sched_fini(void)
{
	vm_export_free(vm_sched.workers);
	vm_sched.workers = NULL;
	vm_sched.worker_count = 0;
}

struct vm_worker *vm_worker_adopt(void *owner)
{
	struct vm_worker *worker =
		aligned_alloc(VM_CACHELINE, sizeof(struct vm_worker));

	if (!worker)
		return NULL;
	memset(worker, 0, sizeof(*worker));
	worker->index = -1;
	worker->thread = pthread_self();
	worker_enter(worker);
	worker->root.owner = owner;
	vm_lock_take(&vm_sched.adopted_lock);
	vm_list_append(&vm_sched.adopted, &worker->link);
	vm_lock_give(&vm_sched.adopted_lock);
	atomic_fetch_add_explicit(&vm_sched.threads, 1, memory_order_relaxed);
	return worker;
}

void vm_worker_release(struct vm_worker *worker)
{
	VM_ASSERT(worker->index < 0);
	atomic_fetch_sub_explicit(&vm_sched.threads, 1, memory_order_relaxed);
	vm_lock_take(&vm_sched.adopted_lock);
	vm_list_remove(&worker->link);
	vm_lock_give(&vm_sched.adopted_lock);
	vm_counters_end(worker);
	vm_self = NULL;
	free(worker);
}
