/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One member of each process stands for it.  The leader collects their cards and
 * exchanges them for those of the other side.  Each process gives the others
 * numbers; the leaders exchange these, too, so that each knows what it is called
 * by whom.  When all are connected, both sides go on.
 */
#include "mpi/comm/far.h"

#include <stdlib.h>
#include <string.h>

#include "core/comm/p2p.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/runtime/guests.h"
#include "mpi/call/errh.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/talk.h"

/*
 *   member -> leader   card               leader <-> leader   side
 *   leader -> member   the other side
 *   member -> leader   numbers            leader <-> leader   all numbers
 *   leader -> member   what it is called
 *   member -> leader   connected          leader <-> leader   connected
 *
 * Each blob begins with an error, 0 as long as there is none.  After one the
 * members end; the leaders do when both know it.
 */

#define TAG 0x3fffffff /* in the context of collectives */

/* A side as the other one knows it. */
struct side {
	int cards, ranks;
	struct vm_guest_card *card; /* [cards] */
	struct vm_rank_name *name;  /* [ranks] */
	int32_t *process;	    /* [ranks], its card */
};

/* What a member works with. */
struct far {
	const struct vm_comm *local;
	const struct vm_group *group;
	int leader;
	int *standing; /* [count], members that stand for processes */
	int *place;    /* [group->size], of their process in standing */
	int count;
	struct side other;
	int32_t error; /* an MPI error */
	bool released; /* leader: the members have heard of it, and ended */
};

static struct vm_env env_of(const struct far *far, int source)
{
	return (struct vm_env){ .context = far->local->context + 1,
				.source = source,
				.tag = TAG };
}

static void blob_begin(struct vm_blob *blob, int32_t error)
{
	blob->bytes = 0;
	vm_blob_put(blob, &error, sizeof(error));
}

/* The first error counts. */
static void fail(struct far *far, int rc)
{
	if (rc && !far->error)
		far->error = vm_mpi_error(rc);
}

/* Notes the error that a blob begins with, or rc. */
static void blob_check(struct far *far, const struct vm_blob *blob, int rc)
{
	int32_t error = 0;
	size_t at = 0;

	fail(far, rc);
	if (!rc && !vm_blob_get(blob, &at, &error, sizeof(error)))
		error = MPI_ERR_INTERN;
	fail(far, error);
}

/* Finds who stands for which process: the leader for its own, else the first. */
static int standing_find(struct far *far)
{
	const struct vm_group *group = far->group;
	size_t size = (size_t)group->size;
	int *first = malloc((size_t)vm_node->process_room * sizeof(*first));

	far->standing = malloc(size * sizeof(*far->standing));
	far->place = malloc(size * sizeof(*far->place));
	if (!first || !far->standing || !far->place) {
		free(first);
		return MPI_ERR_NO_MEM;
	}
	for (int i = 0; i < vm_node->process_room; i++)
		first[i] = -1;
	first[group->ranks[far->leader]->to.process] = 0;
	far->standing[far->count++] = far->leader;
	for (int i = 0; i < group->size; i++) {
		uint32_t process = group->ranks[i]->to.process;

		if (first[process] < 0) {
			first[process] = far->count;
			far->standing[far->count++] = i;
		}
		far->place[i] = first[process];
	}
	free(first);
	return 0;
}

/* Whether the member stands for its process. */
static bool is_standing(const struct far *far, int member)
{
	return far->standing[far->place[member]] == member;
}

static int card_put(struct vm_blob *blob)
{
	struct vm_guest_card *card = calloc(1, sizeof(*card));
	int rc = card ? vm_guest_card(card) : -VMPI_ENOMEM;

	blob_begin(blob, rc ? vm_mpi_error(rc) : 0);
	if (!rc)
		vm_blob_put(blob, card, vm_guest_card_bytes(card));
	free(card);
	return rc;
}

/* Leader: the own side, from its members' cards, which follow each other. */
static void side_put(const struct far *far, const struct vm_blob *cards,
		     struct vm_blob *side)
{
	int32_t counts[2] = { far->count, far->group->size };

	blob_begin(side, far->error);
	vm_blob_put(side, counts, sizeof(counts));
	vm_blob_put(side, cards->data, cards->bytes);
	for (int i = 0; i < far->group->size; i++) {
		struct vm_rank_name name = vm_rank_name(far->group->ranks[i]);
		int32_t place = far->place[i];

		vm_blob_put(side, &name, sizeof(name));
		vm_blob_put(side, &place, sizeof(place));
	}
}

static bool card_get(const struct vm_blob *blob, size_t *at,
		     struct vm_guest_card *card)
{
	return vm_blob_get(blob, at, card,
			   offsetof(struct vm_guest_card, address)) &&
	       card->bytes >= 0 && card->bytes <= VM_ADDRESS_MAX &&
	       card->process >= 0 &&
	       vm_blob_get(blob, at, card->address, (size_t)card->bytes);
}

/* Reads the other side; false: it is malformed, or there is no memory. */
static bool side_get(struct side *side, const struct vm_blob *blob)
{
	size_t at = sizeof(int32_t);
	int32_t counts[2];

	if (!vm_blob_get(blob, &at, counts, sizeof(counts)) || counts[0] <= 0 ||
	    counts[1] < counts[0] || (size_t)counts[1] > blob->bytes)
		return false;
	side->card = calloc((size_t)counts[0], sizeof(*side->card));
	side->name = calloc((size_t)counts[1], sizeof(*side->name));
	side->process = calloc((size_t)counts[1], sizeof(*side->process));
	if (!side->card || !side->name || !side->process)
		return false;
	side->cards = counts[0];
	side->ranks = counts[1];
	for (int i = 0; i < side->cards; i++)
		if (!card_get(blob, &at, &side->card[i]))
			return false;
	for (int i = 0; i < side->ranks; i++)
		if (!vm_blob_get(blob, &at, &side->name[i],
				 sizeof(side->name[i])) ||
		    !vm_blob_get(blob, &at, &side->process[i],
				 sizeof(side->process[i])) ||
		    side->process[i] < 0 || side->process[i] >= side->cards)
			return false;
	return true;
}

/* The numbers that this process gives to those of the other side. */
static void numbers_put(struct far *far, struct vm_blob *blob)
{
	struct vm_blob numbers = { 0 };

	for (int i = 0; i < far->other.cards && !far->error; i++) {
		int32_t number = vm_guest_number(&far->other.card[i]);

		if (number < 0)
			fail(far, MPI_ERR_OTHER);
		vm_blob_put(&numbers, &number, sizeof(number));
	}
	blob_begin(blob, far->error);
	vm_blob_put(blob, numbers.data, numbers.bytes);
	vm_blob_free(&numbers);
}

/* Connects this process with the other side's, whose numbers for it are in the
 * blob, and makes their ranks known. */
static void connect_all(struct far *far, const struct vm_blob *blob)
{
	const struct side *side = &far->other;
	size_t at = sizeof(int32_t);

	for (int i = 0; i < side->cards && !far->error; i++) {
		int32_t there;

		if (!vm_blob_get(blob, &at, &there, sizeof(there)) || there < 0)
			fail(far, MPI_ERR_INTERN);
		else if (vm_guest_connect(vm_guest_number(&side->card[i]),
					  &side->card[i], there))
			fail(far, MPI_ERR_OTHER);
	}
	for (int i = 0; i < side->ranks && !far->error; i++)
		if (vm_guest_rank(
			    vm_guest_number(&side->card[side->process[i]]),
			    &side->name[i]))
			fail(far, MPI_ERR_INTERN);
}

/* The part of a member that stands for its process and does not lead.  Its
 * errors come back from the leader. */
static void member_do(struct far *far)
{
	struct vm_rank *leader = far->group->ranks[far->leader];
	struct vm_env to = env_of(far, far->local->chan->rank);
	struct vm_env from = env_of(far, far->leader);
	struct vm_blob blob = { 0 };
	int rc;

	card_put(&blob);
	rc = vm_blob_send(leader, to, &blob);
	blob_check(far, &blob, rc ? rc : vm_blob_recv(from, &blob));
	if (!far->error) {
		if (!side_get(&far->other, &blob))
			fail(far, MPI_ERR_INTERN);
		numbers_put(far, &blob);
		rc = vm_blob_send(leader, to, &blob);
		blob_check(far, &blob, rc ? rc : vm_blob_recv(from, &blob));
	}
	if (!far->error) {
		connect_all(far, &blob);
		blob_begin(&blob, far->error);
		fail(far, vm_blob_send(leader, to, &blob));
	}
	vm_blob_free(&blob);
}

/* Leader: receives a blob of each other member, and appends what is behind the
 * error. */
static void others_gather(struct far *far, struct vm_blob *all)
{
	for (int i = 1; i < far->count && !far->released; i++) {
		struct vm_blob blob = { 0 };

		blob_check(far, &blob,
			   vm_blob_recv(env_of(far, far->standing[i]), &blob));
		if (!far->error)
			vm_blob_put(all, blob.data + sizeof(int32_t),
				    blob.bytes - sizeof(int32_t));
		vm_blob_free(&blob);
	}
}

/* Leader: sends a blob to another member, which ends after an error. */
static void other_send(struct far *far, int i, const struct vm_blob *blob)
{
	fail(far, vm_blob_send(far->group->ranks[far->standing[i]],
			       env_of(far, far->leader), blob));
}

/* Leader: exchanges a blob; whether both end after it. */
static bool exchange(struct far *far, const struct vm_talk *talk,
		     const struct vm_blob *mine, struct vm_blob *theirs)
{
	int rc = vm_talk(talk, mine, theirs);

	if (rc == -VMPI_EPEER)
		rc = MPI_ERR_OTHER;
	blob_check(far, theirs, rc);
	return far->error != 0;
}

/* Leader, first step: cards and sides. */
static bool sides_do(struct far *far, const struct vm_talk *talk)
{
	struct vm_blob cards = { 0 }, side = { 0 }, theirs = { 0 };
	bool over;

	fail(far, card_put(&cards));
	cards.bytes -= sizeof(int32_t);
	memmove(cards.data, cards.data + sizeof(int32_t), cards.bytes);
	others_gather(far, &cards);
	side_put(far, &cards, &side);
	over = exchange(far, talk, &side, &theirs);
	if (!over && !side_get(&far->other, &theirs))
		fail(far, MPI_ERR_INTERN);
	if (far->error)
		blob_begin(&theirs, far->error);
	far->released = far->error != 0;
	for (int i = 1; i < far->count; i++)
		other_send(far, i, &theirs);
	vm_blob_free(&cards);
	vm_blob_free(&side);
	vm_blob_free(&theirs);
	return over;
}

/* Leader: the numbers that all on the other side have given to member i. */
static void column_put(struct far *far, const struct vm_blob *theirs, int i,
		       struct vm_blob *column)
{
	blob_begin(column, far->error);
	for (int j = 0; j < far->other.cards && !far->error; j++) {
		size_t at = sizeof(int32_t) * (size_t)(1 + j * far->count + i);
		int32_t number = -1;

		if (at > theirs->bytes ||
		    !vm_blob_get(theirs, &at, &number, sizeof(number)))
			number = -1;
		vm_blob_put(column, &number, sizeof(number));
	}
}

/* Leader, second step: numbers, and the connections. */
static bool numbers_do(struct far *far, const struct vm_talk *talk)
{
	struct vm_blob mine = { 0 }, theirs = { 0 }, column = { 0 };
	bool over, released = far->released;

	numbers_put(far, &mine);
	others_gather(far, &mine);
	if (far->error)
		blob_begin(&mine, far->error);
	over = exchange(far, talk, &mine, &theirs);
	for (int i = 1; i < far->count && !released; i++) {
		column_put(far, &theirs, i, &column);
		other_send(far, i, &column);
	}
	far->released |= far->error != 0;
	column_put(far, &theirs, 0, &column);
	connect_all(far, &column);
	others_gather(far, &column);
	vm_blob_free(&mine);
	vm_blob_free(&theirs);
	vm_blob_free(&column);
	return over;
}

/* Leader, third step: all are connected, and the first chooses the context. */
static uint32_t end_do(struct far *far, const struct vm_talk *talk)
{
	struct vm_blob mine = { 0 }, theirs = { 0 };
	uint32_t context = far->error ? 0 : vm_context_new();
	size_t at = sizeof(int32_t);

	blob_begin(&mine, far->error);
	vm_blob_put(&mine, &context, sizeof(context));
	exchange(far, talk, &mine, &theirs);
	if (!talk->first && !far->error &&
	    !vm_blob_get(&theirs, &at, &context, sizeof(context)))
		fail(far, MPI_ERR_INTERN);
	vm_blob_free(&mine);
	vm_blob_free(&theirs);
	return context;
}

/* Both sides, the first one first; NULL when out of memory. */
static struct vm_inter_both *both_make(struct far *far, bool first,
				       uint32_t context)
{
	int own = far->group->size, other = far->error ? 0 : far->other.ranks;
	struct vm_inter_both *both =
		calloc(1, sizeof(*both) + (size_t)(own + other) *
						  sizeof(both->ranks[0]));
	struct vm_rank_name *mine, *theirs;

	if (!both)
		return NULL;
	mine = both->ranks + (first ? 0 : other);
	theirs = both->ranks + (first ? own : 0);
	for (int i = 0; i < other && !far->error; i++)
		if (vm_group_place(far->group,
				   vm_rank_named(&far->other.name[i])) !=
		    MPI_UNDEFINED)
			fail(far, MPI_ERR_COMM);
	both->error = far->error;
	if (far->error)
		return both;
	for (int i = 0; i < own; i++)
		mine[i] = vm_rank_name(far->group->ranks[i]);
	memcpy(theirs, far->other.name, (size_t)other * sizeof(*theirs));
	both->first_size = first ? own : other;
	both->size = own + other;
	both->context = context;
	return both;
}

static struct vm_inter_both *leader_do(struct far *far,
				       const struct vm_talk *talk)
{
	uint32_t context = 0;

	if (!sides_do(far, talk) && !numbers_do(far, talk))
		context = end_do(far, talk);
	return both_make(far, talk->first, context);
}

static void far_free(struct far *far)
{
	free(far->standing);
	free(far->place);
	free(far->other.card);
	free(far->other.name);
	free(far->other.process);
}

int vm_far_meet(struct vm_call *call, const struct vm_comm *local, int leader,
		const struct vm_talk *talk, struct vm_inter_both **both)
{
	struct far far = { .local = local,
			   .group = local->chan->group,
			   .leader = leader };
	int rc = standing_find(&far);

	(void)call;
	*both = NULL;
	if (rc == 0 && local->rank == leader) {
		*both = leader_do(&far, talk);
		rc = *both ? 0 : MPI_ERR_NO_MEM;
	} else if (rc == 0 && is_standing(&far, local->chan->rank)) {
		member_do(&far);
	}
	far_free(&far);
	return rc;
}
