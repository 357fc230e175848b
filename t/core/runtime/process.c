/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is a rank: its threads join as they come, and leave.
 */
#include "core/runtime/process.h"

#include <pthread.h>

#include "core/rank/state.h"
#include "tap.h"

static vmpi_chan *chan;

/* Each thread sends to itself: all threads share the rank's mailbox. */
static void *thread(void *arg)
{
	int tag = *(int *)arg, got = -1;
	vmpi_req *req;

	if (vm_process_join() || vmpi_rank() != 0)
		return NULL;
	if (vmpi_irecv(chan, &req, &got, sizeof(got), 0, tag) ||
	    vmpi_send(chan, &tag, sizeof(tag), 0, tag) || vmpi_wait(&req, NULL))
		return NULL;
	return got == tag ? arg : NULL;
}

int main(void)
{
	pthread_t threads[4];
	int tags[4], good = 0;
	void *result;

	ok(!vm_process_rank(), "at first the process is no rank");
	is_int(vmpi_rank(), -VMPI_ENORANK, "and the caller acts for none");
	is_int(vm_process_join(), 0, "the first call makes it one");
	is_int(vmpi_rank(), 0, "which is rank 0");
	is_int(vmpi_size(), 1, "of one");
	ok(vm_process_rank() == vm_rank_self(), "the caller acts for it");
	is_int(vm_process_join(), 0, "once more changes nothing");
	is_int(vmpi_start(NULL), -VMPI_ESTATE, "the runtime is running");
	chan = vmpi_world();
	for (int round = 0; round < 8; round++) {
		for (int i = 0; i < 4; i++) {
			tags[i] = i;
			if (pthread_create(&threads[i], NULL, thread, &tags[i]))
				bail("no thread");
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], &result);
			good += result == &tags[i];
		}
	}
	is_int(good, 32, "threads come and go, and send and receive");
	return done_testing();
}
