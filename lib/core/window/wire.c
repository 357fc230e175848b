/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of windows: numbers of ends, sending, and the death of processes.
 */
#include "core/window/wire.h"

#include "core/rank/chan.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "core/remote/remote.h"
#include "core/window/wait.h"
#include "core/window/window.h"

static void packet_take(struct vm_port *port, struct vm_pkt *pkt)
{
	struct vm_window_packet packet = {
		.data = pkt->data,
		.bytes = pkt->bytes,
		.port = port,
		.from = { pkt->process, pkt->port },
	};

	memcpy(&packet.head, pkt->upper, sizeof(packet.head));
	packet.window = vm_id_table_find(&vm_node->windows, packet.head.to);
	/* What comes for a window that is freed is not wanted any more. */
	if (packet.window)
		packet.window->take(&packet);
}

/* Ends the waits at one window if it has a member in that process. */
static uint64_t window_down(uint64_t id, void *op, void *arg)
{
	struct vm_window *window = op;
	const uint32_t *process = arg;

	(void)id;
	for (int i = 0; i < window->group->size; i++)
		if (window->group->ranks[i]->to.process == *process) {
			vm_window_lose(window);
			break;
		}
	return 0;
}

static void process_down(uint32_t process)
{
	vm_id_table_each(&vm_node->windows, window_down, &process);
}

bool vm_window_publish(struct vm_window *window, struct vm_group *group,
		       void (*take)(const struct vm_window_packet *packet))
{
	window->group = group;
	window->take = take;
	/* Every window sets the same. */
	atomic_store_explicit(&vm_node->window_take, packet_take,
			      memory_order_relaxed);
	atomic_store_explicit(&vm_node->window_down, process_down,
			      memory_order_relaxed);
	return vm_id_table_new(&vm_node->windows, window, &window->number) != 0;
}

int vm_window_send(struct vm_port *port, struct vm_to to,
		   const struct vm_window_head *head, const void *data,
		   size_t bytes)
{
	return vm_remote_window_send(port, to, head, data, bytes);
}

size_t vm_window_packet_bytes(void)
{
	return vm_fabric_limits(vm_node->fabric)->packet_bytes;
}
