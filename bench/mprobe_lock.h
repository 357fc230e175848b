/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks for (source, tag) pairs: a program without matched probes needs them so
 * that no other thread gets between its probe and its receive.
 *
 * Hoefler et al., "Efficient MPI support for advanced hybrid programming
 * models" (2010), section 2.1: a sparse matrix of sources and tags in which one
 * can lock a point, a row, a column or everything.  MPI_ANY_SOURCE and
 * MPI_ANY_TAG mean "all of them".
 */
#ifndef BENCH_MPROBE_LOCK_H
#define BENCH_MPROBE_LOCK_H

struct grid;

/* NULL when out of memory. */
struct grid *grid_new(void);
void grid_free(struct grid *grid);

/*
 * The general case (listing 1.2): waits until nothing that could match the same
 * message is locked.  Never to be held while waiting for a message: a narrow
 * lock would keep a wider one from the message that the narrow one waits for
 * (listings 1.3 and 1.4).
 */
void grid_lock(struct grid *grid, int source, int tag);
void grid_unlock(struct grid *grid, int source, int tag);

/*
 * The simple cases of table 1: all users of the grid use pairs without
 * wildcards, or all use the same wildcards.  Then different pairs are
 * independent, and a lock may be held while waiting for a message. The two
 * kinds of locks know nothing of each other.
 */
void grid_lock_alone(struct grid *grid, int source, int tag);
void grid_unlock_alone(struct grid *grid, int source, int tag);

#endif
