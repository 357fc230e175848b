/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory file: what others can see of this process while it runs,
 * hangs, and after it was killed (report/live/file.h, vmpistat(1)).
 *
 * The memory of ranks, workers and ports, with the counters in it, comes from
 * the file /dev/shm/vmpi.UID.JOB.NODE, which only its user can open, so that
 * counting publishes and costs nothing.  Without a file (there is no room, or
 * nobody wants one) the same memory comes from the heap, and nothing else
 * differs.  There is one file per process; its child after fork() has a copy of
 * the memory of its own.
 *
 * Start and stop call these from one thread.
 */
#ifndef INTROSPECT_EXPORT_EXPORT_H
#define INTROSPECT_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/vars/pvar.h"
#include "introspect/export/format.h"

#define VM_EXPORT_DIR "/dev/shm"
#define VM_EXPORT_JOB_MAX 64 /* with the zero */
#define VM_EXPORT_PATH_MAX 256

/*
 * Opens the file in directory dir.  job: letters, digits and "-_@"; others
 * become '-'.  The file of a dead process with the same name is replaced.
 * Result: 0; -VMPI_ESTATE: there is one; -VMPI_ELIMIT: it cannot be made, for
 * which there are many innocent reasons: not logged, *why says it.
 */
int vm_export_open(const char *dir, const char *job, unsigned node,
		   const char **why);

/* Writes the path of such a file of this user. */
void vm_export_path(char *path, size_t bytes, const char *dir, const char *job,
		    unsigned node);

/* Zeroed memory, aligned to at most a page: of the file, where there is one
 * and room for it, else of the heap.  NULL: out of memory. */
void *vm_export_alloc(size_t bytes, size_t align);
/* NULL is allowed. */
void vm_export_free(void *memory);

/* Whether there is a file. */
bool vm_export_is_open(void);

/* What the head says of the process. */
struct vm_export_facts {
	unsigned node, nodes, ranks, ranks_here, workers;
	/* Of each rank, its node; of vm_export_alloc(); or NULL: all here. */
	const uint32_t *where;
	/* What ranks wait for, and whether workers sleep; both of count 0:
	 * nobody says. */
	struct vm_pvar_place waits, asleep;
	/* The names of calls by number; so many. */
	const char *(*call_name)(uint32_t call);
	uint32_t call_count;
	/* Tables and where their blocks lie; those of ranks are counted as in
	 * the world. */
	struct vm_export_table {
		const struct vm_pvar_table *table;
		const struct vm_pvar_place *place;
	} tables[VM_EXPORT_PLACES_MAX];
	unsigned table_count;
};

/* All variables have been added, all blocks lie where they stay: readers may
 * look; changes of control variables are copied to the file.  0; -VMPI_ENOMEM; without a file 0. */
int vm_export_publish(const struct vm_export_facts *facts);

/* Closes the file, and removes it unless it is to be kept.  Memory that came
 * from it is gone. */
void vm_export_close(bool keep);

/* Removes the file's name at once; in signal handlers too.  The memory stays. */
void vm_export_remove(void);

#endif
