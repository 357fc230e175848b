/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: programs and libraries as the loader reads and patches them.
 *
 *	make fuzz TARGET=elf SECONDS=60
 *
 * A small program is made here, and inputs change it (input.h); every question
 * that is asked of a file is asked before and after it is patched.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/direct.h"
#include "core/object/elf.h"
#include "core/image/exe_tls.h"
#include "core/image/file.h"
#include "core/image/ordinary.h"
#include "core/image/text.h"
#include "core/image/tied.h"
#include "input.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define ADDRESS R_X86_64_GLOB_DAT
#define CALL R_X86_64_JUMP_SLOT
#define COPY R_X86_64_COPY
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define ADDRESS R_AARCH64_GLOB_DAT
#define CALL R_AARCH64_JUMP_SLOT
#define COPY R_AARCH64_COPY
#endif

enum { IMPORT = 1, DEFINED, VARIABLE, UNIQUE, SYMBOLS };

/* The file: its places are its addresses. */
static struct program {
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[8];
	char interp[16];
	struct {
		ElfW(Nhdr) head;
		char name[8];
		int32_t content;
	} note;
	char strings[96];
	ElfW(Sym) symbols[SYMBOLS];
	ElfW(Half) versions[SYMBOLS + 3];
	ElfW(Verneed) need;
	ElfW(Vernaux) need_version;
	uint32_t hash[4 + 2 + 1 + SYMBOLS]; /* GNU's: a bucket, chains */
	ElfW(Rela) calls[1], others[2];
	char tls[16];
	ElfW(Addr) arrays[3];
	ElfW(Addr) slots[4];
	ElfW(Dyn) dynamic[28];
} good;

#define AT(field) offsetof(struct program, field)
#define SIZE(field) sizeof(good.field)

/* Adds a string; returns where it is. */
static ElfW(Word) string(size_t *used, const char *text)
{
	size_t at = *used;

	memcpy(good.strings + at, text, strlen(text) + 1);
	*used += strlen(text) + 1;
	return (ElfW(Word))at;
}

static ElfW(Phdr)
	segment(unsigned type, unsigned flags, size_t at, size_t bytes)
{
	return (ElfW(Phdr)){ .p_type = type,
			     .p_flags = flags,
			     .p_offset = at,
			     .p_vaddr = at,
			     .p_filesz = bytes,
			     .p_memsz = bytes,
			     .p_align = 8 };
}

static void headers_make(void)
{
	const ElfW(Phdr) segments[] = {
		segment(PT_LOAD, PF_R | PF_X, 0, AT(arrays)),
		segment(PT_LOAD, PF_R | PF_W, AT(arrays),
			sizeof(good) - AT(arrays)),
		segment(PT_DYNAMIC, PF_R, AT(dynamic), SIZE(dynamic)),
		segment(PT_INTERP, PF_R, AT(interp), SIZE(interp)),
		segment(PT_NOTE, PF_R, AT(note), SIZE(note)),
		segment(PT_TLS, PF_R, AT(tls), SIZE(tls)),
		segment(PT_GNU_STACK, PF_R | PF_W, 0, 0),
		segment(PT_GNU_RELRO, PF_R, AT(arrays), SIZE(arrays)),
	};

	good.header = (ElfW(Ehdr)){ .e_type = ET_DYN,
				    .e_machine = MACHINE,
				    .e_version = EV_CURRENT,
				    .e_phoff = AT(segments),
				    .e_ehsize = sizeof(good.header),
				    .e_phentsize = sizeof(ElfW(Phdr)),
				    .e_phnum = 8 };
	memcpy(good.header.e_ident, ELFMAG, SELFMAG);
	good.header.e_ident[EI_CLASS] = ELFCLASS64;
	good.header.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(good.segments, segments, sizeof(segments));
	memcpy(good.interp, "/lib/ld-linux.2", sizeof(good.interp));
	good.note.head = (ElfW(Nhdr)){ 5, sizeof(good.note.content), 1 };
	memcpy(good.note.name, "vmpi", 5);
}

static ElfW(Sym)
	symbol(ElfW(Word) name, unsigned bind, unsigned type, unsigned section)
{
	return (ElfW(Sym)){ .st_name = name,
			    .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
			    .st_shndx = (ElfW(Section))section,
			    .st_value = AT(slots),
			    .st_size = 8 };
}

static void symbols_make(size_t *used)
{
	good.symbols[IMPORT] = symbol(string(used, "MPI_Init"), STB_GLOBAL,
				      STT_FUNC, SHN_UNDEF);
	good.symbols[DEFINED] =
		symbol(string(used, "main"), STB_GLOBAL, STT_FUNC, 1);
	good.symbols[VARIABLE] =
		symbol(string(used, "optarg"), STB_GLOBAL, STT_OBJECT, 1);
	good.symbols[UNIQUE] =
		symbol(string(used, "one"), STB_GNU_UNIQUE, STT_OBJECT, 1);
	good.versions[VARIABLE] = 2;
	good.need_version.vna_name = string(used, "GLIBC_2.2.5");
	good.need_version.vna_other = 2;
	good.need.vn_file = string(used, "libc.so.6");
	good.need.vn_cnt = 1;
	good.need.vn_aux = sizeof(good.need);
	memcpy(good.hash, (const uint32_t[]){ 1, IMPORT, 1, 0 }, 16);
	good.hash[4 + 2] = IMPORT;
	good.hash[4 + 2 + 1 + UNIQUE - IMPORT] = 1;
	good.calls[0] =
		(ElfW(Rela)){ AT(slots[0]), ELF64_R_INFO(IMPORT, CALL), 0 };
	good.others[0] =
		(ElfW(Rela)){ AT(slots[1]), ELF64_R_INFO(DEFINED, ADDRESS), 0 };
	good.others[1] =
		(ElfW(Rela)){ AT(slots[2]), ELF64_R_INFO(VARIABLE, COPY), 0 };
}

static void dynamic_make(size_t *used)
{
	const ElfW(Dyn) entries[] = {
		{ DT_NEEDED, { string(used, "libmpi_abi.so.1") } },
		{ DT_NEEDED, { good.need.vn_file } },
		{ DT_SONAME, { string(used, "self") } },
		{ DT_INIT, { AT(interp) } },
		{ DT_FINI, { AT(interp) } },
		{ DT_PREINIT_ARRAY, { AT(arrays) } },
		{ DT_PREINIT_ARRAYSZ, { 8 } },
		{ DT_INIT_ARRAY, { AT(arrays[1]) } },
		{ DT_INIT_ARRAYSZ, { 8 } },
		{ DT_FINI_ARRAY, { AT(arrays[2]) } },
		{ DT_FINI_ARRAYSZ, { 8 } },
		{ DT_STRTAB, { AT(strings) } },
		{ DT_STRSZ, { SIZE(strings) } },
		{ DT_SYMTAB, { AT(symbols) } },
		{ DT_GNU_HASH, { AT(hash) } },
		{ DT_JMPREL, { AT(calls) } },
		{ DT_PLTRELSZ, { SIZE(calls) } },
		{ DT_RELA, { AT(others) } },
		{ DT_RELASZ, { SIZE(others) } },
		{ DT_VERSYM, { AT(versions) } },
		{ DT_VERNEED, { AT(need) } },
		{ DT_VERNEEDNUM, { 1 } },
		{ DT_FLAGS, { DF_STATIC_TLS } },
		{ DT_FLAGS_1, { DF_1_PIE } },
	};

	memcpy(good.dynamic, entries, sizeof(entries));
}

static void good_make(void)
{
	size_t used = 1;

	headers_make();
	symbols_make(&used);
	dynamic_make(&used);
	if (used > sizeof(good.strings))
		abort();
}

static void import_read(const char *name, ElfW(Addr) place, void *arg)
{
	size_t *sum = arg;

	*sum += strlen(name) + place;
}

static void slots_ask(const struct vm_elf *elf)
{
	struct vm_elf_slot slot;
	size_t next = 0, sum = 0;

	while (vm_elf_slot(elf, &next, &slot)) {
		if (slot.symbol >= elf->symbol_count)
			abort();
		sum += strlen(vm_elf_version(elf, slot.symbol));
	}
	vm_image_imports(elf, import_read, &sum);
}

static void libraries_ask(const struct vm_elf *elf)
{
	size_t next = 0;
	const char *name;

	while ((name = vm_elf_needed(elf, &next)))
		if (!vm_elf_needs(elf, name))
			abort();
}

/* Every question; most answers do not matter. */
static void ask(const struct vm_elf *elf)
{
	static const char *const prefixes[] = { "MPI_", "vmpi_", NULL };
	const ElfW(Phdr) *tls = vm_elf_segment(elf, PT_TLS);
	ElfW(Addr) address;
	char text[160];

	vm_elf_imports(elf, prefixes);
	vm_elf_mappings(elf, false);
	vm_elf_mappings(elf, true);
	vm_elf_pages(elf);
	vm_elf_static_tls(elf);
	vm_elf_note(elf, "vmpi", 1, sizeof(int32_t), &address);
	vm_elf_define(elf, "main");
	vm_elf_tied(elf, text, sizeof(text));
	vm_ordinary_why(elf, text, sizeof(text));
	vm_ordinary_foreign(elf, text, 64);
	libraries_ask(elf);
	slots_ask(elf);
	/* Its content is copied where it fits. */
	if (tls && vm_exe_tls_fits(tls) && tls->p_filesz > tls->p_memsz)
		abort();
}

static void patch(struct vm_elf *elf)
{
	struct vm_image_file file;

	vm_elf_pad(elf);
	vm_elf_patch(elf);
	vm_ordinary_patch(elf);
	vm_elf_need_drop(elf, "libc.so.6");
	vm_elf_tag_drop(elf, DT_FLAGS);
	if (!vm_image_file_make(&file, elf)) {
		file.text = vm_image_text_open(elf, NULL);
		vm_image_file_close(&file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct vm_elf elf;

	if (!good.header.e_phnum)
		good_make();
	fuzz_changed("program", &good, sizeof(good), data, bytes);
	if (vm_elf_open(&elf, FUZZ_DIR "program", "program")) {
		if (fuzz_unchanged(data, bytes))
			abort();
		return 0;
	}
	ask(&elf);
	patch(&elf);
	ask(&elf);
	vm_elf_close(&elf);
	return 0;
}
