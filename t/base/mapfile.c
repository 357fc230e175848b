/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are mapped: made, read, refused, and without room for them.
 */
#include "base/mapfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "tap.h"

#define BYTES 10000

static char dir[] = "/tmp/vmpi-mapfile-XXXXXX";
static char path[sizeof(dir) + 16];

static bool all_zero(const struct vm_mapfile *map)
{
	const char *bytes = map->base;

	for (size_t i = 0; i < map->bytes; i++)
		if (bytes[i])
			return false;
	return true;
}

static void test_life(void)
{
	struct vm_mapfile map, copy;
	struct stat stat_;

	is_int(vm_mapfile_create(&map, path, BYTES, false), 0,
	       "a file is made");
	is_int((intmax_t)map.bytes, BYTES, "... of that size");
	ok(all_zero(&map), "... of zeros");
	ok(!stat(path, &stat_) && (stat_.st_mode & 0777) == 0600,
	   "... for its owner alone");
	ok(stat_.st_size == BYTES && stat_.st_blocks * 512 >= BYTES,
	   "... and its space is allocated");
	strcpy(map.base, "kept");
	is_int(vm_mapfile_open(&copy, path, BYTES), 0, "it is read");
	is_string(copy.base, "kept", "... with what was written");
	strcpy(copy.base, "mine");
	is_string(map.base, "kept", "a copy that is changed stays a copy");
	vm_mapfile_close(&copy);
	vm_mapfile_close(&copy);
	ok(!copy.base, "it is closed, also twice");
	vm_mapfile_close(&map);
	is_int(vm_mapfile_create(&map, path, 100, false), 0,
	       "a file that is there is made anew");
	ok(map.bytes == 100 && all_zero(&map), "... and is empty");
	vm_mapfile_close(&map);
	unlink(path);
	umask(022);
	is_int(vm_mapfile_create(&map, path, 1, true), 0, "one for others too");
	ok(!stat(path, &stat_) && (stat_.st_mode & 0777) == 0644,
	   "... which they can read");
	vm_mapfile_close(&map);
	unlink(path);
}

static void test_memory(void)
{
	struct vm_mapfile map;

	is_int(vm_mapfile_create(&map, NULL, BYTES, false), 0,
	       "without a path it is memory");
	ok(all_zero(&map), "... of zeros");
	vm_mapfile_close(&map);
	is_int(vm_mapfile_create(&map, NULL, SIZE_MAX / 2, false), -VMPI_EIO,
	       "... which there may be too little of");
}

static void test_refused(void)
{
	struct vm_mapfile map = { NULL, 7 };
	char missing[sizeof(path) + 16];
	FILE *file = fopen(path, "w");

	snprintf(missing, sizeof(missing), "%s/missing/file", dir);
	fputs("short", file);
	fclose(file);
	is_int(vm_mapfile_open(&map, path, 6), -VMPI_EINVAL,
	       "a file that is too short is refused");
	is_int(vm_mapfile_open(&map, path, 5), 0, "... one long enough is not");
	vm_mapfile_close(&map);
	is_int(truncate(path, 0), 0, "an empty file");
	is_int(vm_mapfile_open(&map, path, 0), -VMPI_EINVAL, "... is refused");
	is_int(vm_mapfile_open(&map, missing, 0), -VMPI_ENOENT,
	       "there is no such file");
	is_int(vm_mapfile_open(&map, dir, 0), -VMPI_EINVAL,
	       "a directory is no file");
	is_int(vm_mapfile_create(&map, missing, BYTES, false), -VMPI_EIO,
	       "nor can one be made without a directory");
	unlink(path);
	is_int(mkfifo(path, 0600), 0, "a pipe");
	is_int(vm_mapfile_open(&map, path, 0), -VMPI_EINVAL,
	       "... is no file, and is not waited for");
	unlink(path);
	if (!geteuid())
		return;
	close(open(path, O_CREAT | O_WRONLY, 0));
	is_int(vm_mapfile_open(&map, path, 0), -VMPI_EIO,
	       "a file may be another's");
	unlink(path);
}

/* In a process of its own: its status is 0 if a small file is made, a large one
 * is an error, and nothing of it is left. */
static int full_try(void)
{
	struct vm_mapfile map;

	if (vm_mapfile_create(&map, path, 4096, false))
		return 1;
	if (vm_mapfile_create(&map, path, (size_t)4 << 20, false) != -VMPI_EIO)
		return 2;
	return access(path, F_OK) ? 0 : 3;
}

static void test_limit(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	int status;

	fflush(stdout);
	if (fork() == 0) {
		setrlimit(RLIMIT_FSIZE, &limit);
		_exit(full_try());
	}
	wait(&status);
	is_int(status, 0,
	       "too large for the limit of files is an error, "
	       "no signal, and leaves no file");
}

#define NO_MOUNT 4

static bool file_write(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);
	ssize_t bytes = fd < 0 ? -1 : write(fd, text, strlen(text));

	close(fd);
	return bytes == (ssize_t)strlen(text);
}

/* A file system of 1 MiB, which only this process sees. */
static bool small_mount(void)
{
	char user[40], group[40];

	snprintf(user, sizeof(user), "0 %d 1", (int)geteuid());
	snprintf(group, sizeof(group), "0 %d 1", (int)getegid());
	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       file_write("/proc/self/setgroups", "deny") &&
	       file_write("/proc/self/uid_map", user) &&
	       file_write("/proc/self/gid_map", group) &&
	       !mount("none", dir, "tmpfs", 0, "size=1m");
}

static void test_full(void)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		_exit(small_mount() ? full_try() : NO_MOUNT);
	}
	wait(&status);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MOUNT)
		skip(1, "a small file system cannot be mounted here");
	else
		is_int(status, 0,
		       "a full file system is an error and leaves no file");
}

int main(void)
{
	if (!mkdtemp(dir))
		bail("mkdtemp: %s", strerror(errno));
	snprintf(path, sizeof(path), "%s/file", dir);
	test_life();
	test_memory();
	test_refused();
	test_limit();
	test_full();
	rmdir(dir);
	return done_testing();
}
