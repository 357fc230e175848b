/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of calls, whom they wait for, and run times by slices.
 */
#include "introspect/measure/sites.h"

#include "tap.h"

static struct vm_sites sites;
static const char place[VM_SITES_MAX + 2];

/* A call at a place: the rank ran until it, waits, and runs again. */
static void call(uint64_t now, uint64_t idle, uint64_t had, int at, int peer,
		 bool sends)
{
	static uint64_t idle_sum;

	vm_sites_enter(&sites, now, idle_sum, had, 7, &place[at]);
	idle_sum += idle;
	vm_sites_exit(&sites, now + 2 * idle, idle_sum, had, peer, sends);
}

int main(void)
{
	const struct vm_site *site = &sites.list[1];
	uint64_t sum = 0, w = VM_SITES_WIDTH;

	vm_sites_init(&sites, 1000);
	call(2000, 10, 1000, 0, 3, false);
	call(3000, 20, 1800, 0, 3, true);
	call(4000, 5, 2700, 0, 2, false);
	is_int((intmax_t)sites.count, 2, "a place, beside that of all others");
	ok(site->from == &place[0] && site->call == 7, "which call, and where");
	is_int((intmax_t)site->count, 3, "how often");
	is_int((intmax_t)site->time, 70, "how long");
	is_int((intmax_t)site->idle, 35, "for how long the core was idle");
	is_int((intmax_t)site->idle_sends, 20, "... for a receiver");
	is_int(site->peer, 3, "for whom most of it");
	is_int((intmax_t)site->idle_peer, 25, "... less what was for others");
	call(5000, 30, 2700, 0, 4, false);
	is_int(site->peer, 4, "another one may become that");
	for (int i = 1; i < VM_SITES_MAX + 2; i++)
		call(10000 + 10 * (uint64_t)i, 0, 2700, i, -1, false);
	is_int((intmax_t)sites.count, VM_SITES_MAX, "there are so many places");
	is_int((intmax_t)sites.list[0].count, 3, "others share one");
	ok(sites.slices[0] > 2690 && sites.slices[0] <= 2700,
	   "run time is that of the slice");
	call(1000 + 32 * w, 0, 2700 + 31 * w, 0, -1, false);
	is_int((intmax_t)sites.width, (intmax_t)(4 * w),
	       "slices become wider when they are used up");
	for (int i = 0; i < VM_SITES_SLICES; i++)
		sum += sites.slices[i];
	ok(sum > 31 * w && sum <= 31 * w + 2700, "... and nothing is lost");
	vm_sites_widen(&sites, 16 * w);
	ok(sites.width == 16 * w && sites.slices[2] < w && !sites.slices[3],
	   "they can be made as wide as others");
	return done_testing();
}
