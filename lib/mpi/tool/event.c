/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event types and sources of MPI_T, and event instances during callbacks.
 */
#include "mpi/tool/event.h"

#include <string.h>

#include "base/clock.h"
#include "introspect/vars/event.h"
#include "mpi/call/info.h"
#include "mpi/tool/tool.h"

static const MPI_Datatype types[] = {
	[VM_EVENT_I32] = MPI_INT32_T,
	[VM_EVENT_I64] = MPI_INT64_T,
	[VM_EVENT_U64] = MPI_UINT64_T,
};

int vm_tool_info(MPI_Info *info)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_mpi *mpi = rank ? vm_mpi_of(rank) : NULL;

	if (!info)
		return MPI_SUCCESS;
	*info = MPI_INFO_NULL;
	if (!rank)
		return MPI_SUCCESS;
	return mpi && !vm_info_new(mpi, info) ? MPI_SUCCESS : MPI_T_ERR_MEMORY;
}

int PMPI_T_event_get_num(int *num_events)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!num_events)
		return MPI_T_ERR_INVALID;
	*num_events = VM_EVENT_COUNT;
	return MPI_SUCCESS;
}

/* Stores the first *count elements; *count becomes the number of all. */
static void elements_put(const struct vm_event_row *row,
			 MPI_Datatype *datatypes, MPI_Aint *displacements,
			 int *count)
{
	if (!count)
		return;
	for (int i = 0; i < row->element_count && i < *count; i++) {
		if (datatypes)
			datatypes[i] = types[row->elements[i].type];
		if (displacements)
			displacements[i] = (MPI_Aint)row->elements[i].offset;
	}
	*count = row->element_count;
}

int PMPI_T_event_get_info(int event_index, char *name, int *name_len,
			  int *verbosity, MPI_Datatype array_of_datatypes[],
			  MPI_Aint array_of_displacements[], int *num_elements,
			  MPI_T_enum *enumtype, MPI_Info *info, char *desc,
			  int *desc_len, int *bind)
{
	const struct vm_event_row *row;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	row = vm_event_row(event_index);
	if (!row)
		return MPI_T_ERR_INVALID_INDEX;
	vm_tool_text(name, name_len, row->name);
	VM_TOOL_PUT(verbosity, vm_tool_verbosity(row->level));
	elements_put(row, array_of_datatypes, array_of_displacements,
		     num_elements);
	VM_TOOL_PUT(enumtype, vm_tool_enum_event(event_index));
	vm_tool_text(desc, desc_len, row->text);
	VM_TOOL_PUT(bind, MPI_T_BIND_NO_OBJECT);
	return vm_tool_info(info);
}

int PMPI_T_event_get_index(const char *name, int *event_index)
{
	int id;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!name || !event_index)
		return MPI_T_ERR_INVALID;
	id = vm_event_find(name);
	if (id < 0)
		return MPI_T_ERR_INVALID_NAME;
	*event_index = id;
	return MPI_SUCCESS;
}

/* Events.  An instance is what vm_event_raise() has on its stack. */

static const struct vm_event *instance_of(MPI_T_event_instance instance)
{
	return (uintptr_t)instance < VM_HANDLE_MIN ?
		       NULL :
		       (const struct vm_event *)instance;
}

/* During an event the interface is initialised, by the rank that registered,
 * which may not be the running one. */
static int no_instance(void)
{
	return vm_tool_check() ? MPI_T_ERR_NOT_INITIALIZED :
				 MPI_T_ERR_INVALID_HANDLE;
}

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index,
		      void *buffer)
{
	const struct vm_event *event = instance_of(event_instance);
	const struct vm_event_element *element;
	const struct vm_event_row *row;

	if (!event)
		return no_instance();
	row = vm_event_row((int)event->id);
	if (element_index < 0 || element_index >= row->element_count)
		return MPI_T_ERR_INVALID_INDEX;
	if (!buffer)
		return MPI_T_ERR_INVALID;
	element = &row->elements[element_index];
	memcpy(buffer, (const char *)event->payload + element->offset,
	       vm_event_type_bytes(element->type));
	return MPI_SUCCESS;
}

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
	const struct vm_event *event = instance_of(event_instance);

	if (!event)
		return no_instance();
	if (!buffer)
		return MPI_T_ERR_INVALID;
	memcpy(buffer, event->payload,
	       vm_event_bytes(vm_event_row((int)event->id)));
	return MPI_SUCCESS;
}

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance,
			       MPI_Count *event_timestamp)
{
	const struct vm_event *event = instance_of(event_instance);

	if (!event)
		return no_instance();
	if (!event_timestamp)
		return MPI_T_ERR_INVALID;
	*event_timestamp = (MPI_Count)event->ticks;
	return MPI_SUCCESS;
}

int PMPI_T_event_get_source(MPI_T_event_instance event_instance,
			    int *source_index)
{
	const struct vm_event *event = instance_of(event_instance);

	if (!event)
		return no_instance();
	if (!source_index)
		return MPI_T_ERR_INVALID;
	*source_index = event->source;
	return MPI_SUCCESS;
}

/* Sources. */

int PMPI_T_source_get_num(int *num_sources)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!num_sources)
		return MPI_T_ERR_INVALID;
	*num_sources = vm_source_count();
	return MPI_SUCCESS;
}

int PMPI_T_source_get_info(int source_index, char *name, int *name_len,
			   char *desc, int *desc_len,
			   MPI_T_source_order *ordering,
			   MPI_Count *ticks_per_second, MPI_Count *max_ticks,
			   MPI_Info *info)
{
	struct vm_source source;

	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (!vm_source_info(source_index, &source))
		return MPI_T_ERR_INVALID_INDEX;
	vm_tool_text(name, name_len, source.name);
	vm_tool_text(desc, desc_len, source.text);
	VM_TOOL_PUT(ordering, source.ordered ? MPI_T_SOURCE_ORDERED :
					       MPI_T_SOURCE_UNORDERED);
	if (ticks_per_second) {
		vm_clock_ready();
		*ticks_per_second = (MPI_Count)(1e9 / vm_clock.tick_ns);
	}
	VM_TOOL_PUT(max_ticks, INT64_MAX);
	return vm_tool_info(info);
}

int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
	if (vm_tool_check())
		return MPI_T_ERR_NOT_INITIALIZED;
	if (source_index < 0 || source_index >= vm_source_count())
		return MPI_T_ERR_INVALID_INDEX;
	if (!timestamp)
		return MPI_T_ERR_INVALID;
	*timestamp = (MPI_Count)vm_clock_ticks();
	return MPI_SUCCESS;
}
