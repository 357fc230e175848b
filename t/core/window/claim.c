/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of a member's memory.
 */
#include "core/window/claim.h"

#include <string.h>

#include "core/window/wait.h"
#include "tap.h"

#define CLAIMS 4

static struct vm_window *window;
static struct vm_window_claim claims[CLAIMS];
static char order[2 * CLAIMS + 1]; /* which were granted, in letters */
static int error;

static void granted(struct vm_window_claim *claim, int rc)
{
	size_t n = strlen(order);

	error = rc;
	order[n] = (char)('a' + (claim - claims));
	order[n + 1] = 0;
}

static bool claim(int which, bool exclusive)
{
	claims[which].exclusive = exclusive;
	claims[which].granted = granted;
	return vm_window_claim(window, &claims[which]);
}

static bool try(bool exclusive)
{
	return vm_window_lock_try(&window->words->locks, exclusive, false);
}

static uint64_t word(void)
{
	return atomic_load_explicit(&window->words->locks,
				    memory_order_relaxed);
}

static void alone(void)
{
	ok(try(false) && try(false), "several share a lock");
	ok(!try(true), "which keeps one out that wants it alone");
	vm_window_unlock(window, false);
	ok(!try(true), "until all");
	vm_window_unlock(window, false);
	ok(try(true) && !try(true) && !try(false),
	   "have given it back; then it keeps all out");
	vm_window_unlock(window, true);
	is_int((long)word(), 0, "and nothing is left of it");
	vm_window_unlock(window, false);
	is_int((long)word(), 0, "what nobody has cannot be given back");
}

static void in_turn(void)
{
	try(true);
	ok(!claim(0, false) && !claim(1, false) && !claim(2, true) &&
		   !claim(3, false),
	   "who comes later waits");
	is_string(order, "", "in silence");
	ok(vm_window_lock_give(&window->words->locks, true),
	   "who gives the lock back hears that there are some");
	ok(!try(false), "nobody passes them");
	vm_window_grant(window);
	is_string(order, "ab",
		  "all who share are granted together, to the first "
		  "that does not");
	ok(!try(false), "nor then");
	vm_window_unlock(window, false);
	is_string(order, "ab", "which waits for all of them");
	vm_window_unlock(window, false);
	is_string(order, "abc", "and has it alone");
	vm_window_unlock(window, true);
	is_string(order, "abcd", "the next one follows");
	ok(try(false), "and now anybody may have it");
	vm_window_unlock(window, false);
	vm_window_unlock(window, false);
	is_int((long)word(), 0, "in the end nothing is left");
	ok(claim(0, true), "a claim that need not wait has the lock at once");
	is_string(order, "abcd", "and is not told so");
	vm_window_unlock(window, true);
}

static void lost(void)
{
	order[0] = 0;
	try(true);
	claim(0, true);
	vm_window_lose(window);
	is_string(order, "a", "the end of a process ends what waits");
	is_int(error, -VMPI_EPEER, "with an error");
	claim(1, true);
	is_string(order, "ab", "also what comes later");
}

int main(void)
{
	window = vm_window_new(NULL, 0);
	alone();
	in_turn();
	lost();
	vm_window_free(window);
	return done_testing();
}
