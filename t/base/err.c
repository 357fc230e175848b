/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error table: every code has one text, texts differ; a panic says what and
 * aborts.
 */
#include "base/err.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tap.h"

static const struct {
	int number;
	const char *name, *text;
} rows[] = {
#define ROW(name, number, text) { number, #name, text },
	VMPI_ERRORS(ROW)
#undef ROW
};

#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

static void test_table(void)
{
	int twice = 0;

	for (int i = 0; i < ROWS; i++) {
		is_int(rows[i].number, i + 1, "%s has the next number",
		       rows[i].name);
		is_string(vmpi_strerror(-rows[i].number), rows[i].text,
			  "its text is that of the row");
		is_string(vmpi_strerror(rows[i].number), rows[i].text,
			  "with either sign");
		for (int j = 0; j < i; j++)
			twice += !strcmp(rows[i].text, rows[j].text);
	}
	is_int(twice, 0, "no two codes have the same text");
	is_string(vmpi_strerror(0), "success", "0 is success");
	is_string(vmpi_strerror(-9999), "unknown error",
		  "an unknown code says so");
	is_string(vmpi_strerror(9999), "unknown error", "with either sign");
	is_string(vmpi_version(), VM_VERSION,
		  "the header's version is the project's");
}

/* Runs `body` in a child: its output to standard error, and its wait status. */
static int child_output(void (*body)(void), char *text, size_t bytes)
{
	int ends[2], status = -1;
	size_t length = 0;
	ssize_t got;
	pid_t pid;

	if (pipe(ends))
		bail("no pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		static const struct rlimit none;

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + length, bytes - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	return status;
}

static void panic(void)
{
	vm_panic("the %s is %d", "answer", 42);
}

static void panic_long(void)
{
	static char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	vm_panic("%s", text);
}

static void speak(void)
{
	vm_log(VM_INFO, "not to be seen");
	vm_log(VM_WARN, "%d things", 3);
	vm_log_set_level(VM_DEBUG);
	vm_log(VM_DEBUG, "seen");
}

static void speak_long(void)
{
	static char text[3000];

	memset(text, 'y', sizeof(text) - 1);
	vm_log(VM_ERROR, "%s", text);
}

static void test_output(void)
{
	char text[4096];
	int status = child_output(panic, text, sizeof(text));

	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
	   "a panic aborts the process");
	is_string(text, "vmpi: panic: the answer is 42\n", "and says why");
	child_output(panic_long, text, sizeof(text));
	ok(strlen(text) > 500 && strlen(text) < 600 &&
		   text[strlen(text) - 1] == '\n',
	   "a long text is cut");
	child_output(speak, text, sizeof(text));
	is_string(text, "vmpi: 3 things\nvmpi: seen\n",
		  "the log has levels, a line each");
	child_output(speak_long, text, sizeof(text));
	ok(strlen(text) == 1023 && strchr(text, '\n') == text + 1022,
	   "a long line of the log is cut and ends all the same");
}

int main(void)
{
	plan(10 + 3 * ROWS);
	test_table();
	test_output();
	return done_testing();
}
