/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the counters of this process lie: tells introspect/pvar.h of the blocks
 * of ranks, workers, ports and the node while the runtime runs.
 */
#ifndef CORE_LEDGER_H
#define CORE_LEDGER_H

#include "introspect/pvar.h"

struct vm_node;

struct vm_ledger {
	struct vm_pvar_place ranks, workers, ports, node, fabric;
};

/* The ranks are there, no worker runs yet. */
void vm_ledger_open(struct vm_node *node);

/* Before any of it is freed. */
void vm_ledger_close(void);

#endif
