/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recommendations: what a job has counted in, sentences out.
 *
 * Facts are numbers of a process, or of all of them together; a rule looks at
 * them and says nothing, or what it has seen and which flag would change that.
 * Rules are a table; each has a threshold below which it is silent, and none
 * speaks of a run shorter than VM_ADVISE_LEAST_NS.  vmpirun(1) lists them.
 * Pure: no clocks, no variables, no output.
 */
#ifndef INTROSPECT_ADVISE_H
#define INTROSPECT_ADVISE_H

#include <stddef.h>
#include <stdint.h>

#define VM_ADVISE_LEAST_NS UINT64_C(50000000)
#define VM_ADVISE_TEXT_MAX 400

/*
 * X(merge, field, counter, text): how the facts of two processes become one (SUM,
 * MAX), and the performance variable it is the total of; "": the caller knows.
 */
#define VM_ADVISE_FACTS(X)                                                     \
	X(MAX, wall_ns, "", "from the start of the ranks to their end")        \
	X(SUM, processes, "", "processes")                                     \
	X(SUM, ranks, "", "ranks")                                             \
	X(SUM, workers, "", "workers")                                         \
	X(SUM, cores, "", "cores that workers may use")                        \
	X(SUM, run_ns, "", "run time of the ranks")                            \
	X(MAX, busiest_ns, "", "the same of one worker, the most")             \
	X(SUM, switches, "sched_switches", "switches")                         \
	X(SUM, naps, "sched_naps", "times all tasks of a worker only polled")  \
	X(SUM, sends, "core_sends", "messages sent")                           \
	X(SUM, receives, "core_receives", "messages received")                 \
	X(SUM, copies, "core_sends_copy", "messages that waited in a copy")    \
	X(SUM, eager, "core_sends_eager", "sent to other processes at once")   \
	X(SUM, in_line, "core_sends_in_line", "that waited for a credit")      \
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
	X(SUM, far_linear, "core_far_linear", "collectives: each to each")     \
	X(SUM, far_ordered, "core_far_ordered", "collectives: all to all")     \
	X(SUM, far_other, "", "collectives by better algorithms")              \
	X(MAX, eager_limit, "", "core_eager_limit")                            \
	X(MAX, credits, "", "fabric_credits")                                  \
	X(MAX, pool_keep, "", "fabric_pool_keep")                              \
	X(MAX, balance, "", "core_balance")                                    \
	X(MAX, protocol, "", "core_rndv_protocol")

struct vm_advise_facts {
#define VM_ADVISE_FIELD_(merge, field, counter, text) uint64_t field;
	VM_ADVISE_FACTS(VM_ADVISE_FIELD_)
#undef VM_ADVISE_FIELD_
};

/* One sentence. */
struct vm_advice {
	const char *rule; /* its name */
	unsigned weight;  /* of 1000: how much of the job it is about */
	char text[VM_ADVISE_TEXT_MAX];
};

/* The facts of one more process. */
void vm_advise_merge(struct vm_advise_facts *all,
		     const struct vm_advise_facts *more);

/* What there is to say, at most `room` sentences, the weightiest first; how
 * many. */
#define VM_ADVISE_MAX 16
int vm_advise(struct vm_advice *advice, int room,
	      const struct vm_advise_facts *facts);
#endif
