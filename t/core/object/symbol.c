/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols, their versions, and where their addresses are put.
 */
#include "core/object/elf.h"

#include <gnu/libc-version.h>
#include <dlfcn.h>
#include <string.h>

#include "tap.h"

/* Opens the file that a library was loaded from. */
static bool library_open(struct vm_elf *elf, const char *name)
{
	void *handle = dlopen(name, RTLD_LAZY);
	struct link_map *map = NULL;

	return handle && !dlinfo(handle, RTLD_DI_LINKMAP, &map) &&
	       !vm_elf_open(elf, map->l_name, name);
}

static void self_test(void)
{
	const char *libc = gnu_get_libc_version(); /* sanitizers leave it */
	struct vm_elf_slot slot;
	struct vm_elf elf;
	bool found = false, versioned = false;
	size_t next = 0, count = 0;

	is_int(vm_elf_open(&elf, "/proc/self/exe", "self"), 0,
	       "this program can be opened");
	while (vm_elf_slot(&elf, &next, &slot)) {
		const ElfW(Sym) *symbol = &elf.symbols[slot.symbol];

		count++;
		if (strcmp(vm_elf_string(&elf, symbol->st_name),
			   "gnu_get_libc_version") != 0)
			continue;
		found = true;
		versioned = !strncmp(vm_elf_version(&elf, slot.symbol),
				     "GLIBC_2.", 8);
	}
	ok(libc[0] != '\0', "libc has a version");
	ok(count > 5, "it has addresses of others (%zu)", count);
	ok(found, "one is that of a function which it calls");
	ok(versioned, "whose version is known");
	ok(!vm_elf_define(&elf, "dlopen"), "it does not define it");
	ok(!vm_elf_define(&elf, "no_such_symbol"), "nor what nobody does");
	vm_elf_close(&elf);
}

static void library_test(void)
{
	const ElfW(Sym) * symbol;
	struct vm_elf elf;

	if (!library_open(&elf, "libc.so.6")) {
		skip(4, "no libc.so.6");
		return;
	}
	symbol = vm_elf_define(&elf, "getopt");
	ok(symbol && vm_elf_is_export(symbol), "a library defines a function");
	symbol = vm_elf_define(&elf, "optind");
	ok(symbol && symbol->st_size == sizeof(int), "and a variable");
	ok(!vm_elf_define(&elf, "errno"), "no thread-local one");
	ok(!vm_elf_define(&elf, "no_such_symbol"), "and not everything");
	vm_elf_close(&elf);
}

int main(void)
{
	self_test();
	library_test();
	return done_testing();
}
