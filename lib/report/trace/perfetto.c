/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of Perfetto: a sequence of packets, each a protocol buffer.
 *
 * All packets are one sequence of one writer, whose first packet clears its
 * state: the clock of all timestamps, and the names, each of which is sent with
 * the packet that is the first to use it.  Tracks are not those of a process of
 * the system but plain ones, which keep their names and order.  A message is a
 * moment at either end, which has the number of its arrow.
 */
#include "report/trace/out.h"
#include "report/trace/names.h"
#include "report/trace/protobuf.h"

/* Numbers of fields and values, as in Perfetto's protos/perfetto/trace. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};
enum { FLAG_STATE_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { DEFAULTS_CLOCK_ID = 58 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_FIELD_ID = 1, CLOCK_FIELD_TIMESTAMP = 2 };
enum { CLOCK_IS_REALTIME = 1, CLOCK_IS_MONOTONIC = 3 };
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_CHILD_ORDERING = 11,
	TRACK_ORDER = 12,
	TRACK_ABOUT = 14,
};
enum { ORDERING_EXPLICIT = 3 };
enum {
	EVENT_ARG = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_NUMBER = 10,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_ENDS = 48,
};
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum {
	ARG_NAME_NUMBER = 1,
	ARG_INTEGER = 4,
	ARG_TEXT = 6,
	ARG_NAME = 10,
};
enum { INTERNED_EVENT_NAMES = 2, INTERNED_ARG_NAMES = 3 };
enum { NAME_NUMBER = 1, NAME_TEXT = 2 };

#define SEQUENCE 1
#define COUNTERS_FROM (1u << 30) /* behind the threads of a process */

static const uint8_t types[] = {
	[VM_TRACE_OUT_BEGIN] = TYPE_BEGIN,
	[VM_TRACE_OUT_END] = TYPE_END,
	[VM_TRACE_OUT_MOMENT] = TYPE_INSTANT,
	[VM_TRACE_OUT_COUNTER] = TYPE_COUNTER,
	[VM_TRACE_OUT_SEND] = TYPE_INSTANT,
	[VM_TRACE_OUT_RECEIVE] = TYPE_INSTANT,
};

static uint64_t uuid(int pid, uint64_t number)
{
	return (uint64_t)pid << 32 | number;
}

static uint64_t uuid_of(int pid, int tid)
{
	return uuid(pid, (uint64_t)(tid + 1)); /* of the process: 0 */
}

static void packet_write(struct vm_trace_out *out, struct vm_protobuf *packet,
			 uint64_t flags)
{
	struct vm_protobuf trace;

	vm_protobuf_init(&trace);
	vm_protobuf_number(packet, PACKET_SEQUENCE_ID, SEQUENCE);
	vm_protobuf_number(packet, PACKET_SEQUENCE_FLAGS, flags);
	vm_protobuf_message(&trace, TRACE_PACKET, packet);
	vm_trace_out_write(out, trace.data, trace.used);
}

static void clock_add(struct vm_protobuf *snapshot, uint64_t clock, uint64_t ns)
{
	struct vm_protobuf one;

	vm_protobuf_init(&one);
	vm_protobuf_number(&one, CLOCK_FIELD_ID, clock);
	vm_protobuf_number(&one, CLOCK_FIELD_TIMESTAMP, ns);
	vm_protobuf_message(snapshot, SNAPSHOT_CLOCKS, &one);
}

static void begin(struct vm_trace_out *out)
{
	struct vm_protobuf packet, snapshot, defaults;

	vm_protobuf_init(&packet);
	vm_protobuf_init(&snapshot);
	vm_protobuf_init(&defaults);
	out->names = vm_trace_names_new();
	clock_add(&snapshot, CLOCK_IS_MONOTONIC, out->clock_ns);
	clock_add(&snapshot, CLOCK_IS_REALTIME, out->real_ns);
	vm_protobuf_number(&snapshot, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	vm_protobuf_number(&defaults, DEFAULTS_CLOCK_ID, CLOCK_IS_MONOTONIC);
	vm_protobuf_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	vm_protobuf_message(&packet, PACKET_DEFAULTS, &defaults);
	vm_protobuf_number(&packet, PACKET_FIRST_ON_SEQUENCE, 1);
	packet_write(out, &packet, FLAG_STATE_CLEARED);
}

static void descriptor_write(struct vm_trace_out *out,
			     struct vm_protobuf *track)
{
	struct vm_protobuf packet;

	vm_protobuf_init(&packet);
	vm_protobuf_message(&packet, PACKET_TRACK_DESCRIPTOR, track);
	packet_write(out, &packet, FLAG_NEEDS_STATE);
}

static void track(struct vm_trace_out *out, int pid, int tid, int order,
		  const char *name, const char *about)
{
	struct vm_protobuf track;

	vm_protobuf_init(&track);
	vm_protobuf_number(&track, TRACK_UUID, uuid_of(pid, tid));
	vm_protobuf_text(&track, TRACK_NAME, name);
	if (tid == VM_TRACE_OUT_PROCESS)
		vm_protobuf_number(&track, TRACK_CHILD_ORDERING,
				   ORDERING_EXPLICIT);
	else
		vm_protobuf_number(&track, TRACK_PARENT, uuid(pid, 0));
	vm_protobuf_number(&track, TRACK_ORDER, (uint64_t)order);
	if (about)
		vm_protobuf_text(&track, TRACK_ABOUT, about);
	descriptor_write(out, &track);
}

/* Adds a name by its number, which interned explains if it is new; as it is, if
 * there is no memory. */
static void name_add(struct vm_trace_out *out, struct vm_protobuf *to,
		     unsigned int number_field, unsigned int text_field,
		     const char *text, struct vm_protobuf *interned,
		     unsigned int kind)
{
	bool fresh = false;
	char key[256];
	uint64_t number;
	struct vm_protobuf entry;

	vm_protobuf_init(&entry);
	snprintf(key, sizeof(key), "%u%s", kind, text);
	number = out->names ? vm_trace_name(out->names, key, &fresh) : 0;
	if (!number) {
		vm_protobuf_text(to, text_field, text);
		return;
	}
	vm_protobuf_number(to, number_field, number);
	if (!fresh)
		return;
	vm_protobuf_number(&entry, NAME_NUMBER, number);
	vm_protobuf_text(&entry, NAME_TEXT, text);
	vm_protobuf_message(interned, kind, &entry);
}

static void args_add(struct vm_trace_out *out, struct vm_protobuf *event,
		     const struct vm_trace_arg *args, size_t count,
		     struct vm_protobuf *interned)
{
	for (size_t i = 0; i < count && args[i].name; i++) {
		struct vm_protobuf arg;

		vm_protobuf_init(&arg);
		name_add(out, &arg, ARG_NAME_NUMBER, ARG_NAME, args[i].name,
			 interned, INTERNED_ARG_NAMES);
		if (args[i].text)
			vm_protobuf_text(&arg, ARG_TEXT, args[i].text);
		else
			vm_protobuf_number(&arg, ARG_INTEGER,
					   (uint64_t)args[i].value);
		vm_protobuf_message(event, EVENT_ARG, &arg);
	}
}

static void event_write(struct vm_trace_out *out, int64_t ns,
			const struct vm_protobuf *event,
			const struct vm_protobuf *interned)
{
	struct vm_protobuf packet;
	int64_t time = (int64_t)out->clock_ns + ns;

	vm_protobuf_init(&packet);
	vm_protobuf_number(&packet, PACKET_TIMESTAMP,
			   (uint64_t)(time > 0 ? time : 0));
	if (interned->used)
		vm_protobuf_message(&packet, PACKET_INTERNED_DATA, interned);
	vm_protobuf_message(&packet, PACKET_TRACK_EVENT, event);
	packet_write(out, &packet, FLAG_NEEDS_STATE);
}

/* The track of a counter, which is given with its first value. */
static uint64_t counter_track(struct vm_trace_out *out,
			      const struct vm_trace_event *event)
{
	uint64_t number = COUNTERS_FROM + (uint64_t)event->counter;
	struct vm_protobuf track, none;
	bool fresh = true;
	char key[32];

	vm_protobuf_init(&track);
	vm_protobuf_init(&none);
	snprintf(key, sizeof(key), "%d.%d", event->pid, event->counter);
	if (out->names && vm_trace_name(out->names, key, &fresh) && !fresh)
		return uuid(event->pid, number);
	vm_protobuf_number(&track, TRACK_UUID, uuid(event->pid, number));
	vm_protobuf_text(&track, TRACK_NAME, event->name);
	vm_protobuf_number(&track, TRACK_PARENT, uuid(event->pid, 0));
	vm_protobuf_message(&track, TRACK_COUNTER, &none);
	vm_protobuf_number(&track, TRACK_ORDER, number);
	descriptor_write(out, &track);
	return uuid(event->pid, number);
}

static void event(struct vm_trace_out *out, const struct vm_trace_event *event)
{
	struct vm_protobuf message, interned;
	bool counter = event->phase == VM_TRACE_OUT_COUNTER;
	int tid = event->of_process ? VM_TRACE_OUT_PROCESS : event->tid;

	vm_protobuf_init(&message);
	vm_protobuf_init(&interned);
	vm_protobuf_number(&message, EVENT_TYPE, types[event->phase]);
	vm_protobuf_number(&message, EVENT_TRACK,
			   counter ? counter_track(out, event) :
				     uuid_of(event->pid, tid));
	if (counter)
		vm_protobuf_number(&message, EVENT_COUNTER_VALUE,
				   (uint64_t)event->value);
	else
		name_add(out, &message, EVENT_NAME_NUMBER, EVENT_NAME,
			 event->name, &interned, INTERNED_EVENT_NAMES);
	if (event->flow)
		vm_protobuf_fixed(&message,
				  event->phase == VM_TRACE_OUT_SEND ?
					  EVENT_FLOW :
					  EVENT_FLOW_ENDS,
				  event->flow);
	args_add(out, &message, event->args, VM_TRACE_OUT_ARGS, &interned);
	event_write(out, event->ns, &message, &interned);
}

/* The totals are those of a moment of the ranks at the end. */
static void end(struct vm_trace_out *out, int64_t ns,
		const struct vm_trace_arg *totals)
{
	struct vm_protobuf message, interned;

	vm_protobuf_init(&message);
	vm_protobuf_init(&interned);
	vm_protobuf_number(&message, EVENT_TYPE, TYPE_INSTANT);
	vm_protobuf_number(&message, EVENT_TRACK,
			   uuid_of(VM_TRACE_PID_RANKS, VM_TRACE_OUT_PROCESS));
	vm_protobuf_text(&message, EVENT_NAME, "contents of this trace");
	args_add(out, &message, totals, SIZE_MAX, &interned);
	event_write(out, ns, &message, &interned);
	vm_trace_names_free(out->names);
	out->names = NULL;
}

const struct vm_trace_format vm_trace_perfetto = { NULL, begin, track, event,
						   end };
