/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies at work: those that run, their decisions, refused values.
 *
 * This is the inside of vmpi_policy.h.  It is pure: time comes as an argument,
 * and the variables are behind a few functions (struct vm_policy_vars), so that
 * tests replay whole jobs without one.  core/service/tune.h connects it to the
 * process.
 */
#ifndef INTROSPECT_POLICY_POLICY_H
#define INTROSPECT_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/policy/vars.h"
#include "vmpi.h"
#include "vmpi_policy.h"

/*
 * Rules for every policy: values stay in the range of their variables; a
 * variable that a policy moves up and down again and again (VM_POLICY_TURNS
 * turns within VM_POLICY_TURN_TICKS of its ticks) is taken away from it; when
 * it fails or ends, its settings are reverted.
 *
 * One thread at a time; nothing here waits.
 */

#define VM_POLICIES_MAX 16
#define VM_POLICY_KNOBS_MAX 32 /* variables that one policy has set */
#define VM_POLICY_RECORDS 64   /* decisions that are remembered */
#define VM_POLICY_REASON_MAX 120
#define VM_POLICY_NAME_MAX 32
#define VM_POLICY_TURNS 6
#define VM_POLICY_TURN_TICKS 100

/* A decision. */
struct vm_policy_record {
	uint64_t at_ns;
	char policy[VM_POLICY_NAME_MAX];
	const char *variable;
	int number;
	int64_t old_value, new_value;
	bool reverted; /* it reverts earlier ones */
	char reason[VM_POLICY_REASON_MAX];
};

/* Access to the variables, and reports; arg goes to every function. */
struct vm_policy_vars {
	int process, processes, ranks, ranks_here;
	int (*control_count)(void *arg);
	int (*control_find)(void *arg, const char *name);
	int (*control_info)(void *arg, int number, struct vmpi_policy_var *var);
	int (*control_read)(void *arg, int number, int64_t *value);
	int (*control_write)(void *arg, int number, int64_t value);
	int (*counter_count)(void *arg);
	int (*counter_find)(void *arg, const char *name);
	int (*counter_info)(void *arg, int number, struct vmpi_policy_var *var);
	int (*read)(void *arg, int number, unsigned block, uint64_t *values,
		    unsigned words);
	int (*total)(void *arg, int number, uint64_t *values, unsigned words);
	/* Called for a decision, after it has been carried out. */
	void (*decided)(void *arg, const struct vm_policy_record *record);
	/* Prints a line about a policy: its own (log), or about its mistake. */
	void (*say)(void *arg, const char *policy, bool wrong,
		    const char *text);
	void *arg;
};

/* A variable that a policy has set. */
struct vm_policy_knob {
	int number;
	int64_t first, last; /* before its first decision, after its last */
	int64_t now;	     /* last, or what it is for a moment of a trial */
	bool ours;	     /* nothing else has set it since */
	bool up;	     /* the last step */
	unsigned turns;	     /* changes of direction since ... */
	uint64_t turn_tick;  /* ... that tick */
};

struct vm_policies;

/* A policy that runs, or ran. */
struct vm_policy_run {
	vmpi_tuner tuner; /* first: what the policy sees */
	struct vm_policies *all;
	const struct vmpi_policy *policy;
	bool started, off; /* it has ended, well or not */
	uint64_t ticks;
	struct vm_policy_knob knobs[VM_POLICY_KNOBS_MAX];
	unsigned knob_count;
	const char *broken; /* why it is turned off after this call; or NULL */
};

struct vm_policies {
	struct vm_policy_vars vars;
	struct vm_policy_run *runs[VM_POLICIES_MAX];
	unsigned count;
	/* Whose trial it is, and who has asked meanwhile; or NULL. */
	struct vm_policy_run *trial, *next_trial;
	uint64_t now_ns;
	int controls_seen, counters_seen;
	struct tune_node_pvars *pvars;
	/* Record i is at i % VM_POLICY_RECORDS. */
	uint64_t record_count;
	struct vm_policy_record records[VM_POLICY_RECORDS];
};

/* pvars: where decisions are counted. */
void vm_policies_init(struct vm_policies *all,
		      const struct vm_policy_vars *vars,
		      struct tune_node_pvars *pvars);

/*
 * The mistake in a policy that came from a file; NULL: none.  Its fields are
 * checked, nothing is called.
 */
const char *vm_policy_wrong(const struct vmpi_policy *policy);

/*
 * Adds a policy and starts it.  argument is the caller's, for as long as it
 * runs. -VMPI_EINVAL: it is malformed, there is one of that name, or it did not
 * start (reported); -VMPI_ELIMIT, -VMPI_ENOMEM.
 */
int vm_policies_add(struct vm_policies *all, const struct vmpi_policy *policy,
		    const char *argument, uint64_t now_ns);

/* Calls the tick of each. */
void vm_policies_tick(struct vm_policies *all, uint64_t now_ns);

/* Ends each, in reverse; their settings are reverted. */
void vm_policies_fini(struct vm_policies *all, uint64_t now_ns);

/* Record i, the oldest first; NULL: it is not kept (any more). */
const struct vm_policy_record *vm_policy_record(const struct vm_policies *all,
						uint64_t i);

#endif
