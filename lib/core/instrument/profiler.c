/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of a profile, when they are read, and their destination.
 */
#include "core/instrument/profiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/instrument/intercept.h"
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "introspect/vars/bulk.h"
#include "base/nearest.h"
#include "introspect/measure/profile_file.h"
#include "introspect/measure/sites.h"
#include "sched/clocks.h"
#include "sched/worker.h"

#define NAMES_MAX 64

/* Hangs in the node while it is profiled. */
struct vm_profiler {
	struct vm_bulk bulk;
	struct vm_profile_file *file;
	struct vm_sites *sites; /* by rank here; NULL: not asked for */
};

static bool wanted(const struct vm_pvar *row)
{
	return row->of == VM_PVAR_RANK && vm_pvar_grows(row);
}

/* What is near the name among those that can be profiled. */
static int near_each(const struct vm_pvar_view *view, void *arg)
{
	if (wanted(view->row))
		vm_nearest_offer(arg, view->name);
	return 0;
}

static void name_refuse(const char *name, const char *who)
{
	struct vm_nearest nearest;
	const char *near;
	int number = vm_pvar_find(name);

	if (number >= 0) {
		vm_log(VM_ERROR,
		       "%s: %s cannot be profiled: only counters, timers and "
		       "aggregates of ranks can",
		       who, name);
		return;
	}
	vm_nearest_init(&nearest, name);
	vm_pvar_each(near_each, &nearest);
	near = vm_nearest_name(&nearest);
	vm_log(VM_ERROR, "%s: no performance variable is called '%s'; %s%s%s",
	       who, name, near ? "did you mean " : "vmpi_info lists them",
	       near ? near : "", near ? "?" : "");
}

/* Cuts the text at its commas. */
static unsigned names_cut(const char *names[NAMES_MAX], char *text)
{
	char *rest = text, *name;
	unsigned n = 0;

	while (n < NAMES_MAX && (name = strtok_r(rest, ", ", &rest)))
		names[n++] = name;
	return n;
}

int vm_profiler_vars(struct vm_bulk *bulk, const char *text, const char *who)
{
	const char *names[NAMES_MAX], *bad = "";
	char *copy;
	unsigned n;
	int rc = -VMPI_EINVAL;

	*bulk = (struct vm_bulk){ 0 };
	if (!strcmp(text, VM_PROFILER_NONE))
		return 0;
	if (!strcmp(text, "default"))
		text = VM_PROFILER_DEFAULT;
	copy = strdup(text);
	if (!copy)
		return -VMPI_ENOMEM;
	n = names_cut(names, copy);
	if (n) {
		rc = vm_bulk_init(bulk, names, n, wanted, &bad);
		if (rc == -VMPI_ENOENT || rc == -VMPI_EINVAL) {
			name_refuse(bad, who);
			rc = -VMPI_EINVAL;
		}
	} else {
		vm_log(VM_ERROR, "%s: no variable is named", who);
	}
	if (!rc && bulk->words > VM_PROFILE_VARS) {
		vm_log(VM_ERROR,
		       "%s: %u counters are named, %d can be profiled at once",
		       who, bulk->words, VM_PROFILE_VARS);
		vm_bulk_fini(bulk);
		rc = -VMPI_EINVAL;
	}
	free(copy);
	return rc;
}

/* Names and units; the elements of an array by their index. */
static void vars_describe(struct vm_profile_file *head,
			  const struct vm_bulk *bulk)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;
	unsigned element = 0;

	head->words = bulk->words + VM_PROFILE_OWN;
	head->workers = (uint32_t)vm_sched.worker_count;
	for (unsigned w = 0; w < bulk->words; w++) {
		struct vm_profile_var *var = &head->vars[w];
		int number = bulk->numbers[w];

		element = w && number == bulk->numbers[w - 1] ? element + 1 : 0;
		vm_pvar_info(number, &view, name);
		if (view.row->words > 1)
			snprintf(var->name, sizeof(var->name), "%.80s[%u]",
				 name, element);
		else
			snprintf(var->name, sizeof(var->name), "%s", name);
		snprintf(var->unit, sizeof(var->unit), "%s", view.row->unit);
	}
}

static int profiler_make(struct vm_profiler *profiler,
			 const struct vm_node *node)
{
	struct vm_profile_file *head;
	int rc = vm_profiler_vars(&profiler->bulk, core_cvar.profile,
				  "core_profile");

	if (rc)
		return rc;
	head = calloc(1, sizeof(*head));
	if (!head)
		return -VMPI_ENOMEM;
	vm_clock_ready();
	head->process = node->process;
	head->rank_count = node->rank_here;
	head->tick_ns = vm_clock.tick_ns;
	vars_describe(head, &profiler->bulk);
	rc = vm_profile_file_new(&profiler->file, core_cvar.profile_dir, head);
	free(head);
	return rc;
}

/* All begin at the same moment. */
static int sites_make(struct vm_profiler *profiler, const struct vm_node *node)
{
	uint64_t begin = vm_clock_ticks();

	profiler->sites =
		calloc((size_t)node->rank_here, sizeof(*profiler->sites));
	if (!profiler->sites)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node->rank_here; i++)
		vm_sites_init(&profiler->sites[i], begin);
	return 0;
}

struct vm_sites *vm_profiler_sites(const struct vm_rank *rank)
{
	return vm_node->profiler && vm_node->profiler->sites && rank->profile ?
		       &vm_node->profiler->sites[rank->local] :
		       NULL;
}

struct vm_profile_file *vm_profiler_file(void)
{
	return vm_node->profiler ? vm_node->profiler->file : NULL;
}

int vm_profiler_word(const char *name)
{
	const struct vm_bulk *bulk;
	int number = vm_pvar_find(name);

	if (!vm_node->profiler || number < 0)
		return -1;
	bulk = &vm_node->profiler->bulk;
	for (unsigned w = 0; w < bulk->words; w++)
		if (bulk->numbers[w] == number)
			return (int)w;
	return -1;
}

int vm_profiler_start(struct vm_node *node)
{
	int rc;

	if (!core_cvar.profile[0])
		return 0;
	node->profiler = calloc(1, sizeof(*node->profiler));
	if (!node->profiler)
		return -VMPI_ENOMEM;
	rc = profiler_make(node->profiler, node);
	if (!rc && core_cvar.profile_sites)
		rc = sites_make(node->profiler, node);
	if (!rc) {
		vm_clocks_start();
		vm_intercept_set(VM_INTERCEPT_PROFILE);
	}
	return rc;
}

void vm_profiler_stop(struct vm_node *node)
{
	if (!node->profiler)
		return;
	vm_intercept_clear(VM_INTERCEPT_PROFILE);
	vm_profile_file_free(node->profiler->file);
	vm_bulk_fini(&node->profiler->bulk);
	free(node->profiler->sites);
	free(node->profiler);
	node->profiler = NULL;
}

void vm_profiler_rank(struct vm_rank *rank)
{
	if (!vm_node->profiler || rank->profile || /* its next body */
	    rank->local >= vm_node->rank_here)
		return;
	rank->profile = &vm_node->profiler->file->rank[rank->local];
	vm_profile_init(rank->profile, rank->index,
			vm_node->profiler->bulk.words + VM_PROFILE_OWN);
}

/* The profile that the caller writes; NULL: none. */
static struct vm_profile *profile_self(void)
{
	const struct vm_rank *rank = vm_rank_self();

	return rank && rank->profile && vm_rank_main(rank) == vm_self ?
		       rank->profile :
		       NULL;
}

/* A profile to be written, the current values, and the time. */
struct moment {
	struct vm_profile *profile;
	uint64_t values[VM_PROFILE_WORDS], now;
};

static bool moment_take(struct moment *moment)
{
	uint64_t *own;

	moment->profile = profile_self();
	if (!moment->profile)
		return false;
	vm_bulk_read(&vm_node->profiler->bulk, moment->values,
		     moment->profile->rank);
	own = &moment->values[vm_node->profiler->bulk.words];
	own[VM_PROFILE_HAD] = vm_clocks_self_now(vm_self, &moment->now);
	own[VM_PROFILE_IDLE] = vm_profile_idle(moment->profile,
					       (uint32_t)vm_self->worker->index,
					       vm_clocks_idle_ticks(vm_self));
	return true;
}

static uint64_t own_of(const struct moment *moment, unsigned word)
{
	return moment->values[vm_node->profiler->bulk.words + word];
}

/* The second word of the call's frame is where it returns to. */
static void sites_enter(struct vm_rank *rank, const struct moment *moment,
			uint32_t call)
{
	const void *const *frame =
		(const void *const *)(const void *)vm_self->frame;

	vm_sites_enter(&vm_node->profiler->sites[rank->local], moment->now,
		       own_of(moment, VM_PROFILE_IDLE),
		       own_of(moment, VM_PROFILE_HAD), call, frame[1]);
}

/* The details of the rank's last wait are those of a wait in this call, if its
 * core was idle in it. */
static void sites_exit(struct vm_rank *rank, const struct moment *moment)
{
	const struct vm_export_wait *wait = &rank->wait;
	bool known = (wait->flags & VM_EXPORT_OF_WORLD || !wait->context) &&
		     !(wait->flags & (VM_EXPORT_ALL | VM_EXPORT_STARTED)) &&
		     wait->peer >= 0;

	vm_sites_exit(&vm_node->profiler->sites[rank->local], moment->now,
		      own_of(moment, VM_PROFILE_IDLE),
		      own_of(moment, VM_PROFILE_HAD),
		      known ? wait->peer : VM_SITES_NOBODY,
		      wait->flags & VM_EXPORT_SENDS);
}

void vm_profiler_enter(struct vm_rank *rank, uint32_t call)
{
	struct moment m;

	if (!moment_take(&m))
		return;
	vm_profile_enter(m.profile, m.now, m.values, call);
	if (vm_node->profiler->sites)
		sites_enter(rank, &m, call);
}

void vm_profiler_exit(struct vm_rank *rank, uint32_t call)
{
	struct moment m;

	if (!moment_take(&m))
		return;
	vm_profile_exit(m.profile, m.now, m.values);
	if (vm_node->profiler->sites)
		sites_exit(rank, &m);
	(void)call;
}

void vm_profiler_body_begin(void)
{
	struct moment m;

	if (!moment_take(&m))
		return;
	/* A process that is a rank has one, beside its thread. */
	if (vm_self->worker->index >= 0)
		m.profile->worker = (uint32_t)vm_self->worker->index;
	vm_profile_begin(m.profile, m.now, m.values);
}

void vm_profiler_body_end(void)
{
	struct moment m;

	if (moment_take(&m))
		vm_profile_end(m.profile, m.now, m.values);
}

void vm_profiler_section_begin(const char *name)
{
	struct moment m;

	if (moment_take(&m))
		vm_profile_section_begin(m.profile, m.now, m.values, name);
}

int vm_profiler_section_end(const char *name)
{
	struct moment m;

	if (!moment_take(&m))
		return 0;
	return vm_profile_section_end(m.profile, m.now, m.values, name);
}

void vm_profiler_switch(bool on)
{
	struct moment m;

	if (moment_take(&m))
		vm_profile_switch(m.profile, m.now, m.values, on);
}
