/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capturing standard error of the code under test, for tests of messages.
 */
#ifndef T_INTROSPECT_CAPTURED_H
#define T_INTROSPECT_CAPTURED_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

static int captured_fd = -1, captured_stderr = -1;

/* From here to captured_end() standard error goes into a memory file. */
static inline void captured_begin(void)
{
	captured_fd = memfd_create("captured", MFD_CLOEXEC);
	captured_stderr = dup(STDERR_FILENO);
	if (captured_fd < 0 || captured_stderr < 0 ||
	    dup2(captured_fd, STDERR_FILENO) < 0)
		bail("standard error cannot be redirected");
}

/* The captured text, until the next call. */
static inline const char *captured_end(void)
{
	static char text[65536];
	ssize_t length = pread(captured_fd, text, sizeof(text) - 1, 0);

	text[length < 0 ? 0 : length] = '\0';
	dup2(captured_stderr, STDERR_FILENO);
	close(captured_stderr);
	close(captured_fd);
	return text;
}
#endif
