/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's defaults are for a process that has the machine for itself.
 */
#include "openmp.h"

#include <stdio.h>
#include <stdlib.h>

#include "node.h"
#include "sched/topo.h"

/* What is not set by the user. */
static void preset(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 0);
}

void openmp_prepare(void)
{
	bool llvm = vm_image_needs(node.image, "libomp.so") ||
		    vm_image_needs(node.image, "libiomp5.so");
	int cores, share;
	const char *given;

	if (!llvm && !vm_image_needs(node.image, "libgomp.so"))
		return;
	if (vm_topo_init())
		return;
	cores = vm_topo_cores();
	share = cores / node.ranks;
	preset("OMP_NUM_THREADS", share > 1 ? share : 1);
	if (!llvm)
		return;
	/* A thread's number is found in its thread-local variable, which is
	 * exchanged at switches, and not by its stack. */
	preset("KMP_GTID_MODE", 3);
	/* Its threads poll for 200 ms after each region. */
	given = getenv("OMP_NUM_THREADS");
	if (node.ranks > 1 && given &&
	    strtol(given, NULL, 10) * node.ranks > cores)
		preset("KMP_BLOCKTIME", 0);
}
