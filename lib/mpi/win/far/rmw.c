/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read, modify, write.
 */
#include "mpi/win/far/rmw.h"

#include <stdlib.h>

#include "core/window/update.h"
#include "mpi/win/far/move.h"

/* So many bytes are updated before others may have the lock: few enough to stay in
 * the cache. */
#define PIECE_BYTES ((size_t)64 << 10)

/* Updates n elements, by way of a buffer that has room for them.  The target's
 * process does not help: it may wait for the lock. */
static int piece(const struct vm_win *win, int rank,
		 const struct vm_far_rmw *rmw, char *buffer, size_t n)
{
	const struct vm_atomic how = { .op = rmw->op, .type = rmw->type };
	size_t bytes = n * rmw->type->size;
	int rc = vm_far_transfer(win, rank, buffer, rmw->target, bytes, false);

	if (rc != 0)
		return rc;
	vm_atomic_update_alone(&how, buffer, rmw->origin, rmw->result, n);
	return rmw->origin ? vm_far_transfer(win, rank, buffer, rmw->target,
					     bytes, true) :
			     0;
}

static void take_off(struct vm_far_rmw *rmw, size_t n)
{
	size_t bytes = n * rmw->type->size;

	rmw->count -= n;
	rmw->target += bytes;
	if (rmw->origin)
		rmw->origin += bytes;
	if (rmw->result)
		rmw->result += bytes;
}

int vm_far_rmw_go(struct vm_win *win, int rank, struct vm_far_rmw *rmw)
{
	struct vm_window_common *common = win->places[rank].updates;
	size_t most = PIECE_BYTES / rmw->type->size, n;
	char *buffer;
	int rc = 0;

	n = rmw->count < most ? rmw->count : most;
	buffer = malloc(n * rmw->type->size);
	if (!buffer)
		return -VMPI_ENOTSUP;
	while (rc == 0 && rmw->count) {
		n = rmw->count < most ? rmw->count : most;
		vm_window_update_take(common);
		rc = piece(win, rank, rmw, buffer, n);
		vm_window_update_give(common);
		if (rc == 0)
			take_off(rmw, n);
	}
	free(buffer);
	return rc;
}
