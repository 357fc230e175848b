/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local variables of ordinary executables.
 *
 * The code of an executable has their distance from the thread pointer in it:
 * they lie just below.  The node program reserves that place in its own block,
 * and each rank has its content carried there at a switch, as errno is.
 */
#ifndef CORE_IMAGE_EXE_TLS_H
#define CORE_IMAGE_EXE_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/object/elf.h"

struct vm_image;
struct vm_image_copy;

/* The place that the node program reserves (bin/vmpi-node/reserve.S). */
#define VM_EXE_TLS_BYTES 4096
#define VM_EXE_TLS_ALIGN 64

/* Whether the variables of a segment fit there. */
bool vm_exe_tls_fits(const ElfW(Phdr) * tls);

/* The node program: its place on the calling thread, by which it is known where
 * the place lies on all others. */
void vm_exe_tls_reserve(const char *place);

/* Whether the program, which is loaded, has such variables: they have other
 * addresses on any other OS thread. */
bool vm_exe_tls_has(const struct vm_image *image);

/* Registers the variables of the image, if it has any, with sched/local.h.  0,
 * -VMPI_ELIMIT or -VMPI_EINVAL (logged). */
int vm_exe_tls_add(const struct vm_image *image);

/* Gives the calling thread, or task, of a rank the initial content. */
void vm_exe_tls_fresh(const struct vm_image_copy *copy);

#endif
