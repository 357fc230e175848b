/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a file of places.  Until all lines are read, the rank with the
 * highest number so far determines the count.
 */
#include "map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

#define BLANKS " \t\r\n"
#define NOWHERE (-1)
#define TEXT_MAX 120000 /* the kernel's bound on a variable is 128 KiB */

/* Numbers that a word consists of, with a mark between: 1, 2, or 0 for what is
 * neither. */
static int numbers_of(const char *word, char mark, int *a, int *b)
{
	if (!vm_option_digits(a, &word))
		return 0;
	if (!*word)
		return 1;
	if (*word++ != mark)
		return 0;
	return vm_option_digits(b, &word) && !*word ? 2 : 0;
}

/* Makes room for ranks below `ranks`. */
static int map_grow(struct map *map, int ranks)
{
	struct vm_map grown;
	int before = map->map.ranks;
	size_t bytes = (size_t)before * sizeof(int);

	if (ranks <= before)
		return 0;
	if (vm_map_init(&grown, ranks))
		return vm_cli_no_memory();
	if (before) {
		memcpy(grown.node, map->map.node, bytes);
		memcpy(grown.worker, map->map.worker, bytes);
	}
	for (int i = before; i < ranks; i++)
		grown.node[i] = NOWHERE;
	vm_map_fini(&map->map);
	map->map = grown;
	return 0;
}

/* Gives the ranks of one line their place. */
static int ranks_place(struct map *map, const char *where, int first, int last,
		       int node, int worker)
{
	if (last < first || last >= VM_JOB_RANKS_MAX ||
	    node >= VM_JOB_RANKS_MAX) {
		vm_cli_say(
			"%s: ranks and nodes are numbered from 0 to %d, the lower "
			"one first",
			where, VM_JOB_RANKS_MAX - 1);
		return -VMPI_EINVAL;
	}
	if (map_grow(map, last + 1))
		return -VMPI_ENOMEM;
	for (int i = first; i <= last; i++) {
		if (map->map.node[i] != NOWHERE) {
			vm_cli_say("%s: rank %d has a place already", where, i);
			return -VMPI_EINVAL;
		}
		map->map.node[i] = node;
		map->map.worker[i] = worker;
	}
	if (node >= map->nodes)
		map->nodes = node + 1;
	return 0;
}

static int line_take(struct map *map, const char *where, char *line)
{
	int first, last = 0, node, worker = VM_MAP_BLOCK;
	char *ranks, *place;

	line[strcspn(line, "#")] = '\0';
	ranks = strtok_r(line, BLANKS, &line);
	if (!ranks)
		return 0;
	place = strtok_r(NULL, BLANKS, &line);
	switch (numbers_of(ranks, '-', &first, &last)) {
	case 0:
		vm_cli_say(
			"%s: '%s': a rank or a range of ranks is needed, as 0-3",
			where, ranks);
		return -VMPI_EINVAL;
	case 1:
		last = first;
	}
	if (!place || !numbers_of(place, ':', &node, &worker) ||
	    strtok_r(NULL, BLANKS, &line)) {
		vm_cli_say(
			"%s: after the ranks NODE or NODE:WORKER is needed, as 0:1",
			where);
		return -VMPI_EINVAL;
	}
	return ranks_place(map, where, first, last, node, worker);
}

/* Ranks that no line has named. */
static int map_check(const struct map *map)
{
	if (!map->map.ranks) {
		vm_cli_say("--map %s: the file places no ranks", map->path);
		return -VMPI_EINVAL;
	}
	for (int i = 0; i < map->map.ranks; i++) {
		if (map->map.node[i] != NOWHERE)
			continue;
		vm_cli_say("--map %s: there is no line for rank %d", map->path,
			   i);
		return -VMPI_EINVAL;
	}
	return 0;
}

static int map_read(struct map *map, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int number = 0, rc = 0;
	char where[300];

	if (!file) {
		vm_cli_say(
			"--map %s: block, cyclic, or the name of a file is needed: "
			"%s",
			path, strerror(errno));
		return -VMPI_ENOENT;
	}
	map->path = path;
	while (!rc && getline(&line, &room, file) >= 0) {
		snprintf(where, sizeof(where), "%.255s:%d", path, ++number);
		rc = line_take(map, where, line);
	}
	if (!rc && ferror(file)) {
		vm_cli_say("--map %s: %s", path, strerror(errno));
		rc = -VMPI_EIO;
	}
	free(line);
	fclose(file);
	return rc ? rc : map_check(map);
}

int map_take_word(struct map *map, const char *word)
{
	map_fini(map);
	if (!strcmp(word, "block"))
		return 0;
	if (strcmp(word, "cyclic") != 0)
		return map_read(map, word);
	map->cyclic = true;
	return 0;
}

int map_count(const struct map *map, int *counts, int nodes, int ranks)
{
	if (map->map.ranks != ranks) {
		vm_cli_say(
			"--map %s: the file places %d ranks, but the job has %d",
			map->path, map->map.ranks, ranks);
		return -VMPI_EINVAL;
	}
	if (map->nodes > nodes) {
		vm_cli_say(
			"--map %s: the file names node %d, but the job has nodes "
			"0 to %d",
			map->path, map->nodes - 1, nodes - 1);
		return -VMPI_EINVAL;
	}
	memset(counts, 0, (size_t)nodes * sizeof(*counts));
	for (int i = 0; i < ranks; i++)
		counts[map->map.node[i]]++;
	for (int i = 0; i < nodes; i++) {
		if (counts[i])
			continue;
		vm_cli_say(
			"--map %s: node %d gets no ranks; each node needs at "
			"least one",
			map->path, i);
		return -VMPI_EINVAL;
	}
	return 0;
}

int map_give(const struct map *map, char **text, const int *first, int nodes)
{
	struct vm_map cyclic;

	if (!map->cyclic && !map->path)
		return 0;
	if (map->cyclic) {
		if (vm_map_init(&cyclic, first[nodes]))
			return vm_cli_no_memory();
		vm_map_cyclic(&cyclic, first, nodes);
		*text = vm_map_text(&cyclic);
		vm_map_fini(&cyclic);
	} else {
		*text = vm_map_text(&map->map);
	}
	if (!*text)
		return vm_cli_no_memory();
	if (strlen(*text) <= TEXT_MAX)
		return 0;
	vm_cli_say("--map %s: the placement changes between workers too "
		   "often; combined into ranges of ranks it may have at most "
		   "%d bytes",
		   map->path, TEXT_MAX);
	return -VMPI_ELIMIT;
}

void map_fini(struct map *map)
{
	vm_map_fini(&map->map);
	*map = (struct map){ 0 };
}
