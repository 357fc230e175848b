/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Amounts in units that people read: "18.3 MiB", "5.04 s".
 */
#ifndef REPORT_AMOUNT_H
#define REPORT_AMOUNT_H

#include <stdint.h>

#define VM_AMOUNT_MAX 32

/* Three digits and the unit; bytes by 1024.  Below 1024 bytes, and 1 us, all
 * digits. */
const char *vm_amount_bytes(char text[VM_AMOUNT_MAX], double bytes);
const char *vm_amount_ns(char text[VM_AMOUNT_MAX], double ns);

/* An amount of this unit: "bytes", "ns", or another word, which is a number of
 * things and stays whole. */
const char *vm_amount(char text[VM_AMOUNT_MAX], uint64_t value,
		      const char *unit);

#endif
