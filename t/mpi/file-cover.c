/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bits of bytes with data: against an array of bytes.
 */
#include "mpi/io/cover.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define BYTES 400

static uint64_t bits[(BYTES + 63) / 64];
static char plain[BYTES + 1];

/* The runs of the bits are those of the array. */
static bool is_same(void)
{
	size_t at = 0, n, from = 0;

	while ((n = vm_cover_run(bits, &at, BYTES)) != 0) {
		while (from < at)
			if (plain[from++])
				return false;
		while (from < at + n)
			if (!plain[from++])
				return false;
		at += n;
		if (at < BYTES && plain[at])
			return false;
	}
	while (from < BYTES)
		if (plain[from++])
			return false;
	return at == BYTES;
}

int main(void)
{
	bool held = true;
	size_t at;

	srand(5);
	ok(is_same(), "nothing is covered at first");
	for (int round = 0; round < 3000 && held; round++) {
		int sets = 1 + rand() % 6;

		memset(bits, 0, sizeof(bits));
		memset(plain, 0, sizeof(plain));
		for (int i = 0; i < sets; i++) {
			size_t first = (size_t)rand() % BYTES;
			size_t n = (size_t)rand() % (BYTES - first + 1);

			if (rand() % 2)
				n %= 9;
			vm_cover_set(bits, first, n);
			memset(plain + first, 1, n);
		}
		held = is_same();
	}
	ok(held, "three thousand random sets");
	vm_cover_set(bits, 0, BYTES);
	at = 0;
	is_int((int)vm_cover_run(bits, &at, BYTES), BYTES, "all is one run");
	at = 100;
	is_int((int)vm_cover_run(bits, &at, 150), 50, "or a part of it");
	return done_testing();
}
