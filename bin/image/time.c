/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calendar functions that return memory of libc's: here of the program's.
 */
#include <time.h>

static struct tm broken_down;
static char text[64];

struct tm *localtime(const time_t *time)
{
	tzset();
	return localtime_r(time, &broken_down);
}

struct tm *gmtime(const time_t *time)
{
	return gmtime_r(time, &broken_down);
}

char *asctime(const struct tm *tm)
{
	return asctime_r(tm, text);
}

char *ctime(const time_t *time)
{
	const struct tm *tm = localtime(time);

	return tm ? asctime(tm) : NULL;
}
