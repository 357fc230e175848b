/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings: those of Fortran have a length and are padded with blanks.
 */
#ifndef FORTRAN_TEXT_H
#define FORTRAN_TEXT_H

#include <stddef.h>

struct vm_f_string {
	char *text; /* few, or allocated */
	char few[256];
};

/* Makes a string of C without the blanks behind it; _word also without those
 * before it, as for keys and values.  Returns 0 or what vm_f_fail() returns. */
int vm_f_string_in(struct vm_f_string *string, const char *text, size_t bytes);
int vm_f_word_in(struct vm_f_string *string, const char *text, size_t bytes);
void vm_f_string_end(struct vm_f_string *string);

/* Copies a string of C, as much of it as there is room for, and fills up. */
void vm_f_string_out(const char *string, char *text, size_t bytes);

#endif
