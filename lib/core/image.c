/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading a program many times.
 *
 * glibc compares a name, and then device and inode, with everything in its list
 * of loaded objects (struct link_map, l_next and l_prev are public).  What is
 * not in the list is loaded anew.  While copies are being loaded nobody else
 * may use the dynamic linker; afterwards all are in the list again.
 *
 * The file that is loaded is a patched one in memory (core/image_elf.h): no
 * constructors, because they have to run on the rank's ULT, where its
 * thread-local variables are.
 */
#include "core/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "core/image_local.h"

struct vm_image {
	struct vm_elf program;
	char *name; /* as the user calls it */
	struct vm_image_lib *libs;
	size_t lib_count;
	size_t own_first; /* libs[own_first...] are copied */
	size_t part_count; /* objects of a copy: own libraries and program */
	ElfW(Addr) descriptor; /* offset in the program */
	int ranks;
	bool merged; /* data and bss share a mapping, to save mappings */
	struct vm_image_copy *copies;
	struct link_map **maps; /* part_count for each copy */
};

extern void __cxa_finalize(void *dso_handle);

/* Part `index` of a copy: a library of its own, or at last the program. */
static struct vm_elf *part(const struct vm_image *image, size_t index)
{
	struct vm_image *writable = (struct vm_image *)(uintptr_t)image;

	return index + 1 < image->part_count ?
		       &image->libs[image->own_first + index].elf :
		       &writable->program;
}

static struct link_map *program_map(const struct vm_image_copy *copy)
{
	return copy->maps[copy->image->part_count - 1];
}

/* An executable as other compilers make it cannot be loaded twice. */
static int ordinary_refuse(const struct vm_image *image)
{
	const struct vm_elf *program = &image->program;
	bool library = program->header->e_type == ET_DYN &&
		       !vm_elf_segment(program, PT_INTERP);
	const char *name;
	size_t next = 0;

	while ((name = vm_elf_needed(program, &next))) {
		if (strncmp(name, "libmpi", 6))
			continue;
		vm_log(VM_ERROR,
		       "%s: this program was built for another MPI (%s); build "
		       "it with vmpicc, or vmpicxx for C++",
		       image->name, name);
		return -VMPI_EINVAL;
	}
	vm_log(VM_ERROR, "%s: this is %s, which cannot be loaded once per "
	       "rank; build the program with vmpicc, or vmpicxx for C++",
	       image->name,
	       library ? "a shared library" : "an ordinary executable");
	return -VMPI_EINVAL;
}

/* Finds the descriptor by the note and checks it as far as the file tells. */
static int descriptor_find(struct vm_image *image)
{
	ElfW(Addr) address;
	const int32_t *distance = vm_elf_note(&image->program, "vmpi",
					      VM_IMAGE_NOTE, sizeof(*distance),
					      &address);
	const struct vm_image_descriptor *descriptor;

	if (!distance || image->program.header->e_type != ET_DYN)
		return ordinary_refuse(image);
	image->descriptor = address + (ElfW(Addr))(ElfW(Sxword))*distance;
	descriptor = vm_elf_at(&image->program, image->descriptor,
			       sizeof(*descriptor));
	if (descriptor && image->descriptor % sizeof(void *) == 0 &&
	    descriptor->version == 1 &&
	    descriptor->bytes >= sizeof(*descriptor))
		return 0;
	vm_log(VM_ERROR,
	       "%s: this program was linked with another version of vmpi; link "
	       "it again with this vmpicc", image->name);
	return -VMPI_EINVAL;
}

static long number_read(const char *path)
{
	FILE *file = fopen(path, "re");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

/* Mappings of this process now. */
static size_t mappings_now(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	size_t count = 0;
	int c;

	if (!file)
		return 0;
	while ((c = getc_unlocked(file)) != EOF)
		count += c == '\n';
	fclose(file);
	return count;
}

static size_t mappings_each(const struct vm_image *image, bool merged)
{
	size_t count = 0;

	for (size_t i = 0; i < image->part_count; i++)
		count += vm_elf_mappings(part(image, i), merged);
	return count;
}

/* Mappings for all else: libraries, worker threads, slabs of stacks, heaps. */
#define MAPPINGS_SPARE 1024

/* The kernel bounds the number of mappings of a process: say so now. */
static int mappings_check(struct vm_image *image)
{
	long limit = number_read("/proc/sys/vm/max_map_count");
	size_t ranks = (size_t)image->ranks;
	size_t other = mappings_now() + MAPPINGS_SPARE;
	size_t needed = other + ranks * mappings_each(image, false);

	if (image->ranks == 1 || limit < 0 || needed <= (size_t)limit)
		return 0;
	image->merged = true;
	needed = other + ranks * mappings_each(image, true);
	if (needed <= (size_t)limit)
		return 0;
	vm_log(VM_ERROR,
	       "%s: %d copies need about %zu memory mappings, but a process "
	       "may have %ld here; raise the limit (sudo sysctl "
	       "vm.max_map_count=%zu) or ask for fewer ranks",
	       image->name, image->ranks, needed, limit,
	       (needed + needed / 4 + 65535) / 65536 * 65536);
	return -VMPI_ELIMIT;
}

static int copies_make(struct vm_image *image)
{
	size_t ranks = (size_t)image->ranks;

	while (image->own_first < image->lib_count &&
	       !image->libs[image->own_first].own)
		image->own_first++;
	/* A single copy needs no library of its own. */
	if (ranks == 1)
		image->own_first = image->lib_count;
	image->part_count = image->lib_count - image->own_first + 1;
	image->copies = calloc(ranks, sizeof(*image->copies));
	image->maps = calloc(ranks * image->part_count, sizeof(*image->maps));
	if (!image->copies || !image->maps) {
		vm_log(VM_ERROR, "%s: out of memory for %d copies",
		       image->name, image->ranks);
		return -VMPI_ENOMEM;
	}
	for (size_t i = 0; i < ranks; i++) {
		image->copies[i].image = image;
		image->copies[i].index = (int)i;
		image->copies[i].maps = image->maps + i * image->part_count;
	}
	return 0;
}

int vm_image_open(struct vm_image **out, const char *path, const char *name,
		  int ranks)
{
	struct vm_image *image = calloc(1, sizeof(*image));
	int rc;

	VM_ASSERT(ranks > 0);
	if (!image || !(image->name = strdup(name))) {
		free(image);
		vm_log(VM_ERROR, "%s: out of memory", name);
		return -VMPI_ENOMEM;
	}
	image->ranks = ranks;
	image->program.fd = -1;
	rc = vm_elf_open(&image->program, path, name);
	if (!rc)
		rc = descriptor_find(image);
	if (!rc)
		rc = vm_image_libs(&image->program, &image->libs,
				   &image->lib_count);
	if (!rc)
		rc = copies_make(image);
	if (!rc)
		rc = mappings_check(image);
	if (rc) {
		vm_image_close(image);
		return rc;
	}
	*out = image;
	return 0;
}

void vm_image_close(struct vm_image *image)
{
	if (!image)
		return;
	for (int i = 0; image->copies && i < image->ranks; i++) {
		free(image->copies[i].signals);
		free(image->copies[i].words);
	}
	vm_image_libs_free(image->libs, image->lib_count);
	vm_elf_close(&image->program);
	free(image->copies);
	free(image->maps);
	free(image->name);
	free(image);
}

size_t vm_image_static_tls(const struct vm_image *image)
{
	size_t bytes = 0;

	for (size_t i = 0; i < image->part_count; i++)
		bytes += vm_elf_static_tls(part(image, i));
	return bytes * (size_t)image->ranks;
}

static void map_hide(struct link_map *map)
{
	map->l_prev->l_next = map->l_next;
	if (map->l_next)
		map->l_next->l_prev = map->l_prev;
}

/* Puts every hidden copy back, in order, at the end of the list. */
static void maps_show(const struct vm_image *image, const struct link_map *any)
{
	size_t count = (size_t)image->ranks * image->part_count;
	struct link_map *last = (struct link_map *)(uintptr_t)any;

	while (last->l_next)
		last = last->l_next;
	for (size_t i = 0; i < count && image->maps[i]; i++) {
		last->l_next = image->maps[i];
		image->maps[i]->l_prev = last;
		image->maps[i]->l_next = NULL;
		last = image->maps[i];
	}
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
			 MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) ==
		    MAP_FAILED) {
			free(saved);
			return false;
		}
		memcpy(low, saved, bytes);
		free(saved);
	}
	return true;
}

/*
 * A debugger looks at the list when something is loaded, and has seen the files
 * in memory: let it look again.  The library is a part of glibc that nobody
 * uses.
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
	vm_log(VM_ERROR, "%s: copy %d of %d cannot be loaded: %s", image->name,
	       rank + 1, image->ranks, why);
	if (strstr(why, "static TLS"))
		vm_log(VM_ERROR,
		       "its thread-local variables take %zu bytes of libc's "
		       "static block in all; start with GLIBC_TUNABLES="
		       "glibc.rtld.optional_static_tls=%zu",
		       vm_image_static_tls(image),
		       vm_image_static_tls(image) + 4096);
	return -VMPI_EINVAL;
}

/*
 * A library that takes symbols from the program cannot be bound before it; that
 * shows at the first copy.  Afterwards nothing may fail, because undoing it
 * glibc would count the objects in its list.
 */
static void *part_dlopen(const struct vm_image *image, size_t index)
{
	struct vm_image_lib *lib = NULL;
	char path[64];
	void *handle = NULL;

	/* Not /proc/self: a debugger reads this name too. */
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(),
		 part(image, index)->fd);
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
	void *handle = part_dlopen(image, index);

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &copy->maps[index])) {
		load_refuse(image, copy->index, dlerror());
		return false;
	}
	if ((image->merged &&
	     !data_merge(part(image, index), copy->maps[index])) ||
	    (index + 1 < image->part_count &&
	     !map_name(copy->maps[index],
		       image->libs[image->own_first + index].name))) {
		load_refuse(image, copy->index, strerror(errno));
		return false;
	}
	return true;
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
		if (!map_name(copy->maps[i], part(image, i)->path))
			rc = load_refuse(image, copy->index, strerror(errno));
	for (size_t i = 0; i < image->part_count && copy->maps[i]; i++)
		map_hide(copy->maps[i]);
	if (rc)
		return rc;
	copy->descriptor = (const void *)(program_map(copy)->l_addr +
					  image->descriptor);
	return 0;
}

static int copies_load(struct vm_image *image)
{
	const struct link_map *program = NULL;
	void *self;
	int rc = 0;

	for (size_t i = 0; i < image->part_count && !rc; i++) {
		vm_elf_patch(part(image, i));
		rc = vm_elf_publish(part(image, i));
	}
	self = dlopen(NULL, RTLD_LAZY);
	if (!self || dlinfo(self, RTLD_DI_LINKMAP, &program))
		vm_panic("the dynamic linker does not know this program: %s",
			 dlerror());
	for (int i = 0; i < image->ranks && !rc; i++) {
		rc = copy_load(&image->copies[i]);
		if (!rc && i && program_map(&image->copies[i]) ==
					program_map(&image->copies[i - 1]))
			vm_panic("this C library does not load a program twice");
	}
	maps_show(image, program);
	debugger_tell();
	for (size_t i = 0; i < image->part_count; i++) {
		close(part(image, i)->fd);
		part(image, i)->fd = -1;
	}
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

int vm_image_load(struct vm_image *image)
{
	int rc;

	shared_load(image);
	vm_image_streams_start();
	rc = vm_image_locals_add();
	if (rc || image->ranks == 1)
		return rc;
	shared_rename(image);
	rc = copies_load(image);
	shared_rename(image);
	return rc;
}

struct vm_image_copy *vm_image_copy(const struct vm_image *image, int rank)
{
	VM_ASSERT(rank >= 0 && rank < image->ranks);
	return &image->copies[rank];
}

/*
 * The file itself, constructors included.  Its destructors must not run again
 * at the end of the process: the dynamic linker reads their number from the
 * loaded file, which is in memory that may be protected by now.
 */
static int single_load(struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *handle = dlopen(image->program.path, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return load_refuse(image, 0, dlerror());
	copy->maps[0] = map;
	copy->descriptor = (const void *)(map->l_addr + image->descriptor);
	for (ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		char *low = (char *)((uintptr_t)entry / page * page);
		size_t bytes = (uintptr_t)(entry + 1) - (uintptr_t)low;

		if (entry->d_tag != DT_FINI_ARRAYSZ)
			continue;
		if (mprotect(low, bytes, PROT_READ | PROT_WRITE))
			return load_refuse(image, 0, strerror(errno));
		entry->d_un.d_val = 0;
	}
	return 0;
}

typedef void (*start_fn)(int argc, char **argv, char **envp);
typedef void (*end_fn)(void);

int vm_image_start(struct vm_image_copy *copy, int argc, char **argv,
		   char **envp)
{
	const struct vm_image *image = copy->image;

	if (image->ranks == 1) {
		vm_elf_patch(part(image, 0)); /* learn the destructors */
		return single_load(copy);
	}
	for (size_t i = 0; i < image->part_count; i++) {
		const struct vm_elf_code *code = &part(image, i)->code;
		ElfW(Addr) base = copy->maps[i]->l_addr;
		const start_fn *run = (const void *)(base + code->init_array);

		if (code->init)
			((start_fn)(base + code->init))(argc, argv, envp);
		for (size_t k = 0; k < code->init_count; k++)
			run[k](argc, argv, envp);
	}
	return 0;
}

int vm_image_at_end(struct vm_image_copy *copy, void (*run)(void *object),
		    void *object)
{
	struct vm_image_dtor *dtor = malloc(sizeof(*dtor));

	if (!dtor)
		return -VMPI_ENOMEM;
	*dtor = (struct vm_image_dtor){ copy->dtors, run, object };
	copy->dtors = dtor;
	return 0;
}

void vm_image_end(struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	struct vm_image_dtor *dtor;

	copy->ending = true;
	while ((dtor = copy->dtors)) {
		copy->dtors = dtor->next;
		dtor->run(dtor->object);
		free(dtor);
	}
	__cxa_finalize(copy->descriptor->dso_handle);
	for (size_t i = image->part_count; i-- > 0;) {
		const struct vm_elf_code *code = &part(image, i)->code;
		ElfW(Addr) base = copy->maps[i]->l_addr;
		const end_fn *run = (const void *)(base + code->fini_array);

		for (size_t k = code->fini_count; k-- > 0;)
			run[k]();
		if (code->fini && image->ranks > 1)
			((end_fn)(base + code->fini))();
	}
}

int vm_image_find(const struct vm_image *image, const void *address,
		  size_t *offset)
{
	const struct vm_elf *program = &image->program;
	uintptr_t at = (uintptr_t)address;
	size_t end = 0;

	for (int i = 0; i < program->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &program->segments[i];

		if (s->p_type == PT_LOAD && s->p_vaddr + s->p_memsz > end)
			end = s->p_vaddr + s->p_memsz;
	}
	for (int i = 0; i < image->ranks; i++) {
		const struct link_map *map = program_map(&image->copies[i]);

		if (!map || at < map->l_addr || at - map->l_addr >= end)
			continue;
		*offset = at - map->l_addr;
		return i;
	}
	return -1;
}

const char *vm_image_path(const struct vm_image *image)
{
	return image->program.path;
}
