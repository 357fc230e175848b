/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses of several processes.
 *
 * The file between the first and the last byte is cut into a domain for each
 * process, and these into windows.  In each round every leader sends to each
 * other one what its members have in the window of the other's domain, or asks
 * for it and gets it back.
 */
#include "mpi/io/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "core/runtime/node.h"
#include "mpi/call/errh.h"
#include "mpi/io/cover.h"
#include "mpi/io/window.h"

/* Domains are multiples of this. */
#define DOMAIN_BYTES (64 << 10)

/* A piece of the file; behind it, in writes, its data. */
struct record {
	MPI_Offset at;
	uint64_t bytes;
};

/* How far a leader has come. */
struct verdict {
	MPI_Offset end; /* of what was moved in its domain, or of the file */
	int64_t error;	/* an errno */
};

struct bytes_of {
	char *base;
	size_t used, room;
};

struct exchange {
	const struct vm_io_joint *joint;
	MPI_Comm comm;
	int me, count;
	MPI_Offset share;	      /* bytes of a domain */
	struct vm_io_source *sources; /* of each domain so many as operations */
	struct vm_io_window window;
	struct bytes_of out, in;
	MPI_Count *out_bytes, *in_bytes; /* by leader */
	MPI_Aint *out_places, *in_places;
	struct verdict mine, *all;
};

static MPI_Offset domain_first(const struct exchange *x, int domain)
{
	return x->joint->first + x->share * domain;
}

static MPI_Offset least(MPI_Offset a, MPI_Offset b)
{
	return a < b ? a : b;
}

/* The end of the window of a round in a domain. */
static MPI_Offset round_end(const struct exchange *x, int domain,
			    MPI_Offset round)
{
	MPI_Offset first = domain_first(x, domain);
	MPI_Offset end = first + (round + 1) * (MPI_Offset)x->joint->most;

	return least(least(end, first + x->share), x->joint->end);
}

static struct vm_io_source *source_of(const struct exchange *x, int domain,
				      size_t i)
{
	return &x->sources[(size_t)domain * x->joint->count + i];
}

/* The bytes of an operation, domain by domain. */
static void sources_init(struct exchange *x, size_t i)
{
	struct vm_io_op *op = x->joint->ops[i];
	const struct vm_view *view = &op->file->view;
	MPI_Offset from = op->first, last = op->first + (MPI_Offset)op->bytes;
	struct vm_cursor memory;

	vm_cursor_init(&memory, &op->data);
	for (int domain = 0; domain < x->count; domain++) {
		struct vm_io_source *source = source_of(x, domain, i);
		MPI_Offset to = vm_view_byte(view, domain_first(x, domain + 1));
		size_t bytes, n;
		char *piece;

		to = least(to < from ? from : to, last);
		bytes = (size_t)(to - from);
		source->op = op;
		vm_view_walk_init(&source->walk, view, from, bytes);
		source->memory = memory;
		while (bytes && (n = vm_cursor_piece(&memory, &piece, bytes)))
			bytes -= n;
		from = to;
	}
}

static _Noreturn void no_memory(void)
{
	vm_node_abort(MPI_ERR_NO_MEM,
		      "rank %d: no memory for a collective access to a file",
		      vm_rank_self()->index);
}

/* Returns room for more bytes at the end of a buffer. */
static char *buffer_add(struct bytes_of *buffer, size_t bytes)
{
	size_t need = buffer->used + bytes, room = buffer->room;
	char *base;

	if (need > room) {
		room = need > 2 * room ? need : 2 * room;
		base = realloc(buffer->base, room);
		/* The others wait for what is to be sent. */
		if (!base)
			no_memory();
		buffer->base = base;
		buffer->room = room;
	}
	buffer->used = need;
	return buffer->base + need - bytes;
}

/* Says what an operation has before `end` in a domain, with the data of a write;
 * the source of a read stays where it is. */
static void source_pack(struct exchange *x, struct vm_io_source *source,
			MPI_Offset end)
{
	struct vm_view_walk walk = source->walk;
	bool write = x->joint->write;
	struct record record;
	MPI_Offset at;
	size_t n;
	char *place;

	while ((n = vm_view_walk_before(&walk, &at, end)) != 0) {
		record = (struct record){ .at = at, .bytes = n };
		place = buffer_add(&x->out, sizeof(record) + (write ? n : 0));
		memcpy(place, &record, sizeof(record));
		if (write)
			vm_io_source_copy(source, place + sizeof(record), n);
	}
	if (write)
		source->walk = walk;
}

/* For each other leader: what all operations have in its window. */
static void round_pack(struct exchange *x, MPI_Offset round)
{
	x->out.used = 0;
	for (int to = 0; to < x->count; to++) {
		MPI_Offset end = round_end(x, to, round);

		x->out_places[to] = (MPI_Aint)x->out.used;
		for (size_t i = 0; to != x->me && i < x->joint->count; i++)
			source_pack(x, source_of(x, to, i), end);
		x->out_bytes[to] = (MPI_Count)x->out.used - x->out_places[to];
	}
}

/* Sends what is packed, to places that the receivers know the sizes of. */
static int data_exchange(struct exchange *x)
{
	size_t bytes = 0;

	for (int from = 0; from < x->count; from++) {
		x->in_places[from] = (MPI_Aint)bytes;
		bytes += (size_t)x->in_bytes[from];
	}
	x->in.used = 0;
	buffer_add(&x->in, bytes);
	return PMPI_Alltoallv_c(x->out.base, x->out_bytes, x->out_places,
				MPI_BYTE, x->in.base, x->in_bytes, x->in_places,
				MPI_BYTE, x->comm);
}

static int round_exchange(struct exchange *x)
{
	int rc = PMPI_Alltoall(x->out_bytes, 1, MPI_COUNT, x->in_bytes, 1,
			       MPI_COUNT, x->comm);

	return rc ? rc : data_exchange(x);
}

/* Goes through the records of a leader; true: there is one more, at *place,
 * which moves on. */
static bool record_next(const struct exchange *x, int from, size_t *place,
			struct record *record)
{
	if (*place + sizeof(*record) > (size_t)x->in_bytes[from])
		return false;
	memcpy(record, x->in.base + x->in_places[from] + *place,
	       sizeof(*record));
	*place += sizeof(*record);
	return true;
}

/* Puts what the others have sent into the window; of a read, marks it. */
static void records_take(struct exchange *x)
{
	struct vm_io_window *window = &x->window;
	struct record record;

	for (int from = 0; from < x->count; from++) {
		const char *base = x->in.base + x->in_places[from];

		for (size_t at = 0; record_next(x, from, &at, &record);) {
			size_t place = (size_t)(record.at - window->first);

			vm_cover_set(window->bits, place, record.bytes);
			if (!x->joint->write)
				continue;
			memcpy(window->buffer + place, base + at, record.bytes);
			at += record.bytes;
		}
	}
}

static void window_go(struct exchange *x, MPI_Offset round)
{
	MPI_Offset end = round_end(x, x->me, round);
	MPI_Offset first =
		domain_first(x, x->me) + round * (MPI_Offset)x->joint->most;

	/* The last domains may be shorter than the others, or empty. */
	vm_io_window_go(&x->window, least(first, end), end);
}

static int write_round(struct exchange *x, MPI_Offset round)
{
	int rc;

	round_pack(x, round);
	rc = round_exchange(x);
	if (rc != MPI_SUCCESS)
		return rc;
	window_go(x, round);
	for (size_t i = 0; i < x->joint->count; i++)
		vm_io_window_copy(&x->window, source_of(x, x->me, i));
	records_take(x);
	if (x->mine.error)
		return 0;
	x->mine.error = vm_io_window_write(&x->window, &x->mine.end);
	if (!x->mine.error)
		x->mine.end = INT64_MAX;
	return 0;
}

/* Collects what the others have asked for. */
static void replies_pack(struct exchange *x)
{
	struct record record;

	x->out.used = 0;
	for (int to = 0; to < x->count; to++) {
		x->out_places[to] = (MPI_Aint)x->out.used;
		for (size_t at = 0; record_next(x, to, &at, &record);) {
			char *place = buffer_add(&x->out, record.bytes);

			memcpy(place,
			       x->window.buffer + (record.at - x->window.first),
			       record.bytes);
		}
		x->out_bytes[to] = (MPI_Count)x->out.used - x->out_places[to];
	}
}

/* How much is asked for of each other leader. */
static void replies_count(struct exchange *x, MPI_Offset round)
{
	for (int from = 0; from < x->count; from++) {
		MPI_Offset end = round_end(x, from, round), at;
		size_t n;

		x->in_bytes[from] = 0;
		for (size_t i = 0; from != x->me && i < x->joint->count; i++) {
			struct vm_view_walk walk = source_of(x, from, i)->walk;

			while ((n = vm_view_walk_before(&walk, &at, end)))
				x->in_bytes[from] += (MPI_Count)n;
		}
	}
}

/* Copies what has come to memory: what the other could read. */
static void replies_take(struct exchange *x, MPI_Offset round)
{
	for (int from = 0; from < x->count; from++) {
		MPI_Offset end = round_end(x, from, round), at;
		char *base = x->in.base + x->in_places[from];
		size_t n;

		for (size_t i = 0; from != x->me && i < x->joint->count; i++) {
			struct vm_io_source *source = source_of(x, from, i);

			while ((n = vm_view_walk_before(&source->walk, &at,
							end))) {
				MPI_Offset most = x->all[from].end - at;
				size_t copy =
					most < (MPI_Offset)n ?
						(most > 0 ? (size_t)most : 0) :
						n;

				vm_io_source_copy(source, base, copy);
				source->op->moved += copy;
				base += n;
			}
		}
	}
}

static int verdicts_exchange(struct exchange *x)
{
	int bytes = (int)sizeof(x->mine);

	return PMPI_Allgather(&x->mine, bytes, MPI_BYTE, x->all, bytes,
			      MPI_BYTE, x->comm);
}

static int read_round(struct exchange *x, MPI_Offset round)
{
	struct vm_io_window *window = &x->window;
	MPI_Offset end, at;
	int error, rc;

	round_pack(x, round);
	rc = round_exchange(x);
	if (rc != MPI_SUCCESS)
		return rc;
	window_go(x, round);
	for (size_t i = 0; i < x->joint->count; i++)
		vm_io_window_mark(window, source_of(x, x->me, i));
	records_take(x);
	x->mine.end = INT64_MAX;
	error = vm_io_window_read(window, &x->mine.end);
	if (error) {
		x->mine.error = error;
		x->mine.end = window->first;
	}
	rc = verdicts_exchange(x);
	if (rc != MPI_SUCCESS)
		return rc;
	replies_pack(x);
	replies_count(x, round);
	rc = data_exchange(x);
	if (rc != MPI_SUCCESS)
		return rc;
	replies_take(x, round);
	end = window->end;
	window->end = least(end, x->mine.end);
	for (size_t i = 0; i < x->joint->count; i++) {
		struct vm_io_source *source = source_of(x, x->me, i);

		vm_io_window_copy(window, source);
		/* What could not be read is over, too. */
		while (vm_view_walk_before(&source->walk, &at, end))
			;
	}
	return 0;
}

/* What was written of an operation: in each domain what lies before its
 * leader's end. */
static void op_count(const struct exchange *x, struct vm_io_op *op)
{
	struct vm_view_walk walk;
	MPI_Offset at;
	size_t n;

	vm_view_walk_init(&walk, &op->file->view, op->first, op->bytes);
	for (int domain = 0; domain < x->count; domain++) {
		MPI_Offset end = domain_first(x, domain + 1);

		while ((n = vm_view_walk_before(&walk, &at, end)) != 0) {
			MPI_Offset most = x->all[domain].end - at;

			if (most > 0)
				op->moved += (size_t)least(most, (MPI_Offset)n);
		}
	}
}

/* Tells the members how they fared; rc: the exchange broke off. */
static void ops_end(const struct exchange *x, int rc)
{
	int error = 0;

	for (int i = 0; i < x->count && !error && !rc; i++)
		error = (int)x->all[i].error;
	for (size_t i = 0; i < x->joint->count; i++) {
		struct vm_io_op *op = x->joint->ops[i];

		if (rc)
			op->class = vm_error_class(rc);
		else if (op->write)
			op_count(x, op);
		op->error = op->moved < op->bytes ? error : 0;
	}
}

static void exchange_open(struct exchange *x)
{
	const struct vm_io_joint *joint = x->joint;
	size_t n = (size_t)x->count, leaders = n * sizeof(MPI_Count);

	x->share = (joint->end - joint->first + x->count - 1) / x->count;
	/* Pages belong to one process. */
	x->share = (x->share + DOMAIN_BYTES - 1) / DOMAIN_BYTES * DOMAIN_BYTES;
	x->sources = malloc((joint->count * n + 1) * sizeof(*x->sources));
	x->all = malloc(n * sizeof(*x->all));
	x->out_bytes = malloc(leaders);
	x->in_bytes = malloc(leaders);
	x->out_places = malloc(leaders);
	x->in_places = malloc(leaders);
	if (!x->sources || !x->all || !x->out_bytes || !x->in_bytes ||
	    !x->out_places || !x->in_places || vm_io_window_open(&x->window))
		no_memory();
	for (size_t i = 0; i < joint->count; i++)
		sources_init(x, i);
}

static void exchange_close(struct exchange *x)
{
	vm_io_window_close(&x->window);
	free(x->out.base);
	free(x->in.base);
	free(x->sources);
	free(x->all);
	free(x->out_bytes);
	free(x->in_bytes);
	free(x->out_places);
	free(x->in_places);
}

int vm_io_exchange(struct vm_call *call, const struct vm_io_joint *joint)
{
	struct exchange x = {
		.joint = joint,
		.comm = joint->file->leaders,
		.window = { .disk = joint->file->disk,
			    .write = joint->write,
			    .sieve = joint->sieve,
			    .most = joint->most },
		.mine = { .end = INT64_MAX },
	};
	MPI_Offset rounds;
	int rc = 0;

	PMPI_Comm_rank(x.comm, &x.me);
	PMPI_Comm_size(x.comm, &x.count);
	exchange_open(&x);
	rounds = (least(x.share, joint->end - joint->first) +
		  (MPI_Offset)joint->most - 1) /
		 (MPI_Offset)joint->most;
	for (MPI_Offset round = 0; rc == 0 && round < rounds; round++)
		rc = joint->write ? write_round(&x, round) :
				    read_round(&x, round);
	if (rc == 0)
		rc = verdicts_exchange(&x);
	ops_end(&x, rc);
	exchange_close(&x);
	vm_wait_in(vm_self, VM_CALL_MPI_FIRST + call->id);
	if (rc != MPI_SUCCESS)
		return vm_error(call, vm_error_class(rc),
				"processes of the file are gone");
	return 0;
}
