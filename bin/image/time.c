/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calendar functions that return memory of libc's: here of the program's.
 */
#include <time.h>

#include "image.h"

OURS(localtime);
OURS(gmtime);
OURS(asctime);
OURS(ctime);

static struct tm broken_down;
static char text[64];

struct tm *vm_image_localtime(const time_t *time)
{
	LIBC(tzset)();
	return LIBC(localtime_r)(time, &broken_down);
}

struct tm *vm_image_gmtime(const time_t *time)
{
	return LIBC(gmtime_r)(time, &broken_down);
}

char *vm_image_asctime(const struct tm *tm)
{
	return LIBC(asctime_r)(tm, text);
}

char *vm_image_ctime(const time_t *time)
{
	const struct tm *tm = vm_image_localtime(time);

	return tm ? vm_image_asctime(tm) : NULL;
}
