/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions to MPI: rank time and core time.
 *
 * They may be called at any time, even before MPI_Init and after MPI_Finalize,
 * and cannot fail: without a core to measure they do nothing.
 */
#include <mpi.h>

#include "base/clock.h"
#include "core/instrument/times.h"
#include "mpi/call/calls.h"
#include "vmpi.h"

double PMPIX_Rtime(void)
{
	return vm_clock_span(vm_times_rank());
}

double PMPIX_Ptime(void)
{
	return vm_clock_span(vm_times_core());
}

void PMPIX_Start_processor_timer(void)
{
	vmpi_core_timer_start();
}

/* Does nothing without a start, as in the paper. */
void PMPIX_Stop_processor_timer(void)
{
	vmpi_core_timer_stop();
}

MPIX_CALLS(MPIX_WEAK_ALIAS)
