/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places are filled before they are told of, and a reader that still has
 * one after the end finds memory that is gone: whoever reads from a thread of
 * its own stops before vmpi_stop() does.
 */
#include "core/ledger.h"

#include "core/engine.h"
#include "core/node.h"
#include "core/rank.h"
#include "fabric/fabric.h"
#include "fabric/vars.h"
#include "sched/vars.h"
#include "sched/worker.h"

static bool rank_here(unsigned i)
{
	return vm_node->ranks[i].engine != &vm_engine_away;
}

static void fabric_open(struct vm_ledger *ledger, struct vm_fabric *fabric)
{
	const char *first =
		(const char *)vm_port_pvars(vm_fabric_port(fabric, 0));
	unsigned count = vm_fabric_limits(fabric)->ports;

	ledger->ports = (struct vm_pvar_place){ .base = first, .count = count };
	if (count > 1)
		ledger->ports.stride =
			(size_t)((const char *)vm_port_pvars(
					 vm_fabric_port(fabric, 1)) -
				 first);
	ledger->fabric = (struct vm_pvar_place){
		.base = (const char *)vm_fabric_pvars(fabric),
		.count = 1,
	};
	vm_pvars_place(&fabric_port_pvar_table, &ledger->ports);
	vm_pvars_place(&fabric_node_pvar_table, &ledger->fabric);
}

void vm_ledger_open(struct vm_node *node)
{
	struct vm_ledger *ledger = &node->ledger;

	ledger->ranks = (struct vm_pvar_place){
		.base = (const char *)&node->ranks[0].pvars,
		.stride = sizeof(struct vm_rank),
		.also = offsetof(struct vm_rank, thread_pvars) -
			offsetof(struct vm_rank, pvars),
		.count = (unsigned)node->rank_count,
		.here = rank_here,
	};
	ledger->workers = (struct vm_pvar_place){
		.base = (const char *)&vm_sched.workers[0].pvars,
		.stride = sizeof(struct vm_worker),
		.count = (unsigned)vm_sched.worker_count,
	};
	ledger->node = (struct vm_pvar_place){
		.base = (const char *)&node->pvars,
		.count = 1,
	};
	vm_pvars_place(&core_rank_pvar_table, &ledger->ranks);
	vm_pvars_place(&sched_worker_pvar_table, &ledger->workers);
	vm_pvars_place(&core_node_pvar_table, &ledger->node);
	if (node->fabric)
		fabric_open(ledger, node->fabric);
}

void vm_ledger_close(void)
{
	vm_pvars_place(&core_rank_pvar_table, NULL);
	vm_pvars_place(&sched_worker_pvar_table, NULL);
	vm_pvars_place(&core_node_pvar_table, NULL);
	vm_pvars_place(&fabric_port_pvar_table, NULL);
	vm_pvars_place(&fabric_node_pvar_table, NULL);
}
