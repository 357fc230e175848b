/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that the transfer of a message takes: a table that was measured
 * before.
 *
 * For each path of a message there are points (size, time), ascending in both
 * the size and the lines of the file.  Between two points time is linear; below
 * the first it is the first's; beyond the last it goes on as between the last
 * two.  Pure except for load, which reads a file.
 */
#ifndef INTROSPECT_MEASURE_XFER_TABLE_H
#define INTROSPECT_MEASURE_XFER_TABLE_H

#include <stdint.h>
#include <stdio.h>

/* Paths of a message, on one worker, between workers and between processes: the
 * name, the word in the file. */
#define VM_PATHS_LIST(X)    \
	X(WORKER, "worker") \
	X(NODE, "node")     \
	X(FABRIC, "fabric")

enum vm_path {
#define VM_PATH_ENUM_(name, word) VM_PATH_##name,
	VM_PATHS_LIST(VM_PATH_ENUM_)
#undef VM_PATH_ENUM_
		VM_PATHS
};

#define VM_XFER_POINTS 40

struct vm_xfer_point {
	uint64_t bytes;
	double time;
};

struct vm_xfer_table {
	unsigned count[VM_PATHS];
	struct vm_xfer_point point[VM_PATHS][VM_XFER_POINTS];
};

/* The time of a transfer, in the unit of the table; 0 for a path without
 * points. */
uint64_t vm_xfer_time(const struct vm_xfer_table *table, enum vm_path path,
		      uint64_t bytes);

/* Multiplies all times, to change the unit. */
void vm_xfer_scale(struct vm_xfer_table *table, double factor);

/*
 * Reads lines `PATH BYTES NANOSECONDS`; # begins a comment.  `path` is for
 * error messages.  0; -VMPI_EINVAL, logged with file and line: what is wrong
 * and what would be right.
 */
int vm_xfer_read(struct vm_xfer_table *table, FILE *file, const char *path);

/* As vm_xfer_read(), from the file; -VMPI_ENOENT, -VMPI_EIO, logged too. */
int vm_xfer_load(struct vm_xfer_table *table, const char *path);

/* Writes a file that vm_xfer_read() takes.  0 or -VMPI_EIO, not logged. */
int vm_xfer_write(const struct vm_xfer_table *table, FILE *file);

/* Writes the default path of the table, for an empty overlap_table, into path:
 * $XDG_CONFIG_HOME/vmpi-xfer.table or ~/.config/vmpi-xfer.table. 0, or
 * -VMPI_ENOENT without a home directory (not logged). */
int vm_xfer_usual(char *path, size_t bytes);

#endif
