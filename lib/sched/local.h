/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thread-local memory of shared libraries that must belong to a ULT instead.
 *
 * libstdc++ keeps the exceptions being handled in thread-local variables,
 * libgomp its team.  Registered blocks are saved and restored at every switch.
 * The image loader knows which blocks an image needs.
 */
#ifndef SCHED_LOCAL_H
#define SCHED_LOCAL_H

#include <stddef.h>

#define VM_LOCAL_MAX 8

/*
 * Registers a part of the TLS block of a module (dlinfo RTLD_DI_TLS_MODID):
 * where it begins in the block, its size and its initial content (init_bytes
 * bytes of init, then zeros); one that is there already stays as it is.  0;
 * -VMPI_ELIMIT beyond VM_LOCAL_MAX; -VMPI_ESTATE: the workers have started.
 */
int vm_local_add(size_t tls_modid, size_t offset, size_t bytes,
		 const void *init, size_t init_bytes);

/* The workers start. */
void vm_local_freeze(void);

/* Bytes that a ULT needs for its copies. */
size_t vm_local_bytes(void);

/* For switches, and for threads that stand in for a ULT: find the addresses on
 * the calling thread; make fresh copies; exchange them. */
void vm_local_find(void *addresses[VM_LOCAL_MAX]);
void vm_local_fresh(char *copies);
void vm_local_save(char *copies, void *const addresses[VM_LOCAL_MAX]);
void vm_local_load(const char *copies, void *const addresses[VM_LOCAL_MAX]);

#endif
