/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The address sanitizer has to know the stack that a thread is on, to clean it
 * when an exception leaves functions, and to unwind it.  Between the
 * announcement and the arrival at a stack it takes both for the thread's: so
 * the arrival at one is reported when the next one is announced, which takes
 * nothing from those who use no sanitizer.
 */
#include "sanitizer.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/rank/rank.h"
#include "sched/worker.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUILT_WITH_SANITIZER true
#else
#define BUILT_WITH_SANITIZER false
#endif

/* Functions of the runtime; NULL: it has none. */
static struct {
	void (*leave)(void **saved, const void *bottom, size_t bytes);
	void (*arrive)(void *saved, const void **bottom, size_t *bytes);
} fiber;

/* As above, of the thread sanitizer. */
static struct {
	void (*release)(void *object);
	void (*acquire)(void *object);
} order;

void sanitizer_release(void *object)
{
	if (order.release)
		order.release(object);
}

void sanitizer_acquire(void *object)
{
	if (order.acquire)
		order.acquire(object);
}

static void stack_change(struct vm_ult *from, struct vm_ult *to, bool ends)
{
	static _Thread_local bool announced;

	if (announced)
		fiber.arrive(from->fake_stack, NULL, NULL);
	announced = true;
	fiber.leave(ends ? NULL : &from->fake_stack, to->stack.base,
		    to->stack.bytes);
}

/* The sanitizer has reported an error and ends the process. */
static void end_report(void)
{
	const struct vm_rank *rank = vm_rank_self();
	char line[128];
	int n;

	/* At the end of the process: leaks. */
	if (!rank)
		return;
	n = snprintf(line, sizeof(line),
		     "vmpirun: rank %d: a sanitizer has found an error; ending "
		     "the job\n",
		     rank->index);
	if (n > 0)
		syscall(SYS_write, STDERR_FILENO, line, (size_t)n);
}

void sanitizer_start(void)
{
	void (*on_death)(void (*ends)(void));

	/* lib/sched does all this itself. */
	if (BUILT_WITH_SANITIZER)
		return;
	*(void **)&on_death =
		dlsym(RTLD_DEFAULT, "__sanitizer_set_death_callback");
	if (on_death)
		on_death(end_report);
	*(void **)&order.release = dlsym(RTLD_DEFAULT, "__tsan_release");
	*(void **)&order.acquire = dlsym(RTLD_DEFAULT, "__tsan_acquire");
	if (!dlsym(RTLD_DEFAULT, "__asan_init"))
		return;
	*(void **)&fiber.leave =
		dlsym(RTLD_DEFAULT, "__sanitizer_start_switch_fiber");
	*(void **)&fiber.arrive =
		dlsym(RTLD_DEFAULT, "__sanitizer_finish_switch_fiber");
	if (fiber.leave && fiber.arrive)
		vm_sched_report_stacks(stack_change);
}
