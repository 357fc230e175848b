/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executable of a rank as a file: opened, read, looked at (exe_path.h).
 */
/* Else the headers would rename what is defined here. */
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exe_path.h"
#include "real.h"

/* The mode of open(), which is there if a file may be made. */
#define MODE(flags)                                      \
	({                                               \
		mode_t given = 0;                        \
                                                         \
		if ((flags) & (O_CREAT | __O_TMPFILE)) { \
			va_list rest;                    \
                                                         \
			va_start(rest, flags);           \
			given = va_arg(rest, mode_t);    \
			va_end(rest);                    \
		}                                        \
		given;                                   \
	})

NODE_EXPORT int open(const char *path, int flags, ...)
{
	return REAL(open)(exe_path_meant(path), flags, MODE(flags));
}

NODE_EXPORT int open64(const char *path, int flags, ...)
{
	return REAL(open64)(exe_path_meant(path), flags, MODE(flags));
}

NODE_EXPORT int openat(int folder, const char *path, int flags, ...)
{
	return REAL(openat)(folder, exe_path_meant(path), flags, MODE(flags));
}

NODE_EXPORT int openat64(int folder, const char *path, int flags, ...)
{
	return REAL(openat64)(folder, exe_path_meant(path), flags, MODE(flags));
}

/* What _FORTIFY_SOURCE makes of these. */
extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags);
extern int __openat64_2(int folder, const char *path, int flags);

NODE_EXPORT int __open_2(const char *path, int flags)
{
	return REAL(__open_2)(exe_path_meant(path), flags);
}

NODE_EXPORT int __open64_2(const char *path, int flags)
{
	return REAL(__open64_2)(exe_path_meant(path), flags);
}

NODE_EXPORT int __openat_2(int folder, const char *path, int flags)
{
	return REAL(__openat_2)(folder, exe_path_meant(path), flags);
}

NODE_EXPORT int __openat64_2(int folder, const char *path, int flags)
{
	return REAL(__openat64_2)(folder, exe_path_meant(path), flags);
}

NODE_EXPORT FILE *fopen(const char *path, const char *mode)
{
	return REAL(fopen)(exe_path_meant(path), mode);
}

NODE_EXPORT FILE *fopen64(const char *path, const char *mode)
{
	return REAL(fopen64)(exe_path_meant(path), mode);
}

NODE_EXPORT int access(const char *path, int mode)
{
	return REAL(access)(exe_path_meant(path), mode);
}

NODE_EXPORT int stat(const char *path, struct stat *status)
{
	return REAL(stat)(exe_path_meant(path), status);
}

NODE_EXPORT int stat64(const char *path, struct stat64 *status)
{
	return REAL(stat64)(exe_path_meant(path), status);
}

/* The link itself, where it is not to be followed. */
static const char *followed(const char *path, int flags)
{
	return flags & AT_SYMLINK_NOFOLLOW ? path : exe_path_meant(path);
}

NODE_EXPORT int fstatat(int folder, const char *path, struct stat *status,
			int flags)
{
	return REAL(fstatat)(folder, followed(path, flags), status, flags);
}

NODE_EXPORT int fstatat64(int folder, const char *path, struct stat64 *status,
			  int flags)
{
	return REAL(fstatat64)(folder, followed(path, flags), status, flags);
}

NODE_EXPORT int statx(int folder, const char *path, int flags, unsigned mask,
		      struct statx *status)
{
	return REAL(statx)(folder, followed(path, flags), flags, mask, status);
}
