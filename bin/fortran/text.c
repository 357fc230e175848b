/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of Fortran to those of C and back.
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

int vm_f_string_in(struct vm_f_string *string, const char *text, size_t bytes)
{
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	string->text = bytes < sizeof(string->few) ? string->few :
						     malloc(bytes + 1);
	if (!string->text)
		return vm_f_fail(MPI_ERR_NO_MEM);
	memcpy(string->text, text, bytes);
	string->text[bytes] = '\0';
	return 0;
}

int vm_f_word_in(struct vm_f_string *string, const char *text, size_t bytes)
{
	for (; bytes && *text == ' '; bytes--)
		text++;
	return vm_f_string_in(string, text, bytes);
}

void vm_f_string_end(struct vm_f_string *string)
{
	if (string->text != string->few)
		free(string->text);
}

void vm_f_string_out(const char *string, char *text, size_t bytes)
{
	size_t length = strnlen(string, bytes);

	memcpy(text, string, length);
	memset(text + length, ' ', bytes - length);
}
