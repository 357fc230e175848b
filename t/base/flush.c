/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to a pipe that does not block and has a slow reader.
 */
#include "base/flush.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define BYTES 300000 /* several times what a pipe holds */

static char sent[BYTES], got[BYTES];

static void *reader(void *fd)
{
	size_t at = 0;
	ssize_t n;

	while (at < BYTES &&
	       (n = read(*(int *)fd, got + at,
			 BYTES - at < 1000 ? BYTES - at : 1000)) > 0)
		at += (size_t)n;
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int ends[2];

	for (size_t i = 0; i < BYTES; i++)
		sent[i] = (char)(i * 7 + (i >> 8));
	if (pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK) ||
	    pthread_create(&thread, NULL, reader, &ends[0]))
		bail("no pipe or no thread");
	is_int(vm_flush_bytes(ends[1], sent, BYTES), 0, "all is written");
	pthread_join(thread, NULL);
	ok(!memcmp(sent, got, BYTES), "and all comes");
	errno = 0;
	is_int(vm_flush_bytes(-1, sent, 1), -1, "no descriptor");
	is_int(errno, EBADF, "says why");
	is_int(vm_flush_bytes(-1, sent, 0), 0, "nothing is nothing");
	return done_testing();
}
