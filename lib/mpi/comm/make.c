/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators made from others: dup, split, create.
 *
 * All calls except MPI_Comm_create_group are one meeting of the parent's
 * members (vm_comm_chan_split()).  MPI_Comm_create_group is collective over the
 * new group only, so its first member chooses the context and sends it to the
 * others.
 */
#include <string.h>

#include "core/meeting/chan_make.h"
#include "core/rank/context.h"
#include "core/meeting/meet.h"
#include "core/runtime/guests.h"
#include "core/runtime/process.h"
#include "core/comm/p2p.h"
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/comm/split.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/inter.h"
#include "mpi/comm/session.h"
#include "sched/topo.h"

/* Splits and wraps what comes out; *out is MPI_COMM_NULL without a colour. */
static int comm_split(struct vm_call *call, struct vm_comm *parent, int color,
		      int key, MPI_Comm *out)
{
	struct vm_chan *chan = NULL;
	struct vm_comm *comm;
	int rc;

	if (parent->inter)
		return vm_inter_split(call, parent, color, key, out);
	rc = vm_comm_chan_split(call, parent, &chan, color, key);
	if (rc != 0)
		return rc;
	if (!chan) {
		*out = MPI_COMM_NULL;
		return 0;
	}
	rc = vm_comm_new(call->mpi, &comm, chan, parent);
	if (rc == 0)
		*out = (MPI_Comm)comm;
	return rc;
}

int vm_comm_copy(struct vm_call *call, struct vm_comm *to,
		 const struct vm_comm *from, MPI_Comm handle)
{
	int rc = vm_attrs_copy(call->mpi, &to->attrs, handle, from->attrs);

	if (rc == 0 && from->topo_ops && !from->topo_ops->copy(to, from))
		rc = MPI_ERR_NO_MEM;
	return rc;
}

int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_dup);
	struct vm_comm *from, *to;
	MPI_Comm copy;
	int rc = vm_check_comm(&call, comm, &from);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = comm_split(&call, from, 0, 0, &copy);
	if (rc == 0) {
		to = vm_comm_get(copy);
		rc = vm_comm_copy(&call, to, from, comm);
		if (rc == 0)
			*newcomm = copy;
		else
			vm_comm_discard(call.mpi, to);
	}
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_split);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0 && color < 0 && color != MPI_UNDEFINED)
		rc = vm_error(&call, MPI_ERR_ARG,
			      "color %d is negative and not MPI_UNDEFINED",
			      color);
	if (rc == 0)
		rc = comm_split(&call, c,
				color == MPI_UNDEFINED ? VMPI_UNDEFINED : color,
				key, newcomm);
	return vm_call_exit(&call, comm, rc);
}

/*
 * Returns the colour for a kind of split.  The ranks of one process share
 * memory; if each rank is a process, those of a host can.  Ranks are not bound
 * to finer hardware levels, so all other kinds give MPI_COMM_NULL, but for
 * process sets.
 */
/* The resource that is asked for, and the number of the one that the rank stays
 * within; -1: there is none. */
struct wanted {
	const char *type;
	int number;
};

static void look_for(void *arg, const char *type, int number)
{
	struct wanted *wanted = arg;

	if (!strcmp(type, wanted->type))
		wanted->number = number;
}

/* The colour of all ranks on the same resource of the same host. */
static int resource_color(const char *resource)
{
	const size_t prefix = strlen(VM_RESOURCE_PREFIX);
	struct wanted wanted = { .number = -1 };

	/* MPI 4.1, 7.4.2: the same as MPI_COMM_TYPE_SHARED. */
	if (!strcmp(resource, "mpi_shared_memory"))
		return vm_process_domain();
	if (strncmp(resource, VM_RESOURCE_PREFIX, prefix) != 0)
		return VMPI_UNDEFINED;
	wanted.type = resource + prefix;
	vm_topo_resources(look_for, &wanted);
	if (wanted.number < 0)
		return VMPI_UNDEFINED;
	return (vm_process_domain() << 14 | wanted.number) & INT_MAX;
}

static int split_type_color(struct vm_call *call, int split_type, MPI_Info info,
			    int *color)
{
	const char *resource = vm_info_value(info, "mpi_hw_resource_type");
	const char *pset = vm_info_value(info, "mpi_pset_name");

	*color = VMPI_UNDEFINED;
	if (split_type == MPI_COMM_TYPE_RESOURCE_GUIDED && pset && !resource)
		return vm_pset_color(pset, color);
	switch (split_type) {
	case MPI_COMM_TYPE_SHARED:
		*color = vm_process_domain();
		return 0;
	case MPI_COMM_TYPE_HW_GUIDED:
	case MPI_COMM_TYPE_RESOURCE_GUIDED:
		if (resource)
			*color = resource_color(resource);
		return 0;
	case MPI_UNDEFINED:
	case MPI_COMM_TYPE_HW_UNGUIDED:
		return 0;
	default:
		return vm_error(call, MPI_ERR_ARG, "split_type %d is unknown",
				split_type);
	}
}

int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
			 MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_split_type);
	struct vm_comm *c;
	int color = 0, rc = vm_check_comm(&call, comm, &c);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = split_type_color(&call, split_type, info, &color);
	if (rc == 0)
		rc = comm_split(&call, c, color, key, newcomm);
	return vm_call_exit(&call, comm, rc);
}

/* Checks that all members of a group are in comm, on the caller's side. */
static int check_subset(struct vm_call *call, const struct vm_comm *comm,
			const struct vm_mpi_group *group)
{
	int size = vm_mpi_group_size(group);
	int rc = 0, *place = vm_group_places(comm->chan->group);

	if (!place)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < size && rc == 0; i++)
		if ((unsigned)(place[group->group->ranks[i]->index] -
			       comm->first) >= (unsigned)comm->local_size)
			rc = vm_error(call, MPI_ERR_GROUP,
				      "member %d of the group is not in the "
				      "communicator",
				      i);
	vm_group_places_free(place);
	return rc;
}

/* Groups that do not overlap may be given by different members: the first
 * member of a group is its colour. */
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_create);
	struct vm_comm *c;
	struct vm_mpi_group *g;
	int color = VMPI_UNDEFINED, rc = vm_check_comm(&call, comm, &c);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_group(&call, group, &g);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = check_subset(&call, c, g);
	if (rc == 0) {
		if (g->rank != MPI_UNDEFINED)
			color = c->inter ? 0 :
					   vm_group_place(c->chan->group,
							  g->group->ranks[0]);
		rc = comm_split(&call, c, color, g->rank, newcomm);
	}
	return vm_call_exit(&call, comm, rc);
}

/* What the first member sends. */
struct agreed {
	uint64_t check;
	uint32_t context;
};

static int context_agree(struct vm_call *call, struct agreed *agreed,
			 const struct vm_mpi_group *group, struct vm_env env)
{
	struct vm_data data = vm_data_bytes(agreed, sizeof(*agreed));
	bool in_job = (env.context & ~1u) == VM_CONTEXT_JOB;
	uint64_t check = agreed->check;
	int rc = 0;

	if (group->rank != 0) {
		if (in_job)
			env.source = vm_rank_source(group->group->ranks[0],
						    call->mpi->rank);
		rc = vm_recv(env, &data, NULL);
		if (rc == 0 && agreed->check != check)
			rc = vm_error(call, MPI_ERR_OTHER,
				      "two groups make communicators at the "
				      "same time whose tags look alike");
		return rc;
	}
	agreed->context = vm_context_new();
	for (int i = 1; i < group->group->size && rc == 0; i++) {
		if (in_job)
			env.source = vm_rank_source(call->mpi->rank,
						    group->group->ranks[i]);
		rc = vm_send(group->group->ranks[i], env, &data,
			     VM_SEND_STANDARD);
	}
	return rc;
}

int vm_comm_join(struct vm_call *call, const struct vm_mpi_group *group,
		 struct vm_env env, uint64_t check,
		 const struct vm_comm *parent, struct vm_comm **out)
{
	struct agreed agreed = { .check = check };
	struct vm_chan *chan;
	struct vm_meet *meet;
	int rc = context_agree(call, &agreed, group, env);

	if (rc != 0)
		return rc;
	meet = vm_meet_shared(group->group, agreed.context, call->mpi->rank);
	if (!meet)
		return MPI_ERR_NO_MEM;
	chan = vm_chan_new(call->mpi->rank, group->group, meet, agreed.context,
			   group->rank);
	vm_meet_drop(meet);
	if (!chan)
		return MPI_ERR_NO_MEM;
	return vm_comm_new(call->mpi, out, chan, parent);
}

static int create_group(struct vm_call *call, struct vm_comm *parent,
			const struct vm_mpi_group *group, int tag,
			MPI_Comm *out)
{
	/* Concurrent calls differ in tag. */
	struct vm_env env = { .context = parent->context + 1,
			      .source = vm_group_place(parent->chan->group,
						       group->group->ranks[0]),
			      .tag = vm_comm_tag(tag) };
	struct vm_comm *comm;
	int rc = vm_comm_join(call, group, env, 0, parent, &comm);

	if (rc == 0)
		*out = (MPI_Comm)comm;
	return rc;
}

int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
			   MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_create_group);
	struct vm_comm *c;
	struct vm_mpi_group *g;
	int rc = vm_check_intra(&call, comm, &c);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_group(&call, group, &g);
	if (rc == 0)
		rc = vm_check_tag(&call, tag);
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc == 0)
		rc = check_subset(&call, c, g);
	if (rc == 0 && g->rank != MPI_UNDEFINED)
		rc = create_group(&call, c, g, tag, newcomm);
	return vm_call_exit(&call, comm, rc);
}
