/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Monitored sections of a program (vmpi-overlap(7)): by name, or by
 * MPI_Pcontrol(), which every MPI has, so that programs need no #ifdef.
 */
#include <stdarg.h>

#include "mpi/call/call.h"

/* Levels of MPI_Pcontrol; 2, flush, is a no-op. */
enum { WATCH_OFF = 0, WATCH_ON = 1, SECTION_BEGIN = 3, SECTION_END = -3 };

/* Reports an error.  The calls are allowed at any time; only errors need a
 * rank. */
static VM_PRINTF(1, 0) int mistake(const char *what, const char *name)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Pcontrol);

	return vm_call_exit_self(&call, vm_error(&call, MPI_ERR_ARG, what,
						 name ? name : ""));
}

int PMPIX_Section_begin(const char *name)
{
	if (vmpi_section_begin(name) == 0)
		return MPI_SUCCESS;
	return mistake("a section has a name, not \"%s\"", name);
}

int PMPIX_Section_end(const char *name)
{
	if (vmpi_section_end(name) == 0)
		return MPI_SUCCESS;
	return mistake("the section \"%s\" is not the innermost one that is "
		       "open",
		       name);
}

int PMPI_Pcontrol(const int level, ...)
{
	int rc = MPI_SUCCESS;
	va_list args;

	va_start(args, level);
	if (level == WATCH_OFF || level == WATCH_ON)
		vmpi_overlap_switch(level == WATCH_ON);
	else if (level == SECTION_BEGIN)
		rc = PMPIX_Section_begin(va_arg(args, const char *));
	else if (level == SECTION_END)
		rc = PMPIX_Section_end(va_arg(args, const char *));
	va_end(args);
	return rc;
}

extern __typeof__(PMPIX_Section_begin) MPIX_Section_begin
	__attribute__((weak, alias("PMPIX_Section_begin")));
extern __typeof__(PMPIX_Section_end) MPIX_Section_end
	__attribute__((weak, alias("PMPIX_Section_end")));
