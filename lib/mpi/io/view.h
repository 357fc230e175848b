/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views: which bytes of a file a member sees (MPI 4.1, 14.3).
 *
 * The bytes that a view shows are one stream: those of the filetype, again and
 * again.  A walk goes along the stream and says where its bytes lie in the file.
 */
#ifndef MPI_IO_VIEW_H
#define MPI_IO_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi/call/call.h"
#include "mpi/type/type.h"

struct vm_datarep;

struct vm_view {
	MPI_Offset disp;
	struct vm_type *etype, *filetype; /* holds references */
	const struct vm_datarep *rep;	  /* NULL: that of memory */
	struct vm_type *shown; /* the filetype as it is in the file; a
				  reference */
	size_t unit;	       /* bytes of an etype */
	MPI_Offset base; /* where the first element of the layout begins */
	const struct vm_layout *layout; /* the filetype's; NULL: the stream is
					   in one piece */
	size_t *before; /* by run of the layout: the bytes before it */
	bool empty;	/* there are no bytes in the filetype */
	bool sorted;	/* the stream never goes back in the file */
};

/* Makes the view of checked types; 0, or an MPI error if the filetype is
 * none.  writes: the view is written to. */
int vm_view_init(struct vm_call *call, struct vm_view *view, MPI_Offset disp,
		 struct vm_type *etype, struct vm_type *filetype,
		 const struct vm_datarep *rep, bool writes);
void vm_view_fini(struct vm_view *view);

/* The number of pieces in an element of the layout, which there is. */
size_t vm_view_pieces(const struct vm_view *view);

/* Has a view that begins at MPI_DISPLACEMENT_CURRENT begin here. */
void vm_view_shift(struct vm_view *view, MPI_Offset to);

/* The stream from a byte of it on: so many bytes. */
struct vm_view_walk {
	const struct vm_view *view;
	MPI_Offset base; /* of the element, or of what is left of the piece */
	size_t run, block, used;
	size_t left;
};

/* Checks that the bytes are in reach of offsets: 0, or MPI_ERR_ARG. */
int vm_check_stream(struct vm_call *call, const struct vm_view *view,
		    MPI_Offset first, size_t bytes);

void vm_view_walk_init(struct vm_view_walk *walk, const struct vm_view *view,
		       MPI_Offset first, size_t bytes);

/* The next contiguous piece of at most `most` bytes; 0 at the end. */
size_t vm_view_walk_piece(struct vm_view_walk *walk, MPI_Offset *at,
			  size_t most);

/* Where a byte of the stream is in the file. */
MPI_Offset vm_view_place(const struct vm_view *view, MPI_Offset byte);

/* Returns the first byte of the stream that is at `end` or behind. */
MPI_Offset vm_view_byte(const struct vm_view *view, MPI_Offset end);

/* Returns the first etype that begins at `end` or behind. */
MPI_Offset vm_view_behind(const struct vm_view *view, MPI_Offset end);

#endif
