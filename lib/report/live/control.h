/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asking the control socket of a node process (introspect/export/control.h).
 */
#ifndef REPORT_LIVE_CONTROL_H
#define REPORT_LIVE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "introspect/export/control.h"

/* Whether there is one, answering or not. */
bool vm_control_there(const char *socket_path);

/*
 * Sends a request and waits up to timeout_ms for its answer.  0: answer is what
 * stands behind "ok"; -VMPI_EINVAL: it is what stands behind "error";
 * -VMPI_ENOENT (nobody listens), -VMPI_EAGAIN (no answer in time), -VMPI_EIO,
 * -VMPI_ELIMIT (the request is too long or has a newline): answer says so.
 */
int vm_control_ask(char answer[VM_CONTROL_LINE_MAX], const char *socket_path,
		   const char *request, int timeout_ms);

#endif
