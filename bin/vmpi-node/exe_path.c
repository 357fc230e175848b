/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the program is: a rank that asks the kernel for the executable of its
 * process means the program, not the node program.  Programs find their files
 * so, tools the name for theirs, and some read what is appended to it.
 */
/* Else the headers would rename what is defined here. */
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exe_path.h"
#include "node.h"
#include "real.h"

/* Whether it is a link to the executable of this process. */
static bool is_link(const char *path)
{
	static const char *const names[] = { "self", "thread-self" };
	char own[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(own, sizeof(own), "/proc/%s/exe", names[i]);
		if (!strcmp(path, own))
			return true;
	}
	snprintf(own, sizeof(own), "/proc/%d/exe", (int)getpid());
	return !strcmp(path, own);
}

const char *exe_path_meant(const char *path)
{
	if (!path || strncmp(path, "/proc/", 6) != 0 || !node_copy() ||
	    !is_link(path))
		return path;
	return vm_image_path(node_copy()->image);
}

/* The content of such a link; -1: the path is of none. */
static ssize_t link_read(const char *path, char *target, size_t bytes)
{
	const char *program = exe_path_meant(path);
	size_t length;

	if (program == path || !bytes)
		return -1;
	length = strlen(program);
	if (length > bytes)
		length = bytes;
	memcpy(target, program, length);
	return (ssize_t)length;
}
NODE_EXPORT ssize_t readlink(const char *path, char *target, size_t bytes)
{
	ssize_t n = link_read(path, target, bytes);

	return n >= 0 ? n : REAL(readlink)(path, target, bytes);
}

NODE_EXPORT ssize_t readlinkat(int folder, const char *path, char *target,
			       size_t bytes)
{
	ssize_t n = link_read(path, target, bytes);

	return n >= 0 ? n : REAL(readlinkat)(folder, path, target, bytes);
}

NODE_EXPORT char *realpath(const char *path, char *resolved)
{
	return REAL(realpath)(exe_path_meant(path), resolved);
}

NODE_EXPORT char *canonicalize_file_name(const char *path)
{
	return REAL(canonicalize_file_name)(exe_path_meant(path));
}

/* What _FORTIFY_SOURCE makes of these; libc checks `room` of what fits. */
extern ssize_t __readlink_chk(const char *path, char *target, size_t bytes,
			      size_t room);
extern ssize_t __readlinkat_chk(int folder, const char *path, char *target,
				size_t bytes, size_t room);
extern char *__realpath_chk(const char *path, char *resolved, size_t room);

NODE_EXPORT ssize_t __readlink_chk(const char *path, char *target, size_t bytes,
				   size_t room)
{
	ssize_t n = bytes <= room ? link_read(path, target, bytes) : -1;

	return n >= 0 ? n : REAL(__readlink_chk)(path, target, bytes, room);
}

NODE_EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *target,
				     size_t bytes, size_t room)
{
	ssize_t n = bytes <= room ? link_read(path, target, bytes) : -1;

	return n >= 0 ? n :
			REAL(__readlinkat_chk)(folder, path, target, bytes,
					       room);
}

NODE_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
	return REAL(__realpath_chk)(exe_path_meant(path), resolved, room);
}

/* What the kernel has told this process about its start. */
NODE_EXPORT unsigned long getauxval(unsigned long type)
{
	if (type == AT_EXECFN && node_copy())
		return (unsigned long)vm_image_path(node_copy()->image);
	return REAL(getauxval)(type);
}
