/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * glibc finds a thread's block of a module in a vector that the thread pointer
 * leads to (the DTV of the ABI for thread-local storage), with two words per
 * module: the block, and what is to be freed with the thread.  The first is
 * exchanged here, and then checked by asking for the block: where the vector
 * looks otherwise the variables are copied.
 */
#include "core/image/tls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/load.h"

struct block {
	size_t module; /* the dynamic linker's number for it */
	size_t bytes;
	char *owners; /* the block of the thread it was found on, */
	ptrdiff_t at; /* and its distance from the thread pointer there */
	char *copied; /* the calling thread's, if it cannot be shared */
};

struct vm_image_tls {
	size_t count;
	struct block blocks[];
};

/* A function of the dynamic linker: the block of a module on the calling
 * thread. */
extern void *__tls_get_addr(size_t index[2]);

/* Never inlined: the caller may change what it returns. */
static __attribute__((noinline)) char *block_here(size_t module)
{
	size_t index[2] = { module, 0 };

	return __tls_get_addr(index);
}

static char *thread_pointer(void)
{
	char *pointer;

#if defined(__x86_64__)
	__asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
	__asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* The word of the vector that leads to the block of a module, after
 * block_here() has made room for it. */
static void **vector_entry(size_t module)
{
	void **head = (void **)thread_pointer();
#if defined(__x86_64__)
	void **vector = head[1];
#else
	void **vector = head[0];
#endif

	return &vector[2 * module];
}

struct vm_image_tls *vm_image_tls_new(const struct vm_image_copy *copy)
{
	const struct vm_image *image = copy->image;
	struct vm_image_tls *tls = calloc(
		1, sizeof(*tls) + image->part_count * sizeof(struct block));

	if (!tls)
		return NULL;
	for (size_t i = 0; i < image->part_count; i++) {
		const ElfW(Phdr) *segment =
			vm_elf_segment(vm_image_part(image, i), PT_TLS);
		struct block *block = &tls->blocks[tls->count];

		if (!segment || !segment->p_memsz ||
		    dlinfo(copy->maps[i], RTLD_DI_TLS_MODID, &block->module) ||
		    !block->module)
			continue;
		block->bytes = segment->p_memsz;
		block->owners = block_here(block->module);
		block->at = block->owners - thread_pointer();
		tls->count++;
	}
	return tls;
}

void vm_image_tls_free(struct vm_image_tls *tls)
{
	free(tls);
}

static void block_take(struct block *block)
{
	char *own = block_here(block->module);
	void **entry;

	block->copied = NULL;
	if (own == block->owners)
		return;
	entry = vector_entry(block->module);
	if (own - thread_pointer() != block->at && *entry == own) {
		*entry = block->owners;
		if (block_here(block->module) == block->owners)
			return;
		*entry = own;
	}
	block->copied = own;
	memcpy(own, block->owners, block->bytes);
}

void vm_image_tls_take(struct vm_image_tls *tls)
{
	for (size_t i = 0; i < tls->count; i++)
		block_take(&tls->blocks[i]);
}

void vm_image_tls_return(struct vm_image_tls *tls)
{
	for (size_t i = 0; i < tls->count; i++) {
		const struct block *block = &tls->blocks[i];

		if (block->copied)
			memcpy(block->owners, block->copied, block->bytes);
	}
}
