/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi_policy.h: policies, which observe a running job and set its variables.
 *
 * A policy is a shared object that exports one object, vmpi_policy.  It is not
 * linked to libvmpi: all that it can do are the functions of its tuner.
 * Results are 0 or a negative VMPI_E... code of vmpi.h.
 */
#ifndef VMPI_POLICY_H
#define VMPI_POLICY_H

#include <stdint.h>

/*
 * A policy looks like this:
 *
 *	#include <vmpi_policy.h>
 *
 *	static int tick(vmpi_tuner *tuner, uint64_t now_ns) { ... return 0; }
 *	const struct vmpi_policy vmpi_policy = {
 *		.abi = VMPI_POLICY_ABI,
 *		.name = "mine",
 *		.description = "its purpose",
 *		.tick = tick,
 *	};
 *
 * It is built by `cc -shared -fPIC -o mine.so mine.c` and used by `vmpirun
 * --policy ./mine.so`.
 *
 * Each process of a job has its own copy, which sees the variables of this
 * process and sets them only here.  Its functions run one at a time: start()
 * and end() when the runtime starts and stops, the others on a thread that runs
 * no rank.  They must not call MPI or vmpi.h, and should not take long, since
 * other policies wait.
 *
 * A policy that cannot be loaded ends the job before it starts.  One that fails
 * later is turned off with a line that says why, and the values that it has set
 * are restored.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface.  It changes when something below does. */
#define VMPI_POLICY_ABI 3

typedef struct vmpi_tuner vmpi_tuner;

/* The kind of blocks of a counter, which has one value per block. */
enum vmpi_policy_of {
	VMPI_POLICY_RANKS,   /* by rank of the world */
	VMPI_POLICY_WORKERS, /* by worker, or port of the network */
	VMPI_POLICY_NODE     /* one for this process */
};

/* When a control variable may be set. */
enum vmpi_policy_when {
	VMPI_POLICY_STARTUP, /* never by a policy */
	VMPI_POLICY_ANYTIME,
	VMPI_POLICY_ALIKE /* anytime, but with the same value in all processes:
			     by a policy only in jobs of one process */
};

/* The facts about a variable.  Texts live as long as the job. */
struct vmpi_policy_var {
	const char *name; /* "core_eager_limit" */
	const char *unit; /* "bytes"; for a choice its words: "auto|read" */
	const char *text;
	/* Of a control variable: */
	enum vmpi_policy_when when;
	int64_t preset, min, max;
	/* Of a counter: */
	enum vmpi_policy_of of;
	unsigned blocks; /* some may be of other processes */
	unsigned words;	 /* more than 1: an array */
};

/* Other events that a policy can be told of. */
enum vmpi_policy_event {
	VMPI_POLICY_CHANGED, /* something else has set control variable `number`,
				which this policy had set */
	VMPI_POLICY_ADDED,   /* there are more variables; number is 0 */
	VMPI_POLICY_END,     /* the job ends; number is 0, end() comes next */
	VMPI_POLICY_DISTURBED /* another policy has set control variable
				 `number`: what was measured before does not
				 compare with what comes */
};

/* The result of write() if the value was outside the variable's range. */
#define VMPI_POLICY_BOUNDED 1

/*
 * The functions available to a policy.  Each takes the tuner with which the
 * policy was called, and may be called only during that call.  Control
 * variables and counters are numbered separately, from 0; numbers do not
 * change.
 */
struct vmpi_tuner {
	uint32_t abi;
	int process, processes; /* number of this one; how many */
	int ranks, ranks_here;	/* of the job, of this process */
	const char *argument;	/* of --policy FILE=ARGUMENT; "" without one */
	void *state;		/* the policy's own; initially NULL */

	/* The number of a control variable, of a counter; -VMPI_ENOENT. */
	int (*control_find)(vmpi_tuner *tuner, const char *name);
	int (*counter_find)(vmpi_tuner *tuner, const char *name);

	/* The number of control variables, of counters. */
	int (*control_count)(vmpi_tuner *tuner);
	int (*counter_count)(vmpi_tuner *tuner);

	/* The facts about one; -VMPI_ENOENT. */
	int (*control_info)(vmpi_tuner *tuner, int number,
			    struct vmpi_policy_var *var);
	int (*counter_info)(vmpi_tuner *tuner, int number,
			    struct vmpi_policy_var *var);

	/*
	 * The current value of a control variable.  -VMPI_ENOENT;
	 * -VMPI_EINVAL: it is text.
	 */
	int (*control_read)(vmpi_tuner *tuner, int number, int64_t *value);

	/*
	 * The first `words` words of a counter (1, unless it is an array) in
	 * block `block`, or the total of all blocks of this process: the sum,
	 * for watermarks the maximum.  -VMPI_ENOENT: no such counter, or it has
	 * fewer words; -VMPI_ERANK: the block is not of this process;
	 * -VMPI_ESTATE: there is no block; -VMPI_EINVAL: words is 0.
	 */
	int (*read)(vmpi_tuner *tuner, int number, unsigned block,
		    uint64_t *values, unsigned words);
	int (*total)(vmpi_tuner *tuner, int number, uint64_t *values,
		     unsigned words);

	/*
	 * A decision: sets the control variable, for a reason (one line) that
	 * tune_log prints.  0; VMPI_POLICY_BOUNDED: it got the nearest value in
	 * its range.  If it has the value already: 0, and no decision.  On
	 * errors nothing changes, and a line reports it: -VMPI_ENOENT;
	 * -VMPI_EINVAL: a text, or no reason; -VMPI_ESTATE: STARTUP;
	 * -VMPI_ENOTSUP: ALIKE, in a job of several processes; -VMPI_ELIMIT:
	 * this policy has raised and lowered it too often, and is turned off
	 * when it returns.
	 */
	int (*write)(vmpi_tuner *tuner, int number, int64_t value,
		     const char *reason);

	/* Reverts the decisions of this policy on a variable: it gets the value
	 * from before the first one.  0; -VMPI_ENOENT: there was no
	 * decision. */
	int (*revert)(vmpi_tuner *tuner, int number, const char *reason);

	/* Prints a line if tune_log is on. */
	void (*log)(vmpi_tuner *tuner, const char *text);

	/*
	 * A trial: the time in which a policy sees what a decision of its own
	 * changes.  One policy of a process at a time has one, so that nothing
	 * else changes meanwhile: policies begin one before every decision that
	 * can wait, and end it when they know.  0: the caller has it, or had it;
	 * -VMPI_ESTATE: another one has, or has waited longer: ask again at a
	 * later tick.  It ends with the policy.
	 */
	int (*trial_begin)(vmpi_tuner *tuner);
	void (*trial_end)(vmpi_tuner *tuner);

	/*
	 * Within a trial of the caller's, sets a control variable that it has
	 * written for a moment: a trial takes a value and leaves it in turn, to
	 * compare.  That is no decision, and nobody is told.  The end of the
	 * trial, or the next decision, sets what is decided.  0, also if
	 * something else has set it since; -VMPI_ESTATE: it is not the caller's
	 * trial, or nothing was decided.
	 */
	int (*alternate)(vmpi_tuner *tuner, int number, int64_t value);
};

struct vmpi_policy {
	uint32_t abi;	  /* VMPI_POLICY_ABI */
	const char *name; /* letters, digits, "-" and "_" */
	const char *description;
	/* When the job starts; NULL: nothing to do. */
	int (*start)(vmpi_tuner *tuner);
	/*
	 * Every tune_interval_ms.  now_ns: nanoseconds of the time of the day,
	 * which goes on steadily from what it was at the start; processes agree
	 * about it as well as the clocks of their hosts do.  A result other than
	 * 0 turns the policy off.
	 */
	int (*tick)(vmpi_tuner *tuner, uint64_t now_ns);
	/* NULL: no events.  The result is that of tick(). */
	int (*event)(vmpi_tuner *tuner, enum vmpi_policy_event event,
		     int number);
	/* Once, also when it was turned off, if start() returned 0; frees
	 * `state`.  NULL: nothing to do. */
	void (*end)(vmpi_tuner *tuner);
};

/* What the shared object exports. */
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct vmpi_policy vmpi_policy;

#ifdef __cplusplus
}
#endif

#endif
