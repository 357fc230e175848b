/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts that the user names: -H a:4,b and host files.
 */
#ifndef VMPIRUN_HOSTS_H
#define VMPIRUN_HOSTS_H

#include <stdbool.h>

struct host {
	char *name;
	int slots; /* at least 1 */
};

struct hosts {
	struct host *list; /* in the order given, each name once */
	int count;
	bool slots_given; /* somewhere; else each has 1 */
	void *entries;	  /* of tsearch(): the numbers by name */
};

/*
 * Adds a host; slots is 0 where nothing says how many.  A name that comes again
 * adds its slots.  Result: 0, or -VMPI_E... after one line, which begins with
 * where.
 */
int hosts_add(struct hosts *hosts, const char *where, const char *name,
	      int slots);

/*
 * Adds the hosts of "a:4,b,n[1-3]:2,user@c,[fe80::1]:2".
 * Result: 0, or -VMPI_E... after one line.
 */
int hosts_add_list(struct hosts *hosts, const char *text);

/*
 * Adds the hosts of a file: one per line as in a list, with "slots=4" behind it
 * or not, and '#' before comments.  user=NAME is NAME@ before the host;
 * max_slots= is read and not used.
 * Result: 0, or -VMPI_E... after one line, which names the line of the file.
 */
int hosts_add_file(struct hosts *hosts, const char *path);

/* The sum of the slots. */
int hosts_slots(const struct hosts *hosts);

/* Whether a name is that of this host. */
bool hosts_is_here(const char *name);

/* Whether some host is not this one. */
bool hosts_remote(const struct hosts *hosts);

void hosts_fini(struct hosts *hosts);

#endif
