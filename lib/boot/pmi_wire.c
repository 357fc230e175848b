/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 is hardly specified; this accepts what MPICH, Hydra and Slurm write,
 * and nothing beyond.
 */
#include "boot/pmi_wire.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "vmpi.h"

static bool printable(const char *line)
{
	for (; *line; line++)
		if (*line < 0x20 || *line > 0x7e)
			return false;
	return true;
}

/* Takes the next key and value of *rest; false: it is malformed. */
static bool pair_take(struct vm_pmi_message *message, char **rest)
{
	char *key = *rest;
	char *equals = key + strcspn(key, "= ");
	size_t length;

	if (equals == key || *equals != '=' ||
	    message->count == VM_PMI_PAIRS_MAX)
		return false;
	*equals = '\0';
	length = strcmp(key, "value") ? strcspn(equals + 1, " ") :
					strlen(equals + 1);
	*rest = equals + 1 + length;
	if (**rest)
		*(*rest)++ = '\0';
	message->pairs[message->count].key = key;
	message->pairs[message->count].value = equals + 1;
	message->count++;
	return true;
}

int vm_pmi_parse(struct vm_pmi_message *message, char *line)
{
	char *rest = line;

	message->count = 0;
	if (!printable(line))
		return -VMPI_EINVAL;
	for (;;) {
		rest += strspn(rest, " ");
		if (!*rest)
			break;
		if (!pair_take(message, &rest))
			return -VMPI_EINVAL;
	}
	if (!message->count || strcmp(message->pairs[0].key, "cmd") != 0 ||
	    !message->pairs[0].value[0])
		return -VMPI_EINVAL;
	message->command = message->pairs[0].value;
	return 0;
}

const char *vm_pmi_text(const struct vm_pmi_message *message, const char *key)
{
	for (int i = 0; i < message->count; i++)
		if (!strcmp(message->pairs[i].key, key))
			return message->pairs[i].value;
	return NULL;
}

int vm_pmi_number(const struct vm_pmi_message *message, const char *key,
		  int none)
{
	const char *text = vm_pmi_text(message, key);
	bool minus = text && text[0] == '-';
	const char *digits = text ? text + minus : "";
	size_t length = strspn(digits, "0123456789");
	long value;

	if (length < 1 || length > 10 || digits[length])
		return none;
	value = strtol(text, NULL, 10);
	return value < INT_MIN || value > INT_MAX ? none : (int)value;
}

void vm_pmi_reader_init(struct vm_pmi_reader *reader)
{
	reader->begin = 0;
	reader->end = 0;
}

int vm_pmi_reader_fill(struct vm_pmi_reader *reader, int fd)
{
	size_t left = reader->end - reader->begin;
	ssize_t got;

	if (left >= VM_PMI_LINE_MAX)
		return -VMPI_ELIMIT;
	memmove(reader->bytes, reader->bytes + reader->begin, left);
	reader->begin = 0;
	reader->end = left;
	do
		got = recv(fd, reader->bytes + left,
			   sizeof(reader->bytes) - left, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -VMPI_EAGAIN :
								 -VMPI_EIO;
	reader->end += (size_t)got;
	return (int)got;
}

char *vm_pmi_reader_line(struct vm_pmi_reader *reader)
{
	char *line = reader->bytes + reader->begin;
	size_t left = reader->end - reader->begin;
	char *newline = memchr(line, '\n', left);
	char *zero;

	if (!newline)
		return NULL;
	*newline = '\0';
	/* A zero would hide what follows it; the line is refused. */
	while ((zero = memchr(line, '\0', (size_t)(newline - line))))
		*zero = '\1';
	reader->begin += (size_t)(newline - line) + 1;
	return line;
}
