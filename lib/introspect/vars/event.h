/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: what can be told of the moment it happens, to whoever registered.
 *
 * A type is a row of VM_EVENTS and the list of its elements.  The row makes its
 * number, the struct of its payload and the function that raises it.  While
 * nobody has registered for a type, that is one load and one branch.
 */
#ifndef INTROSPECT_VARS_EVENT_H
#define INTROSPECT_VARS_EVENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "introspect/vars/category.h"

/*
 * An event is raised like this:
 *	if (vm_event_wanted(VM_EVENT_tune)) {
 *		struct vm_event_tune tune = { .variable = number, ... };
 *		vm_event_raise_tune(&from, &tune);
 *	}
 * Callbacks run at once, where it was raised.
 */

/*
 * Row:  X(name, source, level, category, text)
 *	source	 CALLS P2P NODE, or SCHED: the worker's own
 *	level	 USER, TUNER, MPIDEV; BASIC, DETAIL, ALL, by first letters
 *	category as for variables
 */
#define VM_EVENTS(X)                                                         \
	X(xfer_begin, P2P, TD, p2p, "The transfer of a message begins")      \
	X(xfer_end, P2P, TD, p2p,                                            \
	  "The transfer of a message ends: the sender's buffer can be "      \
	  "reused, or the receiver has the data")                            \
	X(call_enter, CALLS, TB, p2p, "A rank enters a call of the library") \
	X(call_exit, CALLS, TB, p2p, "A rank leaves a call of the library")  \
	X(unexpected, P2P, TD, match,                                        \
	  "A message arrives for which no receive is posted")                \
	X(ult_switch, SCHED, DD, sched,                                      \
	  "A worker switches from one task to another")                      \
	X(steal, SCHED, DD, poll,                                            \
	  "A worker has polled another worker's port and found messages")    \
	X(pool_grow, NODE, TD, pool, "A pool has allocated memory")          \
	X(pool_shrink, NODE, TD, pool, "A pool has freed memory")            \
	X(tune, NODE, TB, tune, "A policy has changed a control variable")   \
	X(rank_moved, NODE, TD, balance, "A rank has moved to another worker")

/*
 * The elements of each type:  E(S, type, name, text), S the struct, type I32,
 * I64 or U64, the wide ones first so that there is no padding between two.  At
 * most 64 bytes in all.
 */
#define VM_EVENT_OF_xfer_begin(E, S)                                         \
	E(S, U64, bytes, "length of the message")                            \
	E(S, U64, id,                                                        \
	  "identifies the transfer: equal in its begin and end events of "   \
	  "one side")                                                        \
	E(S, I32, rank, "rank in MPI_COMM_WORLD whose transfer it is")       \
	E(S, I32, peer,                                                      \
	  "for a send the receiver's rank in MPI_COMM_WORLD, for a receive " \
	  "the sender's rank in its communicator")                           \
	E(S, I32, tag, "tag of the message")                                 \
	E(S, I32, side, "0: send, 1: receive")                               \
	E(S, I32, proto, "protocol (see vmpi-events(7)); -1: not yet known")
#define VM_EVENT_OF_xfer_end(E, S) VM_EVENT_OF_xfer_begin(E, S)
#define VM_EVENT_OF_call_enter(E, S)                       \
	E(S, I32, rank, "caller's rank in MPI_COMM_WORLD") \
	E(S, I32, call, "number of the call; 0: none")
#define VM_EVENT_OF_call_exit(E, S) VM_EVENT_OF_call_enter(E, S)
#define VM_EVENT_OF_unexpected(E, S)                           \
	E(S, U64, bytes, "length of the message")              \
	E(S, I32, rank, "receiver's rank in MPI_COMM_WORLD")   \
	E(S, I32, source, "sender's rank in its communicator") \
	E(S, I32, tag, "tag of the message")                   \
	E(S, I32, queued,                                      \
	  "length of the rank's unexpected queue, including this message")
#define VM_EVENT_OF_ult_switch(E, S)                                  \
	E(S, I32, worker, "number of the worker in its process")      \
	E(S, I32, from, "rank of the task that ran; -1: no rank")     \
	E(S, I32, to, "rank of the task that runs next; -1: no rank") \
	E(S, I32, reason,                                             \
	  "why the first one stopped: 0: waits, 1: yields, 2: has ended")
#define VM_EVENT_OF_steal(E, S)                              \
	E(S, I32, thief, "number of the worker that polled") \
	E(S, I32, owner, "number of the port, which is that of its worker")
#define VM_EVENT_OF_pool_grow(E, S)                             \
	E(S, U64, bytes, "number of bytes allocated or freed")  \
	E(S, U64, total, "size of the pool now")                \
	E(S, I32, pool,                                         \
	  "0: packets of a port, 1: requests, 2: messages, 3: " \
	  "copies of payloads")                                 \
	E(S, I32, owner, "number of the port; -1: none")
#define VM_EVENT_OF_pool_shrink(E, S) VM_EVENT_OF_pool_grow(E, S)
#define VM_EVENT_OF_tune(E, S)                                                \
	E(S, I64, before, "old value of the variable")                        \
	E(S, I64, after, "new value of the variable")                         \
	E(S, I32, variable, "index of the control variable")                  \
	E(S, I32, rank, "rank whose value it is; -1: all ranks")              \
	E(S, I32, policy,                                                     \
	  "number of the policy in the order of --tune=all; -1: loaded from " \
	  "a file")
#define VM_EVENT_OF_rank_moved(E, S)                \
	E(S, I32, rank, "rank in MPI_COMM_WORLD")   \
	E(S, I32, from, "number of the old worker") \
	E(S, I32, to, "number of the new worker")

#define VM_EVENT_BYTES_MAX 64
#define VM_EVENT_ELEMENTS_MAX 8

enum vm_event_id {
#define VM_EVENT_ENUM(name, source, level, category, text) VM_EVENT_##name,
	VM_EVENTS(VM_EVENT_ENUM)
#undef VM_EVENT_ENUM
		VM_EVENT_COUNT
};

enum vm_event_type { VM_EVENT_I32, VM_EVENT_I64, VM_EVENT_U64 };

typedef int32_t vm_event_I32;
typedef int64_t vm_event_I64;
typedef uint64_t vm_event_U64;

#define VM_EVENT_ELEMENT_FIELD(of, type, field, text) vm_event_##type field;
#define VM_EVENT_STRUCT(name, source, level, category, text)                   \
	struct vm_event_##name {                                               \
		VM_EVENT_OF_##name(VM_EVENT_ELEMENT_FIELD, )                   \
	};                                                                     \
	VM_STATIC_ASSERT(sizeof(struct vm_event_##name) <= VM_EVENT_BYTES_MAX, \
			 "the payload of an event is short");
VM_EVENTS(VM_EVENT_STRUCT)
#undef VM_EVENT_STRUCT

/* The facts about a type. */
struct vm_event_element {
	const char *name, *text;
	enum vm_event_type type;
	size_t offset; /* in the payload */
};

struct vm_event_row {
	const char *name; /* "vmpi.xfer_begin" */
	const char *text;
	enum vm_level level;
	const char *category; /* "p2p" */
	int source;	      /* its source; VM_SOURCE_SCHED: that and above */
	int element_count;
	const char *words; /* names of the elements: "bytes|id" */
	const struct vm_event_element *elements;
};

/* The row of a type; NULL: there is none.  The number of a name; -1: none. */
const struct vm_event_row *vm_event_row(int id);
int vm_event_find(const char *name);
/* Bytes of the payload, without padding behind the last element. */
size_t vm_event_bytes(const struct vm_event_row *row);
size_t vm_event_type_bytes(enum vm_event_type type);

/*
 * Sources, by index: the places that raise events.  Those of the workers,
 * VM_SOURCE_SCHED + w, are ordered, and exist from the start of the runtime on:
 * their number grows.  Time stamps are ticks of base/clock.h.
 */
enum { VM_SOURCE_CALLS, VM_SOURCE_P2P, VM_SOURCE_NODE, VM_SOURCE_SCHED };
#define VM_SOURCE_NAME_MAX 32

struct vm_source {
	char name[VM_SOURCE_NAME_MAX]; /* "vmpi.sched.3" */
	const char *text;
	bool ordered;
};

int vm_source_count(void);
/* Fills in a source; false: there is no such source. */
bool vm_source_info(int index, struct vm_source *source);
/* Sets the number of workers, while none of them runs. */
void vm_sources_workers(int count);

/*
 * Safety of a callback, and of the place that calls it: NONE: anything is
 * allowed.  RESTRICTED: nothing that waits or starts communication; it may read
 * the event and variables.  THREAD_SAFE: the same, while other threads run it
 * as well. SIGNAL_SAFE: async-signal-safe.
 */
enum vm_event_safety {
	VM_SAFETY_NONE,
	VM_SAFETY_RESTRICTED,
	VM_SAFETY_THREAD_SAFE,
	VM_SAFETY_SIGNAL_SAFE,
	VM_SAFETIES
};

/* One event, while its callback runs. */
struct vm_event {
	enum vm_event_id id;
	int source;
	uint64_t ticks;
	const void *payload;
};

struct vm_event_handle;

typedef void (*vm_event_fn)(const struct vm_event *event,
			    struct vm_event_handle *handle,
			    enum vm_event_safety safety, void *arg);
typedef void (*vm_event_free_fn)(struct vm_event_handle *handle,
				 enum vm_event_safety safety, void *arg);
typedef void (*vm_event_dropped_fn)(uint64_t count,
				    struct vm_event_handle *handle, int source,
				    enum vm_event_safety safety, void *arg);

/* In place of a rank: the events of all ranks, or of none. */
#define VM_EVENT_ALL (-1)

/*
 * Registers for the events of a type: those of one rank and those that belong
 * to no rank, or all of this process (VM_EVENT_ALL).  No callback yet.  0,
 * -VMPI_ENOENT: no such type, -VMPI_ENOMEM.  Any thread, but not from a
 * callback below NONE.
 */
int vm_event_register(struct vm_event_handle **handle, int id, int rank);

/* Attaches data of the layer above, such as the object concerned.  Set once,
 * before a callback is. */
void vm_event_attach(struct vm_event_handle *handle, void *user);
void *vm_event_attached(const struct vm_event_handle *handle);

/*
 * Sets the callback for a level (NULL: none).  An event is given to that of the
 * least level at or above what the place needs where it is raised; without one
 * it is dropped and counted, and the dropped handler is called before the next
 * callback.  Any thread, also while events are raised.
 */
void vm_event_callback(struct vm_event_handle *handle,
		       enum vm_event_safety safety, vm_event_fn fn, void *arg);
void vm_event_on_dropped(struct vm_event_handle *handle,
			 vm_event_dropped_fn fn);
/* The number of events dropped in all. */
uint64_t vm_event_dropped(const struct vm_event_handle *handle);

/*
 * Ends a registration, also from its callback and while others raise: no
 * callback begins any more; when the last one has returned, fn(arg) is called
 * (here or there; NULL: nothing is), and the handle is gone.
 */
void vm_event_unregister(struct vm_event_handle *handle, vm_event_free_fn fn,
			 void *arg);

/* Sets a function that is called when the set of wanted types has changed, with
 * their bits: it installs hooks that are not free otherwise.  Set before the
 * start. */
void vm_events_on_change(void (*changed)(uint32_t wanted));

/* Raising. */

struct vm_events_wanted {
	_Atomic uint32_t bits; /* 1 << id: there is a registration */
};
extern struct vm_events_wanted vm_events_wanted;

static inline bool vm_event_wanted(enum vm_event_id id)
{
	return VM_UNLIKELY(atomic_load_explicit(&vm_events_wanted.bits,
						memory_order_relaxed) &
			   (UINT32_C(1) << id));
}

/*
 * The origin of an event.  busy: a byte of the task that raises; while a
 * callback runs it is set, and events that the callback causes are not raised.
 * NULL: a thread that is no task, and causes none.
 */
struct vm_event_from {
	int rank;   /* whose event it is, or VM_EVENT_ALL: nobody's */
	int worker; /* of types of SCHED */
	enum vm_event_safety safety;
	uint8_t *busy;
	uint64_t ticks; /* 0: now */
};

void vm_event_raise(enum vm_event_id id, const struct vm_event_from *from,
		    const void *payload);

#define VM_EVENT_RAISE(name, source, level, category, text)   \
	static inline void vm_event_raise_##name(             \
		const struct vm_event_from *from,             \
		const struct vm_event_##name *event)          \
	{                                                     \
		vm_event_raise(VM_EVENT_##name, from, event); \
	}
VM_EVENTS(VM_EVENT_RAISE)
#undef VM_EVENT_RAISE

#endif
