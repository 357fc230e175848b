/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The linker gives the code under test these functions instead of libc's and of
 * those that print.
 */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "report/cli.h"

#define FILES_MAX 4
#define MAPS_MAX 16

static struct file {
	char name[32];
	int fd; /* a file in memory */
	ino_t number;
} files[FILES_MAX];

static int file_count;

/* Copies that the code under test takes for mappings. */
static void *maps[MAPS_MAX];

/* Unless the sources of a program are there, which have its name. */
__attribute__((weak)) const char vm_cli_program[] = "fuzz";

static struct {
	const void *bytes;
	size_t length;
} answer;

static struct file *file_named(const char *name)
{
	for (int i = 0; i < file_count; i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	return NULL;
}

/* Whether the linker has given this code, too, the functions below. */
static bool is_there(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), FUZZ_DIR "%s", name);
	file = fopen(path, "re");
	if (!file)
		return false;
	fclose(file);
	return true;
}

static struct file *file_new(const char *name)
{
	struct file *file = &files[file_count++];
	struct stat about;

	if (file_count > FILES_MAX)
		abort();
	snprintf(file->name, sizeof(file->name), "%s", name);
	file->fd = memfd_create(name, MFD_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &about))
		abort();
	file->number = about.st_ino;
	if (!is_there(name))
		abort();
	return file;
}

void fuzz_file(const char *name, const void *bytes, size_t length)
{
	struct file *file = file_named(name);

	if (!file)
		file = file_new(name);
	if (ftruncate(file->fd, 0) ||
	    pwrite(file->fd, bytes, length, 0) != (ssize_t)length)
		abort();
}

char *fuzz_text(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	if (!text)
		abort();
	if (bytes)
		memcpy(text, data, bytes);
	text[bytes] = '\0';
	return text;
}

void fuzz_answer(const void *bytes, size_t length)
{
	answer.bytes = bytes;
	answer.length = length;
}

/* Changes. */

#define PLACES_FIRST 4096 /* bytes of the head of a file */

/* What the first byte of a change says. */
enum { OF_HEAD = 0x80, KINDS = 7 };
enum how { PUT, ONES, ZEROS, CUT, ADD, COPY_WORD, POWER };

struct changes {
	const uint8_t *data;
	size_t bytes;
	uint8_t *out;
	size_t length;
};

static size_t place_take(struct changes *changes, bool of_head)
{
	size_t most = changes->length;
	size_t place = changes->data[0] | (size_t)changes->data[1] << 8 |
		       (size_t)changes->data[2] << 16;

	changes->data += 3;
	changes->bytes -= 3;
	if (of_head && most > PLACES_FIRST)
		most = PLACES_FIRST;
	return place % most;
}

/* Makes a new word of the one there. */
static void word_change(struct changes *changes, size_t at, enum how how,
			unsigned amount)
{
	uint64_t word;

	at &= ~(size_t)7;
	if (changes->length < sizeof(word) ||
	    at > changes->length - sizeof(word))
		return;
	memcpy(&word, changes->out + at, sizeof(word));
	if (how == ADD)
		word += (uint64_t)amount - 8;
	else
		word = UINT64_C(1) << 4 * amount;
	memcpy(changes->out + at, &word, sizeof(word));
}

static void word_copy(struct changes *changes, size_t at)
{
	size_t from, word = sizeof(uint64_t);

	if (changes->bytes < 3)
		return;
	from = place_take(changes, true) & ~(size_t)7;
	at &= ~(size_t)7;
	if (changes->length >= word && at <= changes->length - word &&
	    from <= changes->length - word)
		memmove(changes->out + at, changes->out + from, word);
}

static void bytes_put(struct changes *changes, size_t at, size_t count)
{
	if (count > changes->bytes)
		count = changes->bytes;
	memcpy(changes->out + at, changes->data, count);
	changes->data += count;
	changes->bytes -= count;
}

static void change(struct changes *changes)
{
	uint8_t first = *changes->data++;
	enum how how = (enum how)((first >> 4 & 7) % KINDS);
	size_t count = (first & 15u) + 1, at;

	changes->bytes--;
	at = place_take(changes, first & OF_HEAD);
	if (count > changes->length - at)
		count = changes->length - at;
	switch (how) {
	case PUT:
		bytes_put(changes, at, count);
		break;
	case ONES:
	case ZEROS:
		memset(changes->out + at, how == ONES ? 0xff : 0, count);
		break;
	case CUT:
		changes->length = at;
		break;
	case COPY_WORD:
		word_copy(changes, at);
		break;
	default:
		word_change(changes, at, how, first & 15u);
	}
}

size_t fuzz_change(uint8_t *out, const void *good, size_t length,
		   const uint8_t *data, size_t bytes)
{
	struct changes changes = { data, bytes, out, length };

	if (!bytes)
		return 0;
	changes.data++;
	changes.bytes--;
	if (!data[0]) {
		memcpy(out, changes.data, changes.bytes);
		return changes.bytes;
	}
	memcpy(out, good, length);
	while (changes.bytes >= 4 && changes.length)
		change(&changes);
	return changes.length;
}

bool fuzz_unchanged(const uint8_t *data, size_t bytes)
{
	return bytes == 1 && data[0];
}

void fuzz_changed(const char *name, const void *good, size_t length,
		  const uint8_t *data, size_t bytes)
{
	static uint8_t out[2 * FUZZ_GOOD_MAX];

	if (length > FUZZ_GOOD_MAX || bytes > FUZZ_GOOD_MAX)
		abort();
	length = fuzz_change(out, good, length, data, bytes);
	fuzz_file(name, out, length);
}

/* The functions that the code under test calls: with offsets of 64 bits, as
 * meson has it built, they have these names. */

int __real_open64(const char *path, int flags, ...);
FILE *__real_fopen64(const char *path, const char *mode);
void *__real_mmap64(void *at, size_t bytes, int rights, int flags, int fd,
		    off_t offset);
int __real_munmap(void *at, size_t bytes);
char *__real_realpath(const char *path, char *resolved);

int __real_connect(int fd, const struct sockaddr *address, socklen_t bytes);

int __wrap_open64(const char *path, int flags, ...);
FILE *__wrap_fopen64(const char *path, const char *mode);
void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd,
		    off_t offset);
int __wrap_munmap(void *at, size_t bytes);
char *__wrap_realpath(const char *path, char *resolved);
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes);
int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *words,
		       char *const *variables);
int __wrap_setvbuf(FILE *file, char *buffer, int mode, size_t bytes);
void __wrap_vm_log(enum vm_log_level level, const char *format, ...)
	VM_PRINTF(2, 3);
void __wrap_vm_cli_say(const char *format, ...) VM_PRINTF(1, 2);

static bool is_ours(const char *path)
{
	return !strncmp(path, FUZZ_DIR, strlen(FUZZ_DIR));
}

/* The path by which a file of ours is opened once more; false: there is
 * none. */
static bool path_make(char there[32], const char *path)
{
	const struct file *file = file_named(path + strlen(FUZZ_DIR));

	errno = ENOENT;
	if (file)
		snprintf(there, 32, "/proc/self/fd/%d", file->fd);
	return file != NULL;
}

int __wrap_open64(const char *path, int flags, ...)
{
	char there[32];
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	if (!is_ours(path))
		return __real_open64(path, flags, mode);
	/* Of links only the one that leads there is one. */
	return path_make(there, path) ?
		       __real_open64(there, flags & ~O_NOFOLLOW) :
		       -1;
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	char there[32];

	if (!is_ours(path))
		return __real_fopen64(path, mode);
	if (mode[0] != 'r')
		return __real_fopen64("/dev/null", mode);
	return path_make(there, path) ? __real_fopen64(there, mode) : NULL;
}

char *__wrap_realpath(const char *path, char *resolved)
{
	return is_ours(path) ? strdup(path) : __real_realpath(path, resolved);
}

static bool is_file(int fd)
{
	struct stat about;

	if (fd < 0 || fstat(fd, &about))
		return false;
	for (int i = 0; i < file_count; i++)
		if (files[i].number == about.st_ino)
			return true;
	return false;
}

void *__wrap_mmap64(void *at, size_t bytes, int rights, int flags, int fd,
		    off_t offset)
{
	void *copy;
	int i = 0;

	if (!is_file(fd))
		return __real_mmap64(at, bytes, rights, flags, fd, offset);
	while (i < MAPS_MAX && maps[i])
		i++;
	copy = malloc(bytes);
	if (i == MAPS_MAX || !copy ||
	    pread(fd, copy, bytes, offset) != (ssize_t)bytes)
		abort();
	return maps[i] = copy;
}

int __wrap_munmap(void *at, size_t bytes)
{
	for (int i = 0; i < MAPS_MAX; i++)
		if (at && maps[i] == at) {
			free(at);
			maps[i] = NULL;
			return 0;
		}
	return __real_munmap(at, bytes);
}

/* The descriptor becomes one where the answer lies already. */
int __wrap_connect(int fd, const struct sockaddr *address, socklen_t bytes)
{
	static int other = -1;
	int ends[2];

	if (address->sa_family != AF_UNIX ||
	    !is_ours(((const struct sockaddr_un *)address)->sun_path))
		return __real_connect(fd, address, bytes);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) ||
	    send(ends[1], answer.bytes, answer.length, MSG_NOSIGNAL) !=
		    (ssize_t)answer.length ||
	    shutdown(ends[1], SHUT_WR) || dup2(ends[0], fd) < 0)
		abort();
	close(ends[0]);
	/* It stays until the next one; what is asked is not read. */
	if (other >= 0)
		close(other);
	other = ends[1];
	return 0;
}

/* Programs are read, and not run. */
int __wrap_posix_spawn(pid_t *pid, const char *path,
		       const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const *words,
		       char *const *variables)
{
	(void)pid;
	(void)path;
	(void)actions;
	(void)attributes;
	(void)words;
	(void)variables;
	return ENOENT;
}

/* Large buffers, which take a sanitizer long, for output that is lost. */
int __wrap_setvbuf(FILE *file, char *buffer, int mode, size_t bytes)
{
	(void)file;
	(void)buffer;
	(void)mode;
	(void)bytes;
	return 0;
}

static void text_drop(const char *format, va_list args)
{
	char text[256];

	if (vsnprintf(text, sizeof(text), format, args) < 0)
		abort();
}

void __wrap_vm_log(enum vm_log_level level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	text_drop(format, args);
	va_end(args);
}

void __wrap_vm_cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_drop(format, args);
	va_end(args);
}
