/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of lone accesses: with times of a machine that is made up.
 */
#include "mpi/win/far/choice.h"

#include "tap.h"

/* What an access takes, each way. */
struct machine {
	uint64_t packets, kernel;
	uint64_t
		wake; /* the first packet behind the kernel's takes so much more */
};

static struct vm_far_choice choice;
static int kernels_last, timed_count;

/* So many accesses by the kernel let a target fall asleep. */
#define SLEEP 50

/* So many accesses; returns how many of them the kernel does. */
static int accesses(const struct machine *machine, int n)
{
	int kernels = 0;

	for (int i = 0; i < n; i++) {
		bool timed;
		enum vm_far_way way = vm_far_choice_next(&choice, &timed);
		uint64_t ticks = way == VM_FAR_KERNEL ? machine->kernel :
							machine->packets;

		if (way == VM_FAR_PACKETS && kernels_last > SLEEP)
			ticks += machine->wake;
		if (timed)
			vm_far_choice_took(&choice, ticks);
		timed_count += timed && way == VM_FAR_KERNEL;
		kernels += way == VM_FAR_KERNEL;
		kernels_last = way == VM_FAR_KERNEL ? kernels_last + 1 : 0;
	}
	return kernels;
}

static void finds(enum vm_far_way way)
{
	const struct machine near = { .packets = 600, .kernel = 1000 },
			     far = { .packets = 2000, .kernel = 1000 };
	const char *begins = way == VM_FAR_KERNEL ? "kernel" : "packets";

	vm_far_choice_init(&choice, way);
	accesses(&near, 1000);
	ok(accesses(&near, 1000) < 50, "from %s to packets, which are quicker",
	   begins);
	vm_far_choice_init(&choice, way);
	accesses(&far, 1000);
	ok(accesses(&far, 1000) > 950,
	   "from %s to the kernel, which is quicker", begins);
	accesses(&near, 20000);
	ok(accesses(&near, 1000) < 50,
	   "from %s to packets when these become "
	   "quicker",
	   begins);
}

int main(void)
{
	const struct machine asleep = { .packets = 600,
					.kernel = 1000,
					.wake = 50000 },
			     busy = { .packets = 2000000, .kernel = 1000 },
			     near = { .packets = 600, .kernel = 1000 };
	int packets;

	finds(VM_FAR_PACKETS);
	finds(VM_FAR_KERNEL);

	kernels_last = SLEEP;
	vm_far_choice_init(&choice, VM_FAR_KERNEL);
	accesses(&asleep, 1000);
	ok(accesses(&asleep, 1000) < 50,
	   "a target that the first packet wakes up gets packets");

	vm_far_choice_init(&choice, VM_FAR_KERNEL);
	packets = 100000 - accesses(&busy, 100000);
	ok(packets > 0 && packets < 100,
	   "one that does something else is asked rarely: %d of 100000",
	   packets);

	vm_far_choice_init(&choice, VM_FAR_PACKETS);
	accesses(&near, 1000);
	packets = 1000 - accesses(&busy, 1000);
	ok(packets < 20,
	   "one that begins to do something else is left alone "
	   "at once: %d packets",
	   packets);

	vm_far_choice_init(&choice, VM_FAR_KERNEL);
	timed_count = 0;
	accesses(&busy, 100000);
	ok(timed_count < 200,
	   "few accesses by the kernel are timed: %d of "
	   "100000",
	   timed_count);
	return done_testing();
}
