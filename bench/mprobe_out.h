/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching outside MPI: a thread of its own receives everything, and receivers
 * ask that thread's lists instead of MPI.
 *
 * Hoefler et al., "Efficient MPI support for advanced hybrid programming
 * models" (2010), section 2.2.  The thread probes for any message, makes a
 * buffer, starts the receive, and hands the message to the receiver that has
 * waited longest, or keeps it.  The receiver copies it into its own buffer.
 */
#ifndef BENCH_MPROBE_OUT_H
#define BENCH_MPROBE_OUT_H

#include <mpi.h>

struct out;
struct out_msg;

/* The result of a probe. */
struct out_env {
	int source, tag, bytes;
};

/* The wildcards that the receivers will use: with one pattern only, each
 * message is kept in one list; else in the lists of all four that it
 * matches. */
enum out_pattern { OUT_DIRECTED, OUT_ANY, OUT_MIXED };

/* Starts the thread.  From now on no other thread receives on comm.  NULL: out
 * of memory or threads. */
struct out *out_new(MPI_Comm comm, enum out_pattern pattern);

/* Stops the thread; all messages have been received. */
void out_free(struct out *out);

/* Waits for the oldest message that fits; it belongs to the caller, who must
 * receive it. */
struct out_msg *out_probe(struct out *out, int source, int tag,
			  struct out_env *env);

/* Copies the message, of the size that the probe returned, and ends it. */
void out_recv(struct out_msg *msg, void *buf, int bytes);

#endif
