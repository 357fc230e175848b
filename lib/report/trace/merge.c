/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks through all records in the order of time, and pairs messages.
 *
 * The n-th send with a key meets the n-th receive with it, because MPI matches
 * in order.  Where old records have been overwritten, only records after the
 * last gap are used; there may then be receives of messages that were sent
 * before the gap. If a key has k more receives than sends, its first k receives
 * are taken to be those.
 */
#include "report/trace/merge.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "report/trace/clock.h"
#include "report/trace/pair.h"
#include "report/trace/view.h"

struct trace_merge {
	struct vm_trace_tracks tracks;
	struct vm_trace_out out;
	struct vm_trace_view view;
	struct vm_trace_table sends; /* that wait for their receive */
	struct vm_trace_table later; /* matched, that wait for their payload */
	/* By key: how many receives are of messages from before; or, without
	 * gaps, receives that seem to come before their send. */
	struct vm_trace_table early;
	struct vm_trace_summary *summary;
	uint64_t flows;
};

static struct vm_trace_key later_key(int process, uint32_t rank, uint32_t id)
{
	return (struct vm_trace_key){ { (uint32_t)process, rank, id, 0 } };
}

/* Whether a receive may seem to come before its send. */
static bool crosses_time(const struct trace_merge *merge)
{
	return merge->tracks.hosts > 1 && !merge->tracks.dropped;
}

/* How many more receives than sends each key has, in early. */
static int excess_count(struct trace_merge *merge)
{
	const struct vm_trace_record *record;
	struct vm_trace_track *track;
	int64_t ns;
	int rc = 0;

	while (!rc &&
	       (record = vm_trace_tracks_next(&merge->tracks, &track, &ns))) {
		struct vm_trace_half one = { .ns = 0 }, *half;
		struct vm_trace_key key = vm_trace_key_of(record);

		if (ns < merge->tracks.horizon ||
		    (record->kind != VM_TRACE_SEND &&
		     record->kind != VM_TRACE_MATCH))
			continue;
		half = vm_trace_look(&merge->early, &key);
		if (!half) {
			rc = vm_trace_put(&merge->early, &key, &one);
			half = vm_trace_look(&merge->early, &key);
		}
		if (half)
			half->ns += record->kind == VM_TRACE_MATCH ? 1 : -1;
	}
	vm_trace_tracks_rewind(&merge->tracks);
	return rc;
}

/* Whether the message of a receive was sent before the records begin. */
static bool is_early(struct trace_merge *merge, const struct vm_trace_key *key)
{
	struct vm_trace_half *half = vm_trace_look(&merge->early, key);

	if (!half || half->ns <= 0)
		return false;
	half->ns--;
	return true;
}

/* Where the arrow of a message begins: now. */
static void arrow_begin(struct trace_merge *merge, struct vm_trace_half *send,
			uint32_t receiver)
{
	struct vm_trace_event event = {
		.phase = VM_TRACE_OUT_SEND,
		.pid = VM_TRACE_PID_RANKS,
		.tid = (int)send->rank,
		.name = "message",
		.ns = send->ns,
		.flow = ++merge->flows,
		.args = { { "to", receiver, NULL },
			  { "tag", send->tag, NULL },
			  { "bytes", (int64_t)send->value, NULL } },
	};

	send->flow = event.flow;
	merge->out.format->event(&merge->out, &event);
}

/* Where it ends.  Hosts do not agree on the time to the microsecond. */
static void arrow_end(struct trace_merge *merge,
		      const struct vm_trace_half *send, uint32_t receiver,
		      int64_t ns)
{
	struct vm_trace_event event = {
		.phase = VM_TRACE_OUT_RECEIVE,
		.pid = VM_TRACE_PID_RANKS,
		.tid = (int)receiver,
		.name = "message",
		.ns = ns > send->ns ? ns : send->ns,
		.flow = send->flow,
		.args = { { "from", send->rank, NULL },
			  { "tag", send->tag, NULL },
			  { "bytes", (int64_t)send->value, NULL } },
	};

	vm_trace_view_rank(&merge->view, receiver, event.ns);
	merge->out.format->event(&merge->out, &event);
	merge->summary->messages++;
}

/* Keeps of a receive: its process, id, rank, and the next step. */
static int message_meets(struct trace_merge *merge,
			 const struct vm_trace_half *send,
			 const struct vm_trace_half *match, int64_t ns)
{
	struct vm_trace_key key;

	if (match->tag == VM_TRACE_DONE)
		arrow_end(merge, send, match->rank, ns);
	if (match->tag != VM_TRACE_LATER)
		return 0;
	key = later_key((int)match->ns, match->rank, (uint32_t)match->value);
	return vm_trace_put(&merge->later, &key, send);
}

static int send_record(struct trace_merge *merge,
		       const struct vm_trace_record *record, int64_t ns)
{
	struct vm_trace_half send = { .ns = ns,
				      .value = record->value,
				      .rank = record->rank,
				      .tag = record->tag };
	struct vm_trace_key key = vm_trace_key_of(record);
	struct vm_trace_half match;

	vm_trace_view_rank(&merge->view, record->rank, ns);
	if (ns < merge->tracks.horizon)
		return 0;
	arrow_begin(merge, &send, (uint32_t)record->peer);
	if (crosses_time(merge) && vm_trace_take(&merge->early, &key, &match)) {
		merge->summary->matches_alone--;
		return message_meets(merge, &send, &match, ns);
	}
	merge->summary->sends_alone++;
	return vm_trace_put(&merge->sends, &key, &send);
}

static int match_record(struct trace_merge *merge,
			const struct vm_trace_record *record,
			const struct vm_trace_track *track, int64_t ns)
{
	struct vm_trace_half match = { .ns = track->process,
				       .value = record->id,
				       .rank = record->rank,
				       .tag = record->detail };
	struct vm_trace_key key = vm_trace_key_of(record);
	struct vm_trace_half send;

	if (ns < merge->tracks.horizon ||
	    (merge->tracks.dropped && is_early(merge, &key)))
		return 0;
	if (vm_trace_take(&merge->sends, &key, &send)) {
		merge->summary->sends_alone--;
		return message_meets(merge, &send, &match, ns);
	}
	merge->summary->matches_alone++;
	return crosses_time(merge) ? vm_trace_put(&merge->early, &key, &match) :
				     0;
}

static void received_record(struct trace_merge *merge,
			    const struct vm_trace_record *record,
			    const struct vm_trace_track *track, int64_t ns)
{
	struct vm_trace_key key =
		later_key(track->process, record->rank, record->id);
	struct vm_trace_half send;

	if (vm_trace_take(&merge->later, &key, &send))
		arrow_end(merge, &send, record->rank, ns);
}

static int all_records(struct trace_merge *merge)
{
	const struct vm_trace_record *record;
	struct vm_trace_track *track;
	int64_t ns;
	int rc = 0;

	while (!rc &&
	       (record = vm_trace_tracks_next(&merge->tracks, &track, &ns))) {
		if (record->kind == VM_TRACE_SEND)
			rc = send_record(merge, record, ns);
		else if (record->kind == VM_TRACE_MATCH)
			rc = match_record(merge, record, track, ns);
		else if (record->kind == VM_TRACE_RECEIVED)
			received_record(merge, record, track, ns);
		else if (record->kind > VM_TRACE_NOTHING &&
			 record->kind < VM_TRACE_KIND_COUNT)
			vm_trace_view_record(&merge->view, record, track, ns);
	}
	return rc;
}

static int text_end(struct trace_merge *merge)
{
	const struct vm_trace_summary *sum = merge->summary;
	const struct vm_trace_arg totals[] = {
		{ "producer", 0, "vmpi" },
		{ "ranks", merge->tracks.ranks, NULL },
		{ "processes", sum->processes, NULL },
		{ "processes_without_records", sum->missing, NULL },
		{ "records", (int64_t)sum->records, NULL },
		{ "records_overwritten", (int64_t)sum->dropped, NULL },
		{ "messages", (int64_t)sum->messages, NULL },
		{ "sends_without_receive", (int64_t)sum->sends_alone, NULL },
		{ "receives_without_send", (int64_t)sum->matches_alone, NULL },
		{ "clock", 0,
		  sum->hosts == 1 ? "one for all" :
		  sum->unset	  ? "clocks of hosts aligned by time of day" :
				    "clocks of hosts aligned by messages" },
		{ NULL, 0, NULL },
	};

	return vm_trace_out_close(&merge->out, merge->view.end, totals);
}

/* Time 0 of the tracks is when the first process took its clocks. */
static void clocks_take(struct trace_merge *merge)
{
	const struct vm_trace_tracks *tracks = &merge->tracks;
	const struct vm_trace_file *file = NULL;

	for (int i = 0; i < tracks->processes && !file; i++)
		file = tracks->parts[i].trace.file;
	merge->out.first = tracks->first;
	merge->out.clock_ns = file ? file->ns : 0;
	merge->out.real_ns = file ? file->real_ns : 0;
}

static int text_write(struct trace_merge *merge, const char *path,
		      const char *(*call_name)(uint32_t call))
{
	int rc, closed;

	clocks_take(merge);
	rc = vm_trace_out_open(&merge->out, path);
	if (!rc) {
		rc = vm_trace_view_init(&merge->view, &merge->out,
					&merge->tracks, call_name);
		if (!rc)
			rc = all_records(merge);
		vm_trace_view_fini(&merge->view);
		closed = text_end(merge);
		rc = rc ? rc : closed;
	}
	if (rc == -VMPI_EIO)
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
	return rc;
}

int vm_trace_merge(struct vm_trace_summary *summary, const char *path,
		   int processes, const char *(*call_name)(uint32_t call))
{
	struct trace_merge merge = { .summary = summary };
	int rc = vm_trace_tracks_open(&merge.tracks, path, processes);

	*summary = (struct vm_trace_summary){
		.processes = processes,
		.missing = merge.tracks.missing,
		.hosts = merge.tracks.hosts,
		.records = merge.tracks.records,
		.dropped = merge.tracks.dropped,
	};
	summary->unset = merge.tracks.hosts - 1;
	if (!rc && merge.tracks.dropped)
		rc = excess_count(&merge);
	else if (!rc && merge.tracks.hosts > 1)
		rc = summary->unset = vm_trace_clocks_align(&merge.tracks);
	rc = rc > 0 ? 0 : rc;
	if (!rc)
		rc = text_write(&merge, path, call_name);
	vm_trace_table_fini(&merge.sends);
	vm_trace_table_fini(&merge.later);
	vm_trace_table_fini(&merge.early);
	vm_trace_tracks_close(&merge.tracks);
	return rc;
}
