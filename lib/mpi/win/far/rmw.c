/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Read, modify, write.
 */
#include "mpi/win/far/rmw.h"

#include <stdlib.h>

#include "core/window/haul.h"
#include "core/window/update.h"

/* So many bytes are updated before others may have the lock: few enough to stay in
 * the cache. */
#define PIECE_BYTES ((size_t)64 << 10)

static int transfer(const struct vm_win *win, int rank, void *here, char *there,
		    size_t bytes, bool write)
{
	struct iovec local = { here, bytes }, remote = { there, bytes };
	struct vm_load load = vm_load_one(&local, &remote);

	return vm_window_move(win->comm.ranks[rank]->to, &load, write);
}

/* Updates n elements, by way of a buffer that has room for them. */
static int piece(const struct vm_win *win, int rank,
		 const struct vm_far_rmw *rmw, char *buffer, size_t n)
{
	const struct vm_atomic how = { .op = rmw->op, .type = rmw->type };
	size_t bytes = n * rmw->type->size;
	int rc = transfer(win, rank, buffer, rmw->target, bytes, false);

	if (rc != 0)
		return rc;
	vm_atomic_update_alone(&how, buffer, rmw->origin, rmw->result, n);
	return rmw->origin ?
		       transfer(win, rank, buffer, rmw->target, bytes, true) :
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
