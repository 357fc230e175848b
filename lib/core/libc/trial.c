/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps are those of core/image/load.c: load, hide, load again, show,
 * rename; what follows from them is asked as programs and their libraries ask.
 */
#include "core/libc/trial.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/libc/loaded.h"
#include "vmpi.h"

#define COPIES 2
#define OBJECTS_MAX 100000 /* a list that is longer has no end */

struct trial {
	const char *path;
	void *handles[COPIES];
	struct link_map *maps[COPIES];
	struct link_map *program;
};

/* Functions of the library. */
typedef int (*count_fn)(void);
typedef int *(*local_fn)(void);

static void *function_of(const struct trial *trial, int copy, const char *name)
{
	return dlsym(trial->handles[copy], name);
}

static bool copy_load(struct trial *trial, int copy)
{
	trial->handles[copy] = dlopen(trial->path, RTLD_NOW | RTLD_LOCAL);
	return trial->handles[copy] &&
	       !dlinfo(trial->handles[copy], RTLD_DI_LINKMAP,
		       &trial->maps[copy]);
}

/* The first copy is loaded already. */
static bool list_holds(struct trial *trial)
{
	const struct link_map *map = trial->maps[0], *at;
	void *self = dlopen(NULL, RTLD_LAZY);
	int count = 0;

	if (!self || dlinfo(self, RTLD_DI_LINKMAP, &trial->program))
		return false;
	for (at = trial->program; at && at != map && count < OBJECTS_MAX;
	     at = at->l_next)
		count++;
	return at == map && map->l_prev && map->l_prev->l_next == map &&
	       (!map->l_next || map->l_next->l_prev == map) &&
	       map == (struct link_map *)trial->handles[0];
}

static bool twice_holds(struct trial *trial)
{
	vm_loaded_hide(trial->maps[0]);
	if (!copy_load(trial, 1) || trial->maps[1] == trial->maps[0])
		return false;
	vm_loaded_hide(trial->maps[1]);
	vm_loaded_show(trial->program, trial->maps, COPIES);
	return true;
}

static bool own_holds(struct trial *trial)
{
	int last[COPIES] = { 0 };

	for (int i = 0; i < COPIES; i++) {
		count_fn count;

		*(void **)&count = function_of(trial, i, "vm_twice_count");
		if (!count)
			return false;
		for (int calls = 0; calls <= i; calls++)
			last[i] = count();
	}
	return last[0] == 1 && last[1] == 2;
}

/* How often each copy is in the list as others read it. */
struct seen {
	const struct trial *trial;
	int times[COPIES];
};

static int object_see(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct seen *seen = arg;

	(void)size;
	for (int i = 0; i < COPIES; i++)
		seen->times[i] += info->dlpi_addr ==
				  seen->trial->maps[i]->l_addr;
	return 0;
}

static bool found_holds(struct trial *trial)
{
	struct seen seen = { .trial = trial };
	Dl_info info;

	dl_iterate_phdr(object_see, &seen);
	for (int i = 0; i < COPIES; i++)
		if (seen.times[i] != 1 ||
		    !dladdr(function_of(trial, i, "vm_twice_count"), &info) ||
		    (uintptr_t)info.dli_fbase != trial->maps[i]->l_addr)
			return false;
	return true;
}

/* glibc has it since 2.35, and libgcc then asks nothing else.  The result is
 * longer than what is known of it here. */
struct object {
	unsigned long long flags;
	void *begin, *end;
	struct link_map *map;
	void *more[12];
};

static bool unwind_holds(struct trial *trial)
{
	int (*find)(void *address, struct object *object);

	*(void **)&find = dlsym(RTLD_DEFAULT, "_dl_find_object");
	for (int i = 0; find && i < COPIES; i++) {
		struct object object = { 0 };

		if (find(function_of(trial, i, "vm_twice_count"), &object) ||
		    object.map != trial->maps[i])
			return false;
	}
	return true;
}

extern void *__tls_get_addr(size_t index[2]);

/* Whether each copy has a block of its own on the calling thread, still with
 * its first content, at the address that the dynamic linker says. */
static bool locals_are_own(const struct trial *trial)
{
	int *at[COPIES];

	for (int i = 0; i < COPIES; i++) {
		size_t index[2] = { 0 };
		local_fn local;

		*(void **)&local = function_of(trial, i, "vm_twice_local");
		if (!local ||
		    dlinfo(trial->handles[i], RTLD_DI_TLS_MODID, &index[0]) ||
		    !index[0])
			return false;
		at[i] = local();
		if (*at[i] != 5 || at[i] != __tls_get_addr(index))
			return false;
		*at[i] = 6;
	}
	return at[0] != at[1];
}

static void *locals_run(void *arg)
{
	return locals_are_own(arg) ? arg : NULL;
}

static bool thread_holds(struct trial *trial)
{
	pthread_t thread;
	void *result;

	return locals_are_own(trial) &&
	       !pthread_create(&thread, NULL, locals_run, trial) &&
	       !pthread_join(thread, &result) && result;
}

static bool name_holds(struct trial *trial)
{
	for (int i = 0; i < COPIES; i++) {
		char *name = strdup("/a/longer/name/than/that/of/the/library/"
				    "was/before/it/was/replaced/by/this.so");

		if (!name)
			return false;
		free(trial->maps[i]->l_name);
		trial->maps[i]->l_name = name;
	}
	return true;
}

static bool close_holds(struct trial *trial)
{
	struct seen seen = { .trial = trial };
	struct link_map gone[COPIES];

	for (int i = 0; i < COPIES; i++)
		gone[i].l_addr = trial->maps[i]->l_addr;
	for (int i = 0; i < COPIES; i++) {
		if (dlclose(trial->handles[i]))
			return false;
		trial->maps[i] = &gone[i];
	}
	dl_iterate_phdr(object_see, &seen);
	return !seen.times[0] && !seen.times[1];
}

/* Of the first object, which is the program. */
static int program_see(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char **end = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];
		size_t align = s->p_align ? s->p_align : 1;

		if (s->p_type == PT_TLS && info->dlpi_tls_data)
			*end = (const char *)info->dlpi_tls_data +
			       (s->p_memsz + align - 1) / align * align;
	}
	return 1;
}

/* Ordinary executables are loaded on this machine only. */
static bool program_holds(struct trial *trial)
{
	const char *end = NULL;
#ifdef __x86_64__
	const char *pointer;

	__asm__ volatile("movq %%fs:0, %0" : "=r"(pointer));
	dl_iterate_phdr(program_see, &end);
	(void)trial;
	return !end || end == pointer;
#else
	(void)trial;
	dl_iterate_phdr(program_see, &end);
	return true;
#endif
}

/* As bin/vmpi-node/waits.c reads it. */
static bool condition_holds(struct trial *trial)
{
	pthread_condattr_t kind;
	pthread_cond_t monotonic, plain;

	(void)trial;
	pthread_condattr_init(&kind);
	pthread_condattr_setclock(&kind, CLOCK_MONOTONIC);
	pthread_cond_init(&monotonic, &kind);
	pthread_cond_init(&plain, NULL);
	return (monotonic.__data.__wrefs & 2) && !(plain.__data.__wrefs & 2);
}

/* As core/runtime/stuck.c reads it. */
static bool mutex_holds(struct trial *trial)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	bool holds = mutex.__data.__owner == 0;

	(void)trial;
	pthread_mutex_lock(&mutex);
	holds &= mutex.__data.__owner == (int)syscall(SYS_gettid);
	pthread_mutex_unlock(&mutex);
	return holds && mutex.__data.__owner == 0;
}

#define STEP(name, text) { #name, name##_holds },

int vm_trial_run(const char *path, FILE *out)
{
	static const struct {
		const char *name;
		bool (*holds)(struct trial *trial);
	} steps[] = { VM_TRIALS(STEP) };
	struct trial trial = { .path = path };

	if (access(path, R_OK) || !copy_load(&trial, 0))
		return -VMPI_ENOENT;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fprintf(out, "%s\n", steps[i].name);
		fflush(out);
		if (!steps[i].holds(&trial))
			return 1;
	}
	return 0;
}
