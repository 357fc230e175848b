/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program that the library calls.
 *
 * Those of operations and error handlers have no argument of their own, by
 * which one of C could find the one of Fortran: the library is told that it has
 * a function of Fortran (lib/mpi/call/fortran.h).  The others have one.
 */
#include <stdlib.h>

#include "by_hand.h"
#include "convert.h"
#include "mpi/call/fortran.h"

int vm_f_op_create(__typeof__(MPI_Op_create) *call, vm_f_function *function,
		   MPI_Fint *commute, MPI_Fint *op)
{
	MPI_Op made;
	int rc = call((MPI_User_function *)function, *commute, &made);

	if (rc == 0) {
		vmpi_fortran.op(made);
		*op = vm_f_op_number(made);
	}
	return rc;
}

int vm_f_op_create_c(__typeof__(MPI_Op_create_c) *call, vm_f_function *function,
		     MPI_Fint *commute, MPI_Fint *op)
{
	MPI_Op made;
	int rc = call((MPI_User_function_c *)function, *commute, &made);

	if (rc == 0) {
		vmpi_fortran.op(made);
		*op = vm_f_op_number(made);
	}
	return rc;
}

#define ERRHANDLER(name, function, call)                                     \
	int vm_f_##name##_errhandler(__typeof__(MPI_##call##_errhandler) *c, \
				     vm_f_function *f, MPI_Fint *errhandler) \
	{                                                                    \
		MPI_Errhandler made;                                         \
		int rc = c((function *)f, &made);                            \
                                                                             \
		if (rc == 0) {                                               \
			vmpi_fortran.errhandler(made);                       \
			*errhandler = vm_f_errh_number(made);                \
		}                                                            \
		return rc;                                                   \
	}
ERRHANDLER(comm_create, MPI_Comm_errhandler_function, Comm_create)
ERRHANDLER(file_create, MPI_File_errhandler_function, File_create)
ERRHANDLER(session_create, MPI_Session_errhandler_function, Session_create)
ERRHANDLER(win_create, MPI_Win_errhandler_function, Win_create)

int vm_f_errhandler_create(__typeof__(MPI_Errhandler_create) *call,
			   vm_f_function *function, MPI_Fint *errhandler)
{
	return vm_f_comm_create_errhandler(call, function, errhandler);
}

/*
 * Generalized requests.  Their functions get a copy of the extra state, since
 * MPI only takes its value: the variable may be gone.  But Open MPI and MPICH
 * pass on the variable itself, and there are programs whose functions write to
 * it; what they write goes into the variable as well, as long as it has the
 * value that it had.
 */
typedef void(query_function)(MPI_Aint *extra_state, MPI_Status *status,
			     MPI_Fint *ierror);
typedef void(free_function)(MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void(cancel_function)(MPI_Aint *extra_state, MPI_Fint *complete,
			      MPI_Fint *ierror);

struct grequest {
	vm_f_function *query, *free, *cancel;
	MPI_Aint extra_state, *variable;
	MPI_Aint value; /* of the variable */
};

/* After a function of the program. */
static void grequest_write(struct grequest *grequest)
{
	if (grequest->extra_state == grequest->value ||
	    *grequest->variable != grequest->value)
		return;
	*grequest->variable = grequest->value = grequest->extra_state;
}

static int grequest_query(void *extra_state, MPI_Status *status)
{
	struct grequest *grequest = extra_state;
	MPI_Fint ierror = MPI_SUCCESS;

	((query_function *)grequest->query)(&grequest->extra_state, status,
					    &ierror);
	grequest_write(grequest);
	return ierror;
}

static int grequest_free(void *extra_state)
{
	struct grequest *grequest = extra_state;
	MPI_Fint ierror = MPI_SUCCESS;

	((free_function *)grequest->free)(&grequest->extra_state, &ierror);
	grequest_write(grequest);
	free(grequest);
	return ierror;
}

static int grequest_cancel(void *extra_state, int complete)
{
	struct grequest *grequest = extra_state;
	MPI_Fint ierror = MPI_SUCCESS;

	((cancel_function *)grequest->cancel)(&grequest->extra_state, &complete,
					      &ierror);
	grequest_write(grequest);
	return ierror;
}

int vm_f_grequest_start(__typeof__(MPI_Grequest_start) *call,
			vm_f_function *query, vm_f_function *free_,
			vm_f_function *cancel, MPI_Aint *extra_state,
			MPI_Fint *request)
{
	struct grequest *grequest = malloc(sizeof(*grequest));
	MPI_Request made;
	int rc;

	if (!grequest)
		return vm_f_fail(MPI_ERR_NO_MEM);
	*grequest =
		(struct grequest){ query,	 free_,	      cancel,
				   *extra_state, extra_state, *extra_state };
	rc = call(grequest_query, grequest_free, grequest_cancel, grequest,
		  &made);
	if (rc == 0)
		*request = vm_f_request_number(made);
	else
		free(grequest);
	return rc;
}

/* Data representations, which last as long as the program. */
typedef void(conversion_function)(void *userbuf, MPI_Fint *datatype,
				  MPI_Fint *count, void *filebuf,
				  MPI_Offset *position, MPI_Aint *extra_state,
				  MPI_Fint *ierror);
typedef void(conversion_function_c)(void *userbuf, MPI_Fint *datatype,
				    MPI_Count *count, void *filebuf,
				    MPI_Offset *position, MPI_Aint *extra_state,
				    MPI_Fint *ierror);
typedef void(extent_function)(MPI_Fint *datatype, MPI_Aint *extent,
			      MPI_Aint *extra_state, MPI_Fint *ierror);

struct datarep {
	vm_f_function *read, *write, *extent;
	MPI_Aint extra_state;
};

/* Means that there is nothing to convert; nobody calls it. */
VM_F_ENTRY void mpi_conversion_fn_null_(void);
void mpi_conversion_fn_null_(void)
{
}
VM_F_ENTRY_AS("mpi_conversion_fn_null_") void mpi_conversion_fn_null_c_(void);

static int datarep_extent(MPI_Datatype datatype, MPI_Aint *extent,
			  void *extra_state)
{
	struct datarep *datarep = extra_state;
	MPI_Fint ierror = MPI_SUCCESS, number = vm_f_type_number(datatype);

	((extent_function *)datarep->extent)(&number, extent,
					     &datarep->extra_state, &ierror);
	return ierror;
}

#define CONVERT(name, way, type, count_type, fortran_type)                     \
	static int name(void *userbuf, MPI_Datatype datatype, count_type c,    \
			void *filebuf, MPI_Offset position, void *extra_state) \
	{                                                                      \
		struct datarep *datarep = extra_state;                         \
		MPI_Fint ierror = MPI_SUCCESS;                                 \
		MPI_Fint number = vm_f_type_number(datatype);                  \
		fortran_type count = c;                                        \
                                                                               \
		((type *)datarep->way)(userbuf, &number, &count, filebuf,      \
				       &position, &datarep->extra_state,       \
				       &ierror);                               \
		return ierror;                                                 \
	}
CONVERT(datarep_read, read, conversion_function, int, MPI_Fint)
CONVERT(datarep_write, write, conversion_function, int, MPI_Fint)
CONVERT(datarep_read_c, read, conversion_function_c, MPI_Count, MPI_Count)
CONVERT(datarep_write_c, write, conversion_function_c, MPI_Count, MPI_Count)

static bool is_null(vm_f_function *function)
{
	return function == mpi_conversion_fn_null_ ||
	       function == mpi_conversion_fn_null_c_;
}

#define REGISTER(name, c_name, read_function, write_function)                  \
	int name(__typeof__(c_name) *call, char *datarep, vm_f_function *read, \
		 vm_f_function *write, vm_f_function *extent,                  \
		 MPI_Aint *extra_state, size_t datarep_bytes)                  \
	{                                                                      \
		struct datarep *made = malloc(sizeof(*made));                  \
		struct vm_f_string string;                                     \
		int rc;                                                        \
                                                                               \
		if (!made)                                                     \
			return vm_f_fail(MPI_ERR_NO_MEM);                      \
		*made = (struct datarep){ read, write, extent, *extra_state }; \
		rc = vm_f_string_in(&string, datarep, datarep_bytes);          \
		if (rc == 0) {                                                 \
			rc = call(string.text,                                 \
				  is_null(read) ? NULL : read_function,        \
				  is_null(write) ? NULL : write_function,      \
				  datarep_extent, made);                       \
			vm_f_string_end(&string);                              \
		}                                                              \
		if (rc != 0)                                                   \
			free(made);                                            \
		return rc;                                                     \
	}
REGISTER(vm_f_register_datarep, MPI_Register_datarep, datarep_read,
	 datarep_write)
REGISTER(vm_f_register_datarep_c, MPI_Register_datarep_c, datarep_read_c,
	 datarep_write_c)
