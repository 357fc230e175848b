/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters are the node's, and several ports may hand over offers at a
 * time: so they are added to atomically, which a rendezvous does not notice.
 */
#include "core/remote/peer_stats.h"

#include "core/rank/state.h"

static void count(uint64_t *word, uint64_t amount)
{
	__atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

void vm_peer_stats_offered(uint32_t process, bool posted)
{
	struct core_node_pvars *pvars = &vm_node->pvars;
	unsigned place = vm_peer_stats_place(process);

	count(posted ? &pvars->rndv_sender_late[place] :
		       &pvars->rndv_receiver_late[place],
	      1);
}

static bool is_in(const int64_t *set, unsigned place)
{
	return __atomic_load_n(set, __ATOMIC_RELAXED) >> place & 1;
}

enum vm_rndv vm_peer_stats_protocol(const struct core_cvars *cvars,
				    uint32_t process)
{
	int64_t all = __atomic_load_n(&cvars->rndv_protocol, __ATOMIC_RELAXED);
	unsigned place = vm_peer_stats_place(process);

	if (all != VM_RNDV_AUTO)
		return (enum vm_rndv)all;
	if (is_in(&core_cvar.rndv_write_from, place))
		return VM_RNDV_WRITE;
	if (is_in(&core_cvar.rndv_pipeline_from, place))
		return VM_RNDV_PIPELINE;
	return VM_RNDV_AUTO;
}

void vm_peer_stats_inflight(int64_t more)
{
	struct core_node_pvars *pvars = &vm_node->pvars;
	uint64_t now;

	if (!VM_PVARS_COUNTED)
		return;
	now = __atomic_add_fetch(&pvars->rndv_inflight, (uint64_t)more,
				 __ATOMIC_RELAXED);
	if (more > 0)
		vm_pvar_raise(&pvars->rndv_inflight_max, false, now);
}

void vm_peer_stats_asked(enum vm_rndv protocol, uint64_t bytes)
{
	struct core_node_pvars *pvars = &vm_node->pvars;

	count(protocol == VM_RNDV_READ	? &pvars->rndv_reads :
	      protocol == VM_RNDV_WRITE ? &pvars->rndv_writes :
					  &pvars->rndv_pipelines,
	      1);
	count(&pvars->rndv_bytes, bytes);
}
