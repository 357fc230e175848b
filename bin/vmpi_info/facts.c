/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function per group of facts; nothing is measured but the clock, only
 * asked.
 */
#include "facts.h"

#include <gnu/libc-version.h>
#include <hwloc.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "boot/job.h"
#include "core/libc/probe.h"
#include "introspect/vars/config.h"
#include "sched/counter.h"
#include "sched/stack.h"
#include "sched/topo.h"
#include "sched/vars.h"
#include "vmpi.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void __attribute__((format(printf, 3, 4)))
fact(enum form form, const char *name, const char *format, ...)
{
	char value[VM_VAR_PATH_MAX + 64];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (form == FORM_PARSEABLE)
		text_fields("fact", name, value, NULL);
	else
		printf("%-16s%s\n", name, value);
}

/* How ranks run on this host. */
static const char *ranks_are(char *text, size_t bytes)
{
	char node[PATH_MAX], why[200];

	if (vm_job_node_path(node, sizeof(node)))
		return "unknown: the node program is missing";
	if (vm_probe_ask(node, why, sizeof(why)))
		return "tasks, each with a copy of the program";
	snprintf(text, bytes, "processes, because of %s", why);
	return text;
}

static void build_facts(enum form form)
{
	char why[256];
	unsigned built = HWLOC_API_VERSION, runs = hwloc_get_api_version();
	struct utsname system;

	fact(form, "version", "%s", vmpi_version());
	fact(form, "compiler", "%s", COMPILER);
	fact(form, "build", "%s", VM_BUILD_OPTIONS);
	fact(form, "libc", "glibc %s (built with %d.%d)",
	     gnu_get_libc_version(), __GLIBC__, __GLIBC_MINOR__);
	fact(form, "ranks", "%s", ranks_are(why, sizeof(why)));
	fact(form, "hwloc", "API %u.%u.%u (built with %u.%u.%u)", runs >> 16,
	     runs >> 8 & 255, runs & 255, built >> 16, built >> 8 & 255,
	     built & 255);
	if (uname(&system) == 0)
		fact(form, "system", "%s %s %s", system.sysname, system.release,
		     system.machine);
}

/* A number that the kernel keeps in a file; false if it cannot be read. */
static bool kernel_number(const char *path, unsigned long *number)
{
	FILE *file = fopen(path, "re");
	bool found;

	if (!file)
		return false;
	found = fscanf(file, "%lu", number) == 1;
	fclose(file);
	return found;
}

/* Prints the counters available for ranks, and their sources. */
static void counter_facts(enum form form)
{
	char can[256] = "", cannot[256] = "";
	size_t used = 0, left = 0;

	for (int kind = 0; kind < VMPI_COUNTER_KINDS; kind++) {
		struct vmpi_counter counter = { .source = vm_counter_probe(
							kind) };
		const char *name = vmpi_counter_name(kind);

		if (counter.source == VM_COUNTER_NONE)
			left += (size_t)snprintf(cannot + left,
						 sizeof(cannot) - left, " %s",
						 name);
		else
			used += (size_t)snprintf(can + used, sizeof(can) - used,
						 "%s%s (%s)", used ? " " : "",
						 name,
						 vmpi_counter_source(&counter));
	}
	fact(form, "counters", "%s%s%s", used ? can : "none",
	     left ? "; not available:" : "", cannot);
}

static void machine_facts(enum form form)
{
	unsigned long maps;

	if (vm_topo_init() == 0) {
		fact(form, "processors", "%d cores, %d hardware threads",
		     vm_topo_cores(), vm_topo_processors());
		vm_topo_fini();
	}
	vm_clock_start((enum vm_clock_choice)sched_cvar.clock);
	vm_clock_ready();
	fact(form, "clock", "%s, %.6g ns per tick (%s)",
	     vm_clock.counter ? "the CPU's counter" : "CLOCK_MONOTONIC",
	     vm_clock.tick_ns, vm_clock.why);
	counter_facts(form);
	fact(form, "stack of a rank",
	     "%zu KiB of few ranks, %zu KiB of 8192, by ulimit -s; or "
	     "sched_stack_bytes",
	     vm_stack_bytes_of(1) / 1024, vm_stack_bytes_of(8192) / 1024);
	fact(form, "stack guard", "%s, of many ranks %s; %zu KiB",
	     vm_guard_name(VM_GUARD_MPROTECT), vm_guard_name(vm_guard_probe()),
	     VM_STACK_GUARD_BYTES / 1024);
	if (kernel_number("/proc/sys/vm/max_map_count", &maps))
		fact(form, "mappings", "at most %lu (vm.max_map_count)", maps);
}

static void file_fact(enum form form, const char *name, const char *path)
{
	if (path)
		fact(form, name, "%s%s", path,
		     access(path, R_OK) == 0 ? "" : " (does not exist)");
	else
		fact(form, name, "none");
}

void facts_print(enum form form)
{
	char user_path[VM_VAR_PATH_MAX];
	struct vm_var_files files;

	build_facts(form);
	machine_facts(form);
	vm_var_files_usual(&files, user_path);
	file_fact(form, "system file", files.system);
	file_fact(form, "user file", files.user);
	file_fact(form, "VMPI_CONFIG", files.config);
}
