/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event registrations of MPI_T and their callbacks.
 *
 * A callback and its argument are written once and kept until the registration
 * ends, because other threads may be about to call it while it is replaced.
 */
#include <stdlib.h>

#include "base/lock.h"
#include "introspect/vars/event.h"
#include "mpi/tool/tool.h"
#include "mpi/tool/event.h"

struct hook {
	struct hook *next;
	MPI_T_event_registration handle;
	MPI_T_event_cb_function *fn;
	void *user;
};

struct registration {
	struct vm_event_handle *event;
	MPI_T_event_registration handle;
	struct vm_lock lock; /* guards the hooks */
	struct hook *hooks;  /* all there were */
	_Atomic(MPI_T_event_dropped_cb_function *) dropped;
	MPI_T_event_free_cb_function *freed; /* and its argument */
	void *freed_user;
};

static const MPI_T_cb_safety levels[VM_SAFETIES] = {
	[VM_SAFETY_NONE] = MPI_T_CB_REQUIRE_NONE,
	[VM_SAFETY_RESTRICTED] = MPI_T_CB_REQUIRE_MPI_RESTRICTED,
	[VM_SAFETY_THREAD_SAFE] = MPI_T_CB_REQUIRE_THREAD_SAFE,
	[VM_SAFETY_SIGNAL_SAFE] = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
};

/* Returns a safety level; VM_SAFETIES if invalid. */
static enum vm_event_safety safety_of(MPI_T_cb_safety level)
{
	int i = 0;

	while (i < VM_SAFETIES && levels[i] != level)
		i++;
	return (enum vm_event_safety)i;
}

static struct registration *registration_of(MPI_T_event_registration handle)
{
	return vm_tool_object(handle, VM_TOOL_EVENT);
}

/* Functions that introspect/vars/event.h calls. */

static void event_told(const struct vm_event *event,
		       struct vm_event_handle *handle,
		       enum vm_event_safety safety, void *arg)
{
	const struct hook *hook = arg;

	(void)handle;
	hook->fn((MPI_T_event_instance)(uintptr_t)event, hook->handle,
		 levels[safety], hook->user);
}

static void drop_told(uint64_t count, struct vm_event_handle *handle,
		      int source, enum vm_event_safety safety, void *arg)
{
	struct registration *reg = vm_event_attached(handle);
	const struct hook *hook = arg;
	MPI_T_event_dropped_cb_function *fn =
		atomic_load_explicit(&reg->dropped, memory_order_acquire);

	if (fn)
		fn((MPI_Count)count, hook->handle, source, levels[safety],
		   hook->user);
}

static void end_told(struct vm_event_handle *handle,
		     enum vm_event_safety safety, void *arg)
{
	struct registration *reg = arg;
	struct hook *hook = reg->hooks, *next;

	(void)handle;
	if (reg->freed)
		reg->freed(reg->handle, levels[safety], reg->freed_user);
	for (; hook; hook = next) {
		next = hook->next;
		free(hook);
	}
	free(reg);
}

/* Frees a registration whose owner ends before it. */
static void registration_end(void *object)
{
	struct registration *reg = object;

	vm_event_unregister(reg->event, end_told, reg);
}

/* The functions. */

static int registration_new(struct registration **out, int id)
{
	struct registration *reg = calloc(1, sizeof(*reg));
	int view = vm_tool_view();
	int rc = -VMPI_ENOMEM;

	if (reg)
		rc = vm_event_register(&reg->event, id,
				       view >= 0 ? view : VM_EVENT_ALL);
	if (rc) {
		free(reg);
		return MPI_T_ERR_MEMORY;
	}
	vm_event_attach(reg->event, reg);
	vm_event_on_dropped(reg->event, drop_told);
	reg->handle = (MPI_T_event_registration)vm_tool_handle_new(
		VM_TOOL_EVENT, reg, registration_end);
	if (!reg->handle) {
		registration_end(reg);
		return MPI_T_ERR_OUT_OF_HANDLES;
	}
	*out = reg;
	return MPI_SUCCESS;
}

int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
			      MPI_T_event_registration *event_registration)
{
	struct registration *reg;
	int rc;

	(void)obj_handle; /* no type is bound to an object */
	(void)info;	  /* there are no hints */
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_event_row(event_index))
		return MPI_T_ERR_INVALID_INDEX;
	if (!event_registration)
		return MPI_T_ERR_INVALID;
	rc = registration_new(&reg, event_index);
	if (!rc)
		*event_registration = reg->handle;
	return rc;
}

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration,
			     void *user_data,
			     MPI_T_event_free_cb_function free_cb_function)
{
	struct registration *reg;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	reg = vm_tool_object_take(event_registration, VM_TOOL_EVENT);
	if (!reg)
		return MPI_T_ERR_INVALID_HANDLE;
	reg->freed = free_cb_function;
	reg->freed_user = user_data;
	vm_event_unregister(reg->event, end_told, reg);
	return MPI_SUCCESS;
}

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration,
				 MPI_Info info)
{
	(void)info;
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	return registration_of(event_registration) ? MPI_SUCCESS :
						     MPI_T_ERR_INVALID_HANDLE;
}

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration,
				 MPI_Info *info_used)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!registration_of(event_registration))
		return MPI_T_ERR_INVALID_HANDLE;
	return info_used ? vm_tool_info(info_used) : MPI_T_ERR_INVALID;
}

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety, MPI_Info info,
				   void *user_data,
				   MPI_T_event_cb_function event_cb_function)
{
	enum vm_event_safety safety = safety_of(cb_safety);
	struct registration *reg;
	struct hook *hook = NULL;

	(void)info;
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	reg = registration_of(event_registration);
	if (!reg)
		return MPI_T_ERR_INVALID_HANDLE;
	if (safety == VM_SAFETIES)
		return MPI_T_ERR_INVALID;
	if (event_cb_function) {
		hook = malloc(sizeof(*hook));
		if (!hook)
			return MPI_T_ERR_MEMORY;
		*hook = (struct hook){ .handle = reg->handle,
				       .fn = event_cb_function,
				       .user = user_data };
	}
	vm_lock_take(&reg->lock);
	if (hook) {
		hook->next = reg->hooks;
		reg->hooks = hook;
	}
	vm_event_callback(reg->event, safety, hook ? event_told : NULL, hook);
	vm_lock_give(&reg->lock);
	return MPI_SUCCESS;
}

/* Checks the handle and the safety level of a callback. */
static int callback_check(MPI_T_event_registration handle,
			  MPI_T_cb_safety cb_safety)
{
	enum vm_event_safety safety = safety_of(cb_safety);
	struct registration *reg;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	reg = registration_of(handle);
	if (!reg)
		return MPI_T_ERR_INVALID_HANDLE;
	return safety == VM_SAFETIES ? MPI_T_ERR_INVALID : MPI_SUCCESS;
}

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety, MPI_Info info)
{
	(void)info;
	return callback_check(event_registration, cb_safety);
}

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety,
				   MPI_Info *info_used)
{
	int rc = callback_check(event_registration, cb_safety);

	if (rc)
		return rc;
	return info_used ? vm_tool_info(info_used) : MPI_T_ERR_INVALID;
}

int PMPI_T_event_set_dropped_handler(
	MPI_T_event_registration event_registration,
	MPI_T_event_dropped_cb_function dropped_cb_function)
{
	struct registration *reg;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	reg = registration_of(event_registration);
	if (!reg)
		return MPI_T_ERR_INVALID_HANDLE;
	atomic_store_explicit(&reg->dropped, dropped_cb_function,
			      memory_order_release);
	return MPI_SUCCESS;
}
