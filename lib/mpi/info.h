/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects: ordered pairs of keys and values.
 */
#ifndef MPI_INFO_H
#define MPI_INFO_H

#include "mpi/state.h"

struct vm_info {
	struct vm_object object;
	struct vm_list pairs; /* struct vm_info_pair, in the order of entry */
	int count;
};

struct vm_info_pair {
	struct vm_list link;
	char *value; /* lies behind key, in the same memory */
	char key[];
};

/* Frees the pairs. */
void vm_info_clear(struct vm_info *info);

#endif
