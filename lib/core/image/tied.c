/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only imports count: an address of thread-local memory comes from a function
 * of libc, from the dynamic linker (__tls_get_addr), or from a relocation
 * against a thread-local symbol.  What asks for a value, like malloc or strtod,
 * keeps no address, and what hands out memory that does not move with the
 * thread, like __ctype_b_loc (the same table for all), is harmless.
 */
#include "core/image/tied.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/load.h"

/* Names; one that ends with '*' stands for all that begin so. */
static const struct {
	const char *name, *why;
} ties[] = {
	{ "__errno_location", "compilers keep the address of errno" },
	{ "__h_errno_location", "compilers keep the address of h_errno" },
	{ "__res_state", "compilers keep the address of the resolver's state" },
	{ "__tls_get_addr", "it uses thread-local variables" },
	{ "___tls_get_addr", "it uses thread-local variables" },
	{ "__emutls_get_address", "it uses thread-local variables" },
	{ "__cxa_get_globals*", "the address of C++'s exceptions" },
	{ "pthread_*", "locks, keys and names belong to threads" },
	{ "thrd_*", "threads have names" },
	{ "mtx_*", "locks belong to threads" },
	{ "cnd_*", "locks belong to threads" },
	{ "tss_*", "keys belong to threads" },
	{ "call_once", "locks belong to threads" },
	{ "GOMP_*", "OpenMP's teams belong to threads" },
	{ "omp_*", "OpenMP's teams belong to threads" },
	{ "__kmpc_*", "OpenMP's teams belong to threads" },
	{ "gettid", "a thread's own name" },
	{ "flockfile", "the lock belongs to a thread" },
	{ "ftrylockfile", "the lock belongs to a thread" },
	{ "uselocale", "a thread's own locale" },
	{ "sigaltstack", "a thread's own stack for signals" },
	{ "pause", "it waits for a signal of its thread" },
	{ "dlopen", "libraries that nobody has looked at" },
	{ "dlmopen", "libraries that nobody has looked at" },
};

static bool name_fits(const char *name, const char *tie)
{
	size_t length = strlen(tie);

	if (tie[length - 1] == '*')
		return !strncmp(name, tie, length - 1);
	return !strcmp(name, tie);
}

/* The reason why an imported symbol ties, or NULL. */
static const char *symbol_why(const ElfW(Sym) * symbol, const char *name)
{
	if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS)
		return "it is thread-local";
	for (size_t i = 0; i < sizeof(ties) / sizeof(*ties); i++)
		if (name_fits(name, ties[i].name))
			return ties[i].why;
	return NULL;
}

const char *vm_elf_tied(const struct vm_elf *elf, char *text, size_t bytes)
{
	if (vm_elf_segment(elf, PT_TLS) || elf->tls.p_memsz) {
		snprintf(text, bytes, "has thread-local variables");
		return text;
	}
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const ElfW(Sym) *symbol = &elf->symbols[i];
		const char *name, *why;

		if (symbol->st_shndx != SHN_UNDEF)
			continue;
		name = vm_elf_string(elf, symbol->st_name);
		why = symbol_why(symbol, name);
		if (!why)
			continue;
		snprintf(text, bytes, "imports %.80s: %s", name, why);
		return text;
	}
	return NULL;
}

/* Its block is one of those exchanged at switches, and it keeps no address of
 * it while it calls a program's function; libgcc_s has none. */
static bool is_known(const char *name)
{
	return !strncmp(name, "libstdc++.so.6", 14) ||
	       !strncmp(name, "libgcc_s.so.", 12);
}

/* The libraries still to be checked: those that the program needs, or one of
 * them does.  The list of the image holds libraries that libvmpi itself needs,
 * too. */
struct looks {
	struct vm_image *image;
	bool *wanted, *seen; /* by library */
};

static void needed_mark(const struct looks *looks, const struct vm_elf *elf)
{
	const char *name;
	size_t next = 0;

	while ((name = vm_elf_needed(elf, &next)))
		for (size_t i = 0; i < looks->image->lib_count; i++)
			if (!strcmp(looks->image->libs[i].name, name))
				looks->wanted[i] = true;
}

/* Looks at library i and marks those that it needs. */
static const char *lib_look(const struct looks *looks, size_t i, char *text,
			    size_t bytes)
{
	const struct vm_image_lib *lib = &looks->image->libs[i];
	const char *why;
	struct vm_elf elf;

	looks->seen[i] = true;
	if (is_known(lib->name))
		return NULL;
	if (vm_elf_open(&elf, lib->path, lib->path))
		return "cannot be read";
	why = vm_elf_tied(&elf, text, bytes);
	needed_mark(looks, &elf);
	vm_elf_close(&elf);
	return why;
}

/* Looks at the libraries one after the other, as long as more turn up. */
static const char *libs_look(const struct looks *looks, const char **name,
			     char *text, size_t bytes)
{
	const char *why = NULL;
	size_t i = 0;

	needed_mark(looks, &looks->image->program);
	while (i < looks->image->lib_count && !why) {
		if (!looks->wanted[i] || looks->seen[i]) {
			i++;
			continue;
		}
		*name = looks->image->libs[i].name;
		why = lib_look(looks, i, text, bytes);
		i = 0;
	}
	return why;
}

static const char *libs_tied(struct vm_image *image, const char **name,
			     char *text, size_t bytes)
{
	struct looks looks = { .image = image };
	const char *why;

	if (!image->lib_count)
		return NULL;
	looks.wanted = calloc(image->lib_count, sizeof(*looks.wanted));
	looks.seen = calloc(image->lib_count, sizeof(*looks.seen));
	if (looks.wanted && looks.seen)
		why = libs_look(&looks, name, text, bytes);
	else
		why = "has libraries, and there is no memory to look at them";
	free(looks.wanted);
	free(looks.seen);
	return why;
}

const char *vm_image_tied(struct vm_image *image)
{
	const char *name = image->name, *why, *slash;
	char text[160];

#ifdef __x86_64__
	why = vm_elf_tied(&image->program, text, sizeof(text));
#else
	/* Our own code too must not keep addresses of its thread-local self. */
	why = "runs on a machine where only x86-64 has been looked at";
#endif
	if (!why)
		why = libs_tied(image, &name, text, sizeof(text));
	if (!why)
		return NULL;
	slash = strrchr(name, '/');
	snprintf(image->tied, sizeof(image->tied), "%.80s %s",
		 slash ? slash + 1 : name, why);
	return image->tied;
}
