/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a root sends its card says alone, as others may expect another size, which
 * is only their error.  Of all else the key does, so that whoever differs is told
 * in the usual way.
 */
#include "mpi/coll/algo/behind.h"

#include <string.h>

#include "core/meeting/leaders_board.h"
#include "core/meeting/leaders_place.h"
#include "mpi/coll/algo/node_reduce.h"
#include "mpi/coll/algo/pack.h"
#include "mpi/coll/algo/posted.h"
#include "mpi/coll/algo/shown.h"

/* Two processes move each other's data at once, without places. */
#define PLACES_FROM 3

static bool sends_from_root(const struct vm_coll *any)
{
	return any->kind->rooted && !any->kind->gathers;
}

static bool is_near(const struct vm_leaders *leaders)
{
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self && !vm_leaders_near(leaders, p))
			return false;
	return true;
}

/* Whether all blocks have the same size, by the rules of MPI. */
static bool is_even(const struct vm_coll *any)
{
	if (any->uneven || any->as == VM_CALL_Gatherv ||
	    any->as == VM_CALL_Gatherv_c)
		return false;
	return any->kind->reduces ||
	       (!any->send.counts.array && !any->recv.counts.array);
}

/* The bytes of a block that a member sends or expects. */
static size_t block_bytes(const struct vm_coll *coll)
{
	const struct vm_coll_kind *kind = coll->kind;
	bool root = kind->rooted && vm_coll_is_root(coll);

	if (kind->flow == VM_FLOW_GATHER && root)
		return vm_blocks_data(&coll->recv, 0).bytes;
	return vm_coll_data_for(coll, 0).bytes;
}

bool vm_coll_behind_expected(const struct vm_meet *meet,
			     const struct vm_coll *any, size_t most_bytes)
{
	return any->kind->gathers && !any->first_size && is_even(any) &&
	       vm_meet_here(meet, (uint32_t)any->root) &&
	       block_bytes(vm_coll_of(meet, (size_t)any->root)) > most_bytes;
}

/* Blocks that each gets from each are quicker on boards from here on. */
#define BOARD_BYTES 128

/* The most bytes of a block that goes with the others in one message. */
static size_t packed_most(const struct vm_coll_view *view)
{
	size_t most = vm_coll_packed_most(view, view->leaders->self == 0);

	return view->any->kind->swaps && most > BOARD_BYTES &&
			       vm_leaders_board_reaches(view->leaders) ?
		       BOARD_BYTES :
		       most;
}

/* Whether the members here make one call, with blocks that go by themselves; the
 * view has been prepared. */
static bool is_long(const struct vm_coll_view *view, size_t *bytes)
{
	const struct vm_coll *any = view->any;
	char what[sizeof(any->what)];

	*bytes = 0;
	for (uint32_t i = 0; i < view->here->count; i++) {
		const struct vm_coll *coll =
			vm_coll_of(&view->meet, view->here->members[i]);
		size_t own;

		if (vm_coll_differs(any, coll, what, sizeof(what)))
			return false;
		if (any->kind->reduces ||
		    (sends_from_root(any) && !vm_coll_is_root(coll)))
			continue;
		own = block_bytes(coll);
		if (*bytes && own != *bytes)
			return false;
		*bytes = own;
	}
	if (any->kind->reduces)
		return view->reduce && !view->plan.packs;
	if (*bytes > UINT32_MAX)
		return false;
	return !view->plan.packs ||
	       (any->kind->direct && !(any->kind->swaps && any->in_place) &&
		*bytes > packed_most(view));
}

/* Says that the call is a long one, with a plan; to each process, where a card is
 * for one only. */
static void cards_fill(struct vm_meet *meet, const struct vm_coll_view *view,
		       struct vm_leaders_card *card, size_t bytes,
		       enum vm_leaders_need need)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll_plan *plan = &view->plan;
	const struct vm_coll *any = view->any;
	uint64_t word = plan->algorithm | plan->asked << 8 |
			(plan->in_turn != 0) << 16;

	vm_coll_key(card->key, any);
	card->bytes = 0;
	if (any->kind->reduces) {
		card->key[1] |= word << 32;
	} else if (sends_from_root(any)) {
		card->bytes = (uint32_t)bytes;
		card->follows = 1;
		for (int p = 1; p < leaders->count && need == VM_LEADERS_DEALT;
		     p++) {
			card = vm_leaders_card_for(meet, p);
			card->bytes = (uint32_t)bytes;
			card->follows = leaders->processes[p].count;
		}
	} else {
		card->key[1] = bytes;
		card->key[2] = word;
	}
}

/* Where the others' data go that they may put there themselves: the blocks of a
 * gather, or vectors to be added. */
static void places_choose(const struct vm_coll_view *view,
			  struct vm_data data[VM_LEADERS_PLACES], size_t bytes)
{
	const struct vm_coll_node_reduce *reduce = view->reduce;
	const struct vm_leaders *leaders = view->leaders;
	uint32_t root = (uint32_t)view->any->root;

	for (int p = 0; reduce && reduce->rooms && p < leaders->count; p++)
		if (reduce->rooms[p])
			data[p] = vm_type_data(reduce->type, reduce->rooms[p],
					       reduce->count);
	if (reduce || view->any->kind->flow != VM_FLOW_GATHER ||
	    !vm_meet_here(&view->meet, root))
		return;
	for (int p = 0; p < leaders->count; p++) {
		if (leaders->processes[p].count != 1)
			continue;
		data[p] = vm_blocks_data(&vm_coll_of(&view->meet, root)->recv,
					 leaders->processes[p].members[0]);
		if (data[p].bytes != bytes)
			data[p].bytes = 0;
	}
}

/* Returns how much the card says of places. */
static size_t places_open(struct vm_coll_view *view, struct vm_meet *meet,
			  struct vm_leaders_card *card, size_t bytes)
{
	struct vm_data data[VM_LEADERS_PLACES];
	size_t card_bytes = 0;

	if (meet->leaders->count > VM_LEADERS_PLACES ||
	    meet->leaders->count < PLACES_FROM)
		return 0;
	memset(data, 0, (size_t)meet->leaders->count * sizeof(*data));
	places_choose(view, data, bytes);
	view->places = vm_leaders_places_open(meet, data, card, &card_bytes);
	return card_bytes;
}

static int foresee(struct vm_coll_view *view, size_t bytes)
{
	int rc = 0;

	for (int p = 0; p < view->leaders->count && rc == 0; p++)
		if (p != view->leaders->self)
			rc = vm_coll_foresee(view, p, bytes);
	return rc;
}

static int view_do(struct vm_coll_view *view, struct vm_meet *meet)
{
	for (uint32_t i = 0; i < view->here->count; i++)
		vm_coll_of(meet, view->here->members[i])->algorithm =
			(int8_t)view->plan.algorithm;
	return vm_coll_view_do(view, meet, -1);
}

/* Afterwards all know the call, and those who need to what others have told. */
static int cards_exchange(struct vm_coll_view *view, struct vm_meet *meet,
			  size_t bytes, enum vm_leaders_need need)
{
	struct vm_leaders_card *card =
		vm_leaders_card_for(meet, meet->leaders->self);
	bool all = need == VM_LEADERS_ALL, left = need == VM_LEADERS_UP;
	size_t card_bytes = 0;
	int rc;

	view->post.left = left;
	if (need != VM_LEADERS_DEALT)
		vm_coll_posted_put(view, card, bytes);
	if (all && !view->post.reads)
		card_bytes = places_open(view, meet, card, bytes);
	cards_fill(meet, view, card, bytes, need);
	if (left && meet->leaders->self && !view->post.card)
		card->follows = 1;
	rc = vm_leaders_short(meet, card_bytes, need);
	view->told = all || (left && !meet->leaders->self) ? meet : NULL;
	view->meet.talks = all || left ? NULL : meet->talks;
	return vm_coll_posted_see(view, meet, rc);
}

int vm_coll_behind(struct vm_meet *meet, enum vm_leaders_need need)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any =
		vm_coll_of(meet, leaders->processes[leaders->self].members[0]);
	struct vm_coll_plan plan;
	struct vm_coll_view view;
	size_t bytes;
	int rc;

	if (mpi_cvar.check_types || any->first_size || !any->kind->part ||
	    !is_even(any))
		return VM_PENDING;
	plan = vm_coll_plan(meet);
	if (vm_coll_posted_left(meet, &plan))
		need = VM_LEADERS_UP;
	else if (!is_near(leaders))
		return VM_PENDING;
	if (any->kind->family == VM_FAMILY_BCAST &&
	    plan.algorithm != VM_ALGORITHM_LINEAR)
		return VM_PENDING;
	rc = vm_coll_view_prepare(&view, meet, &plan);
	if (rc == 0 && is_long(&view, &bytes))
		rc = foresee(&view, bytes);
	else
		rc = VM_PENDING;
	if (rc == 0)
		rc = cards_exchange(&view, meet, bytes, need);
	else
		rc = VM_PENDING; /* which says so */
	if (rc == 0)
		rc = view_do(&view, meet);
	vm_coll_posted_end(&view);
	vm_leaders_places_close(view.places);
	vm_coll_node_reduce_close(view.reduce);
	vm_coll_view_close(&view);
	return rc;
}

static const struct vm_leaders_card *root_card(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any =
		vm_coll_of(meet, leaders->processes[leaders->self].members[0]);
	size_t bytes;

	return sends_from_root(any) ?
		       vm_leaders_card_of(meet, (int)leaders->of[any->root],
					  &bytes) :
		       NULL;
}

bool vm_coll_behind_root(const struct vm_meet *meet)
{
	const struct vm_leaders_card *card = root_card(meet);

	return card && card->follows;
}

int vm_coll_behind_leaf(struct vm_meet *meet)
{
	static const struct vm_coll_plan plan = {
		.algorithm = VM_ALGORITHM_LINEAR, .packs = true
	};
	struct vm_coll_view view;
	int rc = vm_coll_view_prepare(&view, meet, &plan);

	if (rc == 0)
		rc = foresee(&view, root_card(meet)->bytes);
	if (rc == 0)
		rc = vm_coll_posted_take(&view, meet, root_card(meet));
	if (rc == 0)
		rc = view_do(&view, meet);
	vm_coll_posted_end(&view);
	vm_coll_view_close(&view);
	return rc;
}
