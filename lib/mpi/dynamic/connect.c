/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators of ranks that have no communicator in common: by a port
 * (MPI_Comm_accept, MPI_Comm_connect) or by a socket (MPI_Comm_join).
 *
 * The two leaders find each other.  Those of a job exchange their groups by
 * messages in the job's context, whose source is the sender's number in the job;
 * those of two jobs talk by a socket (mpi/comm/far.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/comm/p2p.h"
#include "core/comm/probe.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "core/runtime/process.h"
#include "core/runtime/spares.h"
#include "mpi/call/info.h"
#include "mpi/call/vars.h"
#include "mpi/comm/inter.h"
#include "mpi/dynamic/door.h"
#include "mpi/dynamic/port.h"

/* What a leader that connects sends to the port. */
struct caller {
	int32_t rank;	 /* in the job */
	uint32_t number; /* of this meeting, given by the caller */
};

/* Joins both sides with another leader of the job; the number is the same at
 * both. */
static int meet(struct vm_inter_both *both, const struct vm_group *local,
		int other, uint32_t number)
{
	struct vm_env to = { .context = VM_CONTEXT_JOB + 1,
			     .source = vm_rank_self()->index,
			     .tag = vm_port_meeting_tag(number) };
	struct vm_env from = to;

	from.source = other;
	return vm_inter_exchange(both, local, vm_rank_at(other), to, from);
}

/* The arguments that only the leader's call uses, and what comes of them. */
struct place {
	const char *port;
	MPI_Info info;
	struct vm_talk *talk; /* to be closed when all is over */
};

/* Goes on with another leader, who has greeted by a socket: one of this job is
 * met by messages.  `number`: of the meeting. */
static int greeted(struct place *place, struct vm_inter_both *both,
		   const struct vm_group *local, int fd, bool first,
		   const struct vm_greeting *theirs, uint32_t number)
{
	if (vm_greeting_is_own(theirs)) {
		close(fd);
		return meet(both, local, theirs->rank, number);
	}
	both->far = 1;
	*place->talk = (struct vm_talk){ .first = first, .fd = fd };
	return 0;
}

/* Takes the message of a leader of the job that connects: 0, -VMPI_EAGAIN: there
 * is none, or an error. */
static int caller_take(struct caller *caller, uint32_t number)
{
	struct vm_env env = { .context = VM_CONTEXT_JOB + 1,
			      .source = VM_ANY,
			      .tag = vm_port_tag(number) };
	struct vm_data data = vm_data_bytes(caller, sizeof(*caller));
	struct vm_msg *msg;
	int rc = vm_match_try(env, &msg);

	return rc ? rc : vm_msg_receive(msg, &data, NULL);
}

/* Whoever comes first: a leader of the job, or one of another at the door. */
static int accept_join(struct vm_call *call, struct vm_inter_both *both,
		       const struct vm_group *local, void *arg)
{
	struct vm_greeting mine, theirs;
	struct place *place = arg;
	struct vm_port_place port;
	uint64_t ns = 0;
	struct caller caller;
	int door, fd = -1, rc = vm_check_hints(call, place->info);

	if (rc == 0)
		rc = vm_port_find(call, place->port, &port);
	if (rc != 0)
		return rc;
	door = vm_port_door(call->mpi, place->port);
	if (port.rank != call->mpi->rank || door < 0)
		return vm_error(call, MPI_ERR_PORT,
				"port %s was opened by another rank",
				place->port);
	for (unsigned looks = 0;; looks++) {
		rc = caller_take(&caller, port.number);
		if (rc == -VMPI_EAGAIN)
			fd = vm_door_answer(door, &mine, &theirs);
		if (rc != -VMPI_EAGAIN || fd >= 0)
			break;
		vm_look_wait(looks, &ns);
	}
	if (fd >= 0)
		return greeted(place, both, local, fd, true, &theirs,
			       theirs.number);
	return rc ? rc : meet(both, local, caller.rank, caller.number);
}

/* How long who connects waits, and until when; 0: for ever. */
struct patience {
	double seconds;
	uint64_t until_ns;
};

/* Reads the info key "timeout", in seconds, or what is usual. */
static int timeout_read(struct vm_call *call, MPI_Info info,
			struct patience *patience)
{
	const char *text = vm_info_value(info, "timeout");
	double seconds = (double)mpi_cvar.connect_timeout_s;
	char *end = NULL;

	if (text)
		seconds = strtod(text, &end);
	if (text && (end == text || *end || !(seconds > 0) || seconds > 1e9))
		return vm_error(call, MPI_ERR_INFO_VALUE,
				"timeout \"%s\" is not a positive number of "
				"seconds",
				text);
	patience->seconds = seconds;
	if (seconds > 0)
		patience->until_ns = vm_clock_ns() + (uint64_t)(seconds * 1e9);
	return 0;
}

/* Connects to the port by its door. */
static int knock(struct vm_call *call, struct place *place,
		 struct vm_inter_both *both, const struct vm_group *local,
		 const struct patience *patience)
{
	struct vm_greeting mine, theirs;
	int fd = vm_door_knock(place->port, &mine, &theirs, patience->until_ns);

	if (fd >= 0)
		return greeted(place, both, local, fd, false, &theirs,
			       mine.number);
	if (fd == -VMPI_EAGAIN)
		return vm_error(call, MPI_ERR_PORT,
				"nobody has accepted at port %s within the "
				"timeout of %g s",
				place->port, patience->seconds);
	if (fd == -VMPI_ENOENT)
		return vm_error(call, MPI_ERR_PORT,
				"port %s is not open, or was closed",
				place->port);
	return vm_error(call, MPI_ERR_OTHER, "no socket to port %s: %s",
			place->port, strerror(errno));
}

static int connect_join(struct vm_call *call, struct vm_inter_both *both,
			const struct vm_group *local, void *arg)
{
	struct caller caller = { .rank = call->mpi->rank->index };
	struct vm_data data = vm_data_bytes(&caller, sizeof(caller));
	struct vm_env env = { .context = VM_CONTEXT_JOB + 1,
			      .source = caller.rank };
	struct place *place = arg;
	struct vm_port_place port;
	struct patience patience = { 0 };
	int rc = vm_check_hints(call, place->info);

	if (rc == 0)
		rc = timeout_read(call, place->info, &patience);
	if (rc == 0)
		rc = vm_port_find(call, place->port, &port);
	if (rc != 0)
		return rc;
	/* A message cannot be taken back when the time is over. */
	if (!port.rank || (patience.until_ns && vm_process_near(port.rank)))
		return knock(call, place, both, local, &patience);
	caller.number = vm_port_number();
	env.tag = vm_port_tag(port.number);
	rc = vm_send(port.rank, env, &data, VM_SEND_STANDARD);
	return rc ? rc : meet(both, local, port.rank->index, caller.number);
}

/* Ends the talk of a leader. */
static void talk_end(struct vm_talk *talk)
{
	if (talk->fd >= 0)
		close(talk->fd);
}

/* Makes the communicator of a call of either side. */
static int connect_by(enum vm_call_id id, const char *port, MPI_Info info,
		      int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_inter_peer peer = {
		.join = id == VM_CALL_Comm_accept ? accept_join : connect_join,
		.talk.fd = -1,
	};
	struct place place = { port, info, &peer.talk };
	struct vm_comm *local;
	int rc = vm_check_intra(&call, comm, &local);

	peer.arg = &place;
	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = vm_check_root(&call, local, root);
	if (rc == 0)
		rc = vm_inter_create(&call, local, root, &peer, newcomm);
	talk_end(&peer.talk);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root,
		     MPI_Comm comm, MPI_Comm *newcomm)
{
	return connect_by(VM_CALL_Comm_accept, port_name, info, root, comm,
			  newcomm);
}

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root,
		      MPI_Comm comm, MPI_Comm *newcomm)
{
	return connect_by(VM_CALL_Comm_connect, port_name, info, root, comm,
			  newcomm);
}

/* The socket, and what has come of it. */
struct join {
	int fd;
	struct vm_talk *talk;
	bool stranger; /* the other end is not one of us */
};

static int socket_join(struct vm_call *call, struct vm_inter_both *both,
		       const struct vm_group *local, void *arg)
{
	struct vm_greeting mine, theirs;
	struct join *join = arg;
	int order;

	vm_greeting_fill(&mine);
	if (!vm_fd_pass(join->fd, &mine, sizeof(mine), true, 0) ||
	    !vm_fd_pass(join->fd, &theirs, sizeof(theirs), false, 0))
		return vm_error(call, MPI_ERR_OTHER,
				"descriptor %d is not a socket, or the other "
				"end has closed it",
				join->fd);
	join->stranger = !vm_greeting_fits(&theirs);
	if (join->stranger)
		return MPI_ERR_OTHER;
	order = strcmp(theirs.job, mine.job);
	if (order != 0) {
		both->far = 1;
		*join->talk =
			(struct vm_talk){ .first = order < 0, .fd = join->fd };
		return 0;
	}
	if (!vm_greeting_is_own(&theirs))
		return MPI_ERR_OTHER;
	if (theirs.rank == mine.rank)
		return vm_error(call, MPI_ERR_OTHER,
				"both ends of the socket are this rank");
	return meet(both, local, theirs.rank,
		    theirs.rank < mine.rank ? theirs.number : mine.number);
}

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_join);
	struct vm_inter_peer peer = { .join = socket_join, .talk.fd = -1 };
	struct join join = { .fd = fd, .talk = &peer.talk };
	int rc = vm_check_pointer(&call, intercomm, "intercomm");

	peer.arg = &join;
	vm_comm_none(intercomm);
	if (rc == 0)
		rc = vm_inter_create(&call, &call.mpi->self, 0, &peer,
				     intercomm);
	/* Who cannot be reached is no error (MPI 4.1, 11.10.5). */
	if (join.stranger) {
		free(call.what);
		return MPI_SUCCESS;
	}
	return vm_call_exit_self(&call, rc);
}
