/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables (CVARs): what one can set.
 *
 * A variable is one row of an X-macro list beside the code that uses it; its
 * field in the layer's struct, its default, its name, its check, its line in
 * vmpi_info and its entry in the manual all expand from that row.  Code reads
 * the field plainly (sched_cvar.stack_bytes), once per call; a write at run
 * time is a relaxed atomic store of the one word.  This module knows nobody:
 * each layer hands its table over by vm_vars_add().
 */
#ifndef INTROSPECT_VARS_CVAR_H
#define INTROSPECT_VARS_CVAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "introspect/vars/category.h"
#include "introspect/vars/config.h" /* vm_vars_load() */

/*
 * Row:  X(type, field, default, min, max, unit, when, level, category, text)
 *	type	INT, SIZE (K, M, G, T suffixes), BOOL (min 0, max 1), CHOICE
 *		(a word of the unit, "auto|read|write", as its number) or
 *		STRING (min and max 0)
 *	when	STARTUP: only before the runtime starts; ANYTIME, in each
 *		process as it likes; ALIKE: at any time when no call that it
 *		concerns is under way, and the same in all processes; RANK: at
 *		any time, and each rank may have a value of its own
 *	level, category		tokens of introspect/vars/category.h
 *	text	one or more sentences for vmpi_info and vmpi-variables(7)
 *
 * In vars.h of a layer:
 *	struct sched_cvars { SCHED_CVARS(VM_CVAR_FIELD) };
 *	extern struct sched_cvars sched_cvar;
 *	extern const struct vm_cvar_table sched_cvar_table;
 * In its vars.c:
 *	VM_CVARS_DEFINE(sched, SCHED_CVARS)
 */

enum vm_var_type {
	VM_VAR_INT,
	VM_VAR_SIZE,
	VM_VAR_BOOL,
	VM_VAR_CHOICE,
	VM_VAR_STRING
};

enum vm_var_when { VM_VAR_STARTUP, VM_VAR_ANYTIME, VM_VAR_ALIKE, VM_VAR_RANK };

/* The sources of values; later ones win over earlier ones. */
#define VM_VAR_SOURCES(X)             \
	X(DEFAULT, "default")         \
	X(SYSTEM, "system file")      \
	X(USER, "user file")          \
	X(CONFIG, "VMPI_CONFIG")      \
	X(ENVIRONMENT, "environment") \
	X(COMMAND, "--set")           \
	X(RUNTIME, "run time")

enum vm_var_source {
#define VM_VAR_SOURCE_ENUM_(name, text) VM_SOURCE_##name,
	VM_VAR_SOURCES(VM_VAR_SOURCE_ENUM_)
#undef VM_VAR_SOURCE_ENUM_
};

/* One row. */
struct vm_cvar {
	const char *field;
	enum vm_var_type type;
	enum vm_var_when when;
	int64_t number;	    /* default, of all types but STRING */
	const char *string; /* default, of STRING */
	int64_t min, max;
	enum vm_level level;
	enum vm_category category;
	const char *unit;
	const char *text;
};

/*
 * The rows of one layer.  Every field of the struct is one word, so that row i
 * describes word i of values.
 */
struct vm_cvar_table {
	const char *layer;
	const struct vm_cvar *rows;
	unsigned count;
	void *values;
};

/* The list expands to the fields of the layer's struct ... */
#define VM_CVAR_TYPE_INT int64_t
#define VM_CVAR_TYPE_SIZE int64_t
#define VM_CVAR_TYPE_BOOL int64_t
#define VM_CVAR_TYPE_CHOICE int64_t
#define VM_CVAR_TYPE_STRING const char *
#define VM_CVAR_FIELD(type, field, value, min, max, unit, when, level, \
		      category, text)                                  \
	VM_CVAR_TYPE_##type field;

/* ... to their initial values ... */
#define VM_CVAR_VALUE(type, field, value, min, max, unit, when, level, \
		      category, text)                                  \
	.field = (value),

/* ... and to the rows. */
#define VM_CVAR_NUMBER_INT(value) (value)
#define VM_CVAR_NUMBER_SIZE(value) (value)
#define VM_CVAR_NUMBER_BOOL(value) (value)
#define VM_CVAR_NUMBER_CHOICE(value) (value)
#define VM_CVAR_NUMBER_STRING(value) 0
#define VM_CVAR_STRING_INT(value) NULL
#define VM_CVAR_STRING_SIZE(value) NULL
#define VM_CVAR_STRING_BOOL(value) NULL
#define VM_CVAR_STRING_CHOICE(value) NULL
#define VM_CVAR_STRING_STRING(value) (value)
#define VM_CVAR_ROW(type_, field_, value_, min_, max_, unit_, when_, level_, \
		    category_, text_)                                        \
	{ .field = #field_,                                                  \
	  .type = VM_VAR_##type_,                                            \
	  .when = VM_VAR_##when_,                                            \
	  .number = VM_CVAR_NUMBER_##type_(value_),                          \
	  .string = VM_CVAR_STRING_##type_(value_),                          \
	  .min = (min_),                                                     \
	  .max = (max_),                                                     \
	  .level = VM_LEVEL_##level_,                                        \
	  .category = VM_CATEGORY_##category_,                               \
	  .unit = (unit_),                                                   \
	  .text = (text_) },

#define VM_CVARS_DEFINE(layer_, LIST)                                         \
	struct layer_##_cvars layer_##_cvar = { LIST(VM_CVAR_VALUE) };        \
	static const struct vm_cvar layer_##_cvar_rows[] = { LIST(            \
		VM_CVAR_ROW) };                                               \
	_Static_assert(sizeof(struct layer_##_cvars) / sizeof(int64_t) ==     \
			       sizeof(layer_##_cvar_rows) /                   \
				       sizeof(struct vm_cvar),                \
		       "every CVAR is one word");                             \
	const struct vm_cvar_table layer_##_cvar_table = {                    \
		.layer = #layer_,                                             \
		.rows = layer_##_cvar_rows,                                   \
		.count = sizeof(layer_##_cvar_rows) / sizeof(struct vm_cvar), \
		.values = &layer_##_cvar                                      \
	};

/*
 * Adds a layer's table; its variables' index is their order of arrival.  Does
 * nothing for the same table again.  -VMPI_ELIMIT when there is no room for it
 * (VM_VAR_TABLES_MAX, VM_VARS_MAX).  Names must be new, defaults in range
 * (asserted: both are mistakes of the row).  Any thread.
 */
#define VM_VAR_TABLES_MAX 16
#define VM_VARS_MAX 512
int vm_vars_add(const struct vm_cvar_table *table);

/*
 * Sets the variable `name` to the value that text has and remembers source.  A
 * value from a higher source than the given one stays (the text is still
 * checked). -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_ESTATE (STARTUP, and the runtime
 * has started), -VMPI_ENOMEM, -VMPI_ELIMIT (more than VM_VAR_STRINGS_MAX
 * different strings), all logged.  Any thread; never switches.
 *
 * A replaced string stays in memory, because some thread may still read it;
 * equal texts are kept once.
 */
#define VM_VAR_STRINGS_MAX 1024
#define VM_VAR_TEXT_MAX 4096 /* bytes of a value as text, with the final zero */
int vm_cvar_set(const char *name, const char *text, enum vm_var_source source);

/* As vm_cvar_set(), for line `line` of file `path`, for messages and
 * vm_cvar_each(). */
int vm_cvar_set_at(const char *name, const char *text,
		   enum vm_var_source source, const char *path, unsigned line);

/* Whether there is a variable of this name. */
bool vm_cvar_known(const char *name);

/* Resets all variables that vm_cvar_set() did not write at RUNTIME to their
 * default. -VMPI_ESTATE after vm_vars_freeze(true), logged. */
int vm_vars_reset(void);

/*
 * The value as text that vm_cvar_set() would take.  -VMPI_ENOENT, or
 * -VMPI_EINVAL when it does not fit into bytes; neither is logged, as asking is
 * no mistake.
 */
int vm_cvar_get(const char *name, char *text, size_t bytes);

/* Sets whether STARTUP variables refuse writes from now on. */
void vm_vars_freeze(bool started);

/*
 * Calls a function at each change of a value from now on, or none (NULL); there
 * is one at a time.  text: the value of a STRING, else NULL.  The function runs
 * under the lock of the registry and must not call it.  After the return the
 * previous function is not running and not called any more.  Any thread.
 */
typedef void vm_cvar_changed(unsigned index, int64_t value, const char *text);
void vm_cvar_observe(vm_cvar_changed *changed);

/* The facts about a variable; valid during the visit. */
#define VM_VAR_PLACE_MAX 4128
struct vm_cvar_view {
	const struct vm_cvar *row;
	const char *layer;
	const char *name;   /* sched_stack_bytes */
	const char *value;  /* as vm_cvar_get() */
	const char *preset; /* the default, in the same form */
	enum vm_var_source source;
	const char *place; /* "/etc/vmpi.conf:3"; "" without one */
	unsigned index;
};

/*
 * Variables by their index, the number.  vm_cvar_count(): how many there are.
 * vm_cvar_find(): the number of a name, or -1.  vm_cvar_info(): row, layer,
 * name (written to name[VM_NAME_MAX]), source and index of one; value, preset
 * and place stay NULL; false: no such number.
 *
 * vm_cvar_load(), vm_cvar_store(): the value as a number, of all types but
 * STRING.  -VMPI_ENOENT: no such number; -VMPI_EINVAL: a STRING, or out of its
 * range; -VMPI_ESTATE: STARTUP, and the runtime has started.  A value from a
 * higher source stays, as with vm_cvar_set().  Nothing is logged: callers that
 * try numbers know what a failure means.  Any thread; loads also in signal
 * handlers.
 */
int vm_cvar_count(void);
int vm_cvar_find(const char *name);
bool vm_cvar_info(int number, struct vm_cvar_view *view, char *name);
int vm_cvar_load(int64_t *value, int number);
int vm_cvar_store(int number, int64_t value, enum vm_var_source source);

/* Visits all variables in the order of their index; a visit that does not
 * return 0 ends it with that result.  */
int vm_cvar_each(int (*visit)(const struct vm_cvar_view *view, void *arg),
		 void *arg);

/* Words for people: "size", "startup", "user file". */
const char *vm_var_type_name(enum vm_var_type type);
const char *vm_var_when_name(enum vm_var_when when);
const char *vm_var_source_name(enum vm_var_source source);
#endif
