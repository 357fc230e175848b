/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floods do not fill the memory: buffered messages take no more than
 * core_copy_bytes_max, and a long unexpected queue makes its senders wait.
 */
#include <stdlib.h>
#include <string.h>

#include "core/rank/state.h"
#include "job.h"

#define MESSAGES 400
#define BYTES 8000

static size_t buffers_made(void)
{
	size_t bytes = 0;

	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		bytes += vm_node->pools.buffer[i].objects *
			 vm_node->pools.buffer[i].object_bytes;
	return bytes;
}

/* All ranks send much to rank 0 without waiting, then it receives
 * everything. */
static void flood(int rank, int size)
{
	static _Atomic int begun;
	vmpi_chan *world = vmpi_world();
	vmpi_req **reqs = calloc(MESSAGES, sizeof(*reqs));
	char *data = malloc(BYTES * MESSAGES);
	vmpi_status status;

	if (rank == 0)
		begun = 0;
	EXPECT(vmpi_barrier(world) == 0);
	for (int i = 0; i < MESSAGES && rank > 0; i++) {
		job_fill(data + i * BYTES, BYTES, (uint64_t)(rank * 7 + i));
		EXPECT(vmpi_isend(world, &reqs[i], data + i * BYTES, BYTES, 0,
				  i) == 0);
	}
	atomic_fetch_add(&begun, 1);
	while (rank == 0 && atomic_load(&begun) < size)
		vmpi_yield();
	if (rank == 0) {
		size_t made = buffers_made();
		char bound[32];

		EXPECT(vmpi_get("core_copy_bytes_max", bound, sizeof(bound)) ==
		       0);
		EXPECT(made <= strtoull(bound, NULL, 10));
	}
	for (int i = 0; i < MESSAGES * (size - 1) && rank == 0; i++) {
		EXPECT(vmpi_recv(world, data, BYTES, VMPI_ANY, VMPI_ANY,
				 &status) == 0);
		EXPECT(status.bytes == BYTES &&
		       job_filled(data, BYTES,
				  (uint64_t)(status.source * 7 + status.tag)));
	}
	EXPECT(vmpi_wait_all(reqs, NULL, MESSAGES) == 0);
	free(reqs);
	free(data);
}

/* Sends until told to stop; the receiver checks how long the queue gets. */
#define LIMIT 1000

static void throttle(int rank, int size)
{
	static _Atomic int done;
	vmpi_chan *world = vmpi_world();
	int value;

	if (rank == 0) {
		/* No receive for a while. */
		for (int i = 0; i < 20; i++) {
			uint32_t count;

			vmpi_sleep(1000000);
			count = vm_match_arrived(&vm_node->ranks[0].match);
			/* Each sender may finish its budget first, rings may
			 * be full. */
			EXPECT(count <= LIMIT + (uint32_t)size * 64 + 64 * 128);
		}
		for (int i = 0; i < 20000 * (size - 1); i++)
			EXPECT(vmpi_recv(world, &value, sizeof(value), VMPI_ANY,
					 VMPI_ANY, NULL) == 0);
		EXPECT(atomic_load(&done) >= 0);
		return;
	}
	for (int i = 0; i < 20000; i++)
		EXPECT(vmpi_send(world, &i, sizeof(i), 0, 0) == 0);
	atomic_fetch_add(&done, 1);
}

static void test_bound(const char *bound)
{
	is_int(vmpi_set("core_copy_bytes_max", bound), 0,
	       "buffered messages may take %s", bound);
	job(2, 1, flood, "a flood on one worker");
	job(4, 2, flood, "a flood of three");
}

int main(void)
{
	char limit[16];

	plan(16);
	test_bound("0");
	test_bound("1M");
	test_bound("2M");
	test_bound("256M");
	is_string(vmpi_strerror(vmpi_set("core_unexpected_limit", "1000")),
		  "success", "unexpected queues may have 1000 messages");
	vmpi_get("core_unexpected_limit", limit, sizeof(limit));
	is_string(limit, "1000", "which can be read back");
	job(4, 1, throttle, "senders wait for a slow receiver");
	job(4, 2, throttle, "on another worker as well");
	return done_testing();
}
