/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments of calls on info objects, error handlers, error codes,
 * memory and the environment, call by call.
 */
#include "wants.h"

#define SELF MPI_COMM_SELF

static int n, flag;
static char text[MPI_MAX_ERROR_STRING];

static void infos(void)
{
	char long_key[MPI_MAX_INFO_KEY + 2], long_value[MPI_MAX_INFO_VAL + 2];
	MPI_Info info, out, none = MPI_INFO_NULL;

	memset(long_key, 'k', sizeof(long_key) - 1);
	long_key[sizeof(long_key) - 1] = '\0';
	memset(long_value, 'v', sizeof(long_value) - 1);
	long_value[sizeof(long_value) - 1] = '\0';
	WANTS(MPI_ERR_ARG, MPI_Info_create(NULL));
	MPI_Info_create(&info);
	WANTS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "k", "v"));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_set(info, long_key, "v"));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "v"));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_set(info, NULL, "v"));
	WANTS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", long_value));
	WANTS(MPI_ERR_INFO_VALUE, MPI_Info_set(info, "k", NULL));
	MPI_Info_set(info, "k", "value");
	WANTS(MPI_ERR_INFO, MPI_Info_get(MPI_INFO_NULL, "k", 9, text, &flag));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_get(info, long_key, 9, text, &flag));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_get(info, NULL, 9, text, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get(info, "k", -1, text, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get(info, "k", 9, NULL, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get(info, "k", 9, text, NULL));
	WANTS(MPI_ERR_INFO,
	      MPI_Info_get_string(MPI_INFO_NULL, "k", &n, text, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get_string(info, "k", NULL, text, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get_string(info, "k", &n, text, NULL));
	n = -1;
	WANTS(MPI_ERR_ARG, MPI_Info_get_string(info, "k", &n, text, &flag));
	n = 9;
	WANTS(MPI_ERR_ARG, MPI_Info_get_string(info, "k", &n, NULL, &flag));
	WANTS(MPI_ERR_INFO,
	      MPI_Info_get_valuelen(MPI_INFO_NULL, "k", &n, &flag));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_get_valuelen(info, "", &n, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get_valuelen(info, "k", NULL, &flag));
	WANTS(MPI_ERR_ARG, MPI_Info_get_valuelen(info, "k", &n, NULL));
	WANTS(MPI_ERR_INFO, MPI_Info_get_nkeys(MPI_INFO_NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Info_get_nkeys(info, NULL));
	WANTS(MPI_ERR_INFO, MPI_Info_get_nthkey(MPI_INFO_NULL, 0, text));
	WANTS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 1, text));
	WANTS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, -1, text));
	WANTS(MPI_ERR_ARG, MPI_Info_get_nthkey(info, 0, NULL));
	WANTS(MPI_ERR_INFO, MPI_Info_delete(MPI_INFO_NULL, "k"));
	WANTS(MPI_ERR_INFO_KEY, MPI_Info_delete(info, long_key));
	WANTS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "other"));
	WANTS(MPI_ERR_INFO, MPI_Info_dup(MPI_INFO_NULL, &out));
	WANTS(MPI_ERR_ARG, MPI_Info_dup(info, NULL));
	WANTS(MPI_ERR_ARG, MPI_Info_free(NULL));
	WANTS(MPI_ERR_INFO, MPI_Info_free(&none));
	MPI_Info_free(&info);
	/* Objects of the library cannot be changed. */
	info = MPI_INFO_ENV;
	WANTS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_ENV, "k", "v"));
	WANTS(MPI_ERR_INFO, MPI_Info_delete(MPI_INFO_ENV, "command"));
	WANTS(MPI_ERR_INFO, MPI_Info_free(&info));
}

static void errhandlers(void)
{
	MPI_Errhandler none = MPI_ERRHANDLER_NULL, mine, out;
	MPI_Comm comm;

#define HANDLERS(create, set, get)                                  \
	WANTS(MPI_ERR_ARG, create(NULL, &out));                     \
	WANTS(MPI_ERR_ARG, create(freed_errhandler, NULL));         \
	WANTS(MPI_ERR_COMM, set(MPI_COMM_NULL, MPI_ERRORS_RETURN)); \
	WANTS(MPI_ERR_ERRHANDLER, set(SELF, MPI_ERRHANDLER_NULL));  \
	WANTS(MPI_ERR_COMM, get(MPI_COMM_NULL, &out));              \
	WANTS(MPI_ERR_ARG, get(SELF, NULL));                        \
	MPI_Comm_dup(SELF, &comm);                                  \
	WANTS(MPI_SUCCESS, create(freed_errhandler, &mine));        \
	WANTS(MPI_SUCCESS, set(comm, mine));                        \
	WANTS(MPI_SUCCESS, get(comm, &out));                        \
	ok(out == mine, #get " gives what " #set " took");          \
	WANTS(MPI_ERR_TAG, MPI_Send(&n, 1, MPI_INT, 0, -5, comm));  \
	MPI_Errhandler_free(&out);                                  \
	MPI_Errhandler_free(&mine);                                 \
	MPI_Comm_free(&comm)
	HANDLERS(MPI_Comm_create_errhandler, MPI_Comm_set_errhandler,
		 MPI_Comm_get_errhandler);
	HANDLERS(MPI_Errhandler_create, MPI_Errhandler_set, MPI_Errhandler_get);
	WANTS(MPI_ERR_ARG, MPI_Errhandler_free(NULL));
	WANTS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&none));
	WANTS(MPI_ERR_COMM,
	      MPI_Comm_call_errhandler(MPI_COMM_NULL, MPI_ERR_ARG));
	WANTS(MPI_ERR_ARG, MPI_Comm_call_errhandler(SELF, 123456));
	WANTS(MPI_SUCCESS, MPI_Comm_call_errhandler(SELF, MPI_SUCCESS));
}

static void codes(void)
{
	int class, code;

	WANTS(MPI_ERR_ARG, MPI_Error_class(MPI_ERR_ARG, NULL));
	WANTS(MPI_ERR_ARG, MPI_Error_string(MPI_ERR_ARG, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Error_string(MPI_ERR_ARG, text, NULL));
	WANTS(MPI_SUCCESS, MPI_Error_string(123456, text, &n));
	is_string(text, "unknown error code 123456", "a code of nobody");
	WANTS(MPI_SUCCESS, MPI_Error_class(123456, &n));
	is_int(n, MPI_ERR_UNKNOWN, "and its class");
	WANTS(MPI_ERR_ARG, MPI_Add_error_class(NULL));
	MPI_Add_error_class(&class);
	WANTS(MPI_ERR_ARG, MPI_Add_error_code(class, NULL));
	WANTS(MPI_ERR_ARG, MPI_Add_error_code(123456, &code));
	WANTS(MPI_ERR_ARG, MPI_Add_error_code(MPI_SUCCESS, &code));
	MPI_Add_error_code(class, &code);
	WANTS(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_ARG, "mine"));
	WANTS(MPI_ERR_ARG, MPI_Add_error_string(code, NULL));
	WANTS(MPI_ERR_ARG, MPI_Remove_error_string(code));
	WANTS(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_ARG));
	MPI_Add_error_string(code, "mine");
	WANTS(MPI_ERR_OTHER, MPI_Remove_error_code(code));
	WANTS(MPI_ERR_ARG, MPI_Remove_error_code(class));
	WANTS(MPI_ERR_ARG, MPI_Remove_error_class(code));
	WANTS(MPI_ERR_OTHER, MPI_Remove_error_class(class));
	WANTS(MPI_SUCCESS, MPI_Remove_error_string(code));
	WANTS(MPI_SUCCESS, MPI_Remove_error_code(code));
	WANTS(MPI_ERR_ARG, MPI_Remove_error_code(code));
	WANTS(MPI_SUCCESS, MPI_Remove_error_class(class));
	WANTS(MPI_SUCCESS, MPI_Add_error_class(&code));
	is_int(code, class, "the place of a class that is gone is used again");
	WANTS(MPI_SUCCESS, MPI_Remove_error_class(code));
}

static void environment(void)
{
	MPI_Aint address, same;
	void *memory;

	WANTS(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
	WANTS(MPI_ERR_OTHER,
	      MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &n));
	WANTS(MPI_ERR_ARG, MPI_Initialized(NULL));
	WANTS(MPI_ERR_ARG, MPI_Finalized(NULL));
	WANTS(MPI_ERR_ARG, MPI_Query_thread(NULL));
	WANTS(MPI_ERR_ARG, MPI_Is_thread_main(NULL));
	WANTS(MPI_ERR_ARG, MPI_Get_processor_name(NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Get_processor_name(text, NULL));
	WANTS(MPI_ERR_ARG, MPI_Get_version(NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Get_version(&n, NULL));
	WANTS(MPI_ERR_ARG, MPI_Get_library_version(NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Get_library_version(text, NULL));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_version(NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_version(&n, NULL));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_info(NULL));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_info(NULL));
	WANTS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(MPI_INFO_NULL));
	WANTS(MPI_ERR_INFO, MPI_Abi_set_fortran_info((MPI_Info) "wrong"));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(3, text, text, &n));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(32, text, text, &n));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, NULL, text, &n));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, text, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Abi_get_fortran_booleans(4, text, text, NULL));
	WANTS(MPI_ERR_ARG, MPI_Abi_set_fortran_booleans(0, text, text));
	WANTS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, text, text));
	WANTS(MPI_ERR_ARG, MPI_Get_hw_resource_info(NULL));
	WANTS(MPI_ERR_ARG, MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory));
	WANTS(MPI_ERR_ARG, MPI_Alloc_mem(8, MPI_INFO_NULL, NULL));
	WANTS(MPI_ERR_INFO, MPI_Alloc_mem(8, (MPI_Info) "wrong", &memory));
	WANTS(MPI_ERR_NO_MEM,
	      MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &memory));
	WANTS(MPI_SUCCESS, MPI_Free_mem(NULL));
	WANTS(MPI_ERR_ARG, MPI_Get_address(&n, NULL));
	WANTS(MPI_ERR_ARG, MPI_Address(&n, NULL));
	MPI_Address(&n, &address);
	MPI_Get_address(&n, &same);
	ok(address == same && address == (MPI_Aint)&n,
	   "both names give an address");
}

static void body(int rank, int size)
{
	if (rank >= size)
		return;
	infos();
	errhandlers();
	codes();
	environment();
}

int main(void)
{
	ranks_run(1, 1, body);
	return done_testing();
}
