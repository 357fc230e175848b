/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts: runs are merged, cursors hand out every byte once, and copies
 * between random layouts equal those of a reference that goes byte by byte.
 */
#include "core/local/layout.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"

/* A sealed layout of n runs. */
static struct vm_layout *make(ptrdiff_t extent, size_t n,
			      const struct vm_run *runs)
{
	struct vm_layout *layout = vm_layout_new(n);

	if (!layout)
		bail("no memory");
	memcpy(layout->runs, runs, n * sizeof(*runs));
	vm_layout_seal(layout, extent);
	return layout;
}

#define MAKE(extent, ...)                                                      \
	make(extent,                                                           \
	     sizeof((struct vm_run[]){ __VA_ARGS__ }) / sizeof(struct vm_run), \
	     (struct vm_run[]){ __VA_ARGS__ })

static void test_merging(void)
{
	ptrdiff_t offset = -1;
	struct vm_layout *l = MAKE(16, { 0, 4, 1, 4 }, { 4, 12, 1, 12 });

	ok(l->run_count == 1 && l->runs[0].bytes == 16,
	   "blocks that touch become one");
	ok(vm_layout_dense(l, &offset) && offset == 0,
	   "a block as long as the extent is dense");
	vm_layout_drop(l);

	l = MAKE(8, { 4, 8, 1, 8 });
	ok(vm_layout_dense(l, &offset) && offset == 4,
	   "a dense layout may begin behind its address");
	vm_layout_drop(l);

	l = MAKE(24, { 0, 8, 1, 8 }, { 16, 8, 1, 8 }, { 32, 8, 1, 8 });
	ok(l->run_count == 1 && l->runs[0].count == 3 &&
		   l->runs[0].stride == 16 && l->bytes == 24,
	   "equal blocks at equal distance become one run");
	ok(!vm_layout_dense(l, &offset), "which is not dense");
	vm_layout_drop(l);

	l = MAKE(40, { 0, 8, 5, 8 });
	ok(l->run_count == 1 && l->runs[0].count == 1 && l->runs[0].bytes == 40,
	   "a run whose stride is its block is one block");
	vm_layout_drop(l);

	l = MAKE(0, { 0, 0, 3, 8 }, { 7, 4, 0, 4 });
	ok(l->run_count == 0 && l->bytes == 0 && vm_layout_dense(l, &offset),
	   "empty runs vanish, and nothing is dense");
	vm_layout_drop(l);

	l = MAKE(100, { 8, 4, 1, 4 }, { 0, 4, 1, 4 }, { -8, 4, 1, 4 });
	ok(l->run_count == 1 && l->runs[0].stride == -8,
	   "blocks may go backwards");
	vm_layout_drop(l);
	vm_layout_drop(NULL);
}

static void test_sharing(void)
{
	struct vm_layout *l = MAKE(8, { 0, 4, 1, 4 });

	ok(vm_layout_hold(l) == l && l->refs == 2, "holding counts");
	vm_layout_drop(l);
	is_int(l->refs, 1, "dropping counts");
	vm_layout_drop(l);
	ok(vm_layout_hold(NULL) == NULL, "nothing can be held");
	ok(!vm_layout_new(SIZE_MAX / 8), "absurd numbers of runs are refused");
}

static void test_cursor(void)
{
	char buffer[64], *piece = NULL;
	struct vm_layout *l = MAKE(16, { 0, 4, 2, 8 });
	struct vm_data data = { buffer, 20, l, 3 };
	struct vm_cursor cursor;

	vm_cursor_init(&cursor, &data);
	ok(vm_cursor_piece(&cursor, &piece, 3) == 3 && piece == buffer,
	   "a piece is no longer than asked for");
	ok(vm_cursor_piece(&cursor, &piece, 9) == 1 && piece == buffer + 3,
	   "and ends with its block");
	ok(vm_cursor_piece(&cursor, &piece, 9) == 4 && piece == buffer + 8,
	   "the next block follows");
	ok(vm_cursor_piece(&cursor, &piece, 9) == 4 && piece == buffer + 16,
	   "then the next element");
	ok(vm_cursor_piece(&cursor, &piece, 9) == 4 && piece == buffer + 24 &&
		   vm_cursor_piece(&cursor, &piece, 9) == 4 &&
		   piece == buffer + 32,
	   "and so on");
	is_int(vm_cursor_piece(&cursor, &piece, 9), 0, "until the data ends");
	data = vm_data_bytes(buffer, 10);
	vm_cursor_init(&cursor, &data);
	ok(vm_cursor_piece(&cursor, &piece, 4) == 4 && piece == buffer &&
		   vm_cursor_piece(&cursor, &piece, 9) == 6 &&
		   piece == buffer + 4 &&
		   vm_cursor_piece(&cursor, &piece, 9) == 0,
	   "plain bytes have pieces as well");
	vm_layout_drop(l);
}

/* The random part: buffers of AREA bytes, the data somewhere in the middle. */
#define AREA 4096
#define ORIGIN 2048
#define BYTES_MAX 700

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* A plain list of byte offsets: what a layout means, before it was sealed. */
struct bytes {
	size_t count;
	ptrdiff_t at[BYTES_MAX];
};

struct side {
	struct vm_data data;
	struct vm_layout *layout;
	struct bytes bytes;
};

/* Adds the bytes of elements until the list is full. */
static void list_bytes(struct bytes *list, const struct vm_run *runs, size_t n,
		       ptrdiff_t extent, size_t elements)
{
	list->count = 0;
	for (size_t e = 0; e < elements; e++)
		for (size_t r = 0; r < n; r++)
			for (size_t b = 0; b < runs[r].count; b++)
				for (size_t i = 0; i < runs[r].bytes; i++)
					list->at[list->count++] =
						(ptrdiff_t)e * extent +
						runs[r].offset +
						(ptrdiff_t)b * runs[r].stride +
						(ptrdiff_t)i;
}

static void side_plain(struct side *side, char *area)
{
	struct vm_run run = { 0, below(BYTES_MAX), 1, 0 };

	side->layout = NULL;
	side->data = vm_data_bytes(area + ORIGIN, run.bytes);
	list_bytes(&side->bytes, &run, 1, 0, 1);
}

/* Runs one behind the other, so that no byte is twice in an element; the
 * elements likewise, forwards or backwards. */
static void side_layout(struct side *side, char *area)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 8, 12, 16, 24, 32, 5 };
	struct vm_run runs[4];
	size_t n = 1 + below(4), bytes = 0, elements;
	ptrdiff_t end = (ptrdiff_t)below(9) - 4, extent;

	for (size_t r = 0; r < n; r++) {
		struct vm_run *run = &runs[r];

		run->bytes = sizes[below(10)];
		run->count = 1 + below(3);
		run->stride = (ptrdiff_t)run->bytes + (ptrdiff_t)below(3) * 4;
		run->offset = end;
		end += run->stride * (ptrdiff_t)run->count +
		       (ptrdiff_t)below(2) * 4;
		bytes += run->bytes * run->count;
	}
	extent = end + (ptrdiff_t)below(2) * 8;
	elements = below((unsigned)(BYTES_MAX / bytes) + 1);
	while (elements * (size_t)labs(extent) > ORIGIN - 400)
		elements--;
	if (below(4) == 0)
		extent = -extent;
	side->layout = make(extent, n, runs);
	side->data = (struct vm_data){ area + ORIGIN, bytes * elements,
				       side->layout, elements };
	list_bytes(&side->bytes, runs, n, extent, elements);
}

static void side_make(struct side *side, char *area)
{
	if (below(4) == 0)
		side_plain(side, area);
	else
		side_layout(side, area);
}

/* One random copy; false if it differs from the reference. */
static bool one_copy(void)
{
	static char to_area[AREA], from_area[AREA], want[AREA];
	static struct side to, from;
	size_t bytes, copied;

	for (int i = 0; i < AREA; i++) {
		to_area[i] = want[i] = (char)below(256);
		from_area[i] = (char)below(256);
	}
	side_make(&to, to_area);
	side_make(&from, from_area);
	if (to.layout && below(3) == 0) {
		vm_layout_drop(from.layout);
		from = to;
		vm_layout_hold(to.layout);
		from.data.addr = from_area + ORIGIN;
		if (from.data.bytes && below(2))
			from.data.bytes -= below((unsigned)from.data.bytes);
	}
	bytes = to.data.bytes < from.data.bytes ? to.data.bytes :
						  from.data.bytes;
	for (size_t i = 0; i < bytes; i++)
		want[ORIGIN + to.bytes.at[i]] =
			from_area[ORIGIN + from.bytes.at[i]];
	copied = vm_data_copy_slow(&to.data, &from.data);
	vm_layout_drop(to.layout);
	vm_layout_drop(from.layout);
	return copied == bytes && memcmp(to_area, want, AREA) == 0;
}

static void test_random(void)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	int failed = 0;

	diag("seed %llu (SEED=... repeats it)", (unsigned long long)seed);
	state = seed;
	for (int i = 0; i < 20000; i++)
		failed += !one_copy();
	is_int(failed, 0, "20000 random copies equal the reference");
}

int main(void)
{
	plan(20);
	test_merging();
	test_sharing();
	test_cursor();
	test_random();
	return done_testing();
}
