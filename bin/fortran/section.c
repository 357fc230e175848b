/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes that describe what is not contiguous.
 */
#include "section.h"

#include <stdlib.h>

#include "convert.h"

int vm_f_refuse(const struct vm_f_call *call, int error, const char *what)
{
	void *object = NULL;

	if (call->of == VM_FORTRAN_COMM)
		object = vm_f_comm(*call->number);
	else if (call->of == VM_FORTRAN_WIN)
		object = vm_f_win(*call->number);
	else if (call->of == VM_FORTRAN_FILE)
		object = vm_f_file(*call->number);
	return vmpi_fortran.fail(call->name, call->of, object, error, what);
}

/* An array of assumed size has no extent in its last dimension, and one element
 * none at all: what is meant is what follows in memory. */
static bool is_contiguous(const struct vm_f_any *any)
{
	ptrdiff_t next = (ptrdiff_t)any->element.bytes;

	for (int k = 0; k < any->element.rank; k++) {
		if (vm_f_extent(any, k) <= 0)
			return true;
		if (vm_f_extent(any, k) > 1 && vm_f_stride(any, k) != next)
			return false;
		next *= vm_f_extent(any, k);
	}
	return true;
}

bool vm_f_is_scattered(const struct vm_f_any *any)
{
	return !is_contiguous(any) && vm_f_buffer(any->base) == any->base;
}

MPI_Count vm_f_elements(const struct vm_f_any *any)
{
	MPI_Count all = 1;

	for (int k = 0; k < any->element.rank; k++)
		all *= vm_f_extent(any, k);
	return all;
}

MPI_Count vm_f_reach(MPI_Count n, MPI_Count count, MPI_Datatype type)
{
	struct vm_fortran_type look;
	MPI_Count last, first, end;

	if (n <= 0 || count <= 0 || !vmpi_fortran.type(&look, type) ||
	    look.size == 0)
		return 0;
	last = (n * count - 1) * look.extent;
	first = look.true_lb + (last < 0 ? last : 0);
	end = look.true_lb + look.true_extent + (last > 0 ? last : 0);
	return first < 0 ? first : end;
}

int vm_f_check_reach(const struct vm_f_any *any, MPI_Count reach,
		     const struct vm_f_call *call)
{
	if (reach < 0)
		return vm_f_refuse(call, MPI_ERR_ARG,
				   "the datatype or a displacement points to "
				   "before the section of an array");
	if (reach <= vm_f_elements(any) * (MPI_Count)any->element.bytes)
		return 0;
	return vm_f_refuse(call, MPI_ERR_COUNT,
			   "the section of an array has fewer elements than "
			   "the call needs");
}

int vm_f_check_region(const struct vm_f_any *any, const struct vm_f_call *call)
{
	if (!vm_f_is_scattered(any))
		return 0;
	return vm_f_refuse(call, MPI_ERR_BUFFER,
			   "the memory must be contiguous, and the section of "
			   "an array is not");
}

/* Makes the type of the first n elements of dimensions 0 to k - 1; `one` is the
 * type of an element.  Frees nothing but what it has made. */
static int describe(const struct vm_f_any *any, int k, MPI_Count n,
		    MPI_Datatype one, MPI_Datatype *type)
{
	MPI_Datatype parts[2] = { MPI_DATATYPE_NULL, MPI_DATATYPE_NULL }, row;
	MPI_Aint places[2] = { 0, 0 };
	int counts[2] = { 1, 1 }, rc;
	MPI_Count below = 1, rows, rest;

	if (k == 0)
		return PMPI_Type_dup(one, type);
	for (int i = 0; i < k - 1; i++)
		below *= vm_f_extent(any, i);
	rows = n / below;
	rest = n % below;
	rc = describe(any, k - 1, below, one, &row);
	if (rc == 0) {
		rc = PMPI_Type_create_hvector_c(
			rows, 1, vm_f_stride(any, k - 1), row, &parts[0]);
		PMPI_Type_free(&row);
	}
	if (rc == 0 && rest == 0) {
		*type = parts[0];
		return 0;
	}
	places[1] = rows * vm_f_stride(any, k - 1);
	if (rc == 0)
		rc = describe(any, k - 1, rest, one, &parts[1]);
	if (rc == 0)
		rc = PMPI_Type_create_struct(2, counts, places, parts, type);
	for (int i = 0; i < 2; i++)
		if (parts[i] != MPI_DATATYPE_NULL)
			PMPI_Type_free(&parts[i]);
	return rc;
}

/* The usual case: elements of the call's type make elements of the array. */
static int type_of_rows(const struct vm_f_any *any, MPI_Count bytes,
			MPI_Datatype type, MPI_Count size, MPI_Datatype *made)
{
	MPI_Count element = (MPI_Count)any->element.bytes;
	MPI_Datatype one;
	int rc = PMPI_Type_contiguous_c(element / size, type, &one);

	if (rc == 0) {
		rc = describe(any, any->element.rank, bytes / element, one,
			      made);
		PMPI_Type_free(&one);
	}
	return rc;
}

/* Blocks of bytes, and where they are. */
struct blocks {
	const struct vm_f_any *any;
	MPI_Count n, room, unit;
	MPI_Count *lengths, *places; /* one allocation */
};

static bool block_add(struct blocks *b, MPI_Count place, MPI_Count length)
{
	if (b->n && b->places[b->n - 1] + b->lengths[b->n - 1] == place) {
		b->lengths[b->n - 1] += length;
		return true;
	}
	if (b->n == b->room) {
		MPI_Count room = b->room ? 2 * b->room : 64;
		MPI_Count *both = malloc((size_t)room * 2 * sizeof(*both));

		if (!both)
			return false;
		for (MPI_Count i = 0; i < b->n; i++) {
			both[i] = b->lengths[i];
			both[room + i] = b->places[i];
		}
		free(b->lengths);
		b->room = room;
		b->lengths = both;
		b->places = both + room;
	}
	b->lengths[b->n] = length;
	b->places[b->n++] = place;
	return true;
}

/* Where element i is. */
static ptrdiff_t element_at(const struct vm_f_any *any, ptrdiff_t i)
{
	ptrdiff_t at = 0;

	for (int k = 0; k < any->element.rank; k++) {
		at += i % vm_f_extent(any, k) * vm_f_stride(any, k);
		i /= vm_f_extent(any, k);
	}
	return at;
}

/* A run of bytes of the contiguous buffer that the array stands for. */
static bool run_add(void *arg, ptrdiff_t offset, size_t bytes)
{
	struct blocks *b = arg;
	ptrdiff_t element = (ptrdiff_t)b->any->element.bytes;

	for (ptrdiff_t left = (ptrdiff_t)bytes, n; left > 0; left -= n) {
		ptrdiff_t in = offset % element;

		n = element - in < left ? element - in : left;
		if (n % b->unit)
			b->unit = 1;
		if (!block_add(b, element_at(b->any, offset / element) + in, n))
			return false;
		offset += n;
	}
	return true;
}

/* Any other case: block by block. */
static int type_of_blocks(const struct vm_f_any *any, MPI_Count count,
			  MPI_Datatype type, const struct vm_fortran_type *look,
			  MPI_Datatype *made)
{
	struct blocks b = { .any = any, .unit = look->basic_bytes };
	int rc = MPI_ERR_NO_MEM;

	if (vmpi_fortran.walk(type, count, run_add, &b)) {
		for (MPI_Count i = 0; i < b.n; i++)
			b.lengths[i] /= b.unit;
		rc = PMPI_Type_create_hindexed_c(
			b.n, b.lengths, b.places,
			b.unit == look->basic_bytes ? look->basic : MPI_BYTE,
			made);
	}
	free(b.lengths);
	return rc;
}

static bool has_gaps(const struct vm_fortran_type *type)
{
	return type->lb || type->true_lb || type->extent != type->size ||
	       type->true_extent != type->size;
}

int vm_f_section_begin(struct vm_f_section *section, const struct vm_f_any *any,
		       MPI_Count count, MPI_Datatype type,
		       const struct vm_f_call *call)
{
	MPI_Count element = (MPI_Count)any->element.bytes;
	MPI_Count reach;
	struct vm_fortran_type look;
	int rc;

	*section = (struct vm_f_section){ vm_f_buffer(any->base), count, type,
					  false };
	if (!vm_f_is_scattered(any))
		return 0;
	reach = vm_f_reach(1, count, type);
	if (reach == 0)
		return 0;
	rc = vm_f_check_reach(any, reach, call);
	if (rc != 0)
		return rc;
	vmpi_fortran.type(&look, type);
	if (has_gaps(&look) || element % look.size || reach % element)
		rc = type_of_blocks(any, count, type, &look, &section->type);
	else
		rc = type_of_rows(any, reach, type, look.size, &section->type);
	if (rc != 0)
		return vm_f_refuse(call, rc, "no memory for a datatype");
	section->count = 1;
	section->owned = true;
	return PMPI_Type_commit(&section->type);
}

void vm_f_section_end(struct vm_f_section *section)
{
	if (section->owned)
		PMPI_Type_free(&section->type);
}
