/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian topologies.
 *
 * Ranks are numbered row by row: the last dimension varies fastest.
 */
#ifndef MPI_TOPO_CART_H
#define MPI_TOPO_CART_H

#include <stdbool.h>

struct vm_comm;

struct vm_topo_dim {
	int size;
	bool periodic;
	int coord; /* of the rank that owns the communicator */
};

/* Immutable once made. */
struct vm_topo {
	int count; /* of dimensions; 0 is one point */
	struct vm_topo_dim dims[];
};

/* Returns the rank at distance `disp` in a direction of comm's grid, or
 * MPI_PROC_NULL. */
int vm_topo_shift(const struct vm_comm *comm, int direction, int disp);

#endif
