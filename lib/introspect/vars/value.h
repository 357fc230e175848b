/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of control variables as text.
 *
 * Pure functions: a row and a text in, a number or a sentence out.
 */
#ifndef INTROSPECT_VARS_VALUE_H
#define INTROSPECT_VARS_VALUE_H

#include "introspect/vars/cvar.h"

#define VM_VALUE_WHY_MAX 256

/*
 * Reads text as a value of row, blanks around it aside.
 *	INT	[-]decimal or 0x hexadecimal
 *	SIZE	the same, then B or one of K M G T (times 1024, 1024^2, ...),
 *		also as KiB MiB GiB TiB, in any case of letters
 *	BOOL	1 yes true on, 0 no false off, in any case of letters
 *	STRING	anything without control characters, up to VM_VAR_TEXT_MAX
 * 0 and *number (untouched for STRING), or -VMPI_EINVAL and in why what is
 * wrong and what would be right.
 */
int vm_value_parse(const struct vm_cvar *row, int64_t *number,
		   char why[VM_VALUE_WHY_MAX], const char *text);

/*
 * The words of a CHOICE or of a STATE, "auto|read|write": how many there are,
 * and word i, of *length bytes, which is not 0-terminated; i must be less.
 */
unsigned vm_words_count(const char *words);
const char *vm_words_item(const char *words, unsigned i, size_t *length);

/* The number as vm_value_parse() takes it, at most 21 bytes with the final
 * zero. */
#define VM_NUMBER_MAX 24
void vm_value_format(char text[VM_NUMBER_MAX], int64_t number);

/* As vm_value_format(), for people to read: a SIZE as 16K or 1M where that is
 * exact. */
void vm_value_pretty(const struct vm_cvar *row, char text[VM_NUMBER_MAX],
		     int64_t number);
#endif
