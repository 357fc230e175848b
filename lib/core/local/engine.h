/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress engines: how messages get from worker to worker.
 *
 * Each worker has one.  Its lock guards the mailboxes of the ranks at home
 * there and the reading end of its rings; the holder may move its messages.
 */
#ifndef CORE_LOCAL_ENGINE_H
#define CORE_LOCAL_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/pool.h"
#include "core/rank/match.h"
#include "core/local/errand.h"
#include "core/local/msg.h"
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "core/local/req.h"
#include "core/local/ring.h"
#include "core/local/work.h"
#include "sched/worker.h"

#define VM_BUFFER_MAX 16384 /* bytes of the largest copied payload */
extern const size_t vm_buffer_bytes[VM_BUFFER_CLASSES]; /* ascending */
#define VM_KEPT_BYTES 384 /* of a call that its request keeps */

#define VM_LIGHT_MAX 128 /* free light requests of a thread */

/* What a worker knows of a port (core/remote/progress.h): how often it had been
 * polled, and since when. */
struct vm_port_seen {
	uint64_t polls, since_ns;
};

/* One OS thread's caches; worker->cache. */
struct vm_thread_cache {
	struct vm_engine *engine; /* NULL: not a worker's */
	struct vm_pool_cache req, msg, push, pull, kept;
	struct vm_req *light[VM_LIGHT_MAX]; /* free ones (core/comm/quick.h) */
	unsigned light_count;
	struct vm_pool_cache buffer[VM_BUFFER_CLASSES];
	unsigned polls_left;  /* rounds without a poll of the port */
	unsigned poll_rounds; /* ... after which there is one */
	unsigned help_rounds; /* polls without a look at the others' ports */
	struct vm_port_seen *seen; /* by port */
	bool *left;    /* likewise: others poll it while this one watches, */
	bool beside;   /* ... and there may be such */
	unsigned vain; /* looks whether they still do (core/remote/pace.h) */
	_Atomic bool called; /* was woken to watch (core/remote/progress.h) */
	uint32_t waits;	     /* of threads, at the last check */
	uint64_t nap_ns;     /* the last one beside them */
	struct vm_errand_seen errand;	/* of an idle worker */
	_Atomic(const void *) updating; /* core/window/update.h */
	struct core_rank_pvars pvars;	/* of a thread that is not a worker */
	struct vm_list link;		/* likewise: in rank->caches */
};

/* A ring in which a worker has seen an urgent slot, and since when. */
struct vm_neglected {
	struct vm_engine *to; /* NULL: none */
	int from;
	uint32_t next;
	uint64_t since_ns;
};

struct vm_engine {
	/* Constant: senders read it, so it shares no line with what follows. */
	struct vm_worker *worker;
	/* Needs no lock while there is a bias: the worker; in a process that is
	 * a rank one of its threads, or NULL: nobody. */
	_Atomic(struct vm_worker *) owner;
	struct vm_ring *in; /* by sending engine */
	int index;
	/* The holder may move its messages. */
	struct vm_lock lock VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t ranks; /* that live on it */
	_Atomic bool biased;	/* the owner needs no lock */
	_Atomic bool inside;	/* the owner is in, while biased */
	uint32_t alone; /* times in a row that the owner took the lock */
	/* The worker's own. */
	struct vm_watch watch; /* of its rings */
	uint32_t turn;	       /* of it, the ring that a busy worker looks at */
	uint32_t looks;	       /* at its rings */
	int look;	       /* the engine at whose rings it looks next */
	uint32_t vain;	       /* polls in a row that found nothing */
	struct vm_list lending; /* rings to others with lent payloads */
	struct vm_neglected neglected;
	struct vm_thread_cache cache;
	struct vm_work work; /* what it has to offer */
	/* base/watch.h; of those who send to it. */
	_Atomic uint32_t bell VM_ALIGNED(VM_CACHELINE);
} VM_ALIGNED(VM_CACHELINE);

/* The engine of ranks in other processes; it belongs to no worker. */
extern struct vm_engine vm_engine_remote;

/* For others than the owner: ends the bias (engine.c). */
void vm_engine_lock_slow(struct vm_engine *engine);

/* For the owner while there is no bias; which comes back when nobody else has
 * taken the lock for long. */
void vm_engine_lock_own(struct vm_engine *engine);

/* Whether a worker, or thread, is the owner. */
static VM_ALWAYS_INLINE bool vm_engine_is_own(const struct vm_engine *engine,
					      const struct vm_worker *worker)
{
	return atomic_load_explicit(&engine->owner, memory_order_relaxed) ==
	       worker;
}

/*
 * Takes the engine for its owner, which calls it; false: another thread has
 * ended the bias.  Until another thread wants the engine, its owner only raises
 * a flag: no atomic exchange on the usual path.  The other thread ends that and
 * ensures, by a barrier on all threads (membarrier), that the owner sees it or
 * is seen inside.
 */
static VM_ALWAYS_INLINE bool vm_engine_enter(struct vm_engine *engine)
{
	atomic_store_explicit(&engine->inside, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (VM_LIKELY(atomic_load_explicit(&engine->biased,
					   memory_order_acquire)))
		return true;
	/* Pairs with the wait in vm_engine_lock_slow(). */
	atomic_store_explicit(&engine->inside, false, memory_order_release);
	return false;
}

static inline void vm_engine_lock(struct vm_engine *engine)
{
	if (VM_UNLIKELY(!vm_engine_is_own(engine, vm_self->worker)))
		vm_engine_lock_slow(engine);
	else if (VM_UNLIKELY(!vm_engine_enter(engine)))
		vm_engine_lock_own(engine);
}

/* As vm_engine_lock(), if it is free; never ends the bias.  The second is for
 * others than the owner. */
bool vm_engine_try(struct vm_engine *engine);
bool vm_engine_try_other(struct vm_engine *engine);

static inline void vm_engine_unlock(struct vm_engine *engine)
{
	if (VM_LIKELY(vm_engine_is_own(engine, vm_self->worker) &&
		      atomic_load_explicit(&engine->inside,
					   memory_order_relaxed)))
		atomic_store_explicit(&engine->inside, false,
				      memory_order_release);
	else
		vm_lock_give(&engine->lock);
}

/* One per worker, which owns it if `owned`; 0 or -VMPI_ENOMEM. */
int vm_engines_init(int count, bool owned);
void vm_engines_fini(void);

/* The calling OS thread is the owner from here on, if there is none; until it
 * says that it is not. */
void vm_engine_own(struct vm_engine *engine);
void vm_engine_disown(struct vm_engine *engine);

/* vm_sched.hooks.poll: takes in what has arrived for the worker. */
bool vm_engine_poll(struct vm_worker *worker);

/* Takes in what is in the ring `from` -> engine, at most `most` slots; the lock
 * is held (and let go during long copies). */
void vm_engine_drain(struct vm_engine *engine, int from, int most);

/* Waits until the ring has a free slot, by emptying it for the receiver; or has
 * its slots. */
void vm_engine_room(struct vm_engine *from, struct vm_engine *to);

/* The next free slot from the calling worker to `engine`. */
static inline struct vm_slot *vm_engine_slot(struct vm_engine *from,
					     struct vm_engine *to)
{
	struct vm_ring *ring = &to->in[from->index];

	if (VM_UNLIKELY(ring->head == ring->end))
		vm_engine_room(from, to);
	return vm_ring_slot(ring, ring->head);
}

/* Lets the reader, `to`, see number `number` of its ring, which is filled. */
static VM_ALWAYS_INLINE void vm_engine_show(struct vm_engine *to,
					    struct vm_ring *ring,
					    struct vm_slot *slot,
					    uint32_t number)
{
	ring->head = number + 1;
	/* Pairs with the load in vm_engine_drain(). */
	atomic_store_explicit(&slot->lap, vm_ring_lap(number),
			      memory_order_release);
	/* Its line comes while the next one is filled, as in vm_shm_publish(). */
	vm_fetch_to_write(vm_ring_slot(ring, number + 2));
	vm_watch_announce(&ring->told, &to->bell);
	vm_worker_nudge(to->worker);
}

/* The same of the slot just got. */
static inline void vm_engine_publish(struct vm_engine *from,
				     struct vm_engine *to, struct vm_slot *slot)
{
	struct vm_ring *ring = &to->in[from->index];

	vm_engine_show(to, ring, slot, ring->head);
}

/* The slot just got will have a message whose sender waits: if the worker of `to` does
 * not take it, others do. */
static inline void vm_engine_urgent(struct vm_engine *from,
				    struct vm_engine *to)
{
	struct vm_ring *ring = &to->in[from->index];

	atomic_store_explicit(&ring->urgent, ring->head + 1,
			      memory_order_relaxed);
}

/* The slot just got lends its payload to the reader: its sender is complete when
 * the slot is given back. */
static inline void vm_engine_lend(struct vm_engine *from, struct vm_engine *to)
{
	struct vm_ring *ring = &to->in[from->index];

	if (ring->lent++ == 0)
		vm_list_append(&from->lending, &ring->link);
}

/* Has run(arg, more) called where the ring from -> to is read, under the lock of
 * `to`; `from` is the calling worker's. */
void vm_engine_call(struct vm_engine *from, struct vm_engine *to,
		    void (*run)(void *arg, void *more), void *arg, void *more);

/*
 * The same with a note: run() gets the slot in the place of `more`, in which the
 * caller has set call.more, call.words, env, rank and signature as it likes, and
 * then calls vm_engine_publish().
 */
static inline struct vm_slot *vm_engine_note(struct vm_engine *from,
					     struct vm_engine *to,
					     void (*run)(void *arg, void *slot),
					     void *arg)
{
	struct vm_slot *slot = vm_engine_slot(from, to);

	slot->payload = VM_PAYLOAD_CALL;
	slot->inline_bytes = 1;
	slot->call.run = run;
	slot->call.arg = arg;
	return slot;
}

/* The cache of the calling thread. */
static inline struct vm_thread_cache *vm_thread_cache_self(void)
{
	return vm_self->worker->cache;
}

/* The counters of the caller for its rank: the rank's own, or, for an OS thread
 * that is no worker, those of its thread cache. */
static inline struct core_rank_pvars *vm_counters(void)
{
	return vm_self->counts;
}

#define VM_MESSAGE_COUNTS 4 /* of a kind, one after the other */
VM_STATIC_ASSERT(offsetof(struct core_rank_pvars, coll_received_bytes) ==
			 offsetof(struct core_rank_pvars, received_bytes) +
				 VM_MESSAGE_COUNTS * sizeof(uint64_t),
		 "those inside collectives have the same order");

/* A message of this context, whose collectives' messages are odd and are counted
 * apart. */
static inline void vm_count_sent(struct core_rank_pvars *pvars,
				 uint32_t context, size_t bytes)
{
	uint64_t *words = &pvars->sends + (context & 1) * VM_MESSAGE_COUNTS;

	vm_pvar_add(words[0], 1);
	vm_pvar_add(words[1], bytes);
}

/* The same of a short one that has left for another process. */
static inline void vm_count_sent_away(struct core_rank_pvars *pvars,
				      uint32_t context, size_t bytes)
{
	vm_count_sent(pvars, context, bytes);
	vm_pvar_add(pvars->sizes_remote[vm_size_bin(bytes)], 1);
	vm_pvar_add(pvars->sends_eager, 1);
	vm_pvar_add(pvars->bytes_eager, bytes);
}

static inline void vm_count_received(uint32_t context, size_t bytes)
{
	uint64_t *words =
		&vm_counters()->receives + (context & 1) * VM_MESSAGE_COUNTS;

	vm_pvar_add(words[0], 1);
	vm_pvar_add(words[1], bytes);
}

/* The calling task or thread lets others run.  May switch. */
static inline void vm_rank_yield(void)
{
	struct vm_rank *rank = vm_rank_self();

	if (VM_LIKELY(rank != NULL))
		vm_pvar_add(vm_counters()->yields, 1);
	vm_ult_yield();
}

void vm_thread_cache_init(struct vm_thread_cache *cache,
			  struct vm_engine *engine);
void vm_thread_cache_fini(struct vm_thread_cache *cache);

/* A buffer of at least `bytes` <= VM_BUFFER_MAX; NULL at the bound. */
void *vm_buffer_get(struct vm_thread_cache *cache, size_t bytes);
void vm_buffer_put(struct vm_thread_cache *cache, void *buffer, size_t bytes);

#endif
