/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number takes 32 bits.  Above it, while the link model is on, stands when
 * the data arrive.  The key of the job hides both from strangers.
 */
#include "fabric/notice.h"

#include "base/clock.h"
#include "base/err.h"
#include "fabric/packet/link.h"
#include "fabric/state.h"

#define DUE_SHIFT 32
#define DUE_UNIT_NS 1000

bool vm_fabric_notices(struct vm_fabric *fabric, uint32_t process)
{
	const struct fi_info *info = fabric->select.info;
	size_t bytes = vm_link_active() ? sizeof(uint64_t) : sizeof(uint32_t);

	return fabric->limits.rma && process < fabric->mates &&
	       process != fabric->config.process &&
	       !vm_shm_near(fabric->shm, process) &&
	       info->tx_attr->msg_order & FI_ORDER_WAW &&
	       info->domain_attr->cq_data_size >= bytes;
}

/* The key, as far as the provider carries data. */
static uint64_t key_of(const struct vm_fabric *fabric)
{
	const struct fi_info *info = fabric->select.info;
	uint64_t key = fabric->config.job_key;

	return info->domain_attr->cq_data_size < sizeof(key) ? (uint32_t)key :
							       key;
}

uint64_t vm_notice_data(const struct vm_port *port, const struct vm_rma *rma)
{
	uint64_t data = rma->notice;
	uint64_t latency = (uint64_t)fabric_cvar.link_latency_ns;

	/* It has arrived before that is confirmed; 0 would be no time. */
	if (rma->due > latency)
		data |= ((rma->due - latency) / DUE_UNIT_NS | 1) << DUE_SHIFT;
	return data ^ key_of(port->fabric);
}

/* The time nearest to now that has these bits. */
static uint64_t due_ns(uint32_t due)
{
	uint64_t now = vm_clock_ns() / DUE_UNIT_NS;

	return (now + (uint64_t)(int64_t)(int32_t)(due - (uint32_t)now)) *
	       DUE_UNIT_NS;
}

void vm_notice_take(struct vm_port *port, uint64_t data)
{
	struct vm_packet *pkt = vm_packet_get(&port->pkts, 0);
	uint32_t due;

	if (!pkt)
		vm_panic("out of memory for what other processes write");
	data ^= key_of(port->fabric);
	due = (uint32_t)(data >> DUE_SHIFT);
	pkt->use = VM_PKT_NOTICE;
	pkt->orphan = false;
	pkt->notice = (uint32_t)data;
	vm_pvar_add(port->pvars.notices, 1);
	if (due)
		vm_port_hold(port, &pkt->due, due_ns(due));
	else
		vm_list_append(&port->ended, &pkt->link);
}
