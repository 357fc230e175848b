/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer is of one stream at a time.
 */
#include "output_gather.h"

#include <limits.h>
#include <string.h>

#include "base/flush.h"

/* How much of the bytes leaves at once: whole lines.  A line that a pipe does not
 * take at once leaves alone. */
static size_t piece(const struct output_gather *gather, const char *bytes,
		    size_t count)
{
	const char *newline;

	if (!gather->pieces || count <= PIPE_BUF)
		return count;
	newline = memrchr(bytes, '\n', PIPE_BUF);
	if (!newline)
		newline = memchr(bytes + PIPE_BUF, '\n', count - PIPE_BUF);
	return newline ? (size_t)(newline - bytes) + 1 : count;
}

static int pieces_flush(const struct output_gather *gather, int fd,
			size_t count)
{
	const char *bytes = gather->bytes;

	while (count) {
		size_t n = piece(gather, bytes, count);

		if (vm_flush_bytes(fd, bytes, n))
			return -1;
		bytes += n;
		count -= n;
	}
	return 0;
}

int output_gather_flush(struct output_gather *gather, int fd)
{
	int rc = pieces_flush(gather, fd, gather->used);

	gather->used = 0;
	return rc;
}

/* All but the beginning of a line, if there are whole lines. */
static int lines_flush(struct output_gather *gather, int fd)
{
	const char *newline = memrchr(gather->bytes, '\n', gather->used);
	size_t whole = newline ? (size_t)(newline - gather->bytes) + 1 :
				 gather->used;
	int rc = pieces_flush(gather, fd, whole);

	gather->used -= whole;
	memmove(gather->bytes, gather->bytes + whole, gather->used);
	return rc;
}

int output_gather(struct output_gather *gather, int fd, const char *bytes,
		  size_t count)
{
	int rc = 0;

	while (count && !rc) {
		size_t n = sizeof(gather->bytes) - gather->used;

		if (n > count)
			n = count;
		memcpy(gather->bytes + gather->used, bytes, n);
		gather->used += n;
		bytes += n;
		count -= n;
		if (gather->used == sizeof(gather->bytes))
			rc = lines_flush(gather, fd);
	}
	return rc;
}

int output_gather_lines(struct output_gather *gather, int fd, const char *bytes,
			size_t count, const char *label, bool *inside)
{
	size_t length = strlen(label);
	int rc = 0;

	while (count && !rc) {
		const char *newline = length ? memchr(bytes, '\n', count) :
					       NULL;
		size_t n = newline ? (size_t)(newline - bytes) + 1 : count;

		if (!*inside)
			rc = output_gather(gather, fd, label, length);
		if (!rc)
			rc = output_gather(gather, fd, bytes, n);
		*inside = !newline;
		bytes += n;
		count -= n;
	}
	return rc;
}
