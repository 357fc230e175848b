/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making intercommunicators, and what they are made of.
 *
 * The leaders tell each other their groups in messages (all ranks are in this
 * process, so pointers do); one of them makes the shared parts.  Each side then
 * meets and takes the channels from its leader.
 */
#include "mpi/inter.h"

#include "core/p2p.h"
#include "mpi/comm_split.h"
#include "mpi/errh.h"
#include "mpi/group.h"

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

	if (!group)
		return MPI_ERR_NO_MEM;
	return vm_mpi_group_new(call->mpi, out, group,
				remote ? MPI_UNDEFINED : comm->rank);
}

/* The less alike of two results. */
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

/* How many members of group are on comm's own side; -1: no memory to tell. */
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

/* The first split finds who is in, the second puts side behind side. */
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

/* The shared parts, made by one leader and sent to the other, with a reference
 * on each; or why there are none. */
struct both {
	int error; /* 0 or an MPI error */
	int first_size;
	struct vm_group *group;
	struct vm_meet *meet;
	uint32_t context;
};

static bool overlap(const struct vm_group *a, const struct vm_group *b)
{
	for (int i = 0; i < a->size; i++)
		if (vm_group_place(b, a->ranks[i]) != MPI_UNDEFINED)
			return true;
	return false;
}

/* By the leader of the first side. */
static void both_make(struct both *both, const struct vm_group *first,
		      const struct vm_group *second)
{
	*both = (struct both){ .first_size = first->size };
	if (overlap(first, second)) {
		both->error = MPI_ERR_COMM;
		return;
	}
	both->error = MPI_ERR_NO_MEM;
	both->group = vm_group_new(first->size + second->size);
	if (!both->group)
		return;
	for (int i = 0; i < first->size; i++)
		both->group->ranks[i] = first->ranks[i];
	for (int i = 0; i < second->size; i++)
		both->group->ranks[first->size + i] = second->ranks[i];
	both->meet = vm_meet_new(both->group);
	if (!both->meet)
		return;
	both->context = vm_context_new();
	both->error = 0;
}

/* The leaders' talk.  The one with the lower number in the world is first. */
static int both_agree(struct both *both, const struct vm_comm *local,
		      const struct vm_comm *peer, int remote_leader, int tag)
{
	/* As in MPI_Comm_create_group(). */
	struct vm_env env = { .context = peer->context + 1,
			      .tag = (VM_COLL_TAG_MAX + 1) |
				     (tag & VM_COLL_TAG_MAX) };
	struct vm_rank *other = peer->ranks[remote_leader];
	struct vm_group *mine = local->chan->group, *theirs;
	struct vm_data group = vm_data_bytes(&mine, sizeof(mine));
	struct vm_data result = vm_data_bytes(both, sizeof(*both));
	struct vm_env to = env, from = env;
	int rc;

	to.source = peer->rank;
	from.source = remote_leader;
	if (other->index < local->chan->owner->index) {
		rc = vm_send(other, to, &group, VM_SEND_STANDARD);
		return rc ? rc : vm_recv(from, &result, NULL);
	}
	group.addr = &theirs;
	rc = vm_recv(from, &group, NULL);
	if (rc != 0)
		return rc;
	/* The other side waits in this call until it has the answer. */
	both_make(both, mine, theirs);
	if (both->error == 0) {
		vm_group_hold(both->group);
		vm_meet_hold(both->meet);
	}
	return vm_send(other, to, &result, VM_SEND_STANDARD);
}

/* What a member of one side brings to its meeting, and takes away.  The leader
 * is the root of it. */
struct member {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_chan *chan, *out;
	struct both both; /* the leader's */
	int first_size;
};

static int member_place(const struct member *member, const struct both *both)
{
	bool first = both->group->ranks[0] == member->chan->group->ranks[0];

	return member->chan->rank + (first ? 0 : both->first_size);
}

/* Makes the handles of all from what the leader has brought. */
static void side_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	struct member *leader = vm_meet_args(meet, (uint32_t)me->root);
	const struct both *both = &leader->both;

	for (uint32_t i = 0; i < meet->size; i++) {
		struct member *member = vm_meet_args(meet, i);

		if (both->error) {
			vm_coll_fail(&member->coll, both->error, "%s",
				     both->error == MPI_ERR_COMM ?
					     "a rank is in both groups" :
					     "the leader has failed");
			continue;
		}
		member->first_size = both->first_size;
		member->out = vm_chan_new(member->chan->owner, both->group,
					  both->meet, both->context,
					  member_place(member, both));
		if (!member->out)
			vm_coll_fail(&member->coll, MPI_ERR_NO_MEM,
				     "no memory for a communicator");
	}
}

static const struct vm_coll_kind kind_side = { .part = side_part,
					       .whole = true,
					       .work = vm_comm_coll_work,
					       .rooted = true };

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

/* What only the leader's arguments say. */
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

static int intercomm_create(struct vm_call *call, struct member *member,
			    struct vm_comm *local, MPI_Comm *newintercomm)
{
	int rc = vm_coll_run(call, &member->coll);

	/* All have taken theirs. */
	vm_group_drop(member->both.group);
	vm_meet_drop(member->both.meet);
	if (rc == 0)
		return inter_new(call, member->out, local, member->first_size,
				 newintercomm);
	vm_chan_free(member->out);
	return rc;
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
			  MPI_Comm peer_comm, int remote_leader, int tag,
			  MPI_Comm *newintercomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Intercomm_create);
	struct member member = { 0 };
	struct vm_comm *local, *peer;
	int rc = check_create(&call, local_comm, local_leader, newintercomm,
			      &local);

	if (rc != 0)
		return vm_call_exit(&call, local_comm, rc);
	if (local->rank == local_leader) {
		rc = check_leader(&call, peer_comm, remote_leader, tag, &peer);
		if (rc == 0)
			rc = both_agree(&member.both, local, peer,
					remote_leader, tag);
		if (rc != 0)
			member.both.error = vm_mpi_error(rc);
	}
	vm_comm_coll_init(&member.coll, &kind_side, &call, local);
	member.coll.root = local_leader;
	member.chan = local->chan;
	rc = intercomm_create(&call, &member, local, newintercomm);
	return vm_call_exit(&call, local_comm, rc);
}

/* A handle of an intercommunicator. */
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

MPI_CALLS_INTER(WEAK_ALIAS)
