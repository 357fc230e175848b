/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators of ranks that have no communicator in common: by a port
 * (MPI_Comm_accept, MPI_Comm_connect) or by a socket (MPI_Comm_join).
 *
 * The two leaders find each other, and exchange their groups by messages in the
 * job's context, whose source is the sender's number in the job.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/comm/p2p.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/rank/wait.h"
#include "core/runtime/process.h"
#include "core/runtime/spares.h"
#include "mpi/call/info.h"
#include "mpi/comm/inter.h"
#include "mpi/dynamic/port.h"

/* What a leader that connects sends to the port. */
struct caller {
	int32_t rank;	 /* in the job */
	uint32_t number; /* of this meeting, given by the caller */
};

/* Joins both sides with another leader; the number is the same at both. */
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

/* The arguments that only the leader's call uses. */
struct place {
	const char *port;
	MPI_Info info;
};

/* Checks them and finds the port. */
static int place_find(struct vm_call *call, const struct place *place,
		      struct vm_rank **rank, uint32_t *number)
{
	int rc = vm_check_hints(call, place->info);

	return rc ? rc : vm_port_find(call, place->port, rank, number);
}

static int accept_join(struct vm_call *call, struct vm_inter_both *both,
		       const struct vm_group *local, void *place)
{
	struct vm_env env = { .context = VM_CONTEXT_JOB + 1, .source = VM_ANY };
	struct caller caller;
	struct vm_data data = vm_data_bytes(&caller, sizeof(caller));
	struct vm_rank *rank;
	uint32_t number;
	int rc = place_find(call, place, &rank, &number);

	if (rc == 0 && rank != call->mpi->rank)
		rc = vm_error(call, MPI_ERR_PORT,
			      "port %s was opened by another rank",
			      ((struct place *)place)->port);
	if (rc != 0)
		return rc;
	env.tag = vm_port_tag(number);
	rc = vm_recv(env, &data, NULL);
	return rc ? rc : meet(both, local, caller.rank, caller.number);
}

static int connect_join(struct vm_call *call, struct vm_inter_both *both,
			const struct vm_group *local, void *place)
{
	struct caller caller = { .rank = call->mpi->rank->index };
	struct vm_data data = vm_data_bytes(&caller, sizeof(caller));
	struct vm_env env = { .context = VM_CONTEXT_JOB + 1,
			      .source = caller.rank };
	struct vm_rank *rank;
	uint32_t number;
	int rc = place_find(call, place, &rank, &number);

	if (rc != 0)
		return rc;
	caller.number = vm_port_number();
	env.tag = vm_port_tag(number);
	rc = vm_send(rank, env, &data, VM_SEND_STANDARD);
	return rc ? rc : meet(both, local, rank->index, caller.number);
}

/* Makes the communicator of a call of either side. */
static int connect_by(enum vm_call_id id, const char *port, MPI_Info info,
		      int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(id);
	struct place place = { port, info };
	struct vm_inter_peer peer = {
		.join = id == VM_CALL_Comm_accept ? accept_join : connect_join,
		.arg = &place,
	};
	struct vm_comm *local;
	int rc = vm_check_intra(&call, comm, &local);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = vm_check_root(&call, local, root);
	if (rc == 0)
		rc = vm_inter_create(&call, local, root, &peer, newcomm);
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

/* What the two ends of a socket tell each other. */
struct card {
	char magic[4];
	uint32_t number;
	int32_t rank;
	char job[VM_PROCESS_JOB_BYTES];
};

#define CARD_MAGIC "vmpi"
#define WAIT_NS_MIN 10000u
#define WAIT_NS_MAX 2000000u
#define YIELDS 16

/* Lets others run until the socket is ready.  May switch. */
static bool socket_wait(int fd, short events)
{
	struct pollfd ready = { .fd = fd, .events = events };
	uint64_t ns = WAIT_NS_MIN;

	for (unsigned tries = 0;; tries++) {
		int n = poll(&ready, 1, 0);
		struct vm_rank *rank;

		if (n > 0)
			return !(ready.revents & POLLNVAL);
		if (n < 0 && errno != EINTR)
			return false;
		rank = vm_wait_begin(VM_EXPORT_OTHER);
		if (tries < YIELDS)
			vm_ult_yield();
		else
			vm_ult_sleep(ns);
		vm_wait_end(rank);
		if (tries >= YIELDS && ns < WAIT_NS_MAX)
			ns *= 2;
	}
}

/* Writes or reads all of a card.  May switch. */
static bool card_pass(int fd, struct card *card, bool out)
{
	char *at = (char *)card;
	size_t left = sizeof(*card);

	while (left) {
		ssize_t n;

		if (!socket_wait(fd, out ? POLLOUT : POLLIN))
			return false;
		n = out ? send(fd, at, left, MSG_DONTWAIT | MSG_NOSIGNAL) :
			  recv(fd, at, left, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return false;
		at += n;
		left -= (size_t)n;
	}
	return true;
}

/* The socket, and what has come of it. */
struct join {
	int fd;
	bool foreign; /* the other end belongs to another job */
};

static int socket_join(struct vm_call *call, struct vm_inter_both *both,
		       const struct vm_group *local, void *arg)
{
	struct join *join = arg;
	struct card mine = { .number = vm_port_number(),
			     .rank = call->mpi->rank->index };
	struct card theirs;

	memcpy(mine.magic, CARD_MAGIC, sizeof(mine.magic));
	vm_process_job(mine.job);
	/* poll() waits for ever for a negative one. */
	if (join->fd < 0 || !card_pass(join->fd, &mine, true) ||
	    !card_pass(join->fd, &theirs, false))
		return vm_error(call, MPI_ERR_OTHER,
				"descriptor %d is not a socket, or the other "
				"end has closed it",
				join->fd);
	join->foreign = memcmp(theirs.magic, CARD_MAGIC, sizeof(mine.magic)) ||
			memcmp(theirs.job, mine.job, sizeof(mine.job)) ||
			theirs.rank < 0 || theirs.rank >= vm_node->rank_room;
	if (join->foreign)
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
	struct join join = { .fd = fd };
	struct vm_inter_peer peer = { .join = socket_join, .arg = &join };
	int rc = vm_check_pointer(&call, intercomm, "intercomm");

	vm_comm_none(intercomm);
	if (rc == 0)
		rc = vm_inter_create(&call, &call.mpi->self, 0, &peer,
				     intercomm);
	/* Who cannot be reached is no error (MPI 4.1, 11.10.5). */
	if (join.foreign) {
		free(call.what);
		return MPI_SUCCESS;
	}
	return vm_call_exit_self(&call, rc);
}
