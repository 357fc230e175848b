/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the program before anything is started, and what it is.
 */
#ifndef VMPIRUN_PROGRAM_H
#define VMPIRUN_PROGRAM_H

#include <stddef.h>

#include "core/image/lib.h"

/* Where programs of the MPI ABI find its library; set if ranks are
 * processes. */
#define LIBRARY_PATH "LD_LIBRARY_PATH"

/* Tells mpi4py that it is this library that it is to use; set unless it is. */
#define PYTHON_ABI "MPI4PY_MPIABI"

enum program_kind {
	PROGRAM_IMAGE,	  /* linked by vmpicc */
	PROGRAM_ORDINARY, /* can be loaded once per rank, too */
	PROGRAM_PROCESS,  /* each rank is a process */
};

/*
 * The path of the program that the user calls `name`: as execvp() finds it from
 * the current directory, with the directories `first` (or NULL) before those of
 * PATH.  A name with a slash that does not exist there is also tried in `origin`,
 * the directory before -wdir.  *path is to be freed. Result: 0; -VMPI_ENOENT or
 * -VMPI_ENOMEM after one line.
 */
int program_find(char **path, const char *name, const char *origin,
		 const char *first);

/*
 * Determines whether node processes can run the program, as many ranks each: if
 * vmpicc has linked it, or if it is an ordinary executable of which several
 * copies can be loaded.  Otherwise each of its ranks is a process, and
 * why[bytes] says why, as "it is a script".  A file that cannot be run is
 * refused.  Result: 0, or -VMPI_E... after one line.
 */
int program_kind(enum program_kind *kind, char *why, size_t bytes,
		 const char *path, const char *name);

/* Prints which of its libraries are private and which shared.  Result: 0, or
 * -VMPI_E... after one line. */
int program_libs_print(const char *path, const char *name,
		       const struct vm_image_choice *choice);

#endif
