/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those that one waits in; of others the number is said.
 */
#include "report/live/system_call.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

void vm_system_call_name(char name[VM_SYSTEM_CALL_MAX], long number)
{
	static const struct {
		long number;
		const char *name;
	} names[] = {
		{ SYS_read, "read" },
		{ SYS_write, "write" },
		{ SYS_readv, "readv" },
		{ SYS_writev, "writev" },
		{ SYS_pread64, "pread" },
		{ SYS_pwrite64, "pwrite" },
		{ SYS_openat, "open" },
		{ SYS_fsync, "fsync" },
		{ SYS_flock, "flock" },
		{ SYS_fcntl, "fcntl" },
		{ SYS_ioctl, "ioctl" },
		{ SYS_futex, "futex" },
		{ SYS_nanosleep, "nanosleep" },
		{ SYS_clock_nanosleep, "nanosleep" },
		{ SYS_ppoll, "poll" },
		{ SYS_pselect6, "select" },
		{ SYS_epoll_pwait, "epoll_wait" },
		{ SYS_accept, "accept" },
		{ SYS_accept4, "accept" },
		{ SYS_connect, "connect" },
		{ SYS_recvfrom, "recv" },
		{ SYS_recvmsg, "recvmsg" },
		{ SYS_sendto, "send" },
		{ SYS_sendmsg, "sendmsg" },
		{ SYS_wait4, "wait" },
		{ SYS_waitid, "wait" },
		{ SYS_rt_sigtimedwait, "sigwait" },
		{ SYS_rt_sigsuspend, "sigsuspend" },
		{ SYS_msync, "msync" },
#if defined(__x86_64__)
		{ SYS_poll, "poll" },
		{ SYS_select, "select" },
		{ SYS_epoll_wait, "epoll_wait" },
		{ SYS_pause, "pause" },
		{ SYS_open, "open" },
#endif
	};

	name[0] = '\0';
	if (number < 0)
		return;
	snprintf(name, VM_SYSTEM_CALL_MAX, "call %ld", number);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].number == number)
			snprintf(name, VM_SYSTEM_CALL_MAX, "%s", names[i].name);
}
