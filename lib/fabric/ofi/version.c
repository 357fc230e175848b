/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Run when vmpi is configured: prints the symbol version of fi_getinfo that a
 * program gets when it is built with these headers.  Not part of the library.
 */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <stdio.h>

#define VERSIONS 64

int main(void)
{
	for (int i = 0; i < VERSIONS; i++) {
		char version[32];
		void *symbol;

		snprintf(version, sizeof(version), "FABRIC_1.%d", i);
		symbol = dlvsym(RTLD_DEFAULT, "fi_getinfo", version);
		if (symbol && symbol == (void *)fi_getinfo) {
			puts(version);
			return 0;
		}
	}
	return 1;
}
