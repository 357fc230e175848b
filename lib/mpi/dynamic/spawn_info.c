/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks and processes are started on the root's host.  "wdir" and "env" can
 * differ from the root's for processes only.
 */
#include "mpi/dynamic/spawn_info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
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

const char *vm_spawn_folder(MPI_Info info)
{
	const char *folder = vm_info_value(info, "wdir");

	/* The second is its name in MPI 2. */
	return folder ? folder : vm_info_value(info, "wd");
}

bool vm_spawn_is_apart(MPI_Info info)
{
	const char *folder = vm_spawn_folder(info);

	return (folder && !is_here(folder)) || vm_info_value(info, "env");
}

/* The first line of the key "env" that is not NAME=VALUE, which a shell takes;
 * or NULL. */
static const char *env_wrong(MPI_Info info)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz_0123456789";
	const char *at = vm_info_value(info, "env");

	for (; at && *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t length = strspn(at, letters);

		if (*at != '\n' && (!length || at[length] != '=' ||
				    (at[0] >= '0' && at[0] <= '9')))
			return at;
	}
	return NULL;
}

int vm_spawn_check_keys(struct vm_call *call, MPI_Info info)
{
	const char *value, *folder;
	struct utsname machine;
	struct stat there;
	int rc = vm_check_hints(call, info);

	if (rc != 0)
		return rc;
	value = vm_info_value(info, "host");
	if (value && !is_this_host(value))
		return vm_error(call, MPI_ERR_SPAWN,
				"host \"%s\" is not this one, on which "
				"processes are started",
				value);
	value = vm_info_value(info, "arch");
	if (value && !uname(&machine) && strcmp(value, machine.machine) != 0)
		return vm_error(call, MPI_ERR_SPAWN,
				"arch \"%s\" is not that of this host, \"%s\"",
				value, machine.machine);
	value = vm_info_value(info, "file");
	if (value)
		return vm_error(call, MPI_ERR_SPAWN,
				"file \"%s\": the key \"file\" is not "
				"understood",
				value);
	value = env_wrong(info);
	if (value)
		return vm_error(call, MPI_ERR_SPAWN,
				"env \"%.*s\": NAME=VALUE is needed",
				(int)strcspn(value, "\n"), value);
	folder = vm_spawn_folder(info);
	if (folder && (stat(folder, &there) || !S_ISDIR(there.st_mode)))
		return vm_error(call, MPI_ERR_SPAWN,
				"wdir \"%s\" is no directory", folder);
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
