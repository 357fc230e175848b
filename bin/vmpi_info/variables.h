/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables, all or those of a name or pattern.
 */
#ifndef VMPI_INFO_VARIABLES_H
#define VMPI_INFO_VARIABLES_H

#include <stdbool.h>

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"
#include "text.h"

/* A choice of variables: those whose name fits the shell pattern (NULL: all),
 * in a category and those below it (VM_CATEGORY_none: all). */
struct choice {
	const char *pattern;
	enum vm_category category;
};
bool choice_has(const struct choice *choice, const char *name,
		enum vm_category category);

/* Prints those; how many. */
unsigned cvars_print(enum form form, const struct choice *choice);
unsigned pvars_print(enum form form, const struct choice *choice);

/* The name nearest to one that no variable has, or NULL. */
#define NAME_BYTES 96
const char *variables_nearest(char nearest[NAME_BYTES], const char *name);

/* "1M bytes", "on", "\"text\"": a value for people. */
#define VALUE_BYTES (VM_VAR_TEXT_MAX + 64)
void value_show(char text[VALUE_BYTES], const struct vm_cvar *row,
		const char *value);

/* "16K to 1T bytes": the values that a variable may have, or "". */
void range_show(char text[VALUE_BYTES], const struct vm_cvar *row);

/* "32 of counter of each rank, in messages, p2p, tuner basic" */
void pvar_facts(char text[VALUE_BYTES], const struct vm_pvar *row);

const char *category_name(enum vm_category category);

/* sched_stack_bytes becomes VMPI_SCHED_STACK_BYTES. */
void env_name(char out[NAME_BYTES + 8], const char *name);

#endif
