/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of views.
 */
#include "mpi/io/view.h"

#include <stdlib.h>

#include "mpi/io/datarep.h"

typedef __int128 wide;

/* Whether the runs are in the order of the file, also from one element to the
 * next; apart: they have no byte twice. */
static bool runs_sorted(const struct vm_layout *layout, bool apart)
{
	MPI_Offset end = layout->runs[0].offset;

	for (size_t r = 0; r < layout->run_count; r++) {
		const struct vm_run *run = &layout->runs[r];
		ptrdiff_t bytes = apart ? (ptrdiff_t)run->bytes : 0;

		if (run->offset < end ||
		    (run->count > 1 && run->stride < bytes))
			return false;
		end = run->offset + (ptrdiff_t)(run->count - 1) * run->stride +
		      bytes;
	}
	return true;
}

static bool elements_sorted(const struct vm_layout *layout, bool apart)
{
	const struct vm_run *last = &layout->runs[layout->run_count - 1];
	MPI_Offset end = last->offset +
			 (ptrdiff_t)(last->count - 1) * last->stride +
			 (apart ? (ptrdiff_t)last->bytes : 0);

	return layout->runs[0].offset + layout->extent >= end;
}

static int check_layout(struct vm_call *call, const struct vm_layout *layout,
			bool writes)
{
	if (layout->runs[0].offset < 0)
		return vm_error(call, MPI_ERR_IO,
				"the filetype has negative displacements");
	if (runs_sorted(layout, writes))
		return 0;
	return vm_error(call, MPI_ERR_IO,
			"the displacements of the filetype %s",
			runs_sorted(layout, false) ?
				"overlap, and the file is written to" :
				"decrease");
}

static int check_types(struct vm_call *call, const struct vm_type *etype,
		       const struct vm_type *filetype)
{
	if (filetype->extent < 0)
		return vm_error(call, MPI_ERR_TYPE,
				"the extent of the filetype is negative");
	if (etype->size ? filetype->size % etype->size != 0 :
			  filetype->size != 0)
		return vm_error(call, MPI_ERR_TYPE,
				"the filetype has %zu bytes, no multiple of "
				"the %zu bytes of the etype",
				filetype->size, etype->size);
	if (filetype->dense && filetype->dense_offset < 0)
		return vm_error(call, MPI_ERR_IO,
				"the filetype has negative displacements");
	return 0;
}

/* Where the bytes of the filetype are. */
static int layout_take(struct vm_view *view)
{
	const struct vm_type *shown = view->shown;
	const struct vm_layout *layout = shown->layout;

	view->empty = !shown->size;
	if (shown->dense || view->empty) {
		view->base += shown->dense_offset;
		return 0;
	}
	view->layout = layout;
	view->before = malloc(layout->run_count * sizeof(*view->before));
	if (!view->before)
		return MPI_ERR_NO_MEM;
	for (size_t r = 0, bytes = 0; r < layout->run_count; r++) {
		view->before[r] = bytes;
		bytes += layout->runs[r].bytes * layout->runs[r].count;
	}
	view->sorted = runs_sorted(layout, true) &&
		       elements_sorted(layout, true);
	return 0;
}

size_t vm_view_pieces(const struct vm_view *view)
{
	const struct vm_layout *layout = view->layout;
	size_t pieces = 0;

	for (size_t r = 0; r < layout->run_count; r++)
		pieces += layout->runs[r].count;
	return pieces;
}

int vm_view_init(struct vm_call *call, struct vm_view *view, MPI_Offset disp,
		 struct vm_type *etype, struct vm_type *filetype,
		 const struct vm_datarep *rep, bool writes)
{
	struct vm_type *unit = NULL, *shown = NULL;
	int rc = vm_datarep_type(call, rep, etype, &unit);

	if (rc == 0)
		rc = vm_datarep_type(call, rep, filetype, &shown);
	if (rc == 0)
		rc = check_types(call, unit, shown);
	if (rc == 0 && shown->size && !shown->dense)
		rc = check_layout(call, shown->layout, writes);
	if (rc == 0) {
		*view = (struct vm_view){
			.disp = disp,
			.etype = vm_type_hold(etype),
			.filetype = vm_type_hold(filetype),
			.rep = rep,
			.shown = vm_type_hold(shown),
			.unit = unit->size ? unit->size : 1,
			.base = disp,
			.sorted = true,
		};
		rc = layout_take(view);
	}
	if (unit)
		vm_type_drop(unit);
	if (shown)
		vm_type_drop(shown);
	return rc;
}

void vm_view_shift(struct vm_view *view, MPI_Offset to)
{
	view->base += to - view->disp;
	view->disp = to;
}

void vm_view_fini(struct vm_view *view)
{
	if (view->etype)
		vm_type_drop(view->etype);
	if (view->filetype)
		vm_type_drop(view->filetype);
	if (view->shown)
		vm_type_drop(view->shown);
	free(view->before);
}

/* The run of the layout in which a byte of an element is. */
static size_t run_find(const struct vm_view *view, size_t byte)
{
	size_t first = 0, end = view->layout->run_count;

	while (end - first > 1) {
		size_t middle = first + (end - first) / 2;

		if (view->before[middle] <= byte)
			first = middle;
		else
			end = middle;
	}
	return first;
}

static wide place(const struct vm_view *view, MPI_Offset byte)
{
	const struct vm_layout *layout = view->layout;
	const struct vm_run *run;
	size_t within, r;

	if (!layout)
		return (wide)view->base + byte;
	within = (size_t)byte % layout->bytes;
	r = run_find(view, within);
	run = &layout->runs[r];
	within -= view->before[r];
	return (wide)view->base +
	       (wide)((size_t)byte / layout->bytes) * layout->extent +
	       run->offset + (wide)(within / run->bytes) * run->stride +
	       within % run->bytes;
}

MPI_Offset vm_view_place(const struct vm_view *view, MPI_Offset byte)
{
	return view->empty ? view->disp : (MPI_Offset)place(view, byte);
}

int vm_check_stream(struct vm_call *call, const struct vm_view *view,
		    MPI_Offset first, size_t bytes)
{
	wide last = (wide)first + bytes - 1;

	if (!bytes)
		return 0;
	if (view->empty)
		return vm_error(call, MPI_ERR_TYPE,
				"the filetype of the view has no bytes");
	if (last <= INT64_MAX && place(view, (MPI_Offset)last) < INT64_MAX)
		return 0;
	return vm_error(call, MPI_ERR_ARG,
			"the access ends beyond the largest offset");
}

void vm_view_walk_init(struct vm_view_walk *walk, const struct vm_view *view,
		       MPI_Offset first, size_t bytes)
{
	const struct vm_layout *layout = view->layout;
	size_t within;

	*walk = (struct vm_view_walk){ .view = view,
				       .base = view->base,
				       .left = bytes };
	if (!bytes)
		return;
	if (!layout) {
		walk->base += first;
		return;
	}
	within = (size_t)first % layout->bytes;
	walk->base +=
		(MPI_Offset)((size_t)first / layout->bytes) * layout->extent;
	walk->run = run_find(view, within);
	within -= view->before[walk->run];
	walk->block = within / layout->runs[walk->run].bytes;
	walk->used = within % layout->runs[walk->run].bytes;
}

size_t vm_view_walk_piece(struct vm_view_walk *walk, MPI_Offset *at,
			  size_t most)
{
	const struct vm_layout *layout = walk->view->layout;
	const struct vm_run *run;
	size_t bytes = most < walk->left ? most : walk->left;

	if (!bytes)
		return 0;
	if (!layout) {
		*at = walk->base;
		walk->base += (MPI_Offset)bytes;
		walk->left -= bytes;
		return bytes;
	}
	run = &layout->runs[walk->run];
	*at = walk->base + run->offset + (ptrdiff_t)walk->block * run->stride +
	      (ptrdiff_t)walk->used;
	if (bytes > run->bytes - walk->used)
		bytes = run->bytes - walk->used;
	walk->used += bytes;
	walk->left -= bytes;
	if (walk->used < run->bytes)
		return bytes;
	walk->used = 0;
	if (++walk->block < run->count)
		return bytes;
	walk->block = 0;
	if (++walk->run < layout->run_count)
		return bytes;
	walk->run = 0;
	walk->base += layout->extent;
	return bytes;
}

/* Places grow with units, so that halving finds the first one behind. */
static MPI_Offset unit_behind(const struct vm_view *view, MPI_Offset unit,
			      MPI_Offset end)
{
	MPI_Offset low = 0, high = 1;

	if (view->empty)
		return 0;
	while (high < INT64_MAX / 2 / unit && place(view, high * unit) < end)
		high *= 2;
	while (low < high) {
		MPI_Offset middle = low + (high - low) / 2;

		if (place(view, middle * unit) < end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

MPI_Offset vm_view_byte(const struct vm_view *view, MPI_Offset end)
{
	return unit_behind(view, 1, end);
}

MPI_Offset vm_view_behind(const struct vm_view *view, MPI_Offset end)
{
	return unit_behind(view, (MPI_Offset)view->unit, end);
}
