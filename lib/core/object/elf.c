/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading: the program headers say what is loaded where; section headers are
 * used for nothing, a stripped file has none.  Source: System V gABI, chapters
 * 4 and 5; the GNU hash table as glibc's dl-lookup.c reads it.
 */
#include "core/object/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define MACHINE_NAME "x86-64"
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#define MACHINE_NAME "aarch64"
#endif

/* The smallest page; alignment to it is right for larger ones too. */
#define PAGE 4096u

static size_t page_down(size_t address)
{
	return address & ~(size_t)(PAGE - 1);
}

static size_t page_up(size_t address)
{
	return page_down(address + PAGE - 1);
}

static int refuse(const char *name, const char *why)
{
	vm_log(VM_ERROR, "%s: %s", name, why);
	return -VMPI_EINVAL;
}

void *vm_elf_at(const struct vm_elf *elf, ElfW(Addr) address, size_t bytes)
{
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type != PT_LOAD || address < s->p_vaddr ||
		    address - s->p_vaddr > s->p_filesz ||
		    bytes > s->p_filesz - (address - s->p_vaddr))
			continue;
		return elf->bytes + s->p_offset + (address - s->p_vaddr);
	}
	return NULL;
}

const char *vm_elf_string(const struct vm_elf *elf, size_t offset)
{
	return offset < elf->strings_bytes ? elf->strings + offset : "";
}

bool vm_elf_dynamic(const struct vm_elf *elf, ElfW(Sxword) tag,
		    ElfW(Xword) * value)
{
	for (size_t i = 0; i < elf->dynamic_count; i++) {
		if (elf->dynamic[i].d_tag != tag)
			continue;
		*value = elf->dynamic[i].d_un.d_val;
		return true;
	}
	return false;
}

const char *vm_elf_needed(const struct vm_elf *elf, size_t *next)
{
	while (*next < elf->dynamic_count) {
		const ElfW(Dyn) *entry = &elf->dynamic[(*next)++];

		if (entry->d_tag == DT_NEEDED)
			return vm_elf_string(elf, entry->d_un.d_val);
	}
	return NULL;
}

const ElfW(Phdr) * vm_elf_segment(const struct vm_elf *elf, ElfW(Word) type)
{
	for (int i = 0; i < elf->header->e_phnum; i++)
		if (elf->segments[i].p_type == type)
			return &elf->segments[i];
	return NULL;
}

/* Finds one note in the bytes of one PT_NOTE segment. */
static const char *note_find(const char *bytes, size_t size, const char *name,
			     unsigned type, size_t wanted)
{
	size_t length = strlen(name) + 1;

	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)bytes;
		size_t name_bytes = ((size_t)note->n_namesz + 3) & ~(size_t)3;
		size_t data_bytes = ((size_t)note->n_descsz + 3) & ~(size_t)3;
		size_t all = sizeof(*note) + name_bytes + data_bytes;

		if (all > size)
			break;
		if (note->n_type == type && note->n_namesz == length &&
		    note->n_descsz >= wanted &&
		    !memcmp(bytes + sizeof(*note), name, length))
			return bytes + sizeof(*note) + name_bytes;
		bytes += all;
		size -= all;
	}
	return NULL;
}

const void *vm_elf_note(const struct vm_elf *elf, const char *name,
			unsigned type, size_t bytes, ElfW(Addr) * address)
{
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];
		const char *start, *found;

		if (s->p_type != PT_NOTE || s->p_vaddr % 4)
			continue;
		start = vm_elf_at(elf, s->p_vaddr, s->p_filesz);
		if (!start)
			continue;
		found = note_find(start, s->p_filesz, name, type, bytes);
		if (!found)
			continue;
		*address = s->p_vaddr + (ElfW(Addr))(found - start);
		return found;
	}
	return NULL;
}

bool vm_elf_imports(const struct vm_elf *elf, const char *const *prefixes)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const char *name;

		if (elf->symbols[i].st_shndx != SHN_UNDEF)
			continue;
		name = vm_elf_string(elf, elf->symbols[i].st_name);
		for (const char *const *p = prefixes; *p; p++)
			if (!strncmp(name, *p, strlen(*p)))
				return true;
	}
	return false;
}

size_t vm_elf_mappings(const struct vm_elf *elf, bool merged)
{
	const ElfW(Phdr) *relro = vm_elf_segment(elf, PT_GNU_RELRO);
	size_t count = 0;

	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];
		size_t file_end = page_up(s->p_vaddr + s->p_filesz);
		size_t end = page_up(s->p_vaddr + s->p_memsz);

		if (s->p_type != PT_LOAD)
			continue;
		count++;
		if (!merged && end > file_end && s->p_filesz)
			count++;
		if (relro && relro->p_vaddr >= s->p_vaddr &&
		    relro->p_vaddr < s->p_vaddr + s->p_memsz)
			count++;
	}
	return count;
}

/* The loadable segment at the end, as table order has it; NULL: none. */
static ElfW(Phdr) * last_segment(const struct vm_elf *elf)
{
	ElfW(Phdr) *last = NULL;

	for (int i = 0; i < elf->header->e_phnum; i++)
		if (elf->segments[i].p_type == PT_LOAD)
			last = (ElfW(Phdr) *)(void *)(elf->bytes +
						      elf->header->e_phoff) +
			       i;
	return last;
}

size_t vm_elf_pages(const struct vm_elf *elf)
{
	const ElfW(Phdr) *first = vm_elf_segment(elf, PT_LOAD);
	const ElfW(Phdr) *last = last_segment(elf);

	return last ? (page_up(last->p_vaddr + last->p_memsz) -
		       page_down(first->p_vaddr)) /
			       PAGE :
		      0;
}

size_t vm_elf_loaded(const struct vm_elf *elf)
{
	size_t end = 0;

	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type == PT_LOAD && s->p_offset + s->p_filesz > end)
			end = s->p_offset + s->p_filesz;
	}
	return end;
}

void vm_elf_rehome(const struct vm_elf *elf, int fd)
{
	/* If that fails it stays as it is. */
	mmap(elf->bytes, page_up(vm_elf_loaded(elf)), PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_FIXED, fd, 0);
}

bool vm_elf_pad(struct vm_elf *elf)
{
	ElfW(Phdr) *last = last_segment(elf);

	if (!last || !(last->p_flags & PF_W))
		return false;
	last->p_memsz =
		page_up(last->p_vaddr + last->p_memsz) + 1 - last->p_vaddr;
	return true;
}

size_t vm_elf_static_tls(const struct vm_elf *elf)
{
	const ElfW(Phdr) *tls = vm_elf_segment(elf, PT_TLS);
	ElfW(Xword) flags;
	size_t align;

	if (!tls || !vm_elf_dynamic(elf, DT_FLAGS, &flags) ||
	    !(flags & DF_STATIC_TLS))
		return 0;
	align = tls->p_align ? tls->p_align : 1;
	return (tls->p_memsz + align - 1) / align * align;
}

/* Entries of .dynsym that the GNU hash table reaches: its last chain's end. */
static size_t gnu_hash_count(const struct vm_elf *elf, ElfW(Addr) address)
{
	const uint32_t *head = vm_elf_at(elf, address, 16);
	size_t buckets, first, last = 0;
	const uint32_t *bucket, *chain;

	if (!head || address % 4)
		return 0;
	buckets = head[0];
	first = head[1];
	address += 16 + (ElfW(Addr))head[2] * sizeof(ElfW(Addr));
	bucket = vm_elf_at(elf, address, buckets * 4);
	if (!bucket)
		return first;
	for (size_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return first;
	do {
		chain = vm_elf_at(elf, address + 4 * (buckets + (last - first)),
				  4);
		last++;
	} while (chain && !(*chain & 1));
	return last;
}

static void symbols_find(struct vm_elf *elf)
{
	ElfW(Xword) address, hash;
	const uint32_t *head;
	size_t count = 0;

	if (!vm_elf_dynamic(elf, DT_SYMTAB, &address) ||
	    address % sizeof(ElfW(Addr)))
		return;
	if (vm_elf_dynamic(elf, DT_HASH, &hash) && hash % 4 == 0 &&
	    (head = vm_elf_at(elf, hash, 8)))
		count = head[1];
	else if (vm_elf_dynamic(elf, DT_GNU_HASH, &hash))
		count = gnu_hash_count(elf, hash);
	elf->symbols = vm_elf_at(elf, address, count * sizeof(ElfW(Sym)));
	elf->symbol_count = elf->symbols ? count : 0;
}

/* Fills in what the dynamic section says; false: it is damaged. */
static bool dynamic_read(struct vm_elf *elf)
{
	const ElfW(Phdr) *segment = vm_elf_segment(elf, PT_DYNAMIC);
	ElfW(Xword) address, bytes;
	size_t most;

	if (!segment)
		return true;
	most = segment->p_filesz / sizeof(ElfW(Dyn));
	elf->dynamic = vm_elf_at(elf, segment->p_vaddr, segment->p_filesz);
	if (!elf->dynamic || segment->p_vaddr % sizeof(ElfW(Addr)))
		return false;
	while (elf->dynamic_count < most &&
	       elf->dynamic[elf->dynamic_count].d_tag != DT_NULL)
		elf->dynamic_count++;
	if (elf->dynamic_count == most)
		return false;
	if (!vm_elf_dynamic(elf, DT_STRTAB, &address) ||
	    !vm_elf_dynamic(elf, DT_STRSZ, &bytes))
		return false;
	elf->strings = vm_elf_at(elf, address, bytes);
	if (!elf->strings || !bytes || elf->strings[bytes - 1])
		return false;
	elf->strings_bytes = bytes;
	symbols_find(elf);
	return true;
}

/* Checks that the headers lie inside the file. */
static bool headers_read(struct vm_elf *elf)
{
	const ElfW(Ehdr) *h = elf->header;

	if (h->e_phentsize != sizeof(ElfW(Phdr)) || h->e_phoff > elf->size ||
	    h->e_phoff % sizeof(ElfW(Addr)) ||
	    h->e_phnum * sizeof(ElfW(Phdr)) > elf->size - h->e_phoff)
		return false;
	elf->segments = (const void *)(elf->bytes + h->e_phoff);
	for (int i = 0; i < h->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type == PT_TLS && s->p_memsz < s->p_filesz)
			return false;
		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_offset > elf->size ||
		    s->p_filesz > elf->size - s->p_offset ||
		    s->p_memsz < s->p_filesz ||
		    s->p_vaddr + s->p_memsz < s->p_vaddr)
			return false;
		if ((s->p_offset - s->p_vaddr) % sizeof(ElfW(Addr)))
			return false;
	}
	return true;
}

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "aarch64";
	case EM_386:
		return "32-bit x86";
	case EM_ARM:
		return "32-bit ARM";
	case EM_PPC64:
		return "POWER";
	case EM_RISCV:
		return "RISC-V";
	case EM_S390:
		return "s390";
	default:
		return "another machine";
	}
}

static bool is_text(const struct vm_elf *elf)
{
	return !memchr(elf->bytes, 0, elf->size < 512 ? elf->size : 512);
}

static int header_check(const struct vm_elf *elf, const char *name)
{
	const unsigned char *ident = (const void *)elf->bytes;

	if (elf->size >= 2 && !memcmp(ident, "#!", 2))
		return refuse(name,
			      "this is a script; vmpi runs programs built "
			      "with vmpicc, one copy per rank");
	if (elf->size < SELFMAG || memcmp(ident, ELFMAG, SELFMAG))
		return refuse(name, is_text(elf) ?
					    "this is not a program but a text "
					    "(a script begins with #! and its "
					    "interpreter); vmpi runs programs "
					    "built with vmpicc" :
					    "this is not a program; vmpi runs "
					    "programs built with vmpicc");
	if (elf->size < sizeof(ElfW(Ehdr)))
		return refuse(name, "this ELF file is damaged: it ends inside "
				    "its header");
	if (elf->header->e_machine != MACHINE ||
	    ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) {
		vm_log(VM_ERROR,
		       "%s: this program is for %s, this machine is " MACHINE_NAME
		       "; build it here with vmpicc",
		       name,
		       elf->header->e_machine == MACHINE ?
			       "another kind of " MACHINE_NAME :
			       machine_name(elf->header->e_machine));
		return -VMPI_EINVAL;
	}
	if (elf->header->e_type == ET_REL)
		return refuse(name, "this is an object file; link it with "
				    "vmpicc");
	if (elf->header->e_type == ET_CORE)
		return refuse(name, "this is a core file, not a program");
	return 0;
}

/* Maps the file; its fields are checked by the caller. */
static int file_map(struct vm_elf *elf, const char *path, const char *name)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status)) {
		vm_log(VM_ERROR, "%s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -VMPI_ENOENT;
	}
	if (!S_ISREG(status.st_mode) || status.st_size <= 0) {
		close(fd);
		return refuse(name, "this is not a program; vmpi runs programs "
				    "built with vmpicc");
	}
	elf->size = (size_t)status.st_size;
	elf->bytes = mmap(NULL, elf->size, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			  fd, 0);
	close(fd);
	if (elf->bytes == MAP_FAILED) {
		elf->bytes = NULL;
		vm_log(VM_ERROR, "%s: cannot be mapped: %s", name,
		       strerror(errno));
		return -VMPI_ENOMEM;
	}
	elf->header = (const void *)elf->bytes;
	return 0;
}

int vm_elf_open(struct vm_elf *elf, const char *path, const char *name)
{
	int rc;

	*elf = (struct vm_elf){ 0 };
	rc = file_map(elf, path, name);
	if (!rc)
		rc = header_check(elf, name);
	if (!rc && (!headers_read(elf) || !dynamic_read(elf)))
		rc = refuse(name, "this ELF file is damaged; build it again");
	if (!rc && !(elf->path = realpath(path, NULL))) {
		vm_log(VM_ERROR, "%s: %s", name, strerror(errno));
		rc = -VMPI_ENOENT;
	}
	if (rc)
		vm_elf_close(elf);
	return rc;
}

void vm_elf_close(struct vm_elf *elf)
{
	free(elf->path);
	if (elf->bytes)
		munmap(elf->bytes, elf->size);
	*elf = (struct vm_elf){ 0 };
}

void vm_elf_patch(struct vm_elf *elf)
{
	struct vm_elf_code *code = &elf->code;

	for (size_t i = 0; i < elf->dynamic_count; i++) {
		ElfW(Dyn) *entry = &elf->dynamic[i];
		ElfW(Xword) value = entry->d_un.d_val;

		switch (entry->d_tag) {
		case DT_INIT:
			code->init = value;
			break;
		case DT_FINI:
			code->fini = value;
			break;
		case DT_PREINIT_ARRAY:
			code->preinit_array = value;
			break;
		case DT_PREINIT_ARRAYSZ:
			code->preinit_count = value / sizeof(ElfW(Addr));
			break;
		case DT_INIT_ARRAY:
			code->init_array = value;
			break;
		case DT_FINI_ARRAY:
			code->fini_array = value;
			break;
		case DT_INIT_ARRAYSZ:
			code->init_count = value / sizeof(ElfW(Addr));
			break;
		case DT_FINI_ARRAYSZ:
			code->fini_count = value / sizeof(ElfW(Addr));
			break;
		default:
			continue;
		}
		entry->d_tag = VM_ELF_IGNORED;
	}
	for (size_t i = 0; i < elf->symbol_count; i++) {
		ElfW(Sym) *symbol = &elf->symbols[i];

		if (ELF64_ST_BIND(symbol->st_info) == STB_GNU_UNIQUE)
			symbol->st_info = ELF64_ST_INFO(
				STB_GLOBAL, ELF64_ST_TYPE(symbol->st_info));
	}
}
