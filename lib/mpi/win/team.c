/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams: where the memory of each member is, here and in other processes.
 */
#include "mpi/win/team.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/window/reply.h"
#include "mpi/comm/split.h"

static const struct vm_win_offer *offer_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

static void all_fail(struct vm_meet *meet, int code, const char *why, size_t i)
{
	for (size_t j = 0; j < meet->size; j++)
		vm_coll_fail(vm_coll_of(meet, j), code, why, i);
}

bool vm_win_team_can(struct vm_meet *meet)
{
	const struct vm_win_offer *first = offer_of(meet, 0);

	for (size_t i = 0; i < meet->size; i++) {
		const struct vm_win_offer *offer = offer_of(meet, i);

		if (offer->error == MPI_ERR_RMA_SHARED)
			all_fail(meet, offer->error,
				 "rank %zu shares no memory with rank 0; "
				 "MPI_Comm_split_type makes communicators of "
				 "those that do",
				 i);
		else if (offer->error)
			all_fail(meet, offer->error,
				 "rank %zu has no memory for the window", i);
		else if (offer->noncontig != first->noncontig)
			all_fail(meet, MPI_ERR_INFO_VALUE,
				 "ranks 0 and %zu give different values of "
				 "alloc_shared_noncontig",
				 i);
		else
			continue;
		return false;
	}
	return true;
}

/* Members whose memory lies in one file, or in one piece of this process. */
struct file {
	const struct vm_meet *meet;
	const uint32_t *members; /* NULL: all, in order */
	size_t count;
	bool apart; /* each member's memory begins a page, or a cache line */
	bool pages; /* a page in any case */
	bool words; /* only what is before the memory is in it */
	/* Bytes before: of each member what all look at (struct
	 * vm_window_common), so many words for posts, and, of memory that only
	 * packets reach, for answers (reply.h). */
	size_t head, posts, told;
};

/* Memory of a page or more, apart, begins so far behind the begin of one.  The
 * programs' large buffers lie at the begin of a page or 16 bytes behind, and a
 * copy waits where it reads what has the same place in its page as what it has
 * just written. */
#define ASIDE 1024

static size_t member_of(const struct file *file, size_t k)
{
	return file->members ? file->members[k] : k;
}

static bool round_up(size_t *value, size_t unit)
{
	if (__builtin_add_overflow(*value, unit - 1, value))
		return false;
	*value -= *value % unit;
	return true;
}

/* Where the memory of a member begins, *from, if that of those before it ends at
 * *end; *end becomes its own end. */
static bool piece(const struct file *file, size_t i, size_t *from, size_t *end)
{
	const struct vm_win_offer *offer = offer_of(file->meet, i);
	size_t bytes = offer->bytes, page = (size_t)sysconf(_SC_PAGESIZE);
	bool begins = file->pages || offer->align > ASIDE;
	bool whole = begins || bytes >= page;
	size_t aside = file->apart && !begins && whole ? ASIDE : 0;
	size_t part = offer->align > 2 * VM_CACHELINE ? offer->align :
							2 * VM_CACHELINE;

	*from = *end > aside ? *end - aside : 0;
	if (file->apart && !round_up(from, whole ? page : part))
		return false;
	return !__builtin_add_overflow(*from, aside, from) &&
	       !__builtin_add_overflow(*from, bytes, end);
}

/* The bytes of a file; 0: there are no so many. */
static size_t file_bytes(const struct file *file)
{
	size_t from, end = file->head;

	for (size_t k = 0; k < file->count && !file->words; k++)
		if (!piece(file, member_of(file, k), &from, &end))
			return 0;
	return round_up(&end, (size_t)sysconf(_SC_PAGESIZE)) ? end : 0;
}

static bool is_empty(const struct file *file)
{
	for (size_t k = 0; k < file->count; k++)
		if (offer_of(file->meet, member_of(file, k))->bytes)
			return false;
	return true;
}

static struct vm_window *end_of(const struct vm_meet *meet, size_t i)
{
	struct vm_coll *coll = vm_coll_of(meet, i);

	return coll->owner ? ((struct vm_win_make *)coll)->win->window : NULL;
}

/* What all look at who reach a member. */
static void common_place(const struct file *file, struct vm_window_team *team,
			 size_t i, struct vm_window_common *common)
{
	struct vm_window *window = end_of(file->meet, i);

	team->places[i].words = &common->words;
	team->places[i].updates = common;
	if (!file->words || window)
		team->places[i].common = common;
	if (!window)
		return;
	vm_window_common_init(common, true);
	window->words = &common->words;
	window->common = common;
}

/* Where the packets of the file's members are answered; behind the posts. */
static void replies_place(const struct file *file, struct vm_window_team *team,
			  char *memory)
{
	struct vm_window_replies *replies = (struct vm_window_replies *)memory;
	struct vm_window_told *told =
		(struct vm_window_told *)&replies[file->count];

	for (size_t k = 0; file->told && k < file->count; k++) {
		struct vm_window_place *place =
			&team->places[member_of(file, k)];

		place->replies = &replies[k];
		place->told = &told[k * file->told];
	}
}

/* Fills in where the file's members are in memory. */
static void file_place(const struct file *file, struct vm_window_team *team,
		       char *memory)
{
	struct vm_window_common *commons = (struct vm_window_common *)memory;
	_Atomic uint32_t *posts = (_Atomic uint32_t *)&commons[file->count];
	size_t from, end = file->head;

	replies_place(file, team, (char *)(posts + file->count * file->posts));
	for (size_t k = 0; k < file->count; k++) {
		size_t i = member_of(file, k);
		struct vm_window_place *place = &team->places[i];

		if (file->head)
			common_place(file, team, i, &commons[k]);
		if (file->posts)
			place->posts = posts + k * file->posts;
		if (file->words)
			continue;
		piece(file, i, &from, &end);
		if (place->bytes || !file->apart)
			place->base = memory + from;
		place->reach = place->bytes;
	}
}

/* Larger windows have no rows by member, which are square. */
#define SQUARE_MOST 4096

/* The words of a member's row, in lines of the cache of its own. */
static size_t row_room(size_t size, size_t word)
{
	const size_t line = VM_CACHELINE / word;

	return size > SQUARE_MOST ? 0 : (size + line - 1) / line * line;
}

/* Bytes before the memory, of each member. */
static size_t head_bytes(const struct file *file)
{
	size_t bytes = sizeof(struct vm_window_common) +
		       file->posts * sizeof(uint32_t);

	if (file->told)
		bytes += sizeof(struct vm_window_replies) +
			 file->told * sizeof(struct vm_window_told);
	return bytes;
}

/* Maps a file that member i has made: MPI_ERR_RMA_SHARED with the reason in
 * *why if that is not to be had. */
static int file_map(struct file *file, struct vm_window_team *team, size_t i,
		    const char **why)
{
	struct vm_window_map *map = &team->maps[team->map_count];

	file->posts = row_room(team->size, sizeof(uint32_t));
	if (file->words)
		file->told =
			row_room(team->size, sizeof(struct vm_window_told));
	file->head = file->count * head_bytes(file);
	if (!round_up(&file->head, file->apart && !file->pages ?
					   2 * VM_CACHELINE :
					   (size_t)sysconf(_SC_PAGESIZE)))
		return MPI_ERR_NO_MEM;
	map->bytes = file_bytes(file);
	if (!map->bytes)
		return MPI_ERR_NO_MEM;
	map->base = vm_window_share_map(&offer_of(file->meet, i)->share,
					map->bytes, why);
	if (!map->base)
		return MPI_ERR_RMA_SHARED;
	team->map_count++;
	file_place(file, team, map->base);
	return 0;
}

/* Memory for all, in the order of the members (MPI_Win_allocate_shared). */
static int memory_share(struct vm_meet *meet, struct vm_window_team *team,
			bool far, const char **why)
{
	struct file file = { .meet = meet, .count = meet->size };
	size_t bytes;

	file.apart = file.pages = offer_of(meet, 0)->noncontig;
	/* In one process each has its own, if they may lie apart. */
	if (is_empty(&file) || (!far && file.apart))
		return 0;
	if (far)
		return file_map(&file, team, 0, why);
	bytes = file_bytes(&file);
	team->memory =
		bytes ? vm_window_memory(bytes, (size_t)sysconf(_SC_PAGESIZE)) :
			NULL;
	if (!team->memory)
		return MPI_ERR_NO_MEM;
	file_place(&file, team, team->memory);
	return 0;
}

/* Memory of this process alone for its members. */
static int memory_own(const struct file *file, struct vm_window_team *team)
{
	for (size_t k = 0; k < file->count; k++) {
		size_t i = member_of(file, k);
		struct vm_window *window = end_of(file->meet, i);
		struct vm_window_place *place = &team->places[i];

		if (!place->bytes)
			continue;
		place->base = vm_window_memory(place->bytes,
					       offer_of(file->meet, i)->align);
		if (!place->base)
			return MPI_ERR_NO_MEM;
		window->own = place->base;
	}
	return 0;
}

/* Memory for the members of each process, which those of other processes map if
 * they can: all of MPI_Win_allocate's, of other windows the words. */
static int memory_allocate(struct vm_meet *meet, struct vm_window_team *team,
			   bool words, bool *partial)
{
	const struct vm_leaders *leaders = meet->leaders;
	const char *why;

	for (int p = 0; p < leaders->count; p++) {
		const struct vm_leaders_process *process =
			&leaders->processes[p];
		struct file file = { .meet = meet,
				     .members = process->members,
				     .count = process->count,
				     .apart = true,
				     .words = words };
		int rc = file_map(&file, team, process->members[0], &why);

		if (rc != 0 &&
		    vm_window_share_is_near(
			    &offer_of(meet, process->members[0])->share))
			*partial = true;
		if (rc == 0 || p != leaders->self)
			continue;
		/* The others see whether there is a file, and no more. */
		if (offer_of(meet, process->members[0])->share.space)
			return MPI_ERR_NO_MEM;
		rc = words ? 0 : memory_own(&file, team);
		if (rc != 0)
			return rc;
	}
	return 0;
}

static struct vm_window_team *places_make(struct vm_meet *meet)
{
	struct vm_window_team *team = vm_window_team_new(meet->size);

	for (size_t i = 0; team && i < meet->size; i++) {
		const struct vm_win_offer *offer = offer_of(meet, i);
		struct vm_window *window = end_of(meet, i);

		team->places[i] = (struct vm_window_place){
			.base = offer->base,
			.reach = window ? offer->bytes : 0,
			.number = offer->number,
			.unit = offer->unit,
			.bytes = offer->bytes,
			.window = window,
			.common = window ? window->common : NULL,
			.updates = window ? window->common : NULL,
			.words = window ? window->words : NULL,
		};
	}
	return team;
}

/* Makes what the members here share: 0 or an MPI error. */
static int team_make(struct vm_meet *meet, struct vm_window_team **out,
		     const struct vm_win_make *make, const char **why,
		     bool *partial)
{
	struct vm_window_team *team = places_make(meet);
	size_t files = make->far ? (size_t)meet->leaders->count : 0;
	int rc = 0;

	*out = team;
	if (!team)
		return MPI_ERR_NO_MEM;
	team->maps = files ? calloc(files, sizeof(*team->maps)) : NULL;
	if (files && !team->maps)
		rc = MPI_ERR_NO_MEM;
	else if (make->win->flavor == MPI_WIN_FLAVOR_SHARED)
		rc = memory_share(meet, team, make->far, why);
	else if (make->far)
		rc = memory_allocate(
			meet, team,
			make->win->flavor != MPI_WIN_FLAVOR_ALLOCATE, partial);
	if (rc != 0)
		vm_window_team_drop(team);
	return rc;
}

/* Of a window that is not made. */
static void common_reset(struct vm_window *window)
{
	window->common = &window->own_common;
	window->words = &window->own_common.words;
}

void vm_win_team_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	struct vm_window_team *team;
	const char *why = "";
	bool partial = false;
	int here = 0, rc;

	if (!vm_win_team_can(meet))
		return;
	rc = team_make(meet, &team, (struct vm_win_make *)me, &why, &partial);
	for (size_t i = 0; i < meet->size; i++) {
		struct vm_win_make *make =
			(struct vm_win_make *)vm_coll_of(meet, i);

		if (!make->coll.owner)
			continue;
		make->error = rc;
		make->why = why;
		make->partial = partial;
		if (rc == 0)
			make->win->window->team = team;
		else
			common_reset(make->win->window);
		here++;
	}
	if (rc == 0)
		atomic_store_explicit(&team->refs, here, memory_order_relaxed);
}
