/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols and the relocations that name them.  Source: System V gABI, chapter
 * 5; for versions the Linux Standard Base, "Symbol Versioning".
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/libc/names.h"
#include "core/object/elf.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define RELOCATION_CALL R_X86_64_JUMP_SLOT
#define RELOCATION_ADDRESS R_X86_64_GLOB_DAT
#define RELOCATION_TABLE R_X86_64_64
#define RELOCATION_COPY R_X86_64_COPY
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define RELOCATION_CALL R_AARCH64_JUMP_SLOT
#define RELOCATION_ADDRESS R_AARCH64_GLOB_DAT
#define RELOCATION_TABLE R_AARCH64_ABS64
#define RELOCATION_COPY R_AARCH64_COPY
#endif

/* Whether `bytes` at address may be written once the file is loaded. */
static bool is_writable(const struct vm_elf *elf, ElfW(Addr) address,
			size_t bytes)
{
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type == PT_LOAD && (s->p_flags & PF_W) &&
		    address >= s->p_vaddr &&
		    address - s->p_vaddr <= s->p_memsz &&
		    bytes <= s->p_memsz - (address - s->p_vaddr))
			return true;
	}
	return false;
}

/* Entry i of the relocations of a table; NULL: there are no more. */
static const ElfW(Rela) * relocation(const struct vm_elf *elf, ElfW(Sxword) tag,
				     ElfW(Sxword) size_tag, size_t i,
				     size_t *count)
{
	const ElfW(Rela) *table = NULL;
	ElfW(Xword) address, bytes;

	*count = 0;
	if (!vm_elf_dynamic(elf, tag, &address) || address % sizeof(address) ||
	    !vm_elf_dynamic(elf, size_tag, &bytes))
		return NULL;
	table = vm_elf_at(elf, address, bytes);
	if (table)
		*count = bytes / sizeof(*table);
	return i < *count ? &table[i] : NULL;
}

/* Whether the relocation is one that names a symbol, in writable memory. */
static bool slot_read(const struct vm_elf *elf, const ElfW(Rela) * entry,
		      struct vm_elf_slot *slot)
{
	size_t bytes = sizeof(ElfW(Addr));

	*slot = (struct vm_elf_slot){ .place = entry->r_offset,
				      .addend = entry->r_addend,
				      .symbol = ELF64_R_SYM(entry->r_info) };
	if (!slot->symbol || slot->symbol >= elf->symbol_count)
		return false;
	switch (ELF64_R_TYPE(entry->r_info)) {
	case RELOCATION_CALL:
	case RELOCATION_ADDRESS:
	case RELOCATION_TABLE:
		break;
	case RELOCATION_COPY:
		slot->copy = true;
		bytes = elf->symbols[slot->symbol].st_size;
		break;
	default:
		return false;
	}
	return is_writable(elf, slot->place, bytes);
}

bool vm_elf_slot(const struct vm_elf *elf, size_t *next,
		 struct vm_elf_slot *slot)
{
	for (;;) {
		size_t calls, others, i = (*next)++;
		const ElfW(Rela) *entry =
			relocation(elf, DT_JMPREL, DT_PLTRELSZ, i, &calls);

		if (!entry)
			entry = relocation(elf, DT_RELA, DT_RELASZ, i - calls,
					   &others);
		if (!entry)
			return false;
		if (slot_read(elf, entry, slot))
			return true;
	}
}

/* The name of version `number`, as the lists of imported versions have it. */
static const char *version_name(const struct vm_elf *elf, unsigned number)
{
	ElfW(Xword) address, files;

	if (!vm_elf_dynamic(elf, DT_VERNEED, &address) ||
	    !vm_elf_dynamic(elf, DT_VERNEEDNUM, &files))
		return "";
	while (files--) {
		const ElfW(Verneed) *need =
			vm_elf_at(elf, address, sizeof(*need));
		ElfW(Addr) at;

		if (!need || address % 4)
			return "";
		at = address + need->vn_aux;
		for (int i = 0; i < need->vn_cnt; i++) {
			const ElfW(Vernaux) *aux =
				vm_elf_at(elf, at, sizeof(*aux));

			if (!aux || at % 4)
				return "";
			if (aux->vna_other == number)
				return vm_elf_string(elf, aux->vna_name);
			if (!aux->vna_next)
				break;
			at += aux->vna_next;
		}
		if (!need->vn_next)
			break;
		address += need->vn_next;
	}
	return "";
}

const char *vm_elf_version(const struct vm_elf *elf, size_t symbol)
{
	const ElfW(Half) *number = NULL;
	ElfW(Xword) address;

	if (vm_elf_dynamic(elf, DT_VERSYM, &address) && address % 2 == 0)
		number = vm_elf_at(elf, address + symbol * sizeof(*number),
				   sizeof(*number));
	return number ? version_name(elf, *number & 0x7fff) : "";
}

bool vm_elf_is_export(const ElfW(Sym) * symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

const ElfW(Sym) * vm_elf_define(const struct vm_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->symbol_count; i++)
		if (vm_elf_is_export(&elf->symbols[i]) &&
		    !strcmp(vm_elf_string(elf, elf->symbols[i].st_name), name))
			return &elf->symbols[i];
	return NULL;
}

void vm_elf_names(const struct vm_elf *elf, struct vm_names *names, size_t file)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const ElfW(Sym) *symbol = &elf->symbols[i];
		const char *name = vm_elf_string(elf, symbol->st_name);

		if (vm_elf_is_export(symbol) && name[0])
			vm_names_add(names, name, file, symbol);
	}
}

bool vm_elf_needs(const struct vm_elf *elf, const char *library)
{
	const char *name;
	size_t next = 0;

	while ((name = vm_elf_needed(elf, &next)))
		if (!strcmp(name, library))
			return true;
	return false;
}

/* Changes the value of a dynamic entry. */
static void value_set(struct vm_elf *elf, ElfW(Sxword) tag, ElfW(Xword) value)
{
	for (size_t i = 0; i < elf->dynamic_count; i++)
		if (elf->dynamic[i].d_tag == tag)
			elf->dynamic[i].d_un.d_val = value;
}

/* The dynamic linker insists that a library is there whose versions are in the
 * list: links the list past them. */
static void versions_drop(struct vm_elf *elf, const char *library)
{
	ElfW(Xword) address, files;
	ElfW(Verneed) *before = NULL;

	if (!vm_elf_dynamic(elf, DT_VERNEED, &address) ||
	    !vm_elf_dynamic(elf, DT_VERNEEDNUM, &files))
		return;
	for (ElfW(Xword) i = 0; i < files; i++) {
		ElfW(Verneed) *need = vm_elf_at(elf, address, sizeof(*need));

		if (!need || address % 4)
			return;
		if (strcmp(vm_elf_string(elf, need->vn_file), library) != 0) {
			if (!need->vn_next)
				return;
			before = need;
			address += need->vn_next;
			continue;
		}
		value_set(elf, DT_VERNEEDNUM, files - 1);
		if (before)
			before->vn_next =
				need->vn_next ?
					before->vn_next + need->vn_next :
					0;
		else if (need->vn_next)
			value_set(elf, DT_VERNEED, address + need->vn_next);
		else
			vm_elf_tag_drop(elf, DT_VERNEED);
		return;
	}
}

void vm_elf_need_drop(struct vm_elf *elf, const char *library)
{
	for (size_t i = 0; i < elf->dynamic_count; i++) {
		ElfW(Dyn) *entry = &elf->dynamic[i];

		if (entry->d_tag == DT_NEEDED &&
		    !strcmp(vm_elf_string(elf, entry->d_un.d_val), library))
			entry->d_tag = VM_ELF_IGNORED;
	}
	versions_drop(elf, library);
}

void vm_elf_tag_drop(struct vm_elf *elf, ElfW(Sxword) tag)
{
	for (size_t i = 0; i < elf->dynamic_count; i++)
		if (elf->dynamic[i].d_tag == tag)
			elf->dynamic[i].d_tag = VM_ELF_IGNORED;
}

bool vm_elf_is_library(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) header = { .e_type = ET_NONE };
	bool whole;

	if (fd < 0)
		return false;
	whole = read(fd, &header, sizeof(header)) == sizeof(header);
	close(fd);
	return whole && !memcmp(header.e_ident, ELFMAG, SELFMAG) &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB &&
	       header.e_machine == MACHINE && header.e_type == ET_DYN;
}
