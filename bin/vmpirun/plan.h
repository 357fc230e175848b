/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of a job: its processes, the ranks and the host of each, and what
 * starts them.
 */
#ifndef VMPIRUN_PLAN_H
#define VMPIRUN_PLAN_H

#include "engine.h"
#include "options.h"

struct plan {
	const struct engine *engine; /* NULL: vmpirun starts them itself */
	char *program;		     /* path of the engine */
	bool ssh;		     /* vmpirun starts them on other hosts */
	int nodes;		     /* processes */
	int *first;   /* [nodes + 1]: first rank of each process */
	int *host;    /* [nodes]: the host of each process, numbered from 0 */
	int hosts;    /* that are used */
	int *on;      /* [hosts]: processes of each */
	int per_host; /* where they are nodes: nodes of each */
	bool mixed; /* some process is on an earlier host than that before it */
};

/*
 * Completes options->job: ranks, nodes, blocks; job.processes says whether each
 * rank is a process.  options is used as long as the plan.  Result: 0, or
 * -VMPI_E... after one line.
 */
int plan_make(struct plan *plan, struct options *options);

/* The name of the host of process `number`, for %h. */
const char *plan_host(const struct plan *plan, const struct options *options,
		      int number);

void plan_fini(struct plan *plan);

#endif
