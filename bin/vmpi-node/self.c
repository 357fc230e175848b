/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank finds out about its thread: the stack that it is on is not that of
 * the OS thread.  Garbage collectors look for references there, and others measure
 * how deep a recursion may go.
 */
#include <pthread.h>
#include <sys/resource.h>

#include "real.h"

NODE_EXPORT int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	int error = REAL(pthread_getattr_np)(thread, attr);

	if (error || !node_copy() || !vm_self || !vm_self->stack.base ||
	    !pthread_equal(thread, pthread_self()))
		return error;
	error = pthread_attr_setstack(attr, vm_self->stack.base,
				      vm_self->stack.bytes);
	if (error)
		pthread_attr_destroy(attr);
	return error;
}
