/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: ranks, tasks, channels and messages as user-level threads.
 *
 * A rank is a task with an address.  Ranks and tasks are user-level threads
 * (ULTs) on a few OS threads, the workers; a call that has to wait switches to
 * another task instead of blocking its worker.  Every function may also be
 * called from an ordinary OS thread: it then blocks as threads do.
 */
#ifndef VMPI_H
#define VMPI_H

#include <stddef.h>
#include <stdint.h>

/*
 * Argument order: object first, then outputs, then inputs; a length follows its
 * array, user data follows its callback.
 *
 * Functions return 0 or a negative VMPI_E... code; outputs are written on
 * success only.  Only -VMPI_EAGAIN means "nothing yet, try again".  "May
 * switch" means that other tasks of the same worker may run before a function
 * returns.
 */

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
 * Errors.  Row: name, number, text.
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
	X(EPEER, 15, "the other process has died or left")                   \
	X(EREVOKED, 16, "the communicator is revoked")                       \
	X(ETIMEDOUT, 17, "the deadline has passed")

enum vmpi_error {
	VMPI_OK = 0,
#define VMPI_ERROR_ENUM_(name, number, text) VMPI_##name = number,
	VMPI_ERRORS(VMPI_ERROR_ENUM_)
#undef VMPI_ERROR_ENUM_
};

/* The text of a code returned by a function here (negative or positive). */
VMPI_API const char *vmpi_strerror(int error);

/* "0.1.0"; the string is never freed. */
VMPI_API const char *vmpi_version(void);

/*
 * The runtime.
 */
typedef struct vmpi_config {
	int ranks;	    /* number of ranks; 0: 1 */
	int workers;	    /* OS threads; 0: one per allowed core */
	size_t stack_bytes; /* stack of each rank; 0: sched_stack_bytes */
} vmpi_config;

/* The function that a rank or a task runs; vmpi_join() returns its result. */
typedef int (*vmpi_body)(void *arg);

/*
 * Runs body(arg) once per rank and returns when all ranks have returned: 0, or
 * the result of the lowest rank whose result is not 0.  If the runtime does not
 * run yet, it is started with config (NULL: defaults) and stopped at the end;
 * otherwise config must be NULL.  A negative result of the call itself
 * (-VMPI_EINVAL, -VMPI_ENOMEM, -VMPI_ELIMIT, -VMPI_ESTATE) means that nothing
 * ran; bodies should not return negative numbers.  Call from an OS thread that
 * is neither a task nor attached; -VMPI_ESTATE while another call runs.
 */
VMPI_API int vmpi_run(const vmpi_config *config, vmpi_body body, void *arg);

/*
 * Starts the runtime inside a program with its own main: the workers run, the
 * ranks have addresses and mailboxes but no body yet.  -VMPI_ESTATE if it is
 * already running.
 */
VMPI_API int vmpi_start(const vmpi_config *config);

/*
 * Waits until every task has ended, stops the workers and frees everything.
 * Call from an OS thread.  -VMPI_ESTATE if it does not run, if called by a
 * task or an attached thread, or while threads are attached: then call it again
 * when they have detached.  The runtime can be started again afterwards.
 */
VMPI_API int vmpi_stop(void);

/*
 * Makes the calling OS thread act for `rank` until vmpi_detach(): it shares the
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
 * Starts body(arg) as a task of the calling rank, or of no rank if the caller
 * belongs to none.  Tasks of a rank share its mailbox.  The handle must be
 * joined; with task == NULL the task is detached.  Does not switch.
 * -VMPI_ENOMEM, -VMPI_ELIMIT.
 */
VMPI_API int vmpi_spawn(vmpi_task **task, vmpi_body body, void *arg);

/* As vmpi_spawn(), with what config says (NULL: defaults).  -VMPI_EINVAL: a stack
 * of fewer than 16384 bytes. */
typedef struct vmpi_task_config {
	size_t stack_bytes; /* at least; 0: sched_task_stack_bytes */
} vmpi_task_config;

VMPI_API int vmpi_spawn_with(vmpi_task **task, const vmpi_task_config *config,
			     vmpi_body body, void *arg);

/* Waits for the end of *task and sets it to NULL; result may be NULL.  May
 * switch. */
VMPI_API int vmpi_join(vmpi_task **task, int *result);

/* Lets the other runnable tasks of this worker run first.  May switch. */
VMPI_API void vmpi_yield(void);

/* Sleeps for at least `ns` nanoseconds; other tasks run.  May switch. */
VMPI_API void vmpi_sleep(uint64_t ns);

/*
 * Deadlines: calls that end with -VMPI_ETIMEDOUT when what they wait for has not
 * happened by then.  vmpi_time_ns() is the time that deadlines are compared
 * with, nanoseconds of CLOCK_MONOTONIC; one that has passed makes a call try
 * once, VMPI_NEVER makes it wait for ever.
 */
#define VMPI_NEVER UINT64_MAX

VMPI_API uint64_t vmpi_time_ns(void);

/* Sleeps until the deadline, as vmpi_sleep().  May switch. */
VMPI_API void vmpi_sleep_until(uint64_t deadline_ns);

/* As vmpi_join(); after -VMPI_ETIMEDOUT the handle is still to be joined.  May
 * switch. */
VMPI_API int vmpi_join_until(vmpi_task **task, int *result,
			     uint64_t deadline_ns);

/* The rank the caller belongs to and the number of ranks; -VMPI_ENORANK,
 * -VMPI_ESTATE. */
VMPI_API int vmpi_rank(void);
VMPI_API int vmpi_size(void);

/*
 * Locks, conditions and events of tasks.  Who waits for one switches, where a
 * pthread lock would block the worker, also against a holder that waits on the
 * same worker.  Tasks of any rank or of none and OS threads may share them,
 * within a process.  They need no memory besides, and no end; their fields are
 * private.  Those who wait have their turns in order.
 */
typedef struct vmpi_waiters {
	int lock;
	void *first, *last;
} vmpi_waiters;

typedef struct vmpi_mutex {
	uintptr_t holder;
	vmpi_waiters waiters;
} vmpi_mutex;

typedef struct vmpi_cond {
	vmpi_waiters waiters;
} vmpi_cond;

typedef struct vmpi_event {
	int state;
	vmpi_waiters waiters;
} vmpi_event;

/* As is memory that is all zeros. */
#define VMPI_MUTEX_INIT               \
	{                             \
		0,                    \
		{                     \
			0, NULL, NULL \
		}                     \
	}
#define VMPI_COND_INIT                \
	{                             \
		{                     \
			0, NULL, NULL \
		}                     \
	}
#define VMPI_EVENT_INIT               \
	{                             \
		0,                    \
		{                     \
			0, NULL, NULL \
		}                     \
	}

/*
 * A mutex belongs to the task or thread that has locked it, also while that
 * waits in vmpi.  _try: -VMPI_EAGAIN if somebody has it; does not switch.
 * -VMPI_ESTATE: the caller has it already or, of unlock, has it not.  Lock may
 * switch; unlock does not, and gives it to the first who waits.
 */
VMPI_API int vmpi_mutex_lock(vmpi_mutex *mutex);
VMPI_API int vmpi_mutex_lock_until(vmpi_mutex *mutex, uint64_t deadline_ns);
VMPI_API int vmpi_mutex_try(vmpi_mutex *mutex);
VMPI_API int vmpi_mutex_unlock(vmpi_mutex *mutex);

/*
 * Unlocks the caller's mutex and waits for a signal that comes after that; has
 * the mutex again when it returns, also with -VMPI_ETIMEDOUT.  Only a signal or
 * a broadcast ends the wait.  -VMPI_ESTATE: the caller has not the mutex.  May
 * switch.
 */
VMPI_API int vmpi_cond_wait(vmpi_cond *cond, vmpi_mutex *mutex);
VMPI_API int vmpi_cond_wait_until(vmpi_cond *cond, vmpi_mutex *mutex,
				  uint64_t deadline_ns);

/* Wake the first who waits, or all; any thread, with the mutex or without.
 * Do not switch. */
VMPI_API int vmpi_cond_signal(vmpi_cond *cond);
VMPI_API int vmpi_cond_broadcast(vmpi_cond *cond);

/*
 * An event has happened or has not: set makes it happen, for all who wait and
 * all who come, until it is reset.  _test: 0 or -VMPI_EAGAIN.  The waits may
 * switch, the others do not.
 */
VMPI_API int vmpi_event_set(vmpi_event *event);
VMPI_API int vmpi_event_reset(vmpi_event *event);
VMPI_API int vmpi_event_test(const vmpi_event *event);
VMPI_API int vmpi_event_wait(vmpi_event *event);
VMPI_API int vmpi_event_wait_until(vmpi_event *event, uint64_t deadline_ns);

/*
 * Channels: isolated matching contexts over a list of ranks.  Messages of one
 * channel are never received on another.  Each rank has its own handle.
 */
typedef struct vmpi_chan vmpi_chan;

#define VMPI_ANY (-1)	    /* as source or tag of a receive: any */
#define VMPI_UNDEFINED (-2) /* as colour of a split: not in any channel */
#define VMPI_TAG_MAX 0x7fffffff

/* The channel of all ranks; NULL if the caller belongs to no rank. */
VMPI_API vmpi_chan *vmpi_world(void);

VMPI_API int vmpi_chan_rank(const vmpi_chan *chan);
VMPI_API int vmpi_chan_size(const vmpi_chan *chan);

/*
 * Collectives over chan: create a channel of the same ranks; create a channel
 * per colour, ordered by (key, rank), with *out = NULL for VMPI_UNDEFINED; wait
 * for all ranks.  May switch.  One task per rank and channel may be in a
 * collective at a time.
 */
VMPI_API int vmpi_chan_dup(vmpi_chan *chan, vmpi_chan **out);
VMPI_API int vmpi_chan_split(vmpi_chan *chan, vmpi_chan **out, int color,
			     int key);
VMPI_API int vmpi_barrier(vmpi_chan *chan);

/*
 * Collectives that move and reduce data, of all ranks of chan with the same bytes,
 * count and root.  Outputs come first, as with memcpy().  A block has `bytes`
 * bytes; `all`, `to` and `from` have one of each rank, in their order.  gather
 * and scatter: `all` of the root only.  -VMPI_ERANK: no such root;
 * -VMPI_EMISMATCH: ranks are in different calls; -VMPI_ENOMEM, -VMPI_EPEER.  May
 * switch.
 */
VMPI_API int vmpi_bcast(vmpi_chan *chan, void *buf, size_t bytes, int root);
VMPI_API int vmpi_gather(vmpi_chan *chan, void *all, const void *own,
			 size_t bytes, int root);
VMPI_API int vmpi_scatter(vmpi_chan *chan, void *own, const void *all,
			  size_t bytes, int root);
VMPI_API int vmpi_allgather(vmpi_chan *chan, void *all, const void *own,
			    size_t bytes);
VMPI_API int vmpi_alltoall(vmpi_chan *chan, void *to, const void *from,
			   size_t bytes);

/*
 * Combines `count` elements of `bytes` bytes of each rank, in the order of ranks:
 * op makes each element of `sum` that and the one of `more`, and has to be
 * associative.  It must not call vmpi, and runs on any of the ranks, for some.
 * reduce: out is the root's only.
 */
typedef void (*vmpi_op)(void *sum, const void *more, size_t count, void *arg);
VMPI_API int vmpi_reduce(vmpi_chan *chan, void *out, const void *in,
			 size_t bytes, size_t count, vmpi_op op, void *arg,
			 int root);
VMPI_API int vmpi_allreduce(vmpi_chan *chan, void *out, const void *in,
			    size_t bytes, size_t count, vmpi_op op, void *arg);

/* Releases the handle and sets *chan to NULL; local, does not wait. */
VMPI_API int vmpi_chan_free(vmpi_chan **chan);

/*
 * Messages between ranks of a channel.  Messages from one rank to another on
 * one channel arrive in the order they were sent.
 */
typedef struct vmpi_status {
	int source;
	int tag;
	size_t bytes;  /* received */
	int error;     /* 0, -VMPI_ETRUNC or -VMPI_ECANCELED */
	unsigned lost; /* -VMPI_ETRUNC: bytes without room; UINT_MAX: or more */
} vmpi_status;	       /* of a receive; of a send only error is meaningful */

typedef struct vmpi_req vmpi_req;

/*
 * Sends `bytes` bytes; returns when buf may be used again.  Small messages are
 * buffered unless the receiver has too many of them (core_unexpected_limit),
 * large ones wait for their receiver.  vmpi_ssend() always waits until the
 * message is matched.  -VMPI_ERANK, -VMPI_ETAG.  May switch.
 */
VMPI_API int vmpi_send(vmpi_chan *chan, const void *buf, size_t bytes, int dest,
		       int tag);
VMPI_API int vmpi_ssend(vmpi_chan *chan, const void *buf, size_t bytes,
			int dest, int tag);

/*
 * Receives the oldest matching message into buf; status may be NULL.
 * -VMPI_ETRUNC: the message was longer; the first `bytes` bytes are in buf and
 * the rest is lost.  May switch.
 */
VMPI_API int vmpi_recv(vmpi_chan *chan, void *buf, size_t bytes, int source,
		       int tag, vmpi_status *status);

/* As vmpi_recv(); after -VMPI_ETIMEDOUT no message has been received, and buf is
 * free.  One that was matched in time is received later, too.  May switch. */
VMPI_API int vmpi_recv_until(vmpi_chan *chan, void *buf, size_t bytes,
			     int source, int tag, vmpi_status *status,
			     uint64_t deadline_ns);

/*
 * Start the same operations without waiting; *req must be completed by a wait
 * or a test.  The sends may switch: a rank that only sends occasionally lets
 * the others run.
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

/* As vmpi_wait() if the request is complete, else -VMPI_EAGAIN.  May switch
 * when called repeatedly. */
VMPI_API int vmpi_test(vmpi_req **req, vmpi_status *status);

/* Waits for all of n requests; the result is that of the first failed one.
 * statuses may be NULL.  May switch. */
VMPI_API int vmpi_wait_all(vmpi_req **reqs, vmpi_status *statuses, int n);

/*
 * Complete any one of n requests: *index is its index, -1 if all were NULL.
 * vmpi_test_any() returns -VMPI_EAGAIN if none is complete.
 */
VMPI_API int vmpi_wait_any(vmpi_req **reqs, int *index, vmpi_status *status,
			   int n);
VMPI_API int vmpi_test_any(vmpi_req **reqs, int *index, vmpi_status *status,
			   int n);

/* As those without _until; after -VMPI_ETIMEDOUT all requests are as they were.
 * May switch. */
VMPI_API int vmpi_wait_until(vmpi_req **req, vmpi_status *status,
			     uint64_t deadline_ns);
VMPI_API int vmpi_wait_all_until(vmpi_req **reqs, vmpi_status *statuses, int n,
				 uint64_t deadline_ns);
VMPI_API int vmpi_wait_any_until(vmpi_req **reqs, int *index,
				 vmpi_status *status, int n,
				 uint64_t deadline_ns);

/* Withdraws a request if it is not matched yet.  It must still be completed,
 * with the result -VMPI_ECANCELED or, if it was too late, that of the
 * operation. */
VMPI_API int vmpi_cancel(vmpi_req *req);

/*
 * Message handles.  Matching takes a message out of the mailbox: from then on
 * it belongs to the caller alone, and no other receive, match or task can get
 * it.  The handle is ended by exactly one of recv, irecv and drop.  (Hoefler et
 * al., "Efficient MPI support for advanced hybrid programming models", 2010.)
 */
typedef struct vmpi_msg vmpi_msg;

/* Waits for the oldest matching message and takes it.  May switch. */
VMPI_API int vmpi_match(vmpi_chan *chan, vmpi_msg **msg, int source, int tag);

/* As vmpi_match(), or -VMPI_ETIMEDOUT.  May switch. */
VMPI_API int vmpi_match_until(vmpi_chan *chan, vmpi_msg **msg, int source,
			      int tag, uint64_t deadline_ns);

/* As vmpi_match(), or -VMPI_EAGAIN if there is none; then it may switch. */
VMPI_API int vmpi_try_match(vmpi_chan *chan, vmpi_msg **msg, int source,
			    int tag);

VMPI_API int vmpi_msg_source(const vmpi_msg *msg);
VMPI_API int vmpi_msg_tag(const vmpi_msg *msg);
VMPI_API size_t vmpi_msg_size(const vmpi_msg *msg);

/* Receives the payload as vmpi_recv() does; ends the handle (*msg = NULL). */
VMPI_API int vmpi_msg_recv(vmpi_msg **msg, void *buf, size_t bytes,
			   vmpi_status *status);
VMPI_API int vmpi_msg_irecv(vmpi_msg **msg, vmpi_req **req, void *buf,
			    size_t bytes);

/*
 * Returns the payload in place, without a copy: in the message, in a buffer of
 * the runtime, or in the sender's own buffer, which stays blocked meanwhile.
 * Valid until the handle ends.  If the sender's data are not contiguous, they
 * are packed once.  -VMPI_ENOMEM.
 */
VMPI_API int vmpi_msg_borrow(vmpi_msg *msg, const void **data);

/* Ends the handle without receiving; the sender sees a completed send. */
VMPI_API int vmpi_msg_drop(vmpi_msg **msg);

/*
 * What happens outside.  vmpi_fd_wait() waits until a file descriptor has some of
 * the events of poll(2), which are stored in *ready unless that is NULL;
 * POLLERR and POLLHUP count always.  Several tasks may wait for one descriptor.
 * -VMPI_EINVAL: fd is not open; -VMPI_ELIMIT.  May switch.
 */
VMPI_API int vmpi_fd_wait(int fd, int *ready, int events);
VMPI_API int vmpi_fd_wait_until(int fd, int *ready, int events,
				uint64_t deadline_ns);

/*
 * Runs body(arg) on an OS thread that may block, while other tasks run here;
 * returns when it has, with what it returned in *result (may be NULL) and with
 * its errno.  That thread acts for no rank.  May switch; an OS thread runs the
 * body itself.
 */
VMPI_API int vmpi_offload(int *result, vmpi_body body, void *arg);

/*
 * Waits for the first of several things.  A choice is one of them, with where
 * the outputs of its function are to go (see the initializers below);
 * what is not used is zero.
 */
enum vmpi_choice_kind {
	VMPI_CHOICE_NONE,  /* never happens */
	VMPI_CHOICE_REQ,   /* vmpi_wait(req, status) */
	VMPI_CHOICE_MATCH, /* vmpi_match(chan, msg, source, tag) */
	VMPI_CHOICE_TASK,  /* vmpi_join(task, result) */
	VMPI_CHOICE_EVENT, /* vmpi_event_wait(event) */
	VMPI_CHOICE_FD	   /* vmpi_fd_wait(fd, ready, events) */
};

typedef struct vmpi_choice {
	int kind; /* enum vmpi_choice_kind */
	int source, tag;
	vmpi_chan *chan;
	vmpi_msg **msg;
	vmpi_req **req;
	vmpi_status *status;
	vmpi_task **task;
	int *result;
	vmpi_event *event;
	int fd, events;
	int *ready;
} vmpi_choice;

#define VMPI_ON_REQ(req_, status_)                                          \
	{                                                                   \
		.kind = VMPI_CHOICE_REQ, .req = (req_), .status = (status_) \
	}
#define VMPI_ON_MATCH(chan_, msg_, source_, tag_)                              \
	{                                                                      \
		.kind = VMPI_CHOICE_MATCH, .source = (source_), .tag = (tag_), \
		.chan = (chan_), .msg = (msg_)                                 \
	}
#define VMPI_ON_TASK(task_, result_)                                           \
	{                                                                      \
		.kind = VMPI_CHOICE_TASK, .task = (task_), .result = (result_) \
	}
#define VMPI_ON_EVENT(event_)                                \
	{                                                    \
		.kind = VMPI_CHOICE_EVENT, .event = (event_) \
	}
#define VMPI_ON_FD(fd_, ready_, events_)                                  \
	{                                                                 \
		.kind = VMPI_CHOICE_FD, .fd = (fd_), .events = (events_), \
		.ready = (ready_)                                         \
	}

/*
 * Does one of n choices, as its function would, and stores its number in *index;
 * the others are as if nobody had waited for them.  Of several that can be done
 * the first in the list is.  Requests and tasks that are NULL are left out; if
 * nothing is left *index is -1.  The result is that of the function, or
 * -VMPI_ETIMEDOUT, or -VMPI_EINVAL and the like for the first choice with a
 * mistake.  May switch.
 */
VMPI_API int vmpi_select(const vmpi_choice *choices, int *index, int n,
			 uint64_t deadline_ns);

/*
 * Time.  A core has many ranks, so wall-clock time says little about any of
 * them.  Rank time advances only while the caller has its core: not while
 * another task has it, nor while the caller waits in vmpi.  Core time advances
 * on a core while it runs a task that is between start and stop, wherever that
 * began.  Both are nanoseconds since an arbitrary start, so only differences
 * are meaningful.  They need not be switched on, but the first call makes each
 * switch read the clock from then on (sched_rank_time: from the start) and may
 * take 10 ms.  None of these functions switches, and any thread may call them;
 * see vmpi_clock(3) for what they return there.  (Nigay, Mosimann, Schneider,
 * Hoefler, "Communication and timing issues with MPI virtualization", 2020.)
 */
VMPI_API uint64_t vmpi_rank_time_ns(void);
VMPI_API uint64_t vmpi_core_time_ns(void);

/*
 * Begin and end a section, in which core time advances.  Sections nest; one
 * that is left open ends with its task.  -VMPI_ENORANK for a thread that is
 * neither a task nor attached; -VMPI_ESTATE for a stop without a start.
 */
VMPI_API int vmpi_core_timer_start(void);
VMPI_API int vmpi_core_timer_stop(void);

/*
 * Counters, with the same two views: of the caller while it had its core, and
 * of its core in sections.  Row: name, unit, what is counted.
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
 * -VMPI_ENOTSUP: this machine or its kernel cannot count this kind; it is not
 * replaced by another one.  -VMPI_ENORANK, -VMPI_ELIMIT.  Does not
 * switch.
 */
VMPI_API int vmpi_counter_open(vmpi_counter **counter, int kind);
VMPI_API int vmpi_counter_close(vmpi_counter **counter);

/*
 * Read the count of the caller, and that of sections of the caller's core,
 * since some moment after the open.  -VMPI_EIO: the machine has stopped
 * counting it; -VMPI_ENORANK.  One system call; does not switch.
 */
VMPI_API int vmpi_counter_rank(const vmpi_counter *counter, uint64_t *value);
VMPI_API int vmpi_counter_core(const vmpi_counter *counter, uint64_t *value);

/* The name of a kind, such as "CACHE_MISSES"; its unit; the source of a
 * counter: "perf_event", "getrusage" or "clock_gettime".  NULL for an invalid
 * argument. */
VMPI_API const char *vmpi_counter_name(int kind);
VMPI_API const char *vmpi_counter_unit(int kind);
VMPI_API const char *vmpi_counter_source(const vmpi_counter *counter);

/*
 * Set and get a control variable (see vmpi_info) by name; the value is text as
 * on vmpirun's command line.  -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_ESTATE for one
 * that can no longer change.
 */
VMPI_API int vmpi_set(const char *name, const char *value);
VMPI_API int vmpi_get(const char *name, char *value, size_t bytes);

/*
 * Variables by number: performance variables, which count what the runtime
 * does, and control variables, which configure it.  vmpi_info lists them all;
 * vmpi_var(3) has examples.  Variables of each kind are numbered from its
 * constant on, in the same order in all ranks and processes; numbers do not
 * change.
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
	int of;		  /* what has a value: enum vmpi_var_of */
	int words;	  /* of a value; 0: it is text, for vmpi_get() */
	int settable;	  /* now, by vmpi_var_write() or vmpi_set() */
	int64_t min, max; /* of what can be written */
	const char *what; /* "counter", "level", "timer", ...; "size", ... */
	const char *unit; /* of a state or choice its words: "auto|read" */
	const char *category;
	const char *text; /* all of these are never freed */
} vmpi_var;

VMPI_API int vmpi_var_count(int kind);

/* The number of a name, or -VMPI_ENOENT. */
VMPI_API int vmpi_var_find(const char *name);

/* -VMPI_ENOENT: there is no such number. */
VMPI_API int vmpi_var_info(int number, vmpi_var *info);

/*
 * Read a value, of as many words as vmpi_var_info() says: of the calling rank,
 * of the caller's worker or of the node.  _rank and _worker: of any rank or
 * worker of this process; _total: of all of them, the maximum of watermarks and
 * states (the minimum of low-water marks), the sum of all others.  Control
 * variables have the value of the process or, if a rank has one of its own,
 * that of the rank; negative values in two's complement.  -VMPI_ENOENT: no such
 * number; -VMPI_EINVAL: the value is text, or ranks (workers) have none;
 * -VMPI_ENORANK: the caller belongs to no rank; -VMPI_ERANK: the rank or worker
 * is not in this process; -VMPI_ESTATE: the runtime does not run.
 *
 * These functions take no lock, allocate nothing and may be called by any
 * thread and by signal handlers, except while the runtime starts or stops.
 */
VMPI_API int vmpi_var_read(int number, uint64_t *values);
VMPI_API int vmpi_var_read_rank(int number, uint64_t *values, int rank);
VMPI_API int vmpi_var_read_worker(int number, uint64_t *values, int worker);
VMPI_API int vmpi_var_total(int number, uint64_t *values);

/*
 * Sets a control variable of this process.  -VMPI_ENOENT; -VMPI_EINVAL: out of
 * range, or text (vmpi_set()); -VMPI_ESTATE: a performance variable, or one
 * that can no longer change.
 */
VMPI_API int vmpi_var_write(int number, int64_t value);

/*
 * Gives one rank of this process a value of its own, which overrides that of
 * the process from the rank's next call on.  As vmpi_var_write(); also
 * -VMPI_EINVAL: the variable has one value for all ranks; -VMPI_ERANK: the rank
 * is not in this process; -VMPI_ESTATE: the runtime does not run;
 * -VMPI_ENOMEM.  Any thread.
 */
VMPI_API int vmpi_var_write_rank(int number, int64_t value, int rank);

/*
 * Sessions: many performance variables in one call.  A session sees the values
 * of one rank of this process, and the totals of the workers and the node; with
 * VMPI_ANY for the rank, it sees the totals of all ranks of this process.
 */
typedef struct vmpi_session vmpi_session;

/*
 * Creates a session from n names in the order given, each a variable or a
 * pattern with * and ?; n == 0: all variables.  Each variable is included
 * once.  -VMPI_ENOENT: a name or a pattern matches none; -VMPI_EINVAL,
 * -VMPI_ENOMEM.
 */
VMPI_API int vmpi_session_new(vmpi_session **session, int rank,
			      const char *const *names, int n);
VMPI_API void vmpi_session_free(vmpi_session **session);

/* The number of words of a session; the number of the variable of word i. */
VMPI_API int vmpi_session_words(const vmpi_session *session);
VMPI_API int vmpi_session_var(const vmpi_session *session, int i);

/*
 * Read all values of a session: as they are; of another rank; and their growth
 * since the last vmpi_session_delta(), or since the session was created, where
 * levels, watermarks, sizes and states are as they are.  Watermarks of ranks
 * start when the session is created, except for _rank.  Words are read one by
 * one.  May be called as vmpi_var_read(), but only by one caller at a time for
 * the deltas of a session.  Values that nobody counts, before the runtime
 * starts, are 0.  -VMPI_ERANK: no rank of this process; then values are
 * undefined.
 */
VMPI_API int vmpi_session_read(const vmpi_session *session, uint64_t *values);
VMPI_API int vmpi_session_read_rank(const vmpi_session *session,
				    uint64_t *values, int rank);
VMPI_API int vmpi_session_delta(vmpi_session *session, uint64_t *values);

/*
 * Hooks: functions of a tool that run at each call of each rank of this
 * process.  Calls are the functions of this header and of mpi.h that transfer
 * messages, wait or let others run, made by the body of a rank, its tasks or
 * threads that act for it.  A call in a callback belongs to the outer one;
 * calls that a hook makes are not reported.  vmpi_hook(3) has examples.
 */
typedef struct vmpi_hook vmpi_hook;

/* rank is that in the world, call a number (vmpi_call_name()).  Runs on the
 * calling task, on its stack; it may use vmpi, and has to return. */
typedef void (*vmpi_hook_fn)(int rank, int call, void *arg);

/*
 * From now on calls enter at the begin of each call, and exit at its end;
 * either may be NULL.  Several hooks see begins in some order and ends in the
 * opposite one.  Any thread, at any time, also before the runtime starts.
 * -VMPI_EINVAL, -VMPI_ENOMEM, -VMPI_ELIMIT: there are already 8.
 */
VMPI_API int vmpi_hook_add(vmpi_hook **hook, vmpi_hook_fn enter,
			   vmpi_hook_fn exit, void *arg);

/*
 * Removes a hook and sets *hook to NULL: afterwards neither function runs or
 * will run.  -VMPI_EINVAL: no such hook; -VMPI_ESTATE: called by a hook.  May
 * switch.
 */
VMPI_API int vmpi_hook_remove(vmpi_hook **hook);

/* The name of a call, such as "MPI_Send"; NULL for an invalid number.  Numbers
 * are positive and less than the count. */
VMPI_API const char *vmpi_call_name(int call);
VMPI_API int vmpi_call_count(void);

/*
 * Sections of a rank's work in which the overlap of its messages with
 * computation is measured (vmpi-overlap(7)).  They nest.  They belong to the
 * task that runs the rank's body; in others these functions do nothing.  end:
 * `name` must be that of the innermost section, or NULL; else -VMPI_EINVAL, as
 * for an empty name.
 */
VMPI_API int vmpi_section_begin(const char *name);
VMPI_API int vmpi_section_end(const char *name);

/* Switches measuring of the calling rank on (on != 0) or off. */
VMPI_API void vmpi_overlap_switch(int on);

#ifdef __cplusplus
}
#endif
#endif
