/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory file: what others can see of this process while it runs,
 * hangs, and after it was killed (report/live/file.h, vmpistat(1)).
 */
#ifndef INTROSPECT_EXPORT_EXPORT_H
#define INTROSPECT_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/vars/pvar.h"
#include "introspect/export/format.h"

/*
 * The memory of ranks, workers and ports, with the counters in it, comes from
 * the file /dev/shm/vmpi.UID.JOB.NODE, which only its user can open, so that
 * counting publishes and costs nothing.  Without a file (there is no room, or
 * nobody wants one) the same memory comes from the heap, and nothing else
 * differs.  There is one file per process; its child after fork() has a copy of
 * the memory of its own.
 *
 * Start and stop call these from one thread.
 */

#define VM_EXPORT_DIR "/dev/shm"
#define VM_EXPORT_JOB_MAX 64 /* with the zero */
#define VM_EXPORT_PATH_MAX 256

/*
 * Opens the file in directory dir.  job: letters, digits and "-_@"; others
 * become '-'.  The file of a dead process with the same name is replaced.
 * Result: 0; -VMPI_ESTATE: there is one; -VMPI_ELIMIT: it cannot be made, for
 * which there are many harmless reasons: not logged, *why is the text.
 */
int vm_export_open(const char *dir, const char *job, unsigned node,
		   const char **why);

/* The file stays when the process dies, so that it can be looked at then. */
void vm_export_keep(void);

/* Writes the path of such a file of this user. */
void vm_export_path(char *path, size_t bytes, const char *dir, const char *job,
		    unsigned node);

/* Allocates zeroed memory, aligned to at most a page: from the file, where
 * there is one and space in it, else from the heap.  NULL: out of memory. */
void *vm_export_alloc(size_t bytes, size_t align);
/* NULL is allowed. */
void vm_export_free(void *memory);

/* Whether there is a file. */
bool vm_export_is_open(void);

/* Facts about the process for the head. */
struct vm_export_facts {
	unsigned node, nodes, ranks, ranks_here, workers;
	/* For each rank, its node; from vm_export_alloc(); or NULL: all are
	 * here. */
	const uint32_t *where;
	/* The waits of ranks, and whether workers sleep; both of count 0:
	 * unknown. */
	struct vm_pvar_place waits, asleep;
	/* The names of calls by number; so many. */
	const char *(*call_name)(uint32_t call);
	uint32_t call_count;
	/* Tables and the places of their blocks; those of ranks are counted as
	 * in the world. */
	struct vm_export_table {
		const struct vm_pvar_table *table;
		const struct vm_pvar_place *place;
	} tables[VM_EXPORT_PLACES_MAX];
	unsigned table_count;
};

/* Publishes: all variables have been added and all blocks are in their final
 * place, so readers may look; from now on changes of control variables are
 * copied to the file.  0; -VMPI_ELIMIT: there is no room, and no file any more;
 * without a file 0. */
int vm_export_publish(const struct vm_export_facts *facts);

/* Closes the file, and removes it unless it is to be kept.  Memory that came
 * from it becomes invalid. */
void vm_export_close(bool keep);

/* Removes the file's name at once; async-signal-safe.  The memory stays. */
void vm_export_remove(void);
/* The same, unless it is kept: the process dies. */
void vm_export_died(void);

#endif
