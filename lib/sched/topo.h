/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processors we may use and the worker that each gets (hwloc).
 */
#ifndef SCHED_TOPO_H
#define SCHED_TOPO_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the machine; idempotent.  0 or -VMPI_ENOTSUP (logged). */
int vm_topo_init(void);
void vm_topo_fini(void);

/*
 * Restricts the process to a share of the allowed cores: number `share` of
 * `shares` equal ones, or one core where there are fewer cores than shares.
 * For processes of one job that may use the same cores.
 */
void vm_topo_share(int share, int shares);

/* How many shares there are for each core, rounded up, so that other processes
 * of the job use those of this one; 0: there are as many cores as shares. */
int vm_topo_shared(void);

/* Whether the process came with all processors that the machine, or its
 * container, has: nobody has bound it. */
bool vm_topo_is_free(void);

/* The number of allowed cores, and of allowed processors (hardware threads); at
 * least 1. */
int vm_topo_cores(void);
int vm_topo_processors(void);

/*
 * Binds the calling OS thread as worker number `index`: to the core of that
 * number while there are as many, else to its processor, else to all of them.
 */
void vm_topo_bind(int index);

/* Lets the calling OS thread, and those that it starts, run on all processors
 * that workers are bound to, and no others, unless sched_bind is off. */
void vm_topo_unbind(void);

/*
 * The same for worker `index`, which calls it before it starts a process.  Returns
 * whether it was bound as vm_topo_bind() does, which then binds it again; a
 * binding that the program has chosen stays.
 */
bool vm_topo_unbind_worker(int index);

/* The number of the NUMA node that worker `index` is bound to; -1: it is not
 * bound, or that is not known. */
int vm_topo_numa(int index);

/* Writes where worker `index` goes: "core 1 (processor 1)". */
void vm_topo_describe(char *text, size_t bytes, int index);

/* What resources are called to the user: this and hwloc's name of the type. */
#define VM_RESOURCE_PREFIX "hwloc://"

/*
 * Calls `each` for all types of resources of the machine, with hwloc's name, and
 * the number of the one that the calling OS thread stays within; -1: there is
 * none.  Reads the machine anew, which takes milliseconds.
 */
void vm_topo_resources(void (*each)(void *arg, const char *type, int number),
		       void *arg);

/* Sets how many workers share the machine; decides between cores and
 * processors. */
void vm_topo_plan(int workers);

#endif
