/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and freeing windows.
 *
 * A window has a channel of its own, a copy of the communicator's.  On this the
 * members meet; one of them in each process puts what all offer into the table
 * that its members share.
 */
#include <limits.h>
#include <stdlib.h>

#include "core/comm/chan_make.h"
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"
#include "mpi/comm/split.h"
#include "mpi/win/far.h"

/* What a member says when a window is made; goes to other processes. */
struct offer {
	char *base;
	size_t bytes, unit;
	uint64_t number; /* of its end, if there are several processes */
	int error;	 /* it cannot: MPI_ERR_... */
	bool shared, noncontig;
};

/* A member's call. */
struct make {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_win *win;
};

static const struct offer *offer_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

static void all_fail(struct vm_meet *meet, int code, const char *why, size_t i)
{
	for (size_t j = 0; j < meet->size; j++)
		vm_coll_fail(vm_coll_of(meet, j), code, why, i);
}

/* Tells whether all can; otherwise all of them fail. */
static bool all_can(struct vm_meet *meet)
{
	const struct offer *first = offer_of(meet, 0);

	for (size_t i = 0; i < meet->size; i++) {
		const struct offer *offer = offer_of(meet, i);

		if (offer->error)
			all_fail(meet, offer->error,
				 "rank %zu has no memory for the window", i);
		else if (offer->noncontig != first->noncontig)
			all_fail(meet, MPI_ERR_INFO_VALUE,
				 "ranks 0 and %zu give different values of "
				 "alloc_shared_noncontig",
				 i);
		else
			continue;
		return false;
	}
	return true;
}

/* One block of memory for all, in the order of the members. */
static bool memory_share(struct vm_meet *meet, struct vm_window_team *team)
{
	size_t bytes = 0;

	for (size_t i = 0; i < meet->size; i++)
		if (__builtin_add_overflow(bytes, offer_of(meet, i)->bytes,
					   &bytes))
			return false;
	team->memory = vm_window_memory(bytes, true);
	bytes = 0;
	for (size_t i = 0; team->memory && i < meet->size; i++) {
		team->places[i].base = (char *)team->memory + bytes;
		bytes += offer_of(meet, i)->bytes;
	}
	return team->memory || !bytes;
}

static struct vm_window_team *team_make(struct vm_meet *meet)
{
	struct vm_window_team *team = vm_window_team_new(meet->size);

	for (size_t i = 0; team && i < meet->size; i++) {
		const struct offer *offer = offer_of(meet, i);
		struct vm_coll *coll = vm_coll_of(meet, i);

		team->places[i] = (struct vm_window_place){
			.base = offer->base,
			.reach = coll->owner ? offer->bytes : 0,
			.number = offer->number,
			.unit = offer->unit,
			.bytes = offer->bytes,
			.window = coll->owner ?
					  ((struct make *)coll)->win->window :
					  NULL,
		};
	}
	if (team && offer_of(meet, 0)->shared &&
	    !offer_of(meet, 0)->noncontig && !memory_share(meet, team)) {
		vm_window_team_drop(team);
		return NULL;
	}
	return team;
}

static void make_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	struct vm_window_team *team;
	int here = 0;

	if (!all_can(meet))
		return;
	team = team_make(meet);
	if (!team) {
		all_fail(meet, MPI_ERR_NO_MEM, "no memory for the window", 0);
		return;
	}
	for (size_t i = 0; i < meet->size; i++) {
		struct vm_coll *coll = vm_coll_of(meet, i);

		if (!coll->owner)
			continue;
		((struct make *)coll)->win->window->team = team;
		here++;
	}
	atomic_store_explicit(&team->refs, here, memory_order_relaxed);
}

static const struct vm_coll_kind kind_make = {
	.part = make_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

/* Fills in what the team says about the caller. */
static void place_take(struct vm_win *win)
{
	const struct vm_window_place *place;

	win->places = win->window->team->places;
	place = &win->places[win->comm.rank];
	win->base = place->base;
	win->bytes = (MPI_Aint)place->bytes;
	win->unit = (int)place->unit;
	if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		win->base = MPI_BOTTOM;
}

/* Returns an object on a copy of the parent's channel. */
static int win_new(struct vm_call *call, struct vm_comm *parent, int flavor,
		   struct vm_win **out)
{
	struct vm_chan *chan = NULL;
	struct vm_win *win;
	int rc = vm_comm_chan_split(call, parent, &chan, 0, 0);

	if (rc != 0)
		return rc;
	win = vm_object_new(call->mpi, VM_OBJECT_WIN, sizeof(*win));
	if (!win) {
		vm_chan_free(chan);
		return MPI_ERR_NO_MEM;
	}
	/* It has no handle yet. */
	vm_object_mark(&win->object, 0);
	vm_comm_init(&win->comm, chan);
	win->size = win->comm.size;
	win->flavor = flavor;
	win->model = MPI_WIN_UNIFIED;
	win->errh = vm_errh_hold(vm_errh_default());
	vm_win_hints_init(&win->hints);
	win->window = vm_window_new(call->mpi->rank, (size_t)chan->rank);
	*out = win;
	return 0;
}

static void win_discard(struct vm_mpi *mpi, struct vm_win *win)
{
	vm_win_clear(mpi, win);
	vm_object_free(mpi, VM_OBJECT_WIN, win);
}

/* Memory of the member's own, unless the members share a block. */
static void memory_make(struct vm_win *win, struct offer *offer)
{
	bool own =
		win->flavor == MPI_WIN_FLAVOR_ALLOCATE ||
		(win->flavor == MPI_WIN_FLAVOR_SHARED && win->hints.noncontig);

	if (!win->window)
		offer->error = MPI_ERR_NO_MEM;
	if (!win->window || !own || !offer->bytes)
		return;
	offer->base = vm_window_memory(offer->bytes, offer->shared);
	win->window->own = offer->base;
	if (!offer->base)
		offer->error = MPI_ERR_NO_MEM;
}

static int barrier(struct vm_call *call, struct vm_win *win)
{
	struct vm_coll coll;

	vm_coll_init(&coll, &vm_coll_barrier, call, &win->comm);
	return vm_coll_run(call, &coll);
}

/* Makes a window of the members of comm: 0 or an MPI error. */
static int win_make(struct vm_call *call, struct vm_comm *comm, MPI_Info info,
		    int flavor, struct offer *offer, MPI_Win *out)
{
	struct make make;
	struct vm_win *win;
	int rc = win_new(call, comm, flavor, &win);

	if (rc != 0)
		return rc;
	vm_win_hints_take(call, &win->hints, info);
	offer->shared = flavor == MPI_WIN_FLAVOR_SHARED;
	offer->noncontig = offer->shared && win->hints.noncontig;
	memory_make(win, offer);
	if (!offer->error && win->comm.chan->meet->leaders)
		offer->error = vm_far_open(win);
	offer->number = win->window ? win->window->number : 0;
	make.win = win;
	vm_comm_coll_init(&make.coll, &kind_make, call, &win->comm, offer,
			  sizeof(*offer));
	rc = vm_coll_run(call, &make.coll);
	/* Nobody sends to an end that does not know its team. */
	if (rc == 0 && win->comm.chan->meet->leaders)
		rc = barrier(call, win);
	if (rc != 0) {
		win_discard(call->mpi, win);
		return rc;
	}
	place_take(win);
	vm_object_mark(&win->object, VM_MAGIC_WIN);
	*out = (MPI_Win)win;
	return 0;
}

/* Checks the arguments that all flavours have. */
static int check_make(struct vm_call *call, MPI_Comm comm, MPI_Info info,
		      const MPI_Win *win, struct vm_comm **c)
{
	int rc = vm_check_intra(call, comm, c);

	if (rc == 0)
		rc = vm_check_hints(call, info);
	if (rc == 0)
		rc = vm_check_pointer(call, win, "win");
	return rc;
}

int vm_check_win_memory(struct vm_call *call, MPI_Aint size, MPI_Aint unit)
{
	if (size < 0)
		return vm_error(call, MPI_ERR_SIZE, "size %lld is negative",
				(long long)size);
	if (unit <= 0 || unit > INT_MAX)
		return vm_error(call, MPI_ERR_DISP,
				"disp_unit %lld is not from 1 to %d",
				(long long)unit, INT_MAX);
	return 0;
}

static int create(enum vm_call_id id, void *base, MPI_Aint size, MPI_Aint unit,
		  MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct vm_call call = vm_call_enter(id);
	struct offer offer = { .base = base,
			       .bytes = (size_t)size,
			       .unit = (size_t)unit };
	struct vm_comm *c;
	int rc = check_make(&call, comm, info, win, &c);

	if (rc == 0)
		rc = vm_check_win_memory(&call, size, unit);
	if (rc == 0 && !base && size > 0)
		rc = vm_error(&call, MPI_ERR_BASE, "base is NULL and size %lld",
			      (long long)size);
	call.id = VM_CALL_Win_create;
	if (rc == 0)
		rc = win_make(&call, c, info, MPI_WIN_FLAVOR_CREATE, &offer,
			      win);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info,
		    MPI_Comm comm, MPI_Win *win)
{
	return create(VM_CALL_Win_create, base, size, disp_unit, info, comm,
		      win);
}

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit,
		      MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	return create(VM_CALL_Win_create_c, base, size, disp_unit, info, comm,
		      win);
}

static int allocate(enum vm_call_id id, enum vm_call_id as, int flavor,
		    MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
		    void *baseptr, MPI_Win *win)
{
	struct vm_call call = vm_call_enter(id);
	struct offer offer = { .bytes = (size_t)size, .unit = (size_t)unit };
	struct vm_comm *c;
	int rc = check_make(&call, comm, info, win, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, baseptr, "baseptr");
	if (rc == 0)
		rc = vm_check_win_memory(&call, size, unit);
	/* The ranks may call the twins of a function for large counts. */
	call.id = as;
	if (rc == 0 && flavor == MPI_WIN_FLAVOR_SHARED &&
	    c->chan->meet->leaders)
		rc = vm_error(&call, MPI_ERR_RMA_SHARED,
			      "the ranks of %s are in several processes; "
			      "MPI_Comm_split_type makes communicators of "
			      "those that share memory",
			      vm_comm_text(call.mpi, c));
	if (rc == 0)
		rc = win_make(&call, c, info, flavor, &offer, win);
	if (rc == 0)
		*(void **)baseptr = vm_win_get(*win)->base;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info,
		      MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(VM_CALL_Win_allocate, VM_CALL_Win_allocate,
			MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm,
			baseptr, win);
}

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
			MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(VM_CALL_Win_allocate_c, VM_CALL_Win_allocate,
			MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm,
			baseptr, win);
}

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info,
			     MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(VM_CALL_Win_allocate_shared,
			VM_CALL_Win_allocate_shared, MPI_WIN_FLAVOR_SHARED,
			size, disp_unit, info, comm, baseptr, win);
}

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
			       MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(VM_CALL_Win_allocate_shared_c,
			VM_CALL_Win_allocate_shared, MPI_WIN_FLAVOR_SHARED,
			size, disp_unit, info, comm, baseptr, win);
}

/* Displacements are addresses; what is attached is looked up. */
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_create_dynamic);
	struct offer offer = { .unit = 1 };
	struct vm_comm *c;
	int rc = check_make(&call, comm, info, win, &c);

	if (rc == 0)
		rc = win_make(&call, c, info, MPI_WIN_FLAVOR_DYNAMIC, &offer,
			      win);
	return vm_call_exit(&call, comm, rc);
}

static int check_closed(struct vm_call *call, const struct vm_win *win)
{
	if (win->posted)
		return vm_error(call, MPI_ERR_RMA_SYNC,
				"the exposure epoch that MPI_Win_post began "
				"has not ended");
	if (win->epoch == VM_WIN_CLOSED ||
	    (win->epoch == VM_WIN_FENCE && !win->used))
		return 0;
	return vm_error(call, MPI_ERR_RMA_SYNC,
			"an access epoch has not ended");
}

int PMPI_Win_free(MPI_Win *win)
{
	struct vm_call call = vm_call_enter(VM_CALL_Win_free);
	struct vm_win *w;
	int rc = vm_check_pointer(&call, win, "win");

	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	rc = vm_check_win(&call, *win, &w);
	if (rc == 0)
		rc = check_closed(&call, w);
	if (rc == 0)
		rc = vm_attrs_delete(call.mpi, &w->attrs, *win);
	if (rc == 0)
		rc = vm_far_flush_all(&call, w);
	if (rc == 0)
		rc = barrier(&call, w);
	if (rc != 0)
		return vm_win_exit(&call, *win, rc);
	win_discard(call.mpi, w);
	*win = MPI_WIN_NULL;
	return MPI_SUCCESS;
}
