/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All copies of a file are laid out alike: the list says which words of which
 * part become the address of what in which other part.
 *
 * Names are looked up in the program first, then in our libraries; what neither
 * defines stays as the dynamic linker has bound it.
 */
#include "core/image/bind.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/image/direct.h"
#include "core/image/enter.h"
#include "core/image/load.h"
#include "core/libc/names.h"

#define ABSOLUTE SIZE_MAX /* the value is an address, not one in a part */

struct place {
	size_t part; /* or ABSOLUTE */
	ElfW(Addr) value;
};

/* One thing to be bound. */
struct bound {
	size_t part;
	ElfW(Addr) at;
	struct place source;
	size_t bytes; /* of the variable to be copied; 0: its address */
};

struct vm_image_bind {
	size_t count, room;
	struct bound *list;	/* addresses first, then variables */
	struct vm_names *names; /* while it is made */
};

static bool names_make(struct vm_image_bind *bind, const struct vm_image *image)
{
	size_t most = image->program.symbol_count;

	for (size_t i = 0; i < image->rank_lib_count; i++)
		most += vm_image_part(image, i)->symbol_count;
	bind->names = vm_names_new(most);
	if (!bind->names)
		return false;
	vm_elf_names(&image->program, bind->names, image->part_count - 1);
	for (size_t i = 0; i < image->rank_lib_count; i++)
		vm_elf_names(vm_image_part(image, i), bind->names, i);
	return true;
}

static bool bound_add(struct vm_image_bind *bind, const struct bound *bound)
{
	if (bind->count == bind->room) {
		size_t room = bind->room ? 2 * bind->room : 64;
		struct bound *list = realloc(bind->list, room * sizeof(*list));

		if (!list)
			return false;
		bind->list = list;
		bind->room = room;
	}
	bind->list[bind->count++] = *bound;
	return true;
}

/* Addresses in one part. */
static bool addresses_find(struct vm_image_bind *bind,
			   const struct vm_image *image, size_t part)
{
	const struct vm_elf *elf = vm_image_part(image, part);
	bool program = part + 1 == image->part_count;
	struct vm_elf_slot slot;
	size_t next = 0;

	while (vm_elf_slot(elf, &next, &slot)) {
		const char *text =
			vm_elf_string(elf, elf->symbols[slot.symbol].st_name);
		struct place place = { ABSOLUTE, 0 };

		if (slot.copy)
			continue;
		if (program)
			place.value = vm_image_enter_function(text);
		if (!place.value) {
			const struct vm_name *name =
				vm_names_find(bind->names, text);

			if (!name)
				continue;
			place = (struct place){ name->file,
						name->symbol->st_value };
		}
		place.value += (ElfW(Addr))slot.addend;
		if (!bound_add(bind,
			       &(struct bound){ part, slot.place, place, 0 }))
			return false;
	}
	return true;
}

/*
 * Lets the dynamic linker load a library that takes symbols from the program
 * before the program is there: it leaves those open.
 */
static void imports_weaken(const struct vm_image_bind *bind,
			   const struct vm_elf *elf)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		ElfW(Sym) *symbol = &elf->symbols[i];

		if (symbol->st_shndx == SHN_UNDEF &&
		    ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
		    vm_names_find(bind->names,
				  vm_elf_string(elf, symbol->st_name)))
			symbol->st_info = ELF64_ST_INFO(
				STB_WEAK, ELF64_ST_TYPE(symbol->st_info));
	}
}

/* The variable of a shared library, or 0. */
static ElfW(Addr) shared_find(const struct vm_image *image, const char *name)
{
	for (size_t i = 0; i < image->own_first; i++) {
		const struct vm_image_lib *lib = &image->libs[i];
		void *handle = dlopen(lib->path, RTLD_LAZY | RTLD_NOLOAD);
		void *address = handle ? dlsym(handle, name) : NULL;

		if (handle)
			dlclose(handle);
		if (address)
			return (ElfW(Addr))address;
	}
	return 0;
}

/* Where the original of a variable is; value 0: unknown, and the dynamic linker
 * has found it.  Of what the C library has, as stdout, the node program has a
 * copy, which the linker passes over. */
static struct place original_find(const struct vm_image *image,
				  const char *name, const char *version)
{
	for (size_t i = 0; i + 1 < image->part_count; i++) {
		const ElfW(Sym) *symbol =
			vm_elf_define(vm_image_part(image, i), name);

		if (symbol)
			return (struct place){ i, symbol->st_value };
	}
	if (!strncmp(version, "GLIBC_", 6))
		return (struct place){ ABSOLUTE,
				       (ElfW(Addr))dlsym(RTLD_DEFAULT, name) };
	return (struct place){ ABSOLUTE, shared_find(image, name) };
}

/* Variables of libraries in the program. */
static bool variables_find(struct vm_image_bind *bind,
			   const struct vm_image *image)
{
	/* Threads are there, whatever libc said when the copy was made. */
	static const char threads[8];
	const struct vm_elf *elf = &image->program;
	struct vm_elf_slot slot;
	size_t next = 0;

	while (vm_elf_slot(elf, &next, &slot)) {
		const ElfW(Sym) *symbol = &elf->symbols[slot.symbol];
		const char *name = vm_elf_string(elf, symbol->st_name);
		struct place place;

		if (!slot.copy)
			continue;
		if (!strcmp(name, "__libc_single_threaded"))
			place = (struct place){ ABSOLUTE, (ElfW(Addr))threads };
		else
			place = original_find(image, name,
					      vm_elf_version(elf, slot.symbol));
		if (place.part == ABSOLUTE && !place.value)
			continue;
		if (!bound_add(bind, &(struct bound){ image->part_count - 1,
						      slot.place, place,
						      symbol->st_size }))
			return false;
	}
	return true;
}

int vm_image_bind_make(struct vm_image *image)
{
	struct vm_image_bind *bind;
	bool done;

	if (!image->ordinary)
		return 0;
	bind = calloc(1, sizeof(*bind));
	done = bind && names_make(bind, image);
	for (size_t i = 0; done && i < image->part_count; i++)
		done = addresses_find(bind, image, i);
	for (size_t i = 0; done && i + 1 < image->part_count; i++)
		imports_weaken(bind, vm_image_part(image, i));
	done = done && variables_find(bind, image);
	if (bind) {
		vm_names_free(bind->names);
		bind->names = NULL;
	}
	image->bind = bind;
	if (done)
		return 0;
	vm_log(VM_ERROR, "%s: out of memory for the list of its symbols",
	       image->name);
	return -VMPI_ENOMEM;
}

void vm_image_bind_free(struct vm_image_bind *bind)
{
	if (!bind)
		return;
	free(bind->list);
	free(bind);
}

static void bound_do(const struct vm_image_copy *copy,
		     const struct bound *bound)
{
	void *at = (void *)(copy->maps[bound->part]->l_addr + bound->at);
	ElfW(Addr) source = bound->source.value;

	if (bound->source.part != ABSOLUTE)
		source += copy->maps[bound->source.part]->l_addr;
	if (bound->bytes)
		memcpy(at, (const void *)source, bound->bytes);
	else
		memcpy(at, &source, sizeof(source));
}

bool vm_image_bind(const struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	const struct vm_image_bind *bind = image->bind;

	for (size_t i = 0; i < image->part_count; i++)
		if (!vm_image_relro(vm_image_part(image, i),
				    copy->maps[i]->l_addr, true))
			return false;
	for (size_t i = 0; i < bind->count; i++)
		bound_do(copy, &bind->list[i]);
	for (size_t i = 0; i < image->part_count; i++)
		vm_image_relro(vm_image_part(image, i), copy->maps[i]->l_addr,
			       false);
	return true;
}
