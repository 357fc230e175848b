/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The relocations of the file say where addresses of imported functions are
 * kept: for calls, for comparing them, and in tables.  All of one image are
 * changed, so that a function has one address in it.  What stays bound to an
 * entry, in libraries that images share, is as right and takes a branch more.
 */
#include "core/image/direct.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/instrument/entry.h"

#if defined(__x86_64__)
#define RELOCATION_CALL R_X86_64_JUMP_SLOT
#define RELOCATION_ADDRESS R_X86_64_GLOB_DAT
#define RELOCATION_TABLE R_X86_64_64
#elif defined(__aarch64__)
#define RELOCATION_CALL R_AARCH64_JUMP_SLOT
#define RELOCATION_ADDRESS R_AARCH64_GLOB_DAT
#define RELOCATION_TABLE R_AARCH64_ABS64
#endif

static bool is_import(const ElfW(Rela) * relocation)
{
	switch (ELF64_R_TYPE(relocation->r_info)) {
	case RELOCATION_CALL:
	case RELOCATION_ADDRESS:
	case RELOCATION_TABLE:
		return !relocation->r_addend;
	default:
		return false;
	}
}

static bool is_writable(const struct vm_elf *elf, ElfW(Addr) address)
{
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type == PT_LOAD && (s->p_flags & PF_W) &&
		    address >= s->p_vaddr &&
		    address - s->p_vaddr + sizeof(address) <= s->p_memsz)
			return true;
	}
	return false;
}

static void slot_bind(ElfW(Addr) place)
{
	void *slot = (void *)place;
	uintptr_t bound, direct;

	memcpy(&bound, slot, sizeof(bound));
	direct = vm_entry_direct(bound);
	if (direct != bound)
		memcpy(slot, &direct, sizeof(direct));
}

/* The relocations that the two dynamic entries describe. */
static void table_bind(const struct vm_elf *elf, ElfW(Addr) base,
		       ElfW(Sxword) tag, ElfW(Sxword) size_tag)
{
	const ElfW(Rela) *table = NULL;
	ElfW(Xword) address, bytes;

	if (vm_elf_dynamic(elf, tag, &address) &&
	    vm_elf_dynamic(elf, size_tag, &bytes))
		table = vm_elf_at(elf, address, bytes);
	for (size_t i = 0; table && i < bytes / sizeof(*table); i++)
		if (is_import(&table[i]) && is_writable(elf, table[i].r_offset))
			slot_bind(base + table[i].r_offset);
}

void vm_image_direct(const struct vm_elf *elf, ElfW(Addr) base)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const ElfW(Phdr) *relro = vm_elf_segment(elf, PT_GNU_RELRO);
	uintptr_t from = 0, to = 0;

	/* The pages that the dynamic linker has protected. */
	if (relro) {
		from = (base + relro->p_vaddr) / page * page;
		to = (base + relro->p_vaddr + relro->p_memsz) / page * page;
	}
	/* Where that is forbidden everything stays as it is. */
	if (from < to &&
	    mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		return;
	table_bind(elf, base, DT_JMPREL, DT_PLTRELSZ);
	table_bind(elf, base, DT_RELA, DT_RELASZ);
	if (from < to)
		mprotect((void *)from, to - from, PROT_READ);
}
