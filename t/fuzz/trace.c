/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the files that processes leave of a trace, merged into a text.
 *
 *	make fuzz TARGET=trace SECONDS=60
 *
 * Two processes of two hosts, whose messages cross; the first byte says which
 * of their files the rest changes (input.h), or both.
 */
#include "introspect/measure/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/instrument/intercept.h"
#include "input.h"
#include "report/trace/merge.h"

#define FILES 2
#define MESSAGES 20
#define ROOM 65536

static struct good {
	size_t bytes;
	char data[ROOM];
} good[FILES];

/* Each kind of record in turn, and messages both ways. */
static void records_add(const struct vm_trace *trace, int process)
{
	for (uint64_t i = 0; i < MESSAGES * 4; i++) {
		struct vm_trace_record record = {
			.ticks = 1000 + 10 * i,
			.rank = (uint32_t)process,
			.kind = (uint8_t)(1 + i % (VM_TRACE_KIND_COUNT - 1)),
			.detail = (uint8_t)(i % 3),
			.extra = VM_TRACE_TO_MAIN | VM_TRACE_FROM_MAIN,
			.peer = 1 - process,
			.id = 1,
			.value = i,
		};

		if (i % 4 < 2) {
			record.kind = i % 4 ? VM_TRACE_MATCH : VM_TRACE_SEND;
			record.id = (uint32_t)process;
			record.detail = VM_TRACE_DONE;
		}
		vm_trace_add(trace, i % 5 ? 0 : -1, &record);
	}
}

static void good_make(int process)
{
	char path[] = "/tmp/vmpi-fuzz-XXXXXX", part[64];
	const struct vm_trace_file head = { .process = process,
					    .processes = FILES,
					    .ranks = 2,
					    .workers = 1,
					    .counters = 2,
					    .names = { "still", "moves" },
					    .host = { (char)('a' + process) },
					    .tick_ns = 1,
					    .real_ns = 1000000000 };
	struct vm_trace trace = { 0 };
	FILE *file;
	int fd = mkstemp(path);

	if (fd < 0 || vm_trace_new(&trace, path, &head, 4096) ||
	    !vm_trace_path(part, sizeof(part), path, process))
		abort();
	close(fd);
	unlink(path);
	records_add(&trace, process);
	vm_trace_close(&trace);
	file = fopen(part, "re");
	if (!file)
		abort();
	good[process].bytes = fread(good[process].data, 1, ROOM, file);
	fclose(file);
	unlink(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint8_t as_it_is[] = { 1 };
	struct vm_trace_summary summary;

	if (!bytes || bytes > ROOM)
		return 0;
	for (int i = 0; i < FILES; i++) {
		bool changed = (data[0] % 3) != i;
		char name[32];

		if (!good[i].bytes)
			good_make(i);
		snprintf(name, sizeof(name), "trace.%d.part", i);
		fuzz_changed(name, good[i].data, good[i].bytes,
			     changed ? data + 1 : as_it_is,
			     changed ? bytes - 1 : sizeof(as_it_is));
	}
	if (vm_trace_merge(&summary, FUZZ_DIR "trace", FILES,
			   vm_intercept_call_name) &&
	    fuzz_unchanged(data + 1, bytes - 1))
		abort();
	return 0;
}
