/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading ELF files: what is found in good ones, and that damaged ones are
 * refused or survived, never followed out of the file.
 */
#include "core/object/elf.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "core/image/file.h"
#include "core/image/ordinary.h"
#include "tap.h"

static bool needs(const struct vm_elf *elf, const char *wanted)
{
	size_t next = 0;
	const char *name;

	while ((name = vm_elf_needed(elf, &next)))
		if (!strcmp(name, wanted))
			return true;
	return false;
}

/* Every question there is; the answers do not matter. */
static void ask_all(struct vm_elf *elf)
{
	static const char *const prefixes[] = { "MPI_", "vmpi_", NULL };
	struct vm_elf_slot slot;
	ElfW(Addr) address;
	ElfW(Xword) value;
	char text[160];
	size_t next = 0;

	needs(elf, "nothing");
	vm_elf_imports(elf, prefixes);
	vm_elf_mappings(elf, false);
	vm_elf_mappings(elf, true);
	vm_elf_static_tls(elf);
	vm_elf_dynamic(elf, DT_SONAME, &value);
	vm_elf_note(elf, "vmpi", 1, 4, &address);
	vm_elf_string(elf, (size_t)-1);
	while (vm_elf_slot(elf, &next, &slot))
		vm_elf_version(elf, slot.symbol);
	vm_elf_define(elf, "nothing");
	vm_ordinary_why(elf, text, sizeof(text));
	vm_elf_patch(elf);
	vm_ordinary_patch(elf);
}

static void test_good(void)
{
	static const char *const some[] = { "no_such", "__libc_start", NULL };
	static const char *const none[] = { "no_such_symbol", NULL };
	struct vm_image_file file;
	struct vm_elf elf;
	ElfW(Addr) address;
	size_t pages;

	is_int(vm_elf_open(&elf, "/proc/self/exe", "self"), 0,
	       "this program can be opened");
	ok(elf.path[0] == '/', "its path is absolute");
	ok(needs(&elf, "libc.so.6"), "it needs libc");
	ok(!needs(&elf, "libnothing.so"), "and not everything");
	ok(elf.symbol_count > 10, "it has symbols");
	ok(vm_elf_imports(&elf, some), "imports are found by prefix");
	ok(!vm_elf_imports(&elf, none), "others are not");
	ok(vm_elf_mappings(&elf, false) >= vm_elf_mappings(&elf, true),
	   "merging does not need more mappings");
	pages = vm_elf_pages(&elf);
	ok(pages > 1 && pages * 4096 < 16 * elf.size, "it takes some pages");
	ok(vm_elf_pad(&elf), "a page can be added");
	is_int((intmax_t)vm_elf_pages(&elf), (intmax_t)pages + 1,
	       "and is counted");
	is_int((intmax_t)vm_elf_static_tls(&elf), 0,
	       "it asks for no static TLS of a library");
	ok(vm_elf_note(&elf, "GNU", 3, 8, &address) != NULL ||
		   vm_elf_note(&elf, "GNU", 1, 4, &address) != NULL,
	   "its notes are found");
	ok(!vm_elf_note(&elf, "vmpi", 1, 4, &address),
	   "it is not built with vmpicc");
	vm_elf_patch(&elf);
	ok(elf.code.init_count > 0 && elf.code.init_array,
	   "constructors are taken out");
	is_int(vm_image_file_make(&file, &elf), 0, "a patched file is made");
	ok(lseek(file.fd, 0, SEEK_END) <= (off_t)elf.size,
	   "without what is not loaded");
	vm_image_file_close(&file);
	vm_elf_close(&elf);
}

/* A small library to damage. */
static size_t sample_read(char *bytes, size_t room)
{
	void *handle = dlopen("libBrokenLocale.so.1", RTLD_LAZY);
	struct link_map *map;
	FILE *file;
	size_t size;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return 0;
	file = fopen(map->l_name, "re");
	if (!file)
		return 0;
	size = fread(bytes, 1, room, file);
	fclose(file);
	dlclose(handle);
	return size;
}

static void test_damaged(void)
{
	static char good[65536], bytes[65536];
	size_t size = sample_read(good, sizeof(good));
	char path[] = "/tmp/vmpi-damaged-XXXXXX";
	int fd = mkstemp(path);
	unsigned seed = 4711;
	int opened = 0, refused = 0;

	if (!size || fd < 0) {
		skip(3, "no small library");
		return;
	}
	for (int i = 0; i < 4000; i++) {
		size_t use = i % 4 ? size : (size_t)rand_r(&seed) % size;
		int changes = 1 + rand_r(&seed) % 8;
		struct vm_elf elf;

		memcpy(bytes, good, size);
		/* Mostly in the headers and the tables behind them. */
		while (changes--)
			bytes[(size_t)rand_r(&seed) %
			      (changes % 2 ? 1024 : size)] =
				(char)rand_r(&seed);
		if (ftruncate(fd, 0) ||
		    pwrite(fd, bytes, use, 0) != (ssize_t)use)
			break;
		if (vm_elf_open(&elf, path, "damaged")) {
			refused++;
			continue;
		}
		opened++;
		ask_all(&elf);
		vm_elf_close(&elf);
	}
	is_int(opened + refused, 4000, "damaged files are survived");
	ok(refused > 400, "many are refused (%d)", refused);
	ok(opened > 100, "harmless damage is not (%d)", opened);
	close(fd);
	unlink(path);
}

int main(void)
{
	struct vm_elf elf;

	plan(22);
	vm_log_set_level((enum vm_log_level) - 1);
	test_good();
	test_damaged();
	is_int(vm_elf_open(&elf, "/nonexistent", "x"), -VMPI_ENOENT,
	       "a file that is not there");
	is_int(vm_elf_open(&elf, "/", "x"), -VMPI_EINVAL, "a directory");
	return done_testing();
}
