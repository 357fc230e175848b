/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel says of a script only that something is not there.
 */
#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "report/cli.h"

#define LINE_MOST 256 /* what the kernel reads */
#define DEEP 5	      /* so many scripts of scripts it follows */

/* The first line; false: it does not begin as a script's. */
static bool line_read(const char *path, char line[LINE_MOST + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	if (fd >= 0) {
		got = read(fd, line, LINE_MOST);
		close(fd);
	}
	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return line[0] == '#' && line[1] == '!';
}

bool script_is(const char *path)
{
	char line[LINE_MOST + 1];

	return line_read(path, line) || access(path, R_OK);
}

static int refuse(const char *name, const char *interpreter, const char *why)
{
	vm_cli_say("%s: this is a script, whose interpreter %s %s", name,
		   interpreter, why);
	return -VMPI_EINVAL;
}

/* An interpreter without a slash at the begin depends on the working folder. */
static int interpreter_check(const char *name, const char *interpreter)
{
	struct stat status;

	if (interpreter[0] != '/')
		return 0;
	if (stat(interpreter, &status))
		return refuse(name, interpreter,
			      errno == ENOENT ? "does not exist" :
						strerror(errno));
	if (!S_ISREG(status.st_mode))
		return refuse(name, interpreter, "is not a file");
	if (access(interpreter, X_OK))
		return refuse(name, interpreter, "may not be executed");
	return 0;
}

int script_check(const char *path, const char *name)
{
	char line[LINE_MOST + 1], interpreter[LINE_MOST + 1];
	int rc = 0;

	snprintf(interpreter, sizeof(interpreter), "%s", path);
	for (int i = 0; !rc && line_read(i ? interpreter : path, line); i++) {
		const char *begin = line + 2 + strspn(line + 2, " \t");
		size_t length = strcspn(begin, " \t");

		if (i == DEEP)
			return refuse(name, interpreter,
				      "is a script that needs itself");
		snprintf(interpreter, sizeof(interpreter), "%.*s", (int)length,
			 begin);
		if (length && interpreter[length - 1] == '\r') {
			interpreter[length - 1] = '\0';
			return refuse(name, interpreter,
				      "would have a name that ends in a "
				      "carriage return, as lines do on Windows "
				      "(dos2unix?)");
		}
		/* The shell takes it if there is none. */
		rc = length ? interpreter_check(name, interpreter) : 0;
		if (!length)
			break;
	}
	return rc;
}
