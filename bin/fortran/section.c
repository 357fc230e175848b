/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers of module mpi_f08.
 *
 * An array that is not contiguous stands for its elements in Fortran's order.
 * Count and datatype of a call say how many bytes of these are meant; the
 * datatype that is made for the call takes them from where they are.
 */
#include "section.h"

#include <stdlib.h>
#include <string.h>

#include "convert.h"

static ptrdiff_t extent(const struct vm_f_any *any, int k)
{
	return any->dim[k].upper - any->dim[k].lower + 1;
}

static ptrdiff_t stride(const struct vm_f_any *any, int k)
{
	return any->dim[k].stride *
	       (any->span ? any->span : (ptrdiff_t)any->element.bytes);
}

/* An array of assumed size has no extent in its last dimension, and one element
 * none at all: what is meant is what follows in memory. */
static bool is_contiguous(const struct vm_f_any *any)
{
	ptrdiff_t next = (ptrdiff_t)any->element.bytes;

	for (int k = 0; k < any->element.rank; k++) {
		if (extent(any, k) <= 0)
			return true;
		if (extent(any, k) > 1 && stride(any, k) != next)
			return false;
		next *= extent(any, k);
	}
	return true;
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
		below *= extent(any, i);
	rows = n / below;
	rest = n % below;
	rc = describe(any, k - 1, below, one, &row);
	if (rc == 0) {
		rc = PMPI_Type_create_hvector((int)rows, 1, stride(any, k - 1),
					      row, &parts[0]);
		PMPI_Type_free(&row);
	}
	if (rc == 0 && rest == 0) {
		*type = parts[0];
		return 0;
	}
	places[1] = rows * stride(any, k - 1);
	if (rc == 0)
		rc = describe(any, k - 1, rest, one, &parts[1]);
	if (rc == 0)
		rc = PMPI_Type_create_struct(2, counts, places, parts, type);
	for (int i = 0; i < 2; i++)
		if (parts[i] != MPI_DATATYPE_NULL)
			PMPI_Type_free(&parts[i]);
	return rc;
}

/* The type of one element of the array: as many of the call's as fit, if these
 * are contiguous and fit at all. */
static int describe_one(const struct vm_f_any *any, MPI_Datatype type,
			MPI_Count bytes, MPI_Datatype *one)
{
	MPI_Count element = (MPI_Count)any->element.bytes;

	if (element % bytes == 0)
		return PMPI_Type_contiguous((int)(element / bytes), type, one);
	return PMPI_Type_contiguous((int)element, MPI_BYTE, one);
}

static bool has_gaps(MPI_Datatype type, MPI_Count bytes)
{
	MPI_Aint lb, length, true_lb, true_length;

	PMPI_Type_get_extent(type, &lb, &length);
	PMPI_Type_get_true_extent(type, &true_lb, &true_length);
	return lb || true_lb || length != bytes || true_length != bytes;
}

int vm_f_section_begin(struct vm_f_section *section, struct vm_f_any *any,
		       MPI_Count count, MPI_Datatype type)
{
	MPI_Count element = (MPI_Count)any->element.bytes, all = 1;
	MPI_Datatype one;
	int bytes, rc;

	*section = (struct vm_f_section){ vm_f_buffer(any->base), count, type,
					  false };
	if (is_contiguous(any) || count <= 0 || type == MPI_DATATYPE_NULL ||
	    section->base != any->base)
		return 0;
	rc = PMPI_Type_size(type, &bytes);
	if (rc != 0 || bytes == 0)
		return rc;
	for (int k = 0; k < any->element.rank; k++)
		all *= extent(any, k);
	if (count > all * element / bytes)
		return vm_f_fail(MPI_ERR_COUNT);
	if (has_gaps(type, bytes) || count * bytes % element)
		return vm_f_fail(MPI_ERR_TYPE);
	rc = describe_one(any, type, bytes, &one);
	if (rc == 0) {
		rc = describe(any, any->element.rank, count * bytes / element,
			      one, &section->type);
		PMPI_Type_free(&one);
	}
	if (rc != 0)
		return rc;
	section->count = 1;
	section->owned = true;
	return PMPI_Type_commit(&section->type);
}

void vm_f_section_end(struct vm_f_section *section)
{
	if (section->owned)
		PMPI_Type_free(&section->type);
}

/* Copies between the array, from `at` on in its dimensions below k, and the
 * buffer; returns the end of what was copied there. */
static char *copy_rows(const struct vm_f_any *any, int k, char *at,
		       char *buffer, bool back)
{
	size_t bytes = any->element.bytes;

	if (k == 0) {
		memcpy(back ? at : buffer, back ? buffer : at, bytes);
		return buffer + bytes;
	}
	for (ptrdiff_t i = 0; i < extent(any, k - 1); i++)
		buffer = copy_rows(any, k - 1, at + i * stride(any, k - 1),
				   buffer, back);
	return buffer;
}

int vm_f_copy_in(struct vm_f_copy *copy, struct vm_f_any *any, bool blocking)
{
	size_t bytes = any->element.bytes;

	copy->base = vm_f_buffer(any->base);
	if (is_contiguous(any) || copy->base != any->base)
		return 0;
	if (!blocking)
		return vm_f_fail(MPI_ERR_BUFFER);
	for (int k = 0; k < any->element.rank; k++)
		bytes *= (size_t)extent(any, k);
	copy->base = malloc(bytes);
	if (!copy->base)
		return vm_f_fail(MPI_ERR_NO_MEM);
	copy->owned = true;
	copy_rows(any, any->element.rank, any->base, copy->base, false);
	return 0;
}

void vm_f_copy_end(struct vm_f_copy *copy, struct vm_f_any *any, bool written)
{
	if (!copy->owned)
		return;
	if (written)
		copy_rows(any, any->element.rank, any->base, copy->base, true);
	free(copy->base);
}
