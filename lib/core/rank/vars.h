/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables of core.
 */
#ifndef CORE_RANK_VARS_H
#define CORE_RANK_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/sizes.h"
#include "introspect/vars/cvar.h"

#define VM_PEER_STATS_PLACES 63 /* core/remote/peer_stats.h */

#define CORE_CVARS(X)                                                          \
	X(CHOICE, log, 1, 0, 2, "error|warn|info", STARTUP, UD, debug,         \
	  "Least important messages of the runtime that are written to the "   \
	  "standard error: info also says what went wrong and was put right, " \
	  "as a connection that was lost and made again")                      \
	X(INT, output_wait, 50, 0, 3600000, "ms", ANYTIME, UD, debug,          \
	  "Time for which a rank's output waits for the end of another "       \
	  "rank's line, and the flushed beginning of a line with a label for " \
	  "its end")                                                           \
	X(SIZE, inline_limit, 40, 0, 40, "bytes", RANK, TD, p2p,               \
	  "Largest message between ranks of one process that is stored in "    \
	  "its ring slot or queue entry (inline)")                             \
	X(SIZE, copy_limit, 8192, 0, 16384, "bytes", RANK, TB, p2p,            \
	  "Largest message between ranks of one process that is buffered if "  \
	  "its receive is not posted (copy); longer ones wait in the "         \
	  "sender's buffer (direct)")                                          \
	X(SIZE, copy_bytes_max, 268435456, 0, 1099511627776, "bytes", STARTUP, \
	  TD, pool,                                                            \
	  "Limit on the memory of all buffered messages; beyond it messages "  \
	  "wait in their senders' buffers")                                    \
	X(INT, copies_max, 4096, 1, 1000000000, "messages", ANYTIME, TD,       \
	  credit,                                                              \
	  "Most buffered messages that wait for credits of one other "         \
	  "process; beyond it messages to it wait in their senders' buffers")  \
	X(INT, unexpected_limit, 100000, 64, 1000000000, "messages", ANYTIME,  \
	  TD, match,                                                           \
	  "Length of a rank's unexpected queue from which its senders wait "   \
	  "for their messages to be received, each when it has used up "       \
	  "core_send_budget")                                                  \
	X(INT, spawn_max, 128, 0, 65536, "ranks", STARTUP, UD, p2p,            \
	  "Number of ranks that MPI_Comm_spawn can have started in a process " \
	  "at a time; the same in all processes of a job")                     \
	X(INT, offload_threads, 16, 1, 1024, "threads", STARTUP, UD, sched,    \
	  "Number of OS threads that run functions for vmpi_offload() at a "   \
	  "time, at most; more wait for their turns")                          \
	X(INT, connect_max, 256, 0, 16384, "processes", STARTUP, UD, p2p,      \
	  "Number of processes of other jobs that a process can get to know: " \
	  "by MPI_Comm_connect, MPI_Comm_accept and MPI_Comm_join, and those " \
	  "that it has started")                                               \
	X(INT, send_budget, 64, 1, 1000000, "messages", RANK, TD, sched,       \
	  "Number of sends in a row after which a rank yields")                \
	X(INT, test_budget, 1, 1, 1000000, "calls", RANK, TD, sched,           \
	  "Number of unsuccessful tests or probes in a row after which a "     \
	  "rank yields")                                                       \
	X(SIZE, eager_limit, 8192, 0, 1048576, "bytes", RANK, TB, p2p,         \
	  "Largest message that is sent eagerly to another process; longer "   \
	  "ones use rendezvous.  MPI_T can also set it for one "               \
	  "communicator: core_eager_limit_bycomm")                             \
	X(INT, eager_net, 8, 1, 1024, "times", RANK, TD, p2p,                  \
	  "How many times as long an eager message may be to a process that "  \
	  "only a network without remote memory of its own reaches (tcp, "     \
	  "net): there the data are copied on both sides in any case")         \
	X(INT, eager_shared, 4, 1, 1024, "times", RANK, TD, p2p,               \
	  "How many times as long an eager message may be through shared "     \
	  "memory where processes of the job share cores: each step of a "     \
	  "rendezvous waits there until its process has a turn")               \
	X(CHOICE, rndv_protocol, VM_RNDV_AUTO, 0, 3,                           \
	  "auto|read|write|pipeline", RANK, TB, rndv,                          \
	  "Rendezvous protocol for long messages from other processes: the "   \
	  "receiver reads, the sender writes, or the sender sends fragments "  \
	  "(pipeline).  auto reads where possible, except as "                 \
	  "core_rndv_write_from and core_rndv_pipeline_from say")              \
	X(INT, rndv_write_from, 0, 0, INT64_MAX, "set", ANYTIME, TD, rndv,     \
	  "Bit mask (bit p mod 63) of the processes from which auto uses "     \
	  "the write protocol")                                                \
	X(INT, rndv_pipeline_from, 0, 0, INT64_MAX, "set", ANYTIME, TD, rndv,  \
	  "Bit mask (bit p mod 63) of the other processes from which auto "    \
	  "uses the pipeline protocol")                                        \
	X(SIZE, rndv_fragment, 65536, 64, 1073741824, "bytes", RANK, TD, rndv, \
	  "Fragment size of the pipeline protocol")                            \
	X(SIZE, rndv_window, 1048576, 64, 1073741824, "bytes", RANK, TD, rndv, \
	  "Most bytes of one message that the pipeline protocol has in "       \
	  "flight")                                                            \
	X(INT, poll_rounds, 16, 1, 1000000, "switches", ANYTIME, TD, poll,     \
	  "Most switches between two polls of the network while ranks can "    \
	  "run; after a poll that found something, the next switch polls "     \
	  "again")                                                             \
	X(BOOL, collaborative_polling, 1, 0, 1, "flag", ANYTIME, TB, poll,     \
	  "Idle workers poll the ports that busy workers have not polled for " \
	  "a while, and handle what they find (collaborative polling), and "   \
	  "deliver long messages to ranks of busy workers of their process")   \
	X(CHOICE, progress, VM_PROGRESS_AUTO, 0, 2, "off|auto|on", ANYTIME,    \
	  TB, poll,                                                            \
	  "Progress agent: a thread that handles what other processes send "   \
	  "while all workers run ranks.  auto: as long as a long message, or " \
	  "one without credits, is being sent, a receive for one is posted "   \
	  "or a collective is started, but where processes share cores only "  \
	  "if no rank polls meanwhile, and for workers that have neither "     \
	  "ranks nor a core; on: always.  An ordinary executable has a "       \
	  "thread for that in any case")                                       \
	X(INT, heartbeat_ms, 1000, 0, 1000000, "ms", STARTUP, DD, launch,      \
	  "Heartbeat: period in which each other process is checked once, "    \
	  "under launchers that neither end the job nor report it when a "     \
	  "process dies (srun without -K); 0: no checks")                      \
	X(BOOL, loopback, 0, 0, 1, "flag", STARTUP, DD, fabric,                \
	  "Send messages between ranks of one process over the fabric too, "   \
	  "so that the link model (fabric_link_latency_ns) applies to them")   \
	X(CHOICE, balance, VM_BALANCE_OFF, 0, 2, "off|auto|force", STARTUP,    \
	  UB, balance,                                                         \
	  "Load balancing: move ranks from busy workers to less busy ones; "   \
	  "auto moves only ranks of programs that keep no thread-local "       \
	  "addresses, force all ranks")                                        \
	X(INT, balance_round, 100, 1, 3600000, "ms", STARTUP, TD, balance,     \
	  "Run time of the busiest worker after which the balance is "         \
	  "checked")                                                           \
	X(INT, balance_gain, 5, 1, 100, "percent", STARTUP, TD, balance,       \
	  "Smallest expected saving, as a share of a round's time, for "       \
	  "which ranks are moved")                                             \
	X(BOOL, balance_log, 0, 0, 1, "flag", ANYTIME, UD, balance,            \
	  "Print a line for each balancing round")                             \
	X(BOOL, control, 0, 0, 1, "flag", STARTUP, UD, live,                   \
	  "Allow the user who started the job to set variables while it "      \
	  "runs (vmpirun --control), with vmpitop(1) or vmpistat(1)")          \
	X(CHOICE, export, VM_EXPORT_AUTO, 0, 2, "off|auto|keep", STARTUP, UB,  \
	  live,                                                                \
	  "Export counters in a file in /dev/shm, where vmpistat finds "       \
	  "them; auto: unless there is no room; keep: the file of a process "  \
	  "that is killed stays until vmpistat --clean")                       \
	X(CHOICE, deadlock, VM_DEADLOCK_END, 0, 2, "off|report|end", STARTUP,  \
	  UB, live,                                                            \
	  "When all ranks wait and nothing can wake them: report that, end "   \
	  "the job then, or off: do not look")                                 \
	X(INT, balance_shuffle, 0, 0, 1000000000, "polls", STARTUP, DA, debug, \
	  "For tests: with core_balance, move some ranks at random every so "  \
	  "many polls; 0: never")                                              \
	X(STRING, profile, "", 0, 0, "names", STARTUP, UD, live,               \
	  "Rank counters to profile by function and section: names or "        \
	  "patterns with * and ?, separated by commas; default: the usual "    \
	  "ones; none: time alone; empty: no profile.  See vmpi-profile(7)")   \
	X(BOOL, profile_sites, 0, 0, 1, "", STARTUP, DA, live,                 \
	  "Also profile by place of call in the program, and run times "       \
	  "moment by moment; vmpirun --advise sets it")                        \
	X(STRING, profile_dir, "", 0, 0, "path", STARTUP, UA, live,            \
	  "Directory of the profile files, one per process, that vmpirun "     \
	  "--profile reads; empty: profiles are kept in memory")               \
	X(CHOICE, intercept, VM_INTERCEPT_HOW_AUTO, 0, 1, "auto|keep",         \
	  STARTUP, UD, live,                                                   \
	  "Keep calls interceptable, so that tools can start to observe "      \
	  "them while the program runs: auto if the program itself can "       \
	  "start to observe, keep always, at the cost of a branch per call")   \
	X(BOOL, thread_names, 0, 0, 1, "flag", STARTUP, UD, live,              \
	  "Name OS threads after the rank that they run (rank 3), so that "    \
	  "perf, top and debuggers tell ranks apart; each switch then costs "  \
	  "a call of the kernel.  See vmpi-tools(7)")

/* Values of intercept. */
enum vm_intercept_how { VM_INTERCEPT_HOW_AUTO, VM_INTERCEPT_HOW_KEEP };

/* Values of balance. */
enum vm_balance_how { VM_BALANCE_OFF, VM_BALANCE_AUTO, VM_BALANCE_FORCE };

/* Values of deadlock. */
enum vm_deadlock_how { VM_DEADLOCK_OFF, VM_DEADLOCK_REPORT, VM_DEADLOCK_END };

/* Values of export. */
enum vm_export_how { VM_EXPORT_OFF, VM_EXPORT_AUTO, VM_EXPORT_KEEP };

/* Values of progress. */
enum vm_progress_how { VM_PROGRESS_OFF, VM_PROGRESS_AUTO, VM_PROGRESS_ON };

/* Values of rndv_protocol. */
enum vm_rndv { VM_RNDV_AUTO, VM_RNDV_READ, VM_RNDV_WRITE, VM_RNDV_PIPELINE };

struct core_cvars {
	CORE_CVARS(VM_CVAR_FIELD)
};
extern struct core_cvars core_cvar;
extern const struct vm_cvar_table core_cvar_table;

/* Algorithms of collectives; all words but the last one are those of the
 * CVARs. */
#define CORE_COLL_ALGORITHMS                                            \
	"none|linear|ordered|binomial|scatter_allgather|ring|pairwise|" \
	"recursive_doubling|reduce_scatter|chain|shared"
#define CORE_COLL_ALGORITHMS_TEXT                                          \
	"Algorithm of the last collective: that used among processes, or " \
	"shared if all its ranks are in one process"

/* What a rank has started, the nonblocking and the persistent ones too. */
#define CORE_COLL_CALLS_ROW(X, field, name)        \
	X(COUNTER, field, "calls", RANK, UD, coll, \
	  "Collectives started by the rank: " name)
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
	  RANK, UB, sched, "What the rank does or waits for")                  \
	X(COUNTER, waits, "waits", RANK, UD, sched,                            \
	  "Number of times the rank blocked")                                  \
	X(COUNTER, sends, "messages", RANK, UB, p2p, "Messages sent")          \
	X(COUNTER, sent_bytes, "bytes", RANK, UB, p2p, "Payload sent")         \
	X(COUNTER, receives, "messages", RANK, UB, p2p, "Messages received")   \
	X(COUNTER, received_bytes, "bytes", RANK, UB, p2p, "Payload received") \
	/* In the order of those four: core/local/engine.h. */                 \
	X(COUNTER, coll_sends, "messages", RANK, UD, coll,                     \
	  "Messages sent inside collective and partitioned operations, which " \
	  "are not in core_sends")                                             \
	X(COUNTER, coll_sent_bytes, "bytes", RANK, UD, coll, "Their payload")  \
	X(COUNTER, coll_receives, "messages", RANK, UD, coll,                  \
	  "Messages received there, which are not in core_receives")           \
	X(COUNTER, coll_received_bytes, "bytes", RANK, UD, coll,               \
	  "Their payload")                                                     \
	X(COUNTER, sends_inline, "messages", RANK, TB, p2p,                    \
	  "Messages sent by protocol inline")                                  \
	X(COUNTER, sends_copy, "messages", RANK, TB, p2p,                      \
	  "Messages sent by protocol copy")                                    \
	X(COUNTER, sends_direct, "messages", RANK, TB, p2p,                    \
	  "Messages sent by protocol direct")                                  \
	X(COUNTER, sends_eager, "messages", RANK, TB, p2p,                     \
	  "Messages sent eagerly to other processes")                          \
	X(COUNTER, sends_queued, "messages", RANK, TB, credit,                 \
	  "Messages to other processes that waited in a credit queue before "  \
	  "they were sent")                                                    \
	X(COUNTER, sends_rendezvous, "messages", RANK, TB, rndv,               \
	  "Messages sent to other processes by rendezvous")                    \
	X(COUNTER, sizes_remote[VM_SIZE_BINS], "messages", RANK, TB, p2p,      \
	  "Messages sent to other processes, by size: up to 64 bytes, 96, "    \
	  "128, 192, 256 and so on to 32 MiB; the last element counts all "    \
	  "longer ones")                                                       \
	X(AGGREGATE, bytes_copy, "bytes", RANK, TB, p2p,                       \
	  "Payload sent by protocol copy")                                     \
	X(AGGREGATE, bytes_direct, "bytes", RANK, TB, p2p,                     \
	  "Payload sent by protocol direct")                                   \
	X(AGGREGATE, bytes_eager, "bytes", RANK, TB, p2p,                      \
	  "Payload sent eagerly to other processes")                           \
	X(AGGREGATE, bytes_rendezvous, "bytes", RANK, TB, rndv,                \
	  "Payload sent to other processes by rendezvous")                     \
	X(COUNTER, sizes_local[VM_SIZE_BINS], "messages", RANK, TB, p2p,       \
	  "Messages sent to ranks of the same process, without inline ones, "  \
	  "by size as core_sizes_remote")                                      \
	X(COUNTER, meetings, "calls", RANK, UD, coll,                          \
	  "Collective operations, without MPI_Finalize")                       \
	X(STATE, coll_algorithm, CORE_COLL_ALGORITHMS, RANK, UD, coll,         \
	  CORE_COLL_ALGORITHMS_TEXT)                                           \
	CORE_COLL_CALLS(X)                                                     \
	X(COUNTER, yields, "yields", RANK, UD, sched,                          \
	  "Times the rank yielded while it could run: on its own, after "      \
	  "core_send_budget sends or after core_test_budget tests")            \
	X(COUNTER, tasks, "tasks", RANK, UD, sched, "Tasks started by the rank")

struct core_rank_pvars {
	CORE_RANK_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_rank_pvar_table;

/* Of each rank that is a task; as of when somebody looked
 * (core/rank/time.h). */
#define CORE_TIME_PVARS(X)                                                   \
	X(TIMER, wall_ns, "ns", RANK, UD, timer,                             \
	  "Time since the start of the rank, until its end.  Reads within "  \
	  "the process update this and the next two; other processes see "   \
	  "the values of the last such read")                                \
	X(TIMER, run_ns, "ns", RANK, UB, timer,                              \
	  "Part of core_wall_ns in which the rank ran, measured since rank " \
	  "times are kept: see sched_rank_time")                             \
	X(TIMER, wait_ns, "ns", RANK, UB, timer,                             \
	  "Rest of core_wall_ns, in which the rank waited or other ranks "   \
	  "ran; 0 without sched_rank_time.  For time in MPI calls see "      \
	  "overlap_call_ns")

struct core_time_pvars {
	CORE_TIME_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_time_pvar_table;

/* Of each rank's mailbox, written under the lock of its engine
 * (core/rank/match.h). */
#define CORE_MATCH_PVARS(X)                                                  \
	X(LEVEL, posted_len, "receives", RANK, UB, match,                    \
	  "Length of the queue of posted receives")                          \
	X(LEVEL, unexpected_len, "messages", RANK, UB, match,                \
	  "Length of the unexpected queue")                                  \
	X(COUNTER, posted_attempts, "receives", RANK, TD, match,             \
	  "Posted receives examined for arriving messages beyond the first " \
	  "one each")                                                        \
	X(HIGHWATERMARK, posted_max, "receives", RANK, UD, match,            \
	  "Greatest length of the queue of posted receives")                 \
	X(COUNTER, unexpected_attempts, "messages", RANK, TD, match,         \
	  "Unexpected messages examined for receives beyond the first one "  \
	  "each")                                                            \
	X(COUNTER, unexpected, "messages", RANK, UD, match,                  \
	  "Messages that arrived before their receive was posted (late "     \
	  "receivers); for all others of core_receives the sender was late") \
	X(HIGHWATERMARK, unexpected_max, "messages", RANK, UD, match,        \
	  "Greatest length of the unexpected queue")                         \
	X(LEVEL, unexpected_bytes, "bytes", RANK, UD, match,                 \
	  "Payload of the messages in the unexpected queue")                 \
	X(HIGHWATERMARK, unexpected_bytes_max, "bytes", RANK, UD, match,     \
	  "Greatest payload in the unexpected queue")

struct core_match_pvars {
	CORE_MATCH_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_match_pvar_table;

/* Of a rank on one of its channels, while somebody looks
 * (core/local/chan_stats.h). */
#define CORE_CHAN_PVARS(X)                                             \
	X(COUNTER, comm_sends, "messages", CHAN, UD, p2p,              \
	  "Messages sent on the communicator, except by collectives")  \
	X(AGGREGATE, comm_sent_bytes, "bytes", CHAN, UD, p2p,          \
	  "Payload of those")                                          \
	X(COUNTER, comm_receives, "messages", CHAN, UD, p2p,           \
	  "Messages on the communicator matched with a receive")       \
	X(AGGREGATE, comm_received_bytes, "bytes", CHAN, UD, p2p,      \
	  "Payload of those")                                          \
	X(LEVEL, comm_posted_len, "receives", CHAN, UD, match,         \
	  "Posted receives on the communicator")                       \
	X(LEVEL, comm_unexpected_len, "messages", CHAN, UD, match,     \
	  "Unexpected messages on the communicator")                   \
	X(COUNTER, comm_collectives, "calls", CHAN, UD, coll,          \
	  "Collectives started by the rank on the communicator")       \
	X(STATE, comm_algorithm, CORE_COLL_ALGORITHMS, CHAN, UD, coll, \
	  CORE_COLL_ALGORITHMS_TEXT)

struct core_chan_pvars {
	CORE_CHAN_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_chan_pvar_table;

#define CORE_NODE_PVARS(X)                                                     \
	X(COUNTER, agent_calls, "calls", NODE, TD, poll,                       \
	  "Times the progress agent was called, and looked whether it is "     \
	  "needed")                                                            \
	X(COUNTER, agent_wakes, "wakes", NODE, TB, poll,                       \
	  "Times the progress agent slept on the network and was woken")       \
	X(COUNTER, agent_found, "looks", NODE, TB, poll,                       \
	  "Looks of the progress agent that found something")                  \
	X(COUNTER, errands_helped, "calls", NODE, TB, poll,                    \
	  "Started collectives among processes that a helper has held, "       \
	  "because the worker that was to do it went on computing")            \
	X(COUNTER, errands_stepped, "calls", NODE, TB, poll,                   \
	  "Started collectives among processes that a thread of the rank has " \
	  "done, or begun, while it tested")                                   \
	X(LEVEL, socket_peers, "processes", NODE, TB, fabric,                  \
	  "Other processes of the job that only a network without remote "     \
	  "memory of its own reaches: core_eager_net counts for them")         \
	X(LEVEL, shared_peers, "processes", NODE, TB, fabric,                  \
	  "Other processes of the job that shared memory reaches, where they " \
	  "share cores: core_eager_shared counts for them")                    \
	X(COUNTER, packets_unknown, "packets", NODE, DD, fabric,               \
	  "Packets dropped because their kind is unknown or their rank is "    \
	  "not in this process")                                               \
	X(COUNTER, rndv_reads, "messages", NODE, TB, rndv,                     \
	  "Long messages received by the read protocol")                       \
	X(COUNTER, rndv_writes, "messages", NODE, TB, rndv,                    \
	  "Long messages received by the write protocol")                      \
	X(COUNTER, rndv_pipelines, "messages", NODE, TB, rndv,                 \
	  "Long messages received by the pipeline protocol")                   \
	X(AGGREGATE, rndv_bytes, "bytes", NODE, TB, rndv,                      \
	  "Payload of long messages received by these three protocols")        \
	X(LEVEL, rndv_inflight, "messages", NODE, TD, rndv,                    \
	  "Long messages that are being received from other processes")        \
	X(HIGHWATERMARK, rndv_inflight_max, "messages", NODE, TD, rndv,        \
	  "Most long messages received at a time")                             \
	X(COUNTER, rndv_sender_late[VM_PEER_STATS_PLACES], "messages", NODE,   \
	  TB, rndv,                                                            \
	  "Long messages announced after their receive was posted (late "      \
	  "senders); element i counts those of senders p with p mod 63 = i")   \
	X(COUNTER, rndv_receiver_late[VM_PEER_STATS_PLACES], "messages", NODE, \
	  TB, rndv,                                                            \
	  "Long messages announced before their receive was posted (late "     \
	  "receivers), likewise")                                              \
	X(COUNTER, balance_rounds, "rounds", NODE, UD, balance,                \
	  "Balance checks")                                                    \
	X(LEVEL, balance_waste, "permille", NODE, UD, balance,                 \
	  "Share of the last round's time that perfect balance would have "    \
	  "saved")                                                             \
	X(COUNTER, balance_halts, "halts", NODE, UD, balance,                  \
	  "Times all workers were halted to move ranks")                       \
	X(COUNTER, balance_moves, "ranks", NODE, UD, balance, "Ranks moved")   \
	X(AGGREGATE, balance_expected, "permille", NODE, UD, balance,          \
	  "Sum of the shares of a round's time that moves were expected to "   \
	  "save")                                                              \
	X(AGGREGATE, balance_saved, "permille", NODE, UD, balance,             \
	  "Sum of the shares of a round's time that moves saved, where they "  \
	  "did")                                                               \
	X(COUNTER, coll_linear_internode, "calls", NODE, TD, coll,             \
	  "Internode collectives: every process sends to every other one")     \
	X(COUNTER, coll_ordered_internode, "calls", NODE, TD, coll,            \
	  "Internode collectives: all operands are sent to all processes")     \
	X(COUNTER, coll_binomial_internode, "calls", NODE, TD, coll,           \
	  "Internode collectives: binomial tree")                              \
	X(COUNTER, coll_scatter_allgather_internode, "calls", NODE, TD, coll,  \
	  "Internode collectives: scatter, then ring allgather")               \
	X(COUNTER, coll_ring_internode, "calls", NODE, TD, coll,               \
	  "Internode collectives: ring")                                       \
	X(COUNTER, coll_pairwise_internode, "calls", NODE, TD, coll,           \
	  "Internode collectives: pairwise exchange")                          \
	X(COUNTER, coll_recursive_doubling_internode, "calls", NODE, TD, coll, \
	  "Internode collectives: recursive doubling")                         \
	X(COUNTER, coll_reduce_scatter_internode, "calls", NODE, TD, coll,     \
	  "Internode collectives: each process reduces one part")              \
	X(COUNTER, coll_chain_internode, "calls", NODE, TD, coll,              \
	  "Internode collectives: one process after the other")

struct core_node_pvars {
	CORE_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_node_pvar_table;

/* Of each worker, where there is a network; written by it. */
#define CORE_WORKER_PVARS(X)                                                \
	X(COUNTER, polls_found[256], "looks", WORKER, TB, poll,             \
	  "Polls by the worker that found something, by port: its own and " \
	  "those of other workers")

struct core_worker_pvars {
	CORE_WORKER_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table core_worker_pvar_table;

/* Makes the variables of base to core known; idempotent. */
void vm_core_vars_add(void);

#endif
