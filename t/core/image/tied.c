/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that tie their ranks to an OS thread: known libraries, and this
 * program, with one import after the other given a harmless name.
 */
#include "core/image/tied.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "core/object/elf.h"
#include "tap.h"

/* The file that a library was loaded from. */
static const char *path_of(const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY);
	struct link_map *map = NULL;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return NULL;
	return map->l_name;
}

/* The reason for a library; "" when there is none. */
static const char *tied(const char *name, char *text, size_t bytes)
{
	const char *path = path_of(name), *why;
	struct vm_elf elf;

	if (!path || vm_elf_open(&elf, path, name))
		return "cannot be opened";
	why = vm_elf_tied(&elf, text, bytes);
	vm_elf_close(&elf);
	return why ? why : "";
}

/* Gives every import that begins with `name` another one; how many there
 * were. */
static int imports_rename(struct vm_elf *elf, const char *name)
{
	int count = 0;

	for (size_t i = 0; i < elf->symbol_count; i++) {
		ElfW(Sym) *symbol = &elf->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF ||
		    strncmp(vm_elf_string(elf, symbol->st_name), name,
			    strlen(name)) != 0)
			continue;
		symbol->st_name = 0;
		count++;
	}
	return count;
}

static void self_test(void)
{
	char text[160];
	struct vm_elf elf;
	int seen = 0, unnamed = 0;
	const char *why;

	if (vm_elf_open(&elf, "/proc/self/exe", "self"))
		bail("this program cannot be opened");
	/* The segment of its thread-local variables, if it has one. */
	for (int i = 0; i < elf.header->e_phnum; i++)
		if (elf.segments[i].p_type == PT_TLS)
			((ElfW(Phdr) *)(uintptr_t)elf.segments)[i].p_type =
				PT_NULL;
	while ((why = vm_elf_tied(&elf, text, sizeof(text)))) {
		char name[80];

		seen++;
		if (sscanf(why, "imports %79[^:]", name) != 1 ||
		    imports_rename(&elf, name) == 0) {
			unnamed++;
			break;
		}
	}
	is_int(unnamed, 0, "each reason names an import, and goes with it");
	ok(seen > 0, "this program has %d of them, such as errno", seen);
	vm_elf_close(&elf);
}

int main(void)
{
	char text[160];

	is_string(tied("libutil.so.1", text, sizeof(text)), "",
		  "a library that imports nothing can go anywhere");
	is_string(tied("libm.so.6", text, sizeof(text)),
		  "imports errno: it is thread-local",
		  "libm uses errno as no program can");
	is_string(tied("libc.so.6", text, sizeof(text)),
		  "has thread-local variables",
		  "libc has thread-local variables");
	self_test();
	return done_testing();
}
