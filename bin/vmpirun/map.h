/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --map: where the user wants the ranks.
 */
#ifndef VMPIRUN_MAP_H
#define VMPIRUN_MAP_H

#include <stdbool.h>

#include "boot/map.h"

/* The content of --map. */
struct map {
	const char *path; /* the file, or NULL */
	bool cyclic;
	int nodes;	   /* that the file names */
	struct vm_map map; /* of the file */
};

/*
 * "block", "cyclic", or a file with a line RANKS NODE[:WORKER] for each rank or
 * range of ranks, as "0-3 0:1", and '#' before comments.
 * Result: 0, or -VMPI_E... after one line, which names the line of the file.
 */
int map_take_word(struct map *map, const char *word);

/* The text for the job of so many nodes with these blocks; *text stays NULL
 * when there is nothing to say.  0 or -VMPI_E... after one line. */
int map_give(const struct map *map, char **text, const int *first, int nodes);

/* Counts the ranks of each node: counts[nodes].  0, or -VMPI_EINVAL after one
 * line, if the file does not fit so many ranks and nodes. */
int map_count(const struct map *map, int *counts, int nodes, int ranks);

void map_fini(struct map *map);

#endif
