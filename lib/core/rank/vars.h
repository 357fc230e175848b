/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set and count in core.
 */
#ifndef CORE_RANK_VARS_H
#define CORE_RANK_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/sizes.h"
#include "introspect/vars/cvar.h"

#define VM_PEER_STATS_PLACES 63 /* core/remote/peer_stats.h */

#define CORE_CVARS(X)                                                           \
	X(SIZE, inline_limit, 40, 0, 40, "bytes", RANK, TD, p2p,                \
	  "Largest message that travels inside its ring slot or queue entry")   \
	X(SIZE, copy_limit, 8192, 0, 16384, "bytes", RANK, TB, p2p,             \
	  "Largest message that is buffered when its receive is not posted; "   \
	  "longer ones wait in the sender's memory (direct)")                   \
	X(SIZE, copy_bytes_max, 268435456, 0, 1099511627776, "bytes", STARTUP,  \
	  TD, pool,                                                             \
	  "Bound on the memory of all buffered messages; beyond it messages "   \
	  "wait in their senders' memory")                                      \
	X(INT, copies_max, 4096, 1, 1000000000, "messages", ANYTIME, TD,        \
	  credit,                                                               \
	  "Buffered messages that wait until one other process takes them; "    \
	  "beyond it messages to it wait in their senders' memory")             \
	X(INT, unexpected_limit, 100000, 64, 1000000000, "messages", ANYTIME,   \
	  TD, match,                                                            \
	  "Unexpected messages of a rank beyond which its senders wait for "    \
	  "it, each at its next full send budget")                              \
	X(INT, send_budget, 64, 1, 1000000, "messages", RANK, TD, sched,        \
	  "Sends in a row after which a rank lets the others run")              \
	X(INT, test_budget, 1, 1, 1000000, "calls", RANK, TD, sched,            \
	  "Failed tests or probes in a row after which a rank yields")          \
	X(SIZE, eager_limit, 8192, 0, 1048576, "bytes", RANK, TB, p2p,          \
	  "Largest message that is sent to another process at once; longer "    \
	  "ones are announced and fetched (rendezvous).  By MPI_T also of one " \
	  "communicator: core_eager_limit_bycomm")                              \
	X(CHOICE, rndv_protocol, VM_RNDV_AUTO, 0, 3,                            \
	  "auto|read|write|pipeline", RANK, TB, rndv,                           \
	  "How a long message comes from another process: the receiver reads "  \
	  "it, the sender writes it, or it comes in pieces.  auto reads where " \
	  "that is possible")                                                   \
	X(INT, rndv_write_from, 0, 0, INT64_MAX, "set", ANYTIME, TD, rndv,      \
	  "Processes whose long messages auto lets their senders write: the "   \
	  "sum of 2 to the power of p % 63 of each such process p")             \
	X(INT, rndv_pipeline_from, 0, 0, INT64_MAX, "set", ANYTIME, TD, rndv,   \
	  "Of the others, those whose long messages auto lets come in pieces: " \
	  "a sum as that of rndv_write_from")                                   \
	X(SIZE, rndv_fragment, 65536, 64, 1073741824, "bytes", RANK, TD, rndv,  \
	  "Largest piece of a pipelined message")                               \
	X(SIZE, rndv_window, 1048576, 64, 1073741824, "bytes", RANK, TD, rndv,  \
	  "Bytes of a pipelined message that may be under way")                 \
	X(INT, poll_rounds, 16, 1, 1000000, "switches", ANYTIME, TD, poll,      \
	  "Most switches between looks at the network while ranks can run; "    \
	  "fewer after a look that found something")                            \
	X(BOOL, collaborative_polling, 1, 0, 1, "flag", ANYTIME, TB, poll,      \
	  "Idle workers move the messages of busy ones (collaborative "         \
	  "polling)")                                                           \
	X(INT, heartbeat_ms, 1000, 0, 1000000, "ms", STARTUP, DD, launch,       \
	  "Time in which each other process is looked at once, to see whether " \
	  "it is still there, under launchers that neither end a job when a "   \
	  "process dies nor tell (srun without -K); 0: never")                  \
	X(BOOL, loopback, 0, 0, 1, "flag", STARTUP, DD, fabric,                 \
	  "Messages between ranks of one process go by the fabric too, so "     \
	  "that the link model (fabric_link_latency) applies to them")          \
	X(CHOICE, balance, VM_BALANCE_OFF, 0, 2, "off|auto|force", STARTUP,     \
	  UB, balance,                                                          \
	  "Move ranks from workers with much to do to those with little: auto " \
	  "only those of programs that keep no thread-local addresses, force "  \
	  "all")                                                                \
	X(INT, balance_round, 100, 1, 3600000, "ms", STARTUP, TD, balance,      \
	  "Run time of the busiest worker after which it is looked whether "    \
	  "ranks should move")                                                  \
	X(INT, balance_gain, 5, 1, 100, "percent", STARTUP, TD, balance,        \
	  "Least share of a round's time that moves must promise to save")      \
	X(BOOL, balance_log, 0, 0, 1, "flag", ANYTIME, UD, balance,             \
	  "Print a line about each round of balancing")                         \
	X(BOOL, control, 0, 0, 1, "flag", STARTUP, UD, live,                    \
	  "Take settings while the job runs, from its user alone (vmpirun "     \
	  "--control); vmpitop(1) and vmpistat(1) send them")                   \
	X(CHOICE, export, VM_EXPORT_AUTO, 0, 1, "off|auto", STARTUP, UB, live,  \
	  "Keep counters in a file in /dev/shm, where vmpistat finds them: "    \
	  "auto unless there is no room")                                       \
	X(INT, balance_shuffle, 0, 0, 1000000000, "polls", STARTUP, DA, debug,  \
	  "For tests: with balance, move some ranks at random each so many "    \
	  "polls; 0: never")                                                    \
	X(STRING, profile, "", 0, 0, "names", STARTUP, UD, live,                \
	  "Counters of ranks whose growth is profiled by function and "         \
	  "section, with commas between and * and ? for several; default: "     \
	  "the usual ones; empty: none.  See vmpi-profile(7)")                  \
	X(STRING, profile_dir, "", 0, 0, "path", STARTUP, UA, live,             \
	  "Directory where each process keeps its profile, in a file that "     \
	  "vmpirun --profile reads; empty: in memory")                          \
	X(CHOICE, intercept, VM_INTERCEPT_HOW_AUTO, 0, 1, "auto|keep",          \
	  STARTUP, UD, live,                                                    \
	  "Whether somebody may begin to watch a program's calls while it "     \
	  "runs: auto only where the program itself can, keep always, which "   \
	  "costs a branch per call")

/* Values of intercept. */
enum vm_intercept_how { VM_INTERCEPT_HOW_AUTO, VM_INTERCEPT_HOW_KEEP };

/* Values of balance. */
enum vm_balance_how { VM_BALANCE_OFF, VM_BALANCE_AUTO, VM_BALANCE_FORCE };

/* Values of export. */
enum vm_export_how { VM_EXPORT_OFF, VM_EXPORT_AUTO };

/* Values of rndv_protocol. */
enum vm_rndv { VM_RNDV_AUTO, VM_RNDV_READ, VM_RNDV_WRITE, VM_RNDV_PIPELINE };

struct core_cvars {
	CORE_CVARS(VM_CVAR_FIELD)
};
extern struct core_cvars core_cvar;
extern const struct vm_cvar_table core_cvar_table;

/* How collectives go; the words before the last one are those of the settings. */
#define CORE_COLL_ALGORITHMS                                            \
	"none|linear|ordered|binomial|scatter_allgather|ring|pairwise|" \
	"recursive_doubling|reduce_scatter|shared"
#define CORE_COLL_ALGORITHMS_TEXT                                         \
	"How the last collective went: among processes by an algorithm; " \
	"shared: from memory to memory in one process"

/* What a rank has started, the nonblocking and the persistent ones too. */
#define CORE_COLL_CALLS_ROW(X, field, name)        \
	X(COUNTER, field, "calls", RANK, UD, coll, \
	  "Collectives that the rank has begun: " name)
#define CORE_COLL_CALLS(X)                                                   \
	CORE_COLL_CALLS_ROW(X, coll_barrier_calls, "MPI_Barrier")            \
	CORE_COLL_CALLS_ROW(X, coll_bcast_calls, "MPI_Bcast")                \
	CORE_COLL_CALLS_ROW(X, coll_gather_calls, "MPI_Gather, MPI_Gatherv") \
	CORE_COLL_CALLS_ROW(X, coll_scatter_calls,                           \
			    "MPI_Scatter, MPI_Scatterv")                     \
	CORE_COLL_CALLS_ROW(X, coll_allgather_calls,                         \
			    "MPI_Allgather, MPI_Allgatherv")                 \
	CORE_COLL_CALLS_ROW(X, coll_alltoall_calls,                          \
			    "MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw")    \
	CORE_COLL_CALLS_ROW(X, coll_reduce_calls, "MPI_Reduce")              \
	CORE_COLL_CALLS_ROW(X, coll_allreduce_calls, "MPI_Allreduce")        \
	CORE_COLL_CALLS_ROW(X, coll_reduce_scatter_calls,                    \
			    "MPI_Reduce_scatter, MPI_Reduce_scatter_block")  \
	CORE_COLL_CALLS_ROW(X, coll_scan_calls, "MPI_Scan")                  \
	CORE_COLL_CALLS_ROW(X, coll_exscan_calls, "MPI_Exscan")

/* state is the first: core/rank/rank.h. */
#define CORE_RANK_PVARS(X)                                                     \
	X(STATE, state,                                                        \
	  "new|running|receive|send|probe|wait|collective|sleep|other|done",   \
	  RANK, UB, sched, "What the rank does, or what it waits for")         \
	X(COUNTER, waits, "waits", RANK, UD, sched,                            \
	  "Times the rank waited for a message, its receiver or others")       \
	X(COUNTER, sends, "messages", RANK, UB, p2p, "Messages sent")          \
	X(COUNTER, sent_bytes, "bytes", RANK, UB, p2p, "Payload sent")         \
	X(COUNTER, receives, "messages", RANK, UB, p2p, "Messages received")   \
	X(COUNTER, received_bytes, "bytes", RANK, UB, p2p, "Payload received") \
	X(COUNTER, sends_inline, "messages", RANK, TB, p2p,                    \
	  "Messages sent by protocol inline")                                  \
	X(COUNTER, sends_copy, "messages", RANK, TB, p2p,                      \
	  "Messages sent by protocol copy")                                    \
	X(COUNTER, sends_direct, "messages", RANK, TB, p2p,                    \
	  "Messages sent by protocol direct")                                  \
	X(COUNTER, sends_eager, "messages", RANK, TB, p2p,                     \
	  "Messages sent to other processes with their payload")               \
	X(COUNTER, sends_queued, "messages", RANK, TB, credit,                 \
	  "Messages to other processes that first waited for a "               \
	  "credit, or behind one that did")                                    \
	X(COUNTER, sends_rendezvous, "messages", RANK, TB, rndv,               \
	  "Messages announced to other processes")                             \
	X(COUNTER, sizes_remote[VM_SIZE_BINS], "messages", RANK, TB, p2p,      \
	  "Messages sent to other processes by size: to 256 bytes, 384, 512, " \
	  "768, 1024 and so on; the last word counts all that are longer")     \
	X(AGGREGATE, bytes_copy, "bytes", RANK, TB, p2p,                       \
	  "Payload sent by protocol copy")                                     \
	X(AGGREGATE, bytes_direct, "bytes", RANK, TB, p2p,                     \
	  "Payload sent by protocol direct")                                   \
	X(AGGREGATE, bytes_eager, "bytes", RANK, TB, p2p,                      \
	  "Payload sent to other processes along with its message")            \
	X(AGGREGATE, bytes_rendezvous, "bytes", RANK, TB, rndv,                \
	  "Payload announced to other processes")                              \
	X(COUNTER, sizes_local[VM_PVAR_SIZES], "messages", RANK, TB, p2p,      \
	  "Messages longer than core_inline_limit sent to ranks of the same "  \
	  "process, by size: empty ones, one byte, 2 to 3, 4 to 7 and so on")  \
	X(COUNTER, meetings, "calls", RANK, UD, coll,                          \
	  "Collective meetings with the other ranks of this process")          \
	X(STATE, coll_algorithm, CORE_COLL_ALGORITHMS, RANK, UD, coll,         \
	  CORE_COLL_ALGORITHMS_TEXT)                                           \
	CORE_COLL_CALLS(X)                                                     \
	X(COUNTER, yields, "yields", RANK, UD, sched,                          \
	  "Times the rank let others run although it could go on: by itself, " \
	  "after core_send_budget sends or core_test_budget tests")            \
	X(COUNTER, tasks, "tasks", RANK, UD, sched,                            \
	  "Tasks that the rank has started")

struct core_rank_pvars {
	CORE_RANK_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_rank_pvar_table;

/* Of each rank that is a task; as of when somebody looked (core/rank/time.h). */
#define CORE_TIME_PVARS(X)                                                      \
	X(TIMER, wall_ns, "ns", RANK, UD, timer,                                \
	  "Time since the rank began, until it ends.  It and the next two are " \
	  "brought up to date by reads in the process: outside they are what "  \
	  "they were at the last of these")                                     \
	X(TIMER, run_ns, "ns", RANK, UB, timer,                                 \
	  "Part of it in which the rank ran, since rank time is known: see "    \
	  "sched_rank_time")                                                    \
	X(TIMER, wait_ns, "ns", RANK, UB, timer,                                \
	  "The rest, in which the rank waited or others ran in its place; 0 "   \
	  "without sched_rank_time.  Time in MPI calls is overlap_call_ns")

struct core_time_pvars {
	CORE_TIME_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_time_pvar_table;

/* Of each rank's mailbox, written under the lock of its engine (core/rank/match.h). */
#define CORE_MATCH_PVARS(X)                                                      \
	X(LEVEL, posted_len, "receives", RANK, UB, match,                        \
	  "Posted receives that wait for a message")                             \
	X(LEVEL, unexpected_len, "messages", RANK, UB, match,                    \
	  "Messages that wait for a receive")                                    \
	X(COUNTER, posted_attempts, "receives", RANK, TD, match,                 \
	  "Posted receives that arriving messages were compared with, but for "  \
	  "one each")                                                            \
	X(HIGHWATERMARK, posted_max, "receives", RANK, UD, match,                \
	  "Longest queue of posted receives")                                    \
	X(COUNTER, unexpected_attempts, "messages", RANK, TD, match,             \
	  "Waiting messages that receives were compared with, but for one each") \
	X(COUNTER, unexpected, "messages", RANK, UD, match,                      \
	  "Messages that came before their receive was posted: the receiver "    \
	  "was late.  Of all others (core_receives) the sender was")             \
	X(HIGHWATERMARK, unexpected_max, "messages", RANK, UD, match,            \
	  "Longest unexpected queue")                                            \
	X(LEVEL, unexpected_bytes, "bytes", RANK, UD, match,                     \
	  "Payload of the messages that wait for a receive")                     \
	X(HIGHWATERMARK, unexpected_bytes_max, "bytes", RANK, UD, match,         \
	  "Most such payload at a time")

struct core_match_pvars {
	CORE_MATCH_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_match_pvar_table;

/* Of a rank on one of its channels, while somebody looks (core/local/chan_stats.h). */
#define CORE_CHAN_PVARS(X)                                                   \
	X(COUNTER, comm_sends, "messages", CHAN, UD, p2p,                    \
	  "Messages sent on the communicator, without those of collectives") \
	X(AGGREGATE, comm_sent_bytes, "bytes", CHAN, UD, p2p,                \
	  "Payload of those")                                                \
	X(COUNTER, comm_receives, "messages", CHAN, UD, p2p,                 \
	  "Messages on the communicator that have met a receive")            \
	X(AGGREGATE, comm_received_bytes, "bytes", CHAN, UD, p2p,            \
	  "Payload of those")                                                \
	X(LEVEL, comm_posted_len, "receives", CHAN, UD, match,               \
	  "Posted receives on the communicator that wait for a message")     \
	X(LEVEL, comm_unexpected_len, "messages", CHAN, UD, match,           \
	  "Messages on the communicator that wait for a receive")            \
	X(COUNTER, comm_collectives, "calls", CHAN, UD, coll,                \
	  "Collectives that the rank has begun on the communicator")         \
	X(STATE, comm_algorithm, CORE_COLL_ALGORITHMS, CHAN, UD, coll,       \
	  CORE_COLL_ALGORITHMS_TEXT)

struct core_chan_pvars {
	CORE_CHAN_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_chan_pvar_table;

#define CORE_NODE_PVARS(X)                                                     \
	X(COUNTER, packets_unknown, "packets", NODE, DD, fabric,               \
	  "Packets dropped: of no known kind or for no rank of this process")  \
	X(COUNTER, rndv_reads, "messages", NODE, TB, rndv,                     \
	  "Long messages that were read from other processes")                 \
	X(COUNTER, rndv_writes, "messages", NODE, TB, rndv,                    \
	  "Long messages that their senders were asked to write")              \
	X(COUNTER, rndv_pipelines, "messages", NODE, TB, rndv,                 \
	  "Long messages that were asked for in pieces")                       \
	X(AGGREGATE, rndv_bytes, "bytes", NODE, TB, rndv,                      \
	  "Payload of those three kinds")                                      \
	X(LEVEL, rndv_inflight, "messages", NODE, TD, rndv,                    \
	  "Long messages that are on their way from other processes now")      \
	X(HIGHWATERMARK, rndv_inflight_max, "messages", NODE, TD, rndv,        \
	  "Most of them at a time")                                            \
	X(COUNTER, rndv_sender_late[VM_PEER_STATS_PLACES], "messages", NODE,   \
	  TB, rndv,                                                            \
	  "Long messages offered after their receive was posted; each word "   \
	  "is of the processes p that send and have the same p % 63")          \
	X(COUNTER, rndv_receiver_late[VM_PEER_STATS_PLACES], "messages", NODE, \
	  TB, rndv, "Those offered before, likewise")                          \
	X(COUNTER, balance_rounds, "rounds", NODE, UD, balance,                \
	  "Times it was looked whether ranks should move")                     \
	X(LEVEL, balance_waste, "permille", NODE, UD, balance,                 \
	  "Share of the last round that perfect balance would have saved")     \
	X(COUNTER, balance_halts, "halts", NODE, UD, balance,                  \
	  "Times all workers stood still and ranks were moved")                \
	X(COUNTER, balance_moves, "ranks", NODE, UD, balance,                  \
	  "Ranks that were moved")                                             \
	X(AGGREGATE, balance_expected, "permille", NODE, UD, balance,          \
	  "Sum of what moves were expected to save of a round's time")         \
	X(AGGREGATE, balance_saved, "permille", NODE, UD, balance,             \
	  "Sum of what they saved, of those that did")                         \
	X(COUNTER, coll_linear_internode, "calls", NODE, TD, coll,             \
	  "Collectives among processes: messages from each to each")           \
	X(COUNTER, coll_ordered_internode, "calls", NODE, TD, coll,            \
	  "Collectives among processes: all operands in all processes")        \
	X(COUNTER, coll_binomial_internode, "calls", NODE, TD, coll,           \
	  "Collectives among processes: along a tree")                         \
	X(COUNTER, coll_scatter_allgather_internode, "calls", NODE, TD, coll,  \
	  "Collectives among processes: in pieces and round a ring")           \
	X(COUNTER, coll_ring_internode, "calls", NODE, TD, coll,               \
	  "Collectives among processes: round a ring")                         \
	X(COUNTER, coll_pairwise_internode, "calls", NODE, TD, coll,           \
	  "Collectives among processes: with one process after the other")     \
	X(COUNTER, coll_recursive_doubling_internode, "calls", NODE, TD, coll, \
	  "Collectives among processes: in pairs of processes, step by step")  \
	X(COUNTER, coll_reduce_scatter_internode, "calls", NODE, TD, coll,     \
	  "Collectives among processes: each process a piece")

struct core_node_pvars {
	CORE_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_node_pvar_table;

/* Of each worker, where there is a network; written by it. */
#define CORE_WORKER_PVARS(X)                                                  \
	X(COUNTER, polls_found[256], "looks", WORKER, TB, poll,               \
	  "Looks at the network that found something, by port: the worker's " \
	  "own, and those of others that it helped")

struct core_worker_pvars {
	CORE_WORKER_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_worker_pvar_table;

/* Makes the variables of base to core known; idempotent. */
void vm_core_vars_add(void);

#endif
