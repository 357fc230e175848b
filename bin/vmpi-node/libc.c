/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same version is taken for the same library.
 */
#include "libc.h"

#include <stdlib.h>
#include <string.h>

#include "core/libc/probe.h"
#include "real.h"

bool libc_loads_many(const struct vm_job *job, char *why, size_t bytes)
{
	char *self;
	bool can;

	if (job->libc && !strcmp(job->libc, vm_probe_version()))
		return true;
	/* A rank that asks means the node program, too (exe_path.c). */
	self = REAL(realpath)("/proc/self/exe", NULL);
	can = !self || vm_probe_ask(self, why, bytes);
	free(self);
	return can;
}
