/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that MPI allows before MPI_Init and after MPI_Finalize: queries,
 * info objects, error classes and codes (MPI 4.1, 11.4.1).
 */
#include <string.h>

#include "ranks.h"

static const char *const phases[] = { "before MPI_Init", "between",
				      "after MPI_Finalize" };

/* The ranks share the test's globals, so only one may print. */
static void check_state(int phase)
{
	int initialized = -1, finalized = -1, version = 0, sub = 0, length = 0;
	char text[MPI_MAX_LIBRARY_VERSION_STRING];

	MPI_Initialized(&initialized);
	MPI_Finalized(&finalized);
	is_int(initialized, phase > 0, "MPI_Initialized %s", phases[phase]);
	is_int(finalized, phase > 1, "MPI_Finalized %s", phases[phase]);
	is_int(MPI_Get_version(&version, &sub), MPI_SUCCESS,
	       "MPI_Get_version %s", phases[phase]);
	is_int(version, 4, "which is the one that is all there");
	is_int(MPI_Get_library_version(text, &length), MPI_SUCCESS,
	       "MPI_Get_library_version %s", phases[phase]);
	is_int((int)strlen(text), length, "with the length of its text");
}

static void check_info(int phase)
{
	char value[32] = "", key[MPI_MAX_INFO_KEY] = "";
	int n = -1, flag = 0, room = 32, length = -1;
	MPI_Info info = MPI_INFO_NULL, copy = MPI_INFO_NULL;

	is_int(MPI_Info_create(&info), MPI_SUCCESS, "MPI_Info_create %s",
	       phases[phase]);
	MPI_Info_set(info, "colour", "blue");
	MPI_Info_set(info, "shape", "round");
	MPI_Info_get_nkeys(info, &n);
	is_int(n, 2, "MPI_Info_set and _get_nkeys %s", phases[phase]);
	MPI_Info_get_nthkey(info, 1, key);
	is_string(key, "shape", "MPI_Info_get_nthkey %s", phases[phase]);
	MPI_Info_get_string(info, "colour", &room, value, &flag);
	is_string(value, "blue", "MPI_Info_get_string %s", phases[phase]);
	MPI_Info_get_valuelen(info, "shape", &length, &flag);
	is_int(length, 5, "MPI_Info_get_valuelen %s", phases[phase]);
	MPI_Info_dup(info, &copy);
	MPI_Info_delete(info, "colour");
	MPI_Info_get(copy, "colour", 31, value, &flag);
	is_int(flag, 1, "MPI_Info_dup, _delete and _get %s", phases[phase]);
	MPI_Info_free(&info);
	MPI_Info_free(&copy);
	ok(info == MPI_INFO_NULL, "MPI_Info_free %s", phases[phase]);
	MPI_Info_get(MPI_INFO_ENV, "maxprocs", 31, value, &flag);
	is_string(flag ? value : "", "2", "MPI_INFO_ENV %s", phases[phase]);
}

static void check_codes(int phase)
{
	int class = -1, added = 0, code = 0, length = 0;
	char text[MPI_MAX_ERROR_STRING] = "";

	MPI_Error_class(MPI_ERR_TRUNCATE, &class);
	is_int(class, MPI_ERR_TRUNCATE, "MPI_Error_class %s", phases[phase]);
	is_int(MPI_Add_error_class(&added), MPI_SUCCESS,
	       "MPI_Add_error_class %s", phases[phase]);
	is_int(MPI_Add_error_code(added, &code), MPI_SUCCESS,
	       "MPI_Add_error_code %s", phases[phase]);
	MPI_Add_error_string(code, "out of paper");
	MPI_Error_string(code, text, &length);
	is_string(text, "out of paper", "MPI_Add_error_string %s",
		  phases[phase]);
	MPI_Error_class(code, &class);
	is_int(class, added, "the class of an added code %s", phases[phase]);
	MPI_Remove_error_string(code);
	is_int(MPI_Remove_error_code(code), MPI_SUCCESS,
	       "MPI_Remove_error_code %s", phases[phase]);
	is_int(MPI_Remove_error_class(added), MPI_SUCCESS,
	       "MPI_Remove_error_class %s", phases[phase]);
}

static void check_abi(int phase)
{
	char value[MPI_MAX_INFO_VAL] = "";
	int room = sizeof(value), flag = 0, is_set = 0, count = 0;
	int64_t yes = -1, no = -1;
	MPI_Info info = MPI_INFO_NULL;

	is_int(MPI_Abi_get_info(&info), MPI_SUCCESS, "MPI_Abi_get_info %s",
	       phases[phase]);
	MPI_Info_get_string(info, "mpi_count_size", &room, value, &flag);
	is_string(value, "8", "says how large a count is");
	MPI_Info_get_nkeys(info, &count);
	is_int(count, 3, "and two other types of integers");
	MPI_Info_free(&info);
	is_int(MPI_Abi_get_fortran_info(&info), MPI_SUCCESS,
	       "MPI_Abi_get_fortran_info %s", phases[phase]);
	room = sizeof(value);
	MPI_Info_get_string(info, "mpi_integer_size", &room, value, &flag);
	is_string(value, "4", "says how large INTEGER is");
	room = sizeof(value);
	MPI_Info_get_string(info, "mpi_real8_supported", &room, value, &flag);
	is_string(value, "true", "and which types there are");
	MPI_Info_free(&info);
	is_int(MPI_Abi_get_fortran_booleans(8, &yes, &no, &is_set), MPI_SUCCESS,
	       "MPI_Abi_get_fortran_booleans %s", phases[phase]);
	ok(yes == 1 && no == 0 && is_set == 1, "says what gfortran writes");
}

static void check(bool speaks, int phase)
{
	if (!speaks)
		return;
	check_state(phase);
	check_info(phase);
	check_codes(phase);
	check_abi(phase);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
}

/* Objects keep their state over the phases. */
static int crossing(void *arg)
{
	bool speaks = vmpi_rank() == 0;
	MPI_Info info, left;
	MPI_Errhandler errh;
	char value[8] = "";
	int flag = 0, code, class = -1;

	MPI_Info_create(&info);
	MPI_Info_set(info, "made", "early");
	MPI_Add_error_class(&code);
	check(speaks, 0);
	MPI_Init(NULL, NULL);
	check(speaks, 1);
	MPI_Info_set(info, "later", "1");
	MPI_Comm_create_errhandler(handler, &errh);
	MPI_Info_create(&left); /* and never freed */
	MPI_Finalize();
	check(speaks, 2);
	MPI_Info_get(info, "made", 7, value, &flag);
	if (speaks) {
		is_string(value, "early", "an info object lives on");
		MPI_Error_class(code, &class);
		is_int(class, code, "an error class lives on");
		is_int(MPI_Errhandler_free(&errh), MPI_SUCCESS,
		       "an error handler is freed after MPI_Finalize");
		ok(errh == MPI_ERRHANDLER_NULL, "and its handle is null");
	}
	MPI_Info_free(&info);
	return 0;
}

/* A rank that never calls MPI_Init. */
static int never(void *arg)
{
	MPI_Info info;

	return MPI_Info_create(&info) == MPI_SUCCESS ? 0 : 1;
}

int main(void)
{
	vmpi_config config = { .ranks = 2, .workers = 1 };

	is_int(vmpi_run(&config, crossing, NULL), 0, "two ranks end well");
	is_int(vmpi_run(&config, never, NULL), 0,
	       "a rank may use info objects only");
	return done_testing();
}
