/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of libfabric's functions, and what its loading does to a process.
 */
#include "fabric/ofi/fi.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static void nothing(int signal)
{
	(void)signal;
}

/* Loads and queries libfabric with a handler of its own. */
static _Noreturn void load(int told)
{
	struct fi_info *info = NULL;

	signal(SIGTERM, nothing);
	if (write(told, "", 1) != 1 || vm_fi_load())
		_exit(2);
	if (vm_fi_real.getinfo(NULL, 0, NULL, &info) == 0)
		vm_fi_real.freeinfo(info);
	_exit(0);
}

/* Libraries behind libfabric have handlers that end the process. */
static void signals(void)
{
	int tell[2], status = -1;
	char byte;
	pid_t pid;

	if (pipe(tell))
		bail("no pipe");
	pid = fork();
	if (pid == 0)
		load(tell[1]);
	ok(read(tell[0], &byte, 1) == 1, "libfabric is being loaded");
	while (waitpid(pid, &status, WNOHANG) == 0) {
		kill(pid, SIGTERM);
		usleep(500);
	}
	is_int(status, 0, "signals that come meanwhile reach our handler");
}

int main(void)
{
	signals();
	is_int(vm_fi_load(), 0, "libfabric is loaded");
	is_int(vm_fi_load(), 0, "once");
	return done_testing();
}
