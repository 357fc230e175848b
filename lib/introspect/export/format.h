/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory file of a node process: its format.
 *
 * The head says where everything is: offsets count bytes from the beginning of
 * the file, texts are offsets into the span of texts, each ended by a zero.
 * The blocks of counters are the very memory that the runtime works with.  All
 * is in the byte order and the word size of the host, which no other host
 * reads. Everything except blocks, states and values of control variables is
 * written once, before `ready`.
 */
#ifndef INTROSPECT_EXPORT_FORMAT_H
#define INTROSPECT_EXPORT_FORMAT_H

#include <stdint.h>

#define VM_EXPORT_MAGIC "vmpilive"
#define VM_EXPORT_VERSION 3
#define VM_EXPORT_PLACES_MAX 24
#define VM_EXPORT_STRING_BYTES 128 /* of a control variable that is a text */
#define VM_EXPORT_NO_STRING UINT32_MAX

struct vm_export_span {
	uint64_t offset, bytes;
};

/* The blocks of a table of performance variables: struct vm_pvar_place. */
struct vm_export_place {
	uint64_t offset, stride, also;
	uint32_t count;	 /* 0: the blocks are not in the file */
	uint32_t ranked; /* block i is of rank i, and in this file only if
			    vm_export_head.where says so */
};

/* How blocks make a total: by sum, by the highest or the lowest value. */
enum vm_export_fold { VM_EXPORT_SUM, VM_EXPORT_HIGHEST, VM_EXPORT_LOWEST };

/* A performance variable. */
struct vm_export_pvar {
	uint32_t name, class_, of, unit, level, category, text;
	uint32_t place; /* its table's */
	uint32_t word, words;
	uint32_t fold; /* enum vm_export_fold */
	uint32_t unused;
};

/* A control variable; its value is word i of the span of values. */
struct vm_export_cvar {
	uint32_t name, type, when, unit, level, category, text;
	uint32_t string; /* offset in the span of strings, or NO_STRING */
	int64_t min, max;
};

/*
 * States of a rank: the performance variable core_state, and the words for it.
 * From VM_EXPORT_RECEIVE to VM_EXPORT_OTHER it waits.
 */
#define VM_EXPORT_STATES(X)                                                  \
	X(NEW, "new")		    /* has not begun */                      \
	X(RUNNING, "running")	    /* or could, or was woken */             \
	X(RECEIVE, "receive")	    /* for a message */                      \
	X(SEND, "send")		    /* for the receiver of its message */    \
	X(PROBE, "probe")	    /* for a message, without receiving */   \
	X(WAIT, "wait")		    /* for operations it has started */      \
	X(COLLECTIVE, "collective") /* for the other members of a channel */ \
	X(SLEEP, "sleep")	    /* for a time */                         \
	X(OTHER, "other")	    /* for a lock, a thread, a task */       \
	X(DONE, "done")		    /* has ended */

enum vm_export_state {
#define VM_EXPORT_STATE_ENUM_(name, word) VM_EXPORT_##name,
	VM_EXPORT_STATES(VM_EXPORT_STATE_ENUM_)
#undef VM_EXPORT_STATE_ENUM_
		VM_EXPORT_STATE_COUNT
};

/* The details of a wait; the state, a word of 8 bytes, follows. */
struct vm_export_wait {
	uint32_t call;	  /* the call that waits, by number; 0: unknown */
	uint32_t context; /* of the channel or communicator; 0: the world */
	int32_t peer;	  /* -1: any, VM_EXPORT_NOBODY: none in particular */
	int32_t tag;	  /* -1: any */
	uint64_t bytes;	  /* of the buffer */
	uint32_t flags;	  /* enum vm_export_flags */
	int32_t others;	  /* tasks and threads of the rank beside its main one,
			     who may do more */
};

#define VM_EXPORT_NOBODY (-2)
#define VM_EXPORT_NOWHERE 1u /* no channel's number: these are even */

enum vm_export_flags {
	VM_EXPORT_OF_WORLD =
		1,	       /* peer is a rank of the job, whatever context */
	VM_EXPORT_SENDS = 2,   /* what it waits for is a send */
	VM_EXPORT_ALL = 4,     /* it waits for all members of the channel: peer
				  is the next one after it, or NOBODY: the
				  channel has all ranks of the job */
	VM_EXPORT_STARTED = 8, /* it waits for a collective that it has started:
				  tag is the number of that call */
};

/* DEAD is noted by the process that found it so (introspect/export/list.h). */
enum vm_export_phase { VM_EXPORT_STARTS, VM_EXPORT_RUNS, VM_EXPORT_DEAD };

struct vm_export_head {
	char magic[8];
	uint32_t version, head_bytes;
	uint64_t layout; /* hash of rows and texts: equal ones mean the same */
	uint32_t ready;	 /* written last, by a release store */
	uint32_t phase;	 /* enum vm_export_phase */
	uint32_t pid, uid;
	uint64_t pid_start;  /* /proc/PID/stat 22: who else had this number? */
	uint64_t started_ns; /* CLOCK_REALTIME */
	uint32_t node, nodes, ranks, ranks_here, workers;
	uint32_t kept; /* it stays when the process has died */
	uint64_t
		pid_space; /* the inode of /proc/self/ns/pid: where pid is one */
	char job[64], host[64], program[64], library[32];
	struct vm_export_span where; /* uint32_t for each rank: its node */
	struct vm_export_span pvars, cvars, values, strings, texts;
	struct vm_export_span calls;  /* uint32_t for each number of a call: the
				       text that is its name */
	struct vm_export_place waits; /* struct vm_export_wait, by rank */
	struct vm_export_place
		asleep; /* uint32_t, by worker: 1: it sleeps, with
					 nothing to do */
	struct vm_export_place places[VM_EXPORT_PLACES_MAX];
};

#endif
