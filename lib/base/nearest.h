/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "Did you mean ...?": the known name nearest to a misspelt one.
 *
 * Distance is the number of letters to add, drop, change or swap with their
 * neighbour; capitals count as small letters.  A name that contains the
 * misspelt one, such as sched_stack_bytes for stack_bytes, is near as well.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#define VM_NAME_MAX 96 /* bytes of a variable's name, with the final zero */

struct vm_nearest {
	char wanted[VM_NAME_MAX];
	char name[VM_NAME_MAX]; /* the nearest of those offered so far */
	unsigned distance;	/* its distance */
};

void vm_nearest_init(struct vm_nearest *nearest, const char *wanted);
void vm_nearest_offer(struct vm_nearest *nearest, const char *name);

/* The nearest of all names offered, or NULL if none is near enough to be a
 * guess. */
const char *vm_nearest_name(const struct vm_nearest *nearest);
#endif
