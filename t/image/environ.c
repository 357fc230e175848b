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

static char **image_environ;
#define __environ image_environ
#include "../../bin/image/environ.c"
#undef environ
#define environ image_environ

/* As the rank finds it when it starts. */
static void test_strings(void)
{
	char first[] = "S=one two", second[] = "T=three";
	char *process[] = { first, second, NULL };
	char *value;

	vm_image_environ_start(process);
	value = vm_image_getenv("S");
	is_string(strtok(value, " "), "one", "a value may be cut up");
	is_string(first, "S=one two", "and is the process's no more");
	ok(vm_image_getenv("S") == value, "it stays where it is");
	ok(environ[1] == second, "what is not asked for is not copied");
}

static void test_puts(void)
{
	static char entry[] = "P=1";

	is_int(vm_image_putenv(entry), 0, "putenv takes the string itself");
	entry[2] = '2';
	is_string(vm_image_getenv("P"), "2", "which the program may change");
	static char name[] = "P";
	vm_image_putenv(name);
	ok(!vm_image_getenv("P"), "a string without = removes the name");
}

static void test_errors(void)
{
	errno = 0;
	ok(vm_image_setenv("", "x", 1) == -1 && errno == EINVAL,
	   "an empty name is an error");
	errno = 0;
	ok(vm_image_setenv("a=b", "x", 1) == -1 && errno == EINVAL,
	   "so is one with =");
	ok(vm_image_unsetenv("a=b") == -1, "also for unsetenv");
}

static void test_many(void)
{
	char name[16];
	int right = 0;

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "N%d", i);
		vm_image_setenv(name, name, 1);
	}
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "N%d", i);
		right += vm_image_getenv(name) &&
			 !strcmp(vm_image_getenv(name), name);
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

int main(int argc, char **argv, char **strings)
{
	char *own[] = { (char *)(size_t) "A=1", (char *)(size_t) "B=2", NULL };

	plan(20);
	vm_image_environ_start(strings);
	ok(environ && environ[0], "it begins as a copy of the process's");
	environ = own;
	is_string(vm_image_getenv("B"), "2",
		  "a program may bring its own array");
	is_int(vm_image_setenv("C", "3", 1), 0, "and add to it");
	is_string(vm_image_getenv("C"), "3", "which makes a larger one");
	ok(own[2] == NULL, "and leaves the program's alone");
	vm_image_setenv("C", "4", 0);
	is_string(vm_image_getenv("C"), "3", "without overwrite a value stays");
	vm_image_setenv("C", "5", 1);
	is_string(vm_image_getenv("C"), "5", "with it, it changes");
	vm_image_unsetenv("A");
	ok(!vm_image_getenv("A") && vm_image_getenv("B"),
	   "unsetenv removes one");
	test_puts();
	test_errors();
	test_many();
	vm_image_clearenv();
	ok(!vm_image_getenv("B") && !environ, "clearenv removes all");
	test_strings();
	vm_image_clearenv();
	return done_testing();
}
