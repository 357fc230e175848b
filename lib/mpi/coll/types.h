/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparison of the types that the members of a collective use
 * (mpi_check_types): what one sends to another with what that one receives.
 */
#ifndef MPI_COLL_TYPES_H
#define MPI_COLL_TYPES_H

#include "mpi/coll/coll.h"

/* Returns the signature (mpi/type/signature.h) of what a member of this process
 * sends to member `to`; 0 while types are not compared, or unknown. */
uint32_t vm_coll_signature(const struct vm_coll *coll, size_t to);

/* Compares the types of all members, which make the same call; those that
 * receive something else get an error.  Members of the two sides of an
 * intercommunicator are not compared. */
void vm_coll_types_compare(struct vm_meet *meet);

#endif
