/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads of windows.
 */
#include "core/window/haul.h"

#include "core/rank/state.h"

int vm_window_move(struct vm_to to, const struct vm_load *load, bool write)
{
	return vm_fabric_near_move(vm_node->fabric, to.process, load, write);
}

bool vm_window_haul_begin(struct vm_share *share, struct vm_port *port,
			  struct vm_to to, const struct vm_load *load,
			  bool write)
{
	*share = (struct vm_share){
		.port = port,
		.process = to.process,
		.load = *load,
		.write = write,
		.both_ways = true,
	};
	return vm_share_begin(share, to.port);
}

bool vm_window_haul_move(struct vm_share *share)
{
	return vm_share_move(share);
}

int vm_window_haul_end(struct vm_share *share)
{
	return vm_share_end(share);
}

void vm_window_haul_help(const struct vm_window_packet *packet,
			 const struct vm_load *load, uint32_t number,
			 bool write)
{
	struct vm_share share = {
		.port = packet->port,
		.process = packet->from.process,
		.load = *load,
		.write = write,
	};

	/* Who began asks by a packet if it is late. */
	vm_share_help(&share, packet->from.port, number);
}
