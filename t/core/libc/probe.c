/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts in place of the node program, which end in all ways.
 */
#include "core/libc/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char path[] = "/tmp/vmpi-probe-XXXXXX";

/* Asks a script with these commands; what it is about, or "". */
static const char *ask(const char *commands)
{
	static char why[200];
	char begin[64];
	FILE *file = fopen(path, "w");

	if (!file)
		return "the script cannot be written";
	fprintf(file, "#!/bin/sh\n%s\n", commands);
	fclose(file);
	chmod(path, 0700);
	strcpy(why, "");
	if (vm_probe_ask(path, why, sizeof(why)))
		return why[0] ? "text is changed" : "";
	snprintf(begin, sizeof(begin), "glibc %s: ", vm_probe_version());
	if (strncmp(why, begin, strlen(begin)) != 0)
		return why;
	return why + strlen(begin);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail("no file in /tmp");
	close(fd);
	is_string(ask("[ \"$1\" = " VM_PROBE_ARGUMENT
		      " ] || { echo own; exit 1; }\n"
		      "echo list; echo twice; exit 0"),
		  "", "all holds");
	is_string(
		ask("echo list; echo twice; exit 1"),
		"a file that is not in its list of loaded objects is not loaded "
		"anew",
		"one does not: the last");
	is_string(ask("echo list; echo own; kill -SEGV $$"),
		  "copies of a file share their variables (trying it crashed)",
		  "a crash");
	is_string(
		ask("echo mutex; kill -ALRM $$"),
		"a mutex does not say which thread has locked it (trying it did "
		"not end)",
		"one that does not end");
	is_string(ask("exit 77"), "", "nothing could be tried");
	is_string(ask("kill -SEGV $$"), "", "a crash before the first");
	is_string(ask("echo list; echo another; exit 1"), "",
		  "one that is not known");
	is_string(ask("exit 2"), "", "another program");
	unlink(path);
	ok(vm_probe_ask(path, (char[8]){ "" }, 8), "there is none");
	return done_testing();
}
