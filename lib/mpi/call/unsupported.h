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

/* All of them: there is none. */
#define MPI_CALLS_UNSUPPORTED(X)

#endif
