/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators made from groups alone.
 *
 * The first member of the group chooses the context.  Its messages go in the
 * job's context, with a hash of the
 * group and of the user's string as the tag.
 */
#include <string.h>

#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/runtime/guests.h"
#include "core/runtime/spares.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/inter.h"
#include "mpi/comm/session.h"

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t hash_of(const char *stringtag, const struct vm_group *group,
			char kind)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325u, &kind, 1);

	hash = hash_bytes(hash, stringtag, strlen(stringtag));
	for (int i = 0; group && i < group->size; i++) {
		struct vm_rank_name name = vm_rank_name(group->ranks[i]);

		hash = hash_bytes(hash, &name.job, sizeof(name.job));
		hash = hash_bytes(hash, &name.number, sizeof(name.number));
	}
	return hash ^ hash >> 32;
}

/* Checks what both calls have; *errh is the handler, held. */
static int check(struct vm_call *call, MPI_Group handle,
		 struct vm_mpi_group **group, const char *stringtag,
		 MPI_Info info, MPI_Errhandler errhandler,
		 struct vm_errh **errh, MPI_Comm *newcomm)
{
	int rc = vm_errh_put(call, errh, VM_ERRH_OF_COMM, errhandler);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = vm_check_group(call, handle, group);
	if (rc == 0)
		rc = vm_check_pointer(call, stringtag, "stringtag");
	if (rc == 0 &&
	    strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) == MPI_MAX_STRINGTAG_LEN)
		rc = vm_error(call, MPI_ERR_ARG,
			      "stringtag is longer than %d characters",
			      MPI_MAX_STRINGTAG_LEN - 1);
	if (rc == 0)
		rc = vm_check_hints(call, info);
	if (rc == 0)
		rc = vm_check_pointer(call, newcomm, "newcomm");
	if (rc == 0 && (*group)->group && (*group)->rank == MPI_UNDEFINED)
		rc = vm_error(call, MPI_ERR_GROUP,
			      "the caller is not in the group");
	return rc;
}

/* Makes a communicator for the group's members. */
static int from_group(struct vm_call *call, const struct vm_mpi_group *group,
		      uint64_t hash, struct vm_errh *errh, struct vm_comm **out)
{
	const struct vm_comm parent = { .errh = errh,
					.session = group->session };
	/* vm_comm_join() knows the source. */
	struct vm_env env = { .context = VM_CONTEXT_JOB + 1,
			      .tag = vm_comm_hash_tag(hash) };

	return vm_comm_join(call, group, env, hash, &parent, out);
}

int PMPI_Comm_create_from_group(MPI_Group group, const char *stringtag,
				MPI_Info info, MPI_Errhandler errhandler,
				MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_create_from_group);
	struct vm_errh *errh = vm_errh_default();
	struct vm_mpi_group *g;
	struct vm_comm *comm;
	int rc = check(&call, group, &g, stringtag, info, errhandler, &errh,
		       newcomm);

	/* An empty group makes nothing. */
	if (rc == 0 && g->group) {
		rc = from_group(&call, g, hash_of(stringtag, g->group, 'c'),
				errh, &comm);
		if (rc == 0)
			*newcomm = (MPI_Comm)comm;
	}
	rc = vm_session_exit_errh(&call, errh, rc);
	vm_errh_drop(call.mpi, errh);
	return rc;
}

/* Checks what only the leader's call has; *leader is the other one. */
static int check_remote(struct vm_call *call, MPI_Group handle, int remote,
			struct vm_rank **leader)
{
	struct vm_mpi_group *group;
	int rc = vm_check_group(call, handle, &group);

	if (rc == 0 && (remote < 0 || remote >= vm_mpi_group_size(group)))
		rc = vm_error(call, MPI_ERR_RANK,
			      "remote_leader %d of a group with %d members",
			      remote, vm_mpi_group_size(group));
	if (rc == 0)
		*leader = group->group->ranks[remote];
	return rc;
}

/* Where two leaders meet. */
struct meeting {
	struct vm_rank *other;
	int32_t tag;
};

static int leaders_join(struct vm_call *call, struct vm_inter_both *both,
			const struct vm_group *local, void *arg)
{
	const struct meeting *meeting = arg;
	struct vm_rank *self = call->mpi->rank;
	struct vm_env to = { .context = VM_CONTEXT_JOB + 1,
			     .source = vm_rank_source(self, meeting->other),
			     .tag = meeting->tag };
	struct vm_env from = to;

	if (vm_rank_is_guest(meeting->other))
		return vm_error(call, MPI_ERR_RANK,
				"the remote leader is a rank of another job, "
				"with which MPI_Intercomm_create makes "
				"communicators");
	from.source = vm_rank_source(meeting->other, self);
	return vm_inter_exchange(both, local, meeting->other, to, from);
}

/* The leaders find each other by their numbers in the job.  They know the
 * string only, not both groups in the same order. */
static int inter_from(struct vm_call *call, struct vm_mpi_group *local,
		      int local_leader, struct vm_rank *leader,
		      const char *stringtag, struct vm_errh *errh,
		      MPI_Comm *out)
{
	struct meeting meeting = {
		leader, vm_comm_hash_tag(hash_of(stringtag, NULL, 'i'))
	};
	struct vm_inter_peer peer = { .join = leaders_join, .arg = &meeting };
	struct vm_comm *comm;
	int rc = from_group(call, local, hash_of(stringtag, local->group, 'l'),
			    errh, &comm);

	if (rc != 0)
		return rc;
	rc = vm_inter_create(call, comm, local_leader, &peer, out);
	vm_comm_discard(call->mpi, comm);
	return rc;
}

/* The call with two groups that have members. */
static int inter_checked(struct vm_call *call, struct vm_mpi_group *local,
			 int local_leader, MPI_Group remote_group,
			 int remote_leader, const char *stringtag,
			 struct vm_errh *errh, MPI_Comm *out)
{
	struct vm_rank *leader = NULL;
	int rc = 0;

	if (local_leader < 0 || local_leader >= vm_mpi_group_size(local))
		return vm_error(call, MPI_ERR_RANK,
				"local_leader %d of a group with %d members",
				local_leader, vm_mpi_group_size(local));
	if (local->rank == local_leader)
		rc = check_remote(call, remote_group, remote_leader, &leader);
	if (rc == 0)
		rc = inter_from(call, local, local_leader, leader, stringtag,
				errh, out);
	return rc;
}

int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
				      MPI_Group remote_group, int remote_leader,
				      const char *stringtag, MPI_Info info,
				      MPI_Errhandler errhandler,
				      MPI_Comm *newintercomm)
{
	struct vm_call call =
		vm_call_enter(VM_CALL_Intercomm_create_from_groups);
	struct vm_errh *errh = vm_errh_default();
	struct vm_mpi_group *g;
	int rc = check(&call, local_group, &g, stringtag, info, errhandler,
		       &errh, newintercomm);

	/* With an empty group the call is local and makes nothing. */
	if (rc == 0 && g->group && remote_group != MPI_GROUP_EMPTY)
		rc = inter_checked(&call, g, local_leader, remote_group,
				   remote_leader, stringtag, errh,
				   newintercomm);
	rc = vm_session_exit_errh(&call, errh, rc);
	vm_errh_drop(call.mpi, errh);
	return rc;
}
