/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of performance variables of MPI_T.
 *
 * The types are those allowed for the classes (MPI 4.1, 15.3.7): MPI_INT for
 * states, MPI_DOUBLE for percentages, and MPI_UNSIGNED_LONG_LONG for all
 * others, since tools copy 8 bytes regardless of the type.
 */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "introspect/vars/session.h"
#include "mpi/tool/tool.h"

#define TOTAL "_total"

/* Amounts add up, states and parts do not. */
static bool has_total(const struct vm_pvar *row)
{
	return (row->of == VM_PVAR_WORKER || row->words > 1) &&
	       row->class_ != VM_PVAR_STATE &&
	       row->class_ != VM_PVAR_PERCENTAGE &&
	       row->class_ != VM_PVAR_GENERIC;
}

bool vm_tool_pvar_at(struct vm_tool_pvar *pvar, int index)
{
	struct vm_pvar_spot spot;

	if (index < 0)
		return false;
	for (int number = 0; vm_pvar_spot(&spot, number); number++) {
		int indices = has_total(spot.row) ? 2 : 1;

		if (index < indices) {
			*pvar = (struct vm_tool_pvar){ .number = number,
						       .total = index == 1,
						       .row = spot.row };
			return true;
		}
		index -= indices;
	}
	return false;
}

static int pvar_count(void)
{
	struct vm_pvar_spot spot;
	int count = 0;

	for (int number = 0; vm_pvar_spot(&spot, number); number++)
		count += has_total(spot.row) ? 2 : 1;
	return count;
}

static int class_of(const struct vm_pvar *row)
{
	static const int classes[] = {
		[VM_PVAR_COUNTER] = MPI_T_PVAR_CLASS_COUNTER,
		[VM_PVAR_LEVEL] = MPI_T_PVAR_CLASS_LEVEL,
		[VM_PVAR_HIGHWATERMARK] = MPI_T_PVAR_CLASS_HIGHWATERMARK,
		[VM_PVAR_LOWWATERMARK] = MPI_T_PVAR_CLASS_LOWWATERMARK,
		[VM_PVAR_SIZE] = MPI_T_PVAR_CLASS_SIZE,
		[VM_PVAR_PERCENTAGE] = MPI_T_PVAR_CLASS_PERCENTAGE,
		[VM_PVAR_TIMER] = MPI_T_PVAR_CLASS_TIMER,
		[VM_PVAR_AGGREGATE] = MPI_T_PVAR_CLASS_AGGREGATE,
		[VM_PVAR_STATE] = MPI_T_PVAR_CLASS_STATE,
		[VM_PVAR_GENERIC] = MPI_T_PVAR_CLASS_GENERIC,
	};

	return classes[row->class_];
}

MPI_Datatype vm_tool_pvar_type(const struct vm_pvar *row)
{
	if (row->class_ == VM_PVAR_STATE)
		return MPI_INT;
	return row->class_ == VM_PVAR_PERCENTAGE ? MPI_DOUBLE :
						   MPI_UNSIGNED_LONG_LONG;
}

static bool is_atomic(const struct vm_pvar *row)
{
	return row->class_ == VM_PVAR_COUNTER || row->class_ == VM_PVAR_TIMER ||
	       row->class_ == VM_PVAR_AGGREGATE;
}

static void name_of(const struct vm_tool_pvar *pvar, char name[VM_NAME_MAX])
{
	struct vm_pvar_view view;
	size_t length;

	vm_pvar_info(pvar->number, &view, name);
	length = strlen(name);
	if (pvar->total)
		snprintf(name + length, VM_NAME_MAX - length, TOTAL);
}

#define TEXT_MAX 1024

static void text_of(const struct vm_tool_pvar *pvar, char text[TEXT_MAX])
{
	const struct vm_pvar *row = pvar->row;

	snprintf(text, TEXT_MAX, "%s%s%s%s%s", row->text,
		 row->class_ == VM_PVAR_STATE ? "" : " (",
		 row->class_ == VM_PVAR_STATE ? "" : row->unit,
		 row->class_ == VM_PVAR_STATE ? "" : ")",
		 pvar->total		   ? "; all values together" :
		 row->of == VM_PVAR_WORKER ? "; one value for each worker" :
					     "");
}

int PMPI_T_pvar_get_num(int *num_pvar)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!num_pvar)
		return MPI_T_ERR_INVALID;
	*num_pvar = pvar_count();
	return MPI_SUCCESS;
}

int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len,
			 int *verbosity, int *var_class, MPI_Datatype *datatype,
			 MPI_T_enum *enumtype, char *desc, int *desc_len,
			 int *bind, int *readonly, int *continuous, int *atomic)
{
	char known[VM_NAME_MAX], text[TEXT_MAX];
	struct vm_tool_pvar pvar;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_tool_pvar_at(&pvar, pvar_index))
		return MPI_T_ERR_INVALID_INDEX;
	name_of(&pvar, known);
	text_of(&pvar, text);
	vm_tool_text(name, name_len, known);
	vm_tool_text(desc, desc_len, text);
	VM_TOOL_PUT(verbosity, vm_tool_verbosity(pvar.row->level));
	VM_TOOL_PUT(var_class, class_of(pvar.row));
	VM_TOOL_PUT(datatype, vm_tool_pvar_type(pvar.row));
	VM_TOOL_PUT(enumtype, vm_tool_enum_pvar(pvar.number, pvar.row));
	VM_TOOL_PUT(bind, pvar.row->of == VM_PVAR_CHAN ? MPI_T_BIND_MPI_COMM :
							 MPI_T_BIND_NO_OBJECT);
	VM_TOOL_PUT(readonly, !vm_pvar_resets(pvar.number));
	VM_TOOL_PUT(continuous, 1);
	VM_TOOL_PUT(atomic, is_atomic(pvar.row));
	return MPI_SUCCESS;
}

int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
	struct vm_tool_pvar pvar;
	char known[VM_NAME_MAX];

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!name || !pvar_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; vm_tool_pvar_at(&pvar, i); i++) {
		name_of(&pvar, known);
		if (strcmp(known, name) == 0 &&
		    class_of(pvar.row) == var_class) {
			*pvar_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}
