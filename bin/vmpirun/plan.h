/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many node processes there are, which ranks each has, and who starts them.
 */
#ifndef VMPIRUN_PLAN_H
#define VMPIRUN_PLAN_H

#include "engine.h"
#include "options.h"

struct plan {
	const struct engine *engine; /* NULL: vmpirun starts them itself */
	char *program;		     /* path of the engine */
	int nodes;
	int *first; /* [nodes + 1]: first rank of each node */
};

/*
 * Completes options->job: ranks, nodes, blocks.  options is used as long as the
 * plan.  Result: 0, or -VMPI_E... after one line.
 */
int plan_make(struct plan *plan, struct options *options);

/* The name of the host of node `number`, for %h. */
const char *plan_host(const struct plan *plan, const struct options *options,
		      int number);

void plan_fini(struct plan *plan);

#endif
