/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of the runtime, and of the libraries that it uses: they do nothing
 * for the program by themselves.
 *
 * They have a name of their own, which a thread inherits from the one that
 * creates it: so those of libraries have it too, if they are created in
 * between.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <pthread.h>

#define VM_OWN_NAME "vmpi-runtime"

/* The caller's name, while its threads are created. */
struct vm_own {
	char before[16];
};

/* Threads that the caller creates from begin to end are the runtime's. */
void vm_own_begin(struct vm_own *own);
void vm_own_end(const struct vm_own *own);

/* Starts a thread of the runtime that no signal reaches, since signals are for
 * those that know what to do with them: as pthread_create(). */
int vm_own_thread(pthread_t *thread, void *(*body)(void *arg), void *arg);

#endif
