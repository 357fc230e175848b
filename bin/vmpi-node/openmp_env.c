/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's defaults are for a process that has the machine for itself.
 */
#include "openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "node.h"
#include "sched/topo.h"

/* What is not set by the user. */
static void preset(const char *name, const char *value)
{
	setenv(name, value, 0);
}

/* The OpenMP library would bind the same threads of all ranks to the same
 * processor, as it knows one process. */
static void places_drop(void)
{
	static const char *const names[] = { "OMP_PROC_BIND", "OMP_PLACES",
					     "GOMP_CPU_AFFINITY",
					     "KMP_AFFINITY" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (!value || !strcasecmp(value, "false"))
			continue;
		if (node.boot->process == 0)
			vm_log(VM_WARN,
			       "%s=%s is not heeded: OpenMP would bind the "
			       "threads of all ranks of a process alike",
			       names[i], value);
		unsetenv(names[i]);
	}
}

static bool is_llvm(void)
{
	return vm_image_needs(node.image, "libomp.so") ||
	       vm_image_needs(node.image, "libiomp5.so");
}

bool openmp_is_used(void)
{
	return is_llvm() || vm_image_needs(node.image, "libgomp.so");
}

int openmp_prepare(void)
{
	bool llvm = is_llvm();
	int cores, share;
	const char *given;
	char text[16];

	if (!openmp_is_used())
		return 0;
	if (node.ranks > 1)
		places_drop();
	if (vm_image_static_tls(node.image) &&
	    vm_image_calls(node.image, "__cxa_thread_atexit")) {
		vm_log(VM_ERROR,
		       "%s: it uses OpenMP and has C++ objects in thread-local "
		       "variables with a fixed place, which a parallel region "
		       "would move; build it without -ftls-model=initial-exec",
		       node.argv[0]);
		return -VMPI_EINVAL;
	}
	if (vm_topo_init())
		return 0;
	cores = vm_topo_cores();
	share = cores / node.ranks;
	snprintf(text, sizeof(text), "%d", share > 1 ? share : 1);
	if (node.ranks > 1 || node.boot->shares > 1)
		preset("OMP_NUM_THREADS", text);
	if (llvm)
		/* A thread's number is found in its thread-local variable,
		 * which is exchanged at switches, and not by its stack. */
		preset("KMP_GTID_MODE", "3");
	/* Threads that poll for each other keep those from running. */
	given = getenv("OMP_NUM_THREADS");
	if (node.ranks > 1 && given && !getenv("GOMP_SPINCOUNT") &&
	    !getenv("KMP_BLOCKTIME") &&
	    strtol(given, NULL, 10) * node.ranks > cores)
		preset("OMP_WAIT_POLICY", "passive");
	return 0;
}
