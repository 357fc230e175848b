/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting which side of a long message is late, and the choice of protocols by
 * the settings for the sender's process.  Two ranks of one process communicate
 * by the fabric's loop, so the pair is process 0 with itself; t/run/89-rndv.t
 * shows that messages go so between processes.
 */
#include "core/remote/peer_stats.h"

#include <stdlib.h>

#include "core/rank/state.h"
#include "job.h"

#define BYTES 10000 /* more than the eager limit */
#define MESSAGES 5

enum { BULK, TOKEN };

static const struct core_node_pvars *pvars(void)
{
	return &vm_node->pvars;
}

static void token_send(int to)
{
	EXPECT(vmpi_send(vmpi_world(), NULL, 0, to, TOKEN) == 0);
}

static void token_receive(int from)
{
	EXPECT(vmpi_recv(vmpi_world(), NULL, 0, from, TOKEN, NULL) == 0);
}

/* Rank 0 sends when rank 1 has said that its receive is posted. */
static void sender_late(int rank, void *buffer, int seed)
{
	vmpi_req *req;

	if (rank == 0) {
		job_fill(buffer, BYTES, (uint64_t)seed);
		token_receive(1);
		EXPECT(vmpi_send(vmpi_world(), buffer, BYTES, 1, BULK) == 0);
		return;
	}
	EXPECT(vmpi_irecv(vmpi_world(), &req, buffer, BYTES, 0, BULK) == 0);
	token_send(0);
	EXPECT(vmpi_wait(&req, NULL) == 0);
	EXPECT(job_filled(buffer, BYTES, (uint64_t)seed));
}

/* Rank 1 posts its receive when what was sent after the message has come. */
static void receiver_late(int rank, void *buffer, int seed)
{
	vmpi_req *req;

	if (rank == 0) {
		job_fill(buffer, BYTES, (uint64_t)seed);
		EXPECT(vmpi_isend(vmpi_world(), &req, buffer, BYTES, 1, BULK) ==
		       0);
		token_send(1);
		EXPECT(vmpi_wait(&req, NULL) == 0);
		return;
	}
	token_receive(0);
	EXPECT(vmpi_recv(vmpi_world(), buffer, BYTES, 0, BULK, NULL) == 0);
	EXPECT(job_filled(buffer, BYTES, (uint64_t)seed));
}

static void many(int rank, void (*one)(int rank, void *buffer, int seed))
{
	void *buffer = malloc(BYTES);

	for (int i = 0; i < MESSAGES; i++)
		one(rank, buffer, i);
	free(buffer);
}

static void lateness(int rank, int size)
{
	(void)size;
	many(rank, sender_late);
	if (rank == 1) {
		EXPECT(pvars()->rndv_sender_late[0] == MESSAGES);
		EXPECT(pvars()->rndv_receiver_late[0] == 0);
		token_send(0);
	} else {
		token_receive(1);
	}
	many(rank, receiver_late);
	if (rank == 1) {
		EXPECT(pvars()->rndv_sender_late[0] == MESSAGES);
		EXPECT(pvars()->rndv_receiver_late[0] == MESSAGES);
		/* There is no remote memory without another process. */
		EXPECT(pvars()->rndv_pipelines == 2 * MESSAGES);
		EXPECT(pvars()->rndv_inflight == 0);
		EXPECT(pvars()->rndv_inflight_max >= 1);
		EXPECT(pvars()->rndv_inflight_max <= 2);
	}
}

static void places(int rank, int size)
{
	(void)size;
	if (rank)
		return;
	vmpi_set("core_rndv_protocol", "auto");
	vmpi_set("core_rndv_write_from", "4611686018427387904"); /* 2^62 */
	vmpi_set("core_rndv_pipeline_from", "2");
	EXPECT(vm_peer_stats_protocol(&core_cvar, 0) == VM_RNDV_AUTO);
	EXPECT(vm_peer_stats_protocol(&core_cvar, 1) == VM_RNDV_PIPELINE);
	EXPECT(vm_peer_stats_protocol(&core_cvar, 64) == VM_RNDV_PIPELINE);
	EXPECT(vm_peer_stats_protocol(&core_cvar, 62) == VM_RNDV_WRITE);
	EXPECT(vm_peer_stats_protocol(&core_cvar, 125) == VM_RNDV_WRITE);
	EXPECT(vm_peer_stats_protocol(&core_cvar, 63) == VM_RNDV_AUTO);
	vmpi_set("core_rndv_write_from", "0");
	vmpi_set("core_rndv_pipeline_from", "0");
}

int main(void)
{
	setenv("VMPI_CORE_LOOPBACK", "1", 1);
	setenv("VMPI_CORE_EAGER_LIMIT", "500", 1);
	plan(2);
	job(2, 1, lateness, "who comes late is counted");
	job(2, 1, places, "processes share 63 places");
	return done_testing();
}
