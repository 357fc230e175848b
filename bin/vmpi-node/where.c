/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi-where is asked.  What is here is for where it cannot be: the heap and the
 * locks of the dynamic linker may be what is broken, so mostly calls of the
 * kernel.  The unwinder is only asked about faults outside of the program.
 */
#include "where.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/last_word.h"
#include "node.h"

#define FRAMES_MAX 64

static uintptr_t context_pc(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* One line of /proc/self/maps: whether pc is in it, and of which file. */
static bool map_describe(char *text, size_t bytes, const char *line,
			 uintptr_t pc)
{
	unsigned long begin, end, offset;
	int name = 0;

	if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %n", &begin, &end, &offset,
		   &name) < 3 ||
	    !name || line[name] != '/' || pc < begin || pc >= end)
		return false;
	snprintf(text, bytes, "%s+%#lx", line + name, pc - begin + offset);
	return true;
}

/* In a library, such as that of a policy. */
static bool library_find(char *text, size_t bytes, uintptr_t pc)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char block[2048], line[512];
	size_t used = 0;
	ssize_t n = 0;
	bool found = false;

	while (fd >= 0 && !found && (n = read(fd, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < n && !found; i++) {
			line[used] = block[i] == '\n' ? '\0' : block[i];
			used += used < sizeof(line) - 1;
			if (block[i] != '\n')
				continue;
			found = map_describe(text, bytes, line, pc);
			used = 0;
		}
	if (fd >= 0)
		close(fd);
	return found;
}

/* The program of the rank that has the fault. */
static const struct vm_image *program(void)
{
	const struct vm_image_copy *copy = node_copy();

	return copy ? copy->image : node.image;
}

/* The frame of the program that is nearest to the fault. */
struct caller {
	size_t offset; /* in the image; 0: none was found */
	int frames;
};

static _Unwind_Reason_Code frame_look(struct _Unwind_Context *frame, void *arg)
{
	struct caller *caller = arg;
	uintptr_t pc = _Unwind_GetIP(frame);

	/* It is where the call returns to. */
	if (pc && vm_image_find(program(), (const void *)(pc - 1),
				&caller->offset) >= 0)
		return _URC_END_OF_STACK;
	caller->offset = 0;
	return ++caller->frames < FRAMES_MAX ? _URC_NO_REASON :
					       _URC_END_OF_STACK;
}

/* Of a stack that is damaged that is a fault itself (guard.h). */
static size_t caller_find(void)
{
	struct caller caller = { 0 };

	_Unwind_Backtrace(frame_look, &caller);
	return caller.offset;
}

void where_address(char text[WHERE_MAX], const void *context)
{
	uintptr_t pc = context_pc(context);
	char library[192];
	size_t offset, used, caller;

	used = (size_t)snprintf(text, WHERE_MAX, " (pc %#lx",
				(unsigned long)pc);
	if (vm_image_find(program(), (const void *)pc, &offset) >= 0) {
		snprintf(text + used, WHERE_MAX - used, ", %s+%#zx)",
			 vm_image_path(program()), offset);
		return;
	}
	if (library_find(library, sizeof(library), pc))
		used += (size_t)snprintf(text + used, WHERE_MAX - used, ", %s",
					 library);
	caller = caller_find();
	if (caller && used < WHERE_MAX)
		used += (size_t)snprintf(text + used, WHERE_MAX - used,
					 ", called from %s+%#zx",
					 vm_image_path(program()), caller);
	if (used < WHERE_MAX)
		snprintf(text + used, WHERE_MAX - used, ")");
}

void where_pc(char text[WHERE_MAX], const void *context)
{
	snprintf(text, WHERE_MAX, " (pc %#lx)",
		 (unsigned long)context_pc(context));
}

bool where_describe(char text[WHERE_MAX], const void *context, bool own)
{
	/* Of many processes that fail for one reason one says it. */
	return vm_last_word_take() && vm_where_say(text, context, own);
}

bool where_fault(char text[WHERE_MAX], int *rank, const void *context,
		 const void *address)
{
	return vm_last_word_take() &&
	       vm_where_fault(text, rank, context, address);
}
