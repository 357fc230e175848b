/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to the control socket of a node process
 * (introspect/export/control.h).
 */
#ifndef REPORT_LIVE_CONTROL_H
#define REPORT_LIVE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "introspect/export/control.h"

/* Whether there is one, answering or not. */
bool vm_control_there(const char *socket_path);

/*
 * Sends a request and waits up to timeout_ms for its answer.  0: answer is the
 * text after "ok"; -VMPI_EINVAL: the text after "error"; -VMPI_ENOENT (no
 * listener), -VMPI_EAGAIN (no answer in time), -VMPI_EIO, -VMPI_ELIMIT (the
 * request is too long or has a newline): answer is the reason.
 */
int vm_control_ask(char answer[VM_CONTROL_LINE_MAX], const char *socket_path,
		   const char *request, int timeout_ms);

#endif
