/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target without a fuzzer: each file of a directory, then changes of
 * them, the same ones every time.
 *
 *	fuzz-TARGET DIRECTORY CHANGES
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "tap.h"

#define FILES_MAX 64
#define BYTES_MAX 4096

static struct input {
	size_t bytes;
	uint8_t data[BYTES_MAX];
} files[FILES_MAX];

static int file_count;
static uint64_t state = 1;

static size_t below(size_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return n ? (size_t)(state >> 33) % n : 0;
}

static void file_read(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	if (!file || file_count == FILES_MAX)
		bail("cannot read %s", path);
	files[file_count].bytes =
		fread(files[file_count].data, 1, BYTES_MAX, file);
	file_count++;
	fclose(file);
}

/* One of several ways to spoil it. */
static void change(struct input *input)
{
	const struct input *other = &files[below((size_t)file_count)];
	size_t at = below(input->bytes), n;

	switch (below(6)) {
	case 0: /* a bit */
		input->data[at] ^= (uint8_t)(1u << below(8));
		return;
	case 1:
		input->data[at] = (uint8_t)below(256);
		return;
	case 2: /* truncated */
		input->bytes = at;
		return;
	case 3: /* the rest of another one */
		n = below(other->bytes);
		if (at + other->bytes - n > BYTES_MAX)
			return;
		memcpy(input->data + at, other->data + n, other->bytes - n);
		input->bytes = at + other->bytes - n;
		return;
	case 4: /* a part twice */
		n = below(input->bytes - at);
		if (input->bytes + n > BYTES_MAX)
			return;
		memmove(input->data + at + n, input->data + at,
			input->bytes - at);
		input->bytes += n;
		return;
	default: /* zeros or ones */
		n = below(input->bytes - at);
		memset(input->data + at, below(2) ? 0xff : 0, n);
	}
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
	long changes = argc == 3 ? atol(argv[2]) : 0;
	struct dirent **names = NULL;
	int n = argc == 3 ? scandir(argv[1], &names, NULL, by_name) : -1;

	for (int i = 0; i < n; i++) {
		if (names[i]->d_name[0] != '.')
			file_read(argv[1], names[i]->d_name);
		free(names[i]);
	}
	free(names);
	if (!file_count)
		bail("usage: fuzz-TARGET DIRECTORY CHANGES");
	for (int i = 0; i < file_count; i++)
		LLVMFuzzerTestOneInput(files[i].data, files[i].bytes);
	ok(true, "%d inputs are taken or refused", file_count);
	for (long i = 0; i < changes; i++) {
		struct input input = files[below((size_t)file_count)];

		for (size_t k = below(4) + 1; k > 0 && input.bytes; k--)
			change(&input);
		LLVMFuzzerTestOneInput(input.data, input.bytes);
	}
	ok(true, "so are %ld changes of them", changes);
	return done_testing();
}
