/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files are opened once and read in place.  The places of variables are looked
 * up by name when a file is opened: processes of one job may be of different
 * builds.
 */
#include "feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "feed_node.h"
#include "report/live/control.h"
#include "introspect/export/list.h"

#define ANSWER_MS 2000 /* how long a process is waited for */

struct feed {
	char directory[VM_EXPORT_PATH_MAX], job[VM_EXPORT_JOB_MAX];
	struct feed_node *nodes;
	int count;
	uint64_t looked_ns; /* 0: never */
	uint64_t motion;    /* what changes when anything moves */
};

int feed_open(struct feed **feed, const char *directory, const char *job)
{
	*feed = calloc(1, sizeof(**feed));
	if (!*feed)
		return -VMPI_ENOMEM;
	snprintf((*feed)->directory, VM_EXPORT_PATH_MAX, "%s", directory);
	snprintf((*feed)->job, VM_EXPORT_JOB_MAX, "%s", job);
	return 0;
}

void feed_close(struct feed *feed)
{
	if (!feed)
		return;
	for (int i = 0; i < feed->count; i++)
		feed_node_close(&feed->nodes[i]);
	free(feed->nodes);
	free(feed);
}

static int node_compare(const void *left, const void *right)
{
	const struct feed_node *a = left, *b = right;

	return (a->head->node > b->head->node) -
	       (a->head->node < b->head->node);
}

static int file_visit(const struct vm_export_entry *entry, void *arg)
{
	struct feed *feed = arg;
	struct feed_node *nodes;
	int rc;

	if (strcmp(entry->job, feed->job) != 0)
		return 0;
	for (int i = 0; i < feed->count; i++)
		if (!strcmp(feed->nodes[i].path, entry->path))
			return 0;
	nodes = realloc(feed->nodes,
			(size_t)(feed->count + 1) * sizeof(*nodes));
	if (!nodes)
		return -VMPI_ENOMEM;
	feed->nodes = nodes;
	rc = feed_node_open(&nodes[feed->count], entry->path);
	if (rc == -VMPI_ENOMEM)
		return rc;
	/* Others are no file yet, or none of a job. */
	feed->count += rc == 0;
	return 0;
}

static int nodes_find(struct feed *feed)
{
	int before = feed->count;
	int rc = vm_export_each(feed->directory, file_visit, feed);

	if (feed->count > before)
		qsort(feed->nodes, (size_t)feed->count, sizeof(*feed->nodes),
		      node_compare);
	return rc;
}

static int nodes_fill(struct feed *feed, struct model *model)
{
	const struct vm_export_head *head = feed->nodes[0].head;
	struct node *nodes =
		realloc(model->nodes, (size_t)feed->count * sizeof(*nodes));

	if (!nodes)
		return -VMPI_ENOMEM;
	for (int i = model->node_count; i < feed->count; i++)
		nodes[i] = (struct node){ .number = -1 };
	model->nodes = nodes;
	model->node_count = feed->count;
	model->ranks = (int)head->ranks;
	snprintf(model->job, sizeof(model->job), "%s", head->job);
	snprintf(model->program, sizeof(model->program), "%s", head->program);
	snprintf(model->version, sizeof(model->version), "%s", head->library);
	for (int i = 0; i < feed->count; i++)
		feed_node_fill(&feed->nodes[i], &nodes[i]);
	return 0;
}

/* All blocks of a group; those that were there before keep what they were. */
static int group_fill(struct feed *feed, struct model *model, enum group group)
{
	struct block *blocks = model->blocks[group];
	int count = 0, at = 0, old = model->block_count[group];

	for (int i = 0; i < feed->count; i++)
		count += feed_node_blocks(&feed->nodes[i], group);
	if (count > old) {
		blocks = realloc(blocks, (size_t)count * sizeof(*blocks));
		if (!blocks)
			return -VMPI_ENOMEM;
		memset(blocks + old, 0,
		       (size_t)(count - old) * sizeof(*blocks));
		model->blocks[group] = blocks;
	}
	model->block_count[group] = count;
	for (int i = 0; i < feed->count; i++)
		at += feed_node_group(&feed->nodes[i], blocks + at, group);
	return 0;
}

/* A number that stays only while nothing moves. */
static uint64_t motion_of(const struct model *model)
{
	int messages = FIGURE_RANK_messages - figure_first(GROUP_RANK);
	int switches = FIGURE_WORKER_switches - figure_first(GROUP_WORKER);
	uint64_t sum = 0;

	for (int i = 0; i < model->block_count[GROUP_RANK]; i++) {
		const struct block *rank = &model->blocks[GROUP_RANK][i];

		sum += rank->now[messages] + rank->state;
	}
	for (int i = 0; i < model->block_count[GROUP_WORKER]; i++)
		sum += model->blocks[GROUP_WORKER][i].now[switches];
	return sum;
}

static void times_fill(struct feed *feed, struct model *model)
{
	uint64_t now = vm_clock_ns(), motion;

	model->interval_s =
		feed->looked_ns ? (double)(now - feed->looked_ns) / 1e9 : 0;
	feed->looked_ns = now;
	motion = motion_of(model);
	model->still_s = motion == feed->motion && model->interval_s > 0 ?
				 model->still_s + model->interval_s :
				 0;
	feed->motion = motion;
	/* The clock of a job that is over stands. */
	if (model_lives(model) || !model->now_s)
		model->now_s = (double)time(NULL);
}

static bool node_wanted(const struct feed *feed, int i, int node)
{
	return node < 0 || (int)feed->nodes[i].head->node == node;
}

/* The rows of the first process; the others add to those that they have. */
static int variables_fill(struct feed *feed, struct model *model, int node)
{
	bool first = true;
	int rc = feed_node_rows(&feed->nodes[0], model);

	for (int i = 0; i < feed->count && !rc; i++) {
		if (!node_wanted(feed, i, node))
			continue;
		feed_node_add(&feed->nodes[i], model, first);
		first = false;
	}
	return rc;
}

int feed_look(struct feed *feed, struct model *model, int node)
{
	int rc = nodes_find(feed);

	if (!rc && !feed->count)
		return -VMPI_ENOENT;
	if (!rc)
		rc = nodes_fill(feed, model);
	for (int group = 0; group < GROUPS && !rc; group++)
		rc = group_fill(feed, model, (enum group)group);
	if (!rc)
		rc = variables_fill(feed, model, node);
	if (!rc)
		times_fill(feed, model);
	return rc;
}

void feed_sample(struct feed *feed, struct model *model)
{
	int at = 0;

	for (int i = 0; i < feed->count; i++)
		at += feed_node_sample(&feed->nodes[i],
				       model->blocks[GROUP_RANK] + at);
}

int feed_set(struct feed *feed, char text[FEED_TEXT_MAX], const char *name,
	     const char *value, int node, int rank)
{
	char request[VM_CONTROL_LINE_MAX], answer[VM_CONTROL_LINE_MAX];
	char rank_text[24] = "";
	int done = 0;

	if (rank >= 0)
		snprintf(rank_text, sizeof(rank_text), "rank %d ", rank);
	snprintf(request, sizeof(request), "%sset %s %s", rank_text, name,
		 value);
	for (int i = 0; i < feed->count; i++) {
		const struct feed_node *it = &feed->nodes[i];
		int rc;

		if (rank >= 0 ? !feed_node_has(it, rank) :
				!node_wanted(feed, i, node))
			continue;
		rc = vm_control_ask(answer, it->control, request, ANSWER_MS);
		if (rc) {
			snprintf(text, FEED_TEXT_MAX, "node %u: %.200s",
				 it->head->node, answer);
			return rc;
		}
		done++;
	}
	if (!done) {
		snprintf(text, FEED_TEXT_MAX,
			 "there is no such rank on this host");
		return -VMPI_ENOENT;
	}
	snprintf(text, FEED_TEXT_MAX, "%s%.90s = %.60s is set in %d process%s",
		 rank_text, name, value, done, done == 1 ? "" : "es");
	return 0;
}
