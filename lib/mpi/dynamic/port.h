/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: places at which a rank can be found by ranks that know their names.
 *
 * A port is a number that its rank has given, and a notice (notice.h) while it
 * is open.  Messages to it have a tag made of that number, in the context of
 * the job.
 */
#ifndef MPI_DYNAMIC_PORT_H
#define MPI_DYNAMIC_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/call/call.h"

/* A number for a port, or for another meeting of two ranks of the job, which
 * the calling process has not given yet. */
uint32_t vm_port_number(void);

/* The tags of the messages to a port, and of those between the two ranks; those
 * of mpi/comm/from_group.c are greater. */
static inline int32_t vm_port_tag(uint32_t number)
{
	return (int32_t)(number << 1 & 0x1ffffffe);
}
static inline int32_t vm_port_meeting_tag(uint32_t number)
{
	return vm_port_tag(number) | 1;
}

/* A port as its name says. */
struct vm_rank;
struct vm_port_place {
	const char *name;
	uint32_t number;
	struct vm_rank *rank; /* whose it is; NULL: one of another job */
};

/* Finds a port: 0 or MPI_ERR_PORT: there is none, as far as one can see. */
int vm_port_find(struct vm_call *call, const char *name,
		 struct vm_port_place *place);

/* The door of a port of this rank (mpi/dynamic/door.h), or -1. */
int vm_port_door(struct vm_mpi *mpi, const char *name);

/* Frees the ports and names of a rank. */
void vm_ports_free(struct vm_mpi *mpi);

#endif
