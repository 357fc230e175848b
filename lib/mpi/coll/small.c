/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small collectives across workers in one step: each worker writes its members'
 * data to its post and does the parts of its own members, with proxies for all
 * others.
 */
#include "mpi/coll/small.h"

#include <string.h>

#include "mpi/coll/plan.h"

/* Alignment of each member's bytes, sufficient for any type. */
#define DATA_ALIGN 16

static void key_init(struct vm_coll_key *key, const struct vm_coll *coll)
{
	const struct vm_coll_kind *kind = coll->kind;

	key->as = coll->as;
	key->in_place = kind->swaps && coll->in_place;
	key->type_kind = 0;
	key->root = kind->rooted ? coll->root : coll->shares;
	key->op = 0;
	key->bytes = 0;
	key->extent = 0;
	if (!kind->reduces)
		return;
	key->type_kind = coll->recv.type->kind;
	key->op = 2u * coll->op->number + coll->op->commutes;
	key->bytes = coll->recv.type->size * coll->recv.count;
	key->extent = coll->recv.type->extent;
}

/*
 * Stores to a post wait in the store buffer for its cache line.  A wide load of
 * data written after them by narrower stores would wait too, so structs are
 * copied word by word here.
 */
static void data_set(struct vm_data *data, const struct vm_type *type,
		     const void *buf, size_t count)
{
	struct vm_data from = vm_type_data(type, buf, count);

	vm_data_assign(data, &from);
}

/* Gets the operands of a reduction, which keep their type for the
 * computation. */
static bool operands(const struct vm_coll *coll, struct vm_data *data)
{
	const struct vm_type *type = coll->recv.type;

	if (!type->dense || type->dense_offset ||
	    type->extent != (MPI_Count)type->size)
		return false;
	data->addr = (void *)(uintptr_t)coll->send.buf;
	data->bytes = type->size * coll->recv.count;
	data->layout = NULL;
	data->count = 0;
	return true;
}

/* Tells whether a member sends a block to each of the others, not one to
 * all. */
static bool sends_blocks(const struct vm_coll *coll)
{
	return coll->kind == &vm_coll_scatter ||
	       coll->kind == &vm_coll_alltoall;
}

/* Gets all data that a member sends; false: a proxy could not send it. */
static bool small_data(const struct vm_coll *coll, struct vm_data *data)
{
	const struct vm_blocks *side = &coll->send;
	struct vm_data from;
	size_t block = 0;

	if (coll->kind->reduces)
		return operands(coll, data);
	if (sends_blocks(coll)) {
		if (coll->in_place && coll->kind->swaps)
			return false;
		data_set(data, side->type, side->buf,
			 side->count * (size_t)coll->size);
		return true;
	}
	if (coll->kind == &vm_coll_bcast) {
		side = &coll->recv;
	} else if (coll->in_place) {
		side = &coll->recv;
		block = (size_t)coll->rank;
	}
	if (!side->counts.array) {
		data_set(data, side->type,
			 vm_at(side->buf, (ptrdiff_t)(block * side->count) *
						  side->type->extent),
			 side->count);
		return true;
	}
	from = vm_blocks_data(side, block);
	vm_data_assign(data, &from);
	return true;
}

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

/* The bytes before blocks of any size: what each has, and where it begins. */
static size_t uneven_head(size_t n)
{
	return 2 * n * sizeof(int);
}

static void uneven_set(struct vm_blocks *side, const char *shown, size_t n)
{
	const int *sizes = (const int *)(const void *)shown;

	side->buf = shown + uneven_head(n);
	side->counts = (struct vm_ints){ sizes, false };
	side->displs = (struct vm_ints){ sizes + n, false };
}

/* Whether the blocks that another process has shown lie where it says. */
static bool uneven_fits(const char *shown, size_t bytes, size_t n)
{
	const int *sizes = (const int *)(const void *)shown;

	if (bytes < uneven_head(n) || bytes % sizeof(int))
		return false;
	bytes -= uneven_head(n);
	for (size_t i = 0; i < n; i++)
		if (sizes[i] < 0 || sizes[n + i] < 0 ||
		    (size_t)sizes[i] > bytes ||
		    (size_t)sizes[n + i] > bytes - (size_t)sizes[i])
			return false;
	return true;
}

/* Initialises a proxy for member `rank` of a call like this, with its bytes, to
 * which reductions also write. */
static void proxy_init(struct vm_coll *proxy, const struct vm_coll *like,
		       int rank, void *data, size_t bytes)
{
	const struct vm_type *type = vm_type_get(MPI_BYTE);
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
	proxy->uneven = like->uneven;
	proxy->op = like->op;
	if (like->kind->reduces) {
		type = like->recv.type;
		count = like->recv.count;
	} else if (sends_blocks(like)) {
		count = bytes / (size_t)like->size;
	}
	side_set(&proxy->send, data, type, count);
	side_set(&proxy->recv, data, type, count);
	if (like->kind->reduces)
		proxy->recv.counts = like->recv.counts;
	if (like->uneven)
		uneven_set(&proxy->send, data, (size_t)like->size);
	proxy->temp = NULL;
	proxy->req = NULL;
	atomic_init(&proxy->error, 0);
}

/* What members show others: so many bytes of each that sends. */
struct show {
	const uint32_t *members;
	uint32_t count, bytes;
	char *data;
	size_t room, used;
};

static void data_put(char *to, const struct vm_data *from)
{
	struct vm_data bytes;

	if (from->layout) {
		bytes = vm_data_bytes(to, from->bytes);
		vm_data_copy_slow(&bytes, from);
	} else {
		memcpy(to, from->addr, from->bytes);
	}
}

/* As data_show(), for blocks of any size: their sizes, where they begin behind
 * these, and the blocks.  Those for the members who show are left out. */
static bool uneven_show(const struct vm_coll *coll, struct show *show)
{
	size_t n = (size_t)coll->size, used = uneven_head(n), at = 0;
	size_t room = show->room - show->used, own = 0;
	int *sizes = (int *)(void *)(show->data + show->used);
	char *blocks = (char *)sizes + used;

	if ((coll->in_place && coll->kind->swaps) || used > room)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct vm_data from;

		sizes[i] = 0;
		sizes[n + i] = (int)at;
		if (own < show->count && show->members[own] == i) {
			own++;
			continue;
		}
		from = vm_blocks_data(&coll->send, i);
		if (from.bytes > room - used)
			return false;
		sizes[i] = (int)from.bytes;
		data_put(blocks + at, &from);
		at += from.bytes;
		used += from.bytes;
	}
	/* Those of the next member are aligned. */
	used = (used + sizeof(int) - 1) & ~(sizeof(int) - 1);
	if (used > room || (show->used && used != show->bytes))
		return false;
	show->bytes = (uint32_t)used;
	show->used += used;
	return true;
}

/* Adds what a member sends. */
static bool data_show(const struct vm_coll *coll, struct show *show)
{
	struct vm_data from;

	if (coll->uneven)
		return uneven_show(coll, show);
	if (!small_data(coll, &from) || from.bytes > show->room - show->used ||
	    (show->used && from.bytes != show->bytes))
		return false;
	/* Members that send nothing are not in the post. */
	if (from.bytes == 0)
		return false;
	show->bytes = (uint32_t)from.bytes;
	data_put(show->data + show->used, &from);
	show->used += show->bytes;
	return true;
}

/* Shows what the members send, and which call it is; false: it is not small, or
 * they disagree. */
static bool members_show(const struct vm_meet *meet, struct show *show,
			 char *key)
{
	const struct vm_coll *first = vm_coll_of(meet, show->members[0]);
	char what[sizeof(first->what)];

	/* Bytes have no type. */
	if (VM_UNLIKELY(mpi_cvar.check_types))
		return false;
	for (uint32_t i = 0; i < show->count; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, show->members[i]);

		if (coll->first_size ||
		    (i && vm_coll_differs(first, coll, what, sizeof(what))))
			return false;
		if (vm_coll_small_sends(coll, coll->rank) &&
		    !data_show(coll, show))
			return false;
	}
	key_init((struct vm_coll_key *)key, first);
	return true;
}

bool vm_coll_small_show(struct vm_meet *meet, struct vm_meet_worker *worker,
			struct vm_meet_post *post)
{
	struct show show = { .members = worker->members,
			     .count = worker->member_count,
			     .data = post->data,
			     .room = worker->room };

	if (vm_coll_of(meet, worker->members[0])->kind->whole ||
	    !members_show(meet, &show, post->key))
		return false;
	if (show.used)
		post->bytes = show.bytes;
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

/* What members elsewhere have shown. */
struct shown {
	const uint32_t *members;
	uint32_t count, bytes;
	char *data;
};

/* Seats proxies for those members that send anything. */
static void small_seat(struct proxy_view *view, const struct shown *shown,
		       const struct vm_coll *like)
{
	char *data = shown->data;

	for (uint32_t i = 0; i < shown->count; i++) {
		uint32_t rank = shown->members[i];
		struct vm_coll *proxy = &view->proxies[rank];
		char *bytes = data;

		if (!vm_coll_small_sends(like, (int)rank))
			continue;
		if (view->distance) {
			bytes = view->data + rank * view->distance;
			memcpy(bytes, data, shown->bytes);
		}
		proxy_init(proxy, like, (int)rank, bytes, shown->bytes);
		atomic_init(&view->meet.seats[rank].args, proxy);
		data += shown->bytes;
	}
}

/* The members of a worker, or of a process. */
struct team {
	const uint32_t *members;
	uint32_t count;
};

static void team_seat(struct proxy_view *view, const struct vm_meet *meet,
		      const struct team *team)
{
	for (uint32_t i = 0; i < team->count; i++)
		atomic_init(&view->meet.seats[team->members[i]].args,
			    vm_coll_of(meet, team->members[i]));
}

/* Does the parts of its members, consecutive ones in one call. */
static void parts_do(struct vm_meet *meet, const struct team *team,
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

static bool is_member(const struct team *team, int rank)
{
	for (uint32_t i = 0; i < team->count; i++)
		if (team->members[i] == (uint32_t)rank)
			return true;
	return false;
}

/* Whether there is anything to do for its members. */
static bool has_parts(const struct team *team, const struct vm_coll *me)
{
	return me->kind->part && !(me->kind->rooted && me->kind->gathers &&
				   !is_member(team, me->root));
}

/* Prepares a view in the worker's memory; false, and an error of the members:
 * there is none. */
static bool view_open(struct proxy_view *view, struct vm_meet *meet,
		      struct vm_meet_worker *worker, const struct team *team,
		      const struct vm_coll *me)
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

static void view_do(struct proxy_view *view, const struct team *team,
		    struct vm_coll *me)
{
	if (me->kind->slices || me->kind->whole)
		me->kind->part(&view->meet, me, 0, view->meet.size);
	else
		parts_do(&view->meet, team, me);
}

void vm_coll_small_own(struct vm_meet *meet, struct vm_meet_worker *self,
		       void *args)
{
	const struct team team = { self->members, self->member_count };
	struct proxy_view view;

	if (!has_parts(&team, args) ||
	    !view_open(&view, meet, self, &team, args))
		return;
	for (uint32_t w = 0; w < meet->worker_count; w++) {
		const struct vm_meet_worker *worker = &meet->workers[w];
		struct vm_meet_post *post;

		if (worker == self || !worker->member_count)
			continue;
		post = vm_meet_post_of(worker, self);
		small_seat(&view,
			   &(struct shown){ worker->members,
					    worker->member_count, post->bytes,
					    post->data },
			   args);
	}
	view_do(&view, &team, args);
}

/* Seats proxies for a process's members; false: its card is malformed. */
static bool card_seat(struct proxy_view *view, const struct vm_meet *meet,
		      int process, const struct vm_coll *like)
{
	const struct vm_leaders_process *there =
		&meet->leaders->processes[process];
	size_t bytes, senders = 0;
	const struct vm_leaders_card *card =
		vm_leaders_card_of(meet, process, &bytes);

	for (uint32_t i = 0; i < there->count; i++)
		senders += vm_coll_small_sends(like, (int)there->members[i]);
	if (senders && (!card->bytes || card->bytes > bytes / senders))
		return false;
	if (like->kind->reduces && senders &&
	    card->bytes != like->recv.count * like->recv.type->size)
		return false;
	for (size_t i = 0; like->uneven && i < senders; i++)
		if (!uneven_fits(card->data + i * card->bytes, card->bytes,
				 (size_t)like->size))
			return false;
	small_seat(view,
		   &(struct shown){ there->members, there->count, card->bytes,
				    (char *)(uintptr_t)card->data },
		   like);
	return true;
}

/* All processes have shown their members' data. */
static int cards_do(struct vm_meet *meet, const struct team *team)
{
	struct vm_coll *me = vm_coll_of(meet, team->members[0]);
	struct vm_meet_worker *worker =
		&meet->workers[meet->seats[team->members[0]].worker];
	struct proxy_view view;

	if (!has_parts(team, me) || !view_open(&view, meet, worker, team, me))
		return 0;
	view.meet.leaders = meet->leaders;
	for (int p = 0; p < meet->leaders->count; p++)
		if (p != meet->leaders->self && !card_seat(&view, meet, p, me))
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
				    const struct show *show)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any = vm_coll_of(meet, show->members[0]);

	if (!any->kind->rooted || !any->kind->part ||
	    leaders->of[any->root] != 0 || !vm_leaders_may_go_ahead(meet))
		return VM_LEADERS_ALL;
	if (!any->kind->gathers)
		return VM_LEADERS_DOWN;
	if (any->as == VM_CALL_Gatherv || any->as == VM_CALL_Gatherv_c ||
	    (any->op && !any->op->loops) ||
	    (size_t)show->bytes * members_most(leaders) > show->room)
		return VM_LEADERS_ALL;
	return VM_LEADERS_UP;
}

/* The first process is in another call, and has gone: an error of all
 * members. */
static int differs_from_first(struct vm_meet *meet, const struct team *team)
{
	const struct vm_coll *me = vm_coll_of(meet, team->members[0]);
	uint32_t other = meet->leaders->processes[0].members[0];
	struct vm_coll_key key;
	size_t bytes;

	memcpy(&key, vm_leaders_card_of(meet, 0, &bytes)->key, sizeof(key));
	if (key.as >= VM_CALLS)
		return -VMPI_EINVAL;
	for (uint32_t i = 0; i < team->count; i++) {
		struct vm_coll *coll = vm_coll_of(meet, team->members[i]);

		if (key.as != me->as)
			vm_coll_fail(coll, MPI_ERR_OTHER,
				     "the ranks disagree: rank %d calls %s, "
				     "rank %u %s",
				     me->rank, vm_call_name(me->id), other,
				     vm_call_name(key.as));
		else
			vm_coll_fail(coll, MPI_ERR_OTHER,
				     "the ranks disagree: rank %d has root %d, "
				     "rank %u root %d",
				     me->rank, me->root, other, key.root);
	}
	return 0;
}

int vm_coll_small_far(struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct team team = { leaders->processes[leaders->self].members,
				   leaders->processes[leaders->self].count };
	struct vm_leaders_card *card;
	const struct vm_coll *any = vm_coll_of(meet, team.members[0]);
	struct show show = { .members = team.members, .count = team.count };
	int rc;

	if ((any->kind->whole && !any->kind->plain) ||
	    !vm_coll_plan_is_small(any, &show.room))
		return VM_PENDING;
	if (show.room > VM_LEADERS_CARD_DATA)
		show.room = VM_LEADERS_CARD_DATA;
	card = vm_leaders_card(meet);
	if (!card)
		return VM_PENDING; /* which says so */
	show.data = card->data;
	if (!members_show(meet, &show, card->key))
		return VM_PENDING;
	card->bytes = show.bytes;
	rc = vm_leaders_short(meet, show.used, need_of(meet, &show));
	if (rc == VM_PENDING)
		return rc;
	if (rc == 0)
		rc = cards_do(meet, &team);
	if (rc == -VMPI_EMISMATCH)
		rc = differs_from_first(meet, &team);
	vm_leaders_short_end(meet);
	return rc;
}
