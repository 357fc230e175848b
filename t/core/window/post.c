/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts and completions: words that members change for each other.
 */
#include "core/window/post.h"

#include "core/window/wait.h"
#include "tap.h"

#define MEMBERS 3

static struct vm_window *windows[MEMBERS];
static struct vm_window_team *team;

/* All members here, with a reference each. */
static void team_make(void)
{
	team = vm_window_team_new(MEMBERS);
	atomic_store(&team->refs, MEMBERS);
	for (size_t i = 0; i < MEMBERS; i++) {
		windows[i] = vm_window_new(NULL, i);
		windows[i]->team = team;
		team->places[i].window = windows[i];
		team->places[i].words = windows[i]->words;
	}
}

static void posts(void)
{
	_Atomic uint32_t *row = vm_window_posts(windows[1]);

	ok(row && vm_window_posts(windows[1]) == row,
	   "a member has one row for posts");
	is_int(vm_window_post(&team->places[1], 0), 0, "another one posts");
	ok(row[0] == 1 && row[1] == 0 && row[2] == 0, "in its own word");
	is_int(vm_window_post_wait(windows[1], 0, NULL), 0,
	       "who waits for that goes on");
	ok(row[0] == 1, "and writes nothing");
	atomic_store(&row[2], UINT32_MAX);
	windows[1]->posts_taken[2] = UINT32_MAX - 1;
	is_int(vm_window_post_wait(windows[1], 2, NULL), 0,
	       "it waits for the last one before the words begin again");
	is_int(vm_window_post(&team->places[1], 2), 0, "then they do");
	is_int(vm_window_post_wait(windows[1], 2, NULL), 0,
	       "which makes no difference");
}

static void completes(void)
{
	ok(!vm_window_complete_test(windows[2], 1), "nobody is done");
	is_int(vm_window_complete(&team->places[2]), 0, "one is done");
	ok(!vm_window_complete_test(windows[2], 2), "not both");
	is_int(vm_window_complete(&team->places[2]), 0, "the other one, too");
	ok(vm_window_complete_test(windows[2], 2), "both");
	ok(!vm_window_complete_test(windows[2], 2), "that is used up");
	ok(vm_window_complete_test(windows[2], 0), "nobody need be waited for");
	vm_window_complete(&team->places[2]);
	is_int(vm_window_complete_wait(windows[2], 1), 0, "nor who is there");
}

/* A member that is in another process, where its tasks may sleep. */
static void far(void)
{
	_Atomic uint32_t row[MEMBERS] = { 0 };
	struct vm_window_place place = { .words = windows[0]->words,
					 .posts = row };

	is_int(vm_window_post(&place, 2), 0, "a post to another process");
	ok(row[2] == 1, "is a word, too");
	atomic_store(&place.words->sleepers, 1);
	is_int(vm_window_post(&place, 2), VM_PENDING,
	       "who sleeps there is told by a packet");
	is_int(vm_window_complete(&place), VM_PENDING, "of the end as well");
	atomic_store(&place.words->sleepers, 0);
}

int main(void)
{
	team_make();
	posts();
	completes();
	far();
	for (size_t i = 0; i < MEMBERS; i++)
		vm_window_free(windows[i]);
	return done_testing();
}
