/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The placement: the process and the worker of each rank.
 *
 * A job without one has blocks of consecutive ranks.  vmpirun makes the text of
 * a placement (VMPI_JOB_MAP) and every process reads it: the word "cyclic", or
 * NODE[:WORKER][xCOUNT] for the ranks from 0 on, with commas between, as
 * "0:0x3,0:1,1x4".  Pure arithmetic; the number of ranks of each process is
 * that of its block (boot/place.h).
 */
#ifndef BOOT_MAP_H
#define BOOT_MAP_H

/* Values of a worker besides its number. */
#define VM_MAP_BLOCK (-1)  /* the ranks of the process in blocks */
#define VM_MAP_CYCLIC (-2) /* one after the other */

/* By rank. */
struct vm_map {
	int ranks;
	int *node, *worker;
};

/* Makes a placement of so many ranks, all at node 0 in blocks: 0 or
 * -VMPI_ENOMEM (not logged). */
int vm_map_init(struct vm_map *map, int ranks);
void vm_map_fini(struct vm_map *map);

/* Deals the ranks in turn to the nodes that have slots left, as first
 * (boot/place.h) says. */
void vm_map_cyclic(struct vm_map *map, const int *first, int nodes);

/* Its text, to be freed; NULL when out of memory. */
char *vm_map_text(const struct vm_map *map);

/*
 * Reads a text; 0, -VMPI_ENOMEM, or -VMPI_EINVAL when it is malformed for so
 * many ranks or does not give the nodes as many as first says (not logged).
 * map is initialised on success only.
 */
int vm_map_read(struct vm_map *map, const char *text, const int *first,
		int nodes);

/*
 * Fills numbers[ranks]: the rank of each slot, where the slots of node p are
 * those from first[p] on and a node's ranks are in ascending order.
 */
void vm_map_numbers(const struct vm_map *map, const int *first, int nodes,
		    int *numbers);

#endif
