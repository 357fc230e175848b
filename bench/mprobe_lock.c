/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sparse matrix: a hash table of cells.  A cell with a wildcard stands for
 * a whole row, column, or the matrix; its `used` counts what is locked inside.
 */
#include "mprobe_lock.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 1024

struct cell {
	int source, tag;
	bool locked; /* by grid_lock() */
	int used;    /* locks of grid_lock() that lie inside this one */
	pthread_mutex_t alone;
	struct cell *next;
};

struct grid {
	pthread_mutex_t mutex;	/* all but `alone` of the cells */
	pthread_cond_t changed; /* something was unlocked */
	int rows, columns;	/* how many are locked, by grid_lock() */
	struct cell *bins[BINS];
};

struct grid *grid_new(void)
{
	struct grid *grid = calloc(1, sizeof(*grid));

	if (!grid)
		return NULL;
	pthread_mutex_init(&grid->mutex, NULL);
	pthread_cond_init(&grid->changed, NULL);
	return grid;
}

void grid_free(struct grid *grid)
{
	for (int i = 0; i < BINS; i++) {
		struct cell *cell = grid->bins[i];

		while (cell) {
			struct cell *next = cell->next;

			pthread_mutex_destroy(&cell->alone);
			free(cell);
			cell = next;
		}
	}
	pthread_cond_destroy(&grid->changed);
	pthread_mutex_destroy(&grid->mutex);
	free(grid);
}

/* The cell of a pair, made when it is first asked for; the mutex is held. */
static struct cell *cell_of(struct grid *grid, int source, int tag)
{
	unsigned hash = (unsigned)source * 2654435761u + (unsigned)tag * 40503u;
	struct cell **bin = &grid->bins[hash / 64 % BINS], *cell;

	for (cell = *bin; cell; cell = cell->next)
		if (cell->source == source && cell->tag == tag)
			return cell;
	cell = malloc(sizeof(*cell));
	if (!cell) {
		fprintf(stderr, "mprobe: out of memory for locks\n");
		abort();
	}
	*cell = (struct cell){ .source = source, .tag = tag, .next = *bin };
	pthread_mutex_init(&cell->alone, NULL);
	*bin = cell;
	return cell;
}

/* A pair and what it lies in. */
struct place {
	struct cell *self, *row, *column, *all;
	bool is_row, is_column, is_all;
};

static struct place place_of(struct grid *grid, int source, int tag)
{
	bool any_source = source == MPI_ANY_SOURCE,
	     any_tag = tag == MPI_ANY_TAG;

	return (struct place){
		.self = cell_of(grid, source, tag),
		.row = cell_of(grid, source, MPI_ANY_TAG),
		.column = cell_of(grid, MPI_ANY_SOURCE, tag),
		.all = cell_of(grid, MPI_ANY_SOURCE, MPI_ANY_TAG),
		.is_row = any_tag && !any_source,
		.is_column = any_source && !any_tag,
		.is_all = any_source && any_tag,
	};
}

/* Whether another thread has locked a place that could match the same
 * message. */
static bool place_is_taken(const struct grid *grid, const struct place *place)
{
	if (place->self->locked || place->all->locked)
		return true;
	if (place->is_all)
		return place->all->used > 0;
	if (place->is_row) /* every column crosses it */
		return place->row->used > 0 || grid->columns > 0;
	if (place->is_column)
		return place->column->used > 0 || grid->rows > 0;
	return place->row->locked || place->column->locked;
}

/* by: 1 locks, -1 unlocks. */
static void place_mark(struct grid *grid, const struct place *place, int by)
{
	place->self->locked = by > 0;
	if (place->is_all)
		return;
	place->all->used += by;
	if (place->is_row) {
		grid->rows += by;
	} else if (place->is_column) {
		grid->columns += by;
	} else {
		place->row->used += by;
		place->column->used += by;
	}
}

void grid_lock(struct grid *grid, int source, int tag)
{
	struct place place;

	pthread_mutex_lock(&grid->mutex);
	place = place_of(grid, source, tag);
	while (place_is_taken(grid, &place))
		pthread_cond_wait(&grid->changed, &grid->mutex);
	place_mark(grid, &place, 1);
	pthread_mutex_unlock(&grid->mutex);
}

void grid_unlock(struct grid *grid, int source, int tag)
{
	struct place place;

	pthread_mutex_lock(&grid->mutex);
	place = place_of(grid, source, tag);
	place_mark(grid, &place, -1);
	pthread_cond_broadcast(&grid->changed);
	pthread_mutex_unlock(&grid->mutex);
}

static pthread_mutex_t *mutex_alone(struct grid *grid, int source, int tag)
{
	pthread_mutex_t *mutex;

	pthread_mutex_lock(&grid->mutex);
	mutex = &cell_of(grid, source, tag)->alone;
	pthread_mutex_unlock(&grid->mutex);
	return mutex;
}

void grid_lock_alone(struct grid *grid, int source, int tag)
{
	pthread_mutex_lock(mutex_alone(grid, source, tag));
}

void grid_unlock_alone(struct grid *grid, int source, int tag)
{
	pthread_mutex_unlock(mutex_alone(grid, source, tag));
}
