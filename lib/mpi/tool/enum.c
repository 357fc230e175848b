/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enumerations of the tool information interface: the words of a variable's
 * row, or the names of an event's elements.
 *
 * A handle is a number that identifies the variable or event; there is no
 * object.
 */
#include <stdio.h>

#include "introspect/vars/event.h"
#include "base/nearest.h"
#include "introspect/vars/value.h"
#include "mpi/tool/tool.h"

/* First number, above predefined handles and similar small numbers. */
#define FIRST 0x10000u
#define STEP 16u
enum whose { CVAR, PVAR, EVENT, WHOSE };

static MPI_T_enum handle_of(enum whose whose, int number)
{
	uintptr_t id = FIRST + ((uintptr_t)number * WHOSE + whose) * STEP;

	return (MPI_T_enum)id;
}

static const char *cvar_words(const struct vm_cvar *row)
{
	if (row->type == VM_VAR_BOOL)
		return "off|on";
	return row->type == VM_VAR_CHOICE ? row->unit : NULL;
}

static const char *pvar_words(const struct vm_pvar *row)
{
	if (row->class_ != VM_PVAR_STATE || vm_words_count(row->unit) < 2)
		return NULL;
	return row->unit;
}

MPI_T_enum vm_tool_enum_cvar(int number, const struct vm_cvar *row)
{
	return cvar_words(row) ? handle_of(CVAR, number) : MPI_T_ENUM_NULL;
}

MPI_T_enum vm_tool_enum_pvar(int number, const struct vm_pvar *row)
{
	return pvar_words(row) ? handle_of(PVAR, number) : MPI_T_ENUM_NULL;
}

MPI_T_enum vm_tool_enum_event(int id)
{
	return handle_of(EVENT, id);
}

/* Returns the words of a variable, or the elements of an event, and its
 * name. */
static const char *event_words(int id, char name[VM_NAME_MAX])
{
	const struct vm_event_row *row = vm_event_row(id);

	if (row)
		snprintf(name, VM_NAME_MAX, "%s", row->name);
	return row ? row->words : NULL;
}

/* Returns the words and the name of their variable; NULL: not an
 * enumeration. */
static const char *words_of(MPI_T_enum handle, char name[VM_NAME_MAX])
{
	uintptr_t at = (uintptr_t)handle - FIRST;
	struct vm_cvar_view cvar;
	struct vm_pvar_view pvar;
	int number;

	if ((uintptr_t)handle < FIRST || at % STEP ||
	    at / STEP / WHOSE > INT32_MAX)
		return NULL;
	number = (int)(at / STEP / WHOSE);
	if (at / STEP % WHOSE == EVENT)
		return event_words(number, name);
	if (at / STEP % WHOSE == CVAR)
		return vm_cvar_info(number, &cvar, name) ?
			       cvar_words(cvar.row) :
			       NULL;
	return vm_pvar_info(number, &pvar, name) ? pvar_words(pvar.row) : NULL;
}

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name,
			 int *name_len)
{
	char variable[VM_NAME_MAX];
	const char *words;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	words = words_of(enumtype, variable);
	if (!words)
		return MPI_T_ERR_INVALID_HANDLE;
	VM_TOOL_PUT(num, (int)vm_words_count(words));
	vm_tool_text(name, name_len, variable);
	return MPI_SUCCESS;
}

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name,
			 int *name_len)
{
	char variable[VM_NAME_MAX], item[VM_NAME_MAX];
	const char *words, *word;
	size_t length;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	words = words_of(enumtype, variable);
	if (!words)
		return MPI_T_ERR_INVALID_HANDLE;
	if (indx < 0 || indx >= (int)vm_words_count(words))
		return MPI_T_ERR_INVALID_INDEX;
	word = vm_words_item(words, (unsigned)indx, &length);
	snprintf(item, sizeof(item), "%.*s", (int)length, word);
	VM_TOOL_PUT(value, indx);
	vm_tool_text(name, name_len, item);
	return MPI_SUCCESS;
}
