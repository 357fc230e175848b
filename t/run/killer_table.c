/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of all rounds: by signal, target and provider how many there were,
 * how many went right, and how long the slowest job lived on.
 */
#include "killer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 128

struct cell {
	const struct blow *blow;
	enum target target;
	const char *provider;
	int jobs, right;
	double slowest_ms;
};

static struct cell cells[CELLS_MAX];
static int cell_count;

/* The cell of such rounds; the last one is for what has no room. */
static struct cell *cell_get(const struct blow *blow, enum target target,
			     const char *provider)
{
	int i = 0;

	while (i < cell_count &&
	       (cells[i].blow != blow || cells[i].target != target ||
		strcmp(cells[i].provider, provider)))
		i++;
	if (i == CELLS_MAX)
		return &cells[i - 1];
	if (i == cell_count)
		cells[cell_count++] =
			(struct cell){ blow, target, provider, .jobs = 0 };
	return &cells[i];
}

void table_add(const struct round *round)
{
	struct cell *cell =
		cell_get(round->blow, round->target, round->provider);

	cell->jobs++;
	cell->right += !round->wrong[0];
	if (!is_harmless(round) && life_ms(round) > cell->slowest_ms)
		cell->slowest_ms = life_ms(round);
}

static int by_name(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->blow != y->blow)
		return x->blow < y->blow ? -1 : 1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return strcmp(x->provider, y->provider);
}

void table_print(void)
{
	static const char *const names[] = { "node", "vmpirun" };
	struct cell all = { .jobs = 0 };

	qsort(cells, (size_t)cell_count, sizeof(*cells), by_name);
	printf("%-12s %-8s %-12s %6s %6s %12s\n", "signal", "target",
	       "provider", "jobs", "right", "slowest (ms)");
	for (int i = 0; i < cell_count; i++) {
		const struct cell *cell = &cells[i];

		printf("%-12s %-8s %-12s %6d %6d %12.0f\n", cell->blow->name,
		       names[cell->target], cell->provider, cell->jobs,
		       cell->right, cell->slowest_ms);
		all.jobs += cell->jobs;
		all.right += cell->right;
		if (cell->slowest_ms > all.slowest_ms)
			all.slowest_ms = cell->slowest_ms;
	}
	printf("%-12s %-8s %-12s %6d %6d %12.0f\n", "all", "", "", all.jobs,
	       all.right, all.slowest_ms);
}
