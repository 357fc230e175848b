/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is checked here is found in the executable alone, because vmpirun asks
 * for every program that it starts; only for one that does not need MPI itself
 * the dynamic linker is asked for all libraries.  Doubts are decided against
 * it: as a process of its own a program is never wrong.
 */
#include "core/image/ordinary.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/exe_tls.h"
#include "core/image/ldd.h"
#include "core/image/lib_rule.h"

static bool is_among(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

static bool needs(const struct vm_elf *elf, const char *prefix)
{
	const char *name;
	size_t next = 0;

	while ((name = vm_elf_needed(elf, &next)))
		if (!strncmp(name, prefix, strlen(prefix)))
			return true;
	return false;
}

static bool is_mpi(const char *name)
{
	return !strncmp(name, "libmpi_abi.so.", 14) ||
	       !strncmp(name, "libvmpi.so.", 11);
}

/* The first library of the program that `is` says so, and that it needs itself,
 * or one of its libraries does. */
static bool library_find(const struct vm_elf *elf, bool (*is)(const char *name),
			 char *name, size_t bytes)
{
	const char *needed, *at;
	bool found = false;
	size_t next = 0;
	char *list;

	while (!found && (needed = vm_elf_needed(elf, &next)))
		if ((found = is(needed)))
			snprintf(name, bytes, "%s", needed);
	if (found)
		return true;
	/* What else a program of ours needs is looked at when it is loaded. */
	if (needs(elf, "libmpi_abi.so.") || needs(elf, "libvmpi.so."))
		return false;
	at = list = vm_ldd_run(elf, false);
	while (!found && vm_ldd_next(&at, name, bytes))
		found = is(name);
	free(list);
	return found;
}

static const char *form_why(const struct vm_elf *elf)
{
	const ElfW(Phdr) *stack = vm_elf_segment(elf, PT_GNU_STACK);
	ElfW(Xword) flags;
	char name[32];

	if (!elf->dynamic)
		return "it is linked statically";
	if (elf->header->e_type != ET_DYN)
		return "it is linked at a fixed address (without -pie)";
	if (!vm_elf_segment(elf, PT_INTERP))
		return vm_elf_dynamic(elf, DT_FLAGS_1, &flags) &&
				       flags & DF_1_PIE ?
			       "it is linked statically" :
			       "it is a shared library";
	if (!library_find(elf, is_mpi, name, sizeof(name)))
		return "it is not linked with libmpi_abi or libvmpi, nor are "
		       "its libraries";
#ifndef __x86_64__
	return "only executables for x86-64 can be";
#endif
	if (vm_elf_dynamic(elf, DT_TEXTREL, &flags) ||
	    (vm_elf_dynamic(elf, DT_FLAGS, &flags) && flags & DF_TEXTREL))
		return "its code is changed by relocations";
	if (stack && stack->p_flags & PF_X)
		return "it needs an executable stack";
	return NULL;
}

static bool has_text(const struct vm_elf *elf, const ElfW(Phdr) * segment,
		     const char *text, size_t bytes, size_t most)
{
	size_t length = segment->p_filesz < most ? segment->p_filesz : most;
	const void *begin = vm_elf_at(elf, segment->p_vaddr, length);

	return begin && memmem(begin, length, text, bytes);
}

/* What Go's linker writes to the begin of the data, also without an id, and of
 * stripped programs. */
static bool is_go(const struct vm_elf *elf)
{
	static const char mark[] = "\xff Go buildinf:";
	const size_t most = (size_t)1 << 20;

	for (int i = 0; i < elf->header->e_phnum; i++)
		if (elf->segments[i].p_type == PT_LOAD &&
		    elf->segments[i].p_flags & PF_W &&
		    has_text(elf, &elf->segments[i], mark, sizeof(mark) - 1,
			     most))
			return true;
	return false;
}

#define D_WHY "it is a D program, whose runtime needs a process of its own"

/*
 * Languages whose runtime takes the process for its own: Go's has signal
 * handlers and threads past libc, and waits for them in the kernel; D's knows
 * an object by the place of its code, and stops threads by signals to collect
 * garbage.
 */
static const char *language_why(const struct vm_elf *elf)
{
	static const char *const d[] = { "_d_dso_registry", "_d_run_main",
					 NULL };

	if (is_go(elf))
		return "it is a Go program, whose runtime needs a process of "
		       "its own";
	for (size_t i = 0; i < elf->symbol_count; i++)
		if (is_among(vm_elf_string(elf, elf->symbols[i].st_name), d))
			return D_WHY;
	return NULL;
}

/* Tools that describe a process, or replace its memory, and would see several
 * programs in one. */
static const char *tools_why(const struct vm_elf *elf)
{
	static const char *const libraries[] = { "libasan.so.", "libtsan.so.",
						 "liblsan.so.", "libhwasan.so.",
						 NULL };
	static const char *const sanitizers[] = {
		"__asan_init",
		"__tsan_init",
		"__lsan_init",
		"__msan_init",
		"__hwasan_init",
		"__safestack_init",
		"__sanitizer_cov_8bit_counters_init",
		"__sanitizer_cov_trace_pc_guard",
		NULL,
	};
	static const char *const profilers[] = { "mcount", "_mcount",
						 "__fentry__", "__monstartup",
						 NULL };
	static const char *const allocators[] = {
		"malloc",	  "free",     "calloc",
		"realloc",	  "memalign", "aligned_alloc",
		"posix_memalign", "_Znwm",    "_Znam",
		"_ZdlPv",	  "_ZdaPv",   "_ZdlPvm",
		"_ZdaPvm",	  NULL,
	};

	for (const char *const *library = libraries; *library; library++)
		if (needs(elf, *library))
			return "it is built with a sanitizer";
	for (size_t i = 0; i < elf->symbol_count; i++) {
		const char *name = vm_elf_string(elf, elf->symbols[i].st_name);

		if (is_among(name, sanitizers))
			return "it is built with a sanitizer";
		if (is_among(name, profilers))
			return "it is built for gprof (-pg)";
		if (elf->symbols[i].st_shndx != SHN_UNDEF &&
		    is_among(name, allocators))
			return "it replaces malloc or operator new";
	}
	return NULL;
}

/*
 * Runtimes that are part of the program, whose functions may have no names here,
 * but they have messages, which are constant.  The threads of OpenMP would wait
 * for one another where only OS threads can, and with the worker all its ranks.
 */
static const char *runtime_why(const struct vm_elf *elf)
{
	static const char *const threads[] = { "pthread_create", NULL };
	static const struct {
		const char *message, *why;
	} runtimes[] = {
		{ "\nlibgomp: ",
		  "an OpenMP library is linked into it statically" },
		{ "OMP: Error #%1$d: ",
		  "an OpenMP library is linked into it statically" },
		{ "DSO already registered.", D_WHY },
	};

	if (!vm_elf_imports(elf, threads))
		return NULL;
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *segment = &elf->segments[i];

		if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
			continue;
		for (size_t m = 0; m < sizeof(runtimes) / sizeof(*runtimes);
		     m++)
			if (has_text(elf, segment, runtimes[m].message,
				     strlen(runtimes[m].message), SIZE_MAX))
				return runtimes[m].why;
	}
	return NULL;
}

/*
 * Variables of libc of which the program has a copy, at an address that is in
 * its code.  These stay what they are when the program starts, or belong to the
 * rank (bin/image); libc would not see that others are changed, nor the program
 * that libc changes them.
 */
static const char *copies_why(const struct vm_elf *elf, char *text,
			      size_t bytes)
{
	static const char *const fine[] = {
		"stdin",
		"stdout",
		"stderr",
		"environ",
		"__environ",
		"_environ",
		"optarg",
		"optind",
		"opterr",
		"optopt",
		"program_invocation_name",
		"program_invocation_short_name",
		"__progname",
		"__progname_full",
		"in6addr_any",
		"in6addr_loopback",
		"sys_siglist",
		"_sys_siglist",
		"sys_errlist",
		"_sys_errlist",
		"sys_nerr",
		"_sys_nerr",
		"__libc_single_threaded",
		NULL,
	};
	struct vm_elf_slot slot;
	size_t next = 0;

	while (vm_elf_slot(elf, &next, &slot)) {
		const char *name;

		if (!slot.copy ||
		    strncmp(vm_elf_version(elf, slot.symbol), "GLIBC_", 6))
			continue;
		name = vm_elf_string(elf, elf->symbols[slot.symbol].st_name);
		if (is_among(name, fine))
			continue;
		snprintf(text, bytes,
			 "it uses %.80s, a variable of libc that ranks would "
			 "share",
			 name);
		return text;
	}
	return NULL;
}

/*
 * Tasks, and threads that libc starts without the node program, would not get
 * the initial content as it is in this copy.
 */
static const char *tls_why(const struct vm_elf *elf, char *text, size_t bytes)
{
	static const char *const tasks[] = { "vmpi_spawn", NULL };
	static const char *const threads[] = { "thrd_create", NULL };
	const ElfW(Phdr) *tls = vm_elf_segment(elf, PT_TLS);

	if (!tls)
		return NULL;
	if (vm_elf_imports(elf, tasks))
		return "it has thread-local variables of its own, and starts "
		       "tasks";
	if (vm_elf_imports(elf, threads))
		return "it has thread-local variables of its own, and calls "
		       "thrd_create()";
	if (vm_exe_tls_fits(tls))
		return NULL;
	snprintf(text, bytes,
		 "its thread-local variables take %zu bytes, more than the %d "
		 "that a switch carries",
		 (size_t)tls->p_memsz, VM_EXE_TLS_BYTES);
	return text;
}

const char *vm_ordinary_why(const struct vm_elf *elf, char *text, size_t bytes)
{
	const char *why = form_why(elf);

	if (!why)
		why = tools_why(elf);
	if (!why)
		why = language_why(elf);
	if (!why)
		why = runtime_why(elf);
	if (!why)
		why = tls_why(elf, text, bytes);
	if (!why)
		why = copies_why(elf, text, bytes);
	return why;
}

bool vm_ordinary_foreign(const struct vm_elf *elf, char *name, size_t bytes)
{
	return library_find(elf, vm_lib_is_foreign, name, bytes);
}

bool vm_ordinary_musl(const struct vm_elf *elf)
{
	static const char linker[] = "/ld-musl-";
	const ElfW(Phdr) *interp = vm_elf_segment(elf, PT_INTERP);
	const char *path =
		interp ? vm_elf_at(elf, interp->p_vaddr, interp->p_filesz) :
			 NULL;

	return path &&
	       memmem(path, interp->p_filesz, linker, sizeof(linker) - 1) &&
	       (needs(elf, "libmpi_abi.so.") || needs(elf, "libvmpi.so."));
}

void vm_ordinary_patch(struct vm_elf *elf)
{
	ElfW(Phdr) *tls = (ElfW(Phdr) *)(uintptr_t)vm_elf_segment(elf, PT_TLS);
	bool program = vm_elf_segment(elf, PT_INTERP) != NULL;
	const char *name;
	size_t next = 0;

	for (size_t i = 0; i < elf->dynamic_count; i++)
		if (elf->dynamic[i].d_tag == DT_FLAGS_1)
			elf->dynamic[i].d_un.d_val &=
				~(ElfW(Xword))(DF_1_PIE | DF_1_NOOPEN);
	/* The node program exports its functions too. */
	while ((name = vm_elf_needed(elf, &next)))
		if (!strncmp(name, "libmpi_abi.so.", 14))
			vm_elf_need_drop(elf, name);
	if (!program || !tls)
		return;
	elf->tls = *tls;
	tls->p_type = PT_NULL;
}
