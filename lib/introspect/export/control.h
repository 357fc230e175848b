/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The language of the control socket: a line asks, a line answers.
 *
 * Who listens is core/service/control.h, who asks report/live/control.h.
 */
#ifndef INTROSPECT_EXPORT_CONTROL_H
#define INTROSPECT_EXPORT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "introspect/vars/cvar.h"

/*
 * Requests and answers:
 *
 *	ping				ok vmpi VERSION
 *	get NAME			ok VALUE
 *	set NAME VALUE			ok
 *	rank R get NAME			ok VALUE
 *	rank R set NAME VALUE		ok
 *
 * An answer may also be "error " and one sentence that says what is wrong and
 * what would be right.  A value goes to the end of its line.
 */

/* Bytes of a request or an answer, with the final zero. */
#define VM_CONTROL_LINE_MAX (VM_VAR_TEXT_MAX + 256)

/* Suffix to the path of the shared-memory file (introspect/export/export.h). */
#define VM_CONTROL_SUFFIX ".control"

/* Access to the values that ranks have of their own, by the layer of ranks.
 * Results as of vm_cvar_store(); -VMPI_ERANK: no such rank here. */
struct vm_control_ranks {
	int (*load)(int64_t *value, int rank, int number);
	int (*store)(int rank, int number, int64_t value);
};

/*
 * Carries out a line, which ends with a zero, and writes the answer without a
 * newline; blanks at both ends are ignored.  ranks may be NULL.  Any bytes are
 * safe.  Nothing is logged.  Any thread; never switches.
 */
void vm_control_answer(char answer[VM_CONTROL_LINE_MAX], const char *line,
		       const struct vm_control_ranks *ranks);

/* The path of the socket of the process whose shared-memory file is at path. */
void vm_control_path(char *socket_path, size_t bytes, const char *share_path);

#endif
