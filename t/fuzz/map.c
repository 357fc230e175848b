/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: where ranks go: files of --map, what vmpirun makes of them for
 * the processes (VMPI_JOB_MAP), and blocks of ranks (VMPI_JOB_BLOCKS).
 *
 *	make fuzz TARGET=map SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include "map.h"

#include <stdlib.h>
#include <string.h>

#include "boot/map.h"
#include "boot/place.h"
#include "input.h"

#define NODES 4
#define RANKS 20

static void blocks_judge(const int *first, int nodes, int ranks)
{
	for (int i = 0; i < nodes; i++)
		if (first[i] >= first[i + 1])
			abort();
	if (first[0] || first[nodes] != ranks)
		abort();
	for (int rank = 0; rank < ranks; rank++) {
		int process = vm_place_process(first, nodes, rank);

		if (rank < first[process] || rank >= first[process + 1])
			abort();
	}
}

static void blocks_try(const char *text)
{
	int first[NODES + 1];

	if (!vm_place_fill(first, NODES, RANKS, text))
		blocks_judge(first, NODES, RANKS);
}

/* Each rank has one slot, on its node. */
static void numbers_judge(const struct vm_map *map, const int *first, int nodes)
{
	bool *seen = calloc((size_t)map->ranks, sizeof(*seen));
	int *numbers = calloc((size_t)map->ranks, sizeof(*numbers));

	if (!seen || !numbers)
		abort();
	vm_map_numbers(map, first, nodes, numbers);
	for (int p = 0; p < nodes; p++)
		for (int i = first[p]; i < first[p + 1]; i++) {
			int rank = numbers[i];

			if (rank < 0 || rank >= map->ranks || seen[rank] ||
			    map->node[rank] != p)
				abort();
			seen[rank] = true;
		}
	free(seen);
	free(numbers);
}

/* The placement as the processes read it. */
static void text_try(const char *text, const int *first, int nodes)
{
	struct vm_map map, again;
	char *written;

	if (vm_map_read(&map, text, first, nodes))
		return;
	numbers_judge(&map, first, nodes);
	written = vm_map_text(&map);
	if (!written || vm_map_read(&again, written, first, nodes) ||
	    memcmp(again.node, map.node, (size_t)map.ranks * sizeof(int)) ||
	    memcmp(again.worker, map.worker, (size_t)map.ranks * sizeof(int)))
		abort();
	free(written);
	vm_map_fini(&again);
	vm_map_fini(&map);
}

/* What vmpirun gives the processes of a file that it takes. */
static void file_use(const struct map *map)
{
	int *counts = calloc((size_t)map->nodes + 1, sizeof(*counts));
	int *first = calloc((size_t)map->nodes + 1, sizeof(*first));
	char *text = NULL;

	if (!counts || !first)
		abort();
	if (!map_count(map, counts, map->nodes, map->map.ranks)) {
		for (int i = 0; i < map->nodes; i++)
			first[i + 1] = first[i] + counts[i];
		blocks_judge(first, map->nodes, map->map.ranks);
		if (!map_give(map, &text, first, map->nodes) && text)
			text_try(text, first, map->nodes);
	}
	free(text);
	free(counts);
	free(first);
}

static void file_try(const uint8_t *data, size_t bytes)
{
	struct map map = { 0 };

	fuzz_file("map", data, bytes);
	/* Of many ranks there is nothing new. */
	if (!map_take_word(&map, FUZZ_DIR "map") && map.map.ranks < 4096 &&
	    map.nodes < 4096)
		file_use(&map);
	map_fini(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const int first[NODES + 1] = { 0, 8, 12, 13, RANKS };
	char *text;

	if (!bytes)
		return 0;
	text = fuzz_text(data + 1, bytes - 1);
	switch (data[0] % 3) {
	case 0:
		blocks_try(text);
		break;
	case 1:
		text_try(text, first, NODES);
		break;
	default:
		file_try(data + 1, bytes - 1);
	}
	free(text);
	return 0;
}
