/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cancelling receives and sends that have not been matched.
 */
#ifndef CORE_COMM_CANCEL_H
#define CORE_COMM_CANCEL_H

#include "core/local/req.h"

/*
 * Withdraws a receive that is not matched, or a send whose receiver has not
 * seen it: it then completes with -VMPI_ECANCELED in status.error.
 */
void vm_req_cancel(struct vm_req *req);

#endif
