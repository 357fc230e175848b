/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where other processes of the host find the memory that a process shares; it
 * travels in its address.
 */
#ifndef FABRIC_SHM_PLACE_H
#define FABRIC_SHM_PLACE_H

#include <stdint.h>

struct vm_shm_place {
	uint64_t space; /* where `pid` is one; 0: there is no file */
	uint64_t base;	/* the file in the memory of the process */
	uint32_t pid;
	uint32_t fd, wake_fd; /* of the file, and to wake the process */
	uint32_t rings;	      /* for each port */
	uint32_t processes;   /* that there is a word for */
	uint32_t crowded;     /* others of the job may need its processors */
};

#endif
