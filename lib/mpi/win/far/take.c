/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets of windows that have come: applied by who polls, for the member that
 * they are for.
 *
 * Every field is checked: the memory has to be the window's, or attached to it,
 * the type and the operation predefined.
 */
#include <stdlib.h>

#include "core/window/claim.h"
#include "core/window/haul.h"
#include "core/window/post.h"
#include "core/window/region.h"
#include "core/window/wait.h"
#include "mpi/win/object/atomic.h"
#include "mpi/win/far/wire.h"

/* The sender's end: of a row alone the header has none. */
static uint64_t sender(const struct vm_window_packet *packet)
{
	const struct vm_window_team *team = packet->window->team;
	bool row = packet->head.what <= VM_FAR_swap &&
		   (packet->head.flag & VM_FAR_ONE);

	if (!row)
		return packet->head.from;
	return packet->head.member < team->size ?
		       team->places[packet->head.member].number :
		       0;
}

/* An answer goes back to where its question came from. */
static void answer(const struct vm_window_packet *packet, enum vm_far_kind what,
		   uint8_t flag, const void *data, size_t bytes)
{
	struct vm_window_head head = {
		.to = sender(packet),
		.from = packet->head.to,
		.member = (uint32_t)packet->window->rank,
		.sequence = packet->head.sequence,
		.what = (uint8_t)what,
		.flag = flag,
	};

	/* One that is gone needs no answer. */
	vm_window_send(packet->port, packet->from, &head, data, bytes);
}

/* Whether bytes belong to the member's memory. */
static bool is_owned(struct vm_window *window, uint64_t at, uint64_t bytes)
{
	const struct vm_window_place *own = &window->team->places[window->rank];
	uint64_t offset = at - (uintptr_t)own->base;

	if (own->bytes && offset <= own->bytes && bytes <= own->bytes - offset)
		return true;
	return vm_window_attached(window, (uintptr_t)at, (size_t)bytes);
}

/* The rows of a packet, in turn. */
struct rows {
	const struct vm_window_packet *packet;
	const struct vm_far_run *runs;
	uint32_t count;
	struct vm_far_run one;
	uintptr_t origin; /* what their places are counted from */
	const struct vm_type *type;
	const struct vm_op *op;
	const char *data; /* behind the runs, */
	size_t bytes;	  /* so many */
	size_t total;	  /* of all elements */
};

static void *row_at(const struct rows *rows, const struct vm_far_run *run)
{
	return (void *)(rows->origin + (uintptr_t)run->at);
}

/* Checks a packet of rows: 0 or an MPI error. */
static int rows_open(struct rows *rows, const struct vm_window_packet *packet,
		     bool has_data)
{
	const struct vm_window_head *head = &packet->head;
	size_t runs = 0, element;

	*rows = (struct rows){
		.packet = packet,
		.runs = packet->data,
		.count = head->runs,
		.origin = vm_far_origin(packet->window->team,
					packet->window->rank),
	};
	rows->type = vm_type_builtin[head->type];
	rows->op = head->op < VM_OP_BUILTINS ? vm_op_builtin[head->op] : NULL;
	if (head->flag & VM_FAR_ONE) {
		rows->one = (struct vm_far_run){ head->from, head->runs };
		rows->runs = &rows->one;
		rows->count = 1;
	} else {
		runs = rows->count * sizeof(struct vm_far_run);
	}
	if (rows->count > VM_FAR_RUNS || runs > packet->bytes || !rows->type ||
	    !rows->type->size)
		return MPI_ERR_INTERN;
	rows->data = (const char *)packet->data + runs;
	rows->bytes = packet->bytes - runs;
	element = (size_t)rows->type->extent;
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct vm_far_run *run = &rows->runs[i];

		if (run->count > vm_window_packet_bytes() / element)
			return MPI_ERR_INTERN;
		if (!is_owned(packet->window, rows->origin + run->at,
			      run->count * element))
			return MPI_ERR_RMA_RANGE;
		rows->total += run->count * element;
	}
	if (rows->total > vm_window_packet_bytes() ||
	    (has_data && rows->total != rows->bytes))
		return MPI_ERR_INTERN;
	return 0;
}

/* Notes for the next question what one of the sender's packets was refused
 * for. */
static void refuse(const struct vm_window_packet *packet, int error)
{
	struct vm_window *window = packet->window;
	struct vm_window_far *far = window->far;

	if (!error || packet->head.member >= window->team->size)
		return;
	if (!far[packet->head.member].refused)
		far[packet->head.member].refused = (uint8_t)error;
}

/* Takes what has been refused since the sender was told last. */
static uint8_t refused(const struct vm_window_packet *packet)
{
	struct vm_window_far *far = packet->window->far;
	uint8_t error = far[packet->head.member].refused;

	far[packet->head.member].refused = 0;
	return error;
}

/* The sender's place in memory that is shared, if it wants to be told there;
 * or NULL. */
static const struct vm_window_place *
teller(const struct vm_window_packet *packet)
{
	const struct vm_window_team *team = packet->window->team;
	const struct vm_window_place *place;

	if (!(packet->head.flag & VM_FAR_TELL) ||
	    packet->head.member >= team->size)
		return NULL;
	place = &team->places[packet->head.member];
	return place->told ? place : NULL;
}

/* The sender is told that this is done, and all that came before. */
static void tell(const struct vm_window_packet *packet)
{
	const struct vm_window_place *place = teller(packet);

	if (place)
		vm_window_tell(&place->told[packet->window->rank],
			       packet->head.sequence, refused(packet));
}

/* Where the data of an answer are put together: in the sender's place, or in
 * memory of ours that has so many bytes; 0 or MPI_ERR_... */
struct reply {
	struct vm_window_reply *place; /* or NULL */
	char *data;
};

static int reply_open(struct reply *reply,
		      const struct vm_window_packet *packet, size_t bytes)
{
	const struct vm_window_place *place = teller(packet);

	reply->place = NULL;
	if (place && bytes <= VM_WINDOW_REPLY_BYTES) {
		reply->place = vm_window_reply(place, packet->head.sequence);
		reply->data = vm_window_reply_data(place, packet->head.sequence,
						   bytes);
		return 0;
	}
	reply->data = malloc(bytes + 1);
	return reply->data ? 0 : MPI_ERR_NO_MEM;
}

/* Answers; the data count only without an error. */
static void reply_close(struct reply *reply,
			const struct vm_window_packet *packet, size_t bytes,
			int error)
{
	if (reply->place) {
		vm_window_tell(&reply->place->told, packet->head.sequence,
			       (uint32_t)error);
		return;
	}
	answer(packet, VM_FAR_answer, (uint8_t)error, reply->data,
	       error ? 0 : bytes);
	free(reply->data);
}

static void take_put(const struct vm_window_packet *packet)
{
	struct rows rows;
	int rc = rows_open(&rows, packet, true);
	const char *data = rows.data;

	for (uint32_t i = 0; rc == 0 && i < rows.count; i++) {
		const struct vm_far_run *run = &rows.runs[i];

		memcpy(row_at(&rows, run), data, run->count);
		data += run->count;
	}
	refuse(packet, rc);
	tell(packet);
}

static void take_get(const struct vm_window_packet *packet)
{
	struct reply reply;
	struct rows rows;
	int rc = rows_open(&rows, packet, false), opened;
	char *at;

	opened = reply_open(&reply, packet, rc == 0 ? rows.total : 0);
	rc = rc ? rc : opened;
	at = reply.data;
	for (uint32_t i = 0; rc == 0 && i < rows.count; i++) {
		const struct vm_far_run *run = &rows.runs[i];

		vm_copy(at, row_at(&rows, run), run->count);
		at += run->count;
	}
	reply_close(&reply, packet, rows.total, rc);
}

/* Whether the operation may be applied to the type. */
static bool op_fits(const struct rows *rows)
{
	uint8_t number = rows->packet->head.op;

	if (!rows->op)
		return false;
	return (rows->op->families & rows->type->family) ||
	       number == (uintptr_t)MPI_REPLACE - (uintptr_t)MPI_OP_NULL ||
	       number == (uintptr_t)MPI_NO_OP - (uintptr_t)MPI_OP_NULL;
}

/* Updates the rows; the old values go to `old`, unless it is NULL. */
static void rows_update(const struct rows *rows, char *old)
{
	struct vm_atomic how = { rows->op, rows->type,
				 rows->packet->window->common };
	const char *data = rows->bytes ? rows->data : NULL;

	for (uint32_t i = 0; i < rows->count; i++) {
		const struct vm_far_run *run = &rows->runs[i];
		size_t bytes = run->count * (size_t)rows->type->extent;

		vm_atomic_update(&how, row_at(rows, run), data, old,
				 run->count);
		if (data)
			data += bytes;
		if (old)
			old += bytes;
	}
}

static bool reads(const struct vm_window_packet *packet)
{
	return packet->head.op != (uintptr_t)MPI_NO_OP - (uintptr_t)MPI_OP_NULL;
}

/* Checks a packet of updates: 0 or an MPI error. */
static int update_open(struct rows *rows, const struct vm_window_packet *packet)
{
	int rc = rows_open(rows, packet, reads(packet));

	return rc == 0 && !op_fits(rows) ? MPI_ERR_INTERN : rc;
}

static void take_update(const struct vm_window_packet *packet)
{
	struct rows rows;
	int rc = update_open(&rows, packet);

	if (rc == 0)
		rows_update(&rows, NULL);
	refuse(packet, rc);
	tell(packet);
}

static void take_fetch(const struct vm_window_packet *packet)
{
	struct reply reply;
	struct rows rows;
	int rc = update_open(&rows, packet), opened;

	opened = reply_open(&reply, packet, rc == 0 ? rows.total : 0);
	rc = rc ? rc : opened;
	if (rc == 0)
		rows_update(&rows, reply.data);
	reply_close(&reply, packet, rows.total, rc);
}

static void take_swap(const struct vm_window_packet *packet)
{
	struct reply reply;
	struct rows rows;
	int rc = rows_open(&rows, packet, false), opened;
	size_t size = rc == 0 ? rows.type->size : 0;

	if (rc == 0 && (rows.count != 1 || rows.runs->count != 1 ||
			rows.bytes != 2 * size))
		rc = MPI_ERR_INTERN;
	opened = reply_open(&reply, packet, size);
	rc = rc ? rc : opened;
	if (rc == 0)
		vm_atomic_swap(rows.type, packet->window->common,
			       row_at(&rows, rows.runs), rows.data,
			       rows.data + size, reply.data);
	reply_close(&reply, packet, size, rc);
}

static struct vm_far_question *question_find(struct vm_window *window,
					     uint32_t sequence)
{
	struct vm_list *link;

	vm_list_each(link, &window->questions) {
		struct vm_far_question *question =
			vm_container_of(link, struct vm_far_question, link);

		if (question->sequence == sequence)
			return question;
	}
	return NULL;
}

/* Stores an answer's data: as much as is wanted and has come. */
static void answer_store(struct vm_rows *into, const char *data, size_t bytes)
{
	size_t extent = (size_t)into->basic->extent, n;

	while (bytes >= extent && (n = vm_rows_next(into)) != 0) {
		if (n > bytes / extent)
			n = bytes / extent;
		memcpy(into->at, data, n * extent);
		data += n * extent;
		bytes -= n * extent;
		vm_rows_skip(into, n);
	}
}

static void take_answer(const struct vm_window_packet *packet)
{
	struct vm_window *window = packet->window;
	struct vm_far_question *question;

	vm_lock_take(&window->lock);
	question = question_find(window, packet->head.sequence);
	if (question && question->left) {
		if (packet->head.flag && !question->error)
			question->error = packet->head.flag;
		else if (question->into)
			answer_store(question->into, packet->data,
				     packet->bytes);
		question->left--;
	}
	vm_window_wake(window);
}

static void take_ask(const struct vm_window_packet *packet)
{
	if (packet->head.member >= packet->window->team->size)
		return;
	if (packet->head.flag & VM_FAR_TELL)
		tell(packet);
	else
		answer(packet, VM_FAR_done, refused(packet), NULL, 0);
}

static void take_done(const struct vm_window_packet *packet)
{
	struct vm_window *window = packet->window;
	struct vm_window_far *far = window->far;

	if (packet->head.member >= window->team->size)
		return;
	far += packet->head.member;
	vm_lock_take(&window->lock);
	far->acks++;
	vm_far_fault(far, packet->head.flag);
	vm_window_wake(window);
}

/* A lock that a member of another process wants. */
struct far_claim {
	struct vm_window_claim claim;
	struct vm_window_packet packet;
};

static void claim_granted(struct vm_window_claim *claim, int error)
{
	struct far_claim *far = vm_container_of(claim, struct far_claim, claim);

	if (!error)
		answer(&far->packet, VM_FAR_answer, 0, NULL, 0);
	free(far);
}

static void take_lock(const struct vm_window_packet *packet)
{
	struct far_claim *far = malloc(sizeof(*far));

	if (!far) {
		answer(packet, VM_FAR_answer, MPI_ERR_NO_MEM, NULL, 0);
		return;
	}
	far->packet = *packet;
	far->claim = (struct vm_window_claim){
		.exclusive = packet->head.flag != 0,
		.granted = claim_granted,
	};
	if (vm_window_claim(packet->window, &far->claim))
		claim_granted(&far->claim, 0);
}

static void take_unlock(const struct vm_window_packet *packet)
{
	vm_window_unlock(packet->window, packet->head.flag != 0);
}

static void take_grant(const struct vm_window_packet *packet)
{
	vm_window_grant(packet->window);
}

static const struct vm_window_place *own(const struct vm_window_packet *packet)
{
	return &packet->window->team->places[packet->window->rank];
}

static void take_post(const struct vm_window_packet *packet)
{
	if (packet->head.member < packet->window->team->size &&
	    vm_window_post(own(packet), packet->head.member) != 0)
		vm_panic("out of memory for the posts of a window");
}

static void take_complete(const struct vm_window_packet *packet)
{
	vm_window_complete(own(packet));
}

static void take_wake(const struct vm_window_packet *packet)
{
	vm_lock_take(&packet->window->lock);
	vm_window_wake(packet->window);
}

/* Reads the places of a load: its bytes; 0: there is something wrong. */
static size_t places_read(struct iovec *places, const struct vm_far_run *runs,
			  size_t count, struct vm_window *owner)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (__builtin_add_overflow(bytes, runs[i].count, &bytes) ||
		    (owner && !is_owned(owner, runs[i].at, runs[i].count)))
			return 0;
		places[i] = (struct iovec){ (void *)(uintptr_t)runs[i].at,
					    runs[i].count };
	}
	return bytes;
}

/* Moves pieces of a load with its sender, as long as there are any. */
static void take_haul(const struct vm_window_packet *packet)
{
	struct iovec own[VM_LOAD_PLACES], theirs[VM_LOAD_PLACES];
	size_t count = packet->bytes / sizeof(struct vm_far_run);
	const struct vm_far_run *runs = packet->data;
	struct vm_load load = { .here = own,
				.there = theirs,
				.here_count = packet->head.runs };

	if (load.here_count > count || load.here_count > VM_LOAD_PLACES ||
	    count - load.here_count > VM_LOAD_PLACES)
		return;
	load.there_count = count - load.here_count;
	load.bytes = places_read(own, runs, load.here_count, packet->window);
	if (load.bytes &&
	    load.bytes == places_read(theirs, runs + load.here_count,
				      load.there_count, NULL))
		vm_window_haul_help(packet, &load, packet->head.sequence,
				    !(packet->head.flag & VM_FAR_WRITES));
}

void vm_far_take(const struct vm_window_packet *packet)
{
	static void (*const takers[])(const struct vm_window_packet *) = {
#define TAKER(kind, text) [VM_FAR_##kind] = take_##kind,
		VM_FARS(TAKER)
#undef TAKER
	};

	if (packet->head.what < VM_FAR_KINDS)
		takers[packet->head.what](packet);
}
