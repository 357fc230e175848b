/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of options and of variables of the environment.
 *
 * `option` is how the user wrote it, for the line about a mistake: "--every",
 * or "NAME=" of a variable.  Each function returns 0, or -VMPI_EINVAL after one
 * line that says what would be right; then the output is not written.
 */
#ifndef REPORT_OPTION_H
#define REPORT_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Says "OPTION VALUE: what is needed", or without a value (NULL) "OPTION: ...",
 * and returns -VMPI_EINVAL. */
int vm_option_refuse(const char *option, const char *value, const char *needed,
		     ...) VM_PRINTF(3, 4);

/*
 * A whole number, in digits alone; what: "a number of ranks".  most may be
 * INT_MAX: the line names no limit then.
 */
int vm_option_number(int *number, const char *option, const char *value,
		     const char *what, int least, int most);

/* Seconds, as 90 or 0.5. */
int vm_option_seconds(double *seconds, const char *option, const char *value,
		      double least, double most);

/* A size that a variable may have, as 65536, 256K or 1M. */
int vm_option_size(int64_t *bytes, const char *option, const char *value,
		   int64_t least, int64_t most);

/* One of these words, or the beginning of one. */
int vm_option_word(int *which, const char *option, const char *value,
		   const char *const *words, int count);

/* The path from the root, malloc'ed, of a file named from here; what: "a file".
 * Also -VMPI_EIO, -VMPI_ENOMEM. */
int vm_option_path(char **path, const char *option, const char *value,
		   const char *what);

/* A number of at most 9 digits at *text, which moves behind it; false: there is
 * none, and nothing is said. */
bool vm_option_digits(int *number, const char **text);

#endif
