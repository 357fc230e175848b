/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of ULTs: page faults, because a test can make exactly as many as it
 * wants; whatever this machine does not count must be refused.
 */
#include "sched/counter.h"

#include <sys/mman.h>

#include "sched.h"
#include "sched/clocks.h"

static struct vmpi_counter *faults;

static __attribute__((noinline)) struct vm_ult *me(void)
{
	return vm_self;
}

/* Touches fresh pages: at least that many faults. */
static bool touch(int pages)
{
	size_t bytes = (size_t)pages * 4096;
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bail("no memory");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += 4096)
		((volatile char *)memory)[i] = 1;
	munmap(memory, bytes);
	return true;
}

static uint64_t mine(void)
{
	uint64_t value = 0;

	if (vm_counter_rank(faults, &value))
		bail("page faults are not counted any more");
	return value;
}

static uint64_t core(void)
{
	uint64_t value = 0;

	if (vm_counter_core(faults, &value))
		bail("page faults are not counted any more");
	return value;
}

static bool stop;

static int other_body(void *arg)
{
	(void)arg;
	while (!stop) {
		touch(100);
		vm_ult_yield();
	}
	return 0;
}

/* The others' faults are not mine; those in a section are the core's. */
static int share_body(void *arg)
{
	uint64_t before, sections, in_section;
	struct vm_ult *other;

	(void)arg;
	stop = false;
	other = sched_new(0, other_body, NULL);
	before = mine();
	sections = core();
	for (int i = 0; i < 20; i++) {
		touch(10);
		vm_ult_yield();
	}
	before = mine() - before;
	ok(before >= 200, "a rank's page faults are counted");
	ok(before < 2000, "those of others are not");
	ok(core() == sections, "nor are they the core's outside of sections");
	vm_clocks_enter(me());
	touch(50);
	vm_ult_yield();
	in_section = core() - sections;
	vm_clocks_leave(me());
	touch(500);
	sections = core() - sections;
	ok(in_section >= 50 && in_section < 500,
	   "the core has those of the section");
	ok(sections >= in_section && sections < 500,
	   "and no more when it has ended");
	stop = true;
	vm_ult_join(other);
	return 0;
}

/* A ULT that moves: its faults stay its own, the cores have theirs. */
static bool waits;
static uint64_t moved[2], moved_core;

static int mover_body(void *arg)
{
	(void)arg;
	moved[0] = mine();
	vm_clocks_enter(me());
	touch(30);
	waits = true;
	vm_ult_suspend();
	moved_core = core();
	touch(40);
	moved_core = core() - moved_core;
	vm_clocks_leave(me());
	moved[1] = mine();
	return 0;
}

static int move_body(void *arg)
{
	uint64_t before = core();
	struct vm_ult *ult = sched_new(0, mover_body, NULL);

	(void)arg;
	while (!waits)
		vm_ult_yield();
	before = core() - before;
	ult->worker = &vm_sched.workers[1];
	vm_ult_wake(ult);
	vm_ult_join(ult);
	ok(before >= 30 && moved_core >= 40,
	   "each core has the faults that happened there");
	ok(moved[1] - moved[0] >= 70, "the rank that moved has both");
	return 0;
}

/* Opened in the middle of a section; and twice, closed once. */
static int open_body(void *arg)
{
	struct vmpi_counter *again;
	uint64_t before;

	(void)arg;
	vm_clocks_enter(me());
	if (vm_counter_open(&faults, VMPI_COUNTER_PAGE_FAULTS) ||
	    vm_counter_open(&again, VMPI_COUNTER_PAGE_FAULTS))
		bail("page faults cannot be counted");
	vm_counter_close(again);
	before = core();
	touch(20);
	vm_ult_yield();
	ok(core() - before >= 20, "it knows of sections that it has not seen");
	vm_clocks_leave(me());
	return 0;
}

static int close_body(void *arg)
{
	(void)arg;
	vm_counter_close(faults);
	ok(!(vm_sched_observed() & VM_OBSERVE_COUNTERS),
	   "after the last close a switch reads nothing");
	return 0;
}

static void page_faults(const char *how, int choice)
{
	sched_cvar.counters = choice;
	diag("%s", how);
	waits = false;
	sched_call(open_body, NULL);
	sched_call(share_body, NULL);
	sched_call(move_body, NULL);
	sched_call(close_body, NULL);
}

/* Every kind counts something, or says that it cannot. */
static int kinds_body(void *arg)
{
	int counted = 0, refused = 0, bad = 0;

	(void)arg;
	for (int kind = 0; kind < VMPI_COUNTER_KINDS; kind++) {
		struct vmpi_counter *counter;
		uint64_t from = 0, to = 0;
		int rc = vm_counter_open(&counter, kind);

		refused += rc == -VMPI_ENOTSUP;
		bad += rc != 0 && rc != -VMPI_ENOTSUP;
		if (rc)
			continue;
		counted++;
		bad += vm_counter_rank(counter, &from) != 0;
		touch(100);
		if (kind == VMPI_COUNTER_CONTEXT_SWITCHES)
			vm_cpu_nap();
		bad += vm_counter_rank(counter, &to) != 0 || to <= from;
		vm_counter_close(counter);
	}
	is_int(bad, 0, "what can be opened counts: %d of %d kinds", counted,
	       counted + refused);
	return 0;
}

static int off_body(void *arg)
{
	struct vmpi_counter *counter = NULL;
	int refused = 0;

	(void)arg;
	for (int kind = 0; kind < VMPI_COUNTER_KINDS; kind++)
		refused += vm_counter_open(&counter, kind) == -VMPI_ENOTSUP;
	is_int(refused, VMPI_COUNTER_KINDS,
	       "nothing is counted when it is off");
	ok(counter == NULL, "and no counter handed out");
	return 0;
}

/* The test's own thread, which is no worker. */
static void thread_checks(void)
{
	uint64_t before;

	if (vm_counter_open(&faults, VMPI_COUNTER_PAGE_FAULTS))
		bail("page faults cannot be counted");
	before = mine();
	touch(10);
	ok(mine() - before >= 10, "an OS thread counts for itself");
	vm_counter_close(faults);
}

int main(void)
{
	sched_begin(2);
	page_faults("by getrusage()", VM_COUNTERS_USAGE);
	page_faults("by what there is", VM_COUNTERS_AUTO);
	sched_call(kinds_body, NULL);
	thread_checks();
	sched_cvar.counters = VM_COUNTERS_OFF;
	sched_call(off_body, NULL);
	sched_end();
	return done_testing();
}
