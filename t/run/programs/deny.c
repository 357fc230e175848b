/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executes a command that may not look into other processes, or let others look
 * into it:
 *
 *	deny moves|files|barriers COMMAND...
 *
 * moves: process_vm_readv() and its twin are refused, as in some containers;
 * files: no file in memory can be made; barriers: membarrier() is refused.
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

#define DENY(number)                                                   \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)(number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

int main(int argc, char **argv)
{
	struct sock_filter moves[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		DENY(SYS_process_vm_readv),
		DENY(SYS_process_vm_writev),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter files[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		DENY(SYS_memfd_create),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter barriers[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		DENY(SYS_membarrier),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(moves) / sizeof(*moves), moves };

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "files"))
		program = (struct sock_fprog){ sizeof(files) / sizeof(*files),
					       files };
	if (!strcmp(argv[1], "barriers"))
		program = (struct sock_fprog){
			sizeof(barriers) / sizeof(*barriers), barriers
		};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("deny: no filter");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror("deny");
	return 127;
}
