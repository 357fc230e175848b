/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policies of this process: which ones tune_policies and tune_plugins name,
 * and how they come to the variables.  The service runs them; a process without
 * policies has nothing of this.
 */
#ifndef CORE_SERVICE_TUNE_H
#define CORE_SERVICE_TUNE_H

#include "introspect/policy/policy.h"

struct vm_node;

/* A policy out of a file. */
struct vm_tune_file {
	void *handle;	/* of dlopen() */
	char *argument; /* after the "=", or NULL */
};

struct vm_tune {
	struct vm_policies policies;
	struct vm_tune_file files[VM_POLICIES_MAX];
	unsigned file_count;
	int handler; /* of the service, or 0 */
	int64_t interval_ms;
	/* What their time is ahead of vm_clock_ns(): it is that of the day, as it
	 * was known at the start, so that processes on all hosts agree. */
	uint64_t day_ns;
	/* Names that policies have asked for, by number; made at the first
	 * question. */
	char **control_names, **counter_names;
	int control_count, counter_count;
};

/*
 * Starts what is to run; the blocks of the variables are there.  Without any
 * policy node->tune stays NULL.  -VMPI_EINVAL: a policy is not there or does
 * not start, -VMPI_ENOMEM, -VMPI_ELIMIT; logged, and nothing runs.
 */
int vm_tune_start(struct vm_node *node);

/* Ends them, after the service has stopped; what they have set goes back. */
void vm_tune_stop(struct vm_node *node);

/* The functions by which policies see the variables of this process; arg is
 * struct vm_tune.  Their names live until vm_tune_names_free(). */
void vm_tune_vars(struct vm_policy_vars *vars, struct vm_tune *tune);
void vm_tune_names_free(struct vm_tune *tune);

/*
 * The policy in a shared object, "FILE" or "FILE=ARGUMENT" of `length` bytes;
 * *file is set.  NULL: there is none, logged.
 */
const struct vmpi_policy *vm_tune_load(struct vm_tune_file *file,
				       const char *text, size_t length);
void vm_tune_unload(struct vm_tune_file *file);

#endif
