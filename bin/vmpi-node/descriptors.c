/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bit for each descriptor that is kept.  No lock: close() may be called by a
 * signal's handler.
 */
#include "descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/standard.h"
#include "real.h"
#include "report/cli.h"

#define NETWORK "libfabric."
#define CALLER __builtin_return_address(0)

/* As many as a process can have unless fs.nr_open is raised; what lies above
 * can be closed. */
#define DESCRIPTORS_MAX (1 << 20)
#define BITS 64

static _Atomic uint64_t kept[DESCRIPTORS_MAX / BITS];

/* What occupies low numbers while the process starts. */
static int reserved[VM_STANDARD_BEYOND], reserved_count;

static uint64_t bit(unsigned fd)
{
	return UINT64_C(1) << fd % BITS;
}

static bool is_kept(unsigned fd)
{
	return fd < DESCRIPTORS_MAX &&
	       atomic_load_explicit(&kept[fd / BITS], memory_order_relaxed) &
		       bit(fd);
}

static void keep(unsigned fd)
{
	if (fd < DESCRIPTORS_MAX)
		atomic_fetch_or(&kept[fd / BITS], bit(fd));
}

static void release(unsigned fd)
{
	atomic_fetch_and(&kept[fd / BITS], ~bit(fd));
}

#define NONE UINT32_MAX

/* The first from fd on that is kept; or NONE. */
static unsigned next_kept(unsigned fd)
{
	while (fd < DESCRIPTORS_MAX) {
		uint64_t rest = kept[fd / BITS] >> fd % BITS;

		if (rest)
			return fd + (unsigned)__builtin_ctzll(rest);
		fd += BITS - fd % BITS;
	}
	return NONE;
}

bool descriptors_network_calls(const void *caller)
{
	const char *slash;
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return false;
	slash = strrchr(info.dli_fname, '/');
	return !strncmp(slash ? slash + 1 : info.dli_fname, NETWORK,
			strlen(NETWORK));
}

void descriptors_reserve(void)
{
	struct rlimit limit;

	/* What is scarce is not to be wasted. */
	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur < 4 * VM_STANDARD_BEYOND)
		return;
	while (reserved_count < VM_STANDARD_BEYOND) {
		int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return;
		reserved[reserved_count++] = fd;
		if (fd >= VM_STANDARD_BEYOND)
			return;
	}
}

void descriptors_keep_open(void)
{
	struct dirent *entry;
	DIR *directory;

	while (reserved_count)
		REAL(close)(reserved[--reserved_count]);
	/* Without /proc all can be closed. */
	directory = opendir("/proc/self/fd");
	while (directory && (entry = readdir(directory))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fd != dirfd(directory) &&
		    fcntl(fd, F_GETFD) & FD_CLOEXEC)
			keep((unsigned)fd);
	}
	if (directory)
		closedir(directory);
}

int descriptors_keep(int fd)
{
	int beyond = vm_standard_beyond(fd, false);

	if (beyond >= 0) {
		REAL(close)(fd);
		fd = beyond;
	}
	keep((unsigned)fd);
	return fd;
}

/* The library and this program close what is theirs. */
extern const char __executable_start[], etext[];

/* Whether a rank calls, and not for vmpi.  A child can do what it likes: also
 * one made by vfork(), whose memory is ours. */
static bool is_foreign(const void *caller)
{
	const char *from = caller;

	return node_copy() && node_is_job() &&
	       (from < __executable_start || from >= etext) &&
	       !descriptors_network_calls(caller);
}

NODE_EXPORT int close(int fd)
{
	if (!is_kept((unsigned)fd))
		return REAL(close)(fd);
	if (is_foreign(CALLER)) {
		errno = EBADF;
		return -1;
	}
	if (node_is_job())
		release((unsigned)fd);
	return REAL(close)(fd);
}

/* Not libc's, which older ones do not have. */
static int range_close(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* All of the range but those that are kept. */
static int others_close(unsigned first, unsigned last, int flags)
{
	unsigned one = next_kept(first);
	int rc = 0;

	for (; !rc && one != NONE && one <= last; one = next_kept(first)) {
		if (one > first)
			rc = range_close(first, one - 1, flags);
		first = one + 1;
	}
	return rc || first > last ? rc : range_close(first, last, flags);
}

NODE_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	/* Let the system refuse it. */
	if (first > last || !is_foreign(CALLER))
		return range_close(first, last, flags);
	return others_close(first, last, flags);
}

NODE_EXPORT void closefrom(int low)
{
	unsigned first = low < 0 ? 0 : (unsigned)low;

	if (is_foreign(CALLER))
		others_close(first, UINT32_MAX, 0);
	else
		range_close(first, UINT32_MAX, 0);
}

/* Whether the number is free for a rank; says once that one is not. */
static bool is_taken(int fd, const void *caller)
{
	static _Atomic bool said;

	if (!is_kept((unsigned)fd) || !is_foreign(caller))
		return false;
	if (!atomic_exchange(&said, true))
		vm_cli_say("rank %d: descriptor %d cannot be replaced: vmpi "
			   "uses it; those below %d are free",
			   node_copy()->number, fd, VM_STANDARD_BEYOND);
	errno = EBUSY;
	return true;
}

NODE_EXPORT int dup2(int from, int to)
{
	return from != to && is_taken(to, CALLER) ? -1 : REAL(dup2)(from, to);
}

NODE_EXPORT int dup3(int from, int to, int flags)
{
	return from != to && is_taken(to, CALLER) ? -1 :
						    REAL(dup3)(from, to, flags);
}
