/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one worker share an OS thread and so its thread-local variables.
 * The program's own are private already, each copy has its own; those of the
 * shared libraries are exchanged at every switch, which is why only small
 * blocks are worth it.
 */
#include "core/image/local.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/log.h"
#include "sched/local.h"

#define BLOCK_BYTES_MAX 4096

/* The libraries of the program; whatever else is loaded (hwloc's, the
 * sanitizers') describes the OS thread. */
struct libs {
	const struct vm_image_lib *table;
	size_t count;
};

/* The list holds what libvmpi itself needs too. */
static bool of_runtime(const char *file)
{
	static const char *const names[] = {
		"libhwloc.so", "libudev.so",  "libcap.so",  "libasan.so",
		"libtsan.so",  "libubsan.so", "liblsan.so",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(file, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool of_program(const struct libs *libs, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;

	if (of_runtime(file))
		return false;
	for (size_t i = 0; i < libs->count; i++)
		if (!libs->table[i].own && !strcmp(file, libs->table[i].name))
			return true;
	return false;
}

static int object_add(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) *tls = NULL;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			tls = &info->dlpi_phdr[i];
	if (!tls || !tls->p_memsz || !of_program(arg, info->dlpi_name))
		return 0;
	if (tls->p_memsz > BLOCK_BYTES_MAX) {
		vm_log(VM_WARN,
		       "the ranks share the thread-local variables of %s: they "
		       "are too large (%zu bytes) to be exchanged at switches",
		       info->dlpi_name, (size_t)tls->p_memsz);
		return 0;
	}
	return vm_local_add(info->dlpi_tls_modid, 0, tls->p_memsz,
			    (const void *)(info->dlpi_addr + tls->p_vaddr),
			    tls->p_filesz);
}

void vm_image_streams_start(void)
{
	static char
		init[64]; /* std::ios_base::Init is empty; never destroyed */
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void (*constructor)(void *);

	if (!library)
		return;
	*(void **)&constructor = dlsym(library, "_ZNSt8ios_base4InitC1Ev");
	if (constructor)
		constructor(init);
}

int vm_image_locals_add(const struct vm_image_lib *table, size_t count)
{
	struct libs libs = { table, count };
	int rc = dl_iterate_phdr(object_add, &libs);

	if (rc == -VMPI_ESTATE)
		vm_log(VM_ERROR,
		       "a library with thread-local variables that the first "
		       "program of the job does not use cannot be loaded while "
		       "ranks run");
	else if (rc)
		vm_log(VM_ERROR,
		       "too many libraries with thread-local variables; at most "
		       "%d can be exchanged at switches",
		       VM_LOCAL_MAX);
	return rc;
}
