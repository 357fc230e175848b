/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiles of the ranks of one process, in a file.
 *
 * The process writes into the mapped file, so that its counts survive it,
 * whatever the cause of its death.
 */
#ifndef INTROSPECT_MEASURE_PROFILE_FILE_H
#define INTROSPECT_MEASURE_PROFILE_FILE_H

#include <stddef.h>

#include "introspect/measure/profile.h"

#define VM_PROFILE_MAGIC "vmpiprf"
#define VM_PROFILE_VAR_NAME 96
#define VM_PROFILE_UNIT 32
#define VM_PROFILE_WORKERS 1024

struct vm_profile_var {
	char name[VM_PROFILE_VAR_NAME];
	char unit[VM_PROFILE_UNIT];
};

struct vm_profile_file {
	char magic[8];
	uint32_t rank_bytes; /* sizeof(struct vm_profile): of this build */
	int32_t process, rank_count;
	/* With the last ones, which are no variables (VM_PROFILE_OWN), in
	 * ticks. */
	uint32_t words;
	uint32_t workers;
	double tick_ns; /* the unit of all times */
	struct vm_profile_var vars[VM_PROFILE_WORDS];
	struct vm_profile rank[] VM_ALIGNED(VM_CACHELINE);
};

/*
 * Makes DIR/profile.N.raw, or only memory if dir is empty; all zeros except the
 * fields that `head` has.  0; -VMPI_EIO (logged).
 */
int vm_profile_file_new(struct vm_profile_file **file, const char *dir,
			const struct vm_profile_file *head);
void vm_profile_file_free(struct vm_profile_file *file);

/*
 * Reads the file at path; to be freed with vm_profile_file_free().  0;
 * -VMPI_ENOENT (not logged); -VMPI_EIO, -VMPI_EINVAL: it is not one (logged).
 */
int vm_profile_file_read(struct vm_profile_file **file, const char *path);

/* The name of a process's file in dir; -VMPI_EINVAL: it is too long. */
int vm_profile_file_path(char *path, size_t bytes, const char *dir,
			 int process);

#endif
