/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the shared-memory file of a node process, from outside it.
 *
 * Nothing in the file is trusted: offsets and counts are copied and checked
 * before they are used, so that a damaged or foreign file is an error and never
 * a crash.  Values are read in place, so that reading costs the process nothing
 * but the transfer of the cache lines read.  No other part of the library is
 * needed.  One thread at a time per file.
 */
#ifndef REPORT_LIVE_FILE_H
#define REPORT_LIVE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/export/format.h"

#define VM_LIVE_WHY_MAX 160

struct vm_live_file;

/*
 * Opens the file at path.  Result: 0; -VMPI_ENOENT: there is none;
 * -VMPI_EAGAIN: the process has just begun to write it; -VMPI_EIO: not ours to
 * read; -VMPI_EINVAL: it is no such file, or damaged; -VMPI_ENOMEM.  Not
 * logged: why is the text.
 */
int vm_export_map(struct vm_live_file **file, const char *path,
		  char why[VM_LIVE_WHY_MAX]);
void vm_live_unmap(struct vm_live_file *file);

/* The head, as the process has written it; texts end, counts are plausible. */
const struct vm_export_head *vm_export_head(const struct vm_live_file *file);

/* The phase of its life now: enum vm_export_phase. */
unsigned vm_export_phase(const struct vm_live_file *file);

/* Whether the process lives; asks the system. */
bool vm_live_lives(const struct vm_live_file *file);

/* The node that has the rank. */
unsigned vm_live_where(const struct vm_live_file *file, unsigned rank);

/* The state of a rank, and the details of its wait. */
struct vm_live_doing {
	enum vm_export_state state;
	struct vm_export_wait wait;
};

/* The word for a state. */
const char *vm_live_state_word(enum vm_export_state state);

/* 0; -VMPI_ERANK: the rank is not in this file; -VMPI_EAGAIN: it goes from one
 * wait to the next too fast to be seen. */
int vm_live_doing(const struct vm_live_file *file, struct vm_live_doing *doing,
		  unsigned rank);

/* "MPI_Send"; NULL: it is no number of a call.  Lives as long as the file is
 * open. */
const char *vm_live_call_name(const struct vm_live_file *file, uint32_t call);

/* Whether all workers sleep because they have nothing to do: then nothing is
 * under way inside the process, whatever its ranks wait for. */
bool vm_live_asleep(const struct vm_live_file *file);

/* How many workers do not sleep so. */
unsigned vm_live_awake(const struct vm_live_file *file);

/* Variables by number; texts live as long as the file is open. */
struct vm_live_pvar_view {
	const char *name, *class_, *of, *unit, *level, *category, *text;
	unsigned words;
	enum vm_export_fold fold;
	bool ranked; /* block i is of rank i of the job */
};

struct vm_live_cvar_view {
	const char *name, *type, *when, *unit, *level, *category, *text;
	bool string;
	int64_t min, max;
};

unsigned vm_live_pvar_count(const struct vm_live_file *file);
unsigned vm_live_cvar_count(const struct vm_live_file *file);
/* number is below the count. */
void vm_live_pvar_info(const struct vm_live_file *file,
		       struct vm_live_pvar_view *view, unsigned number);
void vm_live_cvar_info(const struct vm_live_file *file,
		       struct vm_live_cvar_view *view, unsigned number);

/*
 * How many blocks the variable has, some of which may be in other files; and
 * word `word` of it in one of them, or -VMPI_ERANK: not in this file, which is
 * the case too for variables that have no blocks in it.  Total: of all blocks
 * of this file; -VMPI_ERANK: there are none.
 */
unsigned vm_live_blocks(const struct vm_live_file *file, unsigned number);
int vm_live_value(const struct vm_live_file *file, uint64_t *value,
		  unsigned number, unsigned block, unsigned word);
int vm_live_total(const struct vm_live_file *file, uint64_t *value,
		  unsigned number, unsigned word);

/* The value of a control variable; of a text, as much of it as is kept. */
int64_t vm_live_cvar_value(const struct vm_live_file *file, unsigned number);
void vm_live_cvar_text(const struct vm_live_file *file,
		       char text[VM_EXPORT_STRING_BYTES], unsigned number);

#endif
