/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that were built with a sanitizer, in a node program that was not.
 */
#ifndef SANITIZER_H
#define SANITIZER_H

/* Tells the runtime of the sanitizer, if there is one in this process, where
 * the stacks of ranks are; and names the rank when it ends the process.  Call
 * before the workers start. */
void sanitizer_start(void);

/*
 * What was written before the release of an object is seen after its
 * acquisition by another thread: for the thread sanitizer, which does not see
 * by what means.
 */
void sanitizer_release(void *object);
void sanitizer_acquire(void *object);

#endif
