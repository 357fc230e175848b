/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making, mapping and checking the files of a trace.
 */
#include "introspect/measure/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mapfile.h"

#define PATH_BYTES 4200
#define RECORDS_LEAST 64
#define RANKS_MAX 1000000

bool vm_trace_path(char *part, size_t bytes, const char *path, int process)
{
	int n = snprintf(part, bytes, "%s.%d.part", path, process);

	return n > 0 && (size_t)n < bytes;
}

/* What rings of so many records take; they begin at cache lines. */
static size_t ring_size(uint64_t records)
{
	size_t bytes = sizeof(struct vm_trace_ring) +
		       (size_t)records * sizeof(struct vm_trace_record);

	return (bytes + VM_CACHELINE - 1) & ~(size_t)(VM_CACHELINE - 1);
}

static void sizes_set(struct vm_trace *trace, const struct vm_trace_file *file)
{
	trace->ring_bytes = ring_size(file->ring_records);
	trace->mask = file->ring_records - 1;
	trace->bytes =
		sizeof(*file) + ((size_t)file->workers + 1) * trace->ring_bytes;
}

int vm_trace_new(struct vm_trace *trace, const char *path,
		 const struct vm_trace_file *head, size_t ring_bytes)
{
	struct vm_trace_file file = *head;
	struct vm_mapfile map;
	char part[PATH_BYTES];

	file.ring_records = RECORDS_LEAST;
	while (ring_size(file.ring_records * 2) <= ring_bytes)
		file.ring_records *= 2;
	file.record_bytes = sizeof(struct vm_trace_record);
	sizes_set(trace, &file);
	if (!vm_trace_path(part, sizeof(part), path, file.process)) {
		vm_log(VM_ERROR, "trace_file: the name %.60s... is too long",
		       path);
		return -VMPI_EIO;
	}
	if (vm_mapfile_create(&map, part, trace->bytes, false))
		return -VMPI_EIO;
	trace->file = map.base;
	*trace->file = file;
	memcpy(trace->file->magic, VM_TRACE_MAGIC, sizeof(file.magic));
	/* The first page of a ring may take a file system milliseconds, which
	 * the first call of a rank would be shown to last. */
	for (int i = 0; i <= file.workers; i++)
		atomic_store_explicit(&vm_trace_ring(trace, i)->head, 0,
				      memory_order_relaxed);
	return 0;
}

/* Whether no offset in a foreign or damaged file leads outside of it. */
static bool file_valid(struct vm_trace *trace, struct vm_trace_file *file,
		       size_t bytes)
{
	if (memcmp(file->magic, VM_TRACE_MAGIC, sizeof(file->magic)) ||
	    file->record_bytes != sizeof(struct vm_trace_record) ||
	    file->counters > VM_TRACE_COUNTERS_MAX || file->process < 0 ||
	    file->processes <= file->process || file->ranks < 1 ||
	    file->ranks > RANKS_MAX || file->workers < 1 ||
	    file->workers > (1 << 16) ||
	    !(file->tick_ns > 0 && file->tick_ns < 1e6))
		return false;
	if (file->ring_records < RECORDS_LEAST ||
	    file->ring_records > UINT64_C(1) << 32 ||
	    file->ring_records & (file->ring_records - 1))
		return false;
	sizes_set(trace, file);
	if (trace->bytes != bytes)
		return false;
	file->host[VM_TRACE_NAME_MAX - 1] = '\0';
	for (uint32_t i = 0; i < file->counters; i++)
		file->names[i][VM_TRACE_NAME_MAX - 1] = '\0';
	return true;
}

int vm_trace_open(struct vm_trace *trace, const char *part)
{
	struct vm_mapfile map = { NULL, 0 };
	int rc = vm_mapfile_open(&map, part, sizeof(*trace->file));

	if (!rc && file_valid(trace, map.base, map.bytes)) {
		trace->file = map.base;
		return 0;
	}
	vm_mapfile_close(&map);
	if (rc && rc != -VMPI_EINVAL)
		return rc;
	vm_log(VM_ERROR, "%s: not a trace file of this version of vmpi", part);
	return -VMPI_EINVAL;
}

void vm_trace_close(struct vm_trace *trace)
{
	vm_mapfile_close(&(struct vm_mapfile){ trace->file, trace->bytes });
	trace->file = NULL;
}
