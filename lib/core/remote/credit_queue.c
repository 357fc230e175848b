/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entering a line and leaving it.
 *
 * The first in line is tried under the line's lock, also when it enters: so the
 * fabric's word that there is room is never missed.  Requests are completed
 * without it.
 */
#include "core/remote/credit_queue.h"

#include <stdlib.h>

#include "base/clock.h"
#include "core/remote/remote.h"
#include "core/local/engine.h"
#include "core/local/req.h"
#include "fabric/end/sleep.h"

int vm_credit_queues_init(struct vm_node *node)
{
	size_t count = vm_fabric_limits(node->fabric)->ports *
		       (size_t)node->process_room;

	node->credit_queues = calloc(
		1, sizeof(*node->credit_queues) +
			   count * sizeof(node->credit_queues->table[0]));
	if (!node->credit_queues)
		return -VMPI_ENOMEM;
	node->credit_queues->count = count;
	vm_lock_init(&node->credit_queues->lock);
	return 0;
}

void vm_credit_queues_fini(struct vm_node *node)
{
	for (size_t i = 0;
	     node->credit_queues && i < node->credit_queues->count; i++)
		free(atomic_load_explicit(&node->credit_queues->table[i],
					  memory_order_relaxed));
	free(node->credit_queues);
	node->credit_queues = NULL;
}

/* Makes the queues to a process, by the first that needs one; false: no
 * memory. */
static bool line_make(const struct vm_port *port, struct vm_to to)
{
	unsigned ports = vm_fabric_peer_ports(vm_node->fabric, to.process);
	size_t at = vm_port_index(port) * (size_t)vm_node->process_room +
		    to.process;
	struct vm_credit_queue *lines = calloc(ports, sizeof(*lines));
	struct vm_credit_queue *others;

	for (unsigned i = 0; lines && i < ports; i++) {
		vm_lock_init(&lines[i].lock);
		vm_list_init(&lines[i].list);
	}
	vm_lock_take(&vm_node->credit_queues->lock);
	others = atomic_load_explicit(&vm_node->credit_queues->table[at],
				      memory_order_relaxed);
	if (!others)
		/* Pairs with the load in vm_credit_queue_of(). */
		atomic_store_explicit(&vm_node->credit_queues->table[at], lines,
				      memory_order_release);
	vm_lock_give(&vm_node->credit_queues->lock);
	if (others)
		free(lines);
	return others || lines;
}

#define LOOKS_SHARED 16 /* where others may need this core */

/* How often to poll for credits at once: somebody may have done so in vain, and
 * then each message only sees whether they have come. */
static int looks_most(const struct vm_credit_queue *line)
{
	const struct vm_worker *worker = vm_self->worker;

	if (line && atomic_load_explicit(&line->vain, memory_order_relaxed))
		return 1;
	if (vm_sched_contended() || worker->head || worker->next)
		return LOOKS_SHARED;
	return VM_CREDIT_LOOKS;
}

bool vm_credits_await(struct vm_port *port, struct vm_to to, int *looks)
{
	struct vm_credit_queue *line = vm_credit_queue_of(port, to);
	bool own = vm_self->worker->index >= 0;
	int most = looks_most(line);
	uint32_t left = UINT32_MAX;

	if (*looks > most)
		*looks = most;
	while ((*looks)-- > 0) {
		uint32_t count = 0;

		if (vm_port_poll(port, own) <= 0)
			continue;
		if (line)
			count = atomic_load_explicit(&line->count,
						     memory_order_relaxed);
		if (!count)
			return true;
		if (count < left)
			*looks = most;
		left = count;
	}
	if (line)
		atomic_store_explicit(&line->vain, true, memory_order_relaxed);
	return false;
}

/* Under lock. */
static void count_add(struct vm_credit_queue *line, uint32_t n)
{
	uint32_t count =
		atomic_load_explicit(&line->count, memory_order_relaxed);

	atomic_store_explicit(&line->count, count + n, memory_order_relaxed);
}

/* Under lock: whether the push of a request stands in the line, for who cancels
 * it. */
static void wait_note(struct vm_rndv_send *push, bool stands)
{
	if (push->req)
		push->req->waits = stands ? push : NULL;
}

int vm_credit_queue_enter(struct vm_rndv_send *push)
{
	struct vm_credit_queue *line = vm_credit_queue_of(push->port, push->to);
	int rc = -VMPI_EAGAIN;

	if (!line) {
		if (!line_make(push->port, push->to)) {
			vm_rndv_send_free(push);
			return -VMPI_ENOMEM;
		}
		line = vm_credit_queue_of(push->port, push->to);
	}
	vm_lock_take(&line->lock);
	if (vm_list_empty(&line->list))
		rc = vm_remote_try(push);
	if (rc == -VMPI_EAGAIN) {
		vm_list_append(&line->list, &push->line);
		wait_note(push, true);
		count_add(line, 1);
		rc = VM_QUEUED;
	}
	vm_lock_give(&line->lock);
	if (rc <= 0)
		vm_rndv_send_free(push);
	else
		/* Credits are worth a poll at the next switch. */
		vm_thread_cache_self()->poll_rounds = 1;
	return rc;
}

/* Finishes messages that have left a queue, with the error of each. */
static void ended_finish(struct vm_list *ended)
{
	struct vm_list *link;

	while ((link = vm_list_pop(ended))) {
		struct vm_rndv_send *push =
			vm_container_of(link, struct vm_rndv_send, line);

		vm_rndv_send_end(push, push->error);
	}
}

/* Under lock: tries them one by one; finished ones go to `ended`. */
static void line_move(struct vm_credit_queue *line, struct vm_list *ended)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&line->list))) {
		struct vm_rndv_send *push =
			vm_container_of(link, struct vm_rndv_send, line);
		int rc;

		/* Others may end it with its request before this returns. */
		wait_note(push, false);
		rc = vm_remote_try(push);
		if (rc == -VMPI_EAGAIN) {
			/* Back to the front. */
			vm_list_append(line->list.next, link);
			wait_note(push, true);
			return;
		}
		count_add(line, (uint32_t)-1);
		atomic_store_explicit(&line->vain, false, memory_order_relaxed);
		if (rc == VM_PENDING)
			continue;
		push->error = rc;
		vm_list_append(ended, link);
	}
}

void vm_credit_queue_room(struct vm_port *port, struct vm_to to)
{
	struct vm_credit_queue *line = vm_credit_queue_of(port, to);
	struct vm_list ended;

	if (!line)
		return;
	vm_list_init(&ended);
	vm_lock_take(&line->lock);
	line_move(line, &ended);
	vm_lock_give(&line->lock);
	ended_finish(&ended);
}

bool vm_credit_queue_cancel(const struct vm_port *port, struct vm_to to,
			    const struct vmpi_req *req)
{
	struct vm_credit_queue *line = vm_credit_queue_of(port, to);
	struct vm_rndv_send *found;

	if (!line)
		return false;
	vm_lock_take(&line->lock);
	found = req->waits;
	if (found) {
		vm_list_remove(&found->line);
		wait_note(found, false);
		count_add(line, (uint32_t)-1);
	}
	vm_lock_give(&line->lock);
	if (found)
		vm_rndv_send_end(found, -VMPI_ECANCELED);
	return found != NULL;
}

void vm_credit_queue_down(const struct vm_port *port, uint32_t process,
			  int error)
{
	unsigned ports = vm_fabric_peer_ports(vm_node->fabric, process);
	struct vm_list ended, *link;

	vm_list_init(&ended);
	for (unsigned i = 0; i < ports; i++) {
		struct vm_credit_queue *line =
			vm_credit_queue_of(port, (struct vm_to){ process, i });

		if (!line)
			break;
		vm_lock_take(&line->lock);
		while ((link = vm_list_pop(&line->list))) {
			struct vm_rndv_send *push = vm_container_of(
				link, struct vm_rndv_send, line);

			wait_note(push, false);
			push->error = error;
			vm_list_append(&ended, link);
			count_add(line, (uint32_t)-1);
		}
		vm_lock_give(&line->lock);
	}
	ended_finish(&ended);
}

static bool lines_empty(void)
{
	const struct vm_credit_queues *lines = vm_node->credit_queues;

	for (size_t i = 0; i < lines->count; i++) {
		size_t process = i % (size_t)vm_node->process_room;
		unsigned ports = vm_fabric_peer_ports(vm_node->fabric,
						      (uint32_t)process);
		/* Pairs with the store in line_make(). */
		struct vm_credit_queue *line = atomic_load_explicit(
			&lines->table[i], memory_order_acquire);

		for (unsigned p = 0; line && p < ports; p++)
			if (atomic_load_explicit(&line[p].count,
						 memory_order_relaxed))
				return false;
	}
	return true;
}

#define DRAIN_NS 10000000 /* asleep at a time */

void vm_credit_queues_drain(struct vm_fabric *fabric)
{
	unsigned ports = vm_fabric_limits(fabric)->ports;
	struct vm_sleep sleep;

	while (!lines_empty()) {
		int moved = 0;

		for (unsigned i = 0; i < ports; i++)
			moved |= vm_port_poll(vm_fabric_port(fabric, i), true);
		if (moved || vm_fabric_sleep_begin(fabric, &sleep))
			continue;
		vm_fabric_sleep_wait(fabric, &sleep, vm_clock_ns() + DRAIN_NS);
		vm_fabric_sleep_end(fabric);
	}
}
