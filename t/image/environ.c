/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a program's own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

extern char **image_environ;
char *image_getenv(const char *name);
char *image_secure_getenv(const char *name);
int image_setenv(const char *name, const char *value, int overwrite);
int image_unsetenv(const char *name);
int image_putenv(char *entry);
int image_clearenv(void);

#define environ image_environ
#define __environ image_environ_2
#define _environ image_environ_3
#define getenv image_getenv
#define secure_getenv image_secure_getenv
#define setenv image_setenv
#define unsetenv image_unsetenv
#define putenv image_putenv
#define clearenv image_clearenv
#include "../../bin/image/environ.c"

/* As the rank finds it when it starts. */
static void test_strings(void)
{
	char first[] = "S=one two", second[] = "T=three";
	char *process[] = { first, second, NULL };
	char *value;

	start(0, NULL, process);
	value = getenv("S");
	is_string(strtok(value, " "), "one", "a value may be cut up");
	is_string(first, "S=one two", "and is the process's no more");
	ok(getenv("S") == value, "it stays where it is");
	ok(environ[1] == second, "what is not asked for is not copied");
}

static void test_puts(void)
{
	static char entry[] = "P=1";

	is_int(putenv(entry), 0, "putenv takes the string itself");
	entry[2] = '2';
	is_string(getenv("P"), "2", "which the program may change");
	static char name[] = "P";
	putenv(name);
	ok(!getenv("P"), "a string without = removes the name");
}

static void test_errors(void)
{
	errno = 0;
	ok(setenv("", "x", 1) == -1 && errno == EINVAL,
	   "an empty name is an error");
	errno = 0;
	ok(setenv("a=b", "x", 1) == -1 && errno == EINVAL, "so is one with =");
	ok(unsetenv("a=b") == -1, "also for unsetenv");
}

static void test_many(void)
{
	char name[16];
	int right = 0;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "N%d", i);
		setenv(name, name, 1);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "N%d", i);
		right += getenv(name) && !strcmp(getenv(name), name);
	}
	is_int(right, 200, "it grows");
}

/* For the leak checker: as in libc, a value that was replaced stays for ever,
 * since getenv() may have handed it out. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

int main(void)
{
	char *own[] = { (char *)(size_t) "A=1", (char *)(size_t) "B=2", NULL };

	plan(20);
	ok(environ && environ[0], "it begins as a copy of the process's");
	environ = own;
	is_string(getenv("B"), "2", "a program may bring its own array");
	is_int(setenv("C", "3", 1), 0, "and add to it");
	is_string(getenv("C"), "3", "which makes a larger one");
	ok(own[2] == NULL, "and leaves the program's alone");
	setenv("C", "4", 0);
	is_string(getenv("C"), "3", "without overwrite a value stays");
	setenv("C", "5", 1);
	is_string(getenv("C"), "5", "with it, it changes");
	unsetenv("A");
	ok(!getenv("A") && getenv("B"), "unsetenv removes one");
	test_puts();
	test_errors();
	test_many();
	clearenv();
	ok(!getenv("B") && !environ, "clearenv removes all");
	test_strings();
	clearenv();
	return done_testing();
}
