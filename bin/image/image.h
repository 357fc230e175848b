/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of libc that are linked into programs share.
 *
 * A program may define any function of libc itself, and libc goes on with its
 * own.  So must we: a function of ours is called vm_image_<name>, the public name
 * is an object of its own that jumps there (public.S.in), and what we need of
 * libc is image_found by LIBC().  Variables are shared with the program, as in libc.
 */
#ifndef IMAGE_H
#define IMAGE_H

/* Of the process, whatever the program has under this name. */
void *vmpi_libc(const char *name);

/*
 * libc's function, or the node program's in its place.  Functions for memory and
 * strings are called as they are: a compiler may do so by itself.
 */
#define LIBC(name)                                                         \
	({                                                                 \
		static __typeof__(&name) image_known;                      \
		__typeof__(&name) image_found =                            \
			__atomic_load_n(&image_known, __ATOMIC_RELAXED);   \
                                                                           \
		if (!image_found) {                                        \
			image_found = (__typeof__(&name))vmpi_libc(#name); \
			__atomic_store_n(&image_known, image_found,        \
					 __ATOMIC_RELAXED);                \
		}                                                          \
		image_found;                                               \
	})

/* Declares ours like libc's.  The loader gives it to the program's libraries, which
 * may use others than the program (core/image/tools.h). */
#define OURS(name) PROTECTED __typeof__(name) vm_image_##name
#define PROTECTED __attribute__((visibility("protected")))
#define HIDDEN __attribute__((visibility("hidden")))

PROTECTED char *vm_image_getenv(const char *name);

/* The environment that a program begins with. */
HIDDEN void vm_image_environ_start(char **strings);

#endif
