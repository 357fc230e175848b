/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Advice: from the counts of a job to sentences.
 *
 * Facts are numbers of a process, or of all of them together; a rule reads them
 * and is silent, or writes what it has seen and which option would change that.
 * Rules are a table; each has a threshold below which it is silent, and none is
 * about a run shorter than VM_ADVICE_LEAST_NS.  vmpirun(1) lists them. Pure: no
 * clocks, no variables, no output.
 */
#ifndef REPORT_ADVICE_H
#define REPORT_ADVICE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Besides counts there are the calls that took most time, with their own
 * counts; sentences name them.
 */

#define VM_ADVICE_LEAST_NS UINT64_C(50000000)
#define VM_ADVICE_TEXT_MAX 512
#define VM_ADVICE_CALLS 24
#define VM_ADVICE_CALL_NAME 40

/*
 * X(merge, field, counter, text): how the facts of two processes become one
 * (SUM, MAX), and the performance variable it is the total of; "": the caller
 * knows.
 */
#define VM_ADVICE_FACTS(X)                                                     \
	X(MAX, wall_ns, "", "from the start of the ranks to their end")        \
	X(SUM, processes, "", "processes")                                     \
	X(SUM, ranks, "", "ranks")                                             \
	X(SUM, workers, "", "workers")                                         \
	X(SUM, cores, "", "cores that workers may use")                        \
	X(SUM, run_ns, "", "run time of the ranks")                            \
	X(SUM, call_ns, "", "time of the ranks in calls, with waiting")        \
	X(SUM, work_ns, "", "of that, time in which they ran")                 \
	X(SUM, idle_ns, "", "and time in which their core was idle")           \
	X(MAX, busiest_ns, "", "run time on one worker, the most")             \
	X(MAX, moments_ns, "", "the most of each moment, added up")            \
	X(MAX, placed_ns, "",                                                  \
	  "the same, had ranks been placed by what they did before")           \
	X(MAX, tied, "", "ranks cannot move")                                  \
	X(SUM, switches, "sched_switches", "switches")                         \
	X(SUM, short_sleeps, "sched_short_sleeps",                             \
	  "times all tasks of a worker only polled")                           \
	X(SUM, sends, "core_sends", "messages sent")                           \
	X(SUM, sent_bytes, "core_sent_bytes", "their bytes")                   \
	X(SUM, receives, "core_receives", "messages received")                 \
	X(SUM, copies, "core_sends_copy", "messages that waited in a copy")    \
	X(SUM, copied_bytes, "core_bytes_copy", "their bytes")                 \
	X(SUM, eager, "core_sends_eager", "sent to other processes at once")   \
	X(SUM, in_line, "core_sends_queued", "that waited for a credit")       \
	X(SUM, unexpected, "core_unexpected", "before their receive")          \
	X(MAX, queue_max, "core_unexpected_max", "the longest queue of those") \
	X(SUM, long_bytes, "core_rndv_bytes", "bytes of long messages")        \
	X(SUM, reads, "core_rndv_reads", "long messages that were read")       \
	X(SUM, writes, "core_rndv_writes", "written")                          \
	X(SUM, pieces, "core_rndv_pipelines", "in pieces")                     \
	X(SUM, sender_late, "core_rndv_sender_late",                           \
	  "offered after a receive")                                           \
	X(SUM, receiver_late, "core_rndv_receiver_late", "offered before it")  \
	X(SUM, pool_bytes, "fabric_pool_bytes", "packet memory at the end")    \
	X(SUM, pool_max, "fabric_pool_bytes_max", "packet memory at most")     \
	X(SUM, pool_unused, "", "what of it nothing has used at last")         \
	X(SUM, coll_linear_internode, "core_coll_linear_internode",            \
	  "collectives: each to each")                                         \
	X(SUM, coll_ordered_internode, "core_coll_ordered_internode",          \
	  "collectives: all to all")                                           \
	X(SUM, far_other, "", "collectives by better algorithms")              \
	X(MAX, eager_limit, "", "core_eager_limit")                            \
	X(MAX, eager_times, "",                                                \
	  "core_eager_net or _shared if it counts, or 1")                      \
	X(MAX, credits, "", "fabric_credits")                                  \
	X(MAX, pool_keep, "", "fabric_pool_keep")                              \
	X(MAX, balance, "", "core_balance")                                    \
	X(MAX, protocol, "", "core_rndv_protocol")                             \
	X(MAX, coll_slow, "", "bits of families set to linear or ordered")     \
	X(MAX, scattered, "", "ranks of a process are no neighbours")

/* Families of collectives: X(word of their variable, of their call, words that
 * are linear or ordered, from 1 on). */
#define VM_ADVICE_FAMILIES(X)                \
	X(bcast, Bcast, 1)                   \
	X(allgather, Allgather, 1)           \
	X(alltoall, Alltoall, 1)             \
	X(reduce, Reduce, 2)                 \
	X(allreduce, Allreduce, 2)           \
	X(reduce_scatter, Reduce_scatter, 2) \
	X(scan, Scan, 2)

/* The counts of a call: X(field, counter, text). */
#define VM_ADVICE_COUNTS(X)                                         \
	X(announced, "core_sends_rendezvous", "messages announced") \
	X(copied, "core_sends_copy", "messages copied")             \
	X(in_line, "core_sends_queued", "messages that waited for a credit")

struct vm_advice_call {
	char name[VM_ADVICE_CALL_NAME]; /* empty: there are no more */
	uint64_t count, time_ns, idle_ns;
	uint64_t polls; /* the same as count, of calls that look and return */
#define VM_ADVICE_COUNT_(field, counter, text) uint64_t field;
	VM_ADVICE_COUNTS(VM_ADVICE_COUNT_)
#undef VM_ADVICE_COUNT_
};

/* A call at a place of the program. */
#define VM_ADVICE_SITES 16
#define VM_ADVICE_PLACE 64
struct vm_advice_site {
	char name
		[VM_ADVICE_CALL_NAME]; /* of the call; empty: there are no more */
	char place[VM_ADVICE_PLACE];   /* "heat.c:31"; empty: not known */
	uint64_t count, time_ns, idle_ns;
	uint64_t idle_sends_ns; /* of idle_ns: for a receiver */
	int64_t peer; /* the rank that most of idle_ns was for; -1: no one */
	uint64_t idle_peer_ns;
};

/* The rank that ran longest. */
struct vm_advice_heaviest {
	uint64_t rank, run_ns;
};

struct vm_advice_facts {
#define VM_ADVICE_FIELD_(merge, field, counter, text) uint64_t field;
	VM_ADVICE_FACTS(VM_ADVICE_FIELD_)
#undef VM_ADVICE_FIELD_
	struct vm_advice_heaviest heaviest;
	struct vm_advice_call calls[VM_ADVICE_CALLS];
	struct vm_advice_site sites[VM_ADVICE_SITES];
};

/* Adds the counts of a call; without room it takes the place of the one that
 * took least time, if that is less.  Add them in the order of time. */
void vm_advice_call_add(struct vm_advice_facts *facts,
			const struct vm_advice_call *call);

/* Adds a place; without room it takes the place of the one where cores were idle
 * least, if that is less. */
void vm_advice_site_add(struct vm_advice_facts *facts,
			const struct vm_advice_site *site);

/* Adds the numbers of a place to those of another one. */
void vm_advice_site_fold(struct vm_advice_site *all,
			 const struct vm_advice_site *more);

/* How long the busiest worker ran in each of `slices` moments, added up, by
 * loads[rank * slices + moment] of `ranks` ranks on workers[rank] of `count`:
 * *moments; and how long if ranks were placed for each by what they did in the
 * one before: *placed.  0 or -VMPI_ENOMEM. */
int vm_advice_balance(uint64_t *moments, uint64_t *placed,
		      const uint64_t *loads, unsigned ranks, unsigned slices,
		      const unsigned *workers, unsigned count);

/* One sentence. */
struct vm_advice {
	const char *rule; /* its name */
	unsigned weight;  /* of 1000: the part of the job that it is about */
	char text[VM_ADVICE_TEXT_MAX];
};

/* Adds the facts of one more process. */
void vm_advice_merge(struct vm_advice_facts *all,
		     const struct vm_advice_facts *more);

/* Writes the advice, at most `room` sentences, the weightiest first; returns
 * how many. */
#define VM_ADVICE_MAX 24
int vm_advice_give(struct vm_advice *advice, int room,
		   const struct vm_advice_facts *facts);
#endif
