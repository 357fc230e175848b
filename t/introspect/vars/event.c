/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: types, sources, registrations, levels of safety, drops, and ends
 * while others raise.
 */
#include "introspect/vars/event.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

struct heard {
	int calls, safety, last, source, freed;
	uint64_t dropped;
	int dropped_source;
	struct vm_event_handle *leaves; /* unregistered by the callback */
};

static void hear(const struct vm_event *event, struct vm_event_handle *handle,
		 enum vm_event_safety safety, void *arg)
{
	const struct vm_event_call_enter *call = event->payload;
	struct heard *heard = arg;

	(void)handle;
	heard->calls++;
	heard->safety = (int)safety;
	heard->source = event->source;
	heard->last = call->call;
}

static void hear_dropped(uint64_t count, struct vm_event_handle *handle,
			 int source, enum vm_event_safety safety, void *arg)
{
	struct heard *heard = arg;

	(void)handle;
	(void)safety;
	heard->dropped += count;
	heard->dropped_source = source;
}

static void hear_end(struct vm_event_handle *handle,
		     enum vm_event_safety safety, void *arg)
{
	(void)handle;
	(void)safety;
	((struct heard *)arg)->freed++;
}

static void hear_and_leave(const struct vm_event *event,
			   struct vm_event_handle *handle,
			   enum vm_event_safety safety, void *arg)
{
	struct heard *heard = arg;

	hear(event, handle, safety, arg);
	vm_event_unregister(handle, hear_end, heard);
	heard->last = heard->freed; /* not yet: this runs */
}

static void raise_call(int rank, int call, enum vm_event_safety safety)
{
	struct vm_event_call_enter event = { .rank = rank, .call = call };
	struct vm_event_from from = { .rank = rank, .safety = safety };

	if (vm_event_wanted(VM_EVENT_call_enter))
		vm_event_raise_call_enter(&from, &event);
}

static void type_checks(void)
{
	struct vm_source source;
	bool close = true, named = true;

	for (int id = 0; id < VM_EVENT_COUNT; id++) {
		const struct vm_event_row *row = vm_event_row(id);
		size_t end = 0;

		for (int i = 0; i < row->element_count; i++) {
			close = close && row->elements[i].offset == end;
			end += vm_event_type_bytes(row->elements[i].type);
			named = named && row->elements[i].text[0];
		}
		close = close && end == vm_event_bytes(row) &&
			end <= VM_EVENT_BYTES_MAX;
		named = named && row->text[0] && vm_event_find(row->name) == id;
	}
	ok(close, "no elements overlap, and nothing lies between them");
	ok(named, "all types and elements have names and texts");
	ok(!vm_event_row(VM_EVENT_COUNT) && !vm_event_row(-1),
	   "there are no types beyond");
	is_int(vm_event_find("vmpi.none"), -1, "a name that is none");
	is_int(vm_source_count(), VM_SOURCE_SCHED, "sources without workers");
	vm_sources_workers(3);
	is_int(vm_source_count(), VM_SOURCE_SCHED + 3,
	       "each worker is a source");
	ok(vm_source_info(VM_SOURCE_SCHED + 2, &source) && source.ordered &&
		   !strcmp(source.name, "vmpi.sched.2"),
	   "a worker is an ordered source");
	ok(!vm_source_info(VM_SOURCE_SCHED + 3, &source),
	   "there is no source beyond");
}

static void rank_checks(void)
{
	struct heard one = { 0 }, all = { 0 };
	struct vm_event_handle *of_one, *of_all;

	is_int(vm_event_register(&of_one, VM_EVENT_COUNT, 1), -VMPI_ENOENT,
	       "a type that is none cannot be registered for");
	ok(!vm_event_register(&of_one, VM_EVENT_call_enter, 1) &&
		   !vm_event_register(&of_all, VM_EVENT_call_enter,
				      VM_EVENT_ALL),
	   "registered");
	ok(!vm_event_wanted(VM_EVENT_call_enter),
	   "without a callback nobody wants the event");
	vm_event_callback(of_one, VM_SAFETY_NONE, hear, &one);
	vm_event_callback(of_all, VM_SAFETY_NONE, hear, &all);
	ok(vm_event_wanted(VM_EVENT_call_enter), "now somebody does");
	ok(!vm_event_wanted(VM_EVENT_call_exit), "but not another one");
	raise_call(1, 10, VM_SAFETY_NONE);
	raise_call(65, 11, VM_SAFETY_NONE); /* of the same list */
	raise_call(2, 12, VM_SAFETY_NONE);
	is_int(one.calls, 1, "one rank hears of its own events");
	is_int(all.calls, 3, "who asked for all hears of all");
	raise_call(VM_EVENT_ALL, 13, VM_SAFETY_NONE);
	is_int(one.last, 13, "what belongs to no rank all hear of");
	is_int(all.source, VM_SOURCE_CALLS, "the source is known");
	vm_event_unregister(of_one, hear_end, &one);
	is_int(one.freed, 1, "the end is told");
	raise_call(1, 14, VM_SAFETY_NONE);
	is_int(one.calls, 2, "after it nothing is heard");
	is_int(all.calls, 5, "others go on hearing");
	vm_event_callback(of_all, VM_SAFETY_NONE, NULL, NULL);
	ok(!vm_event_wanted(VM_EVENT_call_enter), "the last one has left");
	vm_event_unregister(of_all, NULL, NULL);
}

static void safety_checks(void)
{
	struct heard none = { 0 }, safe = { 0 };
	struct vm_event_handle *handle;

	vm_event_register(&handle, VM_EVENT_call_enter, 0);
	vm_event_callback(handle, VM_SAFETY_NONE, hear, &none);
	vm_event_on_dropped(handle, hear_dropped);
	raise_call(0, 1, VM_SAFETY_RESTRICTED);
	raise_call(0, 2, VM_SAFETY_THREAD_SAFE);
	is_int(none.calls, 0, "a callback is not called where it must not run");
	is_int((int)vm_event_dropped(handle), 2, "these were dropped");
	is_int((int)none.dropped, 0, "the handler cannot hear of it yet");
	raise_call(0, 3, VM_SAFETY_NONE);
	is_int((int)none.dropped, 2, "before the next callback it does");
	is_int(none.dropped_source, VM_SOURCE_CALLS, "with their source");
	raise_call(0, 4, VM_SAFETY_NONE);
	is_int((int)none.dropped, 2, "and only once");
	vm_event_callback(handle, VM_SAFETY_THREAD_SAFE, hear, &safe);
	raise_call(0, 5, VM_SAFETY_RESTRICTED);
	is_int(safe.calls, 1, "a stricter callback takes what needs less");
	is_int(safe.safety, VM_SAFETY_RESTRICTED, "and is told what it needs");
	raise_call(0, 6, VM_SAFETY_NONE);
	is_int(none.calls, 3, "the least strict one that will do is taken");
	vm_event_unregister(handle, NULL, NULL);
}

static void busy_checks(void)
{
	struct vm_event_handle *handle;
	struct vm_event_call_enter event = { 0 };
	struct heard heard = { 0 };
	uint8_t busy = 1;
	struct vm_event_from from = { .busy = &busy };

	vm_event_register(&handle, VM_EVENT_call_enter, 0);
	vm_event_callback(handle, VM_SAFETY_NONE, hear, &heard);
	vm_event_raise_call_enter(&from, &event);
	is_int(heard.calls, 0, "what a callback causes is not told");
	busy = 0;
	vm_event_raise_call_enter(&from, &event);
	ok(heard.calls == 1 && !busy, "afterwards it is");
	vm_event_unregister(handle, NULL, NULL);
	vm_event_register(&handle, VM_EVENT_call_enter, 0);
	heard = (struct heard){ 0 };
	vm_event_callback(handle, VM_SAFETY_NONE, hear_and_leave, &heard);
	raise_call(0, 1, VM_SAFETY_NONE);
	ok(heard.last == 0 && heard.freed == 1,
	   "a callback can end its own registration, after it has returned");
	raise_call(0, 2, VM_SAFETY_NONE);
	is_int(heard.calls, 1, "that was its last");
}

/* Three threads raise while one registers and ends registrations. */
#define ROUNDS 3000

struct storm {
	_Atomic bool stop;
	_Atomic int inside, freed, wrong;
};

struct guest {
	struct storm *storm;
	_Atomic bool gone;
};

static void storm_hear(const struct vm_event *event,
		       struct vm_event_handle *handle,
		       enum vm_event_safety safety, void *arg)
{
	struct guest *guest = arg;

	(void)event;
	(void)handle;
	(void)safety;
	if (guest->gone)
		guest->storm->wrong++;
	guest->storm->inside++;
}

static void storm_end(struct vm_event_handle *handle,
		      enum vm_event_safety safety, void *arg)
{
	struct guest *guest = arg;

	(void)handle;
	(void)safety;
	guest->gone = true;
	guest->storm->freed++;
}

static void *storm_raise(void *arg)
{
	struct storm *storm = arg;

	for (int i = 0; !storm->stop; i++)
		raise_call(i % 3, i, VM_SAFETY_THREAD_SAFE);
	return NULL;
}

/* Until the one callback there is has been called once more. */
static void storm_await(struct storm *storm)
{
	int before = storm->inside;

	while (storm->inside == before)
		sched_yield();
}

static void storm_checks(void)
{
	static struct guest guests[ROUNDS];
	struct storm storm = { 0 };
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, storm_raise, &storm);
	for (int i = 0; i < ROUNDS; i++) {
		struct vm_event_handle *handle;

		guests[i].storm = &storm;
		if (vm_event_register(&handle, VM_EVENT_call_enter, i % 3))
			break;
		vm_event_callback(handle, VM_SAFETY_THREAD_SAFE, storm_hear,
				  &guests[i]);
		if (i % 100 == 0)
			storm_await(&storm);
		vm_event_unregister(handle, storm_end, &guests[i]);
	}
	storm.stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	is_int(storm.freed, ROUNDS, "every registration ended exactly once");
	is_int(storm.wrong, 0, "no callback was called after that");
	diag("%d callbacks ran", storm.inside);
}

int main(void)
{
	type_checks();
	rank_checks();
	safety_checks();
	busy_checks();
	storm_checks();
	return done_testing();
}
