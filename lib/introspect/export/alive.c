/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lock belongs to the open file: it stays when the same process opens and
 * closes the file again, and a child of fork() closes it
 * (introspect/export/export.c).
 */
#include "introspect/export/alive.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "introspect/export/format.h"

bool vm_export_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool is_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

#define STAT_BYTES 1024

/* Reads the line of a process in /proc, from its state (field 3) on; NULL:
 * none. */
static const char *stat_read(char text[STAT_BYTES], pid_t pid)
{
	char path[32];
	const char *field;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, text, STAT_BYTES - 1);
	close(fd);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	/* A program's name may hold blanks and brackets. */
	field = strrchr(text, ')');
	return field && field[1] == ' ' ? field + 2 : NULL;
}

uint64_t vm_export_pid_start(pid_t pid)
{
	char text[STAT_BYTES];
	const char *field = stat_read(text, pid);

	if (!field || *field == 'Z' || *field == 'X')
		return 0;
	for (int i = 3; i < 22 && field; i++) {
		field = strchr(field, ' ');
		field += field != NULL;
	}
	return field ? strtoull(field, NULL, 10) : 0;
}

bool vm_export_pid_stopped(pid_t pid)
{
	char text[STAT_BYTES];
	const char *field = stat_read(text, pid);

	return field && (*field == 'T' || *field == 't');
}

uint64_t vm_export_pid_space(void)
{
	struct stat about;

	return stat("/proc/self/ns/pid", &about) ? 0 : (uint64_t)about.st_ino;
}

/* False: it has none, or not yet. */
static bool head_read(struct vm_export_head *head, int fd)
{
	return pread(fd, head, sizeof(*head), 0) == (ssize_t)sizeof(*head) &&
	       !memcmp(head->magic, VM_EXPORT_MAGIC, sizeof(head->magic));
}

static bool pid_lives(const struct vm_export_head *head)
{
	uint64_t start = head->pid ? vm_export_pid_start((pid_t)head->pid) : 0;

	return start && start == head->pid_start;
}

bool vm_export_alive_fd(int fd)
{
	struct vm_export_head head;

	return is_locked(fd) || (head_read(&head, fd) && pid_lives(&head));
}

bool vm_export_gone_fd(int fd)
{
	struct vm_export_head head;

	return !is_locked(fd) && head_read(&head, fd) &&
	       head.version == VM_EXPORT_VERSION && !head.kept &&
	       head.pid_space && head.pid_space == vm_export_pid_space() &&
	       !pid_lives(&head);
}

bool vm_export_unfinished_fd(int fd)
{
	struct vm_export_head head;

	return !is_locked(fd) &&
	       (!head_read(&head, fd) || (!head.ready && !pid_lives(&head)));
}

bool vm_export_alive(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool alive = fd >= 0 && vm_export_alive_fd(fd);

	if (fd >= 0)
		close(fd);
	return alive;
}
