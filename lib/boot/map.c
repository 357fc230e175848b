/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a placement has one piece per run of ranks with the same place,
 * because an environment variable is at most 128 KiB long.
 */
#include "boot/map.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmpi.h"

int vm_map_init(struct vm_map *map, int ranks)
{
	size_t count = (size_t)ranks;

	map->ranks = ranks;
	map->node = calloc(count, sizeof(*map->node));
	map->worker = malloc(count * sizeof(*map->worker));
	if (!map->node || !map->worker) {
		vm_map_fini(map);
		return -VMPI_ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		map->worker[i] = VM_MAP_BLOCK;
	return 0;
}

void vm_map_fini(struct vm_map *map)
{
	free(map->node);
	free(map->worker);
	*map = (struct vm_map){ 0 };
}

void vm_map_cyclic(struct vm_map *map, const int *first, int nodes)
{
	int round = 0, node = 0;

	/* In round k the nodes with more than k ranks get one each. */
	for (int i = 0; i < map->ranks; i++) {
		while (first[node + 1] - first[node] <= round)
			if (++node == nodes) {
				node = 0;
				round++;
			}
		map->node[i] = node;
		map->worker[i] = VM_MAP_CYCLIC;
		if (++node == nodes) {
			node = 0;
			round++;
		}
	}
}

/* The number of ranks from `at` on that have the same place. */
static int run_length(const struct vm_map *map, int at)
{
	int end = at + 1;

	while (end < map->ranks && map->node[end] == map->node[at] &&
	       map->worker[end] == map->worker[at])
		end++;
	return end - at;
}

char *vm_map_text(const struct vm_map *map)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream;

	if (map->ranks && map->worker[0] == VM_MAP_CYCLIC)
		return strdup("cyclic");
	stream = open_memstream(&text, &bytes);
	if (!stream)
		return NULL;
	for (int i = 0, n; i < map->ranks; i += n) {
		n = run_length(map, i);
		fprintf(stream, "%s%d", i ? "," : "", map->node[i]);
		if (map->worker[i] >= 0)
			fprintf(stream, ":%d", map->worker[i]);
		if (n > 1)
			fprintf(stream, "x%d", n);
	}
	if (fclose(stream)) {
		free(text);
		return NULL;
	}
	return text;
}

/* A number of at most 9 digits at *text, which moves on; false: there is
 * none. */
static bool number_take(const char **text, int *number)
{
	size_t digits = strspn(*text, "0123456789");

	if (digits < 1 || digits > 9)
		return false;
	*number = (int)strtol(*text, NULL, 10);
	*text += digits;
	return true;
}

/* Whether a character is next; *text then moves past it. */
static bool mark_take(const char **text, char mark)
{
	if (**text != mark)
		return false;
	++*text;
	return true;
}

/* Reads one piece for the ranks from *next on. */
static bool piece_take(struct vm_map *map, const char **text, int nodes,
		       int *next)
{
	int node, worker = VM_MAP_BLOCK, count = 1;

	if (!number_take(text, &node) || node >= nodes)
		return false;
	if (mark_take(text, ':') && !number_take(text, &worker))
		return false;
	if (mark_take(text, 'x') && !number_take(text, &count))
		return false;
	if (count < 1 || count > map->ranks - *next)
		return false;
	for (; count; count--, ++*next) {
		map->node[*next] = node;
		map->worker[*next] = worker;
	}
	return true;
}

static bool pieces_take(struct vm_map *map, const char *text, int nodes)
{
	int next = 0;

	do {
		if (!piece_take(map, &text, nodes, &next))
			return false;
	} while (mark_take(&text, ','));
	return !*text && next == map->ranks;
}

/* Whether each node has as many ranks as its block; their number is counted
 * down in left, which is as long as there are nodes. */
static bool counts_fit(const struct vm_map *map, const int *first, int nodes,
		       int *left)
{
	for (int p = 0; p < nodes; p++)
		left[p] = first[p + 1] - first[p];
	for (int i = 0; i < map->ranks; i++)
		if (--left[map->node[i]] < 0)
			return false;
	return true;
}

int vm_map_read(struct vm_map *out, const char *text, const int *first,
		int nodes)
{
	int *left = calloc((size_t)nodes, sizeof(*left));
	struct vm_map map;
	int rc = left ? vm_map_init(&map, first[nodes]) : -VMPI_ENOMEM;

	if (rc) {
		free(left);
		return rc;
	}
	if (!strcmp(text, "cyclic"))
		vm_map_cyclic(&map, first, nodes);
	else if (!pieces_take(&map, text, nodes) ||
		 !counts_fit(&map, first, nodes, left))
		rc = -VMPI_EINVAL;
	free(left);
	if (rc)
		vm_map_fini(&map);
	else
		*out = map;
	return rc;
}

void vm_map_numbers(const struct vm_map *map, const int *first, int nodes,
		    int *numbers)
{
	/* Slot first[p] holds meanwhile how many of p's ranks have their
	 * slot. */
	for (int p = 0; p < nodes; p++)
		numbers[first[p]] = 0;
	for (int i = map->ranks - 1; i >= 0; i--) {
		int p = map->node[i], begin = first[p];
		int count = first[p + 1] - begin, placed = numbers[begin]++;

		/* From the last on; the first one's slot is written last. */
		numbers[begin + count - 1 - placed] = i;
	}
}
