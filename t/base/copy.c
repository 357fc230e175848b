/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of all kinds of lengths write what they are to, and nothing else.
 */
#include "base/copy.h"

#include "tap.h"

#define BYTES_MAX 16384
#define GUARD 64

static char from[BYTES_MAX], to[GUARD + BYTES_MAX + GUARD];

static bool is_free(const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static bool is_right(size_t bytes)
{
	memset(to, 0, sizeof(to));
	vm_copy_long(to + GUARD, from, bytes);
	return !memcmp(to + GUARD, from, bytes) && is_free(to, GUARD) &&
	       is_free(to + GUARD + bytes, GUARD);
}

/* Where the way of copying changes, and beside it. */
static bool are_right(size_t middle)
{
	for (size_t bytes = middle - 65; bytes <= middle + 65; bytes++)
		if (!is_right(bytes)) {
			diag("%zu bytes", bytes);
			return false;
		}
	return true;
}

int main(void)
{
	plan(6);
	for (int i = 0; i < BYTES_MAX; i++)
		from[i] = (char)(i % 251 + 1);
	vm_copy_long(NULL, NULL, 0);
	ok(is_right(0) && is_right(1) && is_right(8), "a few bytes are copied");
	ok(are_right(VM_COPY_FETCH_MIN), "... more");
	ok(are_right(VM_COPY_FETCH_ALL), "... whose end is fetched ahead");
	ok(are_right(VM_COPY_FETCH_MAX), "... which go step by step");
	ok(are_right(2 * VM_COPY_FETCH_MAX), "... in several steps");
	ok(are_right(BYTES_MAX - 65), "... up to the end of the memory");
	return done_testing();
}
