/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock is one of fcntl()'s, which a child does not inherit.
 */
#include "introspect/share_alive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/share_format.h"

bool vm_share_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_SETLK, &lock) == 0;
}

static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

uint64_t vm_share_pid_start(pid_t pid)
{
	char path[32], text[1024], *field;
	uint64_t start = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	/* A program's name may hold blanks and brackets; then field 3. */
	field = strrchr(text, ')');
	if (!field || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X')
		return 0;
	for (int i = 2; i < 22 && field; i++)
		field = strchr(field + 1, ' ');
	if (field)
		start = strtoull(field, NULL, 10);
	return start;
}

bool vm_share_alive_fd(int fd)
{
	struct vm_share_head head;
	uint64_t start;

	if (is_locked(fd))
		return true;
	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head.magic, VM_SHARE_MAGIC, sizeof(head.magic)) != 0)
		return false;
	start = head.pid ? vm_share_pid_start((pid_t)head.pid) : 0;
	return start && start == head.pid_start;
}

bool vm_share_alive(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool alive = fd >= 0 && vm_share_alive_fd(fd);

	if (fd >= 0)
		close(fd);
	return alive;
}
