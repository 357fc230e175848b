/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks are started in the process of the root, so "host" and "wdir" can only
 * name what that has.
 */
#include "mpi/dynamic/spawn_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"

/* Whether the name, with or without its domain, is that of this host. */
static bool is_this_host(const char *name)
{
	char own[256] = "";
	size_t length;

	if (!strcmp(name, "localhost") || gethostname(own, sizeof(own) - 1))
		return true;
	if (!strcmp(name, own))
		return true;
	length = strcspn(own, ".");
	return strcspn(name, ".") == length && !strncmp(name, own, length) &&
	       (!name[length] || !own[length]);
}

static bool is_here(const char *folder)
{
	struct stat there, here;

	return !stat(folder, &there) && !stat(".", &here) &&
	       there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

int vm_spawn_check_place(struct vm_call *call, MPI_Info info)
{
	const char *host, *folder;
	int rc = vm_check_hints(call, info);

	if (rc != 0)
		return rc;
	host = vm_info_value(info, "host");
	if (host && !is_this_host(host))
		return vm_error(call, MPI_ERR_SPAWN,
				"host \"%s\" is not this one, and ranks start "
				"in the process of the root",
				host);
	folder = vm_info_value(info, "wdir");
	if (!folder)
		folder = vm_info_value(info, "wd"); /* its name in MPI 2 */
	if (folder && !is_here(folder))
		return vm_error(call, MPI_ERR_SPAWN,
				"wdir \"%s\" is not the working directory of "
				"this process, in which the ranks start",
				folder);
	return 0;
}

/* The largest number of first, first + step, ..., last that is at most most. */
static int triplet_best(long first, long last, long step, int most)
{
	long best = -1;

	if (step == 0 || (step > 0 && first > last) ||
	    (step < 0 && first < last))
		return -1;
	if (step < 0) {
		long steps = (first - last) / -step;

		last = first;
		first += steps * step;
		step = -step;
	}
	if (most >= first)
		best = most < last ? first + (most - first) / step * step :
				     first + (last - first) / step * step;
	return (int)best;
}

/* "1:9:2,12": triplets of first, last and step. */
int vm_spawn_soft(MPI_Info info, int most)
{
	const char *at = vm_info_value(info, "soft");
	int best = -1;

	while (at && *at) {
		long number[3] = { 0, 0, 1 };
		char *end = NULL;
		int n = 0;

		do {
			number[n++] = strtol(end ? end + 1 : at, &end, 10);
		} while (n < 3 && *end == ':');
		if (n == 1)
			number[1] = number[0];
		n = triplet_best(number[0], number[1], number[2], most);
		best = n > best ? n : best;
		at = *end == ',' ? end + 1 : "";
	}
	return best;
}
