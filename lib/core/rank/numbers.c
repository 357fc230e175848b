/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who has the file open shares a lock on it.  Who gets the lock alone is the last
 * one and removes the name; who has opened a file without a name tries again.
 */
#include "core/rank/numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mapfile.h"
#include "introspect/export/export.h"

#define BYTES 4096
#define TRIES 100

static struct {
	int fd; /* -1: closed */
	_Atomic uint32_t *next;
	char path[64];
} numbers = { .fd = -1 };

/* Whether the open file still has its name, and is ours. */
static bool is_there(int fd)
{
	struct stat mine, there;

	return !fstat(fd, &mine) && !stat(numbers.path, &there) &&
	       mine.st_ino == there.st_ino && mine.st_uid == getuid();
}

/* Opens the file and shares its lock; -1, and errno. */
static int file_open(void)
{
	for (int i = 0; i < TRIES; i++) {
		int fd = open(numbers.path,
			      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return -1;
		if (!flock(fd, LOCK_SH) && is_there(fd))
			return fd;
		close(fd);
		errno = EACCES;
	}
	return -1;
}

int vm_numbers_open(void)
{
	void *base = MAP_FAILED;
	int fd;

	if (numbers.fd >= 0)
		return 0;
	snprintf(numbers.path, sizeof(numbers.path), "%s/vmpi-numbers.%u",
		 VM_EXPORT_DIR, (unsigned)getuid());
	fd = file_open();
	if (fd >= 0 && !(errno = vm_mapfile_allocate(fd, 0, BYTES)))
		base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
	if (base == MAP_FAILED) {
		vm_log(VM_ERROR, "%s, which jobs that connect need: %s",
		       numbers.path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -VMPI_EIO;
	}
	numbers.next = base;
	numbers.fd = fd;
	return 0;
}

void vm_numbers_close(void)
{
	if (numbers.fd < 0)
		return;
	if (!flock(numbers.fd, LOCK_EX | LOCK_NB) && is_there(numbers.fd))
		unlink(numbers.path);
	munmap((void *)numbers.next, BYTES);
	close(numbers.fd);
	numbers.fd = -1;
}

uint32_t vm_numbers_take(uint32_t count)
{
	return atomic_fetch_add_explicit(numbers.next, count,
					 memory_order_relaxed);
}
