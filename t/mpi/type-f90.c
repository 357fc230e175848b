/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of Fortran's numbers by precision and range, and pairs by their
 * parts.
 */
#include "mtap.h"

#include <float.h>
#include <stdint.h>

/* The sizes of what is chosen. */
static void sizes(void)
{
	static const struct {
		int p, r, bytes;
	} reals[] = {
		{ 1, MPI_UNDEFINED, 4 },
		{ 6, 37, 4 },
		{ MPI_UNDEFINED, 37, 4 },
		{ 7, MPI_UNDEFINED, 8 },
		{ 6, 38, 8 },
		{ MPI_UNDEFINED, 307, 8 },
		{ 15, 307, 8 },
		{ 16, MPI_UNDEFINED, 16 },
		{ MPI_UNDEFINED, 308, 16 },
		{ 33, 4931, 16 },
	};
	static const int ints[][2] = { { 1, 1 },  { 2, 1 },  { 3, 2 },
				       { 4, 2 },  { 5, 4 },  { 9, 4 },
				       { 10, 8 }, { 18, 8 }, { 19, 16 } };
	MPI_Datatype type;
	bool good = true;
	int bytes;

	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		MPI_Type_create_f90_real(reals[i].p, reals[i].r, &type);
		MPI_Type_size(type, &bytes);
		good &= bytes == reals[i].bytes;
		MPI_Type_create_f90_complex(reals[i].p, reals[i].r, &type);
		MPI_Type_size(type, &bytes);
		good &= bytes == 2 * reals[i].bytes;
	}
	all_ok(good, "a real type is as large as SELECTED_REAL_KIND()");
	good = true;
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++) {
		MPI_Type_create_f90_integer(ints[i][0], &type);
		MPI_Type_size(type, &bytes);
		good &= bytes == ints[i][1];
	}
	all_ok(good, "an integer type as SELECTED_INT_KIND()");
}

/* The envelope has n integers and nothing else; they are a and b. */
static bool made_of(MPI_Datatype type, int combiner, int n, int a, int b)
{
	int ints[2] = { 0 }, got_n = -1, aints = -1, types = -1, got = -1;
	MPI_Count large_n = -1, large_a = -1, large_c = -1, large_t = -1;

	MPI_Type_get_envelope(type, &got_n, &aints, &types, &got);
	if (got_n != n || aints || types || got != combiner)
		return false;
	MPI_Type_get_envelope_c(type, &large_n, &large_a, &large_c, &large_t,
				&got);
	if (large_n != n || large_a || large_c || large_t || got != combiner)
		return false;
	MPI_Type_get_contents(type, n, 0, 0, ints, NULL, NULL);
	return ints[0] == a && ints[n - 1] == b;
}

static void handles(void)
{
	MPI_Datatype one, same, other, real, derived, part;
	char name[MPI_MAX_OBJECT_NAME] = "x";
	int ints[1], length = -1;

	MPI_Type_create_f90_real(6, 30, &one);
	MPI_Type_create_f90_real(6, 30, &same);
	MPI_Type_create_f90_real(5, 30, &other);
	all_ok(one == same, "the same question gives the same handle");
	all_ok(one != other && one != MPI_REAL4, "another one another");
	all_ok(made_of(one, MPI_COMBINER_F90_REAL, 2, 6, 30) &&
		       made_of(other, MPI_COMBINER_F90_REAL, 2, 5, 30),
	       "the envelope of a real type is the question");
	MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &real);
	all_ok(made_of(real, MPI_COMBINER_F90_COMPLEX, 2, 6, MPI_UNDEFINED),
	       "of a complex type too");
	MPI_Type_create_f90_integer(8, &real);
	all_ok(made_of(real, MPI_COMBINER_F90_INTEGER, 1, 8, 8),
	       "of an integer type too");
	MPI_Type_get_name(one, name, &length);
	all_ok(length == 0 && !*name, "it has no name");
	MPI_Type_set_name(one, "metres");
	MPI_Type_get_name(MPI_REAL4, name, &length);
	all_ok(!strcmp(name, "MPI_REAL4"), "and may be given one of its own");
	MPI_Type_contiguous(3, one, &derived);
	MPI_Type_get_contents(derived, 1, 0, 1, ints, NULL, &part);
	all_ok(part == one, "types are made of it");
	MPI_Type_free(&derived);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	all_ok(MPI_Type_free(&part) == MPI_ERR_TYPE && part == one,
	       "it cannot be freed");
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void data(void)
{
	int64_t sum = -1, mine = (int64_t)1 << 40, old = -1, *memory;
	double most = -1, here = rank, pair[2] = { rank, 7 }, got[2] = { 0 };
	MPI_Datatype whole, real, complex;
	MPI_Win win;

	MPI_Type_create_f90_integer(18, &whole);
	MPI_Type_create_f90_real(15, 300, &real);
	MPI_Type_create_f90_complex(15, 300, &complex);
	MPI_Allreduce(&mine, &sum, 1, whole, MPI_SUM, MPI_COMM_WORLD);
	all_ok(sum == size * mine, "integers are added");
	MPI_Allreduce(&here, &most, 1, real, MPI_MAX, MPI_COMM_WORLD);
	all_ok(most == size - 1, "the greatest real is found");
	MPI_Allreduce(pair, got, 1, complex, MPI_SUM, MPI_COMM_WORLD);
	all_ok(got[0] == size * (size - 1) / 2.0 && got[1] == 7 * size,
	       "complex numbers are added");
	MPI_Sendrecv(pair, 1, complex, (rank + 1) % size, 0, got, 2, MPI_DOUBLE,
		     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	all_ok(got[0] == (rank + size - 1) % size && got[1] == 7,
	       "messages have it");
	MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
	*memory = 0;
	MPI_Win_fence(0, win);
	MPI_Fetch_and_op(&mine, &old, whole, 0, 0, MPI_SUM, win);
	MPI_Win_fence(0, win);
	all_ok(old >= 0 && old < size * mine &&
		       (rank != 0 || *memory == size * mine),
	       "windows too");
	MPI_Win_free(&win);
}

static void pairs(void)
{
	static const MPI_Datatype known[][3] = {
		{ MPI_FLOAT, MPI_INT, MPI_FLOAT_INT },
		{ MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT },
		{ MPI_LONG, MPI_INT, MPI_LONG_INT },
		{ MPI_INT, MPI_INT, MPI_2INT },
		{ MPI_SHORT, MPI_INT, MPI_SHORT_INT },
		{ MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT },
		{ MPI_REAL, MPI_REAL, MPI_2REAL },
		{ MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION,
		  MPI_2DOUBLE_PRECISION },
		{ MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER },
		{ MPI_C_BOOL, MPI_INT, MPI_DATATYPE_NULL },
	};
	bool good = true;
	MPI_Datatype type;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		type = MPI_BYTE;
		MPI_Type_get_value_index(known[i][0], known[i][1], &type);
		good &= type == known[i][2];
	}
	all_ok(good, "a pair is found by its value and its index");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	sizes();
	handles();
	data();
	pairs();
	return mtap_end();
}
