/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of JSON, of whatever bytes: what comes out is valid JSON in valid
 * UTF-8.
 *
 * Characters of UTF-8 stay as they are.  Quotes, backslashes and control
 * characters (also DEL) are escaped.  Each byte that is not part of a character
 * (a broken or overlong form, half of a surrogate pair, a number beyond
 * U+10FFFF) becomes \ufffd, the replacement character.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Writes text as a string with its quotes; an error is the file's. */
void vm_json_string(FILE *out, const char *text);

/*
 * Puts the inside of the string, without quotes, into escaped, cut after the
 * last character that fits whole.  Result: escaped.
 */
const char *vm_json_escape(char *escaped, size_t bytes, const char *text);

#endif
