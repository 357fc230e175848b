/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From addresses to names, and from names to a sentence.
 */
#include "report/live/frames.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef VM_HAVE_LIBDW
#include <dwarf.h>
#endif

#include "report/live/modules.h"
#include "report/live/target.h"

#define PLACES_MAX 6 /* in a sentence */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

#ifdef VM_HAVE_LIBDW
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

/* The next frame, or the last one again. */
static struct vm_frame *frame_new(struct vm_frames *frames,
				  enum vm_frame_kind kind, const char *name,
				  const char *path)
{
	struct vm_frame *frame;

	if (frames->count < VM_FRAMES_MAX)
		frames->count++;
	frame = &frames->list[frames->count - 1];
	*frame = (struct vm_frame){ .kind = kind };
	snprintf(frame->name, sizeof(frame->name), "%s", name ? name : "");
	snprintf(frame->file, sizeof(frame->file), "%s", file_of(path));
	if (kind == VM_FRAME_PROGRAM)
		frames->floor = frames->count;
	return frame;
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
 * Adds the functions that the source has at an address: those that were
 * inlined, and the one they are in, whose name is returned; NULL: there is no
 * debug information.  symbol: what the compiler calls one that has no name.
 */
static const char *source_add(struct vm_frames *frames, const struct vm_dw *dw,
			      Dwfl_Module *module, uint64_t pc,
			      const char *symbol)
{
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
	for (int i = 0; i < count && file && !name; i++) {
		int tag = dw->dwarf_tag(&chain[i]);
		const char *own = dw->dwarf_diename(&chain[i]);

		if (tag == DW_TAG_subprogram && !own)
			own = symbol;
		if (!own || (tag != DW_TAG_inlined_subroutine &&
			     tag != DW_TAG_subprogram))
			continue;
		frame_new(frames, VM_FRAME_PROGRAM, own, file)->line = number;
		if (tag == DW_TAG_subprogram)
			name = own;
		else
			file = call_place(dw, &chain[i], unit, &number);
	}
	if (!name && symbol && file && !count) {
		frame_new(frames, VM_FRAME_PROGRAM, symbol, file)->line =
			number;
		name = symbol;
	}
	free(scopes);
	free(chain);
	return name;
}

/* The call that the program has made stands for all that the runtime does in
 * it. */
static void call_add(struct vm_frames *frames, const char *call,
		     const char *path)
{
	if (!call)
		return;
	frames->count = frames->floor;
	frame_new(frames, VM_FRAME_CALL, call, path);
}

/* A call of Fortran, which is linked into the program and stands for one of
 * C. */
static bool is_wrapper(const struct vm_frames *frames, const char *name)
{
	return frames->below && name &&
	       (begins(name, "mpi_") || begins(name, "pmpi_"));
}

bool vm_frames_add(struct vm_frames *frames, const struct vm_modules *modules,
		   uint64_t pc, bool interrupted,
		   const struct vm_module *runtime)
{
	const struct vm_module *module = vm_modules_at(modules, pc), *ahead;
	const struct vm_dw *dw = modules->dw;
	enum vm_frame_kind kind = VM_FRAME_PROGRAM;
	const char *name, *own;
	unsigned before;
	GElf_Off offset = 0;
	GElf_Sym symbol;
	uint64_t there;

	if (!module) {
		frame_new(frames, VM_FRAME_SYSTEM, NULL, "")->offset = pc;
		return false;
	}
	ahead = &modules->list[module->ahead];
	there = pc - module->base + ahead->base;
	name = dw->dwfl_module_addrinfo(ahead->handle, there, &offset, &symbol,
					NULL, NULL, NULL);
	if (module == runtime) {
		frames->below = true;
		call_add(frames, name ? call_name(name) : NULL, module->path);
		return false;
	}
	/* What a handler of signals returns to is no call. */
	if (is_wrapper(frames, name) ||
	    (interrupted && name && !strcmp(name, "__restore_rt")))
		return false;
	if (vm_module_system(module))
		kind = VM_FRAME_SYSTEM;
	else if (frames->below)
		call_add(frames, vm_target_name(modules, runtime, pc + 1),
			 runtime->path);
	if (kind == VM_FRAME_PROGRAM)
		frames->below = false;
	before = frames->count;
	own = kind == VM_FRAME_SYSTEM ?
		      NULL :
		      source_add(frames, dw, ahead->handle, there, name);
	if (!own)
		frame_new(frames, kind, name, module->path)->offset =
			name ? offset : pc - module->base;
	if (before < frames->count)
		frames->list[before].interrupted = interrupted;
	own = own ? own : name;
	return own && !strcmp(own, "main");
}
#endif

/* A text that grows as far as there is room. */
struct sentence {
	char *text;
	size_t bytes, used;
};

static void add(struct sentence *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct sentence *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->used, s->bytes - s->used, format, args);
	va_end(args);
	if (n > 0)
		s->used += (size_t)n;
	if (s->used >= s->bytes)
		s->used = s->bytes - 1;
}

static void place_add(struct sentence *s, const struct vm_frame *frame)
{
	if (frame->kind == VM_FRAME_CALL)
		add(s, "%s", frame->name);
	else if (!frame->name[0] && !frame->file[0])
		add(s, "no function");
	else if (frame->line)
		add(s, "%s, %s:%d", frame->name, frame->file, frame->line);
	else if (frame->kind == VM_FRAME_SYSTEM && frame->name[0])
		add(s, "%s of %s", frame->name, frame->file);
	else if (frame->name[0])
		add(s, "%s+%#jx of %s", frame->name, (uintmax_t)frame->offset,
		    frame->file);
	else
		add(s, "%s+%#jx", frame->file, (uintmax_t)frame->offset);
}

/* Of what is not the program's, the function that the program has called stands
 * for all; what comes after main is left out.  Not `inner`: without the
 * innermost ones, if they are not the program's. */
static unsigned frames_choose(struct vm_frames *frames, bool inner,
			      unsigned chosen[VM_FRAMES_MAX])
{
	unsigned count = 0, end = frames->count;
	bool interrupted = false;

	while (end && frames->list[end - 1].kind == VM_FRAME_SYSTEM)
		end--;
	for (unsigned i = 0; i < end; i++) {
		struct vm_frame *frame = &frames->list[i];

		interrupted |= frame->interrupted;
		if (frame->kind == VM_FRAME_SYSTEM && i + 1 < end &&
		    frame[1].kind == VM_FRAME_SYSTEM)
			continue;
		frame->interrupted = interrupted;
		interrupted = false;
		if (frame->kind != VM_FRAME_PROGRAM && !count && !inner)
			continue;
		chosen[count++] = i;
	}
	return count;
}

static bool same_place(const struct vm_frame *a, const struct vm_frame *b)
{
	return a->kind == b->kind && a->line == b->line &&
	       a->offset == b->offset && a->interrupted == b->interrupted &&
	       !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

bool vm_frames_say(struct vm_frames *frames, char *text, size_t bytes,
		   enum vm_frames_inner inner)
{
	struct sentence s = { .text = text, .bytes = bytes };
	unsigned chosen[VM_FRAMES_MAX], said = 0;
	unsigned count = frames_choose(frames, inner == VM_FRAMES_ALL, chosen);

	text[0] = '\0';
	if (!frames->floor)
		return false;
	for (unsigned i = 0, n; i < count; i += n) {
		const struct vm_frame *frame = &frames->list[chosen[i]];

		for (n = 1; i + n < count &&
			    same_place(frame, &frames->list[chosen[i + n]]);
		     n++)
			;
		if (++said == PLACES_MAX && i + n + 1 < count) {
			add(&s, ", ...");
			i = count - 1;
			n = 1;
			frame = &frames->list[chosen[i]];
		}
		add(&s, "%s",
		    said == 1	       ? "in " :
		    frame->interrupted ? ", which interrupted " :
					 ", called from ");
		place_add(&s, frame);
		if (n > 1)
			add(&s, " (%u times)", n);
	}
	return s.used > 0;
}
