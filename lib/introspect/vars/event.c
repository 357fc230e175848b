/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations, and the delivery of events to them.
 *
 * Those of a type lie in lists by rank, to which they are only added: one that
 * has ended waits there to be used again for the same list, so raising walks
 * without a lock.  The state of a registration counts the threads that use it;
 * of one that is to end, the last thread to leave ends it.
 */
#include "introspect/vars/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"

#define LISTS 65 /* by rank modulo 64; and of those for all ranks */
#define LIST_ALL (LISTS - 1)
#define WORKERS_MAX 1024 /* drops of workers beyond are the last one's */

/* vm_event_handle.state: two bits, and the number of its users in units
 * above. */
enum { FREE, LIVE, DYING, ENDING, PHASES = 3, LOOKER = 4 };

/* Written under the lock; seq is odd meanwhile, so that readers need none. */
struct callback {
	_Atomic uint32_t seq;
	_Atomic(vm_event_fn) fn;
	_Atomic(void *) arg;
};

struct vm_event_handle {
	_Atomic uint32_t state;
	struct vm_event_handle *next; /* constant */
	/* Constant while it is alive. */
	int id, rank;
	void *user;
	int drop_count; /* of `drops` */
	struct callback callbacks[VM_SAFETIES];
	_Atomic(vm_event_dropped_fn) on_dropped;
	_Atomic uint64_t dropped; /* in all */
	_Atomic bool drops_new;	  /* some that were not reported */
	_Atomic uint64_t *drops;  /* those, by source */
	/* The function at its end; written before it is DYING. */
	vm_event_free_fn free_fn;
	void *free_arg;
};

struct vm_events_wanted vm_events_wanted;

static struct {
	struct vm_lock lock; /* of all that is written but counts and drops */
	_Atomic(struct vm_event_handle *) lists[VM_EVENT_COUNT][LISTS];
	unsigned users[VM_EVENT_COUNT]; /* with a callback */
	_Atomic int workers;
	void (*changed)(uint32_t wanted);
} events;

/* Types. */

#define ELEMENT(of, type_, field, text_) \
	{ .name = #field,                \
	  .text = (text_),               \
	  .type = VM_EVENT_##type_,      \
	  .offset = offsetof(struct of, field) },
#define ELEMENTS(name, source, level, category, text)                          \
	static const struct vm_event_element name##_elements[] = {             \
		VM_EVENT_OF_##name(ELEMENT, vm_event_##name)                   \
	};                                                                     \
	VM_STATIC_ASSERT(sizeof(name##_elements) / sizeof(*name##_elements) <= \
				 VM_EVENT_ELEMENTS_MAX,                        \
			 "an event has few elements");
VM_EVENTS(ELEMENTS)

#define WORD(of, type, field, text) "|" #field
#define ROW(name_, source_, level_, category_, text_)                   \
	{ .name = "vmpi." #name_,                                       \
	  .text = (text_),                                              \
	  .level = VM_LEVEL_##level_,                                   \
	  .category = #category_,                                       \
	  .source = VM_SOURCE_##source_,                                \
	  .element_count =                                              \
		  sizeof(name_##_elements) / sizeof(*name_##_elements), \
	  .elements = name_##_elements,                                 \
	  .words = VM_EVENT_OF_##name_(WORD, ) + 1 },
static const struct vm_event_row rows[] = { VM_EVENTS(ROW) };

size_t vm_event_type_bytes(enum vm_event_type type)
{
	return type == VM_EVENT_I32 ? sizeof(int32_t) : sizeof(int64_t);
}

size_t vm_event_bytes(const struct vm_event_row *row)
{
	const struct vm_event_element *last =
		&row->elements[row->element_count - 1];

	return last->offset + vm_event_type_bytes(last->type);
}

const struct vm_event_row *vm_event_row(int id)
{
	return id >= 0 && id < VM_EVENT_COUNT ? &rows[id] : NULL;
}

int vm_event_find(const char *name)
{
	for (int id = 0; id < VM_EVENT_COUNT; id++)
		if (!strcmp(rows[id].name, name))
			return id;
	return -1;
}

/* Sources. */

static const struct vm_source fixed_sources[] = {
	[VM_SOURCE_CALLS] = { "vmpi.calls", "Calls of the library", false },
	[VM_SOURCE_P2P] = { "vmpi.p2p", "Messages", false },
	[VM_SOURCE_NODE] = { "vmpi.node",
			     "What happens to the process as a whole", false },
};

int vm_source_count(void)
{
	/* Pairs with the store in vm_sources_workers(). */
	return VM_SOURCE_SCHED +
	       atomic_load_explicit(&events.workers, memory_order_acquire);
}

bool vm_source_info(int index, struct vm_source *source)
{
	if (index < 0 || index >= vm_source_count())
		return false;
	if (index < VM_SOURCE_SCHED) {
		*source = fixed_sources[index];
		return true;
	}
	*source = (struct vm_source){ .text = "What a worker does",
				      .ordered = true };
	snprintf(source->name, sizeof(source->name), "vmpi.sched.%d",
		 index - VM_SOURCE_SCHED);
	return true;
}

void vm_sources_workers(int count)
{
	/* Sources stay, also when the runtime is started once more with
	 * fewer workers. */
	if (count > atomic_load_explicit(&events.workers, memory_order_relaxed))
		atomic_store_explicit(&events.workers, count,
				      memory_order_release);
}

/* Registrations. */

static unsigned list_of(int rank)
{
	return rank < 0 ? LIST_ALL : (unsigned)rank % LIST_ALL;
}

/* One of the list that is free, or a new one, or NULL; the lock is held. */
static struct vm_event_handle *handle_take(int id, int rank)
{
	_Atomic(struct vm_event_handle *) *list =
		&events.lists[id][list_of(rank)];
	struct vm_event_handle *first =
		atomic_load_explicit(list, memory_order_relaxed);
	struct vm_event_handle *handle = first;

	/* Pairs with the end of handle_end(). */
	while (handle &&
	       atomic_load_explicit(&handle->state, memory_order_acquire) &
		       PHASES)
		handle = handle->next;
	if (handle)
		return handle;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->next = first;
	/* Pairs with the load in list_raise(). */
	atomic_store_explicit(list, handle, memory_order_release);
	return handle;
}

static int handle_init(struct vm_event_handle *handle, int id, int rank)
{
	int drops = rows[id].source == VM_SOURCE_SCHED ? WORKERS_MAX : 1;

	handle->drops = calloc((size_t)drops, sizeof(*handle->drops));
	if (!handle->drops)
		return -VMPI_ENOMEM;
	handle->drop_count = drops;
	handle->id = id;
	handle->rank = rank;
	handle->user = NULL;
	handle->free_fn = NULL;
	atomic_store_explicit(&handle->on_dropped, NULL, memory_order_relaxed);
	atomic_store_explicit(&handle->dropped, 0, memory_order_relaxed);
	atomic_store_explicit(&handle->drops_new, false, memory_order_relaxed);
	/* Pairs with handle_look(). */
	atomic_fetch_or_explicit(&handle->state, LIVE, memory_order_release);
	return 0;
}

int vm_event_register(struct vm_event_handle **handle, int id, int rank)
{
	struct vm_event_handle *new;
	int rc = -VMPI_ENOMEM;

	if (!vm_event_row(id))
		return -VMPI_ENOENT;
	vm_lock_take(&events.lock);
	new = handle_take(id, rank);
	if (new)
		rc = handle_init(new, id, rank);
	vm_lock_give(&events.lock);
	if (!rc)
		*handle = new;
	return rc;
}

void vm_event_attach(struct vm_event_handle *handle, void *user)
{
	handle->user = user;
}

void *vm_event_attached(const struct vm_event_handle *handle)
{
	return handle->user;
}

/* One registration more or less wants events of the type; the lock is held. */
static void users_add(int id, int more)
{
	uint32_t bit = UINT32_C(1) << id, before, after;

	events.users[id] += (unsigned)more;
	before = atomic_load_explicit(&vm_events_wanted.bits,
				      memory_order_relaxed);
	after = events.users[id] ? before | bit : before & ~bit;
	if (after == before)
		return;
	/* Pairs with nothing: the lists are walked by acquire loads, and an
	 * event that is raised meanwhile may be reported or not. */
	atomic_store_explicit(&vm_events_wanted.bits, after,
			      memory_order_relaxed);
	if (events.changed)
		events.changed(after);
}

static bool has_callback(const struct vm_event_handle *handle)
{
	for (int i = 0; i < VM_SAFETIES; i++)
		if (atomic_load_explicit(&handle->callbacks[i].fn,
					 memory_order_relaxed))
			return true;
	return false;
}

/* The lock is held. */
static void callback_write(struct callback *callback, vm_event_fn fn, void *arg)
{
	uint32_t seq =
		atomic_load_explicit(&callback->seq, memory_order_relaxed);

	atomic_store_explicit(&callback->seq, seq + 1, memory_order_relaxed);
	/* Pairs with callback_read(). */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&callback->fn, fn, memory_order_relaxed);
	atomic_store_explicit(&callback->arg, arg, memory_order_relaxed);
	atomic_store_explicit(&callback->seq, seq + 2, memory_order_release);
}

static vm_event_fn callback_read(const struct callback *callback, void **arg)
{
	uint32_t before, after;
	vm_event_fn fn;

	do {
		before = atomic_load_explicit(&callback->seq,
					      memory_order_acquire);
		fn = atomic_load_explicit(&callback->fn, memory_order_relaxed);
		*arg = atomic_load_explicit(&callback->arg,
					    memory_order_relaxed);
		atomic_thread_fence(memory_order_acquire);
		after = atomic_load_explicit(&callback->seq,
					     memory_order_relaxed);
	} while (before != after || before & 1);
	return fn;
}

void vm_event_callback(struct vm_event_handle *handle,
		       enum vm_event_safety safety, vm_event_fn fn, void *arg)
{
	bool before, after;

	vm_lock_take(&events.lock);
	before = has_callback(handle);
	callback_write(&handle->callbacks[safety], fn, arg);
	after = has_callback(handle);
	if (before != after)
		users_add(handle->id, after ? 1 : -1);
	vm_lock_give(&events.lock);
}

void vm_event_on_dropped(struct vm_event_handle *handle, vm_event_dropped_fn fn)
{
	atomic_store_explicit(&handle->on_dropped, fn, memory_order_release);
}

uint64_t vm_event_dropped(const struct vm_event_handle *handle)
{
	return atomic_load_explicit(&handle->dropped, memory_order_relaxed);
}

/* Ends it when no thread uses it any more: exactly one thread gets here. */
static void handle_end(struct vm_event_handle *handle,
		       enum vm_event_safety safety)
{
	vm_event_free_fn fn = handle->free_fn;
	void *arg = handle->free_arg;

	if (fn)
		fn(handle, safety, arg);
	free(handle->drops);
	handle->drops = NULL;
	/* Pairs with the load in handle_take(). */
	atomic_fetch_sub_explicit(&handle->state, ENDING, memory_order_release);
}

static bool handle_look(struct vm_event_handle *handle)
{
	/* Pairs with handle_init(). */
	return (atomic_fetch_add_explicit(&handle->state, LOOKER,
					  memory_order_acquire) &
		PHASES) == LIVE;
}

static void handle_leave(struct vm_event_handle *handle,
			 enum vm_event_safety safety)
{
	uint32_t last = DYING;

	/* Pairs with the exchange below, of who is the last. */
	if (atomic_fetch_sub_explicit(&handle->state, LOOKER,
				      memory_order_acq_rel) -
		    LOOKER !=
	    DYING)
		return;
	if (atomic_compare_exchange_strong_explicit(
		    &handle->state, &last, ENDING, memory_order_acq_rel,
		    memory_order_relaxed))
		handle_end(handle, safety);
}

void vm_event_unregister(struct vm_event_handle *handle, vm_event_free_fn fn,
			 void *arg)
{
	/* As a user of it: the last to leave ends it. */
	handle_look(handle);
	vm_lock_take(&events.lock);
	if (has_callback(handle))
		users_add(handle->id, -1);
	for (int i = 0; i < VM_SAFETIES; i++)
		callback_write(&handle->callbacks[i], NULL, NULL);
	handle->free_fn = fn;
	handle->free_arg = arg;
	atomic_fetch_add_explicit(&handle->state, DYING - LIVE,
				  memory_order_release);
	vm_lock_give(&events.lock);
	handle_leave(handle, VM_SAFETY_NONE);
}

void vm_events_on_change(void (*changed)(uint32_t wanted))
{
	vm_lock_take(&events.lock);
	events.changed = changed;
	if (changed)
		changed(atomic_load_explicit(&vm_events_wanted.bits,
					     memory_order_relaxed));
	vm_lock_give(&events.lock);
}

/* Raising. */

static void drop(struct vm_event_handle *handle, const struct vm_event *event)
{
	int source = event->source - rows[event->id].source;

	if (source >= handle->drop_count)
		source = handle->drop_count - 1;
	atomic_fetch_add_explicit(&handle->drops[source], 1,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&handle->dropped, 1, memory_order_relaxed);
	atomic_store_explicit(&handle->drops_new, true, memory_order_relaxed);
}

/* Reports the events that were dropped since the last time. */
static void drops_report(struct vm_event_handle *handle,
			 enum vm_event_safety safety, void *arg)
{
	vm_event_dropped_fn fn =
		atomic_load_explicit(&handle->on_dropped, memory_order_acquire);
	int first = rows[handle->id].source;

	if (!fn)
		return;
	atomic_store_explicit(&handle->drops_new, false, memory_order_relaxed);
	for (int i = 0; i < handle->drop_count; i++) {
		uint64_t count = 0;

		if (atomic_load_explicit(&handle->drops[i],
					 memory_order_relaxed))
			count = atomic_exchange_explicit(&handle->drops[i], 0,
							 memory_order_relaxed);
		if (count)
			fn(count, handle, first + i, safety, arg);
	}
}

static void deliver(struct vm_event_handle *handle,
		    const struct vm_event *event, enum vm_event_safety safety)
{
	vm_event_fn fn = NULL;
	void *arg = NULL;

	for (int level = (int)safety; level < VM_SAFETIES && !fn; level++)
		fn = callback_read(&handle->callbacks[level], &arg);
	if (!fn) {
		if (has_callback(handle))
			drop(handle, event);
		return;
	}
	if (VM_UNLIKELY(atomic_load_explicit(&handle->drops_new,
					     memory_order_relaxed)))
		drops_report(handle, safety, arg);
	fn(event, handle, safety, arg);
}

static void list_raise(unsigned list, const struct vm_event *event,
		       const struct vm_event_from *from)
{
	/* Pairs with the store in handle_take(). */
	struct vm_event_handle *handle = atomic_load_explicit(
		&events.lists[event->id][list], memory_order_acquire);

	for (; handle; handle = handle->next) {
		if (handle_look(handle) &&
		    (from->rank < 0 || handle->rank < 0 ||
		     handle->rank == from->rank))
			deliver(handle, event, from->safety);
		handle_leave(handle, from->safety);
	}
}

void vm_event_raise(enum vm_event_id id, const struct vm_event_from *from,
		    const void *payload)
{
	struct vm_event event = {
		.id = id,
		.source = rows[id].source,
		.ticks = from->ticks ? from->ticks : vm_clock_ticks(),
		.payload = payload,
	};

	if (from->busy && *from->busy)
		return;
	if (event.source == VM_SOURCE_SCHED)
		event.source += from->worker;
	if (from->busy)
		*from->busy = 1;
	if (from->rank >= 0) {
		list_raise(list_of(from->rank), &event, from);
		list_raise(LIST_ALL, &event, from);
	} else {
		for (unsigned list = 0; list < LISTS; list++)
			list_raise(list, &event, from);
	}
	if (from->busy)
		*from->busy = 0;
}
