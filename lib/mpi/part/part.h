/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication: a persistent request whose buffer is sent, and
 * arrives, in partitions (MPI 4.1, chapter 4).
 *
 * Each partition of the sender is one message, whatever the partitions of the
 * receiver.  When it is made, the sending side sends an introduction: how many
 * there are, and the first of their tags.  Begin here; then send.c and recv.c.
 */
#ifndef MPI_PART_PART_H
#define MPI_PART_PART_H

#include <stdatomic.h>

#include "core/comm/p2p.h"
#include "mpi/call/check.h"
#include "mpi/call/persist.h"
#include "mpi/type/type.h"

struct vm_part;

/* One message.  Any thread completes it. */
struct vm_part_piece {
	struct vm_part *part;
	struct vm_data data; /* holds a reference on its layout */
	_Atomic bool ready;  /* MPI_Pready was called */
	_Atomic bool done;
};

/* What the sender says first. */
struct vm_part_intro {
	uint64_t bytes; /* of one partition */
	int32_t partitions;
	uint32_t tag; /* of the first, then one more each */
};

struct vm_part {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_req *req;	   /* of the user */
	struct vm_rank *peer;	   /* NULL: MPI_PROC_NULL */
	struct vm_env env;	   /* of the introduction */
	struct vm_type *type;	   /* held */
	void *buf;
	int partitions;
	size_t count; /* elements of all partitions */
	size_t bytes; /* of one */
	/* Set before pieces is; a receive learns them from the sender. */
	struct vm_part_intro intro;
	_Atomic(struct vm_part_piece *) pieces; /* NULL: not known yet */
	struct vm_req *intro_req; /* of a receive, until it is complete */
	int failed;		  /* why pieces stays NULL; 0: it may come */
	/* Of this round: pieces that are not complete, and one until it has
	 * begun; the first error. */
	_Atomic size_t missing;
	_Atomic int error;
};

/* Tags of partitioned messages in the context of collectives: those of
 * introductions, by the user's tag, and those of pieces. */
#define VM_PART_TAG_MASK 0x1fffffff
#define VM_PART_INTRO_TAG 0x40000000
#define VM_PART_PIECE_TAG 0x60000000

static inline struct vm_env vm_part_piece_env(const struct vm_part *part, int i)
{
	uint32_t tag = (part->intro.tag + (uint32_t)i) & VM_PART_TAG_MASK;

	return (struct vm_env){ .context = part->env.context,
				.source = part->env.source,
				.tag = (int32_t)(VM_PART_PIECE_TAG | tag) };
}

/* A round begins, of which no piece is complete. */
void vm_part_begin(struct vm_part *part);

/* One of those missing is there, or has failed: the last one completes the
 * request, which may then be freed with the part. */
void vm_part_count(struct vm_part *part, int error);

/* A piece is complete, or cannot be. */
void vm_part_piece_end(struct vm_part_piece *piece, int error);

/* The same for the request of a piece, which is given up: its user is the
 * piece. */
void vm_part_piece_watch(struct vm_part_piece *piece, struct vm_req *req);

/* Room for n pieces, zeroed; NULL when out of memory. */
struct vm_part_piece *vm_part_pieces_new(struct vm_part *part, int n);
void vm_part_pieces_free(struct vm_part_piece *pieces, int n);

/* The next `bytes` bytes of a buffer; layout NULL when out of memory. */
struct vm_data vm_part_slice(struct vm_cursor *cursor, void *buf, size_t bytes);

/* MPI_Psend_init or MPI_Precv_init of one element, whose bytes are divided. */
int vm_part_init_whole(MPI_Request *request, bool send, void *buf,
		       int partitions, MPI_Datatype whole, int peer, int tag,
		       MPI_Comm comm, MPI_Info info);

/* Functions of the two sides: what a request needs when it is made (0, an MPI
 * error, or a negative code of core), and MPI_Start. */
int vm_part_send_init(struct vm_part *part, struct vm_comm *comm);
int vm_part_send_start(struct vm_req *req, struct vm_persist *persist);
int vm_part_recv_init(struct vm_part *part);
int vm_part_recv_start(struct vm_req *req, struct vm_persist *persist);

/* Sends a partition: errors end it. */
void vm_part_send_piece(struct vm_part *part, int i);

/* Whether all of a partition of the receiver has arrived. */
bool vm_part_arrived(const struct vm_part *part, int partition);

/* Gives up an introduction that has not come. */
void vm_part_recv_end(struct vm_part *part);

#endif
