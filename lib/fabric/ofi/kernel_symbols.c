/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the slot through which a library calls fopen, and changing it.
 *
 * The slot may lie on pages that are read-only since the library was loaded.
 * /proc/self/mem writes to them without changing their protection.
 */
#include "fabric/ofi/kernel_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIST "/proc/kallsyms"

struct calls {
	const ElfW(Rela) * slots;
	size_t bytes;
	const ElfW(Sym) * symbols;
	const char *strings;
};

static FILE *open_others(const char *path, const char *mode)
{
	if (strcmp(path, LIST) == 0) {
		errno = ENOENT;
		return NULL;
	}
	return fopen(path, mode);
}

static void calls_find(struct calls *calls, const struct link_map *map)
{
	*calls = (struct calls){ 0 };
	for (const ElfW(Dyn) *row = map->l_ld; row->d_tag != DT_NULL; row++) {
		void *at = (void *)row->d_un.d_ptr;

		if (row->d_tag == DT_JMPREL)
			calls->slots = at;
		else if (row->d_tag == DT_PLTRELSZ)
			calls->bytes = row->d_un.d_val;
		else if (row->d_tag == DT_SYMTAB)
			calls->symbols = at;
		else if (row->d_tag == DT_STRTAB)
			calls->strings = at;
	}
}

static void slot_write(ElfW(Addr) slot)
{
	FILE *(*function)(const char *, const char *) = open_others;
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	/* A failure leaves the slot as it was. */
	if (pwrite(fd, &function, sizeof(function), (off_t)slot) < 0)
		errno = 0;
	close(fd);
}

void vm_kernel_symbols_hide(void *library)
{
	struct link_map *map;
	struct calls calls;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map))
		return;
	calls_find(&calls, map);
	if (!calls.slots || !calls.symbols || !calls.strings)
		return;
	for (size_t i = 0; i < calls.bytes / sizeof(*calls.slots); i++) {
		const ElfW(Rela) *slot = &calls.slots[i];
		/* The symbol's number is the upper half on 64 bits. */
		const ElfW(Sym) *symbol =
			&calls.symbols[ELF64_R_SYM(slot->r_info)];
		const char *name = calls.strings + symbol->st_name;

		if (strcmp(name, "fopen") == 0 || strcmp(name, "fopen64") == 0)
			slot_write(map->l_addr + slot->r_offset);
	}
}
