/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of a trace, and the file where a process keeps them.
 *
 * Each worker has a ring of records that only it writes; other threads share
 * one.  A full ring overwrites its oldest records, and the count of all records
 * says how many.  The rings lie in a mapped file, so they outlive the process,
 * whatever the cause of its death.  report/trace/merge.h makes one trace of all
 * files.
 */
#ifndef INTROSPECT_MEASURE_TRACE_H
#define INTROSPECT_MEASURE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Kinds of records, and the meaning of their fields:  X(kind, text).  A key is
 * what messages are matched by: context, tag, the sender's number in it, the
 * receiver in the world.
 */
#define VM_TRACE_KINDS(X)                                                     \
	X(SWITCH, "rank runs from now on, not peer: detail why, extra which") \
	X(IDLE, "the worker has nothing to run; rank waits meanwhile")        \
	X(BUSY, "it has")                                                     \
	X(ENTER, "rank enters call id")                                       \
	X(EXIT, "rank leaves it")                                             \
	X(SEND, "rank sends value bytes to peer, of the world; id: its "      \
		"number in the context")                                      \
	X(MATCH, "a message of value bytes of peer, in the context, meets "   \
		 "its receive: detail what is then, id: which")               \
	X(RECEIVED, "the payload of the match id is there")                   \
	X(UNEXPECTED, "a message for rank is there before its receive")       \
	X(HELP, "the worker has polled for the worker peer")                  \
	X(MOVE, "rank is at home on worker id, no more on peer")              \
	X(POOL, "value bytes more (detail 1) or less in pool id of peer")     \
	X(TUNE, "variable id of rank has the value value")                    \
	X(COUNTER, "counter id is value")

enum vm_trace_kind {
	VM_TRACE_NOTHING,
#define VM_TRACE_ENUM(kind, text) VM_TRACE_##kind,
	VM_TRACE_KINDS(VM_TRACE_ENUM)
#undef VM_TRACE_ENUM
		VM_TRACE_KIND_COUNT
};

/* detail of SWITCH: why the previous task does not run any more. */
enum vm_trace_why { VM_TRACE_WAITS, VM_TRACE_YIELDS, VM_TRACE_ENDS };
/* extra of SWITCH; of IDLE, BUSY, ENTER, EXIT the first. */
enum { VM_TRACE_TO_MAIN = 1, VM_TRACE_FROM_MAIN = 2 };
/* detail of MATCH: it is received at once; it will be; it never will. */
enum { VM_TRACE_DONE, VM_TRACE_LATER, VM_TRACE_DROPPED };

#define VM_TRACE_NO_RANK UINT32_MAX

struct vm_trace_record {
	uint64_t ticks;
	uint32_t rank; /* in the world, or VM_TRACE_NO_RANK */
	uint8_t kind, detail;
	uint16_t extra;
	uint32_t context;
	int32_t tag, peer;
	uint32_t id;
	uint64_t value;
};

struct vm_trace_ring {
	_Atomic uint64_t head VM_ALIGNED(VM_CACHELINE); /* records so far */
	struct vm_trace_record records[] VM_ALIGNED(VM_CACHELINE);
};

#define VM_TRACE_MAGIC "vmpitr1"
#define VM_TRACE_COUNTERS_MAX 64 /* bits of a word (report/trace/view.h) */
#define VM_TRACE_NAME_MAX 64

/* The beginning of the file; the rings are behind it, those of the workers
 * first. */
struct vm_trace_file {
	char magic[8] VM_ALIGNED(VM_CACHELINE);
	uint32_t
		record_bytes; /* sizeof(struct vm_trace_record): of this build */
	uint32_t counters;
	int32_t process, processes, ranks, workers;
	uint64_t ring_records;	     /* a power of two */
	double tick_ns;		     /* length of a tick */
	uint64_t ticks, ns, real_ns; /* one moment on all clocks */
	uint8_t counter; /* 1: ticks are those of the processor; else 0 */
	char host[VM_TRACE_NAME_MAX];
	char names[VM_TRACE_COUNTERS_MAX][VM_TRACE_NAME_MAX];
};

/* One open file. */
struct vm_trace {
	struct vm_trace_file *file;
	size_t bytes, ring_bytes;
	uint64_t mask;
};

/* The name of a process's file for the trace `path`; false: too long. */
bool vm_trace_path(char *part, size_t bytes, const char *path, int process);

/*
 * Makes a process's file with rings of ring_bytes each: 0; -VMPI_EIO (logged).
 * Of *head all is taken but magic and sizes.
 */
int vm_trace_new(struct vm_trace *trace, const char *path,
		 const struct vm_trace_file *head, size_t ring_bytes);
/* Opens and checks a file.  0; -VMPI_ENOENT (not logged); -VMPI_EIO,
 * -VMPI_EINVAL: it is not one (logged). */
int vm_trace_open(struct vm_trace *trace, const char *part);
void vm_trace_close(struct vm_trace *trace);

static inline struct vm_trace_ring *vm_trace_ring(const struct vm_trace *trace,
						  int track)
{
	return (struct vm_trace_ring *)((char *)trace->file +
					sizeof(*trace->file) +
					(size_t)track * trace->ring_bytes);
}

/* Adds a record to the ring of a worker, on its thread; with `worker` beyond
 * the workers, or below 0, to the ring of all other threads, on any thread. */
static inline void vm_trace_add(const struct vm_trace *trace, int worker,
				const struct vm_trace_record *record)
{
	int workers = trace->file->workers;
	bool own = worker >= 0 && worker < workers;
	struct vm_trace_ring *ring =
		vm_trace_ring(trace, own ? worker : workers);
	uint64_t head;

	if (own)
		head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	else
		head = atomic_fetch_add_explicit(&ring->head, 1,
						 memory_order_relaxed);
	ring->records[head & trace->mask] = *record;
	if (own)
		atomic_store_explicit(&ring->head, head + 1,
				      memory_order_release);
}

#endif
