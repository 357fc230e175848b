/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of control variables.
 *
 * Tables are added and never taken away, so they are searched without a lock;
 * the lock orders writers.  Values are words that any thread reads plainly and
 * that are written by a relaxed atomic store.
 */
#include "introspect/vars/cvar.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/log.h"
#include "introspect/vars/cvar_copy.h"
#include "base/nearest.h"
#include "introspect/vars/value.h"

VM_STATIC_ASSERT(sizeof(char *) == sizeof(int64_t), "a value is one word");

static struct {
	/* A table is there before the release store of the count; pairs with
	 * the acquire load in slot_at(). */
	const struct vm_cvar_table *tables[VM_VAR_TABLES_MAX];
	_Atomic unsigned table_count;

	/* Under lock. */
	struct vm_lock lock;
	unsigned count; /* rows of all tables */
	bool started;
	unsigned string_count;
	char *strings[VM_VAR_STRINGS_MAX]; /* texts that may be read for ever */
	unsigned char source[VM_VARS_MAX];
	const char *path[VM_VARS_MAX]; /* of the file it comes from, or NULL */
	unsigned line[VM_VARS_MAX];
	vm_cvar_changed *changed; /* or NULL */
} vars;

/* The place of a variable. */
struct slot {
	const struct vm_cvar_table *table;
	const struct vm_cvar *row;
	unsigned index;
	void *word;
};

/* The slot of variable `index`; false beyond the last one. */
static bool slot_at(struct slot *slot, unsigned index)
{
	unsigned tables =
		atomic_load_explicit(&vars.table_count, memory_order_acquire);
	unsigned row = index;

	for (unsigned t = 0; t < tables; t++) {
		const struct vm_cvar_table *table = vars.tables[t];

		if (row < table->count) {
			slot->table = table;
			slot->row = &table->rows[row];
			slot->index = index;
			slot->word = (int64_t *)table->values + row;
			return true;
		}
		row -= table->count;
	}
	return false;
}

static void slot_name(const struct slot *slot, char name[VM_NAME_MAX])
{
	snprintf(name, VM_NAME_MAX, "%s_%s", slot->table->layer,
		 slot->row->field);
}

static bool slot_find(struct slot *slot, const char *name)
{
	char known[VM_NAME_MAX];

	for (unsigned i = 0; slot_at(slot, i); i++) {
		slot_name(slot, known);
		if (strcmp(known, name) == 0)
			return true;
	}
	return false;
}

static void row_check(const struct vm_cvar *row, const struct slot *slot)
{
	char name[VM_NAME_MAX];
	struct slot other;

	slot_name(slot, name);
	if (slot_find(&other, name) && other.index != slot->index)
		vm_panic("two control variables are called %s", name);
	if (row->type != VM_VAR_STRING &&
	    (row->number < row->min || row->number > row->max))
		vm_panic("the default of %s is out of its range", name);
	if (!row->text || !row->text[0])
		vm_panic("the control variable %s has no text", name);
}

/* Under lock. */
static int table_add(const struct vm_cvar_table *table)
{
	unsigned tables =
		atomic_load_explicit(&vars.table_count, memory_order_relaxed);
	struct slot slot;

	for (unsigned t = 0; t < tables; t++) {
		if (vars.tables[t] == table)
			return 0;
	}
	if (tables == VM_VAR_TABLES_MAX ||
	    table->count > VM_VARS_MAX - vars.count)
		return -VMPI_ELIMIT;
	vars.tables[tables] = table;
	atomic_store_explicit(&vars.table_count, tables + 1,
			      memory_order_release);
	for (unsigned i = vars.count; slot_at(&slot, i); i++)
		row_check(slot.row, &slot);
	vars.count += table->count;
	return 0;
}

int vm_vars_add(const struct vm_cvar_table *table)
{
	int rc;

	vm_lock_take(&vars.lock);
	rc = table_add(table);
	vm_lock_give(&vars.lock);
	if (rc < 0)
		vm_log(VM_ERROR, "no room for the control variables of %s",
		       table->layer);
	return rc;
}

bool vm_cvar_known(const char *name)
{
	struct slot slot;

	return slot_find(&slot, name);
}

/*
 * Stores one word.  Readers load it plainly, by design: this store is hidden
 * from TSan.
 */
__attribute__((no_sanitize("thread"))) static void word_store(void *word,
							      int64_t value)
{
	__atomic_store_n((int64_t *)word, value, __ATOMIC_RELAXED);
}

static int64_t word_load(const void *word)
{
	return __atomic_load_n((const int64_t *)word, __ATOMIC_RELAXED);
}

static const char *string_load(const void *word)
{
	return (const char *)(intptr_t)word_load(word);
}

/* Finds or makes the copy of text that lives forever; under lock. */
static int keep(const char **kept, const char *text)
{
	char *copy;

	for (unsigned i = 0; i < vars.string_count; i++) {
		if (strcmp(vars.strings[i], text) == 0) {
			*kept = vars.strings[i];
			return 0;
		}
	}
	if (vars.string_count == VM_VAR_STRINGS_MAX)
		return -VMPI_ELIMIT;
	copy = strdup(text);
	if (!copy)
		return -VMPI_ENOMEM;
	vars.strings[vars.string_count++] = copy;
	*kept = copy;
	return 0;
}

/* A write: its target, its value and its source. */
struct write {
	struct slot slot;
	int64_t number;	  /* all types but STRING */
	const char *text; /* STRING */
	enum vm_var_source source;
	const char *path; /* or NULL */
	unsigned line;
};

static int write_locked(const struct write *write)
{
	const struct slot *slot = &write->slot;
	const char *path = NULL, *text = NULL;
	int64_t number = write->number;
	int rc;

	if (vars.started && slot->row->when == VM_VAR_STARTUP)
		return -VMPI_ESTATE;
	if (write->source < (enum vm_var_source)vars.source[slot->index])
		return 0;
	if (write->path) {
		rc = keep(&path, write->path);
		if (rc < 0)
			return rc;
	}
	if (slot->row->type == VM_VAR_STRING) {
		rc = keep(&text, write->text);
		if (rc < 0)
			return rc;
		number = (intptr_t)text;
	}
	word_store(slot->word, number);
	if (vars.changed)
		vars.changed(slot->index, number, text);
	vm_cvar_copies_write(slot->table,
			     (unsigned)(slot->row - slot->table->rows), number);
	vars.source[slot->index] = (unsigned char)write->source;
	vars.path[slot->index] = path;
	vars.line[slot->index] = write->line;
	return 0;
}

/* Begins a message with the source of the value. */
static void place_format(char place[512], const char *name,
			 enum vm_var_source source, const char *path,
			 unsigned line)
{
	if (path)
		snprintf(place, 512, "%.480s:%u: ", path, line);
	else if (source == VM_SOURCE_ENVIRONMENT) {
		int n = snprintf(place, 512, "environment variable VMPI_");

		for (; *name && n < 500; name++)
			place[n++] = *name >= 'a' && *name <= 'z' ?
					     (char)(*name - 'a' + 'A') :
					     *name;
		snprintf(place + n, 3, ": ");
	} else if (source == VM_SOURCE_COMMAND)
		snprintf(place, 512, "--set: ");
	else
		place[0] = '\0';
}

/* Shortens users' text for a message: one line of bounded length. */
static void shorten(char out[64], const char *text)
{
	size_t i;

	for (i = 0; text[i] && i < 60; i++) {
		unsigned char c = (unsigned char)text[i];

		out[i] = c < ' ' || c == 127 ? '?' : (char)c;
	}
	snprintf(out + i, 4, "%s", text[i] ? "..." : "");
}

static int unknown(const char *place, const char *name)
{
	struct vm_nearest nearest;
	char known[VM_NAME_MAX], shown[64];
	const char *meant;
	struct slot slot;

	vm_nearest_init(&nearest, name);
	for (unsigned i = 0; slot_at(&slot, i); i++) {
		slot_name(&slot, known);
		vm_nearest_offer(&nearest, known);
	}
	shorten(shown, name);
	meant = vm_nearest_name(&nearest);
	if (meant)
		vm_log(VM_ERROR,
		       "%sno control variable is called '%s'; "
		       "did you mean %s?",
		       place, shown, meant);
	else
		vm_log(VM_ERROR,
		       "%sno control variable is called '%s'; "
		       "vmpi_info --cvars lists them",
		       place, shown);
	return -VMPI_ENOENT;
}

static void refused(const char *place, const char *name, const char *text,
		    int error)
{
	char shown[64];

	shorten(shown, text);
	if (error == -VMPI_ESTATE)
		vm_log(VM_ERROR,
		       "%s%s = %s: can only be set before the runtime starts",
		       place, name, shown);
	else if (error == -VMPI_ELIMIT)
		vm_log(VM_ERROR,
		       "%s%s = %s: more than %d different strings were set",
		       place, name, shown, VM_VAR_STRINGS_MAX);
	else
		vm_log(VM_ERROR, "%s%s = %s: %s", place, name, shown,
		       vmpi_strerror(error));
}

int vm_cvar_set_at(const char *name, const char *text,
		   enum vm_var_source source, const char *path, unsigned line)
{
	struct write write = {
		.text = text, .source = source, .path = path, .line = line
	};
	char place[512], why[VM_VALUE_WHY_MAX], shown[64];
	int rc;

	place_format(place, name, source, path, line);
	if (!slot_find(&write.slot, name))
		return unknown(place, name);
	rc = vm_value_parse(write.slot.row, &write.number, why, text);
	if (rc < 0) {
		shorten(shown, text);
		vm_log(VM_ERROR, "%s%s = %s: %s", place, name, shown, why);
		return rc;
	}
	vm_lock_take(&vars.lock);
	rc = write_locked(&write);
	vm_lock_give(&vars.lock);
	if (rc < 0)
		refused(place, name, text, rc);
	return rc;
}

int vm_cvar_set(const char *name, const char *text, enum vm_var_source source)
{
	return vm_cvar_set_at(name, text, source, NULL, 0);
}

int vm_vars_reset(void)
{
	struct slot slot;

	vm_lock_take(&vars.lock);
	if (vars.started) {
		vm_lock_give(&vars.lock);
		vm_log(VM_ERROR, "control variables cannot be loaded again "
				 "before the runtime has stopped");
		return -VMPI_ESTATE;
	}
	for (unsigned i = 0; slot_at(&slot, i); i++) {
		bool text = slot.row->type == VM_VAR_STRING;

		if (vars.source[i] == VM_SOURCE_RUNTIME)
			continue;
		word_store(slot.word, text ? (intptr_t)slot.row->string :
					     slot.row->number);
		vars.source[i] = VM_SOURCE_DEFAULT;
		vars.path[i] = NULL;
	}
	vm_lock_give(&vars.lock);
	return 0;
}

void vm_cvar_observe(vm_cvar_changed *changed)
{
	vm_lock_take(&vars.lock);
	vars.changed = changed;
	vm_lock_give(&vars.lock);
}

void vm_vars_freeze(bool started)
{
	vm_lock_take(&vars.lock);
	vars.started = started;
	vm_lock_give(&vars.lock);
}

int vm_cvar_get(const char *name, char *text, size_t bytes)
{
	char number[VM_NUMBER_MAX];
	const char *value = number;
	struct slot slot;

	if (!slot_find(&slot, name))
		return -VMPI_ENOENT;
	if (slot.row->type == VM_VAR_STRING)
		value = string_load(slot.word);
	else
		vm_value_format(number, word_load(slot.word));
	if (strlen(value) >= bytes)
		return -VMPI_EINVAL;
	memcpy(text, value, strlen(value) + 1);
	return 0;
}

/* Formats the texts that the view needs; the buffers live as long as the
 * visit. */
static int visit_slot(const struct slot *slot,
		      int (*visit)(const struct vm_cvar_view *view, void *arg),
		      void *arg)
{
	char name[VM_NAME_MAX], value[VM_NUMBER_MAX], preset[VM_NUMBER_MAX];
	char place[VM_VAR_PLACE_MAX] = "";
	struct vm_cvar_view view = { .row = slot->row,
				     .layer = slot->table->layer,
				     .name = name,
				     .value = value,
				     .preset = preset,
				     .place = place,
				     .index = slot->index };
	const char *path;
	unsigned line;

	slot_name(slot, name);
	vm_lock_take(&vars.lock);
	view.source = (enum vm_var_source)vars.source[slot->index];
	path = vars.path[slot->index];
	line = vars.line[slot->index];
	if (slot->row->type == VM_VAR_STRING) {
		view.value = string_load(slot->word);
		view.preset = slot->row->string;
	} else {
		vm_value_format(value, word_load(slot->word));
		vm_value_format(preset, slot->row->number);
	}
	vm_lock_give(&vars.lock);
	if (path)
		snprintf(place, sizeof(place), "%s:%u", path, line);
	return visit(&view, arg);
}

int vm_cvar_each(int (*visit)(const struct vm_cvar_view *view, void *arg),
		 void *arg)
{
	struct slot slot;
	int rc = 0;

	for (unsigned i = 0; rc == 0 && slot_at(&slot, i); i++)
		rc = visit_slot(&slot, visit, arg);
	return rc;
}

int vm_cvar_count(void)
{
	unsigned tables =
		atomic_load_explicit(&vars.table_count, memory_order_acquire);
	unsigned count = 0;

	for (unsigned t = 0; t < tables; t++)
		count += vars.tables[t]->count;
	return (int)count;
}

int vm_cvar_find(const char *name)
{
	struct slot slot;

	return slot_find(&slot, name) ? (int)slot.index : -1;
}

bool vm_cvar_info(int number, struct vm_cvar_view *view, char *name)
{
	struct slot slot;

	if (number < 0 || !slot_at(&slot, (unsigned)number))
		return false;
	slot_name(&slot, name);
	*view = (struct vm_cvar_view){ .row = slot.row,
				       .layer = slot.table->layer,
				       .name = name,
				       .index = slot.index };
	vm_lock_take(&vars.lock);
	view->source = (enum vm_var_source)vars.source[slot.index];
	vm_lock_give(&vars.lock);
	return true;
}

int vm_cvar_load(int64_t *value, int number)
{
	struct slot slot;

	if (number < 0 || !slot_at(&slot, (unsigned)number))
		return -VMPI_ENOENT;
	if (slot.row->type == VM_VAR_STRING)
		return -VMPI_EINVAL;
	*value = word_load(slot.word);
	return 0;
}

int vm_cvar_store(int number, int64_t value, enum vm_var_source source)
{
	struct write write = { .number = value, .source = source };
	const struct vm_cvar *row;
	int rc;

	if (number < 0 || !slot_at(&write.slot, (unsigned)number))
		return -VMPI_ENOENT;
	row = write.slot.row;
	if (row->type == VM_VAR_STRING || value < row->min || value > row->max)
		return -VMPI_EINVAL;
	vm_lock_take(&vars.lock);
	rc = write_locked(&write);
	vm_lock_give(&vars.lock);
	return rc;
}

const char *vm_var_type_name(enum vm_var_type type)
{
	static const char *const names[] = {
		[VM_VAR_INT] = "int",	    [VM_VAR_SIZE] = "size",
		[VM_VAR_BOOL] = "switch",   [VM_VAR_CHOICE] = "choice",
		[VM_VAR_STRING] = "string",
	};

	return names[type];
}

const char *vm_var_when_name(enum vm_var_when when)
{
	static const char *const names[] = {
		[VM_VAR_STARTUP] = "startup",
		[VM_VAR_ANYTIME] = "anytime",
		[VM_VAR_ALIKE] = "alike",
		[VM_VAR_RANK] = "rank",
	};

	return names[when];
}

const char *vm_var_source_name(enum vm_var_source source)
{
	static const char *const names[] = {
#define SOURCE_NAME(name, text) [VM_SOURCE_##name] = text,
		VM_VAR_SOURCES(SOURCE_NAME)
#undef SOURCE_NAME
	};

	return names[source];
}
