/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the runtime takes for itself: threads of its own and of the libraries
 * that it uses, which do nothing for the program by themselves, and addresses,
 * which a batch system limits to the memory of a job.
 *
 * The threads have a name of their own, which a thread inherits from the one
 * that creates it: so those of libraries have it too, if they are created in
 * between.
 */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define VM_OWN_NAME "vmpi-runtime"

/* The caller's name, while its threads are created. */
struct vm_own {
	char before[16];
};

/* Threads that the caller creates from begin to end are the runtime's. */
void vm_own_begin(struct vm_own *own);
void vm_own_end(const struct vm_own *own);

/* pthread_create() for a thread that runs no code of the program: its stack is
 * not smaller than libraries need, nor large where addresses are limited. */
int vm_own_create(pthread_t *thread, void *(*body)(void *arg), void *arg);

/* Starts a thread of the runtime that no signal reaches, since signals are for
 * those that know what to do with them: as pthread_create(). */
int vm_own_thread(pthread_t *thread, void *(*body)(void *arg), void *arg);

/* strerror() of an error of these, or what limits the number of threads. */
const char *vm_own_why(int error);

/*
 * A timer (timerfd_create(2)) for a thread of the runtime, -1 with errno if the
 * system has none; and sets it to expire once, so long from now.  Real time: a
 * library that gives a program another time does not see it.
 */
int vm_own_timer(void);
void vm_own_timer_set(int fd, uint64_t ns);

/* The bytes of addresses that the process may have, the lesser of ulimit -v and
 * ulimit -d; SIZE_MAX: there is no limit. */
size_t vm_own_space(void);

/* Where addresses are limited, malloc() reserves them for fewer threads, unless
 * the user has chosen.  Call before threads are started. */
void vm_own_spare(void);

#endif
