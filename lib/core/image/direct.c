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

/* A relocation that holds an import, and the slot. */
typedef void (*import_fn)(const struct vm_elf *elf, const ElfW(Rela) * import,
			  void *arg);

/* Those that the two dynamic entries describe. */
static void table_each(const struct vm_elf *elf, ElfW(Sxword) tag,
		       ElfW(Sxword) size_tag, import_fn each, void *arg)
{
	const ElfW(Rela) *table = NULL;
	ElfW(Xword) address, bytes;

	if (vm_elf_dynamic(elf, tag, &address) &&
	    address % sizeof(address) == 0 &&
	    vm_elf_dynamic(elf, size_tag, &bytes))
		table = vm_elf_at(elf, address, bytes);
	for (size_t i = 0; table && i < bytes / sizeof(*table); i++)
		if (is_import(&table[i]) && is_writable(elf, table[i].r_offset))
			each(elf, &table[i], arg);
}

static void imports_each(const struct vm_elf *elf, import_fn each, void *arg)
{
	table_each(elf, DT_JMPREL, DT_PLTRELSZ, each, arg);
	table_each(elf, DT_RELA, DT_RELASZ, each, arg);
}

/* The pages that the dynamic linker has protected; false: none. */
static bool protected_find(const struct vm_elf *elf, ElfW(Addr) base,
			   uintptr_t *from, uintptr_t *to)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const ElfW(Phdr) *relro = vm_elf_segment(elf, PT_GNU_RELRO);

	if (!relro)
		return false;
	*from = (base + relro->p_vaddr) / page * page;
	*to = (base + relro->p_vaddr + relro->p_memsz) / page * page;
	return *from < *to;
}

static void import_bind(const struct vm_elf *elf, const ElfW(Rela) * import,
			void *arg)
{
	(void)elf;
	slot_bind(*(const ElfW(Addr) *)arg + import->r_offset);
}

bool vm_image_relro(const struct vm_elf *elf, ElfW(Addr) base, bool writable)
{
	uintptr_t from, to;

	return !protected_find(elf, base, &from, &to) ||
	       !mprotect((void *)from, to - from,
			 writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

void vm_image_direct(const struct vm_elf *elf, ElfW(Addr) base)
{
	/* Where that is forbidden everything stays as it is. */
	if (!vm_image_relro(elf, base, true))
		return;
	imports_each(elf, import_bind, &base);
	vm_image_relro(elf, base, false);
}

struct visit {
	void (*each)(const char *name, ElfW(Addr) place, void *arg);
	void *arg;
};

static void import_visit(const struct vm_elf *elf, const ElfW(Rela) * import,
			 void *arg)
{
	size_t number = ELF64_R_SYM(import->r_info);
	struct visit *visit = arg;

	if (number < elf->symbol_count)
		visit->each(vm_elf_string(elf, elf->symbols[number].st_name),
			    import->r_offset, visit->arg);
}

void vm_image_imports(const struct vm_elf *elf,
		      void (*each)(const char *name, ElfW(Addr) place,
				   void *arg),
		      void *arg)
{
	struct visit visit = { each, arg };

	imports_each(elf, import_visit, &visit);
}

bool vm_image_slot_set(const struct vm_elf *elf, ElfW(Addr) base,
		       ElfW(Addr) place, ElfW(Addr) value)
{
	uintptr_t from, to;
	bool closed = protected_find(elf, base, &from, &to) &&
		      base + place >= from && base + place < to;

	if (closed && mprotect((void *)from, to - from, PROT_READ | PROT_WRITE))
		return false;
	memcpy((void *)(base + place), &value, sizeof(value));
	return !closed || !mprotect((void *)from, to - from, PROT_READ);
}
