/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What speaks against loading an executable once per rank: this program,
 * changed step by step.  t/run/45-ordinary-ranks.t runs real ones.
 */
#include "core/image/ordinary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/exe_tls.h"
#include "tap.h"

static char text[160];

static const char *why(const struct vm_elf *elf)
{
	const char *reason = vm_ordinary_why(elf, text, sizeof(text));

	return reason ? reason : "";
}

/* Gives the header of a segment, in the view of the file. */
static ElfW(Phdr) * segment(const struct vm_elf *elf, ElfW(Word) type)
{
	return (ElfW(Phdr) *)(uintptr_t)vm_elf_segment(elf, type);
}

/* Gives its first library another name, which lies in its own strings. */
static void library_rename(struct vm_elf *elf, char *strings, const char *name)
{
	strcpy(strings, name);
	elf->strings = strings;
	elf->strings_bytes = strlen(name) + 1;
	for (size_t i = 0; i < elf->dynamic_count; i++)
		if (elf->dynamic[i].d_tag == DT_NEEDED)
			elf->dynamic[i].d_un.d_val = 0;
}

static void reasons_test(struct vm_elf *elf)
{
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)elf->bytes;
	ElfW(Phdr) *stack = segment(elf, PT_GNU_STACK);
	ElfW(Phdr) tls = { .p_type = PT_TLS,
			   .p_memsz = VM_EXE_TLS_BYTES,
			   .p_align = 8 };
	char strings[64];
	ElfW(Phdr) before;

	ok(strstr(why(elf), "not linked with libmpi_abi") != NULL,
	   "it is no MPI program");
	for (size_t i = 0; i < elf->symbol_count; i++)
		elf->symbols[i].st_name = 0;
	library_rename(elf, strings, "libmpi_abi.so.1");
	is_string(why(elf), "", "with that library it can be loaded");
	header->e_type = ET_EXEC;
	ok(strstr(why(elf), "at a fixed address") != NULL,
	   "not at a fixed address");
	header->e_type = ET_DYN;
	stack->p_flags |= PF_X;
	ok(strstr(why(elf), "executable stack") != NULL,
	   "nor with an executable stack");
	stack->p_flags &= ~(ElfW(Word))PF_X;
	before = *stack;
	*stack = tls;
	is_string(why(elf), "", "with as many thread-local bytes as have room");
	stack->p_memsz++;
	ok(strstr(why(elf), "take 4097 bytes, more than the 4096") != NULL,
	   "not with more");
	*stack = tls;
	stack->p_align = 128;
	ok(strstr(why(elf), "thread-local") != NULL,
	   "nor with too large an alignment");
	stack->p_align = 8;
	vm_ordinary_patch(elf);
	is_int((intmax_t)elf->tls.p_memsz, VM_EXE_TLS_BYTES,
	       "they are taken out of the file");
	ok(!vm_elf_segment(elf, PT_TLS), "and are there no more");
	*stack = before;
	ok(strstr(why(elf), "not linked with libmpi_abi") != NULL,
	   "nor is the library");
}

int main(void)
{
	struct vm_elf elf;

	is_int(vm_elf_open(&elf, "/proc/self/exe", "self"), 0,
	       "this program can be opened");
#ifdef __x86_64__
	if (elf.header->e_type == ET_DYN &&
	    vm_elf_segment(&elf, PT_GNU_STACK) && !vm_elf_segment(&elf, PT_TLS))
		reasons_test(&elf);
	else
		skip(1, "this program is built in another way");
#else
	skip(1, "executables of this machine are not loaded");
#endif
	vm_elf_close(&elf);
	return done_testing();
}
