/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent neighbourhood collectives.
 */
#ifndef MPI_TOPO_NEIGHBOR_PERSIST_H
#define MPI_TOPO_NEIGHBOR_PERSIST_H

#include "mpi/topo/neighbor.h"

/* Ends the call: keeps nbr for MPI_Start if rc is 0, with references to its
 * types and copies of its arrays. */
int vm_nbr_close_init(struct vm_call *call, const struct vm_nbr *nbr,
		      MPI_Comm comm, int rc, MPI_Info info,
		      MPI_Request *request);

#endif
