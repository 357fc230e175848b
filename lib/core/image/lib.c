/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths of libraries come from the dynamic linker itself
 * (core/image/ldd.h).  A program that needs the C library only is not started
 * for that, which saves the 2 ms.
 */
#include "core/image/lib.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/image/ldd.h"
#include "core/image/lib_rule.h"

/* Loaded with vmpi anyway, and never copied. */
static bool library_is_base(const char *name)
{
	static const char *const base[] = {
		"libvmpi.so.", "libc.so.",	 "libm.so.",	  "libdl.so.",
		"librt.so.",   "libpthread.so.", "libmvec.so.",	  "ld-linux",
		"linux-vdso.", "linux-gate.",	 "libresolv.so.", "libutil.so.",
	};

	for (size_t i = 0; i < sizeof(base) / sizeof(*base); i++)
		if (!strncmp(name, base[i], strlen(base[i])))
			return true;
	return false;
}

/* Our library of the MPI ABI calls the runtime, but has no state: the dynamic
 * linker loads it once, or an ordinary executable does without. */
static bool library_is_jumps(const char *name)
{
	return !strncmp(name, "libmpi_abi.so.", 14);
}

static int no_memory(const struct vm_elf *program)
{
	vm_log(VM_ERROR, "%s: out of memory for the list of its libraries",
	       program->path);
	return -VMPI_ENOMEM;
}

/* A library with a slash in its name is taken only if the program needs it, or
 * it has to do with MPI: it may be of LD_PRELOAD, and belong to the process. */
static bool is_wanted(const struct vm_elf *program, const char *path)
{
	const char *name;
	struct vm_elf elf;
	size_t next = 0;
	bool calls;

	while ((name = vm_elf_needed(program, &next)))
		if (!strcmp(name, path))
			return true;
	if (vm_elf_open(&elf, path, path))
		return false;
	calls = vm_lib_calls_mpi(&elf) || vm_lib_is_tool(&elf);
	vm_elf_close(&elf);
	return calls;
}

/* "\t./libx.so (0x00007...)", "\tlinux-vdso.so.1 (0x00007...)". */
static int path_take(const struct vm_elf *program, char *line,
		     struct vm_image_lib *lib)
{
	char *slash = strrchr(line, '/'), *end = strrchr(line, '(');

	if (!slash || !end || end == line || library_is_base(slash + 1))
		return 0;
	end[-1] = '\0';
	if (!is_wanted(program, line))
		return 0;
	lib->name = strdup(line);
	lib->path = strdup(line);
	return lib->name && lib->path ? 1 : no_memory(program);
}

/*
 * One line of the trace: "\tlibm.so.6 => /lib/libm.so.6 (0x00007...)", or
 * "\tlibx.so => not found"; without an arrow it is a path or the vDSO.
 */
static int line_take(const struct vm_elf *program, char *line,
		     struct vm_image_lib *lib)
{
	char *arrow = strstr(line, " => "), *end;

	line += strspn(line, " \t");
	if (!arrow)
		return path_take(program, line, lib);
	*arrow = '\0';
	if (library_is_base(line) || library_is_jumps(line))
		return 0;
	arrow += 4;
	if (!strncmp(arrow, "not found", 9)) {
		vm_log(VM_ERROR,
		       "%s: its library %s is not found; put the library's "
		       "folder into LD_LIBRARY_PATH, or link with -Wl,-rpath",
		       program->path, line);
		return -VMPI_ENOENT;
	}
	end = strrchr(arrow, '(');
	if (end && end > arrow)
		end[-1] = '\0';
	lib->name = strdup(line);
	lib->path = strdup(arrow);
	return lib->name && lib->path ? 1 : no_memory(program);
}

/* Whether the line of the trace is about the runtime. */
static bool line_is_runtime(const char *line)
{
	line += strspn(line, " \t");
	return !strncmp(line, "libvmpi.so.", 11) || library_is_jumps(line);
}

static int trace_parse(const struct vm_elf *program, char *text,
		       struct vm_image_lib **libs, size_t *count)
{
	char *rest = text, *line;
	bool before = true;
	size_t room = 0;
	int rc = 0;

	for (const char *c = text; *c; c++)
		room += *c == '\n';
	*libs = calloc(room + 1, sizeof(**libs));
	if (!*libs)
		return no_memory(program);
	while ((line = strsep(&rest, "\n"))) {
		before &= !line_is_runtime(line);
		(*libs)[*count].place = *count;
		(*libs)[*count].before = before;
		rc = *count < room ?
			     line_take(program, line, &(*libs)[*count]) :
			     0;
		if (rc < 0)
			return rc;
		*count += (size_t)rc;
	}
	return 0;
}

static struct vm_image_lib *lib_named(struct vm_image_lib *libs, size_t count,
				      const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (libs[i].name && !strcmp(libs[i].name, name))
			return &libs[i];
	return NULL;
}

static bool needs_own(struct vm_image_lib *libs, size_t count,
		      const struct vm_image_lib *lib)
{
	size_t next = 0;
	const char *name;

	while ((name = vm_elf_needed(&lib->elf, &next))) {
		const struct vm_image_lib *needed =
			lib_named(libs, count, name);

		if (needed && needed != lib && needed->own)
			return true;
	}
	return false;
}

/* The libraries of other MPIs have other handles and other constants. */
static int foreign_refuse(const struct vm_elf *program, const char *name)
{
	if (!vm_lib_is_foreign(name))
		return 0;
	vm_log(VM_ERROR,
	       "%s: it, or a library it needs, was built for another MPI (%s); "
	       "build both with vmpicc",
	       program->path, name);
	return -VMPI_EINVAL;
}

static int shared_refuse(const char *name)
{
	vm_log(VM_ERROR,
	       "--shared: %s needs a library that is private to a rank; name "
	       "that one too, or neither",
	       name);
	return -VMPI_EINVAL;
}

/* Decides which libraries are copied; those stay open. */
static int own_mark(const struct vm_elf *program,
		    const struct vm_image_choice *choice,
		    struct vm_image_lib *libs, size_t count)
{
	bool changed = true;

	for (size_t i = 0; i < count; i++) {
		int rc = foreign_refuse(program, libs[i].name);

		if (!rc)
			rc = vm_elf_open(&libs[i].elf, libs[i].path,
					 libs[i].path);
		if (rc)
			return rc;
		libs[i].tool = libs[i].before && vm_lib_is_tool(&libs[i].elf);
		libs[i].own = vm_lib_rule(&libs[i], program, choice);
	}
	while (changed) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			if (libs[i].own || !needs_own(libs, count, &libs[i]))
				continue;
			if (vm_lib_named(choice->shared, libs[i].name))
				return shared_refuse(libs[i].name);
			libs[i].own = true;
			changed = true;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (!libs[i].own && !libs[i].tool)
			vm_elf_close(&libs[i].elf);
	return 0;
}

/* Whether none of libs[from...] other than libs[at] is needed by libs[at]. */
static bool ready(struct vm_image_lib *libs, size_t from, size_t count,
		  size_t at)
{
	struct vm_image_lib lib = libs[at];
	bool found;

	if (!lib.own)
		return true;
	libs[at].own = false;
	found = needs_own(libs + from, count - from, &lib);
	libs[at].own = true;
	return !found;
}

/* Shared libraries first, then each after those it needs; libraries that need
 * one another stay in the dynamic linker's order. */
static void order(struct vm_image_lib *libs, size_t count)
{
	for (size_t done = 0; done < count; done++) {
		size_t pick = done;

		for (size_t i = done; i < count; i++) {
			if (!libs[i].own) {
				pick = i;
				break;
			}
			if (libs[pick].own && !ready(libs, done, count, pick) &&
			    ready(libs, done, count, i))
				pick = i;
		}
		struct vm_image_lib lib = libs[pick];

		memmove(&libs[done + 1], &libs[done],
			(pick - done) * sizeof(*libs));
		libs[done] = lib;
	}
}

static bool only_base(const struct vm_elf *program)
{
	size_t next = 0;
	const char *name;

	while ((name = vm_elf_needed(program, &next)))
		if (!library_is_base(name))
			return false;
	return true;
}

int vm_image_libs(const struct vm_elf *program,
		  const struct vm_image_choice *choice,
		  struct vm_image_lib **libs, size_t *count)
{
	char *text;
	int rc;

	*libs = NULL;
	*count = 0;
	if (only_base(program) && !getenv("LD_PRELOAD"))
		return vm_lib_rule_check(program, choice, NULL, 0);
	text = vm_ldd_run(program, true);
	if (!text) {
		vm_log(VM_ERROR, "%s: its libraries cannot be listed: %s",
		       program->path, strerror(errno));
		return -VMPI_ENOENT;
	}
	rc = trace_parse(program, text, libs, count);
	free(text);
	if (!rc)
		rc = own_mark(program, choice, *libs, *count);
	if (!rc)
		rc = vm_lib_rule_check(program, choice, *libs, *count);
	if (!rc)
		order(*libs, *count);
	if (rc) {
		vm_image_libs_free(*libs, *count);
		*libs = NULL;
		*count = 0;
	}
	return rc;
}

/* The path of a file beside this executable. */
static char *beside(const char *name)
{
	char *self = realpath("/proc/self/exe", NULL), *path = NULL;
	char *slash = self ? strrchr(self, '/') : NULL;

	if (slash &&
	    asprintf(&path, "%.*s/%s", (int)(slash - self), self, name) < 0)
		path = NULL;
	free(self);
	return path;
}

int vm_image_lib_add(struct vm_image_lib **libs, size_t *count,
		     const char *name)
{
	struct vm_image_lib lib = { .own = true, .ours = true };
	struct vm_image_lib *list =
		realloc(*libs, (*count + 1) * sizeof(*list));
	size_t at = 0;
	int rc;

	if (list)
		*libs = list;
	lib.name = strdup(name);
	lib.path = beside(name);
	rc = list && lib.name && lib.path ?
		     vm_elf_open(&lib.elf, lib.path, lib.path) :
		     -VMPI_ENOMEM;
	if (rc) {
		if (rc == -VMPI_ENOMEM)
			vm_log(VM_ERROR, "%s: out of memory", name);
		free(lib.name);
		free(lib.path);
		return rc;
	}
	while (at < *count && (!list[at].own || list[at].ours))
		at++;
	memmove(&list[at + 1], &list[at], (*count - at) * sizeof(*list));
	list[at] = lib;
	++*count;
	return 0;
}

void vm_image_libs_free(struct vm_image_lib *libs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(libs[i].name);
		free(libs[i].path);
		vm_elf_close(&libs[i].elf);
	}
	free(libs);
}
