/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing in the process is asked: its memory is read, which may be damaged.
 */
#include "report/live/modules.h"

#ifdef VM_HAVE_LIBDW

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/live/snapshot.h"

#define OBJECTS_MAX 100000
#define PAGE_BYTES 4096
#define STACK_BYTES ((size_t)256 << 10)
#define GUARD_PAGES 512 /* above the stack pointer, of one that overflowed */

/* A text in the process, page by page: it may end where memory does. */
static bool text_read(pid_t pid, char *to, size_t bytes, uint64_t address)
{
	size_t used = 0;

	while (used < bytes) {
		size_t n = PAGE_BYTES - (address + used) % PAGE_BYTES;

		if (n > bytes - used)
			n = bytes - used;
		if (!vm_snapshot_read(pid, to + used, address + used, n))
			return false;
		if (memchr(to + used, '\0', n))
			return true;
		used += n;
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

/* A relative path is one of the process's. */
static void path_make(char *path, size_t bytes, pid_t pid, const char *name)
{
	if (name[0] == '/')
		snprintf(path, bytes, "%s", name);
	else
		snprintf(path, bytes, "/proc/%d/cwd/%s", (int)pid, name);
}

static bool module_add(struct vm_modules *modules, const char *path,
		       uint64_t base)
{
	struct vm_module *module;

	if (modules->count == modules->room) {
		size_t room = modules->room ? 2 * (size_t)modules->room : 64;

		module = reallocarray(modules->list, room, sizeof(*module));
		if (!module)
			return false;
		modules->list = module;
		modules->room = (unsigned)room;
	}
	module = &modules->list[modules->count];
	*module = (struct vm_module){ .base = base,
				      .ahead = modules->count,
				      .path = strdup(path) };
	modules->count += module->path != NULL;
	return module->path != NULL;
}

/* In the order of the list. */
static bool list_read(struct vm_modules *modules)
{
	char name[PATH_MAX], path[PATH_MAX + 32];
	uint64_t base, list = list_find(modules->pid, &base);
	struct r_debug debug;
	struct link_map map;

	if (!list ||
	    !vm_snapshot_read(modules->pid, &debug, list, sizeof(debug)))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)modules->pid);
	if (!module_add(modules, path, base))
		return false;
	for (uint64_t at = (uintptr_t)debug.r_map;
	     at && modules->count < OBJECTS_MAX; at = (uintptr_t)map.l_next) {
		if (!vm_snapshot_read(modules->pid, &map, at, sizeof(map)) ||
		    !text_read(modules->pid, name, sizeof(name),
			       (uintptr_t)map.l_name))
			return false;
		/* The program itself, and the vDSO. */
		if (!name[0] || !strncmp(name, "linux-vdso", 10))
			continue;
		path_make(path, sizeof(path), modules->pid, name);
		if (!module_add(modules, path, map.l_addr))
			return false;
	}
	return true;
}

static int base_compare(const void *left, const void *right, void *arg)
{
	const struct vm_module *list = arg;
	uint64_t a = list[*(const unsigned *)left].base;
	uint64_t b = list[*(const unsigned *)right].base;

	return (a > b) - (a < b);
}

static int path_compare(const void *left, const void *right, void *arg)
{
	const struct vm_module *list = arg;
	unsigned a = *(const unsigned *)left, b = *(const unsigned *)right;
	int order = strcmp(list[a].path, list[b].path);

	return order ? order : (a > b) - (a < b);
}

bool vm_modules_read(struct vm_modules *modules)
{
	if (!list_read(modules))
		return false;
	modules->by_base = calloc(modules->count, sizeof(unsigned));
	if (!modules->by_base)
		return false;
	for (unsigned i = 0; i < modules->count; i++)
		modules->by_base[i] = i;
	qsort_r(modules->by_base, modules->count, sizeof(unsigned),
		base_compare, modules->list);
	return true;
}

void vm_modules_free(struct vm_modules *modules)
{
	for (unsigned i = 0; i < modules->count; i++)
		free(modules->list[i].path);
	free(modules->list);
	free(modules->by_base);
	modules->list = NULL;
	modules->by_base = NULL;
	modules->count = 0;
}

bool vm_modules_report(struct vm_modules *modules)
{
	const struct vm_dw *dw = modules->dw;

	dw->dwfl_report_begin(modules->dwfl);
	for (unsigned i = 0; i < modules->count; i++) {
		struct vm_module *module = &modules->list[i];
		const char *slash = strrchr(module->path, '/');

		if (module->wanted)
			module->handle = dw->dwfl_report_elf(
				modules->dwfl, slash ? slash + 1 : module->path,
				module->path, -1, module->base, false);
	}
	return dw->dwfl_report_end(modules->dwfl, NULL, NULL) == 0;
}

void vm_modules_want_all(struct vm_modules *modules)
{
	unsigned *order = calloc(modules->count + 1, sizeof(*order));

	for (unsigned i = 0; i < modules->count; i++)
		modules->list[i].wanted = true;
	if (!order)
		return;
	for (unsigned i = 0; i < modules->count; i++)
		order[i] = i;
	qsort_r(order, modules->count, sizeof(*order), path_compare,
		modules->list);
	for (unsigned i = 1; i < modules->count; i++) {
		struct vm_module *before = &modules->list[order[i - 1]];
		struct vm_module *module = &modules->list[order[i]];

		if (!strcmp(before->path, module->path))
			module->ahead = before->ahead;
	}
	free(order);
}

/* The one with the greatest base that is not above the address. */
struct vm_module *vm_modules_below(const struct vm_modules *modules,
				   uint64_t address)
{
	unsigned from = 0, to = modules->count;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (modules->list[modules->by_base[middle]].base <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &modules->list[modules->by_base[from - 1]] : NULL;
}

bool vm_module_system(const struct vm_module *module)
{
	static const char *const names[] = {
		"libc.so.",	"libm.so.",	 "libpthread.so.", "ld-linux",
		"libstdc++.so", "libgcc_s.so",	 "libgomp.so",	   "libomp.so",
		"libgfortran.", "libquadmath.",	 "libfabric.so",   "libasan.so",
		"libtsan.so",	"libubsan.so",	 "libvmpi_",	   "libdl.so",
		"librt.so",	"libmpi_abi.so", "libc++.so",	   "libc++abi.",
	};

	const char *slash = strrchr(module->path, '/');
	const char *file = slash ? slash + 1 : module->path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(file, names[i], strlen(names[i])))
			return true;
	return false;
}

bool vm_modules_system(const struct vm_modules *modules, uint64_t address)
{
	const struct vm_module *module = vm_modules_below(modules, address);

	return module && vm_module_system(module);
}

void vm_modules_want(struct vm_modules *modules, uint64_t address)
{
	struct vm_module *module = vm_modules_below(modules, address);

	if (module)
		module->wanted = true;
}

bool vm_modules_want_stack(struct vm_modules *modules, uint64_t sp)
{
	size_t bytes = STACK_BYTES;
	uint64_t *words = malloc(bytes);
	pid_t pid = modules->pid;

	if (!words)
		return false;
	sp &= ~(uint64_t)(sizeof(*words) - 1);
	for (int i = 0; i < GUARD_PAGES &&
			!vm_snapshot_read(pid, words, sp, sizeof(*words));
	     i++)
		sp = (sp | (PAGE_BYTES - 1)) + 1;
	bytes = vm_snapshot_read_most(pid, words, sp, bytes);
	for (size_t i = 0; i < bytes / sizeof(*words); i++)
		vm_modules_want(modules, words[i]);
	free(words);
	return true;
}

const struct vm_module *vm_modules_at(const struct vm_modules *modules,
				      uint64_t address)
{
	struct vm_module *below = vm_modules_below(modules, address);
	Dwfl_Module *found =
		modules->dw->dwfl_addrmodule(modules->dwfl, address);

	return below && found && below->handle == found ? below : NULL;
}

#endif
