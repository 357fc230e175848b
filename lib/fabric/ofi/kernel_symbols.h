/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeping libfabric from reading the kernel's list of symbols.
 *
 * When it is first asked, libfabric reads all of /proc/kallsyms twice, to learn
 * whether memory of GPUs can be registered.  That takes 100 ms of CPU time in
 * each process of a job, and vmpi registers main memory only.
 */
#ifndef FABRIC_OFI_KERNEL_SYMBOLS_H
#define FABRIC_OFI_KERNEL_SYMBOLS_H

/*
 * Binds the fopen of a loaded library to one that does not find /proc/kallsyms.
 * 'library' is a handle of dlopen.  Where that cannot be done the library is
 * slower; nothing else changes.
 */
void vm_kernel_symbols_hide(void *library);

#endif
