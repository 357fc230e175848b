/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Monitored sections, and switching observation on and off: by the main task of
 * a rank, whose computation and calls they divide.  For other tasks, and while
 * nothing is observed, these do nothing.
 */
#include "core/instrument/overlap_events.h"
#include "core/instrument/profiler.h"
#include "sched/ult.h"
#include "vmpi.h"

static struct vm_overlap *watched(void)
{
	return vm_overlap_events_on() && vm_self ? vm_self->overlap : NULL;
}

int vmpi_section_begin(const char *name)
{
	struct vm_overlap *overlap = watched();

	if (!name || !name[0])
		return -VMPI_EINVAL;
	vm_profiler_section_begin(name);
	if (overlap)
		vm_overlap_section_begin(overlap, vm_clock_ticks(), name);
	return 0;
}

int vmpi_section_end(const char *name)
{
	struct vm_overlap *overlap = watched();
	int rc = vm_profiler_section_end(name);

	if (!overlap)
		return rc;
	return vm_overlap_section_end(overlap, vm_clock_ticks(), name);
}

void vmpi_overlap_switch(int on)
{
	struct vm_overlap *overlap = watched();

	vm_profiler_switch(on != 0);
	if (overlap)
		vm_overlap_switch(overlap, vm_clock_ticks(), on != 0);
}
