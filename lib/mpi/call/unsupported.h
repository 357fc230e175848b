/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not implemented.  libvmpi.so does not export them, so that
 * a build system that asks by linking hears no.  libmpi_abi.so has them, since
 * programs that were linked elsewhere may name them without a call; there they
 * fail with MPI_ERR_UNSUPPORTED_OPERATION and their name.  A row is removed
 * when its function is implemented.
 *
 * A row is only a name, since these functions ignore their arguments.
 */
#ifndef MPI_CALL_UNSUPPORTED_H
#define MPI_CALL_UNSUPPORTED_H

/* Files */
#define MPI_CALLS_LATER_IO(X)                                                \
	X(File_get_position_shared) X(File_iread) X(File_iread_all)          \
	X(File_iread_at) X(File_iread_at_all) X(File_iread_shared)           \
	X(File_iwrite) X(File_iwrite_all) X(File_iwrite_at)                  \
	X(File_iwrite_at_all) X(File_iwrite_shared) X(File_read_all_begin)   \
	X(File_read_all_end) X(File_read_at_all_begin)                       \
	X(File_read_at_all_end) X(File_read_ordered)                         \
	X(File_read_ordered_begin) X(File_read_ordered_end)                  \
	X(File_read_shared) X(File_seek_shared) X(File_write_all_begin)      \
	X(File_write_all_end) X(File_write_at_all_begin)                     \
	X(File_write_at_all_end) X(File_write_ordered)                       \
	X(File_write_ordered_begin) X(File_write_ordered_end)                \
	X(File_write_shared) X(Register_datarep)

/* Dynamic processes */
#define MPI_CALLS_LATER_SPAWN(X)                                             \
	X(Comm_spawn) X(Comm_spawn_multiple)

/* Large counts */
#define MPI_CALLS_LATER_LARGE(X)                                             \
	X(File_iread_c) X(File_iread_all_c) X(File_iread_at_c)               \
	X(File_iread_at_all_c) X(File_iread_shared_c) X(File_iwrite_c)       \
	X(File_iwrite_all_c) X(File_iwrite_at_c) X(File_iwrite_at_all_c)     \
	X(File_iwrite_shared_c) X(File_read_all_begin_c)                     \
	X(File_read_at_all_begin_c) X(File_read_ordered_c)                   \
	X(File_read_ordered_begin_c) X(File_read_shared_c)                   \
	X(File_write_all_begin_c) X(File_write_at_all_begin_c)               \
	X(File_write_ordered_c) X(File_write_ordered_begin_c)                \
	X(File_write_shared_c) X(Register_datarep_c)

/* All of the above. */
#define MPI_CALLS_UNSUPPORTED(X)                                             \
	MPI_CALLS_LATER_IO(X)                                                \
	MPI_CALLS_LATER_SPAWN(X) MPI_CALLS_LATER_LARGE(X)

#endif
