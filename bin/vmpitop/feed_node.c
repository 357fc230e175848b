/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of the file are copied into the model, which may outlive it.
 */
#include "feed_node.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "report/live/total.h"

/* The number of a variable of this name, or -1. */
static int find(const struct vm_live_file *file, const char *name)
{
	struct vm_live_pvar_view view;

	for (unsigned i = 0; name && i < vm_live_pvar_count(file); i++) {
		vm_live_pvar_info(file, &view, i);
		if (!strcmp(view.name, name))
			return (int)i;
	}
	return -1;
}

int feed_node_open(struct feed_node *node, const char *path)
{
	char why[VM_LIVE_WHY_MAX];
	int rc = vm_export_map(&node->file, path, why);

	if (rc)
		return rc;
	snprintf(node->path, sizeof(node->path), "%s", path);
	vm_control_path(node->control, sizeof(node->control), path);
	node->head = vm_export_head(node->file);
	for (int i = 0; i < FIGURES; i++)
		for (int k = 0; k < 2; k++)
			node->figures[i][k] =
				find(node->file, figure_rows[i].names[k]);
	return 0;
}

void feed_node_close(struct feed_node *node)
{
	vm_live_unmap(node->file);
}

/* The time of all threads of the process, in seconds; negative: it is gone. */
static double cpu_used(int pid)
{
	char path[32], text[1024], *field;
	unsigned long long user, system;
	size_t bytes;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	in = fopen(path, "re");
	if (!in)
		return -1;
	bytes = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	text[bytes] = '\0';
	/* Behind the name, which may hold anything: fields 14 and 15. */
	field = strrchr(text, ')');
	if (!field ||
	    sscanf(field + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
		   &user, &system) != 2)
		return -1;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

void feed_node_fill(const struct feed_node *node, struct node *to)
{
	const struct vm_export_head *head = node->head;
	bool known = to->number == (int)head->node;
	bool died = known && to->life == LIFE_DIED;
	/* First: a process that ends in order removes its file before it is
	 * gone.  Who removes that of a dead one notes so. */
	bool lives = vm_live_lives(node->file);
	double before = known ? to->cpu_s : -1;

	*to = (struct node){ .number = (int)head->node,
			     .pid = (int)head->pid,
			     .ranks = (int)head->ranks_here,
			     .workers = (int)head->workers,
			     .started = (double)head->started_ns / 1e9 };
	snprintf(to->host, sizeof(to->host), "%s", head->host);
	if (died)
		to->life = LIFE_DIED;
	else if (access(node->path, F_OK))
		to->life = vm_export_phase(node->file) == VM_EXPORT_DEAD ?
				   LIFE_DIED :
				   LIFE_ENDED;
	else
		to->life = lives ? LIFE_RUNS : LIFE_DIED;
	to->cpu_before_s = before;
	to->cpu_s = to->life == LIFE_RUNS ? cpu_used(to->pid) : -1;
	to->control = to->life == LIFE_RUNS && vm_control_there(node->control);
}

bool feed_node_has(const struct feed_node *node, int rank)
{
	return rank >= 0 && (unsigned)rank < node->head->ranks &&
	       vm_live_where(node->file, (unsigned)rank) == node->head->node;
}

int feed_node_blocks(const struct feed_node *node, enum group group)
{
	int first = node->figures[figure_first(GROUP_PORT)][0];

	if (group == GROUP_WORKER)
		return (int)node->head->workers;
	if (group == GROUP_PORT)
		return first < 0 ?
			       0 :
			       (int)vm_live_blocks(node->file, (unsigned)first);
	return (int)node->head->ranks_here;
}

/* The amount that the second variable of a figure adds to the first: itself, or
 * the time that something unfinished has taken until now, 0: nothing is under
 * way. */
static uint64_t also(const struct figure_row *row, uint64_t value, uint64_t now)
{
	if (row->how != HOW_SHARE)
		return value;
	return value && now > value ? now - value : 0;
}

/* The values of a block at a moment of CLOCK_MONOTONIC; of a variable that has
 * several words their sum. */
static void figures_read(const struct feed_node *node, struct block *block,
			 enum group group, uint64_t now)
{
	int first = figure_first(group);

	block->known = 0;
	for (int i = 0; i < figure_count(group); i++) {
		uint64_t sum = 0, value;

		for (int k = 0; k < 2; k++) {
			int number = node->figures[first + i][k];

			if (number < 0 ||
			    vm_live_value(node->file, &value, (unsigned)number,
					  (unsigned)block->index, 0))
				continue;
			sum += k ? also(&figure_rows[first + i], value, now) :
				   value;
			block->known |= 1u << i;
		}
		block->before[i] = block->now[i];
		block->now[i] = sum;
	}
}

/* rc: of vm_live_doing(). */
static enum rank_state state_of(int rc, enum vm_export_state state)
{
	/* Too fast to be seen: it runs. */
	if (rc)
		return rc == -VMPI_EAGAIN ? RANK_RUNS : RANK_UNKNOWN;
	switch (state) {
	case VM_EXPORT_NEW:
		return RANK_NEW;
	case VM_EXPORT_RUNNING:
		return RANK_RUNS;
	case VM_EXPORT_SLEEP:
		return RANK_SLEEPS;
	case VM_EXPORT_DONE:
		return RANK_DONE;
	default:
		return RANK_WAITS;
	}
}

/* "MPI_Recv from 3 tag 7", "MPI_Barrier", "other" */
static void waits_write(char *text, size_t bytes, const char *call,
			const struct vm_live_doing *doing)
{
	const struct vm_export_wait *wait = &doing->wait;
	bool sends = wait->flags & VM_EXPORT_SENDS;
	char peer[24] = "any", tag[24] = "", where[32] = "";

	if (doing->state == VM_EXPORT_OTHER || !call)
		call = vm_live_state_word(doing->state);
	if (wait->context && wait->context != VM_EXPORT_NOWHERE)
		snprintf(where, sizeof(where), " of %" PRIu32, wait->context);
	if (doing->state == VM_EXPORT_COLLECTIVE) {
		snprintf(text, bytes, "%s%s", call, where);
		return;
	}
	if (wait->peer == VM_EXPORT_NOBODY) {
		snprintf(text, bytes, "%s", call);
		return;
	}
	if (wait->peer >= 0)
		snprintf(peer, sizeof(peer), "%d", wait->peer);
	if (wait->tag >= 0)
		snprintf(tag, sizeof(tag), " tag %d", wait->tag);
	/* In another channel than the world the peer may be a member. */
	if (wait->flags & VM_EXPORT_OF_WORLD)
		where[0] = '\0';
	snprintf(text, bytes, "%s %s %s%s%s", call, sends ? "to" : "from", peer,
		 where, tag);
}

static void doing_read(const struct feed_node *node, struct block *rank)
{
	struct vm_live_doing *doing = &rank->doing;
	int rc = vm_live_doing(node->file, doing, (unsigned)rank->index);

	rank->waits[0] = '\0';
	rank->state = state_of(rc, doing->state);
	if (rank->state == RANK_WAITS)
		waits_write(rank->waits, sizeof(rank->waits),
			    vm_live_call_name(node->file, doing->wait.call),
			    doing);
}

int feed_node_sample(const struct feed_node *node, struct block *ranks)
{
	int count = feed_node_blocks(node, GROUP_RANK);

	for (int i = 0; i < count; i++) {
		struct vm_live_doing doing = { 0 };
		int rc = vm_live_doing(node->file, &doing,
				       (unsigned)ranks[i].index);

		ranks[i].next_looks++;
		ranks[i].next_runs += state_of(rc, doing.state) == RANK_RUNS;
	}
	return count;
}

/* What was counted is of this look. */
static void looks_take(struct block *rank, bool lives)
{
	rank->looks = lives ? rank->next_looks + 1 : 0;
	rank->runs = rank->next_runs + (rank->state == RANK_RUNS);
	rank->next_looks = rank->next_runs = 0;
}

int feed_node_group(const struct feed_node *node, struct block *blocks,
		    enum group group)
{
	int count = feed_node_blocks(node, group), index = 0;
	/* For the dead no time passes. */
	uint64_t now = vm_live_lives(node->file) ? vm_clock_ns() : 0;

	for (int i = 0; i < count; i++, index++) {
		struct block *block = &blocks[i];

		while (group == GROUP_RANK && !feed_node_has(node, index) &&
		       (unsigned)index < node->head->ranks)
			index++;
		block->had = block->known && block->index == index &&
			     block->node == (int)node->head->node;
		block->node = (int)node->head->node;
		block->index = index;
		figures_read(node, block, group, now);
		if (group != GROUP_RANK)
			continue;
		if (!block->had)
			block->next_looks = block->next_runs = 0;
		doing_read(node, block);
		looks_take(block, now != 0);
	}
	return count;
}

static void pvar_row(struct variable *row, const struct vm_live_pvar_view *view)
{
	row->counts = vm_live_grows(view->class_);
	snprintf(row->name, sizeof(row->name), "%s", view->name);
	snprintf(row->kind, sizeof(row->kind), "%s", view->class_);
	snprintf(row->category, sizeof(row->category), "%s", view->category);
	snprintf(row->unit, sizeof(row->unit), "%s", view->unit);
	snprintf(row->text, sizeof(row->text), "%s", view->text);
}

static void cvar_row(struct variable *row, const struct vm_live_cvar_view *view)
{
	row->control = true;
	row->settable = strcmp(view->when, "startup") != 0;
	snprintf(row->name, sizeof(row->name), "%s", view->name);
	snprintf(row->kind, sizeof(row->kind), "setting");
	snprintf(row->category, sizeof(row->category), "%s", view->category);
	snprintf(row->unit, sizeof(row->unit), "%s", view->unit);
	snprintf(row->text, sizeof(row->text), "%s", view->text);
}

int feed_node_rows(const struct feed_node *node, struct model *model)
{
	unsigned pvars = vm_live_pvar_count(node->file);
	unsigned cvars = vm_live_cvar_count(node->file);

	if (model->variable_count)
		return 0;
	model->variables = calloc(pvars + cvars + 1, sizeof(*model->variables));
	if (!model->variables)
		return -VMPI_ENOMEM;
	for (unsigned i = 0; i < pvars; i++) {
		struct vm_live_pvar_view view;

		vm_live_pvar_info(node->file, &view, i);
		pvar_row(&model->variables[i], &view);
	}
	for (unsigned i = 0; i < cvars; i++) {
		struct vm_live_cvar_view view;

		vm_live_cvar_info(node->file, &view, i);
		cvar_row(&model->variables[pvars + i], &view);
	}
	model->variable_count = (int)(pvars + cvars);
	return 0;
}

static void pvar_add(const struct feed_node *node, struct variable *row,
		     unsigned number, bool first)
{
	struct vm_live_pvar_view view;
	uint64_t sum = 0;

	vm_live_pvar_info(node->file, &view, number);
	for (unsigned word = 0; word < view.words; word++) {
		uint64_t value;

		if (!vm_live_total(node->file, &value, number, word))
			sum += value;
	}
	if (first) {
		row->had = row->shown;
		row->before = row->now;
		row->shown = true;
	}
	row->total = first ? sum : vm_live_fold(view.fold, row->total, sum);
	row->now = (double)row->total;
	if (!strcmp(view.class_, "state"))
		vm_live_word(row->value, view.unit, row->total);
}

/* The word of a choice, else the number, or the text. */
static void cvar_text(const struct feed_node *node, char text[64],
		      const struct vm_live_cvar_view *view, unsigned number)
{
	char string[VM_EXPORT_STRING_BYTES];
	int64_t value = vm_live_cvar_value(node->file, number);

	if (view->string) {
		vm_live_cvar_text(node->file, string, number);
		snprintf(text, 64, "%.63s", string);
	} else if (strcmp(view->type, "choice") != 0 ||
		   !vm_live_word(text, view->unit, (uint64_t)value)) {
		snprintf(text, 64, "%" PRId64, value);
	}
}

static void cvar_add(const struct feed_node *node, struct variable *row,
		     unsigned number, bool first)
{
	struct vm_live_cvar_view view;
	char text[sizeof(row->value)];

	vm_live_cvar_info(node->file, &view, number);
	cvar_text(node, text, &view, number);
	if (!first) {
		if (strcmp(text, row->value) != 0)
			snprintf(row->value, sizeof(row->value), "(differ)");
		return;
	}
	row->now = (double)vm_live_cvar_value(node->file, number);
	memcpy(row->value, text, sizeof(row->value));
}

void feed_node_add(const struct feed_node *node, struct model *model,
		   bool first)
{
	unsigned pvars = vm_live_pvar_count(node->file);
	unsigned cvars = vm_live_cvar_count(node->file);
	int hint = 0; /* most likely the next row is the one */

	for (unsigned i = 0; i < pvars + cvars; i++) {
		struct vm_live_pvar_view pvar;
		struct vm_live_cvar_view cvar;
		const char *name;
		struct variable *row;

		if (i < pvars) {
			vm_live_pvar_info(node->file, &pvar, i);
			name = pvar.name;
		} else {
			vm_live_cvar_info(node->file, &cvar, i - pvars);
			name = cvar.name;
		}
		row = hint < model->variable_count &&
				      !strcmp(model->variables[hint].name,
					      name) ?
			      &model->variables[hint] :
			      model_variable(model, name);
		if (!row || row->control != (i >= pvars))
			continue;
		hint = (int)(row - model->variables) + 1;
		if (i < pvars)
			pvar_add(node, row, i, first);
		else
			cvar_add(node, row, i - pvars, first);
	}
}
