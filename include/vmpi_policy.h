/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi_policy.h: policies, which watch a running job and set its variables.
 *
 * A policy is a shared object that exports one object, vmpi_policy:
 *
 *	#include <vmpi_policy.h>
 *
 *	static int tick(vmpi_tuner *tuner, uint64_t now_ns) { ... return 0; }
 *	const struct vmpi_policy vmpi_policy = {
 *		.abi = VMPI_POLICY_ABI,
 *		.name = "mine",
 *		.description = "what it is for",
 *		.tick = tick,
 *	};
 *
 * It is built by `cc -shared -fPIC -o mine.so mine.c` and used by
 * `vmpirun --policy ./mine.so`.  Nothing of libvmpi is linked to it: all that it
 * may do are functions of its tuner.  Results are 0 or a negative VMPI_E... code
 * of vmpi.h.
 *
 * Each process of a job has its own copy, which sees the variables of this
 * process and sets them here only.  Its functions run one at a time: start() and
 * end() when the runtime starts and stops, the others on a thread that runs no
 * rank.  They must not call MPI or vmpi.h, and should not take long, since other
 * policies wait.
 *
 * A policy that cannot be loaded ends the job before it starts.  One that fails
 * later is turned off with a line that says why, and what it has set goes back
 * to what it was.
 */
#ifndef VMPI_POLICY_H
#define VMPI_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header describes.  It changes when something below does. */
#define VMPI_POLICY_ABI 1

typedef struct vmpi_tuner vmpi_tuner;

/* Of which blocks a counter has values, one each. */
enum vmpi_policy_of {
	VMPI_POLICY_RANKS,   /* by rank of the world */
	VMPI_POLICY_WORKERS, /* by worker, or port of the network */
	VMPI_POLICY_NODE     /* one for this process */
};

/* When a control variable may be set. */
enum vmpi_policy_when {
	VMPI_POLICY_STARTUP, /* never by a policy */
	VMPI_POLICY_ANYTIME,
	VMPI_POLICY_ALIKE /* anytime, but alike in all processes: so by a
			     policy in jobs of one process only */
};

/* What is known of a variable.  Texts live as long as the job. */
struct vmpi_policy_var {
	const char *name; /* "core_eager_limit" */
	const char *unit; /* "bytes"; of words to choose from: "auto|read" */
	const char *text;
	/* Of a control variable: */
	enum vmpi_policy_when when;
	int64_t preset, min, max;
	/* Of a counter: */
	enum vmpi_policy_of of;
	unsigned blocks; /* some may be of other processes */
	unsigned words;	 /* more than 1: an array */
};

/* What else a policy can be told of. */
enum vmpi_policy_event {
	VMPI_POLICY_CHANGED, /* somebody else has set control variable `number`,
				which this policy had set */
	VMPI_POLICY_ADDED,   /* there are more variables; number is 0 */
	VMPI_POLICY_END	     /* the job ends; number is 0, end() comes next */
};

/* The result of write() when the value was beyond the variable's range. */
#define VMPI_POLICY_BOUNDED 1

/*
 * What a policy may do.  Every function takes the tuner that the policy was
 * called with, and may be called only while it is.  Variables have numbers, 0 and
 * up, which stay as they are: the control variables theirs, the counters theirs.
 */
struct vmpi_tuner {
	uint32_t abi;
	int process, processes; /* this one, of how many */
	int ranks, ranks_here;	/* of the job, of this process */
	const char *argument;	/* --policy FILE=ARGUMENT; "" without one */
	void *state;		/* the policy's own; NULL at first */

	/* The number of a control variable, of a counter; -VMPI_ENOENT. */
	int (*control_find)(vmpi_tuner *tuner, const char *name);
	int (*counter_find)(vmpi_tuner *tuner, const char *name);

	/* How many there are. */
	int (*control_count)(vmpi_tuner *tuner);
	int (*counter_count)(vmpi_tuner *tuner);

	/* What is known of one; -VMPI_ENOENT. */
	int (*control_info)(vmpi_tuner *tuner, int number,
			    struct vmpi_policy_var *var);
	int (*counter_info)(vmpi_tuner *tuner, int number,
			    struct vmpi_policy_var *var);

	/*
	 * The value of a control variable now.  -VMPI_ENOENT; -VMPI_EINVAL: it
	 * is a text.
	 */
	int (*control_read)(vmpi_tuner *tuner, int number, int64_t *value);

	/*
	 * The first `words` words of a counter (1, unless it is an array) in
	 * block `block`, or of all blocks of this process together: sums, of
	 * watermarks the greatest.  -VMPI_ENOENT: no such counter, or it has
	 * fewer words; -VMPI_ERANK: that block is not of this process;
	 * -VMPI_ESTATE: there is none; -VMPI_EINVAL: no word is asked for.
	 */
	int (*read)(vmpi_tuner *tuner, int number, unsigned block,
		    uint64_t *values, unsigned words);
	int (*total)(vmpi_tuner *tuner, int number, uint64_t *values,
		     unsigned words);

	/*
	 * A decision: the control variable gets a value, for a reason that
	 * people are told (one line).  0; VMPI_POLICY_BOUNDED: it got the
	 * nearest value of its range.  The value it has already: 0, and no
	 * decision.  Nothing happens, and a line says so, at -VMPI_ENOENT;
	 * -VMPI_EINVAL: a text, or no reason; -VMPI_ESTATE: STARTUP;
	 * -VMPI_ENOTSUP: ALIKE, in a job of several processes; -VMPI_ELIMIT: this
	 * policy has set it up and down so often that it is not believed any
	 * more, and is turned off when it returns.
	 */
	int (*write)(vmpi_tuner *tuner, int number, int64_t value,
		     const char *reason);

	/* Takes back what this policy has decided about a variable: it gets the
	 * value from before the first decision.  0; -VMPI_ENOENT: there was no
	 * decision. */
	int (*revert)(vmpi_tuner *tuner, int number, const char *reason);

	/* A line for people, if they asked for such lines (tune_log). */
	void (*log)(vmpi_tuner *tuner, const char *text);
};

struct vmpi_policy {
	uint32_t abi;	  /* VMPI_POLICY_ABI */
	const char *name; /* letters, digits, "-" and "_" */
	const char *description;
	/* When the job starts; NULL: nothing to do. */
	int (*start)(vmpi_tuner *tuner);
	/*
	 * Every tune_interval_ms.  now_ns: nanoseconds since some beginning.  A
	 * result other than 0 turns the policy off.
	 */
	int (*tick)(vmpi_tuner *tuner, uint64_t now_ns);
	/* NULL: it is not told.  As tick(). */
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
