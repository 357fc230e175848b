/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading a program many times.
 *
 * glibc compares a name, and then device and inode, with everything in its list
 * of loaded objects.  While copies are being loaded they are out of it
 * (core/libc/loaded.h); afterwards all are in the list again.
 */
#include "core/image/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "core/instrument/intercept.h"
#include "core/libc/loaded.h"
#include "core/image/bind.h"
#include "core/image/direct.h"
#include "core/image/keep.h"
#include "core/image/local.h"
#include "core/image/text.h"
#include "core/image/ordinary.h"
#include "core/image/exe_tls.h"

/*
 * The file that is loaded is a patched one in memory (core/object/elf.h): no
 * constructors, because they have to run on the rank's ULT, where its
 * thread-local variables are.
 */

/* Puts every copy that has been loaded back into the list. */
static void maps_show(const struct vm_image *image, struct link_map *any)
{
	size_t most = (size_t)image->ranks * image->part_count;
	size_t count = 0;

	while (count < most && image->maps[count])
		count++;
	vm_loaded_show(any, image->maps, count);
}

/* Renames a loaded object.  The names live as long as the process. */
static bool map_name(struct link_map *map, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return false;
	free(map->l_name);
	map->l_name = copy;
	return true;
}

/* Replaces the pages of the data segments that belong to the file by anonymous
 * ones, which the kernel joins with the pages of the bss behind them. */
static bool data_merge(const struct vm_elf *elf, const struct link_map *map)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];
		char *low = (char *)map->l_addr + s->p_vaddr / page * page;
		size_t bytes = s->p_vaddr % page + s->p_filesz;
		char *saved;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_W) || !bytes)
			continue;
		saved = malloc(bytes);
		if (!saved)
			return false;
		memcpy(saved, low, bytes);
		if (mmap(low, (bytes + page - 1) / page * page,
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1,
			 0) == MAP_FAILED) {
			free(saved);
			return false;
		}
		memcpy(low, saved, bytes);
		free(saved);
	}
	return true;
}

/*
 * Makes a debugger read the list again: it reads it when something is loaded,
 * and has seen the files in memory.  The library is a part of glibc that
 * nothing uses.
 */
static void debugger_tell(void)
{
	char line[128];
	int tracer = 0;
	FILE *file = fopen("/proc/self/status", "re");
	void *handle;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file) &&
	       sscanf(line, "TracerPid: %d", &tracer) != 1)
		;
	fclose(file);
	handle = tracer ? dlopen("libBrokenLocale.so.1", RTLD_NOW) : NULL;
	if (handle)
		dlclose(handle);
}

static int load_refuse(const struct vm_image *image, int rank, const char *why)
{
	/* The next call of the dynamic linker ends the text. */
	bool lacks_tls = strstr(why, "static TLS");

	vm_log(VM_ERROR, "%s: copy %d of %d cannot be loaded: %s", image->name,
	       rank + 1, image->ranks, why);
	if (lacks_tls)
		vm_log(VM_ERROR,
		       "its thread-local variables take %zu bytes of libc's "
		       "static block in all; start with GLIBC_TUNABLES="
		       "glibc.rtld.optional_static_tls=%zu",
		       vm_image_static_tls(image),
		       vm_image_static_tls(image) + 4096);
	if (access("/proc/self/fd", F_OK))
		vm_log(VM_ERROR, "copies are loaded from /proc/self/fd: /proc "
				 "must be mounted");
	return -VMPI_EINVAL;
}

/*
 * A library that takes symbols from the program cannot be bound before it; that
 * shows at the first copy.  Afterwards nothing may fail, because undoing it
 * glibc would count the objects in its list.
 */
static void *part_dlopen(const struct vm_image *image, int copy, size_t index)
{
	const char *path = vm_image_file_path(&image->files[index], copy);
	struct vm_image_lib *lib = NULL;
	void *handle = NULL;

	if (index + 1 < image->part_count)
		lib = &image->libs[image->own_first + index];
	if (!lib || !lib->lazy)
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle && lib) {
		lib->lazy = true;
		handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	}
	return handle;
}

/*
 * Loads one part.  Its name for now is what others ask for, so that they find
 * it even if it has no SONAME.
 */
static bool part_load(struct vm_image_copy *copy, size_t index)
{
	const struct vm_image *image = copy->image;
	void *handle = part_dlopen(image, copy->index, index);

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &copy->maps[index])) {
		load_refuse(image, copy->index, dlerror());
		return false;
	}
	if ((image->merged &&
	     !data_merge(vm_image_part(image, index), copy->maps[index])) ||
	    (index + 1 < image->part_count &&
	     !map_name(copy->maps[index],
		       image->libs[image->own_first + index].name))) {
		load_refuse(image, copy->index, strerror(errno));
		return false;
	}
	return true;
}

/* Binds the parts of a copy to each other, and to the runtime. */
static int copy_bind(const struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;

	if (image->ordinary && !vm_image_bind(copy))
		return load_refuse(image, copy->index, strerror(errno));
	for (size_t i = 0; i < image->part_count; i++)
		if (!vm_intercept_is_kept())
			vm_image_direct(vm_image_part(image, i),
					copy->maps[i]->l_addr);
	return vm_image_tools_bind(copy);
}

/* Loads the parts of one copy and hides them again.  They keep the names by
 * which people, debuggers and profilers find them. */
static int copy_load(struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	int rc = 0;

	for (size_t i = 0; i < image->part_count && !rc; i++)
		if (!part_load(copy, i))
			rc = -VMPI_EINVAL;
	for (size_t i = 0; i < image->part_count && !rc; i++)
		if (!map_name(copy->maps[i], vm_image_part(image, i)->path))
			rc = load_refuse(image, copy->index, strerror(errno));
	if (!rc)
		rc = copy_bind(copy);
	for (size_t i = 0; i < image->part_count && !rc; i++)
		vm_image_text_map(vm_image_part(image, i),
				  copy->maps[i]->l_addr, image->files[i].text);
	for (size_t i = 0; i < image->part_count && copy->maps[i]; i++)
		vm_loaded_hide(copy->maps[i]);
	if (rc || image->ordinary)
		return rc;
	copy->descriptor =
		(const void *)(vm_image_map(copy)->l_addr + image->descriptor);
	copy->dso_handle = copy->descriptor->dso_handle;
	return 0;
}

/* Where the code of a part comes from, and its view: the program's own file or
 * the one in memory. */
static void file_choose(const struct vm_image *image, size_t part)
{
	struct vm_image_file *file = &image->files[part];
	const struct vm_elf *elf = vm_image_part(image, part);

	/* A whole file has symbols of its own. */
	if (file->named)
		return;
	/* While ranks run, low numbers of descriptors are theirs. */
	file->text = vm_image_text_open(
		elf, image->choice.later ? NULL : &file->leased);
	if (file->text < 0)
		vm_elf_rehome(elf, file->fd);
}

static int files_make(struct vm_image *image)
{
	int rc = 0;

	image->files = calloc(image->part_count, sizeof(*image->files));
	if (!image->files)
		return load_refuse(image, 0, "out of memory");
	for (size_t i = 0; i < image->part_count; i++)
		image->files[i].fd = image->files[i].text = -1;
	for (size_t i = 0; i < image->part_count && !rc; i++) {
		vm_elf_patch(vm_image_part(image, i));
		if (image->ordinary)
			vm_ordinary_patch(vm_image_part(image, i));
		rc = vm_image_file_make(&image->files[i],
					vm_image_part(image, i));
		if (!rc)
			file_choose(image, i);
	}
	return rc;
}

static void files_close(struct vm_image *image)
{
	for (size_t i = 0; image->files && i < image->part_count; i++) {
		struct vm_image_file *file = &image->files[i];

		if (file->leased) {
			vm_image_keep_add(image, i, file->text);
			file->text = -1;
		}
		vm_image_file_close(file);
	}
	free(image->files);
	image->files = NULL;
}

/* Libraries of other images that are out of the list meanwhile. */
struct hidden {
	struct link_map **maps;
	size_t count;
};

/* Hides one that has the name of a library of this image, or returns false. */
static bool other_hide(struct hidden *hidden, const char *name)
{
	struct link_map *map = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
	struct link_map **maps;

	if (!map)
		return false;
	/* It is closed when all are in the list again, which dlclose()
	 * counts. */
	maps = realloc(hidden->maps, (hidden->count + 1) * sizeof(*maps));
	if (!maps)
		return false;
	vm_loaded_hide(map);
	hidden->maps = maps;
	maps[hidden->count++] = map;
	return true;
}

/* The dynamic linker would find those libraries of images that were loaded
 * before instead of the new copies. */
static void others_hide(const struct vm_image *image, struct hidden *hidden)
{
	for (size_t i = 0; i + 1 < image->part_count; i++)
		while (other_hide(hidden,
				  image->libs[image->own_first + i].name))
			;
}

static void others_show(struct hidden *hidden, struct link_map *any)
{
	vm_loaded_show(any, hidden->maps, hidden->count);
	for (size_t i = 0; i < hidden->count; i++)
		dlclose(hidden->maps[i]);
	free(hidden->maps);
}

static int copies_load(struct vm_image *image)
{
	struct link_map *program = NULL;
	struct hidden hidden = { 0 };
	void *self;
	int rc = files_make(image);

	if (!rc)
		rc = vm_exe_tls_add(image);
	if (image->choice.later)
		others_hide(image, &hidden);
	self = dlopen(NULL, RTLD_LAZY);
	if (!self || dlinfo(self, RTLD_DI_LINKMAP, &program))
		vm_panic("the dynamic linker does not know this program: %s",
			 dlerror());
	for (int i = 0; i < image->ranks && !rc; i++) {
		rc = copy_load(&image->copies[i]);
		if (!rc && i &&
		    vm_image_map(&image->copies[i]) ==
			    vm_image_map(&image->copies[i - 1]))
			vm_panic(
				"this C library does not load a program twice");
	}
	maps_show(image, program);
	others_show(&hidden, program);
	debugger_tell();
	files_close(image);
	return rc;
}

/*
 * Loads the libraries that all copies share, by their full paths, because the
 * copies have no folder and $ORIGIN would lead nowhere.  What fails here (a
 * library that takes symbols from the program) is tried again by the dynamic
 * linker with the program.
 */
static void shared_load(struct vm_image *image)
{
	for (size_t i = 0; i < image->own_first; i++) {
		struct vm_image_lib *lib = &image->libs[i];
		void *handle = NULL;

		if (!lib->own)
			handle = dlopen(lib->path, RTLD_NOW | RTLD_LOCAL);
		if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &lib->map))
			lib->map = NULL;
	}
}

/* As in part_load(): while copies are loaded a library has the name that others
 * ask for.  Called once before and once after; exchanges the two. */
static void shared_rename(struct vm_image *image)
{
	for (size_t i = 0; i < image->own_first; i++) {
		struct vm_image_lib *lib = &image->libs[i];
		char *name = lib->name;

		if (!lib->map)
			continue;
		lib->name = lib->map->l_name;
		lib->map->l_name = name;
	}
}

/* An image that may begin to watch its calls has to keep its entries. */
static void watchers_look(const struct vm_image *image)
{
	for (size_t i = 0; i < image->part_count; i++)
		if (vm_elf_imports(vm_image_part(image, i),
				   vm_intercept_imports))
			vm_intercept_set(VM_INTERCEPT_KEEP);
}

/* Before ranks run, whose descriptors have low numbers. */
static void single_lease(struct vm_image *image)
{
	bool leased = false;
	int fd = open(image->program.path, O_RDONLY | O_CLOEXEC);

	image->may = fd >= 0 && vm_image_keep_may(fd, &leased);
	image->lease = leased ? fd : -1;
	if (fd >= 0 && !leased)
		close(fd);
}

int vm_image_load(struct vm_image *image)
{
	int rc;

	watchers_look(image);
	shared_load(image);
	vm_image_streams_start();
	rc = vm_image_locals_add(image->libs, image->lib_count);
	if (!rc)
		rc = vm_image_bind_make(image);
	if (!rc && image->single)
		single_lease(image);
	if (rc || image->single)
		return rc;
	shared_rename(image);
	rc = copies_load(image);
	shared_rename(image);
	return rc;
}

/* What the copies share stays: its thread-local variables may be registered. */
void vm_image_unload(struct vm_image *image)
{
	vm_image_keep_drop(image);
	for (int i = image->ranks; i-- > 0;)
		for (size_t k = image->part_count; k-- > 0;) {
			struct link_map *map = image->copies[i].maps[k];

			if (map)
				dlclose(map);
			image->copies[i].maps[k] = NULL;
		}
}

/* By words: the memcpy() of a program with AddressSanitizer would look at what it
 * has put between the variables. */
__attribute__((no_sanitize_address)) static void
pages_copy(uint64_t *to, const volatile uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = from[i];
}

/* The data are the rank's, whatever becomes of the file: private pages of a file
 * are gone when it is truncated, even if they have been written to. */
static bool data_own(const struct vm_elf *elf, ElfW(Addr) base)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!vm_image_relro(elf, base, true))
		return false;
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];
		size_t lead = s->p_vaddr % page;
		size_t bytes = (lead + s->p_filesz + page - 1) / page * page;
		char *low = (char *)base + s->p_vaddr - lead;
		void *copy;

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_W) ||
		    !s->p_filesz)
			continue;
		copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (copy == MAP_FAILED)
			return false;
		pages_copy(copy, (const uint64_t *)low, bytes);
		if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			   low) == MAP_FAILED) {
			munmap(copy, bytes);
			return false;
		}
	}
	return vm_image_relro(elf, base, false);
}

/* Keeps the copy as it has been loaded, from the file itself. */
static bool single_keep(struct vm_image *image, ElfW(Addr) base)
{
	if (vm_image_file_named())
		return true;
	if (!data_own(&image->program, base))
		return false;
	if (image->lease >= 0)
		vm_image_keep_add(image, 0, image->lease);
	else if (!image->may)
		vm_image_keep_memory(image, 0);
	return true;
}

/*
 * The file itself, constructors included.  Its destructors must not run again
 * at the end of the process: the dynamic linker reads their number from the
 * loaded file, which is in memory that may be protected by now.
 */
int vm_image_load_single(struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *handle = dlopen(image->program.path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return load_refuse(image, 0, dlerror());
	__atomic_store_n(&copy->maps[0], map, __ATOMIC_RELEASE);
	if (!single_keep(copy->image, map->l_addr))
		return load_refuse(image, 0, strerror(errno));
	copy->descriptor = (const void *)(map->l_addr + image->descriptor);
	copy->dso_handle = copy->descriptor->dso_handle;
	for (ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		char *low = (char *)((uintptr_t)entry / page * page);
		size_t bytes = (uintptr_t)(entry + 1) - (uintptr_t)low;

		if (entry->d_tag != DT_FINI_ARRAYSZ)
			continue;
		if (mprotect(low, bytes, PROT_READ | PROT_WRITE))
			return load_refuse(image, 0, strerror(errno));
		entry->d_un.d_val = 0;
	}
	if (!vm_intercept_is_kept())
		vm_image_direct(&image->program, map->l_addr);
	return vm_image_tools_bind(copy);
}
