/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libdw takes ranks for threads: a number, registers, and memory.  It is told
 * which files are loaded where from the dynamic linker's list in the process,
 * because the kernel's list of mappings does not show where one copy of a
 * program ends and the next one begins.
 *
 * All copies of a file have the same names: those are looked up in the first
 * one, so that debug information is read once.
 */
#include "report/live/unwind.h"

#ifdef VM_HAVE_LIBDW
#include <dwarf.h>
#endif
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "report/live/dw.h"
#include "report/live/snapshot.h"
#include "report/live/system_call.h"

void vm_unwind_free(struct vm_stack_text *stacks, unsigned count)
{
	for (unsigned i = 0; stacks && i < count; i++)
		free(stacks[i].frames);
	free(stacks);
}

#ifndef VM_HAVE_LIBDW

struct vm_stack_text *vm_unwind_process(pid_t pid, unsigned *count, char *why,
					size_t why_bytes)
{
	(void)pid;
	*count = 0;
	snprintf(why, why_bytes,
		 "vmpi was built without libdw (Debian: libdw-dev)");
	return NULL;
}

#else

#define OBJECTS_MAX 100000

/* A loaded file; ahead: the first one of the same path, or itself. */
struct object {
	char *path;
	uint64_t base;
	Dwfl_Module *module;
	unsigned ahead;
};

struct unwind {
	const struct vm_dw *dw;
	Dwfl *dwfl;
	pid_t pid;
	struct object *objects;
	unsigned count, room;
	struct vm_snapshot snapshot;
	/* The rank whose stack is being read, and its frames. */
	const struct vm_snapshot_rank *rank;
	uint64_t pcs[VM_UNWIND_FRAMES_MAX];
	unsigned pc_count;
};

/* A text in the process. */
static bool text_read(pid_t pid, char *to, size_t bytes, uint64_t address)
{
	for (size_t i = 0; i + 1 < bytes; i++) {
		if (!vm_snapshot_read(pid, to + i, address + i, 1))
			return false;
		if (!to[i])
			return true;
	}
	return false;
}

/* A value of its auxiliary vector; 0: there is none. */
static uint64_t auxiliary(pid_t pid, uint64_t type)
{
	ElfW(auxv_t) entry;
	uint64_t value = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (!value && fread(&entry, sizeof(entry), 1, file) == 1)
		if (entry.a_type == type)
			value = entry.a_un.a_val;
	fclose(file);
	return value;
}

/* Where the dynamic linker keeps its list; also where the program itself is
 * loaded. */
static uint64_t list_find(pid_t pid, uint64_t *base)
{
	uint64_t headers = auxiliary(pid, AT_PHDR), dynamic = 0;
	uint64_t count = auxiliary(pid, AT_PHNUM);
	ElfW(Phdr) segment;
	ElfW(Dyn) entry = { .d_tag = DT_NULL };

	*base = 0;
	for (uint64_t i = 0; headers && i < count && i < 64; i++) {
		if (!vm_snapshot_read(pid, &segment,
				      headers + i * sizeof(segment),
				      sizeof(segment)))
			return 0;
		if (segment.p_type == PT_PHDR)
			*base = headers - segment.p_vaddr;
		if (segment.p_type == PT_DYNAMIC)
			dynamic = segment.p_vaddr;
	}
	for (uint64_t at = dynamic + *base; dynamic; at += sizeof(entry)) {
		if (!vm_snapshot_read(pid, &entry, at, sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == DT_DEBUG)
			return entry.d_un.d_ptr;
	}
	return 0;
}

static bool object_add(struct unwind *unwind, const char *path, uint64_t base)
{
	const struct vm_dw *dw = unwind->dw;
	const char *slash = strrchr(path, '/');
	struct object *object;

	if (unwind->count == unwind->room) {
		size_t room = unwind->room ? 2 * (size_t)unwind->room : 64;

		object = reallocarray(unwind->objects, room, sizeof(*object));
		if (!object)
			return false;
		unwind->objects = object;
		unwind->room = (unsigned)room;
	}
	object = &unwind->objects[unwind->count];
	*object = (struct object){ .base = base, .ahead = unwind->count };
	for (unsigned i = 0; i < unwind->count; i++)
		if (!strcmp(unwind->objects[i].path, path)) {
			object->ahead = i;
			break;
		}
	object->path = strdup(path);
	if (!object->path)
		return false;
	object->module = dw->dwfl_report_elf(
		unwind->dwfl, slash ? slash + 1 : path, path, -1, base, false);
	unwind->count++;
	return true;
}

/* A relative path is one of the process's. */
static void path_make(char *path, size_t bytes, pid_t pid, const char *name)
{
	if (name[0] == '/')
		snprintf(path, bytes, "%s", name);
	else
		snprintf(path, bytes, "/proc/%d/cwd/%s", (int)pid, name);
}

/* Tells libdw of all files. */
static bool objects_report(struct unwind *unwind)
{
	char name[PATH_MAX], path[PATH_MAX + 32];
	uint64_t base, list = list_find(unwind->pid, &base);
	struct r_debug debug;
	struct link_map map;

	if (!list ||
	    !vm_snapshot_read(unwind->pid, &debug, list, sizeof(debug)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)unwind->pid);
	unwind->dw->dwfl_report_begin(unwind->dwfl);
	if (!object_add(unwind, path, base))
		return false;
	for (uint64_t at = (uintptr_t)debug.r_map;
	     at && unwind->count < OBJECTS_MAX; at = (uintptr_t)map.l_next) {
		if (!vm_snapshot_read(unwind->pid, &map, at, sizeof(map)) ||
		    !text_read(unwind->pid, name, sizeof(name),
			       (uintptr_t)map.l_name))
			return false;
		/* The program itself, and the vDSO. */
		if (!name[0] || !strncmp(name, "linux-vdso", 10))
			continue;
		path_make(path, sizeof(path), unwind->pid, name);
		if (!object_add(unwind, path, map.l_addr))
			return false;
	}
	return unwind->dw->dwfl_report_end(unwind->dwfl, NULL, NULL) == 0;
}

static bool is_runtime(const struct unwind *unwind, unsigned object)
{
	const char *path = unwind->objects[object].path;
	const char *slash = strrchr(path, '/');

	/* The node program contains the library; only it has that name
	 * here. */
	return object == 0 ?
		       strstr(path, "/exe") != NULL :
		       !strncmp(slash ? slash + 1 : path, "libvmpi.so.", 11);
}

/* The address of vmpi_debug, and which object the runtime is. */
static uint64_t debug_find(const struct unwind *unwind, unsigned *runtime)
{
	const struct vm_dw *dw = unwind->dw;

	for (unsigned i = 0; i < unwind->count; i++) {
		Dwfl_Module *module = unwind->objects[i].module;
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
			*runtime = i;
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
		    !unwind->dw->dwfl_thread_state_registers(thread, i, 1,
							     &value) &&
		    i <= unwind->snapshot.sp_number)
			return false;
	}
	unwind->dw->dwfl_thread_state_register_pc(thread, rank->pc);
	return true;
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = thread_next,
	.get_thread = thread_get,
	.memory_read = memory_read,
	.set_initial_registers = registers_set,
};

/* A frame: all but the first one hold the address behind a call. */
static int frame_take(Dwfl_Frame *frame, void *arg)
{
	struct unwind *unwind = arg;
	bool exact = false;
	Dwarf_Addr pc;

	if (!unwind->dw->dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	unwind->pcs[unwind->pc_count++] = exact ? pc : pc - 1;
	return unwind->pc_count < VM_UNWIND_FRAMES_MAX ? DWARF_CB_OK :
							 DWARF_CB_ABORT;
}

/* The object that an address is in, or NULL. */
static const struct object *object_at(const struct unwind *unwind, uint64_t pc)
{
	Dwfl_Module *module = unwind->dw->dwfl_addrmodule(unwind->dwfl, pc);

	for (unsigned i = 0; module && i < unwind->count; i++)
		if (unwind->objects[i].module == module)
			return &unwind->objects[i];
	return NULL;
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* The names of public functions; all else of the runtime is its own. */
static const char *call_name(const char *name)
{
	static const char *const prefixes[] = { "vm_entry_PMPI_", "PMPI_",
						"MPI_", "vmpi_" };

	if (begins(name, "vm_entry_vmpi_"))
		return name + strlen("vm_entry_");
	for (size_t i = 0; i < 2; i++)
		if (begins(name, prefixes[i]))
			return strchr(strstr(name, "PMPI_"), 'M');
	for (size_t i = 2; i < 4; i++)
		if (begins(name, prefixes[i]))
			return name;
	return NULL;
}

/* The next frame of the stack, or the last one again. */
static char *frame_new(struct vm_stack_text *stack)
{
	if (stack->count < VM_UNWIND_FRAMES_MAX)
		stack->count++;
	return stack->frames[stack->count - 1];
}

/* "name at file.c:12", "name in libx.so", "0x1234 in prog". */
static void frame_say(struct vm_stack_text *stack, const char *name,
		      const char *path, int line)
{
	const char *slash = strrchr(path, '/');
	char *text = frame_new(stack);

	path = slash ? slash + 1 : path;
	if (line)
		snprintf(text, VM_UNWIND_TEXT_MAX, "%.90s at %.50s:%d", name,
			 path, line);
	else
		snprintf(text, VM_UNWIND_TEXT_MAX, "%.90s in %.50s", name,
			 path);
}

/* Where a function that was inlined is called. */
static const char *call_place(const struct vm_dw *dw, Dwarf_Die *inlined,
			      Dwarf_Die *unit, int *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, number = 0;
	Dwarf_Files *files;
	size_t count = 0;

	if (dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_AT_call_line,
					       &attribute),
				&number) ||
	    dw->dwarf_formudata(dw->dwarf_attr(inlined, DW_AT_call_file,
					       &attribute),
				&file) ||
	    dw->dwarf_getsrcfiles(unit, &files, &count) || file >= count)
		return NULL;
	*line = (int)number;
	return dw->dwarf_filesrc(files, file, NULL, NULL);
}

/*
 * Says the functions that the source has at an address: those that were
 * inlined, and the one they are in, whose name is returned; NULL: there is no
 * debug information.
 */
static const char *source_say(const struct unwind *unwind,
			      struct vm_stack_text *stack, Dwfl_Module *module,
			      uint64_t pc)
{
	const struct vm_dw *dw = unwind->dw;
	Dwfl_Line *line = dw->dwfl_module_getsrc(module, pc);
	Dwarf_Die *unit, *scopes = NULL, *chain = NULL;
	const char *file, *name = NULL;
	int count = 0, number = 0;
	Dwarf_Addr bias;

	unit = dw->dwfl_module_addrdie(module, pc, &bias);
	file = line ? dw->dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) :
		      NULL;
	if (unit && file && dw->dwarf_getscopes(unit, pc - bias, &scopes) > 0)
		count = dw->dwarf_getscopes_die(&scopes[0], &chain);
	for (int i = 0; i < count && file; i++) {
		int tag = dw->dwarf_tag(&chain[i]);
		const char *own = dw->dwarf_diename(&chain[i]);

		if (tag == DW_TAG_inlined_subroutine && own) {
			frame_say(stack, own, file, number);
			file = call_place(dw, &chain[i], unit, &number);
		} else if (tag == DW_TAG_subprogram && own) {
			frame_say(stack, own, file, number);
			name = own;
			break;
		}
	}
	free(scopes);
	free(chain);
	return name;
}

/*
 * Adds the frame pc to the text.  Of the runtime only the call remains that the
 * program has made: frames before it are dropped again.  Returns whether the
 * program's own frames have ended.
 */
static bool frame_add(const struct unwind *unwind, struct vm_stack_text *stack,
		      uint64_t pc, unsigned runtime)
{
	const struct object *object = object_at(unwind, pc), *ahead;
	const char *name, *call;
	GElf_Off offset;
	GElf_Sym symbol;
	uint64_t there;

	if (!object) {
		snprintf(frame_new(stack), VM_UNWIND_TEXT_MAX, "0x%llx",
			 (unsigned long long)pc);
		return false;
	}
	ahead = &unwind->objects[object->ahead];
	there = pc - object->base + ahead->base;
	name = unwind->dw->dwfl_module_addrinfo(ahead->module, there, &offset,
						&symbol, NULL, NULL, NULL);
	if (object == &unwind->objects[runtime]) {
		call = name ? call_name(name) : NULL;
		if (call) {
			stack->count = 0;
			snprintf(frame_new(stack), VM_UNWIND_TEXT_MAX, "%s",
				 call);
		}
		return false;
	}
	call = source_say(unwind, stack, ahead->module, there);
	if (!call && name)
		frame_say(stack, name, object->path, 0);
	else if (!call)
		snprintf(frame_new(stack), VM_UNWIND_TEXT_MAX,
			 "0x%llx in %.100s",
			 (unsigned long long)(pc - object->base), object->path);
	call = call ? call : name;
	return call && !strcmp(call, "main");
}

static bool stack_read(struct unwind *unwind, struct vm_stack_text *stack,
		       unsigned runtime)
{
	vm_system_call_name(stack->system_call, unwind->rank->system_call);
	stack->index = unwind->rank->index;
	stack->known = unwind->rank->known;
	if (!stack->known)
		return true;
	stack->frames =
		calloc(VM_UNWIND_FRAMES_MAX + 1, sizeof(*stack->frames));
	if (!stack->frames)
		return false;
	unwind->pc_count = 0;
	unwind->dw->dwfl_getthread_frames(unwind->dwfl, 1, frame_take, unwind);
	for (unsigned i = 0; i < unwind->pc_count; i++)
		if (frame_add(unwind, stack, unwind->pcs[i], runtime))
			break;
	return true;
}

static struct vm_stack_text *stacks_read(struct unwind *unwind,
					 unsigned runtime)
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

static void unwind_end(struct unwind *unwind)
{
	unwind->dw->dwfl_end(unwind->dwfl);
	vm_snapshot_free(&unwind->snapshot);
	for (unsigned i = 0; i < unwind->count; i++)
		free(unwind->objects[i].path);
	free(unwind->objects);
}

/* All that can fail; text is the reason. */
static struct vm_stack_text *process_read(struct unwind *unwind,
					  unsigned *count, char *why,
					  size_t why_bytes)
{
	char text[VM_SNAPSHOT_WHY_MAX] = "its list of files cannot be read";
	struct vm_stack_text *stacks = NULL;
	unsigned runtime = 0;
	uint64_t debug = 0;

	if (objects_report(unwind)) {
		snprintf(text, sizeof(text), "it does not run vmpi");
		debug = debug_find(unwind, &runtime);
	}
	if (debug &&
	    !vm_snapshot_take(&unwind->snapshot, unwind->pid, debug, text)) {
		unwind->rank = unwind->snapshot.ranks;
		if (!unwind->dw->dwfl_attach_state(unwind->dwfl, NULL,
						   unwind->pid,
						   &thread_callbacks, unwind))
			snprintf(text, sizeof(text), "libdw: %s",
				 unwind->dw->dwfl_errmsg(-1));
		else if (!(stacks = stacks_read(unwind, runtime)))
			snprintf(text, sizeof(text), "out of memory");
	}
	*count = unwind->snapshot.count;
	snprintf(why, why_bytes, "%s", text);
	return stacks;
}

struct vm_stack_text *vm_unwind_process(pid_t pid, unsigned *count, char *why,
					size_t why_bytes)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = { .debuginfo_path = &no_path };
	Dwfl_Callbacks with = callbacks;
	struct unwind unwind = { .pid = pid };
	struct vm_stack_text *stacks;
	const char *missing;

	*count = 0;
	unwind.dw = vm_dw_load(&missing);
	if (!unwind.dw) {
		snprintf(why, why_bytes, "%s", missing);
		return NULL;
	}
	with.find_elf = unwind.dw->dwfl_build_id_find_elf;
	with.find_debuginfo = unwind.dw->dwfl_standard_find_debuginfo;
	unwind.dwfl = unwind.dw->dwfl_begin(&with);
	if (!unwind.dwfl) {
		snprintf(why, why_bytes, "libdw: out of memory");
		return NULL;
	}
	stacks = process_read(&unwind, count, why, why_bytes);
	unwind_end(&unwind);
	return stacks;
}

#endif
