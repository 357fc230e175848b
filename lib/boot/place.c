/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equal blocks begin at p * ranks / processes, rounded up, so that the larger
 * ones come first, as users expect of "-n 5 --nodes 2".
 */
#include "boot/place.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vmpi.h"

static int equal_fill(int *first, int processes, int ranks)
{
	for (int p = 0; p <= processes; p++) {
		int64_t at = (int64_t)p * ranks;

		first[p] = (int)((at + processes - 1) / processes);
	}
	return 0;
}

int vm_place_fill(int *first, int processes, int ranks, const char *blocks)
{
	int64_t next = 0;

	if (processes < 1 || ranks < processes)
		return -VMPI_EINVAL;
	if (!blocks)
		return equal_fill(first, processes, ranks);
	for (int p = 0; p < processes; p++) {
		size_t digits = strspn(blocks, "0123456789");
		long count = strtol(blocks, NULL, 10);

		if (digits < 1 || digits > 9 || count < 1 ||
		    next + count > ranks ||
		    blocks[digits] != (p + 1 < processes ? ',' : '\0'))
			return -VMPI_EINVAL;
		first[p] = (int)next;
		next += count;
		blocks += digits + 1;
	}
	first[processes] = ranks;
	return next == ranks ? 0 : -VMPI_EINVAL;
}

int vm_place_process(const int *first, int processes, int rank)
{
	int low = 0, high = processes;

	while (high - low > 1) {
		int middle = low + (high - low) / 2;

		if (first[middle] <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}
