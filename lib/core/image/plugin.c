/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other ranks run while one opens a library, so nothing may be taken out of the
 * dynamic linker's list here, as load.c does: each copy has a file, and a name,
 * of its own, and loses its SONAME.  What it needs from private libraries it
 * could not find either: it is made weak, so that the dynamic linker leaves it
 * open, and bound here.
 */
#include "core/image/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "core/image/direct.h"
#include "core/image/file.h"
#include "core/image/lib_rule.h"
#include "core/image/load.h"
#include "core/image/search.h"
#include "core/instrument/intercept.h"

/* A library of one rank. */
struct vm_image_plugin {
	struct vm_image_plugin *next; /* opened before */
	struct vm_elf elf;
	void *handle;
	struct link_map *map;
	dev_t device; /* of its file, and: */
	ino_t inode;
	int users;
	bool global;  /* its symbols are for those opened later */
	bool started; /* constructors have run, destructors have not */
	struct vm_image_plugin **needs;
	size_t need_count;
};

/* What opens one, or several that need one another. */
struct opening {
	struct vm_image_copy *copy;
	int mode;
};

/* The address of a symbol if the object itself defines it, or 0. */
static ElfW(Addr) object_find(struct link_map *map, const struct vm_elf *elf,
			      const char *name)
{
	ElfW(Addr) found = (ElfW(Addr))dlsym(map, name);

	return found >= map->l_addr &&
			       found - map->l_addr < vm_elf_pages(elf) * 4096 ?
		       found :
		       0;
}

static ElfW(Addr)
	needs_find(const struct vm_image_plugin *plugin, const char *name)
{
	ElfW(Addr) found = 0;

	for (size_t i = 0; i < plugin->need_count && !found; i++) {
		const struct vm_image_plugin *need = plugin->needs[i];

		found = object_find(need->map, &need->elf, name);
		if (!found)
			found = needs_find(need, name);
	}
	return found;
}

/* What the rank's own objects have by that name, in the order of a process. */
static ElfW(Addr)
	own_find(const struct vm_image_copy *copy,
		 const struct vm_image_plugin *plugin, const char *name)
{
	const struct vm_image *image = copy->image;
	size_t program = image->part_count - 1;
	ElfW(Addr)
		found = object_find(copy->maps[program], &image->program, name);

	for (size_t i = 0; i < program && !found; i++)
		found = object_find(copy->maps[i], vm_image_part(image, i),
				    name);
	if (!found)
		found = needs_find(plugin, name);
	for (const struct vm_image_plugin *other = copy->plugins;
	     other && !found; other = other->next)
		if (other->global)
			found = object_find(other->map, &other->elf, name);
	return found;
}

/* Finds what is to be bound here, by symbol, and makes it weak; NULL: there is
 * no memory. */
static ElfW(Addr) * imports_find(const struct opening *opening,
				 const struct vm_image_plugin *plugin)
{
	const struct vm_elf *elf = &plugin->elf;
	ElfW(Addr) *found = calloc(elf->symbol_count + 1, sizeof(*found));

	for (size_t i = 1; found && i < elf->symbol_count; i++) {
		ElfW(Sym) *symbol = &elf->symbols[i];

		if (symbol->st_shndx != SHN_UNDEF ||
		    ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
			continue;
		found[i] = own_find(opening->copy, plugin,
				    vm_elf_string(elf, symbol->st_name));
		if (found[i])
			symbol->st_info = ELF64_ST_INFO(
				STB_WEAK, ELF64_ST_TYPE(symbol->st_info));
	}
	dlerror();
	return found;
}

static bool imports_bind(const struct vm_image_plugin *plugin,
			 const ElfW(Addr) * found)
{
	const struct vm_elf *elf = &plugin->elf;
	ElfW(Addr) base = plugin->map->l_addr;
	struct vm_elf_slot slot;
	size_t next = 0;

	if (!vm_image_relro(elf, base, true))
		return false;
	while (vm_elf_slot(elf, &next, &slot)) {
		ElfW(Addr) value = found[slot.symbol];

		if (slot.copy || !value)
			continue;
		value += (ElfW(Addr))slot.addend;
		memcpy((void *)(base + slot.place), &value, sizeof(value));
	}
	vm_image_relro(elf, base, false);
	if (!vm_intercept_is_kept())
		vm_image_direct(elf, base);
	return true;
}

/* Loads the patched file.  On an error dlerror() has the reason. */
static bool file_load(struct vm_image_plugin *plugin, int mode)
{
	struct vm_image_file file = { .fd = -1, .text = -1 };
	char *name;

	if (vm_image_file_make(&file, &plugin->elf))
		return false;
	plugin->handle = dlopen(vm_image_file_path(&file, 0),
				mode & ~(RTLD_GLOBAL | RTLD_NOLOAD));
	vm_image_file_close(&file);
	if (!plugin->handle)
		return false;
	if (dlinfo(plugin->handle, RTLD_DI_LINKMAP, &plugin->map))
		return false;
	/* The name by which people and debuggers find it. */
	name = strdup(plugin->elf.path);
	if (name) {
		free(plugin->map->l_name);
		plugin->map->l_name = name;
	}
	return true;
}

static void plugin_free(struct vm_image_plugin *plugin)
{
	if (plugin->handle)
		dlclose(plugin->handle);
	vm_elf_close(&plugin->elf);
	free(plugin->needs);
	free(plugin);
}

static struct vm_image_plugin *plugin_load(const struct opening *opening,
					   const char *path);

/* Lets one user of a library go: it, and those that it needs, become unused
 * (users 0) from the last on. */
static void plugin_leave(struct vm_image_plugin *plugin)
{
	if (--plugin->users)
		return;
	for (size_t i = 0; i < plugin->need_count; i++)
		plugin_leave(plugin->needs[i]);
}

/* Whether the library at path is private; its name is what it is asked for by.
 */
static bool is_private(const struct vm_image *image, const char *path,
		       const char *name)
{
	struct vm_image_lib lib = { .name = (char *)(uintptr_t)name };
	bool private = false;

	lib.path = realpath(path, NULL);
	if (lib.path && vm_elf_is_library(path) &&
	    !vm_elf_open(&lib.elf, path, path)) {
		private = vm_lib_rule(&lib, &image->program, &image->choice);
		for (size_t i = image->own_first; i < image->lib_count; i++)
		private |= vm_elf_needs(&lib.elf, image->libs[i].name);
		vm_elf_close(&lib.elf);
	}
	free(lib.path);
	return private;
}

/* Whether a library came with the program: as the rank's own, or, for a single
 * rank, as it is in any process. */
static bool is_part(const struct vm_image *image, const char *name)
{
	size_t first = image->single ? 0 : image->own_first;

	for (size_t i = first; i < image->lib_count; i++)
		if (!strcmp(image->libs[i].name, name) ||
		    !strcmp(image->libs[i].path, name))
			return true;
	return false;
}

/* Loads the private libraries that a library needs, and takes those out of what
 * the dynamic linker is to look for. */
static bool needs_load(const struct opening *opening,
		       struct vm_image_plugin *plugin)
{
	const struct vm_image *image = opening->copy->image;
	const char *name;
	size_t next = 0;

	while ((name = vm_elf_needed(&plugin->elf, &next))) {
		char *path = NULL;
		struct vm_image_plugin **needs, *need;

		if (image->single && is_part(image, name))
			continue;
		if (!is_part(image, name) &&
		    strncmp(name, "libmpi_abi.so.", 14) != 0) {
			path = vm_image_search(&plugin->elf, name);
			if (!path || !is_private(image, path, name)) {
				free(path);
				continue;
			}
		}
		vm_elf_need_drop(&plugin->elf, name);
		if (!path)
			continue;
		need = plugin_load(opening, path);
		free(path);
		if (!need)
			return false;
		needs = reallocarray(plugin->needs, plugin->need_count + 1,
				     sizeof(*needs));
		if (!needs) {
			plugin_leave(need);
			return false;
		}
		plugin->needs = needs;
		plugin->needs[plugin->need_count++] = need;
	}
	return true;
}

static bool plugin_make(const struct opening *opening,
			struct vm_image_plugin *plugin, const char *path)
{
	ElfW(Addr) * found;
	bool done;

	if (vm_elf_open(&plugin->elf, path, path) ||
	    !needs_load(opening, plugin))
		return false;
	found = imports_find(opening, plugin);
	if (!found)
		return false;
	vm_elf_patch(&plugin->elf);
	vm_elf_tag_drop(&plugin->elf, DT_SONAME);
	done = file_load(plugin, opening->mode) && imports_bind(plugin, found);
	free(found);
	return done;
}

static struct vm_image_plugin *plugin_load(const struct opening *opening,
					   const char *path)
{
	struct vm_image_copy *copy = opening->copy;
	struct vm_image_plugin *plugin = copy->plugins;
	struct stat status;

	if (stat(path, &status))
		return NULL;
	while (plugin && (plugin->device != status.st_dev ||
			  plugin->inode != status.st_ino))
		plugin = plugin->next;
	if (plugin) {
		plugin->users++;
	} else if (!(opening->mode & RTLD_NOLOAD)) {
		plugin = calloc(1, sizeof(*plugin));
		if (!plugin)
			return NULL;
		plugin->device = status.st_dev;
		plugin->inode = status.st_ino;
		plugin->users = 1;
		if (!plugin_make(opening, plugin, path)) {
			plugin_leave(plugin);
			plugin_free(plugin);
			return NULL;
		}
		plugin->next = copy->plugins;
		copy->plugins = plugin;
	}
	if (plugin && opening->mode & RTLD_GLOBAL)
		plugin->global = true;
	if (plugin && opening->mode & RTLD_NODELETE)
		plugin->users++;
	return plugin;
}

/* Runs the constructors, of those first that it needs. */
static void plugin_start(struct vm_image_copy *copy,
			 struct vm_image_plugin *plugin)
{
	for (size_t i = 0; i < plugin->need_count; i++)
		plugin_start(copy, plugin->needs[i]);
	if (plugin->started)
		return;
	plugin->started = true;
	vm_image_code_start(copy, &plugin->elf.code, plugin->map->l_addr);
}

static void plugin_end(struct vm_image_copy *copy,
		       struct vm_image_plugin *plugin)
{
	if (!plugin->started)
		return;
	plugin->started = false;
	vm_image_code_end(copy, &plugin->elf.code, plugin->map->l_addr);
}

/* Whether it lies in an object, which may still be loaded (NULL). */
static bool is_in(const struct link_map *map, const struct vm_elf *elf,
		  const void *address)
{
	return map &&
	       (uintptr_t)address - map->l_addr < vm_elf_pages(elf) * 4096;
}

/* The file of the rank's own object that an address lies in, or NULL. */
static const struct vm_elf *caller_find(const struct vm_image_copy *copy,
					const void *caller)
{
	const struct vm_image *image = copy->image;

	for (size_t i = 0; i < image->part_count; i++)
		if (is_in(copy->maps[i], vm_image_part(image, i), caller))
			return vm_image_part(image, i);
	for (const struct vm_image_plugin *plugin = copy->plugins; plugin;
	     plugin = plugin->next)
		if (is_in(plugin->map, &plugin->elf, caller))
			return &plugin->elf;
	return NULL;
}

/* The handle of the program (NULL), or of a library that came with it. */
static void *part_find(const struct vm_image_copy *copy, const char *file,
		       const char *path)
{
	const struct vm_image *image = copy->image;
	char *real = path ? realpath(path, NULL) : NULL;
	void *found = file ? NULL : vm_image_map(copy);

	for (size_t i = 0; file && i + 1 < image->part_count && !found; i++) {
		const struct vm_image_lib *lib =
			&image->libs[image->own_first + i];

		if (!strcmp(lib->name, file) ||
		    (real && !strcmp(lib->elf.path, real)))
			found = copy->maps[i];
	}
	free(real);
	return found;
}

static void *private_open(const struct opening *opening, const char *path)
{
	struct vm_image_copy *copy = opening->copy;
	struct vm_image_plugin *plugin;

	pthread_mutex_lock(&copy->plugins_lock);
	plugin = plugin_load(opening, path);
	pthread_mutex_unlock(&copy->plugins_lock);
	if (!plugin)
		return NULL;
	plugin_start(copy, plugin);
	return plugin->handle;
}

bool vm_image_plugin_open(struct vm_image_copy *copy, const char *file,
			  int mode, const void *caller, void **handle)
{
	const struct opening opening = { copy, mode };
	const struct vm_image *image = copy->image;
	const struct vm_elf *by;
	const char *slash;
	char *path;

	by = caller_find(copy, caller);
	if (!by || (file && image->single && is_part(image, file)))
		return false;
	path = file ? vm_image_search(by, file) : NULL;
	*handle = part_find(copy, file, path);
	if (*handle || !path) {
		free(path);
		return *handle != NULL;
	}
	slash = strrchr(path, '/');
	if (is_private(image, path, slash ? slash + 1 : path))
		*handle = private_open(&opening, path);
	else
		*handle = dlopen(path, mode);
	free(path);
	return true;
}

/* Takes an unused library out of the list; NULL: there is none. */
static struct vm_image_plugin *unused_take(struct vm_image_copy *copy)
{
	struct vm_image_plugin **at = &copy->plugins, *plugin;

	while (*at && (*at)->users > 0)
		at = &(*at)->next;
	plugin = *at;
	if (plugin)
		*at = plugin->next;
	return plugin;
}

bool vm_image_plugin_close(struct vm_image_copy *copy, void *handle)
{
	const struct vm_image *image = copy->image;
	struct vm_image_plugin *plugin;

	for (size_t i = 0; i < image->part_count; i++)
		if (handle == copy->maps[i])
			return true;
	pthread_mutex_lock(&copy->plugins_lock);
	plugin = copy->plugins;
	while (plugin && plugin->handle != handle)
		plugin = plugin->next;
	if (plugin)
		plugin_leave(plugin);
	pthread_mutex_unlock(&copy->plugins_lock);
	if (!plugin)
		return false;
	for (;;) {
		pthread_mutex_lock(&copy->plugins_lock);
		plugin = unused_take(copy);
		pthread_mutex_unlock(&copy->plugins_lock);
		if (!plugin)
			return true;
		plugin_end(copy, plugin);
		plugin_free(plugin);
	}
}

void vm_image_plugins_end(struct vm_image_copy *copy)
{
	for (struct vm_image_plugin *plugin = copy->plugins; plugin;
	     plugin = plugin->next)
		plugin_end(copy, plugin);
}
