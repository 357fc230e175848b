/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placements: text and back, cyclic ones against a straightforward count, and
 * slots that hold each rank once.
 */
#include "boot/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "boot/place.h"
#include "tap.h"
#include "vmpi.h"

#define MOST 24

static bool same(const struct vm_map *a, const struct vm_map *b)
{
	size_t bytes = (size_t)a->ranks * sizeof(int);

	return a->ranks == b->ranks && !memcmp(a->node, b->node, bytes) &&
	       !memcmp(a->worker, b->worker, bytes);
}

/* Whether the slots of each node hold its ranks, in their order. */
static bool numbers_right(const struct vm_map *map, const int *first, int nodes)
{
	int numbers[MOST], seen = 0;

	vm_map_numbers(map, first, nodes, numbers);
	for (int p = 0; p < nodes; p++)
		for (int s = first[p]; s < first[p + 1]; s++, seen++)
			if (map->node[numbers[s]] != p ||
			    (s > first[p] && numbers[s] <= numbers[s - 1]))
				return false;
	return seen == map->ranks;
}

/* A random placement with at least one rank on each node, and its blocks. */
static void random_make(struct vm_map *map, int *first, int nodes, int ranks)
{
	vm_map_init(map, ranks);
	memset(first, 0, (size_t)(nodes + 1) * sizeof(int));
	for (int i = 0; i < ranks; i++) {
		map->node[i] = i < nodes ? i : rand() % nodes;
		map->worker[i] = rand() % 4 - 1;
		first[map->node[i] + 1]++;
	}
	for (int p = 0; p < nodes; p++)
		first[p + 1] += first[p];
}

static void random_test(void)
{
	int first[MOST + 1], wrong = 0;
	struct vm_map map, back;

	srand(1);
	for (int i = 0; i < 2000; i++) {
		int nodes = 1 + rand() % 5;
		int ranks = nodes + rand() % (MOST - nodes);
		char *text;

		random_make(&map, first, nodes, ranks);
		text = vm_map_text(&map);
		if (!text || vm_map_read(&back, text, first, nodes)) {
			wrong++;
		} else {
			wrong += !same(&map, &back) ||
				 !numbers_right(&map, first, nodes);
			vm_map_fini(&back);
		}
		free(text);
		vm_map_fini(&map);
	}
	is_int(wrong, 0, "2000 placements go to text and back, and into slots");
}

static void cyclic_test(void)
{
	static const int first[] = { 0, 4, 5, 8 };
	static const int expected[] = { 0, 1, 2, 0, 2, 0, 2, 0 };
	struct vm_map map, back;
	char *text;

	vm_map_init(&map, 8);
	vm_map_cyclic(&map, first, 3);
	ok(!memcmp(map.node, expected, sizeof(expected)),
	   "cyclic goes round the nodes that have room left");
	is_int(map.worker[3], VM_MAP_CYCLIC, "and round their workers");
	text = vm_map_text(&map);
	ok(text && !strcmp(text, "cyclic"), "its text is one word");
	is_int(vm_map_read(&back, text, first, 3), 0, "which is read back");
	ok(same(&map, &back), "to the same places");
	vm_map_fini(&back);
	vm_map_fini(&map);
	free(text);
}

static void wrong_test(void)
{
	static const char *const texts[] = {
		"",	"x4",	 "0x3",	   "0x5",     "0x4,",  "0x4,0",
		"1x4",	"0x3,1", "0x2x2",  "0:x4",    "0:",    "0:1x0",
		"-1x4", "0 x4",	 "Cyclic", "cyclic,", "0x4\n", "0x9999999999",
	};
	static const int first[] = { 0, 4 };
	struct vm_map map;
	int accepted = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		accepted += vm_map_read(&map, texts[i], first, 1) !=
			    -VMPI_EINVAL;
	is_int(accepted, 0, "what is no placement of so many ranks is refused");
	is_int(vm_map_read(&map, "0x2,0:7x2", first, 1), 0,
	       "one that is taken");
	is_int(map.worker[1], VM_MAP_BLOCK, "without a worker: in blocks");
	is_int(map.worker[2], 7, "with one: that");
	vm_map_fini(&map);
}

int main(void)
{
	random_test();
	cyclic_test();
	wrong_test();
	return done_testing();
}
