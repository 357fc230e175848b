/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call leads to a function, mostly by way of a stub in the program and a
 * word that the dynamic linker has written, or vmpi's own loader, which writes
 * what is behind the entry of a function (core/instrument/entry.inc): the entry
 * is known by its distance from there.
 */
#include "report/live/target.h"

#ifdef VM_HAVE_LIBDW

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "report/live/modules.h"
#include "report/live/snapshot.h"

static bool word_read(pid_t pid, uint64_t *word, uint64_t address)
{
	return vm_snapshot_read(pid, word, address, sizeof(*word));
}

#if defined(__x86_64__)
static uint64_t relative(uint64_t from, const uint8_t *bytes)
{
	int32_t distance;

	memcpy(&distance, bytes, sizeof(distance));
	return from + (uint64_t)(int64_t)distance;
}

/* Behind a stub: [endbr64] [bnd] jmp *word(%rip) */
static uint64_t stub_follow(pid_t pid, uint64_t stub)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint64_t target = 0;
	uint8_t code[16];
	size_t at = 0;

	if (!vm_snapshot_read(pid, code, stub, sizeof(code)))
		return 0;
	if (!memcmp(code, endbr, sizeof(endbr)))
		at = sizeof(endbr);
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25 ||
	    !word_read(pid, &target, relative(stub + at + 6, code + at + 2)))
		return 0;
	return target;
}

/* call stub, or call *word(%rip) */
static uint64_t call_follow(pid_t pid, uint64_t back)
{
	uint64_t target = 0;
	uint8_t code[6];

	if (!vm_snapshot_read(pid, code, back - sizeof(code), sizeof(code)))
		return 0;
	if (code[0] == 0xff && code[1] == 0x15 &&
	    word_read(pid, &target, relative(back, code + 2)))
		return target;
	if (code[1] != 0xe8)
		return 0;
	return stub_follow(pid, relative(back, code + 2));
}
#elif defined(__aarch64__)
/* [bti c] adrp x16, page; ldr x17, [x16, offset]; ... br x17 */
static uint64_t stub_follow(pid_t pid, uint64_t stub)
{
	const uint32_t bti = 0xd503245f;
	uint64_t page, target = 0;
	uint32_t code[3];

	if (!vm_snapshot_read(pid, code, stub, sizeof(code)))
		return 0;
	if (code[0] == bti) {
		stub += sizeof(code[0]);
		memmove(code, code + 1, 2 * sizeof(code[0]));
	}
	if ((code[0] & 0x9f00001f) != 0x90000010 ||
	    (code[1] & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (uint64_t)(code[0] >> 5 & 0x7ffff) << 2 | (code[0] >> 29 & 3);
	page = (uint64_t)((int64_t)(page << 43) >> 31);
	if (!word_read(pid, &target,
		       (stub & ~(uint64_t)0xfff) + page +
			       (code[1] >> 10 & 0xfff) * 8))
		return 0;
	return target;
}

/* bl stub */
static uint64_t call_follow(pid_t pid, uint64_t back)
{
	uint32_t code;

	if (!vm_snapshot_read(pid, &code, back - sizeof(code), sizeof(code)) ||
	    (code & 0xfc000000) != 0x94000000)
		return 0;
	return stub_follow(
		pid,
		back - 4 + (uint64_t)((int64_t)((uint64_t)code << 38) >> 36));
}
#endif

bool vm_target_is_call(const struct vm_modules *modules, uint64_t back)
{
	return call_follow(modules->pid, back) != 0;
}

static bool is_call(const char *name)
{
	return name &&
	       (!strncmp(name, "MPI_", 4) || !strncmp(name, "PMPI_", 5) ||
		!strncmp(name, "MPIX_", 5) || !strncmp(name, "vmpi_", 5));
}

/* Whether the function is at the address, or its entry leads there. */
static bool leads(pid_t pid, uint64_t function, uint64_t address)
{
	int32_t distance;

	return function == address ||
	       (vm_snapshot_read(pid, &distance, function - sizeof(distance),
				 sizeof(distance)) &&
		function + (uint64_t)(int64_t)distance == address);
}

const char *vm_target_name(const struct vm_modules *modules,
			   const struct vm_module *runtime, uint64_t back)
{
	uint64_t target = call_follow(modules->pid, back);
	const struct vm_dw *dw = modules->dw;
	int count = target && runtime && runtime->handle ?
			    dw->dwfl_module_getsymtab(runtime->handle) :
			    0;

	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
			dw->dwfl_module_getsym_info(runtime->handle, i, &symbol,
						    &address, NULL, NULL, NULL);

		if (symbol.st_shndx == SHN_UNDEF || !is_call(name) ||
		    !leads(modules->pid, address, target))
			continue;
		return name + (name[0] == 'P');
	}
	return NULL;
}

#endif
