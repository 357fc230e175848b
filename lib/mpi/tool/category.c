/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Categories of MPI_T; the index is the number (introspect/vars/category.h).
 */
#include "introspect/vars/event.h"
#include "base/nearest.h"
#include "mpi/tool/tool.h"

/* Number and first indices of the members of a category. */
struct members {
	int category;
	int *indices; /* or NULL */
	int room, count;
};

static void member_add(struct members *members, int category, int index)
{
	if (category != members->category)
		return;
	if (members->indices && members->count < members->room)
		members->indices[members->count] = index;
	members->count++;
}

static void cvars_collect(struct members *members)
{
	struct vm_tool_cvar cvar;

	for (int i = 0; vm_tool_cvar_at(&cvar, i); i++)
		member_add(members, cvar.row->category, i);
}

static void pvars_collect(struct members *members)
{
	struct vm_tool_pvar pvar;

	for (int i = 0; vm_tool_pvar_at(&pvar, i); i++)
		member_add(members, pvar.row->category, i);
}

static void categories_collect(struct members *members)
{
	struct vm_category_view view;

	for (int i = 0; vm_category_info(i, &view); i++)
		member_add(members, view.parent, i);
}

static void events_collect(struct members *members)
{
	const struct vm_event_row *row;

	for (int i = 0; (row = vm_event_row(i)); i++)
		member_add(members, vm_category_find(row->category), i);
}

static int count(void (*collect)(struct members *members), int category)
{
	struct members members = { .category = category };

	collect(&members);
	return members.count;
}

/* Common part of the functions that list members. */
static int list(void (*collect)(struct members *members), int category, int len,
		int *indices)
{
	struct vm_category_view view;
	struct members members = { .category = category,
				   .indices = indices,
				   .room = len };

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_category_info(category, &view))
		return MPI_T_ERR_INVALID_INDEX;
	if (len < 0 || (len > 0 && !indices))
		return MPI_T_ERR_INVALID;
	collect(&members);
	return MPI_SUCCESS;
}

int PMPI_T_category_get_num(int *num_cat)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!num_cat)
		return MPI_T_ERR_INVALID;
	*num_cat = VM_CATEGORY_end;
	return MPI_SUCCESS;
}

int PMPI_T_category_get_info(int cat_index, char *name, int *name_len,
			     char *desc, int *desc_len, int *num_cvars,
			     int *num_pvars, int *num_categories)
{
	struct vm_category_view view;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_category_info(cat_index, &view))
		return MPI_T_ERR_INVALID_INDEX;
	vm_tool_text(name, name_len, view.name);
	vm_tool_text(desc, desc_len, view.text);
	VM_TOOL_PUT(num_cvars, count(cvars_collect, cat_index));
	VM_TOOL_PUT(num_pvars, count(pvars_collect, cat_index));
	VM_TOOL_PUT(num_categories, count(categories_collect, cat_index));
	return MPI_SUCCESS;
}

int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
	struct vm_category_view view;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_category_info(cat_index, &view))
		return MPI_T_ERR_INVALID_INDEX;
	VM_TOOL_PUT(num_events, count(events_collect, cat_index));
	return MPI_SUCCESS;
}

int PMPI_T_category_get_index(const char *name, int *cat_index)
{
	int number;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!name || !cat_index)
		return MPI_T_ERR_INVALID;
	number = vm_category_find(name);
	if (number < 0)
		return MPI_T_ERR_INVALID_NAME;
	*cat_index = number;
	return MPI_SUCCESS;
}

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
	return list(cvars_collect, cat_index, len, indices);
}

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
	return list(pvars_collect, cat_index, len, indices);
}

int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
	return list(events_collect, cat_index, len, indices);
}

int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
	return list(categories_collect, cat_index, len, indices);
}

int PMPI_T_category_changed(int *update_number)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!update_number)
		return MPI_T_ERR_INVALID;
	*update_number = (int)vm_vars_stamp();
	return MPI_SUCCESS;
}
