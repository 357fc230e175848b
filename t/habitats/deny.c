/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes a command to which the kernel refuses system calls, as the filters of
 * container engines do:
 *
 *	deny ERROR=NAME[,NAME]... ... -- COMMAND...
 *
 * ERROR is EPERM, EACCES or ENOSYS.  Names of other machines' calls count for
 * nothing.  Ends with 77 if there can be no filters here, with 2 if no name is
 * one of this machine's.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX 1000

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
#include "syscalls.h"
};

static const struct {
	const char *name;
	unsigned number;
} errors[] = {
	{ "EPERM", EPERM },
	{ "EACCES", EACCES },
	{ "ENOSYS", ENOSYS },
};

static struct sock_filter filter[2 * CALLS_MAX + 2] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static unsigned short length = 1;

static void deny(const char *name, unsigned error)
{
	const struct sock_filter refuse[] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (strcmp(calls[i].name, name) || length > 2 * CALLS_MAX - 1)
			continue;
		memcpy(&filter[length], refuse, sizeof(refuse));
		filter[length].k = calls[i].number;
		length += 2;
	}
}

/* 0, or -1: it is not ERROR=NAME[,NAME]... */
static int deny_all(char *argument)
{
	char *names = strchr(argument, '=');

	for (size_t i = 0; names && i < sizeof(errors) / sizeof(errors[0]);
	     i++) {
		size_t n = (size_t)(names - argument);

		if (strlen(errors[i].name) != n ||
		    memcmp(errors[i].name, argument, n))
			continue;
		for (char *name = strtok(names + 1, ","); name;
		     name = strtok(NULL, ","))
			deny(name, errors[i].number);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = filter };
	int at = 1;

	for (; at < argc && strcmp(argv[at], "--"); at++)
		if (deny_all(argv[at])) {
			fprintf(stderr, "deny: what is %s?\n", argv[at]);
			return 2;
		}
	if (at + 1 >= argc || length == 1) {
		fprintf(stderr, "deny: no command, or no call\n");
		return 2;
	}
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							SECCOMP_RET_ALLOW);
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny: no filter");
		return 77;
	}
	execvp(argv[at + 1], argv + at + 1);
	perror("deny");
	return 127;
}
