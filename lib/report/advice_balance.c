/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a better placement of ranks could have gained: those with most to do are
 * placed first, each on the worker with least.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/advice.h"

struct load {
	uint64_t before, now;
};

static int heavier(const void *left, const void *right)
{
	const struct load *a = left, *b = right;

	return (a->before < b->before) - (a->before > b->before);
}

static uint64_t most_of(const uint64_t *sums, unsigned count)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < count; i++)
		most = sums[i] > most ? sums[i] : most;
	return most;
}

/* The busiest worker now, of ranks that are placed by what they did before. */
static uint64_t placed_most(struct load *loads, unsigned ranks, uint64_t *sums,
			    unsigned count)
{
	uint64_t *now = sums + count;

	memset(sums, 0, 2 * count * sizeof(*sums));
	qsort(loads, ranks, sizeof(*loads), heavier);
	for (unsigned r = 0; r < ranks; r++) {
		unsigned least = 0;

		for (unsigned w = 1; w < count; w++)
			if (sums[w] < sums[least])
				least = w;
		sums[least] += loads[r].before;
		now[least] += loads[r].now;
	}
	return most_of(now, count);
}

int vm_advice_balance(uint64_t *moments, uint64_t *placed,
		      const uint64_t *loads, unsigned ranks, unsigned slices,
		      const unsigned *workers, unsigned count)
{
	struct load *pairs = calloc(ranks + 1, sizeof(*pairs));
	uint64_t *sums = calloc(2 * (size_t)count + 1, sizeof(*sums));

	*moments = *placed = 0;
	for (unsigned s = 0; pairs && sums && s < slices; s++) {
		uint64_t most, other;

		memset(sums, 0, count * sizeof(*sums));
		for (unsigned r = 0; r < ranks; r++) {
			const uint64_t *load = &loads[r * slices + s];

			pairs[r].before = s ? load[-1] : 0;
			pairs[r].now = load[0];
			sums[workers[r]] += load[0];
		}
		most = most_of(sums, count);
		other = s ? placed_most(pairs, ranks, sums, count) : most;
		*moments += most;
		*placed += other;
	}
	free(sums);
	free(pairs);
	return pairs && sums ? 0 : -VMPI_ENOMEM;
}
