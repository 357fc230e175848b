/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part in C of bindings.F90.
 */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

void number_of_(MPI_Fint *comm, MPI_Fint *size);
void number_of_(MPI_Fint *comm, MPI_Fint *size)
{
	MPI_Comm_size(MPI_Comm_f2c(*comm), size);
}

/* Frees the communicator and gives another one, with an attribute. */
void c_makes_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *status);
void c_makes_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *status)
{
	MPI_Comm c = MPI_Comm_f2c(*comm);
	MPI_Status c_status;
	int byte = 0;

	MPI_Comm_free(&c);
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
			       key, NULL);
	MPI_Comm_set_attr(c, *key, (void *)(uintptr_t)12345);
	MPI_Sendrecv(&byte, 1, MPI_INT, 0, 17, &byte, 1, MPI_INT, 0, 17, c,
		     &c_status);
	MPI_Status_c2f(&c_status, status);
	*comm = MPI_Comm_c2f(c);
}

/* C sees a value of Fortran as the address of an integer. */
void keep_sum_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *value);
void keep_sum_(MPI_Fint *comm, MPI_Fint *key, MPI_Fint *value)
{
	MPI_Aint *found;
	int flag;

	MPI_Comm_get_attr(MPI_Comm_f2c(*comm), *key, &found, &flag);
	*value = flag ? (MPI_Fint)*found : -1;
	MPI_Comm_free_keyval(key);
}
