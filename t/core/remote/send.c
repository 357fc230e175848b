/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling a message while another thread takes it out of the credit queue.
 * The rank sends to itself by the fabric's loop; the other thread does to the
 * request and to the lock of the queue what one does that finds room, late.
 */
#include "core/remote/remote.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/local/req.h"
#include "core/rank/state.h"
#include "core/remote/credit_queue.h"
#include "job.h"

#define LATE_US 20000 /* until the other is at the lock, most times */

struct mover {
	struct vm_credit_queue *line;
	struct vm_req *req;
	uint64_t id; /* that it gets */
};

/* Its message has been announced, under the lock. */
static void *move(void *arg)
{
	struct mover *mover = arg;

	usleep(LATE_US);
	mover->req->rndv_send = mover->id;
	vm_lock_give(&mover->line->lock);
	return NULL;
}

/* The rank's queue to itself, made by a message that goes through it. */
static struct vm_credit_queue *line_get(const struct vm_rank *rank)
{
	struct vm_wire_envelope envelope = { .tag = 2, .bytes = 1 };
	struct vm_rndv_send *push;
	struct vm_data data;
	char byte = 0;

	data = vm_data_bytes(&byte, sizeof(byte));
	push = vm_rndv_send_new_copy(&data, &envelope, rank->to);
	if (!push)
		bail("no memory");
	push->how = VM_RNDV_SEND_SHORT;
	EXPECT(vm_credit_queue_enter(push) == VM_DONE);
	EXPECT(vmpi_recv(vmpi_world(), &byte, 1, 0, 2, NULL) == 0);
	return vm_credit_queue_of(rank->port, rank->to);
}

static void announced_meanwhile(int rank, int size)
{
	struct vm_rank *self = vm_node->own[0];
	struct mover mover = { .line = line_get(self) };
	pthread_t thread;
	vmpi_req *req;

	(void)size;
	EXPECT(vmpi_issend(vmpi_world(), &req, &rank, sizeof(rank), 0, 1) == 0);
	mover.req = req;
	mover.id = req->rndv_send;
	EXPECT(mover.id != 0);
	vm_lock_take(&mover.line->lock);
	req->rndv_send = 0;
	if (pthread_create(&thread, NULL, move, &mover))
		bail("no thread");
	EXPECT(vmpi_cancel(req) == 0);
	pthread_join(thread, NULL);
	EXPECT(vmpi_wait(&req, NULL) == -VMPI_ECANCELED);
}

int main(void)
{
	plan(1);
	setenv("VMPI_CORE_LOOPBACK", "1", 1);
	job(1, 1, announced_meanwhile,
	    "a message that is announced meanwhile is withdrawn");
	return done_testing();
}
