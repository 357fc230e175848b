/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of samples per rank; all rings are at the same place.
 */
#include "busy.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

void busy_fini(struct busy *busy)
{
	free(busy->ranks);
	free(busy->shares);
	*busy = (struct busy){ 0 };
}

void busy_clear(struct busy *busy)
{
	busy->next = busy->count = 0;
}

/* Room for so many ranks; new ones have not been seen. */
static int ranks_grow(struct busy *busy, int count)
{
	struct busy_rank *ranks =
		realloc(busy->ranks, (size_t)count * sizeof(*ranks));
	double *shares;

	if (!ranks)
		return -VMPI_ENOMEM;
	busy->ranks = ranks;
	shares = realloc(busy->shares, (size_t)count * sizeof(*shares));
	if (!shares)
		return -VMPI_ENOMEM;
	busy->shares = shares;
	for (int i = busy->rank_count; i < count; i++) {
		ranks[i].node = -1;
		memset(ranks[i].samples, BUSY_UNKNOWN,
		       sizeof(ranks[i].samples));
	}
	busy->rank_count = count;
	return 0;
}

int busy_add(struct busy *busy, const struct model *model)
{
	int count = model->ranks;

	if (!model_lives(model))
		return 0;
	for (int i = 0; i < model->block_count[GROUP_RANK]; i++)
		if (model->blocks[GROUP_RANK][i].index >= count)
			count = model->blocks[GROUP_RANK][i].index + 1;
	if (count > busy->rank_count && ranks_grow(busy, count))
		return -VMPI_ENOMEM;
	for (int i = 0; i < busy->rank_count; i++)
		busy->ranks[i].samples[busy->next] = BUSY_UNKNOWN;
	for (int i = 0; i < model->block_count[GROUP_RANK]; i++) {
		const struct block *block = &model->blocks[GROUP_RANK][i];
		struct busy_rank *rank = &busy->ranks[block->index];

		rank->node = block->node;
		if (block->looks)
			rank->samples[busy->next] =
				(uint8_t)((100 * block->runs +
					   block->looks / 2) /
					  block->looks);
	}
	busy->next = (busy->next + 1) % BUSY_SAMPLES;
	if (busy->count < BUSY_SAMPLES)
		busy->count++;
	return 0;
}

static int sample_at(const struct busy *busy, int rank, unsigned back)
{
	return busy->ranks[rank]
		.samples[(busy->next + BUSY_SAMPLES - 1 - back) % BUSY_SAMPLES];
}

double busy_of(const struct busy *busy, int rank)
{
	int sum = 0, known = 0;

	if (rank < 0 || rank >= busy->rank_count)
		return -1;
	for (unsigned back = 0; back < busy->count && back < BUSY_WINDOW;
	     back++) {
		int sample = sample_at(busy, rank, back);

		if (sample == BUSY_UNKNOWN)
			continue;
		sum += sample;
		known++;
	}
	return known ? (double)sum / known : -1;
}

/* Whether the rank is on this host, and of the node (-1: of any). */
static bool rank_of(const struct busy *busy, int rank, int node)
{
	int its = busy->ranks[rank].node;

	return its >= 0 && (node < 0 || its == node);
}

bool busy_summarize(struct busy_summary *summary, const struct busy *busy,
		    int node)
{
	double least = 0, most = 0;
	int known = 0;

	for (int rank = 0; rank < busy->rank_count; rank++) {
		double share = rank_of(busy, rank, node) ? busy_of(busy, rank) :
							   -1;

		if (share < 0)
			continue;
		if (!known || share < least) {
			least = share;
			summary->least = rank;
		}
		if (!known || share > most) {
			most = share;
			summary->most = rank;
		}
		busy->shares[known++] = share;
	}
	if (known)
		summary->spread = spread_of(busy->shares, known);
	return known > 0;
}

int busy_group_size(const struct busy *busy, int node, int lines)
{
	int count = 0;

	for (int rank = 0; rank < busy->rank_count; rank++)
		count += rank_of(busy, rank, node);
	return lines < 1 ? count : (count + lines - 1) / lines;
}

bool busy_group_next(struct busy_group *group, const struct busy *busy,
		     int node, int from, int size)
{
	int count = 0;

	group->node = node;
	for (int rank = from; rank < busy->rank_count && count < size; rank++) {
		if (!rank_of(busy, rank, node))
			continue;
		if (!count++)
			group->first = rank;
		group->last = rank;
	}
	return count > 0;
}

double busy_group_of(const struct busy *busy, const struct busy_group *group)
{
	double sum = 0;
	int known = 0;

	for (int rank = group->first; rank <= group->last; rank++) {
		double share = rank_of(busy, rank, group->node) ?
				       busy_of(busy, rank) :
				       -1;

		if (share < 0)
			continue;
		sum += share;
		known++;
	}
	return known ? sum / known : -1;
}

double busy_group_at(const struct busy *busy, const struct busy_group *group,
		     unsigned back)
{
	int sum = 0, known = 0;

	if (back >= busy->count)
		return -1;
	for (int rank = group->first; rank <= group->last; rank++) {
		int sample = sample_at(busy, rank, back);

		if (!rank_of(busy, rank, group->node) || sample == BUSY_UNKNOWN)
			continue;
		sum += sample;
		known++;
	}
	return known ? (double)sum / known : -1;
}
