/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions and handles of MPI_T, on top of introspect/vars/session.h.
 *
 * All variables are continuous: they are started when their handle is allocated
 * and cannot be stopped.  Values are counted from the allocation of the handle.
 */
#include <stdlib.h>
#include <string.h>

#include "core/local/chan_stats.h"
#include "introspect/vars/session.h"
#include "mpi/tool/tool.h"

struct session {
	uintptr_t id; /* 0: it has none yet */
	struct vm_session *session;
	struct vm_lock lock;
	struct vm_list handles; /* under lock */
};

struct handle {
	struct session *session;
	struct vm_handle *handle;
	struct vm_chan_stats *special; /* whose block it sees; or NULL */
	/* Values before conversion, if they are not 64-bit numbers. */
	uint64_t *values; /* under lock; or NULL */
	struct vm_lock lock;
	struct vm_list link; /* in its session */
	uintptr_t id;
	const struct vm_pvar *row;
};

static void handle_free(struct handle *handle)
{
	if (handle->handle)
		vm_handle_free(handle->handle);
	if (handle->special) {
		vm_chan_stats_unwatch();
		vm_chan_stats_drop(handle->special);
	}
	free(handle->values);
	free(handle);
}

/* Frees a session that can no longer be found, though its handles may be. */
static void session_free(void *object)
{
	struct session *session = object;
	struct vm_list *link;

	vm_lock_take(&session->lock);
	while ((link = vm_list_pop(&session->handles))) {
		struct handle *handle =
			vm_container_of(link, struct handle, link);

		vm_tool_object_take((void *)handle->id, VM_TOOL_PVAR);
		handle_free(handle);
	}
	vm_lock_give(&session->lock);
	vm_session_free(session->session);
	free(session);
}

int PMPI_T_pvar_session_create(MPI_T_pvar_session *session)
{
	struct session *made;
	uintptr_t id;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!session)
		return MPI_T_ERR_INVALID;
	*session = MPI_T_PVAR_SESSION_NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return MPI_T_ERR_MEMORY;
	vm_lock_init(&made->lock);
	vm_list_init(&made->handles);
	if (vm_session_new(&made->session, vm_tool_view()) != 0) {
		free(made);
		return MPI_T_ERR_MEMORY;
	}
	id = vm_tool_handle_new(VM_TOOL_SESSION, made, session_free);
	if (!id) {
		session_free(made);
		return MPI_T_ERR_OUT_OF_SESSIONS;
	}
	made->id = id;
	*session = (MPI_T_pvar_session)id;
	return MPI_SUCCESS;
}

int PMPI_T_pvar_session_free(MPI_T_pvar_session *session)
{
	struct session *taken;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!session)
		return MPI_T_ERR_INVALID;
	taken = vm_tool_object_take(*session, VM_TOOL_SESSION);
	if (!taken)
		return MPI_T_ERR_INVALID_SESSION;
	session_free(taken);
	*session = MPI_T_PVAR_SESSION_NULL;
	return MPI_SUCCESS;
}

/* Binds a handle to a communicator's counters, maintained from now on if they
 * were not yet. */
static int handle_bind(struct handle *handle, struct vm_handle_want *want,
		       const void *obj_handle)
{
	int rc = vm_tool_bind(&handle->special, obj_handle);

	if (rc)
		return rc;
	vm_chan_stats_watch();
	want->block = &handle->special->pvars;
	want->refresh = vm_chan_stats_refresh;
	return 0;
}

/* Completes a handle whose session and row are set. */
static int handle_fill(struct handle *handle, struct vm_handle_want *want,
		       const void *obj_handle)
{
	int rc = handle->row->of == VM_PVAR_CHAN ?
			 handle_bind(handle, want, obj_handle) :
			 0;

	if (rc)
		return rc;
	rc = vm_handle_new(&handle->handle, handle->session->session, want);
	if (rc)
		return rc == -VMPI_ENOTSUP ? MPI_T_ERR_NOT_ACCESSIBLE :
					     MPI_T_ERR_MEMORY;
	if (vm_tool_pvar_type(handle->row) == MPI_UNSIGNED_LONG_LONG)
		return 0;
	handle->values = calloc(vm_handle_count(handle->handle),
				sizeof(*handle->values));
	return handle->values ? 0 : MPI_T_ERR_MEMORY;
}

/* Makes a handle in the session that cannot be found yet: 0 or an error. */
static int handle_new(struct handle **handle, struct session *session,
		      const struct vm_tool_pvar *pvar, const void *obj_handle)
{
	struct vm_handle_want want = { .number = pvar->number,
				       .total = pvar->total };
	struct handle *made = calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return MPI_T_ERR_MEMORY;
	made->session = session;
	made->row = pvar->row;
	vm_lock_init(&made->lock);
	rc = handle_fill(made, &want, obj_handle);
	if (rc)
		handle_free(made);
	else
		*handle = made;
	return rc;
}

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int pvar_index,
			     void *obj_handle, MPI_T_pvar_handle *handle,
			     int *count)
{
	struct session *owner;
	struct vm_tool_pvar pvar;
	struct handle *made;
	int rc;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!handle)
		return MPI_T_ERR_INVALID;
	*handle = MPI_T_PVAR_HANDLE_NULL;
	owner = vm_tool_object(session, VM_TOOL_SESSION);
	if (!owner)
		return MPI_T_ERR_INVALID_SESSION;
	if (!vm_tool_pvar_at(&pvar, pvar_index))
		return MPI_T_ERR_INVALID_INDEX;
	rc = handle_new(&made, owner, &pvar, obj_handle);
	if (rc)
		return rc;
	made->id = vm_tool_handle_new(VM_TOOL_PVAR, made, NULL);
	if (!made->id) {
		handle_free(made);
		return MPI_T_ERR_OUT_OF_HANDLES;
	}
	if (!made->values)
		vm_tool_lend(made->id, made->handle, owner->id);
	vm_lock_take(&owner->lock);
	vm_list_append(&owner->handles, &made->link);
	vm_lock_give(&owner->lock);
	*handle = (MPI_T_pvar_handle)made->id;
	VM_TOOL_PUT(count, (int)vm_handle_count(made->handle));
	return MPI_SUCCESS;
}

/* Returns the handle if it belongs to the session; else NULL and the reason. */
static struct handle *handle_in(MPI_T_pvar_session session,
				MPI_T_pvar_handle handle, int *why)
{
	struct handle *found = vm_tool_object(handle, VM_TOOL_PVAR);

	/* The handles of a session end with it. */
	if (VM_LIKELY(found && found->session->id == (uintptr_t)session))
		return found;
	*why = vm_tool_check() ? MPI_T_ERR_NOT_INITIALIZED :
	       !vm_tool_object(session, VM_TOOL_SESSION) ?
				 MPI_T_ERR_INVALID_SESSION :
				 MPI_T_ERR_INVALID_HANDLE;
	return NULL;
}

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session,
			    MPI_T_pvar_handle *handle)
{
	struct handle *found;
	int why;

	if (!handle)
		return vm_tool_check() ? MPI_T_ERR_NOT_INITIALIZED :
					 MPI_T_ERR_INVALID;
	found = handle_in(session, *handle, &why);
	if (!found)
		return why;
	/* Only one of concurrent callers gets it. */
	if (!vm_tool_object_take(*handle, VM_TOOL_PVAR))
		return MPI_T_ERR_INVALID_HANDLE;
	vm_lock_take(&found->session->lock);
	vm_list_remove(&found->link);
	vm_lock_give(&found->session->lock);
	handle_free(found);
	*handle = MPI_T_PVAR_HANDLE_NULL;
	return MPI_SUCCESS;
}

#define PERCENT_ONE 1e6 /* introspect/vars/pvar.h counts in millionths */

/* Writes a value that is no 64-bit number as the nth of buf. */
static void convert(const struct handle *handle, void *buf, unsigned nth,
		    uint64_t value)
{
	if (handle->row->class_ == VM_PVAR_STATE)
		((int *)buf)[nth] = (int)value;
	else
		((double *)buf)[nth] = (double)value / PERCENT_ONE;
}

static void converted_read(struct handle *handle, void *buf)
{
	unsigned count = vm_handle_count(handle->handle);
	uint64_t value;

	if (count == 1) {
		vm_handle_read(handle->handle, &value);
		convert(handle, buf, 0, value);
		return;
	}
	vm_lock_take(&handle->lock);
	vm_handle_read(handle->handle, handle->values);
	for (unsigned i = 0; i < count; i++)
		convert(handle, buf, i, handle->values[i]);
	vm_lock_give(&handle->lock);
}

/* What is not usual, or wrong. */
static __attribute__((noinline)) int
read_other(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
	struct handle *found;
	int why;

	found = handle_in(session, handle, &why);
	if (!found)
		return why;
	if (!buf)
		return MPI_T_ERR_INVALID;
	if (found->values)
		converted_read(found, buf);
	else
		vm_handle_read(found->handle, buf);
	return MPI_SUCCESS;
}

/* What has no shortcut, or one that is not right yet. */
static __attribute__((noinline)) int
read_lent(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
	struct vm_tool_slot *slot = vm_tool_lent(handle, session);
	struct vm_handle *inside =
		slot ? atomic_load_explicit(&slot->inside,
					    memory_order_acquire) :
		       NULL;

	if (!inside || !buf)
		return read_other(session, handle, buf);
	vm_handle_read(inside, buf);
	return MPI_SUCCESS;
}

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
		     void *buf)
{
	struct vm_tool_slot *slot = vm_tool_lent(handle, session);

	if (VM_LIKELY(slot && buf && vm_shortcut_read(&slot->shortcut, buf)))
		return MPI_SUCCESS;
	return read_lent(session, handle, buf);
}

int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
		      const void *buf)
{
	struct handle *found;
	int why;

	found = handle_in(session, handle, &why);
	if (!found)
		return why;
	if (!buf)
		return MPI_T_ERR_INVALID;
	return vm_handle_write(found->handle, buf) ? MPI_T_ERR_PVAR_NO_WRITE :
						     MPI_SUCCESS;
}

int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
			  void *buf)
{
	struct handle *found;
	int why;

	found = handle_in(session, handle, &why);
	if (!found)
		return why;
	if (!buf)
		return MPI_T_ERR_INVALID;
	if (!vm_handle_resets(found->handle))
		return MPI_T_ERR_PVAR_NO_WRITE;
	return vm_handle_readreset(found->handle, buf) ?
		       MPI_T_ERR_PVAR_NO_ATOMIC :
		       MPI_SUCCESS;
}

/* Checks a session whose handles are all meant: 0 or an error. */
static int all_check(MPI_T_pvar_session session)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	return vm_tool_object(session, VM_TOOL_SESSION) ?
		       MPI_SUCCESS :
		       MPI_T_ERR_INVALID_SESSION;
}

/* Resets a variable; those that cannot be reset are skipped. */
static int reset_one(struct vm_handle *handle, void *arg)
{
	(void)arg;
	if (vm_handle_resets(handle))
		vm_handle_reset(handle);
	return 0;
}

int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	struct handle *found;
	int why;

	if (handle == MPI_T_PVAR_ALL_HANDLES) {
		const struct session *owner =
			vm_tool_object(session, VM_TOOL_SESSION);

		if (owner)
			vm_session_each(owner->session, reset_one, NULL);
		return all_check(session);
	}
	found = handle_in(session, handle, &why);
	if (!found)
		return why;
	return vm_handle_reset(found->handle) ? MPI_T_ERR_PVAR_NO_WRITE :
						MPI_SUCCESS;
}

/* Continuous variables are skipped for "all" and refused one by one. */
static int startstop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	int why;

	if (handle == MPI_T_PVAR_ALL_HANDLES)
		return all_check(session);
	return handle_in(session, handle, &why) ? MPI_T_ERR_PVAR_NO_STARTSTOP :
						  why;
}

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	return startstop(session, handle);
}

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
	return startstop(session, handle);
}
