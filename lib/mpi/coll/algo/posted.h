/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long data of a call that each process puts on its board before it sends its
 * card (core/meeting/leaders_board.h), so that the others read them without
 * waiting for it again.  Where anybody has none, all do without.
 */
#ifndef MPI_COLL_ALGO_POSTED_H
#define MPI_COLL_ALGO_POSTED_H

#include "mpi/coll/algo/hier.h"

struct vm_leaders_card;

/* The most bytes of a process. */
#define VM_COLL_POSTED_MOST ((size_t)1 << 20)

/* Whether all of a reduction leave their vectors to the root, in the first process,
 * and go on: those that have no room on their boards when they have sent them.  All
 * think alike. */
bool vm_coll_posted_left(const struct vm_meet *meet,
			 const struct vm_coll_plan *plan);

/* Puts them there, if there is room, and says so in the card; all blocks have so
 * many bytes. */
void vm_coll_posted_put(struct vm_coll_view *view, struct vm_leaders_card *card,
			size_t block_bytes);

/* The cards have come, or an error: view->posted says whether all data are there,
 * which the proxies then send; of what is left to the root, whether ours are, and
 * to the root, that some may be.  That error, or another one. */
int vm_coll_posted_see(struct vm_coll_view *view, struct vm_meet *meet,
		       int error);

/* The same of others than the root of a broadcast, which its card tells of. */
int vm_coll_posted_take(struct vm_coll_view *view, struct vm_meet *meet,
			const struct vm_leaders_card *card);

/* Where the vector of a process is. */
const void *vm_coll_posted_of(const struct vm_coll_view *view, int process);

/* What others have posted has been read. */
void vm_coll_posted_end(struct vm_coll_view *view);

#endif
