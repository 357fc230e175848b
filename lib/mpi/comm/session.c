/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions: error handlers, and the process sets that they have.  They begin
 * and end in mpi/session_init.c.
 */
#include "mpi/comm/session.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/rank/chan.h"
#include "core/rank/state.h"
#include "core/runtime/process.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/comm/group.h"

int vm_session_enter(struct vm_call *call, enum vm_call_id id,
		     MPI_Session handle, struct vm_mpi_session **session)
{
	*call = vm_call_enter_early(id);
	*session = vm_session_get(handle);
	if (*session)
		return 0;
	return vm_error(call, MPI_ERR_SESSION,
			handle == MPI_SESSION_NULL ?
				"MPI_SESSION_NULL" :
				"not a session, or it was finalized");
}

int vm_session_exit(struct vm_call *call, MPI_Session handle, int rc)
{
	struct vm_mpi_session *session;

	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	session = vm_session_get(handle);
	if (!session)
		return vm_call_exit_self(call, rc);
	return vm_call_fail_on(call, session->errh, &handle, "a session", rc);
}

int vm_session_exit_errh(struct vm_call *call, struct vm_errh *errh, int rc)
{
	MPI_Comm none = MPI_COMM_NULL;

	if (VM_LIKELY(rc == MPI_SUCCESS))
		return MPI_SUCCESS;
	return vm_call_fail_on(call, errh, &none, NULL, rc);
}

/* Members of the process sets, of which the caller is always one. */
static bool is_world(const struct vm_rank *rank)
{
	return true;
}

static bool is_self(const struct vm_rank *rank)
{
	return rank == vm_rank_self();
}

static const struct {
	const char *name;
	bool (*has)(const struct vm_rank *rank);
} psets[] = {
	{ "mpi://WORLD", is_world },
	{ "mpi://SELF", is_self },
	{ "vmpi://HOST", vm_process_near },
	{ "vmpi://PROCESS", vm_rank_here },
};
#define PSETS ((int)(sizeof(psets) / sizeof(psets[0])))

/* Finds a process set; their names are the same in all letters, large and small.
 * PSETS: there is none. */
static int pset_of(const char *name)
{
	int pset = 0;

	while (pset < PSETS && strcasecmp(name, psets[pset].name) != 0)
		pset++;
	return pset;
}

static int check_pset(struct vm_call *call, const char *name, int *pset)
{
	int rc = vm_check_pointer(call, name, "pset_name");

	if (rc != 0)
		return rc;
	*pset = pset_of(name);
	if (*pset < PSETS)
		return 0;
	return vm_error(call, MPI_ERR_ARG, "no process set has the name \"%s\"",
			name);
}

/* Makes the group of a process set; NULL when out of memory. */
static struct vm_group *pset_group(int pset)
{
	const struct vm_group *world = vm_rank_self()->world->group;
	struct vm_group *group = vm_group_new(world->size);

	if (!group)
		return NULL;
	group->size = 0;
	for (int i = 0; i < world->size; i++)
		if (psets[pset].has(world->ranks[i]))
			group->ranks[group->size++] = world->ranks[i];
	return group;
}

int vm_pset_color(const char *name, int *color)
{
	struct vm_group *group;
	int pset = pset_of(name);

	*color = VMPI_UNDEFINED;
	if (pset == PSETS)
		return 0;
	group = pset_group(pset);
	if (!group)
		return MPI_ERR_NO_MEM;
	*color = (int)group->ranks[0]->index;
	vm_group_drop(group);
	return 0;
}

int PMPI_Group_from_session_pset(MPI_Session session, const char *pset_name,
				 MPI_Group *newgroup)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	struct vm_group *group = NULL;
	int pset, rc = vm_session_enter(&call, VM_CALL_Group_from_session_pset,
					session, &s);

	if (rc == 0)
		rc = check_pset(&call, pset_name, &pset);
	if (rc == 0)
		rc = vm_check_pointer(&call, newgroup, "newgroup");
	if (rc == 0) {
		group = pset_group(pset);
		rc = group ? vm_mpi_group_new(call.mpi, newgroup, group,
					      vm_group_place(group,
							     call.mpi->rank)) :
			     MPI_ERR_NO_MEM;
	}
	if (rc == 0)
		vm_mpi_group_from(*newgroup, s);
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info,
			       int *npset_names)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_get_num_psets, session,
				  &s);

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = vm_check_pointer(&call, npset_names, "npset_names");
	if (rc == 0)
		*npset_names = PSETS;
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n,
			      int *pset_len, char *pset_name)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_get_nth_pset, session,
				  &s);

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0 && (n < 0 || n >= PSETS))
		rc = vm_error(&call, MPI_ERR_ARG,
			      "n is %d; process sets are 0 to %d", n,
			      PSETS - 1);
	if (rc == 0)
		rc = vm_check_pointer(&call, pset_len, "pset_len");
	if (rc == 0 && *pset_len < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "pset_len %d is negative",
			      *pset_len);
	if (rc == 0 && *pset_len > 0)
		rc = vm_check_pointer(&call, pset_name, "pset_name");
	if (rc == 0) {
		if (*pset_len > 0)
			snprintf(pset_name, (size_t)*pset_len, "%s",
				 psets[n].name);
		*pset_len = (int)strlen(psets[n].name) + 1;
	}
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_get_pset_info(MPI_Session session, const char *pset_name,
			       MPI_Info *info)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	struct vm_group *group;
	char size[16];
	int pset, rc = vm_session_enter(&call, VM_CALL_Session_get_pset_info,
					session, &s);

	if (rc == 0)
		rc = check_pset(&call, pset_name, &pset);
	if (rc == 0)
		rc = vm_check_pointer(&call, info, "info");
	if (rc == 0)
		rc = vm_info_new(call.mpi, info);
	if (rc == 0) {
		group = pset_group(pset);
		if (group)
			snprintf(size, sizeof(size), "%d", group->size);
		rc = group ? vm_info_put(*info, "mpi_size", size) :
			     MPI_ERR_NO_MEM;
		vm_group_drop(group);
	}
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_create_errhandler(
	MPI_Session_errhandler_function *session_errhandler_fn,
	MPI_Errhandler *errhandler)
{
	struct vm_call call =
		vm_call_enter_early(VM_CALL_Session_create_errhandler);
	struct vm_errh user = { .of = VM_ERRH_OF_SESSION,
				.function.session = session_errhandler_fn };

	return vm_call_exit_self(&call, vm_errh_make(&call, errhandler, &user));
}

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_set_errhandler,
				  session, &s);

	if (rc == 0)
		rc = vm_errh_put(&call, &s->errh, VM_ERRH_OF_SESSION,
				 errhandler);
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_get_errhandler,
				  session, &s);

	if (rc == 0)
		rc = vm_errh_get(&call, s->errh, errhandler);
	return vm_session_exit(&call, session, rc);
}

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_call_errhandler,
				  session, &s);

	if (rc == 0)
		rc = vm_check_raised(&call, errorcode);
	if (rc != 0)
		return vm_session_exit(&call, session, rc);
	vm_session_exit(&call, session, errorcode);
	return MPI_SUCCESS;
}
