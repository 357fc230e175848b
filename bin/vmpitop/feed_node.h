/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process of a job, as its file shows it.
 */
#ifndef VMPITOP_FEED_NODE_H
#define VMPITOP_FEED_NODE_H

#include "report/live/control.h"
#include "introspect/export/export.h"
#include "report/live/file.h"
#include "model.h"

struct feed_node {
	char path[VM_EXPORT_PATH_MAX];
	char control[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];
	struct vm_live_file *file;
	const struct vm_export_head *head;
	int figures[FIGURES][2]; /* the numbers of their variables, or -1 */
};

/* 0, or -VMPI_E... of vm_export_map(). */
int feed_node_open(struct feed_node *node, const char *path);
void feed_node_close(struct feed_node *node);

/* Fills in the facts about the node as a whole; *to has those of the last time,
 * or zeros with the number -1. */
void feed_node_fill(const struct feed_node *node, struct node *to);

bool feed_node_has(const struct feed_node *node, int rank);

/* The number of blocks of a group in it; the second function reads them and
 * returns the same number. */
int feed_node_blocks(const struct feed_node *node, enum group group);
int feed_node_group(const struct feed_node *node, struct block *blocks,
		    enum group group);

/* Between two looks: reads only the states of the ranks, and counts.  The number
 * of blocks. */
int feed_node_sample(const struct feed_node *node, struct block *ranks);

/* The variables of the model are those of this process, unless it has some.  0
 * or -VMPI_ENOMEM. */
int feed_node_rows(const struct feed_node *node, struct model *model);

/* Adds its values to them; first: there are none yet. */
void feed_node_add(const struct feed_node *node, struct model *model,
		   bool first);

#endif
