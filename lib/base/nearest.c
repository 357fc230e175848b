/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Optimal string alignment, three rows of the matrix at a time.
 */
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Both names are shorter than VM_NAME_MAX. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][VM_NAME_MAX];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *spare = before;

		before = above;
		above = row;
		row = spare;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = above[j - 1] + (a[i - 1] != b[j - 1]);

			best = least(best, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				best = least(best, before[j - 2] + 1);
			row[j] = best;
		}
	}
	return row[nb];
}

void vm_nearest_init(struct vm_nearest *nearest, const char *wanted)
{
	size_t i;

	for (i = 0; wanted[i] && i < sizeof(nearest->wanted) - 1; i++)
		nearest->wanted[i] = (char)tolower((unsigned char)wanted[i]);
	nearest->wanted[i] = '\0';
	nearest->name[0] = '\0';
	nearest->distance = ~0u;
}

void vm_nearest_offer(struct vm_nearest *nearest, const char *name)
{
	char small[VM_NAME_MAX];
	unsigned d;
	size_t i;

	for (i = 0; name[i] && i < sizeof(small) - 1; i++)
		small[i] = (char)tolower((unsigned char)name[i]);
	small[i] = '\0';
	d = distance(nearest->wanted, small);
	if (d > 1 && strlen(nearest->wanted) >= 4 &&
	    strstr(small, nearest->wanted))
		d = 1;
	if (d >= nearest->distance)
		return;
	nearest->distance = d;
	snprintf(nearest->name, sizeof(nearest->name), "%s", name);
}

const char *vm_nearest_name(const struct vm_nearest *nearest)
{
	size_t length = strlen(nearest->wanted);

	if (!nearest->name[0] || nearest->distance > length / 5 + 1 ||
	    nearest->distance >= length)
		return NULL;
	return nearest->name;
}
