/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdw takes ranks for threads: a number, registers, and memory.  It is told
 * which files are loaded where (report/live/modules.h).
 */
#include "report/live/unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "core/runtime/where.h"
#include "report/live/culprit.h"
#include "report/live/dw.h"
#include "report/live/frames.h"
#include "report/live/modules.h"
#include "report/live/snapshot.h"
#include "report/live/system_call.h"

void vm_unwind_free(struct vm_stack_text *stacks, unsigned count)
{
	for (unsigned i = 0; stacks && i < count; i++)
		free(stacks[i].frames);
	free(stacks);
}

#ifndef VM_HAVE_LIBDW

static const char missing[] =
	"vmpi was built without libdw (Debian: libdw-dev)";

struct vm_stack_text *vm_unwind_process(pid_t pid, unsigned *count, char *why,
					size_t why_bytes)
{
	(void)pid;
	*count = 0;
	snprintf(why, why_bytes, "%s", missing);
	return NULL;
}

int vm_unwind_where(const struct vm_where_ask *ask, char *text, size_t bytes)
{
	(void)ask;
	snprintf(text, bytes, "%s", missing);
	return -VMPI_ENOTSUP;
}

#else

struct unwind {
	Dwfl_Callbacks callbacks;
	struct vm_modules modules;
	struct vm_snapshot snapshot;
	/* The rank whose stack is being read, and its frames. */
	const struct vm_snapshot_rank *rank;
	struct {
		uint64_t pc;
		bool interrupted;
	} frames[VM_FRAMES_MAX];
	unsigned count;
};

static bool is_runtime(const struct unwind *unwind, unsigned number)
{
	const char *path = unwind->modules.list[number].path;
	const char *slash = strrchr(path, '/');

	/* The node program contains the library; only it has that name
	 * here. */
	return number == 0 ?
		       strstr(path, "/exe") != NULL :
		       !strncmp(slash ? slash + 1 : path, "libvmpi.so.", 11);
}

/* The address of vmpi_debug, and which file the runtime is in. */
static uint64_t debug_find(const struct unwind *unwind,
			   const struct vm_module **runtime)
{
	const struct vm_dw *dw = unwind->modules.dw;

	for (unsigned i = 0; i < unwind->modules.count; i++) {
		Dwfl_Module *module = unwind->modules.list[i].handle;
		int count = module && is_runtime(unwind, i) ?
				    dw->dwfl_module_getsymtab(module) :
				    0;

		for (int k = 1; k < count; k++) {
			GElf_Sym symbol;
			GElf_Addr address;
			const char *name = dw->dwfl_module_getsym_info(
				module, k, &symbol, &address, NULL, NULL, NULL);

			if (!name || strcmp(name, "vmpi_debug") != 0 ||
			    symbol.st_shndx == SHN_UNDEF)
				continue;
			*runtime = &unwind->modules.list[i];
			return address;
		}
	}
	return 0;
}

/* What libdw asks; both arguments are the struct unwind, whose rank is the only
 * thread. */
static pid_t thread_next(Dwfl *dwfl, void *arg, void **thread)
{
	pid_t next = *thread ? 0 : 1;

	(void)dwfl;
	*thread = arg;
	return next;
}

static bool thread_get(Dwfl *dwfl, pid_t id, void *arg, void **thread)
{
	(void)dwfl;
	*thread = arg;
	return id == 1;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word,
			void *arg)
{
	const struct unwind *unwind = arg;
	uint64_t value;

	(void)dwfl;
	if (!vm_snapshot_word(&unwind->snapshot, unwind->rank, address, &value))
		return false;
	*word = value;
	return true;
}

static bool registers_set(Dwfl_Thread *thread, void *arg)
{
	const struct unwind *unwind = arg;
	const struct vm_snapshot_rank *rank = unwind->rank;
	Dwarf_Word value;

	for (int i = 0; i < 32; i++) {
		value = rank->registers[i];
		if (rank->set >> i & 1 &&
		    !unwind->modules.dw->dwfl_thread_state_registers(
			    thread, i, 1, &value) &&
		    i <= unwind->snapshot.sp_number)
			return false;
	}
	unwind->modules.dw->dwfl_thread_state_register_pc(thread, rank->pc);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = thread_next,
	.get_thread = thread_get,
	.memory_read = memory_read,
	.set_initial_registers = registers_set,
};

/* A frame: all but those that a signal has met hold the address behind a
 * call. */
static int frame_take(Dwfl_Frame *frame, void *arg)
{
	struct unwind *unwind = arg;
	bool exact = false;
	Dwarf_Addr pc;

	if (!unwind->modules.dw->dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	unwind->frames[unwind->count].pc = exact ? pc : pc - 1;
	unwind->frames[unwind->count].interrupted = exact && unwind->count;
	unwind->count++;
	return unwind->count < VM_FRAMES_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* lost: the innermost function is none. */
static void frames_read(struct unwind *unwind, struct vm_frames *frames,
			bool lost, const struct vm_module *runtime)
{
	unwind->count = 0;
	unwind->modules.dw->dwfl_getthread_frames(unwind->modules.dwfl, 1,
						  frame_take, unwind);
	*frames = (struct vm_frames){ .count = lost };
	for (unsigned i = 0; i < unwind->count; i++)
		if (vm_frames_add(frames, &unwind->modules,
				  unwind->frames[i].pc,
				  unwind->frames[i].interrupted, runtime))
			break;
}

/* "name at file.c:12", "name in libx.so", "0x1234 in prog", "MPI_Send". */
static void frame_text(char text[VM_UNWIND_TEXT_MAX],
		       const struct vm_frame *frame)
{
	if (frame->kind == VM_FRAME_CALL)
		snprintf(text, VM_UNWIND_TEXT_MAX, "%s", frame->name);
	else if (frame->line)
		snprintf(text, VM_UNWIND_TEXT_MAX, "%s at %s:%d", frame->name,
			 frame->file, frame->line);
	else if (frame->name[0])
		snprintf(text, VM_UNWIND_TEXT_MAX, "%s in %s", frame->name,
			 frame->file);
	else
		snprintf(text, VM_UNWIND_TEXT_MAX, "%#jx%s%s",
			 (uintmax_t)frame->offset, frame->file[0] ? " in " : "",
			 frame->file);
}

static bool stack_read(struct unwind *unwind, struct vm_stack_text *stack,
		       const struct vm_module *runtime)
{
	struct vm_frames frames;

	vm_system_call_name(stack->system_call, unwind->rank->system_call);
	stack->index = unwind->rank->index;
	stack->known = unwind->rank->known;
	if (!stack->known)
		return true;
	frames_read(unwind, &frames, false, runtime);
	stack->frames = calloc(frames.count + 1, sizeof(*stack->frames));
	if (!stack->frames)
		return false;
	for (unsigned i = 0; i < frames.count; i++)
		frame_text(stack->frames[i], &frames.list[i]);
	stack->count = frames.count;
	return true;
}

static struct vm_stack_text *stacks_read(struct unwind *unwind,
					 const struct vm_module *runtime)
{
	struct vm_snapshot *snapshot = &unwind->snapshot;
	struct vm_stack_text *stacks = calloc(snapshot->count, sizeof(*stacks));

	for (unsigned i = 0; stacks && i < snapshot->count; i++) {
		unwind->rank = &snapshot->ranks[i];
		if (!stack_read(unwind, &stacks[i], runtime)) {
			vm_unwind_free(stacks, snapshot->count);
			return NULL;
		}
	}
	return stacks;
}

/* Loads libdw.  false: why says the reason. */
static bool unwind_begin(struct unwind *unwind, pid_t pid, char *why,
			 size_t why_bytes)
{
	static char *no_path;
	struct vm_modules *modules = &unwind->modules;
	const char *missing = "libdw: out of memory";

	*unwind = (struct unwind){ .snapshot.pid = pid,
				   .modules.pid = pid,
				   .callbacks.debuginfo_path = &no_path };
	modules->dw = vm_dw_load(&missing);
	if (modules->dw) {
		unwind->callbacks.find_elf =
			modules->dw->dwfl_build_id_find_elf;
		unwind->callbacks.find_debuginfo =
			modules->dw->dwfl_standard_find_debuginfo;
		modules->dwfl = modules->dw->dwfl_begin(&unwind->callbacks);
	}
	if (!modules->dwfl)
		snprintf(why, why_bytes, "%s", missing);
	return modules->dwfl != NULL;
}

static void unwind_end(struct unwind *unwind)
{
	unwind->modules.dw->dwfl_end(unwind->modules.dwfl);
	vm_snapshot_free(&unwind->snapshot);
	vm_modules_free(&unwind->modules);
}

/* unwind->rank is the thread from here on. */
static bool attach(struct unwind *unwind, char *why, size_t why_bytes)
{
	const struct vm_dw *dw = unwind->modules.dw;
	bool done = dw->dwfl_attach_state(unwind->modules.dwfl, NULL,
					  unwind->modules.pid,
					  &thread_callbacks, unwind);

	if (!done)
		snprintf(why, why_bytes, "libdw: %s", dw->dwfl_errmsg(-1));
	return done;
}

/* All that can fail; text is the reason. */
static struct vm_stack_text *process_read(struct unwind *unwind,
					  unsigned *count, char *why,
					  size_t why_bytes)
{
	char text[VM_SNAPSHOT_WHY_MAX] = "its list of files cannot be read";
	const struct vm_module *runtime = NULL;
	struct vm_stack_text *stacks = NULL;
	uint64_t debug = 0;

	if (vm_modules_read(&unwind->modules)) {
		vm_modules_want_all(&unwind->modules);
		if (vm_modules_report(&unwind->modules)) {
			snprintf(text, sizeof(text), "it does not run vmpi");
			debug = debug_find(unwind, &runtime);
		}
	}
	if (debug && !vm_snapshot_take(&unwind->snapshot, unwind->modules.pid,
				       debug, text)) {
		unwind->rank = unwind->snapshot.ranks;
		if (attach(unwind, text, sizeof(text)) &&
		    !(stacks = stacks_read(unwind, runtime)))
			snprintf(text, sizeof(text), "out of memory");
	}
	*count = unwind->snapshot.count;
	snprintf(why, why_bytes, "%s", text);
	return stacks;
}

struct vm_stack_text *vm_unwind_process(pid_t pid, unsigned *count, char *why,
					size_t why_bytes)
{
	struct vm_stack_text *stacks;
	struct unwind unwind;

	*count = 0;
	if (!unwind_begin(&unwind, pid, why, why_bytes))
		return NULL;
	stacks = process_read(&unwind, count, why, why_bytes);
	unwind_end(&unwind);
	return stacks;
}

/* A call of what is no function: its caller is where it would return to. */
static bool caller_take(struct unwind *unwind, struct vm_snapshot_rank *rank)
{
#if defined(__x86_64__)
	uint64_t *sp = &rank->registers[unwind->snapshot.sp_number];

	if (!vm_snapshot_read(unwind->modules.pid, &rank->pc, *sp,
			      sizeof(rank->pc)))
		return false;
	*sp += sizeof(rank->pc);
#elif defined(__aarch64__)
	rank->pc = rank->registers[30];
#endif
	rank->pc--;
	return true;
}

/* The frames of the thread; all that it needs has been reported. */
static void thread_read(struct unwind *unwind, struct vm_frames *frames,
			struct vm_snapshot_rank *rank, uint64_t runtime)
{
	bool lost = !vm_modules_at(&unwind->modules, rank->pc);

	lost = lost && caller_take(unwind, rank);
	frames_read(unwind, frames, lost,
		    vm_modules_at(&unwind->modules, runtime));
}

/* Whether the fault was in a call, not in a function that it has called. */
static bool is_in_call(const struct vm_frames *frames)
{
	for (unsigned i = 0; i < frames->count; i++)
		if (frames->list[i].kind != VM_FRAME_SYSTEM)
			return frames->list[i].kind == VM_FRAME_CALL;
	return false;
}

/* Adds what is known of the buffer; the text says where the thread is. */
static void culprit_say(struct unwind *unwind, const struct vm_culprit *culprit,
			const struct vm_where_ask *ask, char *text,
			size_t bytes)
{
	char part[256], copier[VM_WHERE_MAX], owner[VM_WHERE_MAX];
	const struct vm_module *runtime =
		vm_modules_at(&unwind->modules, ask->runtime);
	struct vm_frames frames;

	vm_buffer_say(&culprit->buffer, culprit->owned ? "its" : "a", part,
		      sizeof(part), ask->pid, ask->fault);
	snprintf(copier, sizeof(copier), "%s", text);
	if (!culprit->rank) {
		snprintf(text, bytes, "%.400s: %s", copier, part);
		return;
	}
	unwind->rank = culprit->rank;
	frames_read(unwind, &frames, false, runtime);
	if (!vm_frames_say(&frames, owner, sizeof(owner), VM_FRAMES_ALL))
		snprintf(owner, sizeof(owner), "in a buffer of its");
	snprintf(text, bytes, "%d %.300s: %s; rank %d copied it %.200s",
		 culprit->rank->index, owner, part, ask->rank, copier);
}

/* Reads the stack of the thread, for which `rank` stands. */
static int where_read(struct unwind *unwind, struct vm_snapshot_rank *rank,
		      const struct vm_where_ask *ask, char *text, size_t bytes)
{
	uint64_t sp = rank->registers[ask->sp_number];
	struct vm_modules *modules = &unwind->modules;
	struct vm_culprit culprit = { .found = false };
	struct vm_frames frames;

	if (!vm_modules_read(modules) || !vm_modules_want_stack(modules, sp))
		return -VMPI_ENOTSUP;
	vm_modules_want(modules, ask->pc);
	vm_modules_want(modules, ask->runtime);
	vm_culprit_find(&culprit, modules, &unwind->snapshot, ask);
	unwind->snapshot.pid = ask->pid;
	unwind->snapshot.sp_number = ask->sp_number;
	if (culprit.rank)
		vm_modules_want_stack(modules, culprit.rank->from);
	if (!vm_modules_report(modules) || !attach(unwind, text, bytes))
		return -VMPI_ENOTSUP;
	thread_read(unwind, &frames, rank, ask->runtime);
	if (!vm_frames_say(&frames, text, bytes,
			   ask->own ? VM_FRAMES_OWN : VM_FRAMES_ALL))
		return -VMPI_ENOENT;
	if (culprit.found && is_in_call(&frames))
		culprit_say(unwind, &culprit, ask, text, bytes);
	return 0;
}

int vm_unwind_where(const struct vm_where_ask *ask, char *text, size_t bytes)
{
	struct vm_snapshot_rank rank = { .known = true,
					 .set = UINT32_MAX,
					 .pc = ask->pc };
	struct unwind unwind;
	int rc;

	memcpy(rank.registers, ask->registers, sizeof(rank.registers));
	if (!unwind_begin(&unwind, ask->pid, text, bytes))
		return -VMPI_ENOTSUP;
	unwind.rank = &rank;
	snprintf(text, bytes, "its memory cannot be read");
	rc = where_read(&unwind, &rank, ask, text, bytes);
	unwind_end(&unwind);
	return rc;
}

#endif
