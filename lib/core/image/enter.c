/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry code hands main over to __libc_start_main, which is ours for the
 * copies: libc's would start the process a second time.  Source of the stack
 * at the entry: System V ABI x86-64, 3.4.1, "Initial Stack and Register State".
 */
#include "core/image/enter.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/image/load.h"
#include "core/rank/rank.h"

extern int __cxa_atexit(void (*run)(void *), void *arg, void *dso_handle);

typedef int (*main_fn)(int argc, char **argv, char **envp);

/* Constructors have run, and destructors are run by vm_image_end(): what an old
 * executable brings for that is not used. */
static _Noreturn int start_main(main_fn run, int argc, char **argv,
				void (*init)(void), void (*fini)(void),
				void (*linker_fini)(void), void *stack_end)
{
	(void)init;
	(void)fini;
	(void)linker_fini;
	(void)stack_end;
	exit(run(argc, argv, argv + argc + 1));
}

/* Learns by what handle the program registers its handlers. */
static int program_atexit(void (*run)(void *), void *arg, void *dso_handle)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_image_copy *copy = rank ? rank->image : NULL;

	if (copy)
		copy->dso_handle = dso_handle;
	return __cxa_atexit(run, arg, dso_handle);
}

uintptr_t vm_image_enter_function(const char *name)
{
	if (!strcmp(name, "__libc_start_main"))
		return (uintptr_t)start_main;
	if (!strcmp(name, "__cxa_atexit"))
		return (uintptr_t)program_atexit;
	return 0;
}

/* Copies the words to the top of the stack, where they are aligned, and
 * continues at the entry.  rdx: no function to be called at the end. */
static _Noreturn void jump(uintptr_t entry, const uintptr_t *words,
			   size_t count)
{
#ifdef __x86_64__
	__asm__ volatile("leaq 0(, %%rcx, 8), %%rdx\n\t"
			 "subq %%rdx, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "movq %%rsp, %%rdi\n\t"
			 "rep movsq\n\t"
			 "xorl %%edx, %%edx\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "jmp *%%rax"
			 :
			 : "a"(entry), "S"(words), "c"(count)
			 : "memory");
	__builtin_unreachable();
#else
	(void)words;
	vm_panic("the entry at %#zx cannot be run on this machine (%zu words)",
		 (size_t)entry, count);
#endif
}

int vm_image_enter(struct vm_image_copy *copy, int argc, char **argv,
		   char **envp)
{
	const struct vm_elf *program = &copy->image->program;
	size_t count = 0, words;
	uintptr_t *at;

	while (envp[count])
		count++;
	/* argc, the arguments, NULL, the environment, NULL, and an empty
	 * auxiliary vector. */
	words = 1 + (size_t)argc + 1 + count + 1 + 2;
	copy->frame = malloc(words * sizeof(*at));
	if (!copy->frame)
		return -VMPI_ENOMEM;
	at = copy->frame;
	*at++ = (uintptr_t)argc;
	for (int i = 0; i <= argc; i++)
		*at++ = (uintptr_t)argv[i];
	for (size_t i = 0; i <= count; i++)
		*at++ = (uintptr_t)envp[i];
	at[0] = at[1] = 0;
	jump(vm_image_map(copy)->l_addr + program->header->e_entry, copy->frame,
	     words);
}
