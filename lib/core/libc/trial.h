/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the loader and the node program take for granted of the C library, and
 * no standard promises: each tried on a small library.
 *
 * A C library for which something does not hold may do anything, so this is
 * for a process of its own (core/libc/probe.h).
 */
#ifndef CORE_LIBC_TRIAL_H
#define CORE_LIBC_TRIAL_H

#include <stdio.h>

/* Name and, for people, what is the case if it does not hold; in the order in
 * which they are tried, because the later ones stand on the earlier. */
#define VM_TRIALS(X)                                                           \
	X(list, "its list of loaded objects is not as <link.h> says")          \
	X(twice, "a file that is not in its list of loaded objects is not "    \
		 "loaded anew")                                                \
	X(own, "copies of a file share their variables")                       \
	X(found, "it does not find each copy of a file by its addresses")      \
	X(unwind, "exceptions do not find the code of each copy of a file")    \
	X(thread, "copies of a file do not have thread-local variables of "    \
		  "their own")                                                 \
	X(name, "the name of a loaded object cannot be replaced")              \
	X(close, "copies of a file cannot be closed")                          \
	X(program, "thread-local variables of a program do not end where the " \
		   "thread pointer points")                                    \
	X(condition, "a condition variable does not say by which clock it "    \
		     "waits")                                                  \
	X(mutex, "a mutex does not say which thread has locked it")

/* The library beside the node program (bin/vmpi-node/twice.c). */
#define VM_TRIAL_LIBRARY "libvmpi_twice.so"

/*
 * Tries each with the library at path: writes its name on a line of its own
 * before it begins.  Result: 0, all hold; 1, the one named last does not;
 * -VMPI_ENOENT, the library cannot be loaded.
 */
int vm_trial_run(const char *path, FILE *out);

#endif
