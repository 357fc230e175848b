/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the short ways do not do on the spot.
 */
#include "core/comm/quick.h"

void vm_quick_copy(struct vm_req *req, const void *addr)
{
	memcpy(req->data.addr, addr, req->status.bytes);
	vm_quick_complete(vm_self->worker, req);
}
