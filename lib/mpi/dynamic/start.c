/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parent has a door (mpi/dynamic/door.h) for the time of a start.
 */
#include "mpi/dynamic/start.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/rank/state.h"
#include "core/runtime/node.h"
#include "mpi/call/errh.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/inter.h"
#include "mpi/dynamic/door.h"
#include "mpi/dynamic/port.h"

static bool has_ended(int alive)
{
	struct pollfd end = { .fd = alive, .events = POLLIN };

	return poll(&end, 1, 0) > 0;
}

/* The socket of the first child; -1: none will come.  May switch. */
static int child_await(int door, int alive)
{
	struct vm_greeting mine, theirs;
	uint64_t ns = 0;

	for (unsigned looks = 0;; looks++) {
		/* Who has ended may have knocked before. */
		bool ended = has_ended(alive);
		int fd = vm_door_answer(door, &mine, &theirs);

		if (fd >= 0 || ended)
			return fd;
		vm_look_wait(looks, &ns);
	}
}

int vm_start_job(struct vm_call *call, const struct vm_spawn_command *commands,
		 int count, struct vm_talk *talk)
{
	char port[64], job[VM_PROCESS_JOB_BYTES];
	int door, alive, fd, rc;

	vm_process_job(job);
	snprintf(port, sizeof(port), "spawn:%s:%d:%u", job,
		 call->mpi->rank->there, vm_port_number());
	if (vm_door_open(&door, port))
		return vm_error(call, MPI_ERR_SPAWN,
				"there is no socket for the processes: %s",
				strerror(errno));
	rc = vm_start_command(call, commands, count, port, &alive);
	if (rc == 0) {
		fd = child_await(door, alive);
		close(alive);
		*talk = (struct vm_talk){ .first = true, .fd = fd };
		if (fd < 0)
			rc = vm_error(call, MPI_ERR_SPAWN,
				      "%s: its processes have ended without "
				      "MPI_Init",
				      commands[0].name);
	}
	close(door);
	return rc;
}

/* The first child's part. */
static int parent_join(struct vm_call *call, struct vm_inter_both *both,
		       const struct vm_group *local, void *arg)
{
	struct vm_greeting mine, theirs;
	struct vm_talk *talk = arg;
	int fd = vm_door_knock(vm_node_hooks.parent, &mine, &theirs, 0);

	(void)local;
	if (fd < 0)
		return vm_error(call, MPI_ERR_OTHER,
				"the rank that has started this job is not "
				"there any more");
	both->far = 1;
	*talk = (struct vm_talk){ .first = false, .fd = fd };
	return 0;
}

int vm_start_attach(struct vm_call *call)
{
	struct vm_inter_peer peer = { .join = parent_join, .talk.fd = -1 };
	/* Ranks may begin by different calls. */
	struct vm_call attach = { .id = VM_CALL_Comm_get_parent,
				  .mpi = call->mpi };
	struct vm_mpi *mpi = call->mpi;
	MPI_Comm parent;
	int rc;

	/* Ranks that this process has started have other parents. */
	if (mpi->rank->index >= vm_node->rank_count)
		return 0;
	mpi->appnum = vm_node_hooks.appnum;
	if (!vm_node_hooks.parent)
		return 0;
	peer.arg = &peer.talk;
	rc = vm_inter_create(&attach, &mpi->world, 0, &peer, &parent);
	if (peer.talk.fd >= 0)
		close(peer.talk.fd);
	call->what = attach.what; /* why not */
	if (rc != 0)
		return rc;
	mpi->parent = vm_comm_get(parent);
	mpi->parent->name = strdup("MPI_COMM_PARENT");
	return 0;
}
