/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variable of environ.c.  As in libc, a program with an `environ` of its own
 * has that besides.
 */
#include <unistd.h>

#include "image.h"

char **__environ;
extern char **environ __attribute__((weak, alias("__environ")));
extern char **_environ __attribute__((weak, alias("__environ")));

__attribute__((constructor(101))) static void start(int argc, char **argv,
						    char **envp)
{
	(void)argc;
	(void)argv;
	vm_image_environ_start(envp);
}
