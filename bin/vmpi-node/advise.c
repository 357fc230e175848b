/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As with a placement that is learned, the processes exchange boot's blobs,
 * because ranks and fabric have ended.  Processes of one job are of one
 * version, so a blob is the struct.
 */
#include "advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "boot/boot.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/rank/vars.h"
#include "fabric/fabric.h"
#include "fabric/packet/pkt.h"
#include "fabric/packet/vars.h"
#include "report/advice.h"
#include "introspect/vars/pvar.h"
#include "base/nearest.h"
#include "introspect/vars/cvar.h"
#include "node.h"
#include "report/cli.h"
#include "sched/topo.h"
#include "sched/worker.h"

#define BLOB "advise"
#define WORDS_MAX 256 /* of a counter */

/* The total of a counter, of all words of an array; 0: there is none now, as
 * those of the fabric in a job of one process. */
static uint64_t counter(const char *name)
{
	uint64_t words[WORDS_MAX] = { 0 }, sum = 0;
	struct vm_pvar_view view;
	char text[VM_NAME_MAX];
	int number = vm_pvar_find(name);

	if (!vm_pvar_info(number, &view, text) || view.row->words > WORDS_MAX ||
	    vm_pvar_total(words, number))
		return 0;
	for (unsigned i = 0; i < view.row->words; i++)
		sum += words[i];
	return sum;
}

static void counters_take(struct vm_advice_facts *facts)
{
#define TAKE(merge, field, name, text) \
	if ((name)[0])                 \
		facts->field = counter(name);
	VM_ADVICE_FACTS(TAKE)
#undef TAKE
	facts->far_other = counter("core_coll_binomial_internode") +
			   counter("core_coll_scatter_allgather_internode") +
			   counter("core_coll_ring_internode") +
			   counter("core_coll_pairwise_internode") +
			   counter("core_coll_recursive_doubling_internode") +
			   counter("core_coll_reduce_scatter_internode") +
			   counter("core_coll_chain_internode");
}

/* Packets that are there and were not even at the last peak, by size. */
static uint64_t pool_unused(void)
{
	uint64_t there[WORDS_MAX] = { 0 }, used[WORDS_MAX] = { 0 }, sum = 0;
	struct vm_pvar_view view;
	char text[VM_NAME_MAX];
	int packets = vm_pvar_find("fabric_pool_packets");
	int peak = vm_pvar_find("fabric_pool_peak");

	if (!vm_pvar_info(packets, &view, text) ||
	    view.row->words > WORDS_MAX || vm_pvar_total(there, packets) ||
	    vm_pvar_total(used, peak))
		return 0;
	for (unsigned i = 0; i < view.row->words; i++)
		if (there[i] > used[i])
			sum += (there[i] - used[i]) * vm_pool_payload(i);
	return sum;
}

/* The families of collectives with a slow algorithm by their settings. */
static uint64_t coll_slow(void)
{
	static const struct {
		const char *name;
		int64_t words;
	} families[] = {
#define FAMILY(word, call, slow) { "mpi_coll_" #word "_algorithm", slow },
		VM_ADVICE_FAMILIES(FAMILY)
#undef FAMILY
	};
	uint64_t slow = 0;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		int64_t value = 0;

		vm_cvar_load(&value, vm_cvar_find(families[i].name));
		if (value >= 1 && value <= families[i].words)
			slow |= UINT64_C(1) << i;
	}
	return slow;
}

/* Whether the ranks here are not consecutive in the world. */
static bool ranks_scattered(void)
{
	for (int i = 1; i < node.ranks; i++)
		if (vm_node->own[i]->index != vm_node->own[0]->index + i)
			return true;
	return false;
}

static void settings_take(struct vm_advice_facts *facts)
{
	facts->coll_slow = coll_slow();
	facts->scattered = ranks_scattered();
	facts->eager_limit = (uint64_t)core_cvar.eager_limit;
	facts->eager_times = counter("core_socket_peers") ?
				     (uint64_t)core_cvar.eager_net :
			     counter("core_shared_peers") ?
				     (uint64_t)core_cvar.eager_shared :
				     1;
	facts->credits = (uint64_t)fabric_cvar.credits;
	facts->pool_keep = (uint64_t)fabric_cvar.pool_keep;
	facts->balance = (uint64_t)core_cvar.balance;
	facts->protocol = (uint64_t)core_cvar.rndv_protocol;
}

/* 0 or -VMPI_ENOMEM. */
static int times_take(struct vm_advice_facts *facts, const uint64_t *ticks)
{
	int workers = vm_node->engine_count;
	uint64_t *busy = calloc((size_t)workers, sizeof(*busy));

	if (!busy)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node.ranks; i++) {
		uint64_t ns = vm_clock_span_ns(ticks[i]);

		facts->run_ns += ns;
		busy[vm_node->own[i]->engine->index] += ns;
		if (ns > facts->heaviest.run_ns)
			facts->heaviest = (struct vm_advice_heaviest){
				(uint64_t)vm_node->own[i]->index, ns
			};
	}
	for (int i = 0; i < workers; i++)
		if (busy[i] > facts->busiest_ns)
			facts->busiest_ns = busy[i];
	free(busy);
	return 0;
}

/* The facts of the other processes are added: 0, or an error. */
static int others_add(struct vm_advice_facts *facts)
{
	struct vm_boot *boot = node.boot;
	int rc = vm_boot_put(boot, BLOB, facts, sizeof(*facts));

	if (!rc)
		rc = vm_boot_fence(boot);
	for (int p = 1; p < boot->processes && boot->process == 0 && !rc; p++) {
		struct vm_advice_facts more;
		size_t bytes;

		rc = vm_boot_get(boot, &more, &bytes, sizeof(more), p, BLOB);
		if (!rc && bytes != sizeof(more)) {
			vm_log(VM_ERROR,
			       "--advise: node %d runs another version of vmpi",
			       p);
			rc = -VMPI_EINVAL;
		}
		if (!rc)
			vm_advice_merge(facts, &more);
	}
	return rc;
}

static void all_print(const struct vm_advice_facts *facts)
{
	struct vm_advice advice[VM_ADVICE_MAX];
	int count = vm_advice_give(advice, VM_ADVICE_MAX, facts);

	for (int i = 0; i < count; i++)
		vm_cli_say("advice (%s): %s", advice[i].rule, advice[i].text);
	if (!count)
		vm_cli_say("nothing to advise");
}

void advise_print(const uint64_t *ticks, uint64_t wall_ns)
{
	struct vm_advice_facts facts = {
		.wall_ns = wall_ns,
		.processes = 1,
		.ranks = (uint64_t)node.ranks,
		.workers = (uint64_t)vm_node->engine_count,
		.cores = (uint64_t)vm_topo_cores(),
	};
	int rc;

	vm_clock_ready();
	counters_take(&facts);
	facts.pool_unused = pool_unused();
	settings_take(&facts);
	rc = times_take(&facts, ticks);
	if (!rc)
		rc = advise_calls_take(&facts);
	if (!rc)
		rc = advise_sites_take(&facts);
	if (!rc && node.boot->processes > 1)
		rc = others_add(&facts);
	if (rc == -VMPI_ENOMEM)
		vm_log(VM_ERROR, "--advise: out of memory");
	if (!rc && node.boot->process == 0)
		all_print(&facts);
}
