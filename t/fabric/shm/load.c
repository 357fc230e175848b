/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of places: those that follow each other are one, and any part of a row is
 * the same bytes.
 */
#include "fabric/shm/load.h"

#include "tap.h"

static char memory[1000];

static void added(void)
{
	struct iovec row[VM_LOAD_PLACES];
	size_t count = 0;

	vm_load_add(row, &count, &(struct iovec){ memory + 100, 10 });
	is_int((intmax_t)count, 1, "the first place");
	vm_load_add(row, &count, &(struct iovec){ memory + 110, 20 });
	ok(count == 1 && row[0].iov_base == memory + 100 &&
		   row[0].iov_len == 30,
	   "one that follows it is part of it");
	vm_load_add(row, &count, &(struct iovec){ memory + 131, 1 });
	ok(count == 2 && row[0].iov_len == 30 && row[1].iov_len == 1,
	   "one behind a gap is not");
	vm_load_add(row, &count, &(struct iovec){ memory + 90, 10 });
	ok(count == 3 && row[2].iov_base == memory + 90,
	   "nor one that is before it");
}

/* The bytes of a row, one by one. */
static const char *byte_at(const struct iovec *row, size_t at)
{
	while (at >= row->iov_len)
		at -= (row++)->iov_len;
	return (const char *)row->iov_base + at;
}

static void cut(void)
{
	static const struct iovec row[] = { { memory + 500, 7 },
					    { memory, 1 },
					    { memory + 100, 12 },
					    { memory + 300, 3 } };
	const size_t all = 7 + 1 + 12 + 3;
	struct iovec part[4];
	bool same = true;

	for (size_t at = 0; at < all; at++)
		for (size_t bytes = 1; at + bytes <= all; bytes++) {
			size_t n = vm_load_cut(part, row, 4, at, bytes),
			       sum = 0;

			for (size_t i = 0; i < n; i++)
				sum += part[i].iov_len;
			same &= sum == bytes;
			for (size_t k = 0; k < bytes && sum == bytes; k++)
				same &= byte_at(part, k) ==
					byte_at(row, at + k);
		}
	ok(same, "each part of a row is its bytes");
	is_int((intmax_t)vm_load_cut(part, row, 4, 0, all), 4,
	       "and all of it is the row");
	is_int((intmax_t)vm_load_cut(part, row, 4, 8, 12), 1,
	       "one place is one");
}

int main(void)
{
	added();
	cut();
	return done_testing();
}
