/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined types that stand for a value and an index (MPI 4.1, 6.9.4).
 */
#ifndef MPI_TYPE_PAIR_H
#define MPI_TYPE_PAIR_H

#include <stdbool.h>

#include "mpi.h"

/* The types of both parts of such a type; false: it is none. */
bool vm_pair_parts(MPI_Datatype pair, MPI_Datatype parts[2]);

#endif
