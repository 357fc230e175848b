/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes, the two workarounds of Hoefler et al. (2010), the first of
 * them for receives of one kind only and for all kinds, and the wrong way.
 */
#include "mprobe_way.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "mprobe_lock.h"
#include "mprobe_out.h"

void (*way_between)(void);

static MPI_Comm comm;
static struct grid *grid;
static struct out *out;

static void give_up(const char *what)
{
	fprintf(stderr, "mprobe: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void open_comm(MPI_Comm own, enum pattern pattern)
{
	(void)pattern;
	comm = own;
}

static void close_nothing(void)
{
}

static void open_grid(MPI_Comm own, enum pattern pattern)
{
	open_comm(own, pattern);
	grid = grid_new();
	if (!grid)
		give_up("out of memory for locks");
}

static void close_grid(void)
{
	grid_free(grid);
}

static void open_out(MPI_Comm own, enum pattern pattern)
{
	static const enum out_pattern patterns[] = { OUT_DIRECTED, OUT_ANY,
						     OUT_MIXED };

	out = out_new(own, patterns[pattern]);
	if (!out)
		give_up("no thread that matches");
}

static void close_out(void)
{
	out_free(out);
}

/* The promise: a buffer of the size that a probe has returned. */
static void promise(struct parcel *parcel, const MPI_Status *status)
{
	parcel->source = status->MPI_SOURCE;
	parcel->tag = status->MPI_TAG;
	MPI_Get_count(status, MPI_BYTE, &parcel->bytes);
	/* In Open MPI a probe whose message is received by another thread
	 * meanwhile may return nonsense. */
	if (parcel->bytes < 0)
		parcel->bytes = 0;
	parcel->data = malloc((size_t)parcel->bytes + 1);
	if (!parcel->data)
		give_up("out of memory for a message");
	if (way_between)
		way_between();
}

/* Notes the message that came, with the result of the call that received it. */
static void settle(struct parcel *parcel, int rc, const MPI_Status *status)
{
	int bytes = 0, class = MPI_SUCCESS;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	if (rc != MPI_SUCCESS)
		MPI_Error_class(rc, &class);
	if (class != MPI_SUCCESS && class != MPI_ERR_TRUNCATE)
		give_up("a receive failed");
	parcel->kept = class == MPI_SUCCESS && bytes == parcel->bytes &&
		       status->MPI_SOURCE == parcel->source &&
		       status->MPI_TAG == parcel->tag;
}

static void take_matched(struct parcel *parcel, int source, int tag)
{
	MPI_Message message;
	MPI_Status status;
	int rc;

	MPI_Mprobe(source, tag, comm, &message, &status);
	promise(parcel, &status);
	rc = MPI_Mrecv(parcel->data, parcel->bytes, MPI_BYTE, &message,
		       &status);
	settle(parcel, rc, &status);
}

/* As in listing 1.1 the receive has the arguments of the probe.  With the
 * probe's result instead it could wait forever, for a message that another
 * thread took. */
static void take_unsafe(struct parcel *parcel, int source, int tag)
{
	MPI_Status status;
	int rc;

	MPI_Probe(source, tag, comm, &status);
	promise(parcel, &status);
	rc = MPI_Recv(parcel->data, parcel->bytes, MPI_BYTE, source, tag, comm,
		      &status);
	settle(parcel, rc, &status);
}

/* Under a lock: receives the message that a probe found.  The receive uses the
 * probe's result, and not any source again as in listing 1.5: of messages from
 * different senders it need not be the same one. */
static void found_receive(struct parcel *parcel, const MPI_Status *status,
			  MPI_Request *request)
{
	promise(parcel, status);
	MPI_Irecv(parcel->data, parcel->bytes, MPI_BYTE, parcel->source,
		  parcel->tag, comm, request);
}

/* Listing 1.1, with the locks of table 1 for receives of one kind. */
static void take_locked(struct parcel *parcel, int source, int tag)
{
	MPI_Request request;
	MPI_Status status;

	grid_lock_alone(grid, source, tag);
	MPI_Probe(source, tag, comm, &status);
	found_receive(parcel, &status, &request);
	grid_unlock_alone(grid, source, tag);
	settle(parcel, MPI_Wait(&request, &status), &status);
}

/* Listing 1.5. */
static void take_polled(struct parcel *parcel, int source, int tag)
{
	MPI_Request request;
	MPI_Status status;
	int found = 0;

	while (!found) {
		grid_lock(grid, source, tag);
		MPI_Iprobe(source, tag, comm, &found, &status);
		if (found)
			found_receive(parcel, &status, &request);
		grid_unlock(grid, source, tag);
		if (!found)
			sched_yield();
	}
	settle(parcel, MPI_Wait(&request, &status), &status);
}

/* Section 2.2. */
static void take_outside(struct parcel *parcel, int source, int tag)
{
	struct out_env env;
	struct out_msg *msg = out_probe(out, source, tag, &env);

	parcel->source = env.source;
	parcel->tag = env.tag;
	parcel->bytes = env.bytes;
	parcel->data = malloc((size_t)env.bytes + 1);
	if (!parcel->data)
		give_up("out of memory for a message");
	out_recv(msg, parcel->data, env.bytes);
	parcel->kept = true;
}

const struct way ways[WAYS] = {
	{ "matched", true, true, true, open_comm, take_matched, close_nothing },
	{ "locked", true, false, false, open_grid, take_locked, close_grid },
	{ "polled", true, true, false, open_grid, take_polled, close_grid },
	{ "outside", true, true, false, open_out, take_outside, close_out },
	{ "unsafe", false, false, true, open_comm, take_unsafe, close_nothing },
};
