/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of intercommunicators, and inquiries.
 *
 * The leaders exchange their groups in messages; one of them joins both groups
 * and chooses the context.  Each side then meets and makes its channels from
 * its leader's data.
 */
#include "mpi/comm/inter.h"

#include <stdlib.h>

#include "core/meeting/chan_make.h"
#include "core/rank/context.h"
#include "core/meeting/meet.h"
#include "core/runtime/spares.h"
#include "core/rank/state.h"
#include "core/comm/p2p.h"
#include "mpi/comm/far.h"
#include "mpi/comm/split.h"
#include "mpi/call/errh.h"
#include "mpi/comm/group.h"
#include "mpi/comm/comm.h"

void vm_inter_set(struct vm_comm *comm, int first_size)
{
	int total = comm->chan->group->size;
	bool second = comm->chan->rank >= first_size;

	comm->inter = true;
	comm->local_size = second ? total - first_size : first_size;
	comm->size = total - comm->local_size;
	comm->first = second ? first_size : 0;
	comm->rank = comm->chan->rank - comm->first;
	comm->ranks = comm->chan->group->ranks + (second ? 0 : first_size);
	vm_chan_from(comm->chan, second ? 0 : first_size, comm->size);
}

/* One side's ranks as a group of their own; NULL when out of memory. */
static struct vm_group *side_group(const struct vm_comm *comm, bool remote)
{
	int size = remote ? comm->size : comm->local_size;
	struct vm_group *group = vm_group_new(size);
	struct vm_rank **ranks =
		remote ? comm->ranks : comm->chan->group->ranks + comm->first;

	for (int i = 0; group && i < size; i++)
		group->ranks[i] = ranks[i];
	return group;
}

int vm_inter_group(struct vm_call *call, const struct vm_comm *comm,
		   bool remote, MPI_Group *out)
{
	struct vm_group *group = side_group(comm, remote);

	int rc;

	if (!group)
		return MPI_ERR_NO_MEM;
	rc = vm_mpi_group_new(call->mpi, out, group,
			      remote ? MPI_UNDEFINED : comm->rank);
	if (rc == 0)
		vm_mpi_group_from(*out, comm->session);
	return rc;
}

/* Returns the less similar of two results. */
static int less_alike(int a, int b)
{
	if (a == MPI_UNEQUAL || b == MPI_UNEQUAL)
		return MPI_UNEQUAL;
	return a == MPI_SIMILAR ? a : b;
}

int vm_inter_compare(const struct vm_comm *a, const struct vm_comm *b,
		     int *result)
{
	int sides[2];

	*result = MPI_UNEQUAL;
	if (a->inter != b->inter)
		return 0;
	for (int remote = 0; remote < 2; remote++) {
		struct vm_group *x = side_group(a, remote);
		struct vm_group *y = side_group(b, remote);

		if (x && y)
			sides[remote] = vm_group_compare(x, y);
		vm_group_drop(x);
		vm_group_drop(y);
		if (!x || !y)
			return MPI_ERR_NO_MEM;
	}
	*result = less_alike(sides[0], sides[1]);
	return 0;
}

/* Returns how many members of group are on comm's local side; -1 when out of
 * memory. */
static int count_local(const struct vm_comm *comm, const struct vm_group *group)
{
	int n = 0, *place = vm_group_places(comm->chan->group);

	if (!place)
		return -1;
	for (int i = 0; i < group->size; i++)
		n += (unsigned)(place[group->ranks[i]->index] - comm->first) <
		     (unsigned)comm->local_size;
	vm_group_places_free(place);
	return n;
}

/* Wraps a channel of both sides, which it takes over. */
static int inter_new(struct vm_call *call, struct vm_chan *chan,
		     const struct vm_comm *parent, int first_size,
		     MPI_Comm *out)
{
	struct vm_comm *comm;
	int rc = vm_comm_new(call->mpi, &comm, chan, parent);

	if (rc == 0) {
		vm_inter_set(comm, first_size);
		*out = (MPI_Comm)comm;
	}
	return rc;
}

/* The first split finds the members, the second orders them by side. */
int vm_inter_split(struct vm_call *call, struct vm_comm *parent, int color,
		   int key, MPI_Comm *out)
{
	struct vm_chan *mixed = NULL, *chan;
	int local, rc = vm_comm_chan_split(call, parent, &mixed, color, key);

	if (rc != 0)
		return rc;
	*out = MPI_COMM_NULL;
	if (!mixed)
		return 0;
	local = count_local(parent, mixed->group);
	rc = local < 0 ? MPI_ERR_NO_MEM : 0;
	if (rc == 0 && local < mixed->group->size) {
		rc = vm_chan_split(mixed, &chan, 0, parent->first > 0);
		if (rc == 0)
			rc = inter_new(call, chan, parent,
				       parent->first ?
					       mixed->group->size - local :
					       local,
				       out);
	}
	vm_chan_free(mixed);
	return rc;
}

static size_t both_bytes(int size)
{
	return sizeof(struct vm_inter_both) +
	       (size_t)size * sizeof(struct vm_rank_name);
}

/* Allocates room for all known ranks, enough for any message of one of the job;
 * NULL when out of memory. */
static struct vm_inter_both *both_new(const struct vm_group *first)
{
	struct vm_inter_both *both = calloc(1, both_bytes(vm_rank_limit()));

	if (!both)
		return NULL;
	both->first_size = both->size = first->size;
	for (int i = 0; i < first->size; i++)
		both->ranks[i] = vm_rank_name(first->ranks[i]);
	return both;
}

static bool overlap(const struct vm_group *group,
		    const struct vm_inter_both *with)
{
	for (int i = 0; i < with->size; i++)
		if (vm_group_place(group, vm_rank_named(&with->ranks[i])) !=
		    MPI_UNDEFINED)
			return true;
	return false;
}

/* Joins both sides; called by the leader of the first side, whose group is in
 * both. */
static void both_join(struct vm_inter_both *both, const struct vm_group *first,
		      const struct vm_inter_both *second)
{
	if (overlap(first, second)) {
		both->error = MPI_ERR_COMM;
		both->size = 0;
		return;
	}
	for (int i = 0; i < second->size; i++)
		both->ranks[both->size++] = second->ranks[i];
	both->context = vm_context_new();
}

int vm_inter_exchange(struct vm_inter_both *both, const struct vm_group *local,
		      struct vm_rank *other, struct vm_env to,
		      struct vm_env from)
{
	struct vm_data out = vm_data_bytes(both, both_bytes(both->size));
	struct vm_data in = vm_data_bytes(both, both_bytes(vm_rank_limit()));
	struct vm_inter_both *theirs;
	int rc;

	if (other->index < vm_rank_self()->index) {
		rc = vm_send(other, to, &out, VM_SEND_STANDARD);
		return rc ? rc : vm_recv(from, &in, NULL);
	}
	theirs = malloc(both_bytes(vm_rank_limit()));
	if (!theirs)
		return -VMPI_ENOMEM;
	in.addr = theirs;
	rc = vm_recv(from, &in, NULL);
	if (rc == 0) {
		both_join(both, local, theirs);
		out.bytes = both_bytes(both->size);
		rc = vm_send(other, to, &out, VM_SEND_STANDARD);
	}
	free(theirs);
	return rc;
}

/* A member's call and result in its side's meeting.  The leader is the root and
 * contributes a struct vm_inter_both. */
struct member {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_chan *chan, *out;
	int first_size;
	bool far; /* nothing is made yet */
};

/* Makes the group of both sides; NULL when out of memory, or when this process
 * does not know one of them: a leader may know more. */
static struct vm_group *both_group(const struct vm_inter_both *both)
{
	struct vm_group *group = vm_group_new(both->size);

	for (int i = 0; group && i < both->size; i++) {
		group->ranks[i] = vm_rank_named(&both->ranks[i]);
		if (!group->ranks[i]) {
			vm_group_drop(group);
			return NULL;
		}
	}
	return group;
}

static void member_make(struct member *member, const struct vm_inter_both *both,
			struct vm_group *group, struct vm_meet *place)
{
	const struct vm_chan *chan = member->chan;
	bool first = group->ranks[0] == chan->group->ranks[0];

	member->first_size = both->first_size;
	member->out = vm_chan_new(chan->owner, group, place, both->context,
				  chan->rank + (first ? 0 : both->first_size));
}

/* Makes the handles of all local members from the leader's data. */
static void side_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	const struct vm_inter_both *both =
		vm_comm_coll_brought(vm_coll_of(meet, (size_t)me->root));
	struct vm_group *group = both->error || both->far ? NULL :
							    both_group(both);
	/* Members of the other side may be here too. */
	struct vm_meet *place =
		group ? vm_meet_shared(group, both->context, vm_rank_self()) :
			NULL;

	for (size_t i = 0; i < meet->size; i++) {
		struct vm_coll *coll = vm_coll_of(meet, i);
		struct member *member = (struct member *)coll;

		if (!coll->owner)
			continue;
		member->far = !both->error && both->far;
		if (member->far)
			continue;
		if (both->error) {
			vm_coll_fail(coll, both->error, "%s",
				     both->error == MPI_ERR_COMM ?
					     "a rank is in both groups" :
					     "a leader has failed");
			continue;
		}
		if (place)
			member_make(member, both, group, place);
		if (!member->out)
			vm_coll_fail(coll, MPI_ERR_NO_MEM,
				     "no memory for a communicator");
	}
	vm_meet_drop(place);
	vm_group_drop(group);
}

static const struct vm_coll_kind kind_side = {
	.part = side_part,
	.work = vm_comm_coll_work,
	.rooted = true,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

static int check_create(struct vm_call *call, MPI_Comm local_comm,
			int local_leader, MPI_Comm *newintercomm,
			struct vm_comm **local)
{
	int rc = vm_check_intra(call, local_comm, local);

	if (rc == 0 && (local_leader < 0 || local_leader >= (*local)->size))
		rc = vm_error(call, MPI_ERR_RANK,
			      "local_leader %d, but ranks are 0 to %d",
			      local_leader, (*local)->size - 1);
	if (rc == 0)
		rc = vm_check_pointer(call, newintercomm, "newintercomm");
	return rc;
}

/* Checks the arguments that only the leader's call uses. */
static int check_leader(struct vm_call *call, MPI_Comm peer_comm,
			int remote_leader, int tag, struct vm_comm **peer)
{
	int rc = vm_check_comm(call, peer_comm, peer);

	if (rc == 0 && (remote_leader < 0 || remote_leader >= (*peer)->size))
		rc = vm_error(call, MPI_ERR_RANK,
			      "remote_leader %d, but ranks are 0 to %d",
			      remote_leader, (*peer)->size - 1);
	return rc == 0 ? vm_check_tag(call, tag) : rc;
}

static bool has_guests(const struct vm_group *group)
{
	for (int i = 0; i < group->size; i++)
		if (vm_rank_is_guest(group->ranks[i]))
			return true;
	return false;
}

/* An order of ranks in which all jobs agree. */
static bool is_before(const struct vm_rank *a, const struct vm_rank *b)
{
	struct vm_rank_name x = vm_rank_name(a), y = vm_rank_name(b);

	return x.job != y.job ? x.job < y.job : x.number < y.number;
}

/* Does the leader's part before its side meets: sets what it contributes
 * there. */
static int lead(struct vm_call *call, const struct vm_comm *local,
		struct vm_inter_peer *peer, struct vm_inter_both *both)
{
	struct vm_env to, from;
	struct vm_comm *comm;
	struct vm_rank *other, *self = call->mpi->rank;
	int rc;

	if (peer->join)
		return peer->join(call, both, local->chan->group, peer->arg);
	rc = check_leader(call, peer->handle, peer->leader, peer->tag, &comm);
	if (rc != 0)
		return rc;
	other = comm->ranks[peer->leader];
	/* Concurrent calls differ in tag. */
	to.context = from.context = comm->context + 1;
	to.tag = from.tag = vm_comm_tag(peer->tag);
	to.source = comm->rank;
	from.source = peer->leader;
	if (!has_guests(local->chan->group) && !vm_rank_is_guest(other))
		return vm_inter_exchange(both, local->chan->group, other, to,
					 from);
	both->far = 1;
	peer->talk = (struct vm_talk){ .first = is_before(self, other),
				       .fd = -1,
				       .other = other,
				       .to = to,
				       .from = from };
	return 0;
}

/* Both sides get to know each other, and make the channel in a second
 * meeting. */
static int far_create(struct vm_call *call, struct vm_comm *local, int leader,
		      const struct vm_inter_peer *peer, struct member *member)
{
	struct vm_inter_both none = { .error = MPI_ERR_NO_MEM }, *both;
	int rc = vm_far_meet(call, local, leader, &peer->talk, &both);

	if (!both && local->rank == leader)
		none.error = vm_mpi_error(rc);
	vm_comm_coll_init(&member->coll, &kind_side, call, local,
			  both ? both : &none,
			  both_bytes(both ? both->size : 0));
	member->coll.root = leader;
	rc = vm_coll_run(call, &member->coll);
	free(both);
	return rc;
}

int vm_inter_create(struct vm_call *call, struct vm_comm *local,
		    int local_leader, struct vm_inter_peer *peer, MPI_Comm *out)
{
	struct vm_inter_both none = { .error = MPI_ERR_NO_MEM }, *both = NULL;
	struct member member = { .chan = local->chan };
	int rc = 0;

	if (local->rank == local_leader)
		both = both_new(local->chan->group);
	if (both)
		rc = lead(call, local, peer, both);
	if (rc != 0) {
		both->error = vm_mpi_error(rc);
		both->size = 0;
	}
	vm_comm_coll_init(&member.coll, &kind_side, call, local,
			  both ? both : &none,
			  both_bytes(both ? both->size : 0));
	member.coll.root = local_leader;
	rc = vm_coll_run(call, &member.coll);
	free(both);
	if (rc == 0 && member.far)
		rc = far_create(call, local, local_leader, peer, &member);
	if (rc == 0)
		rc = inter_new(call, member.out, local, member.first_size, out);
	else
		vm_chan_free(member.out);
	return rc;
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
			  MPI_Comm peer_comm, int remote_leader, int tag,
			  MPI_Comm *newintercomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Intercomm_create);
	struct vm_inter_peer peer = { .handle = peer_comm,
				      .leader = remote_leader,
				      .tag = tag };
	struct vm_comm *local;
	int rc = check_create(&call, local_comm, local_leader, newintercomm,
			      &local);

	vm_comm_none(newintercomm);
	if (rc == 0)
		rc = vm_inter_create(&call, local, local_leader, &peer,
				     newintercomm);
	return vm_call_exit(&call, local_comm, rc);
}

/* Checks the handle of an intercommunicator. */
static int check_inter(struct vm_call *call, MPI_Comm handle,
		       struct vm_comm **comm)
{
	int rc = vm_check_comm(call, handle, comm);

	if (rc == 0 && !(*comm)->inter)
		rc = vm_error(call, MPI_ERR_COMM,
			      "an intracommunicator has no remote group");
	return rc;
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Intercomm_merge);
	struct vm_comm *c, *comm;
	struct vm_chan *chan;
	int rc = check_inter(&call, intercomm, &c);

	vm_comm_none(newintracomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newintracomm, "newintracomm");
	/* With equal keys the first side stays before the second. */
	if (rc == 0)
		rc = vm_comm_chan_merge(&call, c, &chan, high != 0);
	if (rc == 0)
		rc = vm_comm_new(call.mpi, &comm, chan, c);
	if (rc == 0)
		*newintracomm = (MPI_Comm)comm;
	return vm_call_exit(&call, intercomm, rc);
}

int PMPI_Comm_remote_size(MPI_Comm comm, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_remote_size);
	struct vm_comm *c;
	int rc = check_inter(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		*size = c->size;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_remote_group);
	struct vm_comm *c;
	int rc = check_inter(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, group, "group");
	if (rc == 0)
		rc = vm_inter_group(&call, c, true, group);
	return vm_call_exit(&call, comm, rc);
}
