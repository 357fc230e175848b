/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allowed part of the machine, as lists of cores and processors.
 */
#include "sched/topo.h"

#include <errno.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "sched/vars.h"

static struct {
	hwloc_topology_t topology;
	hwloc_cpuset_t allowed;
	int cores, processors;
	int workers; /* of vm_topo_plan() */
	int shared;  /* shares per core; 0: there is a core for each */
	bool free;   /* we came with all there are */
} topo;

/* How many objects of a type hold an allowed processor; the nth of them. */
static int count_allowed(hwloc_obj_type_t type)
{
	int n = hwloc_get_nbobjs_inside_cpuset_by_type(topo.topology,
						       topo.allowed, type);
	int count = 0;

	if (n > 0 && type == HWLOC_OBJ_PU)
		return n;
	n = hwloc_get_nbobjs_by_type(topo.topology, type);
	for (int i = 0; i < n; i++) {
		hwloc_obj_t object =
			hwloc_get_obj_by_type(topo.topology, type, (unsigned)i);

		count += hwloc_bitmap_intersects(object->cpuset, topo.allowed);
	}
	return count;
}

static hwloc_obj_t nth_allowed(hwloc_obj_type_t type, int nth)
{
	int n = hwloc_get_nbobjs_by_type(topo.topology, type);

	for (int i = 0; i < n; i++) {
		hwloc_obj_t object =
			hwloc_get_obj_by_type(topo.topology, type, (unsigned)i);

		if (hwloc_bitmap_intersects(object->cpuset, topo.allowed) &&
		    nth-- == 0)
			return object;
	}
	return NULL;
}

static void allowed_count(void)
{
	topo.cores = count_allowed(HWLOC_OBJ_CORE);
	topo.processors = count_allowed(HWLOC_OBJ_PU);
	if (topo.processors < 1)
		topo.processors = 1;
	if (topo.cores < 1)
		topo.cores = topo.processors;
	topo.workers = topo.cores;
}

/* hwloc asks until it is told, which filters of system calls may prevent: then
 * what is known of the machine is the number of its processors. */
static int topology_load(hwloc_topology_t topology)
{
	unsigned long all[4096]; /* more than kernels can have */
	char text[32];

	if (syscall(SYS_sched_getaffinity, 0, sizeof(all), all) < 0 &&
	    errno != EINVAL) {
		snprintf(text, sizeof(text), "pu:%ld",
			 sysconf(_SC_NPROCESSORS_ONLN));
		if (hwloc_topology_set_synthetic(topology, text))
			return -1;
	}
	return hwloc_topology_load(topology);
}

int vm_topo_init(void)
{
	if (topo.topology)
		return 0;
	if (hwloc_topology_init(&topo.topology))
		goto fail;
	hwloc_topology_set_all_types_filter(topo.topology,
					    HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(topo.topology, HWLOC_OBJ_CORE,
				       HWLOC_TYPE_FILTER_KEEP_ALL);
	if (topology_load(topo.topology))
		goto destroy;
	topo.allowed = hwloc_bitmap_dup(
		hwloc_topology_get_allowed_cpuset(topo.topology));
	if (!topo.allowed)
		goto destroy;
	if (hwloc_topology_is_thissystem(topo.topology)) {
		hwloc_cpuset_t bound = hwloc_bitmap_alloc();

		if (bound && !hwloc_get_cpubind(topo.topology, bound,
						HWLOC_CPUBIND_THREAD)) {
			topo.free =
				hwloc_bitmap_isincluded(topo.allowed, bound);
			hwloc_bitmap_and(topo.allowed, topo.allowed, bound);
		}
		hwloc_bitmap_free(bound);
	}
	allowed_count();
	return 0;
destroy:
	hwloc_topology_destroy(topo.topology);
fail:
	topo.topology = NULL;
	vm_log(VM_ERROR, "hwloc cannot read this machine's topology");
	return -VMPI_ENOTSUP;
}

void vm_topo_fini(void)
{
	if (!topo.topology)
		return;
	hwloc_bitmap_free(topo.allowed);
	hwloc_topology_destroy(topo.topology);
	memset(&topo, 0, sizeof(topo));
}

void vm_topo_share(int share, int shares)
{
	bool cores = count_allowed(HWLOC_OBJ_CORE) > 0;
	int from = (int)((int64_t)share * topo.cores / shares);
	int to = (int)((int64_t)(share + 1) * topo.cores / shares);
	hwloc_cpuset_t set = hwloc_bitmap_alloc();

	topo.shared = 0;
	if (shares > topo.cores) {
		topo.shared = (shares + topo.cores - 1) / topo.cores;
		/* In turn, as programs do that bind themselves: then the first
		 * ones of them move nobody to the core of others. */
		from = to = share % topo.cores;
	}
	if (!set)
		return; /* then all processes share all of them */
	for (int i = from; i < to || i == from; i++) {
		hwloc_obj_t object =
			nth_allowed(cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, i);

		if (object)
			hwloc_bitmap_or(set, set, object->cpuset);
	}
	hwloc_bitmap_and(set, set, topo.allowed);
	if (hwloc_bitmap_iszero(set)) {
		hwloc_bitmap_free(set);
		return;
	}
	hwloc_bitmap_free(topo.allowed);
	topo.allowed = set;
	allowed_count();
}

int vm_topo_shared(void)
{
	return topo.shared;
}

bool vm_topo_is_free(void)
{
	return topo.free;
}

int vm_topo_cores(void)
{
	return topo.cores > 0 ? topo.cores : 1;
}

int vm_topo_processors(void)
{
	return topo.processors > 0 ? topo.processors : 1;
}

void vm_topo_plan(int workers)
{
	topo.workers = workers;
}

/* The object that worker `index` is bound to; NULL: none. */
static hwloc_obj_t place(int index)
{
	hwloc_obj_t core;

	if (!topo.topology)
		return NULL;
	if (topo.workers > topo.cores)
		return nth_allowed(HWLOC_OBJ_PU, index % topo.processors);
	core = nth_allowed(HWLOC_OBJ_CORE, index);
	return core ? core : nth_allowed(HWLOC_OBJ_PU, index);
}

/* The processors that worker `index` is bound to, to be freed; NULL: none. */
static hwloc_cpuset_t binding(int index)
{
	hwloc_obj_t object = place(index);
	hwloc_cpuset_t set;

	if (!object || topo.workers > topo.processors ||
	    !hwloc_topology_is_thissystem(topo.topology))
		return NULL;
	set = hwloc_bitmap_dup(object->cpuset);
	if (set)
		hwloc_bitmap_and(set, set, topo.allowed);
	return set;
}

void vm_topo_bind(int index)
{
	hwloc_cpuset_t set = binding(index);

	if (!set) {
		/* On the cores of other processes it would only disturb. */
		vm_topo_unbind();
		return;
	}
	if (hwloc_set_cpubind(topo.topology, set, HWLOC_CPUBIND_THREAD))
		vm_log(VM_INFO, "worker %d could not be bound", index);
	hwloc_bitmap_free(set);
}

void vm_topo_unbind(void)
{
	if (!sched_cvar.bind || !topo.topology ||
	    !hwloc_topology_is_thissystem(topo.topology))
		return;
	if (hwloc_set_cpubind(topo.topology, topo.allowed,
			      HWLOC_CPUBIND_THREAD))
		vm_log(VM_INFO, "a thread could not be unbound");
}

bool vm_topo_unbind_worker(int index)
{
	hwloc_cpuset_t ours = binding(index), now = hwloc_bitmap_alloc();
	bool bound =
		ours && now &&
		!hwloc_get_cpubind(topo.topology, now, HWLOC_CPUBIND_THREAD) &&
		hwloc_bitmap_isequal(now, ours);

	if (bound)
		vm_topo_unbind();
	hwloc_bitmap_free(now);
	hwloc_bitmap_free(ours);
	return bound;
}

int vm_topo_numa(int index)
{
	hwloc_obj_t object = place(index), node = NULL;

	if (!object || topo.workers > topo.processors || !sched_cvar.bind)
		return -1;
	while ((node = hwloc_get_next_obj_by_type(topo.topology,
						  HWLOC_OBJ_NUMANODE, node)))
		if (hwloc_bitmap_isincluded(object->cpuset, node->cpuset))
			return (int)node->os_index;
	return -1;
}

void vm_topo_describe(char *text, size_t bytes, int index)
{
	hwloc_obj_t object = place(index);
	char set[64];

	if (!object || topo.workers > topo.processors) {
		snprintf(text, bytes, "not bound (%d workers on %d processors)",
			 topo.workers, vm_topo_processors());
		return;
	}
	hwloc_bitmap_list_snprintf(set, sizeof(set), object->cpuset);
	snprintf(text, bytes, "%s %u (processor %s)",
		 object->type == HWLOC_OBJ_CORE ? "core" : "processor",
		 object->os_index == HWLOC_UNKNOWN_INDEX ?
			 object->logical_index :
			 object->os_index,
		 set);
}

/* The number of the only object at this depth with all these processors; -1:
 * there is none. */
static int number_at(hwloc_topology_t machine, int depth,
		     hwloc_const_cpuset_t set)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_depth(machine, depth, object)))
		if (hwloc_bitmap_isincluded(set, object->cpuset))
			return (int)object->logical_index;
	return -1;
}

static void resources_at(hwloc_topology_t machine, int depth,
			 hwloc_const_cpuset_t set,
			 void (*each)(void *arg, const char *type, int number),
			 void *arg)
{
	hwloc_obj_type_t type = hwloc_get_depth_type(machine, depth);

	/* There may be several levels of groups. */
	if (type != HWLOC_OBJ_GROUP)
		each(arg, hwloc_obj_type_string(type),
		     number_at(machine, depth, set));
}

void vm_topo_resources(void (*each)(void *arg, const char *type, int number),
		       void *arg)
{
	hwloc_cpuset_t set = hwloc_bitmap_alloc();
	hwloc_topology_t machine;

	if (!set || hwloc_topology_init(&machine))
		goto free_set;
	if (topology_load(machine))
		goto destroy;
	if (!hwloc_topology_is_thissystem(machine) ||
	    hwloc_get_cpubind(machine, set, HWLOC_CPUBIND_THREAD))
		hwloc_bitmap_copy(set,
				  hwloc_topology_get_allowed_cpuset(machine));
	hwloc_bitmap_and(set, set, hwloc_topology_get_allowed_cpuset(machine));
	for (int i = 0; i < hwloc_topology_get_depth(machine); i++)
		resources_at(machine, i, set, each, arg);
	resources_at(machine, HWLOC_TYPE_DEPTH_NUMANODE, set, each, arg);
destroy:
	hwloc_topology_destroy(machine);
free_set:
	hwloc_bitmap_free(set);
}
