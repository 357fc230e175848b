/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who reads standard input has asked for something before, perhaps without a
 * newline: the question is shown first.  libc does that for a terminal, and only
 * for streams of its own (output.h).
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "node.h"
#include "output.h"
#include "real.h"

/* Before a stream is read. */
static void question_show(const FILE *file)
{
	struct vm_image_copy *copy;

	if (file != stdin || file->_IO_read_ptr < file->_IO_read_end ||
	    !output_active())
		return;
	copy = node_copy();
	if (copy)
		output_show(copy, STDOUT_FILENO);
}

#define FILE_READ(type, name, file, parameters, ...) \
	NODE_EXPORT type name parameters             \
	{                                            \
		question_show(file);                 \
		return REAL(name)(__VA_ARGS__);      \
	}

/* Without a header. */
char *__fgets_chk(char *text, size_t room, int count, FILE *file);
size_t __fread_chk(void *bytes, size_t room, size_t size, size_t count,
		   FILE *file);
int _IO_getc(FILE *file);
int __underflow(FILE *file);
int __isoc99_vfscanf(FILE *file, const char *format, va_list args);
int __isoc99_fscanf(FILE *file, const char *format, ...);
int __isoc23_vfscanf(FILE *file, const char *format, va_list args);
int __isoc23_fscanf(FILE *file, const char *format, ...);

#undef getc
#undef fread_unlocked
FILE_READ(int, getc, file, (FILE * file), file)
FILE_READ(int, _IO_getc, file, (FILE * file), file)
FILE_READ(int, fgetc, file, (FILE * file), file)
FILE_READ(int, __uflow, file, (FILE * file), file)
FILE_READ(int, __underflow, file, (FILE * file), file)
FILE_READ(char *, fgets, file, (char *text, int count, FILE *file), text, count,
	  file)
FILE_READ(char *, fgets_unlocked, file, (char *text, int count, FILE *file),
	  text, count, file)
FILE_READ(char *, __fgets_chk, file,
	  (char *text, size_t room, int count, FILE *file), text, room, count,
	  file)
FILE_READ(size_t, fread, file,
	  (void *bytes, size_t size, size_t count, FILE *file), bytes, size,
	  count, file)
FILE_READ(size_t, fread_unlocked, file,
	  (void *bytes, size_t size, size_t count, FILE *file), bytes, size,
	  count, file)
FILE_READ(size_t, __fread_chk, file,
	  (void *bytes, size_t room, size_t size, size_t count, FILE *file),
	  bytes, room, size, count, file)
FILE_READ(ssize_t, getline, file, (char **text, size_t *room, FILE *file), text,
	  room, file)
FILE_READ(ssize_t, getdelim, file,
	  (char **text, size_t *room, int end, FILE *file), text, room, end,
	  file)
FILE_READ(ssize_t, __getdelim, file,
	  (char **text, size_t *room, int end, FILE *file), text, room, end,
	  file)
FILE_READ(int, __isoc99_vfscanf, file,
	  (FILE * file, const char *format, va_list args), file, format, args)

/* Of libc's newer than 2.37, where it also knows 0b of C23. */
NODE_EXPORT int __isoc23_vfscanf(FILE *file, const char *format, va_list args)
{
	__typeof__(&__isoc23_vfscanf) newer = REAL(__isoc23_vfscanf);

	question_show(file);
	return newer ? newer(file, format, args) :
		       REAL(__isoc99_vfscanf)(file, format, args);
}

#define SCANF(name, vname)                                        \
	NODE_EXPORT int name(FILE *file, const char *format, ...) \
	{                                                         \
		va_list args;                                     \
		int count;                                        \
                                                                  \
		va_start(args, format);                           \
		count = vname(file, format, args);                \
		va_end(args);                                     \
		return count;                                     \
	}
SCANF(__isoc99_fscanf, __isoc99_vfscanf)
SCANF(__isoc23_fscanf, __isoc23_vfscanf)
