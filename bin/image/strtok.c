/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strtok with a position per program.
 */
#include <string.h>

static char *position;

char *strtok(char *restrict text, const char *restrict separators)
{
	return strtok_r(text, separators, &position);
}
