/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of sections.  Begin with vm_f_copy_in().
 */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#include "convert.h"

#define RANK_MAX 15

struct vm_f_scratch {
	struct vm_f_scratch *next; /* of the same request */
	char *array;
	size_t element, bytes; /* of one; of all that are copied */
	int rank;
	struct {
		ptrdiff_t stride, extent;
	} dim[RANK_MAX];
	char *before; /* what was copied; NULL: nothing is copied back */
	char now[];   /* what the operation uses */
};

static void element_take(struct vm_f_scratch *s, char *at, size_t i)
{
	memcpy(s->now + i, at, s->element);
}

/* Writes the bytes that have changed. */
static void element_give(struct vm_f_scratch *s, char *at, size_t i)
{
	if (memcmp(s->now + i, s->before + i, s->element) == 0)
		return;
	for (size_t j = 0; j < s->element; j++)
		if (s->now[i + j] != s->before[i + j])
			at[j] = s->now[i + j];
}

/* Goes through the array, from `at` on in its dimensions below k, and the copy,
 * from its byte i on; returns where it has come to there. */
static size_t each(struct vm_f_scratch *s, int k, char *at, size_t i,
		   void (*element)(struct vm_f_scratch *s, char *at, size_t i))
{
	if (k == 0) {
		element(s, at, i);
		return i + s->element;
	}
	for (ptrdiff_t j = 0; j < s->dim[k - 1].extent && i < s->bytes; j++)
		i = each(s, k - 1, at + j * s->dim[k - 1].stride, i, element);
	return i;
}

static void take(struct vm_f_scratch *s)
{
	each(s, s->rank, s->array, 0, element_take);
	if (s->before)
		memcpy(s->before, s->now, s->bytes);
}

static void give(struct vm_f_scratch *s)
{
	if (s->before)
		each(s, s->rank, s->array, 0, element_give);
}

/* The functions of a request, for all its copies. */
static void take_all(void *data)
{
	for (struct vm_f_scratch *s = data; s; s = s->next)
		take(s);
}

static void give_all(void *data)
{
	for (struct vm_f_scratch *s = data; s; s = s->next)
		give(s);
}

static void free_all(void *data)
{
	for (struct vm_f_scratch *s = data, *next; s; s = next) {
		next = s->next;
		free(s);
	}
}

int vm_f_copy_in(struct vm_f_copy *copy, const struct vm_f_any *any,
		 MPI_Count reach, bool written, const struct vm_f_call *call)
{
	size_t element = any->element.bytes, bytes;
	struct vm_f_scratch *s;
	int rc = vm_f_check_reach(any, reach, call);

	if (rc != 0 || reach == 0)
		return rc;
	bytes = ((size_t)reach + element - 1) / element * element;
	s = malloc(sizeof(*s) + (written ? 2 * bytes : bytes));
	if (!s)
		return vm_f_refuse(call, MPI_ERR_NO_MEM,
				   "no memory for a copy of the section of an "
				   "array");
	*s = (struct vm_f_scratch){
		.array = any->base,
		.element = element,
		.bytes = bytes,
		.rank = any->element.rank,
		.before = written ? s->now + bytes : NULL,
	};
	for (int k = 0; k < s->rank; k++) {
		s->dim[k].stride = vm_f_stride(any, k);
		s->dim[k].extent = vm_f_extent(any, k);
	}
	take(s);
	copy->base = s->now;
	copy->scratch = s;
	return 0;
}

void vm_f_copy_end(struct vm_f_copy *copy)
{
	if (!copy->scratch)
		return;
	give(copy->scratch);
	free(copy->scratch);
}

int vm_f_copies_keep(MPI_Request *request, struct vm_f_copy *const copies[],
		     const struct vm_f_call *call)
{
	struct vm_around around = { take_all, give_all, free_all, NULL };
	struct vm_f_scratch *all = NULL;

	for (int i = 0; copies[i]; i++) {
		struct vm_f_scratch *s = copies[i]->scratch;

		if (!s)
			continue;
		s->next = all;
		all = s;
	}
	if (!all)
		return 0;
	around.data = all;
	if (vmpi_fortran.around(request, &around) != 0) {
		PMPI_Request_free(request);
		return vm_f_refuse(call, MPI_ERR_NO_MEM,
				   "no memory for a request");
	}
	for (int i = 0; copies[i]; i++)
		copies[i]->scratch = NULL;
	return 0;
}

static MPI_Count get(struct vm_f_ints ints, MPI_Count i)
{
	const char *at = (const char *)ints.array + (size_t)i * ints.bytes;
	MPI_Count large;
	MPI_Fint small;

	if (ints.bytes == sizeof(small)) {
		memcpy(&small, at, sizeof(small));
		return small;
	}
	memcpy(&large, at, sizeof(large));
	return large;
}

/* Adds to a reach that of a block at a displacement in bytes. */
static MPI_Count add(MPI_Count reach, MPI_Count displ, MPI_Count block)
{
	if (block == 0 || reach < 0)
		return reach;
	if (displ < 0 || block < 0)
		return -1;
	return displ + block > reach ? displ + block : reach;
}

MPI_Count vm_f_reach_v(MPI_Count n, struct vm_f_ints counts,
		       struct vm_f_ints displs, MPI_Datatype type)
{
	struct vm_fortran_type look;
	MPI_Count reach = 0;

	if (n <= 0 || !vmpi_fortran.type(&look, type))
		return 0;
	for (MPI_Count i = 0; i < n; i++)
		reach = add(reach, get(displs, i) * look.extent,
			    vm_f_reach(1, get(counts, i), type));
	return reach;
}

MPI_Count vm_f_reach_w(MPI_Count n, struct vm_f_ints counts,
		       struct vm_f_ints displs, const MPI_Fint *types)
{
	MPI_Count reach = 0;

	for (MPI_Count i = 0; i < n; i++)
		reach = add(reach, get(displs, i),
			    vm_f_reach(1, get(counts, i), vm_f_type(types[i])));
	return reach;
}

MPI_Count vm_f_reach_sum(MPI_Count n, struct vm_f_ints counts,
			 MPI_Datatype type)
{
	MPI_Count sum = 0;

	for (MPI_Count i = 0; i < n; i++)
		sum += get(counts, i);
	return vm_f_reach(1, sum, type);
}

MPI_Count vm_f_reach_own(MPI_Comm comm, bool in_place, struct vm_f_ints counts,
			 MPI_Datatype type)
{
	struct vm_fortran_comm look;

	if (!vmpi_fortran.comm(&look, comm))
		return 0;
	if (in_place)
		return vm_f_reach_sum(look.local, counts, type);
	return vm_f_reach(1, get(counts, look.rank), type);
}
