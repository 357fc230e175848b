/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large broadcasts and allgathers among more than two processes: data that all
 * processes need is passed from one to the next, in members' own buffers where
 * their layout allows.
 */
#include "mpi/coll/algo/pack.h"

#include <stdlib.h>

/* A broadcast as one process sees it; processes are counted from the root's. */
struct bcast {
	struct vm_coll_view *view;
	struct vm_leaders_data talk;
	int count, self; /* processes; this one's number from the root's */
	int root;	 /* the root's process */
	struct vm_data data;
};

static int process_of(const struct bcast *bcast, int number)
{
	return (number + bcast->root) % bcast->count;
}

/* Returns where the data is, or is to be received. */
static struct vm_data bcast_place(struct vm_coll_view *view, bool plain)
{
	size_t root = (size_t)view->any->root, bytes = view->sizes[root];
	const struct vm_coll *coll = vm_coll_of(&view->meet, root);
	struct vm_data data, place;

	if (coll->owner) {
		data = vm_blocks_data(&coll->recv, 0);
		if (!plain || !data.layout)
			return data;
		place = vm_data_bytes(vm_coll_view_memory(view, bytes), bytes);
		if (place.addr)
			vm_data_copy_slow(&place, &data);
		return place;
	}
	for (uint32_t i = 0; i < view->here->count; i++) {
		coll = vm_coll_of(&view->meet, view->here->members[i]);
		data = vm_blocks_data(&coll->recv, 0);
		if (data.bytes == bytes && (!plain || !data.layout))
			return data;
	}
	return vm_data_bytes(vm_coll_view_memory(view, bytes), bytes);
}

static void bcast_binomial(struct bcast *bcast)
{
	int step = 1;

	while (step < bcast->count && !(bcast->self & step))
		step *= 2;
	if (bcast->self) {
		vm_leaders_recv(&bcast->talk,
				process_of(bcast, bcast->self - step),
				&bcast->data);
		vm_leaders_wait(&bcast->talk);
	}
	while ((step /= 2) > 0)
		if (bcast->self + step < bcast->count)
			vm_leaders_send(&bcast->talk,
					process_of(bcast, bcast->self + step),
					&bcast->data);
}

/* Returns one of as many pieces as there are processes. */
static struct vm_data piece(const struct bcast *bcast, int number)
{
	size_t bytes = bcast->data.bytes, count = (size_t)bcast->count;
	size_t i = (size_t)((number + bcast->count) % bcast->count);
	size_t begin = bytes / count * i + bytes % count * i / count;
	size_t end = bytes / count * (i + 1) + bytes % count * (i + 1) / count;

	return vm_data_bytes((char *)bcast->data.addr + begin, end - begin);
}

/* Scatters a piece to each process, then passes the pieces round.  The root
 * needs none. */
static void bcast_scatter(struct bcast *bcast)
{
	int count = bcast->count, self = bcast->self;
	struct vm_data data;

	for (int i = 1; i < count && self == 0; i++) {
		data = piece(bcast, i);
		vm_leaders_send(&bcast->talk, process_of(bcast, i), &data);
	}
	if (self) {
		data = piece(bcast, self);
		vm_leaders_recv(&bcast->talk, bcast->root, &data);
		vm_leaders_wait(&bcast->talk);
	}
	for (int k = 0; k < count - 1; k++) {
		if (self) {
			data = piece(bcast, self - k - 1);
			vm_leaders_recv(&bcast->talk,
					process_of(bcast, self - 1), &data);
		}
		if (self + 1 < count) {
			data = piece(bcast, self - k);
			vm_leaders_send(&bcast->talk,
					process_of(bcast, self + 1), &data);
		}
		if (self)
			vm_leaders_wait(&bcast->talk);
	}
}

static int bcast_relay(struct vm_coll_view *view)
{
	size_t root = (size_t)view->any->root;
	struct vm_coll *proxy = vm_coll_of(&view->meet, root);
	bool plain = view->plan.algorithm == VM_ALGORITHM_SCATTER_ALLGATHER;
	struct bcast bcast = { .view = view,
			       .count = view->leaders->count,
			       .root = (int)view->leaders->of[root] };
	int rc;

	bcast.self =
		(view->leaders->self - bcast.root + bcast.count) % bcast.count;
	bcast.data = bcast_place(view, plain);
	vm_leaders_data_begin(&bcast.talk, &view->meet);
	if (!bcast.data.addr && !bcast.data.layout && bcast.data.bytes)
		bcast.talk.error = -VMPI_ENOMEM;
	if (plain)
		bcast_scatter(&bcast);
	else
		bcast_binomial(&bcast);
	rc = vm_leaders_data_end(&bcast.talk);
	if (rc == 0 && !proxy->owner) {
		if (!vm_coll_proxy_blocks(proxy, 1))
			return -VMPI_ENOMEM;
		*(struct vm_data *)proxy->temp = bcast.data;
	}
	return rc;
}

/* Returns where the data of one process's members is received as one block: in
 * the first local member's buffer, if contiguous there; else in temporary
 * memory. */
static struct vm_data gathered_place(struct vm_coll_view *view, int process,
				     bool *own)
{
	const struct vm_leaders_process *from =
		&view->leaders->processes[process];
	struct vm_data all = vm_data_bytes(NULL, 0);

	*own = false;
	for (uint32_t i = 0; i < from->count; i++) {
		struct vm_data data =
			vm_blocks_data(&view->any->recv, from->members[i]);

		if (i == 0)
			all.addr = data.addr;
		if (data.layout ||
		    data.bytes != view->sizes[from->members[i]] ||
		    data.addr != (char *)all.addr + all.bytes)
			*own = true;
		all.bytes += view->sizes[from->members[i]];
	}
	if (*own)
		all.addr = vm_coll_view_memory(view, all.bytes);
	return all;
}

/* Copies the data of the local members. */
static void gathered_fill(struct vm_coll_view *view, const struct vm_data *all,
			  bool own)
{
	const struct vm_leaders_process *here = view->here;
	char *at = all->addr;

	for (uint32_t i = 0; i < here->count; i++) {
		const struct vm_coll *coll =
			vm_coll_of(&view->meet, here->members[i]);
		struct vm_data data = vm_coll_data_for(coll, 0);
		struct vm_data to = vm_data_bytes(at, data.bytes);

		if (!own)
			vm_coll_allgather_block(&view->meet, view->any,
						here->members[i]);
		else if (at && data.bytes)
			vm_data_copy_slow(&to, &data);
		at = at ? at + data.bytes : at;
	}
}

/* Lets the proxies send the received data. */
static int gathered_proxy(struct vm_coll_view *view, int process,
			  const struct vm_data *all)
{
	const struct vm_leaders_process *from =
		&view->leaders->processes[process];
	char *at = all->addr;

	for (uint32_t i = 0; i < from->count; i++) {
		uint32_t seat = from->members[i];
		struct vm_coll *proxy = vm_coll_of(&view->meet, seat);

		if (!vm_coll_proxy_blocks(proxy, 1))
			return -VMPI_ENOMEM;
		*(struct vm_data *)proxy->temp =
			vm_data_bytes(at, view->sizes[seat]);
		at = at ? at + view->sizes[seat] : at;
	}
	return 0;
}

static int ring(struct vm_coll_view *view, const struct vm_data *all)
{
	int count = view->leaders->count, self = view->leaders->self;
	struct vm_leaders_data talk;

	vm_leaders_data_begin(&talk, &view->meet);
	for (int p = 0; p < count; p++)
		if (!all[p].addr && all[p].bytes)
			talk.error = -VMPI_ENOMEM;
	for (int k = 0; k < count - 1; k++) {
		int comes = (self - k - 1 + count) % count;
		int goes = (self - k + count) % count;

		vm_leaders_recv(&talk, (self - 1 + count) % count, &all[comes]);
		vm_leaders_send(&talk, (self + 1) % count, &all[goes]);
		vm_leaders_wait(&talk);
	}
	return vm_leaders_data_end(&talk);
}

static int allgather_relay(struct vm_coll_view *view)
{
	int count = view->leaders->count, self = view->leaders->self, rc;
	struct vm_data *all =
		vm_coll_view_memory(view, (size_t)count * sizeof(*all));
	bool own;

	if (!all)
		return -VMPI_ENOMEM;
	for (int p = 0; p < count; p++) {
		all[p] = gathered_place(view, p, &own);
		if (p == self)
			gathered_fill(view, &all[p], own);
	}
	rc = ring(view, all);
	for (int p = 0; p < count && rc == 0; p++)
		if (p != self)
			rc = gathered_proxy(view, p, &all[p]);
	return rc;
}

int vm_coll_relay(struct vm_coll_view *view)
{
	for (uint32_t i = 0; i < view->here->count; i++) {
		uint32_t seat = view->here->members[i];

		view->sizes[seat] =
			vm_coll_data_for(vm_coll_of(&view->meet, seat), 0)
				.bytes;
	}
	return view->any->kind->flow == VM_FLOW_BCAST ? bcast_relay(view) :
							allgather_relay(view);
}
