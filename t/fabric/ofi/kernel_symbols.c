/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric does not read the kernel's list of symbols, and opens other files
 * as before.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/ofi/fi.h"
#include "tap.h"

/* The number of bytes the process has read so far, or -1. */
static long bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	long bytes = -1;

	if (!file)
		return -1;
	if (fscanf(file, "rchar: %ld", &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

/* The length of the list, as far as it matters here. */
static long list_bytes(long limit)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	char block[4096];
	long bytes = 0;
	size_t got;

	while (file && bytes < limit &&
	       (got = fread(block, 1, sizeof(block), file)) > 0)
		bytes += (long)got;
	if (file)
		fclose(file);
	return bytes;
}

int main(void)
{
	const long much = 2000000;
	struct fi_info *info = NULL;
	long before;

	is_int(vm_fi_load(), 0, "libfabric is loaded");
	before = bytes_read();
	is_int(vm_fi_real.getinfo(NULL, 0, NULL, &info), 0,
	       "it lists its providers");
	ok(info != NULL, "there are some");
	if (before < 0 || list_bytes(much) < much)
		skip(1, "the kernel tells neither what is read nor symbols");
	else
		ok(bytes_read() - before < 2 * much,
		   "it does not read the list of the kernel's symbols");
	if (info)
		vm_fi_real.freeinfo(info);
	return done_testing();
}
