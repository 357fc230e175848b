/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a program: a copy of the process's, changed by this rank
 * only.
 *
 * As in glibc, strings replaced by setenv() are not freed: the program may
 * still hold a result of getenv().  A program that reads `environ` or calls a
 * function below brings this in; the constructor makes the copy before any of
 * its own code runs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **environ;
#define TEXT(name) TEXT_(name)
#define TEXT_(name) #name
extern char **__environ __attribute__((alias(TEXT(environ))));
extern char **_environ __attribute__((alias(TEXT(environ))));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **array; /* ours; the program may put another into environ */
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

	while (environ && environ[n])
		n++;
	return n;
}

/* Makes environ an array of ours with room for one more.  False: no memory. */
static int grow(void)
{
	size_t n = count();
	char **bigger;

	if (environ == array && array && n + 1 < room)
		return 1;
	bigger = malloc((n + 16) * sizeof(*bigger));
	if (!bigger)
		return 0;
	if (n)
		memcpy(bigger, environ, n * sizeof(*bigger));
	bigger[n] = NULL;
	if (environ == array)
		free(array);
	environ = array = bigger;
	room = n + 16;
	return 1;
}

__attribute__((constructor(101))) static void start(int argc, char **argv,
						    char **envp)
{
	(void)argc;
	(void)argv;
	environ = envp;
	grow();
	shared = calloc(count() + 1, sizeof(*shared));
	if (shared)
		memcpy(shared, envp, count() * sizeof(*shared));
}

/* After all code of the rank: its image may be unloaded (MPI_Comm_spawn), and
 * what only it knows would be lost.  Strings stay: others may hold them. */
__attribute__((destructor(101))) static void end(void)
{
	pthread_mutex_lock(&lock);
	if (environ == array)
		environ = NULL;
	free(array);
	free(shared);
	array = shared = NULL;
	room = 0;
	pthread_mutex_unlock(&lock);
}

static size_t find(const char *name, size_t length)
{
	size_t i = 0;

	for (; environ && environ[i]; i++)
		if (!strncmp(environ[i], name, length) &&
		    environ[i][length] == '=')
			break;
	return i;
}

/* The string is the rank's from now on: it may be changed, as by strtok(). */
static void own(size_t i)
{
	char **string = shared;
	struct text *copy;
	size_t bytes;

	while (string && *string && *string != environ[i])
		string++;
	if (!string || !*string || environ != array)
		return;
	bytes = strlen(environ[i]) + 1;
	copy = malloc(sizeof(*copy) + bytes);
	if (!copy)
		return;
	memcpy(copy->text, environ[i], bytes);
	copy->next = texts;
	texts = copy;
	environ[i] = copy->text;
}

char *getenv(const char *name)
{
	size_t length = strlen(name), i;
	char *value = NULL;

	pthread_mutex_lock(&lock);
	i = find(name, length);
	if (environ && environ[i]) {
		own(i);
		value = environ[i] + length + 1;
	}
	pthread_mutex_unlock(&lock);
	return value;
}

char *secure_getenv(const char *name)
{
	return getuid() == geteuid() && getgid() == getegid() ? getenv(name) :
								NULL;
}

/* Puts "name=value" in the place of the old one or at the end. */
static int put(char *entry, size_t length)
{
	size_t i = find(entry, length);
	int old = environ && environ[i];

	if (!old && !grow())
		return -1;
	if (!old)
		environ[i + 1] = NULL;
	environ[i] = entry;
	return 0;
}

int setenv(const char *name, const char *value, int overwrite)
{
	size_t length = strlen(name), bytes;
	char *entry;
	int rc;

	if (!length || strchr(name, '=')) {
		errno = EINVAL;
		return -1;
	}
	if (!overwrite && getenv(name))
		return 0;
	bytes = strlen(value) + 1;
	entry = malloc(length + 1 + bytes);
	if (!entry)
		return -1;
	memcpy(entry, name, length);
	entry[length] = '=';
	memcpy(entry + length + 1, value, bytes);
	pthread_mutex_lock(&lock);
	rc = put(entry, length);
	pthread_mutex_unlock(&lock);
	if (rc)
		free(entry);
	return rc;
}

int unsetenv(const char *name)
{
	size_t length = strlen(name), i;

	if (!length || strchr(name, '=')) {
		errno = EINVAL;
		return -1;
	}
	pthread_mutex_lock(&lock);
	while (i = find(name, length), environ && environ[i])
		for (; environ[i]; i++)
			environ[i] = environ[i + 1];
	pthread_mutex_unlock(&lock);
	return 0;
}

int putenv(char *entry)
{
	const char *equals = strchr(entry, '=');
	int rc;

	if (!equals)
		return unsetenv(entry);
	pthread_mutex_lock(&lock);
	rc = put(entry, (size_t)(equals - entry));
	pthread_mutex_unlock(&lock);
	return rc;
}

int clearenv(void)
{
	pthread_mutex_lock(&lock);
	if (environ == array)
		free(array);
	environ = array = NULL;
	room = 0;
	pthread_mutex_unlock(&lock);
	return 0;
}
