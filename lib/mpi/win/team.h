/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a window's members in one process, made from what all offer; and
 * the memory that processes share.
 */
#ifndef MPI_WIN_TEAM_H
#define MPI_WIN_TEAM_H

#include "core/window/share.h"
#include "mpi/coll/algo/run.h"
#include "mpi/win/object/win.h"

/* What a member says when a window is made; goes to other processes. */
struct vm_win_offer {
	char *base;
	size_t bytes, unit;
	uint64_t number; /* of its end, if there are several processes */
	int error;	 /* it cannot: MPI_ERR_... */
	bool shared, noncontig;
	uint32_t align; /* of its memory at least; 0: as it comes */
	bool partial;	/* it does not reach what all of its host share */
	/* Of several processes, of the member that makes a file. */
	struct vm_window_share share;
};

/* A member's call. */
struct vm_win_make {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_win *win;
	bool far;	 /* there are several processes */
	int error;	 /* here, which the others do not know yet */
	bool partial;	 /* likewise; then of any member */
	const char *why; /* the error is MPI_ERR_RMA_SHARED */
};

/* Tells whether all can; otherwise all of them fail. */
bool vm_win_team_can(struct vm_meet *meet);

/* The work of a meeting: each member here gets the team, or an error. */
void vm_win_team_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last);

#endif
