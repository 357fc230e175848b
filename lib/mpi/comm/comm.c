/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: creation, inquiries, names, freeing.
 */
#include "mpi/comm/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/meeting/chan_make.h"
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/call/errh.h"
#include "mpi/coll/algo/run.h"
#include "mpi/comm/group.h"
#include "mpi/comm/inter.h"

static bool comm_is_predefined(const struct vm_mpi *mpi,
			       const struct vm_comm *comm)
{
	return comm == &mpi->world || comm == &mpi->self;
}

int vm_comm_new(struct vm_mpi *mpi, struct vm_comm **out, struct vm_chan *chan,
		const struct vm_comm *parent)
{
	struct vm_comm *comm =
		vm_object_new(mpi, VM_OBJECT_COMM, sizeof(*comm));

	if (!comm) {
		vm_chan_free(chan);
		return MPI_ERR_NO_MEM;
	}
	vm_comm_init(comm, chan);
	comm->errh = vm_errh_hold(parent->errh);
	comm->session = parent->session;
	*out = comm;
	return 0;
}

void vm_comm_clear(struct vm_mpi *mpi, struct vm_comm *comm)
{
	vm_attrs_free(mpi, &comm->attrs);
	vm_errh_drop(mpi, comm->errh);
	if (comm->topo_ops)
		comm->topo_ops->drop(comm);
	free(comm->name);
	if (!comm_is_predefined(mpi, comm))
		vm_chan_free(comm->chan);
}

void vm_comm_discard(struct vm_mpi *mpi, struct vm_comm *comm)
{
	vm_comm_clear(mpi, comm);
	vm_object_free(mpi, VM_OBJECT_COMM, comm);
}

struct vm_comm *vm_comm_of_context(struct vm_mpi *mpi, uint32_t context)
{
	struct vm_comm *found = NULL;
	struct vm_list *link;

	context &= ~1u; /* of collectives: one more */
	if (mpi->world.context == context)
		return &mpi->world;
	if (mpi->self.context == context)
		return &mpi->self;
	vm_lock_take(&mpi->lock);
	vm_list_each(link, &mpi->alive[VM_OBJECT_COMM]) {
		struct vm_comm *comm =
			vm_container_of(link, struct vm_comm, object.link);

		if (comm->context == context)
			found = comm;
	}
	vm_lock_give(&mpi->lock);
	return found;
}

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_size);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		*size = c->local_size;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_rank);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, rank, "rank");
	if (rc == 0)
		*rank = c->rank;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_test_inter);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		*flag = c->inter;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_compare);
	struct vm_comm *a, *b;
	int rc = vm_check_comm(&call, comm1, &a);

	if (rc == 0)
		rc = vm_check_comm(&call, comm2, &b);
	if (rc == 0)
		rc = vm_check_pointer(&call, result, "result");
	if (rc == 0) {
		if (a == b)
			*result = MPI_IDENT;
		else if (a->inter || b->inter)
			rc = vm_inter_compare(a, b, result);
		else
			*result = vm_group_compare(a->chan->group,
						   b->chan->group);
		if (rc == 0 && *result == MPI_IDENT && a != b)
			*result = MPI_CONGRUENT;
	}
	return vm_call_exit(&call, comm1, rc);
}

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_group);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, group, "group");
	if (rc == 0 && c->inter)
		rc = vm_inter_group(&call, c, false, group);
	else if (rc == 0)
		rc = vm_mpi_group_new(call.mpi, group,
				      vm_group_hold(c->chan->group), c->rank);
	if (rc == 0)
		vm_mpi_group_from(*group, c->session);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_set_name(MPI_Comm comm, const char *name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_set_name);
	struct vm_comm *c;
	char *copy;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, name, "comm_name");
	if (rc == 0) {
		copy = strndup(name, MPI_MAX_OBJECT_NAME - 1);
		if (copy) {
			free(c->name);
			c->name = copy;
		}
		rc = copy ? 0 : MPI_ERR_NO_MEM;
	}
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_get_name(MPI_Comm comm, char *name, int *resultlen)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_get_name);
	struct vm_comm *c;
	int rc = vm_check_pointer(&call, name, "comm_name");

	if (rc == 0)
		rc = vm_check_pointer(&call, resultlen, "resultlen");
	if (rc == 0 && comm == MPI_COMM_NULL) {
		*resultlen =
			snprintf(name, MPI_MAX_OBJECT_NAME, "MPI_COMM_NULL");
		return vm_call_exit_self(&call, 0);
	}
	if (rc == 0)
		rc = vm_check_comm(&call, comm, &c);
	if (rc == 0)
		*resultlen =
			snprintf(name, MPI_MAX_OBJECT_NAME, "%s",
				 c->name || comm_is_predefined(call.mpi, c) ?
					 vm_comm_text(call.mpi, c) :
					 "");
	return vm_call_exit(&call, comm, rc);
}

/* Frees a communicator; meet: once all members have come here. */
static int comm_end(struct vm_call *call, MPI_Comm *comm, bool meet)
{
	struct vm_comm *c;
	int rc = vm_check_pointer(call, comm, "comm");

	if (rc != 0)
		return vm_call_exit_self(call, rc);
	rc = vm_check_comm(call, *comm, &c);
	if (rc == 0 && comm_is_predefined(call->mpi, c))
		rc = vm_error(call, MPI_ERR_COMM,
			      "predefined communicators cannot be freed");
	if (rc == 0 && meet) {
		struct vm_coll coll;

		vm_coll_init(&coll, &vm_coll_barrier, call, c);
		rc = vm_coll_run(call, &coll);
	}
	if (rc == 0 && c->bsend)
		rc = call->mpi->bsend_end(&c->bsend);
	if (rc == 0)
		rc = vm_attrs_delete(call->mpi, &c->attrs, *comm);
	if (rc != 0)
		return vm_call_exit(call, *comm, rc);
	if (c == call->mpi->parent)
		call->mpi->parent = NULL;
	vm_comm_discard(call->mpi, c);
	*comm = MPI_COMM_NULL;
	return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_free);

	return comm_end(&call, comm, false);
}

/* Members have completed what they have begun before they call this (MPI 4.1,
 * 11.10.4), so nothing is under way any more once all have come. */
int PMPI_Comm_disconnect(MPI_Comm *comm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_disconnect);

	return comm_end(&call, comm, true);
}

int PMPI_Comm_get_parent(MPI_Comm *parent)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_get_parent);
	int rc = vm_check_pointer(&call, parent, "parent");

	if (rc == 0)
		*parent = call.mpi->parent ? (MPI_Comm)call.mpi->parent :
					     MPI_COMM_NULL;
	return vm_call_exit_self(&call, rc);
}
