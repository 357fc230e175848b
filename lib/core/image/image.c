/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening a program, and the life of one copy.  Everything that can be wrong
 * with a program or too much for the machine is found when it is opened, before
 * anything is loaded.
 */
#include "core/image/image.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "core/image/bind.h"
#include "core/image/enter.h"
#include "core/image/load.h"
#include "core/image/ordinary.h"
#include "core/image/plugin.h"
#include "core/image/exe_tls.h"

extern void __cxa_finalize(void *dso_handle);
extern char **environ;

/* An executable as other compilers make it. */
static int ordinary_take(struct vm_image *image)
{
	const struct vm_elf *program = &image->program;
	const char *why;
	char text[160];

	if (vm_ordinary_foreign(program, text, sizeof(text))) {
		vm_log(VM_ERROR,
		       "%s: this program was built for another MPI (%s); build "
		       "it with vmpicc, or vmpicxx for C++",
		       image->name, text);
		return -VMPI_EINVAL;
	}
	why = vm_ordinary_why(program, text, sizeof(text));
	image->ordinary = !why;
	if (!why)
		return 0;
	vm_log(VM_ERROR,
	       "%s: this is an ordinary executable, which cannot be loaded once "
	       "per rank: %s; build the program with vmpicc, or vmpicxx for C++",
	       image->name, why);
	return -VMPI_EINVAL;
}

/* Finds the descriptor by the note and checks it as far as possible in the
 * file. */
static int descriptor_find(struct vm_image *image)
{
	ElfW(Addr) address;
	const int32_t *distance = vm_elf_note(&image->program, "vmpi",
					      VM_IMAGE_NOTE, sizeof(*distance),
					      &address);
	const struct vm_image_descriptor *descriptor;

	if (!distance || image->program.header->e_type != ET_DYN)
		return ordinary_take(image);
	image->descriptor = address + (ElfW(Addr))(ElfW(Sxword)) * distance;
	descriptor = vm_elf_at(&image->program, image->descriptor,
			       sizeof(*descriptor));
	if (descriptor && image->descriptor % sizeof(void *) == 0 &&
	    descriptor->version == 1 &&
	    descriptor->bytes >= sizeof(*descriptor))
		return 0;
	vm_log(VM_ERROR,
	       "%s: this program was linked with another version of vmpi; link "
	       "it again with this vmpicc",
	       image->name);
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
		count += vm_elf_mappings(vm_image_part(image, i), merged);
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

	if (image->single || limit < 0 || needed <= (size_t)limit)
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

/*
 * Processors find translations and branches by the low bits of addresses, and
 * the same code lies once per rank: one copy behind the other, each an odd
 * number of pages, they use all places there are and not every second or
 * eighth. A barrier of 64 copies of 3 pages takes 0.85 of the time of one of 2.
 */
static void copies_spread(struct vm_image *image)
{
	size_t pages = 0;

	for (size_t i = 0; i < image->part_count; i++)
		pages += vm_elf_pages(vm_image_part(image, i));
	for (size_t i = 0; i < image->part_count && pages % 2 == 0; i++)
		pages += vm_elf_pad(vm_image_part(image, i));
}

/*
 * Adds our libraries with functions of libc that have state, before the other
 * libraries of a copy.  They are beside the node program.
 */
static int rank_libs_add(struct vm_image *image)
{
	bool streams = false;
	int rc;

	for (size_t i = 0; i < image->lib_count; i++)
		streams |= !strncmp(image->libs[i].name, "libstdc++.so.", 13);
	rc = vm_image_lib_add(&image->libs, &image->lib_count,
			      "libvmpi_rank.so");
	image->rank_lib_count = 1;
	if (rc || !streams)
		return rc;
	image->rank_lib_count = 2;
	return vm_image_lib_add(&image->libs, &image->lib_count,
				"libvmpi_rankxx.so");
}

static int copies_make(struct vm_image *image)
{
	size_t ranks = (size_t)image->ranks;

	while (image->own_first < image->lib_count &&
	       !image->libs[image->own_first].own)
		image->own_first++;
	/* A single copy needs no library of its own. */
	if (image->single)
		image->own_first = image->lib_count;
	image->part_count = image->lib_count - image->own_first + 1;
	image->copies = calloc(ranks, sizeof(*image->copies));
	image->maps = calloc(ranks * image->part_count, sizeof(*image->maps));
	if (!image->copies || !image->maps) {
		vm_log(VM_ERROR, "%s: out of memory for %d copies", image->name,
		       image->ranks);
		return -VMPI_ENOMEM;
	}
	for (size_t i = 0; i < ranks; i++) {
		image->copies[i].image = image;
		image->copies[i].index = (int)i;
		pthread_mutex_init(&image->copies[i].plugins_lock, NULL);
		image->copies[i].maps = image->maps + i * image->part_count;
	}
	return 0;
}

static void image_free(struct vm_image *image)
{
	vm_image_libs_free(image->libs, image->lib_count);
	vm_elf_close(&image->program);
	free(image->hooks);
	free(image->copies);
	free(image->maps);
	vm_image_bind_free(image->bind);
	free(image->name);
	free(image);
}

int vm_image_open(struct vm_image **out, const char *path, const char *name,
		  int ranks, const struct vm_image_choice *choice)
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
	image->choice = *choice;
	rc = vm_elf_open(&image->program, path, name);
	if (!rc)
		rc = descriptor_find(image);
	if (!rc)
		rc = vm_image_libs(&image->program, choice, &image->libs,
				   &image->lib_count);
	image->single = ranks == 1 && !image->ordinary && !choice->later;
	if (!rc && image->ordinary)
		rc = rank_libs_add(image);
	if (!rc)
		rc = copies_make(image);
	if (!rc)
		rc = vm_image_tools_find(image);
	if (!rc) {
		copies_spread(image);
		rc = mappings_check(image);
	}
	if (rc) {
		image_free(image);
		return rc;
	}
	*out = image;
	return 0;
}

void vm_image_close(struct vm_image *image)
{
	vm_image_unload(image);
	for (int i = 0; i < image->ranks; i++) {
		struct vm_image_copy *copy = &image->copies[i];

		free(copy->signals);
		free(copy->words);
		free(copy->frame);
		pthread_mutex_destroy(&copy->plugins_lock);
	}
	image_free(image);
}

size_t vm_image_static_tls(const struct vm_image *image)
{
	size_t bytes = 0;

	for (size_t i = 0; i < image->part_count; i++)
		bytes += vm_elf_static_tls(vm_image_part(image, i));
	return bytes * (size_t)image->ranks;
}

struct vm_image_copy *vm_image_copy(const struct vm_image *image, int rank)
{
	VM_ASSERT(rank >= 0 && rank < image->ranks);
	return &image->copies[rank];
}

typedef void (*start_fn)(int argc, char **argv, char **envp);
typedef void (*end_fn)(void);

/* Handlers may take as long as they like, and libc's lock is free while one
 * runs: fork() waits no longer than this. */
#define FORK_WAIT_NS 1000000000u

void vm_image_fork_begin(struct vm_image *image,
			 const struct vm_image_copy *copy)
{
	uint64_t end = vm_clock_ns() + FORK_WAIT_NS;
	int own = copy && copy->listing;

	/* Pairs with the addition and the load in list_enter(). */
	atomic_fetch_add(&image->forking, 1);
	while (atomic_load(&image->listing) > own && vm_clock_ns() < end)
		vm_cpu_yield();
}

void vm_image_fork_end(struct vm_image *image, bool child)
{
	if (child) {
		atomic_store(&image->listing, 0);
		atomic_store(&image->forking, 0);
	} else {
		atomic_fetch_sub(&image->forking, 1);
	}
}

/* Enters a section in which code of the program adds to libc's list of
 * handlers, or runs those in it, and no thread forks. */
static void list_enter(struct vm_image_copy *copy)
{
	struct vm_image *image = copy->image;

	/* Pairs with the addition and the load in vm_image_fork_begin(). */
	while (atomic_fetch_add(&image->listing, 1),
	       atomic_load(&image->forking)) {
		atomic_fetch_sub(&image->listing, 1);
		vm_cpu_yield();
	}
	copy->listing = true;
}

void vm_image_left(struct vm_image_copy *copy)
{
	if (!copy->listing)
		return;
	copy->listing = false;
	atomic_fetch_sub(&copy->image->listing, 1);
}

/* Runs the constructors of an object that is loaded at base. */
static void code_start(const struct vm_elf_code *code, ElfW(Addr) base,
		       int argc, char **argv, char **envp)
{
	const start_fn *first = (const void *)(base + code->preinit_array);
	const start_fn *run = (const void *)(base + code->init_array);

	for (size_t k = 0; k < code->preinit_count; k++)
		first[k](argc, argv, envp);
	if (code->init)
		((start_fn)(base + code->init))(argc, argv, envp);
	for (size_t k = 0; k < code->init_count; k++)
		run[k](argc, argv, envp);
}

void vm_image_code_start(struct vm_image_copy *copy,
			 const struct vm_elf_code *code, ElfW(Addr) base)
{
	int argc = 0;

	while (copy->words && copy->words[argc])
		argc++;
	list_enter(copy);
	code_start(code, base, argc, copy->words, environ);
	vm_image_left(copy);
}

int vm_image_start(struct vm_image_copy *copy, int argc, char **argv,
		   char **envp)
{
	const struct vm_image *image = copy->image;

	if (image->single) {
		vm_elf_patch(
			vm_image_part(image, 0)); /* learn the destructors */
		return vm_image_load_single(copy);
	}
	vm_exe_tls_fresh(copy);
	list_enter(copy);
	for (size_t i = 0; i < image->part_count; i++)
		code_start(&vm_image_part(image, i)->code,
			   copy->maps[i]->l_addr, argc, argv, envp);
	vm_image_left(copy);
	return 0;
}

int vm_image_main(struct vm_image_copy *copy, int argc, char **argv,
		  char **envp)
{
	if (copy->image->ordinary)
		return vm_image_enter(copy, argc, argv, envp);
	return copy->descriptor->main(argc, argv, envp);
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

int vm_image_at_quick_end(struct vm_image_copy *copy, void (*run)(void *object),
			  void *object)
{
	struct vm_image_dtor *dtor = malloc(sizeof(*dtor));

	if (!dtor)
		return -VMPI_ENOMEM;
	*dtor = (struct vm_image_dtor){ atomic_load(&copy->quick), run,
					object };
	while (!atomic_compare_exchange_weak(&copy->quick, &dtor->next, dtor))
		;
	return 0;
}

void vm_image_quick_end(struct vm_image_copy *copy)
{
	struct vm_image_dtor *dtor;

	while ((dtor = atomic_load(&copy->quick))) {
		if (!atomic_compare_exchange_strong(&copy->quick, &dtor,
						    dtor->next))
			continue;
		dtor->run(dtor->object);
		free(dtor);
	}
}

/* Runs its destructors. */
static void code_end(const struct vm_elf_code *code, ElfW(Addr) base, bool fini)
{
	const end_fn *run = (const void *)(base + code->fini_array);

	for (size_t k = code->fini_count; k-- > 0;)
		run[k]();
	if (code->fini && fini)
		((end_fn)(base + code->fini))();
}

void vm_image_code_end(struct vm_image_copy *copy,
		       const struct vm_elf_code *code, ElfW(Addr) base)
{
	bool within = copy->listing;

	if (!within)
		list_enter(copy);
	code_end(code, base, true);
	if (!within)
		vm_image_left(copy);
}

void vm_image_end(struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	struct vm_image_dtor *dtor;

	copy->ending = true;
	list_enter(copy);
	while ((dtor = copy->dtors)) {
		copy->dtors = dtor->next;
		dtor->run(dtor->object);
		free(dtor);
	}
	vm_image_plugins_end(copy);
	/* NULL would be all programs' of the process. */
	if (copy->dso_handle)
		__cxa_finalize(copy->dso_handle);
	for (size_t i = image->part_count; i-- > 0;)
		code_end(&vm_image_part(image, i)->code, copy->maps[i]->l_addr,
			 !image->single);
	vm_image_left(copy);
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
		const struct link_map *map = vm_image_map(&image->copies[i]);

		if (!map || at < map->l_addr || at - map->l_addr >= end)
			continue;
		*offset = at - map->l_addr;
		return i;
	}
	return -1;
}

const char *vm_image_preloaded(const struct vm_image *image, size_t *next)
{
	while (*next < image->lib_count) {
		const struct vm_image_lib *lib = &image->libs[(*next)++];

		if (lib->tool && lib->own &&
		    dlopen(lib->path, RTLD_LAZY | RTLD_NOLOAD))
			return lib->name;
	}
	return NULL;
}

bool vm_image_needs(const struct vm_image *image, const char *name)
{
	for (size_t i = 0; i < image->lib_count; i++)
		if (!strncmp(image->libs[i].name, name, strlen(name)))
			return true;
	return false;
}

bool vm_image_calls(const struct vm_image *image, const char *name)
{
	const char *const names[] = { name, NULL };

	return vm_elf_imports(&image->program, names);
}

void *vm_image_function(const struct vm_image *image, const char *name)
{
	for (size_t i = 0; i < image->own_first; i++) {
		struct link_map *map = image->libs[i].map;
		void *found = map ? dlsym(map, name) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

const char *vm_image_library(const struct vm_image *image, size_t *next,
			     const char **path)
{
	if (*next >= image->lib_count)
		return NULL;
	*path = image->libs[*next].path;
	return image->libs[(*next)++].name;
}

const char *vm_image_path(const struct vm_image *image)
{
	return image->program.path;
}
