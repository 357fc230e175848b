/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files that a process has loaded, as the list of its dynamic linker names
 * them: the kernel's list of mappings does not show where one copy of a program
 * ends and the next one begins.
 */
#ifndef REPORT_LIVE_MODULES_H
#define REPORT_LIVE_MODULES_H

#ifdef VM_HAVE_LIBDW
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "report/live/dw.h"

/* A loaded file; ahead: the first one of the same path, or itself.  All copies
 * of a file have the same names: those are looked up in the first one, so that
 * debug information is read once. */
struct vm_module {
	char *path;
	uint64_t base;
	Dwfl_Module *handle; /* NULL: not wanted, or not to be read */
	unsigned ahead;
	bool wanted;
};

struct vm_modules {
	const struct vm_dw *dw;
	Dwfl *dwfl;
	pid_t pid;
	struct vm_module *list; /* the first is the program itself */
	unsigned *by_base;
	unsigned count, room;
};

/* Reads the list.  false: it cannot be read, or there is no memory for it; in
 * any case vm_modules_free() ends it. */
bool vm_modules_read(struct vm_modules *modules);
void vm_modules_free(struct vm_modules *modules);

/* Tells libdw of those that are wanted. */
bool vm_modules_report(struct vm_modules *modules);

/* All are wanted, and names are looked up in the first of each path; or the one
 * that an address may be in. */
void vm_modules_want_all(struct vm_modules *modules);
void vm_modules_want(struct vm_modules *modules, uint64_t address);

/* Those that the words of a stack may be return addresses of.  false: out of
 * memory. */
bool vm_modules_want_stack(struct vm_modules *modules, uint64_t sp);

/* Whether it is one that programs stand on, and the runtime too. */
bool vm_module_system(const struct vm_module *module);

/* The one with the greatest base that is not above the address, or NULL; whether
 * that is a file of libc and its like. */
struct vm_module *vm_modules_below(const struct vm_modules *modules,
				   uint64_t address);
bool vm_modules_system(const struct vm_modules *modules, uint64_t address);

/* The one that an address is in, of those that libdw was told of, or NULL. */
const struct vm_module *vm_modules_at(const struct vm_modules *modules,
				      uint64_t address);
#endif

#endif
