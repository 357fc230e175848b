/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a program: a copy of the process's, changed by this rank
 * only.
 *
 * As in glibc, strings replaced by setenv() are not freed: the program may
 * still hold a result of getenv().  A program that reads `environ` or calls a
 * function below brings in environ_variable.c, whose constructor makes the copy
 * before any of its own code runs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"

OURS(getenv);
OURS(secure_getenv);
OURS(setenv);
OURS(unsetenv);
OURS(putenv);
OURS(clearenv);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **array; /* ours; the program may put another into __environ */
static size_t room;
static char **shared; /* the strings of the process, as they were at first */

/* Strings that are the rank's. */
struct text {
	struct text *next;
	char text[];
};
static struct text *texts;

static size_t count(void)
{
	size_t n = 0;

	while (__environ && __environ[n])
		n++;
	return n;
}

/* Makes __environ an array of ours with room for one more.  False: no memory. */
static int grow(void)
{
	size_t n = count();
	char **bigger;

	if (__environ == array && array && n + 1 < room)
		return 1;
	bigger = malloc((n + 16) * sizeof(*bigger));
	if (!bigger)
		return 0;
	if (n)
		memcpy(bigger, __environ, n * sizeof(*bigger));
	bigger[n] = NULL;
	if (__environ == array)
		free(array);
	__environ = array = bigger;
	room = n + 16;
	return 1;
}

void vm_image_environ_start(char **strings)
{
	__environ = strings;
	grow();
	shared = calloc(count() + 1, sizeof(*shared));
	if (shared)
		memcpy(shared, strings, count() * sizeof(*shared));
}

/* After all code of the rank: its image may be unloaded (MPI_Comm_spawn), and
 * what only it knows would be lost.  Strings stay: others may hold them. */
__attribute__((destructor(101))) static void end(void)
{
	LIBC(pthread_mutex_lock)(&lock);
	if (__environ == array)
		__environ = NULL;
	free(array);
	free(shared);
	array = shared = NULL;
	room = 0;
	LIBC(pthread_mutex_unlock)(&lock);
}

static size_t find(const char *name, size_t length)
{
	size_t i = 0;

	for (; __environ && __environ[i]; i++)
		if (!strncmp(__environ[i], name, length) &&
		    __environ[i][length] == '=')
			break;
	return i;
}

/* The string is the rank's from now on: it may be changed, as by strtok(). */
static void own(size_t i)
{
	char **string = shared;
	struct text *copy;
	size_t bytes;

	while (string && *string && *string != __environ[i])
		string++;
	if (!string || !*string || __environ != array)
		return;
	bytes = strlen(__environ[i]) + 1;
	copy = malloc(sizeof(*copy) + bytes);
	if (!copy)
		return;
	memcpy(copy->text, __environ[i], bytes);
	copy->next = texts;
	texts = copy;
	__environ[i] = copy->text;
}

char *vm_image_getenv(const char *name)
{
	size_t length = strlen(name), i;
	char *value = NULL;

	LIBC(pthread_mutex_lock)(&lock);
	i = find(name, length);
	if (__environ && __environ[i]) {
		own(i);
		value = __environ[i] + length + 1;
	}
	LIBC(pthread_mutex_unlock)(&lock);
	return value;
}

char *vm_image_secure_getenv(const char *name)
{
	return LIBC(getuid)() == LIBC(geteuid)() &&
			       LIBC(getgid)() == LIBC(getegid)() ?
		       vm_image_getenv(name) :
		       NULL;
}

/* Puts "name=value" in the place of the old one or at the end. */
static int put(char *entry, size_t length)
{
	size_t i = find(entry, length);
	int old = __environ && __environ[i];

	if (!old && !grow())
		return -1;
	if (!old)
		__environ[i + 1] = NULL;
	__environ[i] = entry;
	return 0;
}

int vm_image_setenv(const char *name, const char *value, int overwrite)
{
	size_t length = strlen(name), bytes;
	char *entry;
	int rc;

	if (!length || strchr(name, '=')) {
		errno = EINVAL;
		return -1;
	}
	if (!overwrite && vm_image_getenv(name))
		return 0;
	bytes = strlen(value) + 1;
	entry = malloc(length + 1 + bytes);
	if (!entry)
		return -1;
	memcpy(entry, name, length);
	entry[length] = '=';
	memcpy(entry + length + 1, value, bytes);
	LIBC(pthread_mutex_lock)(&lock);
	rc = put(entry, length);
	LIBC(pthread_mutex_unlock)(&lock);
	if (rc)
		free(entry);
	return rc;
}

int vm_image_unsetenv(const char *name)
{
	size_t length = strlen(name), i;

	if (!length || strchr(name, '=')) {
		errno = EINVAL;
		return -1;
	}
	LIBC(pthread_mutex_lock)(&lock);
	while (i = find(name, length), __environ && __environ[i])
		for (; __environ[i]; i++)
			__environ[i] = __environ[i + 1];
	LIBC(pthread_mutex_unlock)(&lock);
	return 0;
}

int vm_image_putenv(char *entry)
{
	const char *equals = strchr(entry, '=');
	int rc;

	if (!equals)
		return vm_image_unsetenv(entry);
	LIBC(pthread_mutex_lock)(&lock);
	rc = put(entry, (size_t)(equals - entry));
	LIBC(pthread_mutex_unlock)(&lock);
	return rc;
}

int vm_image_clearenv(void)
{
	LIBC(pthread_mutex_lock)(&lock);
	if (__environ == array)
		free(array);
	__environ = array = NULL;
	room = 0;
	LIBC(pthread_mutex_unlock)(&lock);
	return 0;
}
