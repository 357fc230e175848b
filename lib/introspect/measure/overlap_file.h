/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measures of the ranks of one process, in a file.
 *
 * The process writes into the mapped file, so the measures survive it, whatever
 * the cause of its death.  A reader makes a copy, checks it, and folds the
 * entries left in the rings.
 */
#ifndef INTROSPECT_MEASURE_OVERLAP_FILE_H
#define INTROSPECT_MEASURE_OVERLAP_FILE_H

#include "introspect/measure/overlap.h"

#define VM_OVERLAP_MAGIC "vmpiovl"

struct vm_overlap_file {
	char magic[8];
	uint32_t rank_bytes; /* sizeof(struct vm_overlap): of this build */
	int32_t process, processes;
	int32_t rank_first, rank_count, ranks; /* here; in all the job */
	int32_t workers;
	double tick_ns; /* the unit of all times */
	uint64_t begin; /* when the process began to measure */
	struct vm_overlap_setup setup;
	struct vm_overlap rank[] VM_ALIGNED(VM_CACHELINE);
};

/*
 * Makes DIR/process.N.raw, or only memory if dir is empty; all zeros except the
 * fields that `head` has.  0; -VMPI_EIO (logged).
 */
int vm_overlap_file_new(struct vm_overlap_file **file, const char *dir,
			const struct vm_overlap_file *head);
void vm_overlap_file_free(struct vm_overlap_file *file);

/*
 * Copies the file at path and folds it: to be freed with
 * vm_overlap_file_free(). 0; -VMPI_ENOENT (not logged); -VMPI_EIO,
 * -VMPI_EINVAL: it is not one (logged).
 */
int vm_overlap_file_read(struct vm_overlap_file **file, const char *path);

/* The name of a process's file in dir. */
int vm_overlap_file_path(char *path, size_t bytes, const char *dir,
			 int process);
#endif
