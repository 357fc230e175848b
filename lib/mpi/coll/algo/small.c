/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives across workers in one step: each worker writes its members'
 * data to its post and does the parts of its own members, with proxies for all
 * others.
 */
#include "mpi/coll/algo/small.h"

#include <string.h>

#include "base/copy.h"
#include "mpi/coll/algo/behind.h"
#include "mpi/coll/algo/chain.h"
#include "mpi/coll/algo/gatherv.h"
#include "mpi/coll/algo/plan.h"
#include "mpi/coll/algo/shown.h"

/* Alignment of each member's bytes, sufficient for any type. */
#define DATA_ALIGN 16

static void side_set(struct vm_blocks *side, const void *buf,
		     const struct vm_type *type, size_t count)
{
	side->buf = buf;
	side->type = type;
	side->count = count;
	side->counts = side->displs = (struct vm_ints){ 0 };
	side->types = NULL;
	side->made = NULL;
}

static void uneven_set(struct vm_blocks *side, const char *shown,
		       const struct vm_coll_span *span)
{
	const char *sizes = shown - span->first * sizeof(int);

	side->buf = shown + vm_coll_uneven_head(span->count);
	side->counts = (struct vm_ints){ sizes, false };
	side->displs =
		(struct vm_ints){ sizes + span->count * sizeof(int), false };
}

/* Whether the blocks that another process has shown lie where it says. */
static bool uneven_fits(const char *shown, size_t bytes, size_t n)
{
	const int *sizes = (const int *)(const void *)shown;

	if (bytes < vm_coll_uneven_head(n) || bytes % sizeof(int))
		return false;
	bytes -= vm_coll_uneven_head(n);
	for (size_t i = 0; i < n; i++)
		if (sizes[i] < 0 || sizes[n + i] < 0 ||
		    (size_t)sizes[i] > bytes ||
		    (size_t)sizes[n + i] > bytes - (size_t)sizes[i])
			return false;
	return true;
}

/* Initialises a proxy for member `rank` of a call like this, with its bytes, to
 * which reductions also write; blocks are those of the span. */
static void proxy_init(struct vm_coll *proxy, const struct vm_coll *like,
		       int rank, char *data, size_t bytes,
		       const struct vm_coll_span *span, bool uneven)
{
	const struct vm_type *type = vm_type_get(MPI_BYTE);
	char *blocks = data;
	size_t count = bytes;

	proxy->kind = like->kind;
	proxy->comm = NULL;
	proxy->owner = NULL;
	proxy->rank = rank;
	proxy->size = like->size;
	proxy->id = like->id;
	proxy->as = like->as;
	proxy->root = like->root;
	proxy->shares = like->shares;
	proxy->first_size = 0;
	proxy->in_place = like->kind->reduces;
	proxy->uneven = uneven;
	proxy->op = like->op;
	if (like->kind->reduces) {
		type = like->recv.type;
		count = like->recv.count;
	} else if (vm_coll_sends_blocks(like)) {
		count = bytes / span->count;
		blocks -= span->first * count;
	}
	side_set(&proxy->send, blocks, type, count);
	side_set(&proxy->recv, data, type, count);
	if (like->kind->reduces)
		proxy->recv.counts = like->recv.counts;
	if (uneven)
		uneven_set(&proxy->send, data, span);
	proxy->temp = NULL;
	proxy->req = NULL;
	atomic_init(&proxy->error, 0);
}

bool vm_coll_small_show(struct vm_meet *meet, struct vm_meet_worker *worker,
			struct vm_meet_post *post)
{
	struct vm_coll_shown mine = {
		.team = { worker->members, worker->member_count },
		.data = vm_meet_post_of(worker, worker)->data,
		.room = worker->room
	};

	if (vm_coll_of(meet, worker->members[0])->kind->whole ||
	    !vm_coll_show(meet, &mine, post->key))
		return false;
	post->bytes = mine.bytes;
	return true;
}

/* A meeting with proxies for the members of other workers. */
struct proxy_view {
	struct vm_meet meet;
	struct vm_coll *proxies;
	char *data;	 /* private bytes of the proxies, */
	size_t distance; /* so far apart; 0: they send those of the posts */
};

VM_STATIC_ASSERT(sizeof(struct vm_coll) % DATA_ALIGN == 0,
		 "data behind proxies is aligned");

static size_t aligned(size_t bytes)
{
	return (bytes + DATA_ALIGN - 1) & ~(size_t)(DATA_ALIGN - 1);
}

/* Divides memory among what the view needs; with NULL only adds it up. */
static size_t view_divide(struct proxy_view *view, const struct vm_coll *like,
			  size_t size, char *memory)
{
	size_t seats = size * sizeof(struct vm_seat);
	size_t proxies = size * sizeof(struct vm_coll);

	view->meet.size = (uint32_t)size;
	view->meet.seats = (struct vm_seat *)memory;
	view->distance = 0;
	if (like->kind->reduces)
		view->distance =
			aligned(like->recv.count * like->recv.type->size);
	if (memory) {
		view->proxies = (struct vm_coll *)(memory + seats);
		view->data = memory + seats + proxies;
	}
	return seats + proxies + size * view->distance;
}

/* Seats proxies for those members that send anything. */
static void small_seat(struct proxy_view *view,
		       const struct vm_coll_shown *shown,
		       const struct vm_coll *like)
{
	const struct vm_coll_team *team = &shown->team;
	char *data = shown->data;

	for (uint32_t i = 0; i < team->count; i++) {
		uint32_t rank = team->members[i];
		struct vm_coll *proxy = &view->proxies[rank];
		char *bytes = data;

		if (!vm_coll_small_sends(like, (int)rank))
			continue;
		if (view->distance) {
			bytes = view->data + rank * view->distance;
			memcpy(bytes, data, shown->bytes);
		}
		proxy_init(proxy, like, (int)rank, bytes, shown->bytes,
			   &shown->span, like->uneven && !shown->even);
		atomic_init(&view->meet.seats[rank].args, proxy);
		data += shown->bytes;
	}
}

static void team_seat(struct proxy_view *view, const struct vm_meet *meet,
		      const struct vm_coll_team *team)
{
	for (uint32_t i = 0; i < team->count; i++)
		atomic_init(&view->meet.seats[team->members[i]].args,
			    vm_coll_of(meet, team->members[i]));
}

/* Does the parts of its members, consecutive ones in one call. */
static void parts_do(struct vm_meet *meet, const struct vm_coll_team *team,
		     struct vm_coll *me)
{
	const struct vm_coll_kind *kind = me->kind;

	for (uint32_t i = 0, end; i < team->count; i = end) {
		size_t first = team->members[i], last;

		for (end = i + 1; end < team->count; end++)
			if (team->members[end] != first + end - i)
				break;
		last = first + end - i;
		kind->part(meet, me, first, last);
		if (kind->finish)
			kind->finish(meet, first, last);
	}
}

static bool is_member(const struct vm_coll_team *team, int rank)
{
	for (uint32_t i = 0; i < team->count; i++)
		if (team->members[i] == (uint32_t)rank)
			return true;
	return false;
}

/* Whether there is anything to do for its members. */
static bool has_parts(const struct vm_coll_team *team, const struct vm_coll *me)
{
	return me->kind->part && !(me->kind->rooted && me->kind->gathers &&
				   !is_member(team, me->root));
}

/* Prepares a view in the worker's memory; false, and an error of the members:
 * there is none. */
static bool view_open(struct proxy_view *view, struct vm_meet *meet,
		      struct vm_meet_worker *worker,
		      const struct vm_coll_team *team, const struct vm_coll *me)
{
	char *memory = vm_meet_scratch(worker,
				       view_divide(view, me, meet->size, NULL));

	if (!memory) {
		for (uint32_t i = 0; i < team->count; i++)
			vm_coll_fail(vm_coll_of(meet, team->members[i]),
				     MPI_ERR_NO_MEM,
				     "no memory for the data of other ranks");
		return false;
	}
	view_divide(view, me, meet->size, memory);
	team_seat(view, meet, team);
	return true;
}

static void view_do(struct proxy_view *view, const struct vm_coll_team *team,
		    struct vm_coll *me)
{
	if (me->kind->slices || me->kind->whole)
		me->kind->part(&view->meet, me, 0, view->meet.size);
	else
		parts_do(&view->meet, team, me);
}

/* Copies what the root has shown to the members of another worker; false: it takes
 * proxies. */
static bool bcast_own(struct vm_meet *meet, const struct vm_meet_worker *self,
		      const struct vm_coll *me)
{
	const struct vm_meet_worker *root = meet->workers;
	const struct vm_meet_post *post;

	while (!is_member(&(struct vm_coll_team){ root->members,
						  root->member_count },
			  me->root))
		root++;
	if (root == self)
		return self->member_count == 1;
	post = vm_meet_post_of(root, self);
	for (uint32_t i = 0; i < self->member_count; i++) {
		struct vm_coll *coll = vm_coll_of(meet, self->members[i]);
		struct vm_data to = vm_blocks_data(&coll->recv, 0);

		if (to.layout || to.bytes != (post->bytes & ~VM_MEET_GONE))
			return false;
		vm_copy(to.addr, post->data, to.bytes);
	}
	return true;
}

void vm_coll_small_own(struct vm_meet *meet, struct vm_meet_worker *self,
		       void *args)
{
	const struct vm_coll_team team = { self->members, self->member_count };
	const struct vm_coll *me = args;
	struct proxy_view view;

	if (me->kind == &vm_coll_bcast && bcast_own(meet, self, me))
		return;
	if (!has_parts(&team, args) ||
	    !view_open(&view, meet, self, &team, args))
		return;
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		const struct vm_meet_worker *worker = &meet->workers[w];
		const struct vm_coll_team theirs = { worker->members,
						     worker->member_count };
		struct vm_meet_post *post;

		if (worker == self || !worker->member_count)
			continue;
		post = vm_meet_post_of(worker, self);
		small_seat(&view,
			   &(struct vm_coll_shown){
				   .team = theirs,
				   .span = vm_coll_span_of(&theirs,
							   view.meet.size),
				   .bytes = post->bytes & ~VM_MEET_GONE,
				   .data = post->data,
				   .even = vm_meet_post_is_gone(post) },
			   args);
	}
	view_do(&view, &team, args);
}

/* The blocks for the members of a process, which are consecutive. */
static struct vm_coll_span span_to(const struct vm_leaders *leaders,
				   int process)
{
	const struct vm_leaders_process *to = &leaders->processes[process];

	return (struct vm_coll_span){ to->members[0], to->count };
}

/* Whether the first process sends each other one the blocks of that one's members
 * only, so that there may be as many as these have room for. */
static bool is_dealt(const struct vm_meet *meet, const struct vm_coll *any)
{
	return any->kind == &vm_coll_scatter && meet->leaders->blocks &&
	       meet->leaders->of[any->root] == 0 &&
	       vm_leaders_may_go_ahead(meet);
}

/* Seats proxies for a process's members; false: its card is malformed. */
static bool card_seat(struct proxy_view *view, const struct vm_meet *meet,
		      int process, const struct vm_coll *like)
{
	const struct vm_leaders_process *there =
		&meet->leaders->processes[process];
	const struct vm_coll_team team = { there->members, there->count };
	struct vm_coll_span span =
		is_dealt(meet, like) ?
			span_to(meet->leaders, meet->leaders->self) :
			vm_coll_span_of(&team, (size_t)like->size);
	size_t bytes, senders = 0;
	const struct vm_leaders_card *card =
		vm_leaders_card_of(meet, process, &bytes);

	if (!card)
		return false;
	for (uint32_t i = 0; i < there->count; i++)
		senders += vm_coll_small_sends(like, (int)there->members[i]);
	if (senders && (!card->bytes || card->bytes > bytes / senders))
		return false;
	if (like->kind->reduces && senders &&
	    card->bytes != like->recv.count * like->recv.type->size)
		return false;
	for (size_t i = 0; like->uneven && i < senders; i++)
		if (!uneven_fits(card->data + i * card->bytes, card->bytes,
				 span.count))
			return false;
	small_seat(view,
		   &(struct vm_coll_shown){
			   .team = team,
			   .span = span,
			   .bytes = card->bytes,
			   .data = (char *)(uintptr_t)card->data },
		   like);
	return true;
}

/* As card_seat(), of all processes with members that send anything. */
static bool cards_seat(struct proxy_view *view, const struct vm_meet *meet,
		       const struct vm_coll *like)
{
	const struct vm_leaders *leaders = meet->leaders;
	bool one = like->kind->rooted && !like->kind->gathers;
	int first = one ? (int)leaders->of[like->root] : 0;
	int last = one ? first : leaders->count - 1;

	for (int p = first; p <= last; p++)
		if (p != leaders->self && !card_seat(view, meet, p, like))
			return false;
	return true;
}

/* All processes have shown their members' data. */
static int cards_do(struct vm_meet *meet, const struct vm_coll_team *team)
{
	struct vm_coll *me = vm_coll_of(meet, team->members[0]);
	struct vm_meet_worker *worker =
		&meet->workers[meet->seats[team->members[0]].worker];
	struct proxy_view view;

	if (!has_parts(team, me) || !view_open(&view, meet, worker, team, me))
		return 0;
	view.meet.leaders = meet->leaders;
	if (!cards_seat(&view, meet, me))
		return -VMPI_EINVAL;
	view_do(&view, team, vm_coll_own(&view.meet, team->members[0]));
	return 0;
}

/* How many members a process has, at most. */
static uint32_t members_most(const struct vm_leaders *leaders)
{
	uint32_t most = 0;

	for (int p = 0; p < leaders->count; p++)
		if (leaders->processes[p].count > most)
			most = leaders->processes[p].count;
	return most;
}

/*
 * Whose cards are needed.  Members who leave theirs to the first process must
 * know that all others have cards too: what these send is as much as they send
 * themselves, and there is a card wherever it would have room.
 */
static enum vm_leaders_need need_of(const struct vm_meet *meet,
				    const struct vm_coll_shown *mine)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any = vm_coll_of(meet, mine->team.members[0]);

	if (vm_coll_is_chain(meet, any))
		return VM_LEADERS_CHAIN;
	if (!any->kind->rooted || !any->kind->part ||
	    leaders->of[any->root] != 0 || !vm_leaders_may_go_ahead(meet))
		return VM_LEADERS_ALL;
	if (!any->kind->gathers)
		return is_dealt(meet, any) ? VM_LEADERS_DEALT : VM_LEADERS_DOWN;
	if (any->as == VM_CALL_Gatherv || any->as == VM_CALL_Gatherv_c ||
	    (any->op && !any->op->loops) ||
	    (size_t)mine->bytes * members_most(leaders) > mine->room)
		return VM_LEADERS_ALL;
	return VM_LEADERS_UP;
}

/* The same of long data.  Who waits for those needs no card of others. */
static enum vm_leaders_need long_need(const struct vm_meet *meet,
				      const struct vm_coll_shown *mine)
{
	const struct vm_coll *any = vm_coll_of(meet, mine->team.members[0]);

	if (!any->kind->rooted || any->kind->gathers ||
	    meet->leaders->self != 0 ||
	    (any->kind == &vm_coll_scatter && !is_dealt(meet, any)))
		return VM_LEADERS_ALL;
	return need_of(meet, mine);
}

int vm_coll_differ_from(struct vm_meet *meet, uint64_t word, uint32_t other)
{
	const struct vm_leaders_process *here =
		&meet->leaders->processes[meet->leaders->self];

	if (vm_coll_key_as(word) >= VM_CALLS)
		return -VMPI_EINVAL;
	for (uint32_t i = 0; i < here->count; i++)
		vm_coll_differ_one(vm_coll_of(meet, here->members[i]), word,
				   other);
	return 0;
}

/* The first process is in another call, and has gone, or others are: an error of
 * all members. */
static int differs_from(struct vm_meet *meet)
{
	int process = vm_leaders_other(meet);
	size_t bytes;
	const struct vm_leaders_card *card =
		process < 0 ? NULL : vm_leaders_card_of(meet, process, &bytes);

	if (!card)
		return -VMPI_EMISMATCH;
	return vm_coll_differ_from(
		meet, card->key[0],
		meet->leaders->processes[process].members[0]);
}

/* Fills a card for each other process; false: it is not small. */
static bool cards_deal(struct vm_meet *meet, const struct vm_coll_shown *mine,
		       uint64_t key[VM_MEET_KEY_WORDS])
{
	bool small = true;

	for (int p = 0; p < meet->leaders->count && small; p++) {
		struct vm_leaders_card *card = vm_leaders_card_for(meet, p);
		struct vm_coll_shown shown = *mine;

		if (p == meet->leaders->self)
			continue;
		shown.span = span_to(meet->leaders, p);
		shown.data = card->data;
		small = vm_coll_show_span(meet, &shown, key);
		card->bytes = shown.bytes;
	}
	return small;
}

static int gatherv(struct vm_meet *meet, struct vm_coll *coll)
{
	int rc = vm_coll_gatherv(meet, coll);

	if (rc == VM_PENDING)
		return rc;
	if (rc == -VMPI_EMISMATCH)
		rc = differs_from(meet);
	if (meet->talks)
		vm_leaders_short_end(meet);
	return rc;
}

/* Shows the calls of the members here on our card; false: they are not small. */
static bool card_show(struct vm_meet *meet, struct vm_coll_shown *mine,
		      struct vm_leaders_card *card)
{
	const struct vm_coll *any = vm_coll_of(meet, mine->team.members[0]);
	bool small;

	mine->data = card->data;
	if (vm_coll_behind_expected(meet, any, mine->room))
		small = false;
	else
		small = is_dealt(meet, any) && meet->leaders->self == 0 ?
				cards_deal(meet, mine, card->key) :
				vm_coll_show(meet, mine, card->key);
	card->bytes = mine->bytes;
	return small;
}

/* How much room for that there is; false: such calls have no cards. */
static bool card_room(const struct vm_coll *any, size_t *room)
{
	if ((any->kind->whole && !any->kind->plain) ||
	    !vm_coll_plan_is_small(any, room))
		return false;
	if (*room > VM_LEADERS_CARD_DATA)
		*room = VM_LEADERS_CARD_DATA;
	return true;
}

bool vm_coll_small_tell(struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_process *here =
		&leaders->processes[leaders->self];
	struct vm_coll_shown mine = { .team = { here->members, here->count } };
	const struct vm_coll *any = vm_coll_of(meet, here->members[0]);
	struct vm_leaders_card *card;

	if (!leaders->ones || vm_leaders_star(leaders) ||
	    vm_coll_is_gatherv(meet, any) || !card_room(any, &mine.room))
		return false;
	card = vm_leaders_card(meet);
	return card && card_show(meet, &mine, card) &&
	       vm_leaders_tell(meet, mine.used);
}

int vm_coll_small_far(struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll_team team = {
		leaders->processes[leaders->self].members,
		leaders->processes[leaders->self].count
	};
	struct vm_leaders_card *card;
	const struct vm_coll *any = vm_coll_of(meet, team.members[0]);
	struct vm_coll_shown mine = { .team = team };
	enum vm_leaders_need need;
	bool small;
	int rc;

	if (vm_coll_is_gatherv(meet, any))
		return gatherv(meet, vm_coll_of(meet, team.members[0]));
	if (!card_room(any, &mine.room))
		return VM_PENDING;
	card = vm_leaders_card(meet);
	if (!card)
		return VM_PENDING; /* which says so */
	small = meet->told || card_show(meet, &mine, card);
	need = small ? need_of(meet, &mine) : long_need(meet, &mine);
	if (need == VM_LEADERS_CHAIN && leaders->self == 0)
		vm_coll_chain_deal(meet, card);
	rc = small ? vm_leaders_short(meet, mine.used, need) :
		     vm_coll_behind(meet, need);
	if (rc == VM_PENDING)
		return rc;
	if (rc == 0 && need == VM_LEADERS_CHAIN)
		rc = vm_coll_chain(meet, vm_coll_of(meet, team.members[0]));
	else if (rc == 0 && small)
		rc = vm_coll_behind_root(meet) ? vm_coll_behind_leaf(meet) :
						 cards_do(meet, &team);
	if (rc == -VMPI_EMISMATCH)
		rc = differs_from(meet);
	vm_leaders_short_end(meet);
	return rc;
}
