/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types at both ends of a message.
 */
#include "mpi/p2p/typed.h"

#include <stdlib.h>

#include "core/comm/cancel.h"
#include "mpi/call/persist.h"
#include "mpi/type/signature.h"

/* Where a receive goes: its request's user. */
struct typed {
	struct vm_type *type;
	size_t count;
};

void vm_typed_send(const struct vm_type *type, size_t count)
{
	if (vm_typed())
		vm_self->signature = vm_signature(type, count);
}

static void typed_free(struct vm_req *req)
{
	struct typed *typed = req->user;

	vm_type_drop(typed->type);
	free(typed);
}

int vm_typed_receive(struct vm_req *req, struct vm_type *type, size_t count)
{
	struct typed *typed;

	if (!vm_typed())
		return 0;
	typed = malloc(sizeof(*typed));
	if (!typed) {
		vm_req_cancel(req);
		vm_req_await(&req, 1, 1);
		vm_req_finish(req, NULL);
		return MPI_ERR_NO_MEM;
	}
	*typed = (struct typed){ vm_type_hold(type), count };
	req->user = typed;
	req->on_free = typed_free;
	return 0;
}

/* Finds where a receive goes; false: unknown. */
static bool typed_get(const struct vm_req *req, struct typed *typed)
{
	const struct vm_persist *persist = req->user;

	if (req->kind != VM_REQ_RECV || !req->user)
		return false;
	if (req->persistent)
		*typed = (struct typed){ persist->type, persist->count };
	else if (req->on_free == typed_free)
		*typed = *(const struct typed *)req->user;
	else
		return false;
	return typed->type != NULL;
}

int vm_typed_compare(struct vm_call *call, const struct vm_req *req)
{
	const vmpi_status *status = &req->status;
	char sent[96], received[96];
	struct typed typed;

	if (!typed_get(req, &typed) || status->error || !status->bytes ||
	    vm_signature_fits(req->signature, status->bytes, typed.type,
			      typed.count))
		return 0;
	if (!call)
		return MPI_ERR_TYPE;
	vm_signature_words(sent, sizeof(sent), req->signature, status->bytes);
	vm_signature_words(received, sizeof(received),
			   vm_signature(typed.type, typed.count),
			   typed.count * typed.type->size);
	return vm_error(call, MPI_ERR_TYPE,
			"rank %d sent %s with tag %d, which is received as %s",
			status->source, sent, status->tag, received);
}
