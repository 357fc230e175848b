/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends trust each other, but a frame that is none is told from one: a
 * login shell may write to the same stream.
 */
#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

int frame_write(int fd, const char *bytes, size_t length)
{
	while (length) {
		ssize_t n = write(fd, bytes, length);
		struct pollfd room = { .fd = fd, .events = POLLOUT };

		if (n < 0 && errno == EAGAIN)
			poll(&room, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
	}
	return 0;
}

/* Makes room for so many bytes at the end. */
static void room_make(char **bytes, size_t *begin, size_t *end, size_t *room,
		      size_t more)
{
	if (*begin) {
		memmove(*bytes, *bytes + *begin, *end - *begin);
		*end -= *begin;
		*begin = 0;
	}
	if (*end + more <= *room)
		return;
	*room = 2 * (*end + more);
	*bytes = realloc(*bytes, *room);
	if (!*bytes)
		abort();
}

void frame_flush(struct frame_sink *sink)
{
	while (sink->fd >= 0 && sink->begin < sink->end) {
		ssize_t n = write(sink->fd, sink->bytes + sink->begin,
				  sink->end - sink->begin);

		if (n > 0)
			sink->begin += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			return;
		else if (n < 0 && errno != EINTR)
			sink->fd = -1;
	}
}

void frame_put(struct frame_sink *sink, enum frame_type type, const void *bytes,
	       size_t length)
{
	char head[FRAME_HEAD] = { (char)type, (char)length, (char)(length >> 8),
				  (char)(length >> 16), (char)(length >> 24) };

	room_make(&sink->bytes, &sink->begin, &sink->end, &sink->room,
		  length + FRAME_HEAD);
	memcpy(sink->bytes + sink->end, head, FRAME_HEAD);
	if (length)
		memcpy(sink->bytes + sink->end + FRAME_HEAD, bytes, length);
	sink->end += FRAME_HEAD + length;
	frame_flush(sink);
}

void frame_keep(struct frame_sink *sink, const void *bytes, size_t length)
{
	room_make(&sink->bytes, &sink->begin, &sink->end, &sink->room, length);
	memcpy(sink->bytes + sink->end, bytes, length);
	sink->end += length;
}

void frame_put_text(struct frame_sink *sink, enum frame_type type,
		    const char *text)
{
	frame_put(sink, type, text, strlen(text));
}

void frame_put_number(struct frame_sink *sink, enum frame_type type,
		      long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	frame_put_text(sink, type, text);
}

size_t frame_kept(const struct frame_sink *sink)
{
	return sink->fd < 0 ? 0 : sink->end - sink->begin;
}

bool frame_fill(struct frame_source *source)
{
	ssize_t n;

	room_make(&source->bytes, &source->begin, &source->end, &source->room,
		  READ_BYTES);
	n = read(source->fd, source->bytes + source->end, READ_BYTES);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		source->fd = -1;
		return false;
	}
	source->end += (size_t)n;
	return true;
}

int frame_next(struct frame_source *source, struct frame *frame)
{
	const unsigned char *head =
		(const unsigned char *)source->bytes + source->begin;
	size_t length;

	if (source->end - source->begin < FRAME_HEAD)
		return 0;
	length = (size_t)head[1] | (size_t)head[2] << 8 |
		 (size_t)head[3] << 16 | (size_t)head[4] << 24;
	if (length > FRAME_BYTES_MAX)
		return -1;
	if (source->end - source->begin < FRAME_HEAD + length)
		return 0;
	frame->type = (char)head[0];
	frame->bytes = source->bytes + source->begin + FRAME_HEAD;
	frame->length = length;
	source->begin += FRAME_HEAD + length;
	return 1;
}

long frame_number(const struct frame *frame)
{
	char text[32];

	snprintf(text, sizeof(text), "%.*s",
		 (int)(frame->length < 31 ? frame->length : 31), frame->bytes);
	return strtol(text, NULL, 10);
}

bool frame_skip(struct frame_source *source, const char *text)
{
	size_t length = strlen(text), have = source->end - source->begin;
	char *at = source->bytes + source->begin;
	char *found = have ? memmem(at, have, text, length) : NULL;
	size_t other = found	      ? (size_t)(found - at) :
		       have > length  ? have - length :
		       source->fd < 0 ? have :
					0;

	frame_write(STDERR_FILENO, at, other);
	source->begin += other + (found ? length : 0);
	return found != NULL;
}

void frame_sink_fini(struct frame_sink *sink)
{
	free(sink->bytes);
	*sink = (struct frame_sink){ .fd = -1 };
}

void frame_source_fini(struct frame_source *source)
{
	free(source->bytes);
	*source = (struct frame_source){ .fd = -1 };
}
