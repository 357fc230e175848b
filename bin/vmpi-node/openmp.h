/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in ranks: functions that replace those of libgomp and libomp
 * (openmp.c, openmp_lock.c), and what both libraries read from the environment
 * when they are loaded (openmp_env.c).
 */
#ifndef OPENMP_H
#define OPENMP_H

#include <stdbool.h>

/*
 * Before the program is loaded: sets the variables of OpenMP that the user has
 * not set, if the program uses it.  OMP_NUM_THREADS becomes each rank's share
 * of the cores.  0, or -VMPI_EINVAL (logged) for a program whose regions would
 * go wrong.
 */
int openmp_prepare(void);

/* Whether the program, or a library of it, was built for OpenMP. */
bool openmp_is_used(void);

/* The OpenMP library's own function of the name; ends the job if it has
 * none. */
void *openmp_find(const char *name);

/* As openmp_find(), once. */
#define OPENMP(name)                                                          \
	({                                                                    \
		static _Atomic(__typeof__(&name)) real;                       \
		__typeof__(&name) found = real;                               \
                                                                              \
		if (!found)                                                   \
			real = found = (__typeof__(&name))openmp_find(#name); \
		found;                                                        \
	})

#endif
