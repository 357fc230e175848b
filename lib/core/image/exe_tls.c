/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distances: an executable's block ends at the thread pointer, and begins at
 * its size, rounded up to its alignment, below.  Source: Drepper, "ELF Handling
 * For Thread-Local Storage", variant II.
 */
#include "core/image/exe_tls.h"

#include <stdint.h>
#include <string.h>

#include "base/log.h"
#include "core/image/load.h"
#include "sched/local.h"

/* Written before the workers start: whether the place is there, and how far it
 * is from the beginning of the block of the node program. */
static struct {
	bool known;
	size_t from_block;
} vm_exe_tls;

/* A function of the dynamic linker: the block of a module on the calling
 * thread. */
extern void *__tls_get_addr(size_t index[2]);

#define MODULE_OF_PROGRAM 1

static char *thread_pointer(void)
{
#ifdef __x86_64__
	char *self;

	__asm__("movq %%fs:0, %0" : "=r"(self));
	return self;
#else
	return NULL;
#endif
}

static size_t block_bytes(const ElfW(Phdr) * tls)
{
	size_t align = tls->p_align ? tls->p_align : 1;

	return (tls->p_memsz + align - 1) / align * align;
}

bool vm_exe_tls_fits(const ElfW(Phdr) * tls)
{
	return tls->p_align <= VM_EXE_TLS_ALIGN &&
	       tls->p_memsz <= VM_EXE_TLS_BYTES &&
	       block_bytes(tls) <= VM_EXE_TLS_BYTES;
}

void vm_exe_tls_reserve(const char *place)
{
	size_t index[2] = { MODULE_OF_PROGRAM, 0 };

	vm_exe_tls.known = thread_pointer() == place + VM_EXE_TLS_BYTES;
	if (vm_exe_tls.known)
		vm_exe_tls.from_block =
			(size_t)(place - (char *)__tls_get_addr(index));
}

bool vm_exe_tls_has(const struct vm_image *image)
{
	return image->program.tls.p_memsz > 0;
}

int vm_exe_tls_add(const struct vm_image *image)
{
	const ElfW(Phdr) *tls = &image->program.tls;
	size_t bytes = block_bytes(tls);
	int rc;

	if (!tls->p_memsz)
		return 0;
	if (!vm_exe_tls.known) {
		vm_log(VM_ERROR,
		       "%s: there is no place for its thread-local variables "
		       "in this process; start it with --processes",
		       image->name);
		return -VMPI_EINVAL;
	}
	rc = vm_local_add(
		MODULE_OF_PROGRAM,
		vm_exe_tls.from_block + VM_EXE_TLS_BYTES - bytes, bytes,
		vm_elf_at(&image->program, tls->p_vaddr, tls->p_filesz),
		tls->p_filesz);
	if (rc == -VMPI_ESTATE)
		vm_log(VM_ERROR,
		       "%s: an ordinary executable with thread-local variables "
		       "cannot be loaded while ranks of another program run; "
		       "build it with vmpicc",
		       image->name);
	else if (rc)
		vm_log(VM_ERROR,
		       "%s: too many libraries have thread-local variables "
		       "besides the program; start it with --processes",
		       image->name);
	return rc;
}

void vm_exe_tls_fresh(const struct vm_image_copy *copy)
{
	const ElfW(Phdr) *tls = &copy->image->program.tls;
	size_t bytes = block_bytes(tls);
	char *place = thread_pointer() - bytes;

	if (!tls->p_memsz)
		return;
	memcpy(place, (const char *)(vm_image_map(copy)->l_addr + tls->p_vaddr),
	       tls->p_filesz);
	memset(place + tls->p_filesz, 0, bytes - tls->p_filesz);
}
