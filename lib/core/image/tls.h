/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread-local variables of a rank on another OS thread than its worker.
 *
 * A thread that acts as a rank's main task has to see the variables of that
 * task, at the same addresses: programs keep pointers to them, and C++ objects
 * point into themselves.
 */
#ifndef CORE_IMAGE_TLS_H
#define CORE_IMAGE_TLS_H

struct vm_image_copy;
struct vm_image_tls;

/* Finds the copy's variables as the calling thread has them; NULL: there is no
 * memory. */
struct vm_image_tls *vm_image_tls_new(const struct vm_image_copy *copy);
void vm_image_tls_free(struct vm_image_tls *tls);

/*
 * Makes them those of the calling thread, while the thread that they were found
 * on does not use them.  Variables at a fixed distance from the thread pointer
 * (initial-exec) can only be copied: vm_image_tls_return() copies them back.
 */
void vm_image_tls_take(struct vm_image_tls *tls);
void vm_image_tls_return(struct vm_image_tls *tls);

#endif
