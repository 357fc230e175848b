/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and freeing windows.
 *
 * A window has a channel of its own, a copy of the communicator's.  On this the
 * members meet; one of them in each process puts what all offer into the table
 * that its members share (team.h).
 */
#include "mpi/win/make.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/meeting/chan_make.h"
#include "core/remote/agent.h"
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"
#include "mpi/comm/split.h"
#include "mpi/win/far/far.h"
#include "mpi/win/far/move.h"
#include "mpi/win/far/slot.h"
#include "mpi/win/team.h"

static const struct vm_coll_kind kind_make = {
	.part = vm_win_team_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

/* Each member hears whether all reach what they share. */
static void agree_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	bool partial = false;

	vm_win_team_can(meet);
	for (size_t i = 0; i < meet->size; i++) {
		const struct vm_win_offer *offer =
			vm_comm_coll_brought(vm_coll_of(meet, i));

		partial |= offer->partial;
	}
	for (size_t i = 0; i < meet->size; i++) {
		struct vm_win_make *make =
			(struct vm_win_make *)vm_coll_of(meet, i);

		if (make->coll.owner)
			make->partial = partial;
	}
}

/* A second meeting: who could not, after the first, and nobody sends to an end
 * that does not know its team. */
static const struct vm_coll_kind kind_agree = {
	.part = agree_part,
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
	vm_bias_init(&win->locks);
	win->window = vm_window_new(call->mpi->rank, (size_t)chan->rank);
	win->access = calloc((size_t)win->size, sizeof(*win->access));
	*out = win;
	return 0;
}

void vm_win_clear(struct vm_mpi *mpi, struct vm_win *win)
{
	vm_attrs_free(mpi, &win->attrs);
	if (win->far)
		vm_agent_lasting_end();
	if (win->errh)
		vm_errh_drop(mpi, win->errh);
	vm_far_close(win);
	if (win->window)
		vm_window_free(win->window);
	vm_chan_free(win->comm.chan);
	free(win->access);
	free(win->targets);
	free(win->origins);
	free(win->name);
}

static void win_discard(struct vm_mpi *mpi, struct vm_win *win)
{
	vm_win_clear(mpi, win);
	vm_object_free(mpi, VM_OBJECT_WIN, win);
}

/* Whether the caller makes the file of a window of several processes: that of
 * shared memory is member 0's, each process has one for what it allocates, or
 * for its words. */
static bool makes_file(const struct vm_win *win)
{
	const struct vm_leaders *leaders = win->comm.chan->meet->leaders;

	if (win->flavor == MPI_WIN_FLAVOR_SHARED)
		return win->comm.rank == 0;
	return (int)leaders->processes[leaders->self].members[0] ==
	       win->comm.rank;
}

/* Memory of the member's own, where no other process maps it; *file is that of
 * what processes share. */
static void memory_make(struct vm_win *win, struct vm_win_offer *offer,
			bool far, int *file)
{
	bool shared = win->flavor == MPI_WIN_FLAVOR_SHARED;
	bool own = win->flavor == MPI_WIN_FLAVOR_ALLOCATE ||
		   (shared && win->hints.noncontig);
	const char *why;

	if (!win->window || !win->access) {
		offer->error = MPI_ERR_NO_MEM;
		return;
	}
	if (far && makes_file(win)) {
		*file = vm_window_share_make(&offer->share, &why);
		/* What is allocated can be memory of the process. */
		if (*file < 0 && shared)
			offer->error = MPI_ERR_NO_MEM;
	}
	if (far || !own || !offer->bytes)
		return;
	offer->base = vm_window_memory(offer->bytes,
				       shared ? (size_t)sysconf(_SC_PAGESIZE) :
						offer->align);
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

/* The meetings in which the window is made. */
static int members_meet(struct vm_call *call, struct vm_win *win,
			struct vm_win_offer *offer, bool far)
{
	struct vm_win_make make = { .win = win, .far = far };
	struct vm_win_offer ready = *offer;
	int rc;

	vm_comm_coll_init(&make.coll, &kind_make, call, &win->comm, offer,
			  sizeof(*offer));
	rc = vm_coll_run(call, &make.coll);
	if (rc == 0 && make.error == MPI_ERR_RMA_SHARED)
		rc = vm_error(call, make.error,
			      "memory of rank 0 is not reached: %s", make.why);
	else if (rc == 0 && make.error)
		rc = vm_error(call, make.error, "no memory for the window");
	if (!far || (rc != 0 && !make.error))
		return rc;
	ready.error = make.error;
	ready.partial = make.partial;
	vm_comm_coll_init(&make.coll, &kind_agree, call, &win->comm, &ready,
			  sizeof(ready));
	rc = vm_coll_run(call, &make.coll);
	win->tells = !make.partial && !make.error &&
		     win->window->team->places[win->comm.rank].told;
	return make.error ? make.error : rc;
}

/* More processes had better not tell each other one by one. */
#define FEW 16

/* Ranks that fail alone end no waits at windows. */
static bool is_few(const struct vm_win *win)
{
	return win->size <= FEW && !vm_node->apart &&
	       win->comm.chan->meet->leaders->count == win->size;
}

/* Makes a window of the members of comm: 0 or an MPI error. */
static int win_make(struct vm_call *call, struct vm_comm *comm, MPI_Info info,
		    int flavor, struct vm_win_offer *offer, MPI_Win *out)
{
	bool far = comm->chan->meet->leaders != NULL;
	struct vm_win *win;
	int rc = win_new(call, comm, flavor, &win), file = -1;

	if (rc != 0)
		return rc;
	vm_win_hints_take(call, &win->hints, info);
	offer->shared = flavor == MPI_WIN_FLAVOR_SHARED;
	offer->noncontig = offer->shared && win->hints.noncontig;
	if (flavor != MPI_WIN_FLAVOR_ALLOCATE && !offer->noncontig)
		win->hints.alignment = 0;
	offer->align = (uint32_t)win->hints.alignment;
	memory_make(win, offer, far, &file);
	if (!offer->error && far)
		offer->error = vm_far_open(win);
	offer->number = win->window ? win->window->number : 0;
	rc = members_meet(call, win, offer, far);
	if (file >= 0)
		close(file);
	if (rc != 0) {
		win_discard(call->mpi, win);
		return rc;
	}
	place_take(win);
	vm_far_slots_open(win);
	vm_far_moves_open(win);
	win->few = far && is_few(win);
	win->far = far;
	if (far)
		vm_agent_lasting_begin();
	vm_object_mark(&win->object, VM_MAGIC_WIN);
	*out = (MPI_Win)win;
	return 0;
}

/* Checks the arguments that all flavours have. */
static int check_make(struct vm_call *call, MPI_Comm comm, MPI_Info info,
		      const MPI_Win *win, struct vm_comm **c)
{
	int rc = vm_check_together(call, comm, c);

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
	struct vm_win_offer offer = { .base = base,
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
	struct vm_win_offer offer = { .bytes = (size_t)size,
				      .unit = (size_t)unit };
	struct vm_comm *c;
	int rc = check_make(&call, comm, info, win, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, baseptr, "baseptr");
	if (rc == 0)
		rc = vm_check_win_memory(&call, size, unit);
	/* The ranks may call the twins of a function for large counts. */
	call.id = as;
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
	struct vm_win_offer offer = { .unit = 1 };
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
	if (vm_win_load(win->epoch) == VM_WIN_CLOSED ||
	    (vm_win_load(win->epoch) == VM_WIN_FENCE &&
	     !vm_win_load(win->used)))
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
