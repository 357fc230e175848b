/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A notice is written to a file without a name, locked, and then gets its name:
 * no reader finds half of it, or finds it without its lock.
 *
 * The name of the file is made of a hash; the file has the name of the notice
 * on its first line, and then the text.
 */
#include "mpi/dynamic/notice.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "introspect/export/alive.h"
#include "introspect/export/export.h"
#include "vmpi.h"

#define PREFIX "vmpi-"
#define PATH_BYTES 128
#define TRIES 8 /* to remove what a dead process has left */

struct vm_notice {
	int fd; /* holds the lock */
	char path[PATH_BYTES];
};

static void path_make(char path[PATH_BYTES], const char *kind, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (const unsigned char *at = (const unsigned char *)name; *at; at++)
		hash = (hash ^ *at) * 0x100000001b3u;
	snprintf(path, PATH_BYTES, "%s/" PREFIX "%s.%u.%016llx", VM_EXPORT_DIR,
		 kind, (unsigned)getuid(), (unsigned long long)hash);
}

static bool write_all(int fd, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* Removes the file at path if its process has died.  Who removes it has its
 * lock, and so no file that has come in its place is removed. */
static void dead_remove(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	struct stat mine, there;

	if (fd < 0)
		return;
	if (vm_export_lock(fd) && !fstat(fd, &mine) && !stat(path, &there) &&
	    mine.st_ino == there.st_ino && mine.st_uid == getuid())
		unlink(path);
	close(fd);
}

void vm_notices_clean(void)
{
	DIR *dir = opendir(VM_EXPORT_DIR);
	const struct dirent *entry;
	char path[PATH_BYTES], owner[16];

	snprintf(owner, sizeof(owner), ".%u.", (unsigned)getuid());
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
		    !strstr(entry->d_name, owner) ||
		    snprintf(path, sizeof(path), "%s/%s", VM_EXPORT_DIR,
			     entry->d_name) >= PATH_BYTES)
			continue;
		dead_remove(path);
	}
	if (dir)
		closedir(dir);
}

/* Gives the file its name; false: see errno. */
static bool name_give(int fd, const char *path)
{
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	for (int i = 0; i < TRIES; i++) {
		if (!linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW))
			return true;
		if (errno != EEXIST)
			return false;
		dead_remove(path);
	}
	errno = EEXIST;
	return false;
}

int vm_notice_put(struct vm_notice **out, const char *kind, const char *name,
		  const char *text)
{
	struct vm_notice *notice = malloc(sizeof(*notice));
	int error;

	if (!notice)
		return -VMPI_ENOMEM;
	path_make(notice->path, kind, name);
	notice->fd = open(VM_EXPORT_DIR, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (notice->fd >= 0 && vm_export_lock(notice->fd) &&
	    write_all(notice->fd, name, strlen(name)) &&
	    write_all(notice->fd, "\n", 1) &&
	    write_all(notice->fd, text, strlen(text)) &&
	    name_give(notice->fd, notice->path)) {
		*out = notice;
		return 0;
	}
	error = errno;
	if (notice->fd >= 0)
		close(notice->fd);
	free(notice);
	errno = error;
	return error == EEXIST ? -VMPI_ESTATE : -VMPI_EIO;
}

void vm_notice_remove(struct vm_notice *notice)
{
	/* While the lock is held nobody else removes it. */
	unlink(notice->path);
	close(notice->fd);
	free(notice);
}

/* All of a file, which is a string; NULL: it cannot be read. */
static char *file_read(int fd)
{
	struct stat about;
	char *content;
	ssize_t n = -1;

	if (fstat(fd, &about) || about.st_uid != getuid() ||
	    about.st_size > INT_MAX)
		return NULL;
	content = malloc((size_t)about.st_size + 1);
	if (content)
		n = pread(fd, content, (size_t)about.st_size, 0);
	if (n < 0) {
		free(content);
		return NULL;
	}
	content[n] = '\0';
	return content;
}

/* Copies the text of the notice out of its file's content. */
static int text_take(const char *content, const char *name, char *text,
		     size_t bytes)
{
	size_t length = strlen(name);

	if (strncmp(content, name, length) != 0 || content[length] != '\n')
		return -VMPI_ENOENT;
	content += length + 1;
	if (!text)
		return 0;
	if (strlen(content) >= bytes)
		return -VMPI_ELIMIT;
	memcpy(text, content, strlen(content) + 1);
	return 0;
}

int vm_notice_read(const char *kind, const char *name, char *text, size_t bytes)
{
	char path[PATH_BYTES], *content;
	int fd, rc = -VMPI_ENOENT;

	path_make(path, kind, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -VMPI_ENOENT;
	content = vm_export_alive_fd(fd) ? file_read(fd) : NULL;
	if (content)
		rc = text_take(content, name, text, bytes);
	free(content);
	close(fd);
	return rc;
}
