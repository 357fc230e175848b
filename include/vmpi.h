/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: ranks, tasks, channels and messages as user-level threads.
 *
 * A rank is a task with an address.  Ranks and tasks are user-level threads
 * (ULTs) on a few OS threads, the workers; a call that has to wait switches to
 * another task instead of blocking its worker.  Every function may also be
 * called from an ordinary OS thread: it then waits as threads do.
 *
 * Argument order: object first, then outputs, then inputs; a length follows its
 * array, user data follows its callback.
 *
 * Functions return 0 or a negative VMPI_E... code; outputs are written on
 * success only.  -VMPI_EAGAIN is the only "nothing yet, try again".  "May
 * switch" says that other tasks of the same worker may run before it returns.
 */
#ifndef VMPI_H
#define VMPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VMPI_VERSION_MAJOR 0
#define VMPI_VERSION_MINOR 1
#define VMPI_VERSION_PATCH 0

#if defined(__GNUC__)
#define VMPI_API __attribute__((visibility("default")))
#else
#define VMPI_API
#endif

/*
 * Errors.  One row each: name, number, text.
 */
#define VMPI_ERRORS(X)                                                       \
	X(EAGAIN, 1, "not ready yet, try again")                             \
	X(EINVAL, 2, "invalid argument")                                     \
	X(ENOMEM, 3, "out of memory")                                        \
	X(ERANK, 4, "no such rank in this channel")                          \
	X(ETAG, 5, "tag out of range")                                       \
	X(ETRUNC, 6, "message longer than the receive buffer")               \
	X(ECANCELED, 7, "operation was cancelled")                           \
	X(ENORANK, 8, "caller does not belong to a rank")                    \
	X(ESTATE, 9, "runtime is not in the right state for this call")      \
	X(ELIMIT, 10, "a limit of the machine or of a variable was reached") \
	X(ENOTSUP, 11, "not supported")                                      \
	X(ENOENT, 12, "no such name")                                        \
	X(EIO, 13, "input or output failed")                                 \
	X(EMISMATCH, 14, "ranks disagree about a collective call")           \
	X(EPEER, 15, "the other process has died or left")

enum vmpi_error {
	VMPI_OK = 0,
#define VMPI_ERROR_ENUM_(name, number, text) VMPI_##name = number,
	VMPI_ERRORS(VMPI_ERROR_ENUM_)
#undef VMPI_ERROR_ENUM_
};

/* The text of a code returned by a function here (negative or positive). */
VMPI_API const char *vmpi_strerror(int error);

/* "0.1.0"; the string lives for ever. */
VMPI_API const char *vmpi_version(void);

/*
 * The runtime.
 */
typedef struct vmpi_config {
	int ranks;	    /* how many ranks; 0: 1 */
	int workers;	    /* OS threads; 0: one per allowed core */
	size_t stack_bytes; /* stack of each rank; 0: sched_stack_bytes */
} vmpi_config;

/* What a rank or a task runs; the result is what vmpi_join() hands out. */
typedef int (*vmpi_body)(void *arg);

/*
 * Runs body(arg) once per rank and returns when all ranks have returned: 0, or
 * the result of the lowest rank whose result is not 0.  If the runtime is not
 * started yet it is, with config (NULL: defaults), and stopped again at the
 * end; otherwise config must be NULL.  A negative result of the call itself
 * (-VMPI_EINVAL, -VMPI_ENOMEM, -VMPI_ELIMIT, -VMPI_ESTATE) means nothing ran;
 * bodies had better not return negative numbers.  Call from an OS thread that is
 * neither a task nor attached; -VMPI_ESTATE while another call runs.
 */
VMPI_API int vmpi_run(const vmpi_config *config, vmpi_body body, void *arg);

/*
 * Starts the runtime inside a program that has its own main: the workers run,
 * the ranks have addresses and mailboxes but no body yet.  -VMPI_ESTATE if it
 * runs already.
 */
VMPI_API int vmpi_start(const vmpi_config *config);

/*
 * Waits until every task has ended, stops the workers and frees everything.
 * Call from an OS thread.  -VMPI_ESTATE if it does not run, if called by a
 * task or an attached thread, or while threads are attached: then it is called
 * again when they have detached.  A runtime can be started again afterwards.
 */
VMPI_API int vmpi_stop(void);

/*
 * The calling OS thread acts for `rank` until vmpi_detach(): it shares the
 * rank's mailbox.  -VMPI_ERANK; -VMPI_ESTATE for a task, or a thread that
 * already acts for a rank.
 */
VMPI_API int vmpi_attach(int rank);
VMPI_API int vmpi_detach(void);

/*
 * Tasks.
 */
typedef struct vmpi_task vmpi_task;

/*
 * Starts body(arg) as a task of the calling rank, or of no rank when the caller
 * belongs to none.  Tasks of a rank share its mailbox.  The handle must be
 * joined; with task == NULL the task is detached.  Does not switch.
 * -VMPI_ENOMEM, -VMPI_ELIMIT.
 */
VMPI_API int vmpi_spawn(vmpi_task **task, vmpi_body body, void *arg);

/* Waits for the end of *task, sets it to NULL; result may be NULL.  May switch.
 */
VMPI_API int vmpi_join(vmpi_task **task, int *result);

/* Lets the other runnable tasks of this worker run first.  May switch. */
VMPI_API void vmpi_yield(void);

/* Sleeps for at least `ns` nanoseconds; other tasks run.  May switch. */
VMPI_API void vmpi_sleep(uint64_t ns);

/* The rank the caller belongs to and the number of ranks; -VMPI_ENORANK,
 * -VMPI_ESTATE. */
VMPI_API int vmpi_rank(void);
VMPI_API int vmpi_size(void);

/*
 * Channels: isolated matching contexts over a list of ranks.  Messages of one
 * channel are never seen by another.  Each rank has its own handle.
 */
typedef struct vmpi_chan vmpi_chan;

#define VMPI_ANY (-1)	    /* as source or tag of a receive: whatever comes */
#define VMPI_UNDEFINED (-2) /* as colour of a split: not in any channel */
#define VMPI_TAG_MAX 0x7fffffff

/* The channel of all ranks; NULL when the caller belongs to no rank. */
VMPI_API vmpi_chan *vmpi_world(void);

VMPI_API int vmpi_chan_rank(const vmpi_chan *chan);
VMPI_API int vmpi_chan_size(const vmpi_chan *chan);

/*
 * Collective over chan: a channel of the same ranks; a channel per colour,
 * ordered by (key, rank), *out = NULL for VMPI_UNDEFINED; wait for all.  May
 * switch.  One task per rank and channel may be in a collective at a time.
 */
VMPI_API int vmpi_chan_dup(vmpi_chan *chan, vmpi_chan **out);
VMPI_API int vmpi_chan_split(vmpi_chan *chan, vmpi_chan **out, int color,
			     int key);
VMPI_API int vmpi_barrier(vmpi_chan *chan);

/* Gives the handle up and sets *chan to NULL; local, does not wait. */
VMPI_API int vmpi_chan_free(vmpi_chan **chan);

/*
 * Messages between ranks of a channel.  Messages from one rank to another on
 * one channel arrive in the order they were sent.
 */
typedef struct vmpi_status {
	int source;
	int tag;
	size_t bytes; /* what was received */
	int error;    /* 0, -VMPI_ETRUNC or -VMPI_ECANCELED */
} vmpi_status;	      /* of a receive; of a send only error means something */

typedef struct vmpi_req vmpi_req;

/*
 * Sends `bytes` bytes; returns when buf may be used again.  Small messages are
 * buffered while the receiver has not too many of them (core_unexpected_limit),
 * large ones wait for their receiver.  vmpi_ssend always waits until
 * the message is matched.  -VMPI_ERANK, -VMPI_ETAG.  May switch.
 */
VMPI_API int vmpi_send(vmpi_chan *chan, const void *buf, size_t bytes, int dest,
		       int tag);
VMPI_API int vmpi_ssend(vmpi_chan *chan, const void *buf, size_t bytes,
			int dest, int tag);

/*
 * Receives the oldest message that fits into buf; status may be NULL.
 * -VMPI_ETRUNC: the message was longer, the first `bytes` bytes are there and
 * the rest is lost.  May switch.
 */
VMPI_API int vmpi_recv(vmpi_chan *chan, void *buf, size_t bytes, int source,
		       int tag, vmpi_status *status);

/*
 * The same without waiting; *req must be completed by a wait or a test.  The
 * sends may switch: a rank that only sends lets the others run now and then.
 */
VMPI_API int vmpi_isend(vmpi_chan *chan, vmpi_req **req, const void *buf,
			size_t bytes, int dest, int tag);
VMPI_API int vmpi_issend(vmpi_chan *chan, vmpi_req **req, const void *buf,
			 size_t bytes, int dest, int tag);
VMPI_API int vmpi_irecv(vmpi_chan *chan, vmpi_req **req, void *buf,
			size_t bytes, int source, int tag);

/*
 * Waits for a request and frees it (*req becomes NULL; a NULL request is
 * complete).  The result is that of the operation.  May switch.
 */
VMPI_API int vmpi_wait(vmpi_req **req, vmpi_status *status);

/* 0 as vmpi_wait when complete, else -VMPI_EAGAIN.  May switch when called
 * again and again. */
VMPI_API int vmpi_test(vmpi_req **req, vmpi_status *status);

/* All of n requests; the result is that of the first which failed.  statuses
 * may be NULL.  May switch. */
VMPI_API int vmpi_wait_all(vmpi_req **reqs, vmpi_status *statuses, int n);

/*
 * Any one of n requests: *index says which, -1 if all were NULL.  The second
 * returns -VMPI_EAGAIN if none is complete.
 */
VMPI_API int vmpi_wait_any(vmpi_req **reqs, int *index, vmpi_status *status,
			   int n);
VMPI_API int vmpi_test_any(vmpi_req **reqs, int *index, vmpi_status *status,
			   int n);

/* Withdraws a request if it is not matched yet; it must still be completed and
 * then says -VMPI_ECANCELED, or is done as if nothing had happened. */
VMPI_API int vmpi_cancel(vmpi_req *req);

/*
 * Message handles.  Matching takes a message out of the mailbox: from then on
 * it belongs to the caller alone and no other receive, match or task can get
 * it.  The handle ends by exactly one of recv, irecv and drop.  (Hoefler et
 * al., "Efficient MPI support for advanced hybrid programming models", 2010.)
 */
typedef struct vmpi_msg vmpi_msg;

/* Waits for the oldest message that fits and takes it.  May switch. */
VMPI_API int vmpi_match(vmpi_chan *chan, vmpi_msg **msg, int source, int tag);

/* The same, or -VMPI_EAGAIN if there is none; then it may switch. */
VMPI_API int vmpi_try_match(vmpi_chan *chan, vmpi_msg **msg, int source,
			    int tag);

VMPI_API int vmpi_msg_source(const vmpi_msg *msg);
VMPI_API int vmpi_msg_tag(const vmpi_msg *msg);
VMPI_API size_t vmpi_msg_size(const vmpi_msg *msg);

/* Receives the payload as vmpi_recv would and ends the handle (*msg = NULL). */
VMPI_API int vmpi_msg_recv(vmpi_msg **msg, void *buf, size_t bytes,
			   vmpi_status *status);
VMPI_API int vmpi_msg_irecv(vmpi_msg **msg, vmpi_req **req, void *buf,
			    size_t bytes);

/*
 * The payload where it lies, without a copy: in the message, in a buffer of the
 * runtime, or in the sender's own buffer, which stays blocked meanwhile.  Valid
 * until the handle ends.  If the sender's data is not contiguous, it is packed
 * once.  -VMPI_ENOMEM.
 */
VMPI_API int vmpi_msg_borrow(vmpi_msg *msg, const void **data);

/* Ends the handle without receiving; the sender sees a completed send. */
VMPI_API int vmpi_msg_drop(vmpi_msg **msg);

/*
 * Time.  A core has many ranks, so wall-clock time says little about any of
 * them.  Rank time passes only while the caller has its core: not while another
 * task has it, nor while vmpi has the caller wait.  Core time passes on a core
 * while any of its tasks is between start and stop: from the moment it gets the
 * core until it leaves it, wherever it began.  Both are ns since some moment, so
 * that differences mean something; they need not be switched on, but the first
 * call of all makes each switch read the clock from then on (sched_rank_time:
 * from the start) and may take 10 ms.  None of these switches, any thread may
 * call; vmpi_clock(3) says what that means.  (Nigay, Mosimann, Schneider,
 * Hoefler, "Communication and timing issues with MPI virtualization", 2020.)
 */
VMPI_API uint64_t vmpi_rank_time_ns(void);
VMPI_API uint64_t vmpi_core_time_ns(void);

/*
 * Between these the caller is in the section that core time is about.  They
 * nest; a section that is left open ends with its task.  -VMPI_ENORANK for a
 * thread that is neither a task nor attached; -VMPI_ESTATE for a stop without a
 * start.
 */
VMPI_API int vmpi_core_timer_start(void);
VMPI_API int vmpi_core_timer_stop(void);

/*
 * Counters, seen in the same two ways: what the caller counted while it had its
 * core, and what its core counted in sections.  One row each: name, unit, what
 * is counted.
 */
#define VMPI_COUNTERS(X)                                              \
	X(CYCLES, "cycles", "processor cycles in user code")          \
	X(INSTRUCTIONS, "instructions", "instructions in user code")  \
	X(CACHE_REFERENCES, "accesses", "accesses to the last cache") \
	X(CACHE_MISSES, "accesses",                                   \
	  "accesses to the last cache that went to memory")           \
	X(BRANCHES, "branches", "branches in user code")              \
	X(BRANCH_MISSES, "branches",                                  \
	  "branches in user code that were mispredicted")             \
	X(PAGE_FAULTS, "faults", "page faults")                       \
	X(CONTEXT_SWITCHES, "switches",                               \
	  "times the kernel gave the processor to another thread")    \
	X(TASK_CLOCK, "ns", "time on a processor, as the kernel has it")

enum vmpi_counter_kind {
#define VMPI_COUNTER_ENUM_(name, unit, text) VMPI_COUNTER_##name,
	VMPI_COUNTERS(VMPI_COUNTER_ENUM_)
#undef VMPI_COUNTER_ENUM_
		VMPI_COUNTER_KINDS
};

typedef struct vmpi_counter vmpi_counter;

/*
 * Starts counting `kind` in all workers; until the last close each switch reads
 * the counter, which is a system call (0.1 to 0.3 us) for each open kind.
 * -VMPI_ENOTSUP: this machine or its kernel does not let us count that, and
 * nothing else is counted instead.  -VMPI_ENORANK, -VMPI_ELIMIT.  Does not
 * switch.
 */
VMPI_API int vmpi_counter_open(vmpi_counter **counter, int kind);
VMPI_API int vmpi_counter_close(vmpi_counter **counter);

/*
 * Of the caller, and of sections of the caller's core, since some moment after
 * the open.  -VMPI_EIO: the machine has stopped counting it; -VMPI_ENORANK.  One
 * system call; does not switch.
 */
VMPI_API int vmpi_counter_rank(const vmpi_counter *counter, uint64_t *value);
VMPI_API int vmpi_counter_core(const vmpi_counter *counter, uint64_t *value);

/* "CACHE_MISSES"; its unit; by which means it is counted: "perf_event",
 * "getrusage", "clock_gettime".  NULL for what is no kind or counter. */
VMPI_API const char *vmpi_counter_name(int kind);
VMPI_API const char *vmpi_counter_unit(int kind);
VMPI_API const char *vmpi_counter_source(const vmpi_counter *counter);

/*
 * Values.  The name is that of a control variable (see vmpi_info); the value is
 * text as on vmpirun's command line.  -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_ESTATE
 * for one that cannot change any more.
 */
VMPI_API int vmpi_set(const char *name, const char *value);
VMPI_API int vmpi_get(const char *name, char *value, size_t bytes);

/*
 * Variables by number: performance variables, which count what the runtime
 * does, and control variables, which say what it is to do.  vmpi_info lists
 * them all; vmpi_var(3) has examples.  Those of each kind are numbered from its
 * constant on, in the same order in all ranks and processes; a number stays.
 */
enum vmpi_var_kind { VMPI_PERFORMANCE = 0, VMPI_CONTROL = 1 << 20 };
enum vmpi_var_of {
	VMPI_OF_RANK,
	VMPI_OF_WORKER,
	VMPI_OF_NODE,
	VMPI_OF_CHAN /* of a rank on a channel: by MPI_T only */
};

typedef struct vmpi_var {
	char name[96];
	int number;
	int kind;	  /* enum vmpi_var_kind */
	int of;		  /* who has a value: enum vmpi_var_of */
	int words;	  /* of a value; 0: it is text, for vmpi_get() */
	int settable;	  /* now, by vmpi_var_write() or vmpi_set() */
	int64_t min, max; /* of what can be written */
	const char *what; /* "counter", "level", "timer", ...; "size", ... */
	const char *unit; /* of a state or choice its words: "auto|read" */
	const char *category;
	const char *text; /* all of these live for ever */
} vmpi_var;

VMPI_API int vmpi_var_count(int kind);

/* The number of a name, or -VMPI_ENOENT. */
VMPI_API int vmpi_var_find(const char *name);

/* -VMPI_ENOENT: there is no such number. */
VMPI_API int vmpi_var_info(int number, vmpi_var *info);

/*
 * The value, as many words as vmpi_var_info() says: of the calling rank, of the
 * caller's worker or of the node.  _rank and _worker: of any one of this
 * process; _total: of all of them, watermarks and states by the greatest, all
 * others by sum.  Control variables have the value of the process, or where a
 * rank has one of its own, that for the rank; negative ones in two's complement.
 * -VMPI_ENOENT: no such number; -VMPI_EINVAL: a value that is text, or of a kind
 * that ranks (workers) do not have; -VMPI_ENORANK: the caller belongs to none;
 * -VMPI_ERANK: that one is not in this process; -VMPI_ESTATE: the runtime does
 * not run.
 *
 * These take no lock, allocate nothing and may be called by any thread and by
 * signal handlers, while the runtime neither starts nor stops.
 */
VMPI_API int vmpi_var_read(int number, uint64_t *values);
VMPI_API int vmpi_var_read_rank(int number, uint64_t *values, int rank);
VMPI_API int vmpi_var_read_worker(int number, uint64_t *values, int worker);
VMPI_API int vmpi_var_total(int number, uint64_t *values);

/*
 * Sets a control variable of this process.  -VMPI_ENOENT; -VMPI_EINVAL: out of
 * its range, or text (vmpi_set()); -VMPI_ESTATE: a performance variable, or one
 * that cannot change any more.
 */
VMPI_API int vmpi_var_write(int number, int64_t value);

/*
 * Gives one rank of this process a value of its own, from its next call on, which
 * goes before that of the process.  As vmpi_var_write(); -VMPI_EINVAL also: the
 * variable has one value for all ranks; -VMPI_ERANK: that one is not in this
 * process; -VMPI_ESTATE also: the runtime does not run; -VMPI_ENOMEM.  Any thread.
 */
VMPI_API int vmpi_var_write_rank(int number, int64_t value, int rank);

/*
 * Sessions: many performance variables in one call.  A session sees the values
 * of one rank of this process, those of the workers and the node in total; or,
 * with VMPI_ANY for the rank, the totals of all ranks of this process.
 */
typedef struct vmpi_session vmpi_session;

/*
 * n names, in the order given, each of a variable or a pattern with * and ? for
 * several; n == 0: all variables.  A variable comes once.  -VMPI_ENOENT: a name
 * or a pattern fits none; -VMPI_EINVAL, -VMPI_ENOMEM.
 */
VMPI_API int vmpi_session_new(vmpi_session **session, int rank,
			      const char *const *names, int n);
VMPI_API void vmpi_session_free(vmpi_session **session);

/* How many words it reads, and the number of the variable that word i is of. */
VMPI_API int vmpi_session_words(const vmpi_session *session);
VMPI_API int vmpi_session_var(const vmpi_session *session, int i);

/*
 * All of its values: as they are; of another rank; and how much they have grown
 * since the last vmpi_session_delta(), or since the session was made: levels,
 * watermarks, sizes and states are as they are; watermarks of ranks, but not by
 * _rank, since the session was made.  Each word is read for itself,
 * one after the other.  Threads and signal handlers as vmpi_var_read(); but one
 * at a time for a session's deltas.  What nobody counts, before the runtime
 * starts, is 0.  -VMPI_ERANK: no rank of this process; then values are
 * undefined.
 */
VMPI_API int vmpi_session_read(const vmpi_session *session, uint64_t *values);
VMPI_API int vmpi_session_read_rank(const vmpi_session *session,
				    uint64_t *values, int rank);
VMPI_API int vmpi_session_delta(vmpi_session *session, uint64_t *values);

/*
 * Hooks: what a tool does at each call of each rank of this process, with the
 * rank.  Calls are the functions of this header and of mpi.h that move messages,
 * wait or let others run, made by the body of a rank, its tasks or threads that
 * act for it.  A call in a callback belongs to the outer one; what a hook calls
 * itself is told to nobody.  vmpi_hook(3) has examples.
 */
typedef struct vmpi_hook vmpi_hook;

/* rank as in the world; call is a number, see vmpi_call_name().  Runs on the
 * task that calls, on its stack; it may use vmpi, and has to return. */
typedef void (*vmpi_hook_fn)(int rank, int call, void *arg);

/*
 * From now on each call that begins is told to enter, and its end to exit;
 * either may be NULL.  Several hooks hear of begins in some order and of ends in
 * the opposite one.  Any thread, at any time, before the runtime starts too.
 * -VMPI_EINVAL, -VMPI_ENOMEM, -VMPI_ELIMIT: there are 8 already.
 */
VMPI_API int vmpi_hook_add(vmpi_hook **hook, vmpi_hook_fn enter,
			   vmpi_hook_fn exit, void *arg);

/*
 * Ends that: afterwards neither runs any more nor will.  Sets *hook to NULL.
 * -VMPI_EINVAL: it is none; -VMPI_ESTATE: called by a hook.  May switch.
 */
VMPI_API int vmpi_hook_remove(vmpi_hook **hook);

/* "MPI_Send", "vmpi_wait"; NULL for what is no call.  Numbers are positive and
 * below the count. */
VMPI_API const char *vmpi_call_name(int call);
VMPI_API int vmpi_call_count(void);

/*
 * Sections of a rank's work in which the overlap of its messages with computing
 * is measured (vmpi-overlap(7)).  They nest; they are those of the task that
 * runs the rank's body, for others these do nothing.  end: `name` must be the
 * innermost one, NULL is whichever that is; else -VMPI_EINVAL, as for an empty
 * name.
 */
VMPI_API int vmpi_section_begin(const char *name);
VMPI_API int vmpi_section_end(const char *name);

/* The calling rank is measured (on != 0) or not from now on. */
VMPI_API void vmpi_overlap_switch(int on);

#ifdef __cplusplus
}
#endif
#endif
