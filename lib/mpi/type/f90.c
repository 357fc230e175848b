/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of Fortran's numbers by precision and range (MPI 4.1, 19.1.9).
 *
 * Such a type is predefined, without a name: a copy of the row of the type that
 * has its bytes, which keeps what was asked for as its recipe.  A rank makes
 * one for each question and gives it again.
 */
#include <float.h>
#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/type/recipe.h"

/* The kinds that Fortran's SELECTED_REAL_KIND() and SELECTED_INT_KIND() choose
 * from, the least ones first; 0 for an integer's precision. */
struct f90_kind {
	int digits, range;
	MPI_Datatype type;
};

static const struct f90_kind reals[] = {
	{ 6, 37, MPI_REAL4 },
	{ 15, 307, MPI_REAL8 },
#if LDBL_MANT_DIG == 64
	{ 18, 4931, MPI_LONG_DOUBLE },
#endif
	{ 33, 4931, MPI_REAL16 },
};
static const struct f90_kind complexes[] = {
	{ 6, 37, MPI_COMPLEX8 },
	{ 15, 307, MPI_COMPLEX16 },
#if LDBL_MANT_DIG == 64
	{ 18, 4931, MPI_C_LONG_DOUBLE_COMPLEX },
#endif
	{ 33, 4931, MPI_COMPLEX32 },
};
static const struct f90_kind integers[] = {
	{ 0, 2, MPI_INTEGER1 },	  { 0, 4, MPI_INTEGER2 },
	{ 0, 9, MPI_INTEGER4 },	  { 0, 18, MPI_INTEGER8 },
	{ 0, 38, MPI_INTEGER16 },
};

/* One of the three functions. */
struct family {
	const char *name;
	int combiner;
	const struct f90_kind *kinds;
	size_t count;
};

#define FAMILY(text, combiner, kinds)                                     \
	{                                                                 \
		text, combiner, kinds, sizeof(kinds) / sizeof((kinds)[0]) \
	}
static const struct family family_real =
	FAMILY("REAL", MPI_COMBINER_F90_REAL, reals);
static const struct family family_complex =
	FAMILY("COMPLEX", MPI_COMBINER_F90_COMPLEX, complexes);
static const struct family family_integer =
	FAMILY("INTEGER", MPI_COMBINER_F90_INTEGER, integers);

/* The predefined type with so many digits and such a range; MPI_UNDEFINED is
 * less than any.  NULL: there is none. */
static const struct vm_type *find(const struct family *family, int p, int r)
{
	for (size_t i = 0; i < family->count; i++) {
		const struct f90_kind *kind = &family->kinds[i];

		if (p <= kind->digits && r <= kind->range)
			return vm_type_get(kind->type);
	}
	return NULL;
}

/* The question as a recipe, which has no old type. */
static struct vm_type_recipe *question(const struct family *family, int p,
				       int r)
{
	bool integer = family == &family_integer;
	struct vm_type_recipe *recipe =
		vm_recipe_new(family->combiner, integer ? 1 : 2, 0, 0);

	if (!recipe)
		return NULL;
	recipe->ints[0] = integer ? r : p;
	recipe->ints[recipe->int_count - 1] = r;
	return recipe;
}

static bool is_same(const struct vm_type_recipe *a,
		    const struct vm_type_recipe *b)
{
	return a->combiner == b->combiner && a->ints[0] == b->ints[0] &&
	       a->ints[a->int_count - 1] == b->ints[b->int_count - 1];
}

/* The rank's type of the same question, or NULL.  Under the rank's lock. */
static struct vm_type *known(struct vm_mpi *mpi,
			     const struct vm_type_recipe *recipe)
{
	struct vm_list *link;

	vm_list_each(link, &mpi->alive[VM_OBJECT_TYPE]) {
		struct vm_type *type =
			vm_container_of(link, struct vm_type, object.link);

		if (type->builtin && is_same(type->recipe, recipe))
			return type;
	}
	return NULL;
}

/* Makes *type a predefined one like `row`, apart from what it is as an
 * object. */
static void become(struct vm_type *type, const struct vm_type *row,
		   struct vm_mpi *mpi)
{
	type->committed = type->plain = row->plain;
	type->dense = type->solid = true;
	type->value = row->value;
	type->kind = row->kind;
	type->family = row->family;
	type->align = row->align;
	type->size = row->size;
	type->extent = row->extent;
	type->true_extent = row->true_extent;
	type->repeat = row->repeat;
	type->elements = row->elements;
	type->basic = row;
	type->mpi = mpi;
}

/* Returns the rank's type for the recipe, which it takes over; NULL when out of
 * memory. */
static struct vm_type *answer(struct vm_mpi *mpi, const struct vm_type *row,
			      struct vm_type_recipe *recipe)
{
	struct vm_type *type, *old;

	type = vm_object_new(mpi, VM_OBJECT_TYPE, sizeof(*type));
	if (!type) {
		vm_recipe_free(recipe);
		return NULL;
	}
	become(type, row, mpi);
	vm_lock_take(&mpi->lock);
	old = known(mpi, recipe);
	if (!old) {
		type->recipe = recipe;
		type->builtin = true;
	}
	vm_lock_give(&mpi->lock);
	if (!old)
		return type;
	vm_object_free(mpi, VM_OBJECT_TYPE, type);
	vm_recipe_free(recipe);
	return old;
}

static int create(struct vm_call *call, const struct family *family, int p,
		  int r, MPI_Datatype *newtype)
{
	const struct vm_type *row = find(family, p, r);
	struct vm_type_recipe *recipe;
	struct vm_type *type = NULL;
	int rc = vm_check_pointer(call, newtype, "newtype");

	if (rc == 0 && p == MPI_UNDEFINED && r == MPI_UNDEFINED)
		rc = vm_error(call, MPI_ERR_ARG,
			      "p and r are MPI_UNDEFINED, at most one of them "
			      "can be");
	if (rc == 0 && !row && family == &family_integer)
		rc = vm_error(call, MPI_ERR_ARG,
			      "there is no INTEGER of %d digits", r);
	if (rc == 0 && !row)
		rc = vm_error(call, MPI_ERR_ARG,
			      "there is no %s of precision %d and range %d",
			      family->name, p, r);
	if (rc != 0)
		return rc;
	recipe = question(family, p, r);
	if (recipe)
		type = answer(call->mpi, row, recipe);
	if (!type)
		return vm_error(call, MPI_ERR_NO_MEM,
				"no memory for a datatype");
	*newtype = vm_type_handle(type);
	return 0;
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_f90_real);
	int rc = create(&call, &family_real, p, r, newtype);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_f90_complex);
	int rc = create(&call, &family_complex, p, r, newtype);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_f90_integer);
	int rc = create(&call, &family_integer, MPI_UNDEFINED, r, newtype);

	return vm_call_exit_self(&call, rc);
}
