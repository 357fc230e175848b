/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are given once to several processes.
 */
#include "core/rank/numbers.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { CHILDREN = 4, TIMES = 1000, BLOCK = 8 };

/* Takes numbers in another process when it may, and writes the first of each
 * block. */
static void child(int go, int fd)
{
	uint32_t firsts[TIMES];
	char byte;

	if (read(go, &byte, 1) != 1 || vm_numbers_open())
		_exit(1);
	for (int i = 0; i < TIMES; i++)
		firsts[i] = vm_numbers_take(BLOCK);
	if (write(fd, firsts, sizeof(firsts)) != (ssize_t)sizeof(firsts))
		_exit(1);
	vm_numbers_close();
	_exit(0);
}

static int compare(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static void several(void)
{
	static uint32_t firsts[CHILDREN][TIMES];
	const uint32_t *all = firsts[0];
	int ends[CHILDREN][2], go[2], status, ended = 0, twice = 0;

	if (pipe(go))
		bail("no pipe");
	for (int i = 0; i < CHILDREN; i++) {
		if (pipe(ends[i]))
			bail("no pipe");
		if (fork() == 0)
			child(go[0], ends[i][1]);
	}
	/* Nobody is the last one, who would end it, as long as we have it; a
	 * lock is shared with children that are made later. */
	is_int(vm_numbers_open(), 0, "the counter is opened");
	if (write(go[1], "goes", CHILDREN) != CHILDREN)
		bail("no pipe");
	for (int i = 0; i < CHILDREN; i++) {
		size_t got = 0;

		while (got < sizeof(firsts[i])) {
			ssize_t n = read(ends[i][0], (char *)firsts[i] + got,
					 sizeof(firsts[i]) - got);

			if (n <= 0)
				bail("a child has written nothing");
			got += (size_t)n;
		}
	}
	while (wait(&status) > 0)
		ended += status == 0;
	is_int(ended, CHILDREN, "several processes take numbers");
	qsort(firsts, CHILDREN * TIMES, sizeof(uint32_t), compare);
	for (int i = 1; i < CHILDREN * TIMES; i++)
		twice += all[i] - all[i - 1] < BLOCK;
	is_int(twice, 0, "none of which is given twice");
}

int main(void)
{
	uint32_t first;

	several();
	is_int(vm_numbers_open(), 0, "once, however often that is asked for");
	first = vm_numbers_take(3);
	ok(vm_numbers_take(1) - first >= 3, "so many numbers are taken");
	vm_numbers_close();
	vm_numbers_close();
	is_int(vm_numbers_open(), 0, "it can be opened again");
	vm_numbers_close();
	return done_testing();
}
