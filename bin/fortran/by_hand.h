/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI whose arguments need more than a conversion each (those with
 * a star in the table).
 *
 * The first argument is the function of C, MPI_x or PMPI_x; the others are those
 * of Fortran, as they are, and the lengths of strings behind them.  They return
 * what the function of C returns.
 */
#ifndef FORTRAN_BY_HAND_H
#define FORTRAN_BY_HAND_H

#include <mpi.h>
#include <stddef.h>

/* Any procedure of Fortran. */
typedef void(vm_f_function)(void);

#define OF(name) __typeof__(MPI_##name) *call

/* attr.c */
int vm_f_comm_create_keyval(OF(Comm_create_keyval), vm_f_function *copy,
			    vm_f_function *remove, MPI_Fint *keyval,
			    MPI_Aint *extra_state);
int vm_f_type_create_keyval(OF(Type_create_keyval), vm_f_function *copy,
			    vm_f_function *remove, MPI_Fint *keyval,
			    MPI_Aint *extra_state);
int vm_f_win_create_keyval(OF(Win_create_keyval), vm_f_function *copy,
			   vm_f_function *remove, MPI_Fint *keyval,
			   MPI_Aint *extra_state);
int vm_f_keyval_create(OF(Keyval_create), vm_f_function *copy,
		       vm_f_function *remove, MPI_Fint *keyval,
		       MPI_Fint *extra_state);
int vm_f_comm_set_attr(OF(Comm_set_attr), MPI_Fint *comm, MPI_Fint *keyval,
		       MPI_Aint *value);
int vm_f_type_set_attr(OF(Type_set_attr), MPI_Fint *type, MPI_Fint *keyval,
		       MPI_Aint *value);
int vm_f_win_set_attr(OF(Win_set_attr), MPI_Fint *win, MPI_Fint *keyval,
		      MPI_Aint *value);
int vm_f_attr_put(OF(Attr_put), MPI_Fint *comm, MPI_Fint *keyval,
		  MPI_Fint *value);
int vm_f_comm_get_attr(OF(Comm_get_attr), MPI_Fint *comm, MPI_Fint *keyval,
		       MPI_Aint *value, MPI_Fint *flag);
int vm_f_type_get_attr(OF(Type_get_attr), MPI_Fint *type, MPI_Fint *keyval,
		       MPI_Aint *value, MPI_Fint *flag);
int vm_f_win_get_attr(OF(Win_get_attr), MPI_Fint *win, MPI_Fint *keyval,
		      MPI_Aint *value, MPI_Fint *flag);
int vm_f_attr_get(OF(Attr_get), MPI_Fint *comm, MPI_Fint *keyval,
		  MPI_Fint *value, MPI_Fint *flag);

/* callback.c */
int vm_f_op_create(OF(Op_create), vm_f_function *function, MPI_Fint *commute,
		   MPI_Fint *op);
int vm_f_op_create_c(OF(Op_create_c), vm_f_function *function,
		     MPI_Fint *commute, MPI_Fint *op);
int vm_f_comm_create_errhandler(OF(Comm_create_errhandler),
				vm_f_function *function, MPI_Fint *errhandler);
int vm_f_errhandler_create(OF(Errhandler_create), vm_f_function *function,
			   MPI_Fint *errhandler);
int vm_f_file_create_errhandler(OF(File_create_errhandler),
				vm_f_function *function, MPI_Fint *errhandler);
int vm_f_session_create_errhandler(OF(Session_create_errhandler),
				   vm_f_function *function,
				   MPI_Fint *errhandler);
int vm_f_win_create_errhandler(OF(Win_create_errhandler),
			       vm_f_function *function, MPI_Fint *errhandler);
int vm_f_grequest_start(OF(Grequest_start), vm_f_function *query,
			vm_f_function *free, vm_f_function *cancel,
			MPI_Aint *extra_state, MPI_Fint *request);
int vm_f_register_datarep(OF(Register_datarep), char *datarep,
			  vm_f_function *read, vm_f_function *write,
			  vm_f_function *extent, MPI_Aint *extra_state,
			  size_t datarep_bytes);
int vm_f_register_datarep_c(OF(Register_datarep_c), char *datarep,
			    vm_f_function *read, vm_f_function *write,
			    vm_f_function *extent, MPI_Aint *extra_state,
			    size_t datarep_bytes);

/* info.c */
int vm_f_info_get(OF(Info_get), MPI_Fint *info, char *key, MPI_Fint *valuelen,
		  char *value, MPI_Fint *flag, size_t key_bytes,
		  size_t value_bytes);
int vm_f_info_get_string(OF(Info_get_string), MPI_Fint *info, char *key,
			 MPI_Fint *buflen, char *value, MPI_Fint *flag,
			 size_t key_bytes, size_t value_bytes);
int vm_f_session_get_nth_pset(OF(Session_get_nth_pset), MPI_Fint *session,
			      MPI_Fint *info, MPI_Fint *n, MPI_Fint *pset_len,
			      char *pset_name, size_t pset_name_bytes);

/* spawn.c */
int vm_f_comm_spawn(OF(Comm_spawn), char *command, char *argv,
		    MPI_Fint *maxprocs, MPI_Fint *info, MPI_Fint *root,
		    MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *errcodes,
		    size_t command_bytes, size_t argv_bytes);
int vm_f_comm_spawn_multiple(OF(Comm_spawn_multiple), MPI_Fint *count,
			     char *commands, char *argv, MPI_Fint *maxprocs,
			     MPI_Fint *infos, MPI_Fint *root, MPI_Fint *comm,
			     MPI_Fint *intercomm, MPI_Fint *errcodes,
			     size_t commands_bytes, size_t argv_bytes);

/* type.c */
int vm_f_type_get_contents(OF(Type_get_contents), MPI_Fint *type,
			   MPI_Fint *max_integers, MPI_Fint *max_addresses,
			   MPI_Fint *max_types, MPI_Fint *integers,
			   MPI_Aint *addresses, MPI_Fint *types);
int vm_f_type_get_contents_c(OF(Type_get_contents_c), MPI_Fint *type,
			     MPI_Count *max_integers, MPI_Count *max_addresses,
			     MPI_Count *max_counts, MPI_Count *max_types,
			     MPI_Fint *integers, MPI_Aint *addresses,
			     MPI_Count *counts, MPI_Fint *types);
int vm_f_address(OF(Address), void *location, MPI_Fint *address);
int vm_f_type_extent(OF(Type_extent), MPI_Fint *type, MPI_Fint *extent);
int vm_f_type_lb(OF(Type_lb), MPI_Fint *type, MPI_Fint *displacement);
int vm_f_type_ub(OF(Type_ub), MPI_Fint *type, MPI_Fint *displacement);
int vm_f_type_hvector(OF(Type_hvector), MPI_Fint *count, MPI_Fint *length,
		      MPI_Fint *stride, MPI_Fint *old, MPI_Fint *type);
int vm_f_type_hindexed(OF(Type_hindexed), MPI_Fint *count, MPI_Fint *lengths,
		       MPI_Fint *displacements, MPI_Fint *old, MPI_Fint *type);
int vm_f_type_struct(OF(Type_struct), MPI_Fint *count, MPI_Fint *lengths,
		     MPI_Fint *displacements, MPI_Fint *types, MPI_Fint *type);

#undef OF

#endif
