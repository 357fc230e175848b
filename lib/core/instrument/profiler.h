/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profiles of the ranks of this process (introspect/measure/profile.h):
 * takes the time and the values at the borders of calls, sections and bodies.
 *
 * A rank's calls are those of its main task, or of the first thread of an
 * ordinary executable.  Nothing of this costs anything with core_profile empty.
 */
#ifndef CORE_INSTRUMENT_PROFILER_H
#define CORE_INSTRUMENT_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

struct vm_bulk;
struct vm_node;
struct vm_profile_file;
struct vm_profile_var;
struct vm_rank;
struct vm_sites;
struct vm_ult;

/* The variables of core_profile "default". */
#define VM_PROFILER_DEFAULT                                             \
	"core_sends,core_sent_bytes,core_receives,core_received_bytes," \
	"core_unexpected,core_meetings"
/* Only time is profiled. */
#define VM_PROFILER_NONE "none"

/*
 * Makes the list of the variables in `text`, separated by commas: counters,
 * timers and aggregates of ranks.  0; -VMPI_EINVAL, -VMPI_ENOMEM, with one line
 * logged that begins with `who`.
 */
int vm_profiler_vars(struct vm_bulk *bulk, const char *text, const char *who);

/* The profiles of all ranks of this process; NULL: nothing is profiled. */
struct vm_profile_file *vm_profiler_file(void);

/* The index, among the values of a profile, of the first word of variable
 * `name`; -1: none, or nothing is profiled. */
int vm_profiler_word(const char *name);

/* Of a rank here, by place of call; NULL: not asked for (core_profile_sites). */
struct vm_sites *vm_profiler_sites(const struct vm_rank *rank);

/* With the workers there and before the ranks are: 0; -VMPI_EINVAL, -VMPI_EIO,
 * -VMPI_ENOMEM, logged. */
int vm_profiler_start(struct vm_node *node);
void vm_profiler_stop(struct vm_node *node);

/* The rank is there, with its main task. */
void vm_profiler_rank(struct vm_rank *rank);

/* Observers of calls (core/instrument/intercept.h). */
void vm_profiler_enter(struct vm_rank *rank, uint32_t call);
void vm_profiler_exit(struct vm_rank *rank, uint32_t call);

/* The calling task begins its body, is about to end. */
void vm_profiler_body_begin(void);
void vm_profiler_body_end(void);

/* As vmpi_section_begin(), vmpi_section_end() and vmpi_overlap_switch(). */
void vm_profiler_section_begin(const char *name);
int vm_profiler_section_end(const char *name);
void vm_profiler_switch(bool on);

#endif
