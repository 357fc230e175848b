/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of MPI in one rank: its phase, its predefined communicators, its
 * objects.
 *
 * vm_rank->mpi points to it from the rank's first MPI call to the rank's end.
 * Info objects, error codes and error handlers live as long, since programs may
 * use them before MPI_Init and after MPI_Finalize (MPI 4.1, 11.4.1); everything
 * else exists only in the phase RUNNING. All tasks and threads of the rank
 * share it.
 */
#ifndef MPI_CALL_STATE_H
#define MPI_CALL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "core/rank/chan.h"
#include "core/rank/rank.h"
#include "mpi.h"
#include "mpi/call/object.h"

struct vm_comm;
struct vm_errcodes;
struct vm_errh;
struct vm_fints;
struct vm_attrs;
struct vm_topo;
struct vm_graph;
struct vm_type_extra;
struct vm_ports;
struct vm_bsend;
struct vm_mpi_session;

/* Functions of a communicator's topology, set together with it by mpi/topo. */
struct vm_topo_ops {
	/* Copies the topology of `from` to `to`; false: out of memory. */
	bool (*copy)(struct vm_comm *to, const struct vm_comm *from);
	void (*drop)(struct vm_comm *comm);
};

/*
 * A communicator as one rank sees it.  The first line has what a message needs;
 * all members except errh, attrs and name are set at creation.
 */
struct vm_comm {
	struct vm_object object;
	uint32_t context;      /* point to point; context + 1: collectives */
	int rank, size;	       /* size: of the ranks that messages go to */
	uint32_t nbr_sequence; /* of the next neighbourhood collective */
	_Atomic uint32_t part_tags; /* given to partitioned messages */
	struct vm_rank **ranks;	    /* in chan->group->ranks */
	/* An intercommunicator's channel connects both sides, one after the
	 * other; size and ranks are those of the remote side. */
	bool inter;
	int local_size; /* of the own side; else size */
	int first;	/* where the own side begins in chan->group; else 0 */
	struct vm_chan *chan;
	struct vm_mpi_session *session;	    /* it stems from it; or NULL */
	struct vm_errh *errh;		    /* holds a reference */
	struct vm_attrs *attrs;		    /* NULL: none */
	struct vm_bsend *bsend;		    /* NULL: no buffer is attached */
	const struct vm_topo_ops *topo_ops; /* NULL: no topology */
	struct vm_topo *topo;		    /* Cartesian; NULL: none */
	struct vm_graph *graph;		    /* NULL: none */
	char *name;			    /* NULL: none was set */
};

/* Returns the size of an intercommunicator's first side; 0 for an
 * intracommunicator. */
static inline int vm_comm_first_size(const struct vm_comm *comm)
{
	if (!comm->inter)
		return 0;
	return comm->first ? comm->size : comm->local_size;
}

/* The least count or tag of a plain message (mpi/p2p/route.h): 0; INT_MAX while
 * types are compared, so that there is none. */
extern VM_HIDDEN _Atomic int vm_mpi_plain_from;

enum vm_mpi_phase { VM_MPI_BEFORE, VM_MPI_RUNNING, VM_MPI_AFTER };

struct vm_mpi {
	/* RUNNING: calls are possible, between MPI_Init and MPI_Finalize or
	 * while there are sessions. */
	enum vm_mpi_phase phase;
	enum vm_mpi_phase world_phase; /* of MPI_Init and MPI_Finalize */
	int sessions;
	_Atomic bool turning; /* a thread begins or ends the phase */
	int thread_level;
	struct vm_comm world, self;
	struct vm_errh *file_errh; /* of MPI_FILE_NULL; holds a reference */
	struct vm_comm *parent;	   /* of those that started the rank; or NULL */
	struct vm_rank *rank;
	struct vm_ult *main_task; /* the one that called MPI_Init */
	struct vm_bsend *bsend;	  /* NULL: no buffer is attached */
	/* Waits until a buffer's messages are sent and detaches it; set by
	 * mpi/p2p with the first buffer.  0 or an MPI error. */
	int (*bsend_end)(struct vm_bsend **slot);
	/* Values that predefined attributes point to. */
	int tag_ub, io, host, wtime_is_global, appnum, last_code, universe_size;
	/* Guards the lists; never held across a switch. */
	struct vm_lock lock;
	struct vm_list alive[VM_OBJECTS], spare[VM_OBJECTS];
	int keyval_next;
	struct vm_errcodes *errcodes; /* that the program added, or NULL */
	struct vm_fints *fints; /* handles converted to integers, or NULL */
	/* What Waitany and Testany gave last (request.c): the array, and the
	 * index after it with its request.  A hint: any thread of the rank
	 * writes them, relaxed, and they may be of different calls. */
	_Atomic uintptr_t any_array, any_request;
	_Atomic int any_next;
	struct vm_type_extra *type_extras; /* of predefined types, or NULL */
	struct vm_ports *ports;		   /* mpi/dynamic/port.h; or NULL */
	_Atomic int tools; /* MPI_T_init_thread() without MPI_T_finalize() */
	/* Called when a rank terminates, to end the phase RUNNING (mpi/phase.c)
	 * and its use of MPI_T (mpi/tool).  NULL: not begun. */
	void (*stop)(struct vm_mpi *mpi), (*tools_end)(struct vm_mpi *mpi);
};

/* Returns the caller's state; NULL before the rank's first MPI call and outside
 * any rank. */
static inline struct vm_mpi *vm_mpi_self(void)
{
	struct vm_rank *rank = vm_rank_self();

	return VM_LIKELY(rank != NULL) ? rank->mpi : NULL;
}

/* Returns the calling rank's phase between MPI_Init and MPI_Finalize. */
enum vm_mpi_phase vm_mpi_phase(void);

/* Returns the state of rank, created on first use; NULL when out of memory. */
struct vm_mpi *vm_mpi_of(struct vm_rank *rank);

#endif
