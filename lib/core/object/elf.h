/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ELF file, checked and prepared for being loaded many times.
 *
 * The file is read as untrusted bytes: every offset in it is checked before it
 * is followed.  vm_elf_patch() changes our private view of it so that the
 * dynamic linker runs no constructors and unifies no symbols; the addresses of
 * the constructors are kept for the code that runs them (core/image/image.h).
 */
#ifndef CORE_IMAGE_ELF_H
#define CORE_IMAGE_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* A tag that the dynamic linker passes over: of the range for operating
 * systems, used by none. */
#define VM_ELF_IGNORED 0x60000ff0

/* Offsets from where the file is loaded; 0: none. */
struct vm_elf_code {
	ElfW(Addr) init, fini;
	ElfW(Addr) preinit_array, init_array, fini_array;
	size_t preinit_count, init_count, fini_count;
};

struct vm_names;

/* A relocation that names a symbol. */
struct vm_elf_slot {
	ElfW(Addr) place; /* offset from where the file is loaded */
	ElfW(Sxword) addend;
	size_t symbol; /* in .dynsym */
	bool copy;     /* the variable itself is copied there */
};

struct vm_elf {
	char *path;  /* absolute */
	char *bytes; /* private, writable view of the file */
	size_t size;
	const ElfW(Ehdr) * header;
	const ElfW(Phdr) * segments; /* header->e_phnum of them */
	ElfW(Dyn) * dynamic;	     /* NULL: statically linked */
	size_t dynamic_count;	     /* entries, without the last, DT_NULL */
	const char *strings;	     /* .dynstr, ends with a zero */
	size_t strings_bytes;
	ElfW(Sym) * symbols; /* .dynsym; NULL: none */
	size_t symbol_count;
	struct vm_elf_code code; /* set by vm_elf_patch() */
	ElfW(Phdr) tls; /* taken out by vm_ordinary_patch(); p_memsz 0: none */
};

/*
 * Reads the file.  0; -VMPI_ENOENT, -VMPI_EINVAL (not a 64-bit ELF file of this
 * machine, or a damaged one), logged with `name` as the user knows it.
 */
int vm_elf_open(struct vm_elf *elf, const char *path, const char *name);
void vm_elf_close(struct vm_elf *elf);

/* Has the view taken from a file that has what is loaded at the same place, and
 * as it is in the view, instead of from its own. */
void vm_elf_rehome(const struct vm_elf *elf, int fd);

/* Bytes of the file up to the end of what is loaded. */
size_t vm_elf_loaded(const struct vm_elf *elf);

/* The bytes loaded at an address, or NULL if there are not so many. */
void *vm_elf_at(const struct vm_elf *elf, ElfW(Addr) address, size_t bytes);

/* A string of .dynstr; "" for an offset outside. */
const char *vm_elf_string(const struct vm_elf *elf, size_t offset);

/* The value of the first dynamic entry with the tag; false: there is none. */
bool vm_elf_dynamic(const struct vm_elf *elf, ElfW(Sxword) tag,
		    ElfW(Xword) * value);

/* Names of the libraries it needs, one per call; start with *next = 0.  NULL
 * at the end. */
const char *vm_elf_needed(const struct vm_elf *elf, size_t *next);

bool vm_elf_needs(const struct vm_elf *elf, const char *library);

/* In our view of the file: takes out the need of a library, with the versions
 * of its symbols, or a dynamic entry. */
void vm_elf_need_drop(struct vm_elf *elf, const char *library);
void vm_elf_tag_drop(struct vm_elf *elf, ElfW(Sxword) tag);

/* Whether the file at path looks like a library of this machine; logs nothing.
 */
bool vm_elf_is_library(const char *path);

/* The first segment of a type, or NULL. */
const ElfW(Phdr) * vm_elf_segment(const struct vm_elf *elf, ElfW(Word) type);

/* The content of the note (name, type), or NULL; *address is where it will be
 * loaded. */
const void *vm_elf_note(const struct vm_elf *elf, const char *name,
			unsigned type, size_t bytes, ElfW(Addr) * address);

/*
 * The next relocation by which the address of a symbol, or a copy of a
 * variable, is put into the file; start with *next = 0.  False at the end.
 */
bool vm_elf_slot(const struct vm_elf *elf, size_t *next,
		 struct vm_elf_slot *slot);

/* The version with which a symbol is imported, such as "GLIBC_2.34", or "". */
const char *vm_elf_version(const struct vm_elf *elf, size_t symbol);

/* A symbol that the file defines for others, by name, or NULL. */
const ElfW(Sym) * vm_elf_define(const struct vm_elf *elf, const char *name);

/* Adds all those to a table, as those of a file of this number. */
void vm_elf_names(const struct vm_elf *elf, struct vm_names *names,
		  size_t file);

/* Whether others may bind to the symbol: a function or variable. */
bool vm_elf_is_export(const ElfW(Sym) * symbol);

/* Whether it imports a symbol whose name starts with one of the prefixes (the
 * list ends with NULL). */
bool vm_elf_imports(const struct vm_elf *elf, const char *const *prefixes);

/* Memory mappings that one loaded copy takes; merged: data and bss are one. */
size_t vm_elf_mappings(const struct vm_elf *elf, bool merged);

/* Pages of the address space that one loaded copy takes. */
size_t vm_elf_pages(const struct vm_elf *elf);

/* Adds a page of zeros at the end of what is loaded.  false: there is no
 * segment at the end that can be written. */
bool vm_elf_pad(struct vm_elf *elf);

/* Bytes of the fixed TLS block that one copy takes; 0 if it is not of the
 * initial-exec kind. */
size_t vm_elf_static_tls(const struct vm_elf *elf);

/* Takes the constructors out of the view and makes unique symbols global. */
void vm_elf_patch(struct vm_elf *elf);

#endif
