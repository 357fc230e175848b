/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The definers are the program, if it defines MPI functions, and then the tools
 * among its libraries in the dynamic linker's order.  Which place belongs to
 * whom is the same for all copies and is found once.
 */
#include "core/image/tools.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/image/direct.h"
#include "core/image/lib_rule.h"
#include "core/image/load.h"
#include "core/libc/names.h"

static bool is_definition(const ElfW(Sym) * symbol)
{
	unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);

	return symbol->st_shndx != SHN_UNDEF &&
	       ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

/* The definition of a name. */
static const ElfW(Sym) * definition(const struct vm_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const ElfW(Sym) *symbol = &elf->symbols[i];

		if (is_definition(symbol) &&
		    !strcmp(vm_elf_string(elf, symbol->st_name), name))
			return symbol;
	}
	return NULL;
}

/* Finds who defines a call; false: the runtime does. */
static bool definer_find(const struct vm_image *image, const char *name,
			 struct vm_image_hook *hook)
{
	const ElfW(Sym) *symbol = definition(&image->program, name), *found;
	size_t place = SIZE_MAX;

	hook->by = image->lib_count;
	for (size_t i = 0; !symbol && i < image->lib_count; i++) {
		const struct vm_image_lib *lib = &image->libs[i];

		if (!lib->tool || lib->place > place ||
		    !(found = definition(&lib->elf, name)))
			continue;
		hook->by = i;
		hook->value = found->st_value;
		place = lib->place;
	}
	if (symbol)
		hook->value = symbol->st_value;
	return symbol || place < SIZE_MAX;
}

struct search {
	struct vm_image *image;
	struct vm_names *names; /* of shadowed_find() */
	size_t at;
	int rc;
};

static int no_memory(const struct vm_image *image)
{
	vm_log(VM_ERROR, "%s: out of memory for its tools", image->name);
	return -VMPI_ENOMEM;
}

static void hook_add(struct search *search, const struct vm_image_hook *hook)
{
	struct vm_image *image = search->image;
	struct vm_image_hook *more;

	more = reallocarray(image->hooks, image->hook_count + 1, sizeof(*more));
	if (!more) {
		search->rc = no_memory(image);
		return;
	}
	image->hooks = more;
	image->hooks[image->hook_count++] = *hook;
}

/* Takes a relocation against a symbol (vm_image_imports()). */
static void place_take(const char *name, ElfW(Addr) place, void *arg)
{
	struct search *search = arg;
	struct vm_image_hook hook = { .at = search->at, .place = place };

	if (!search->rc && vm_lib_is_call(name) &&
	    definer_find(search->image, name, &hook))
		hook_add(search, &hook);
}

/* Whether the process, or a library of ours, has something of this name. */
static bool is_shadowed(const struct vm_image *image, const char *name)
{
	if (dlsym(RTLD_DEFAULT, name))
		return true;
	for (size_t i = 0; i < image->lib_count; i++)
		if (image->libs[i].ours &&
		    vm_elf_define(&image->libs[i].elf, name))
			return true;
	return false;
}

/* Who has a name; what the program has of ours (bin/image) comes last. */
static const struct vm_name *name_find(const struct search *search,
				       const char *text)
{
	const struct vm_name *name = vm_names_find(search->names, text);
	char ours[80];

	if (name)
		return name;
	snprintf(ours, sizeof(ours), "vm_image_%s", text);
	return vm_names_find(search->names, ours);
}

/* A place that was bound in the wrong order. */
static void shadowed_take(const char *text, ElfW(Addr) place, void *arg)
{
	struct search *search = arg;
	const struct vm_image *image = search->image;
	const struct vm_name *name = name_find(search, text);

	/* The dynamic linker's is the end of the process's first stack. */
	if (!search->rc && !strcmp(text, "__libc_stack_end"))
		hook_add(search,
			 &(struct vm_image_hook){ search->at, VM_HOOK_STACK_END,
						  place, 0 });
	/* What the program defines bind.h has bound already. */
	if (search->rc || !name || name->file == search->at ||
	    (image->ordinary && name->file == image->lib_count) ||
	    vm_lib_is_call(text) || !is_shadowed(image, text))
		return;
	hook_add(search, &(struct vm_image_hook){ search->at, name->file, place,
						  name->symbol->st_value });
}

/* The library that comes after a place in the dynamic linker's order; or
 * lib_count. */
static size_t lib_next(const struct vm_image *image, size_t after)
{
	size_t next = image->lib_count;

	for (size_t i = 0; i < image->lib_count; i++) {
		const struct vm_image_lib *lib = &image->libs[i];

		if (lib->own && !lib->ours && lib->place + 1 > after &&
		    (next == image->lib_count ||
		     lib->place < image->libs[next].place))
			next = i;
	}
	return next;
}

/*
 * What the process has, libc's functions above all, the dynamic linker finds
 * before the program and its libraries.  Those that define a name themselves come
 * first in a process of their own, so they do here.
 */
static void shadowed_find(struct search *search)
{
	const struct vm_image *image = search->image;
	size_t most = image->program.symbol_count, at = 0;

	for (size_t i = 0; i < image->lib_count; i++)
		most += image->libs[i].elf.symbol_count;
	search->names = vm_names_new(most);
	if (!search->names) {
		search->rc = no_memory(image);
		return;
	}
	vm_elf_names(&image->program, search->names, image->lib_count);
	while ((at = lib_next(image, at)) < image->lib_count) {
		vm_elf_names(&image->libs[at].elf, search->names, at);
		at = image->libs[at].place + 1;
	}
	for (search->at = 0; search->at < image->lib_count; search->at++)
		if (image->libs[search->at].own &&
		    !image->libs[search->at].ours)
			vm_image_imports(&image->libs[search->at].elf,
					 shadowed_take, search);
	vm_image_imports(&image->program, shadowed_take, search);
	vm_names_free(search->names);
}

int vm_image_tools_find(struct vm_image *image)
{
	bool any = vm_lib_is_tool(&image->program);
	struct search search = { .image = image };

	for (size_t i = 0; i < image->lib_count; i++)
		any |= image->libs[i].tool;
	for (size_t i = 0; any && i < image->lib_count; i++) {
		search.at = i;
		if (image->libs[i].elf.bytes)
			vm_image_imports(&image->libs[i].elf, place_take,
					 &search);
	}
	search.at = image->lib_count;
	if (any)
		vm_image_imports(&image->program, place_take, &search);
	shadowed_find(&search);
	return search.rc;
}

/* A library that all copies share: it is loaded, but perhaps not by us. */
static struct link_map *shared_map(struct vm_image_lib *lib)
{
	void *handle;

	if (lib->map)
		return lib->map;
	handle = dlopen(lib->path, RTLD_NOW | RTLD_LOCAL);
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &lib->map)) {
		vm_log(VM_ERROR, "%s: this library cannot be loaded: %s",
		       lib->path, dlerror());
		lib->map = NULL;
	}
	return lib->map;
}

static const struct link_map *map_of(const struct vm_image_copy *copy,
				     size_t index)
{
	const struct vm_image *image = copy->image;

	if (index == image->lib_count)
		return vm_image_map(copy);
	if (index >= image->own_first)
		return copy->maps[index - image->own_first];
	return shared_map(&image->libs[index]);
}

static const struct vm_elf *elf_of(const struct vm_image *image, size_t index)
{
	return index == image->lib_count ? &image->program :
					   &image->libs[index].elf;
}

/* The address that a hook puts there, or 0. */
static ElfW(Addr) hook_value(const struct vm_image_copy *copy,
			     const struct vm_image_hook *hook)
{
	const struct link_map *by;

	if (hook->by == VM_HOOK_STACK_END)
		return (ElfW(Addr)) & copy->stack_end;
	by = map_of(copy, hook->by);
	return by ? by->l_addr + hook->value : 0;
}

int vm_image_tools_bind(const struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;

	for (size_t i = 0; i < image->hook_count; i++) {
		const struct vm_image_hook *hook = &image->hooks[i];
		const struct link_map *at = map_of(copy, hook->at);
		ElfW(Addr) value = hook_value(copy, hook);

		if (!at || !value)
			return -VMPI_EINVAL;
		if (!vm_image_slot_set(elf_of(image, hook->at), at->l_addr,
				       hook->place, value)) {
			vm_log(VM_ERROR,
			       "%s: its calls cannot be bound to a tool: %s",
			       image->name, strerror(errno));
			return -VMPI_EINVAL;
		}
	}
	return 0;
}
