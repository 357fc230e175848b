/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of policies, their handler, and the lines about them for people.
 */
#include "core/service/tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/rank/state.h"
#include "core/service/thread.h"
#include "introspect/vars/event.h"
#include "introspect/policy/policies.h"
#include "sched/worker.h"

#define MILLISECOND_NS UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)

/* Its number among the built-in ones; -1: it is out of a file. */
static int policy_number(const char *name)
{
	const struct vmpi_policy *policy =
		vm_policies_builtin_find(name, strlen(name));
	int i = 0;

	while (vm_policies_builtin[i] && vm_policies_builtin[i] != policy)
		i++;
	return policy ? i : -1;
}

/* The service thread is no task; the one that stops the runtime may be one. */
static void tell(const struct vm_policy_record *record)
{
	struct vm_event_from from = { .rank = VM_EVENT_ALL,
				      .safety = VM_SAFETY_THREAD_SAFE,
				      .busy = vm_self ? &vm_self->busy : NULL };
	struct vm_event_tune event = { .before = record->old_value,
				       .after = record->new_value,
				       .variable = record->number,
				       .rank = -1,
				       .policy =
					       policy_number(record->policy) };

	vm_event_raise_tune(&from, &event);
}

static void decided(void *arg, const struct vm_policy_record *record)
{
	if (vm_event_wanted(VM_EVENT_tune))
		tell(record);
	if (tune_cvar.log)
		vm_log(VM_WARN,
		       "tune: process %d: %s: %s %" PRId64 " -> %" PRId64
		       "%s: %s",
		       vm_node->process, record->policy, record->variable,
		       record->old_value, record->new_value,
		       record->reverted ? " (back)" : "", record->reason);
}

static void said(void *arg, const char *policy, bool is_wrong, const char *text)
{
	if (is_wrong)
		vm_log(VM_ERROR, "policy %s: %s", policy ? policy : "?", text);
	else if (tune_cvar.log)
		vm_log(VM_WARN, "tune: process %d: %s: %s", vm_node->process,
		       policy, text);
}

static void tick(void *arg, uint64_t now_ns)
{
	struct vm_tune *tune = arg;
	int64_t interval_ms = tune_cvar.interval_ms;

	vm_policies_tick(&tune->policies, now_ns + tune->day_ns);
	if (interval_ms == tune->interval_ms)
		return;
	tune->interval_ms = interval_ms;
	vm_service_period(tune->handler,
			  (uint64_t)interval_ms * MILLISECOND_NS);
}

static int builtin_add(struct vm_tune *tune, const struct vmpi_policy *policy)
{
	return vm_policies_add(&tune->policies, policy, NULL,
			       vm_clock_ns() + tune->day_ns);
}

static int builtins_all(struct vm_tune *tune)
{
	int rc = 0;

	for (int i = 0; !rc && vm_policies_builtin[i]; i++)
		rc = builtin_add(tune, vm_policies_builtin[i]);
	return rc;
}

/* One name of tune_policies. */
static int builtin_take(struct vm_tune *tune, const char *name, size_t length)
{
	const struct vmpi_policy *policy;

	if (length == 3 && !memcmp(name, "all", 3))
		return builtins_all(tune);
	policy = vm_policies_builtin_find(name, length);
	if (policy)
		return builtin_add(tune, policy);
	vm_log(VM_ERROR,
	       "tune_policies: there is no policy %.*s; known are %s, and all",
	       (int)length, name, VM_POLICIES_BUILTIN);
	return -VMPI_EINVAL;
}

/* One of tune_plugins. */
static int plugin_take(struct vm_tune *tune, const char *text, size_t length)
{
	const struct vmpi_policy *policy;
	struct vm_tune_file *file;

	if (tune->file_count == VM_POLICIES_MAX) {
		vm_log(VM_ERROR, "tune_plugins: there are more than %d",
		       VM_POLICIES_MAX);
		return -VMPI_ELIMIT;
	}
	file = &tune->files[tune->file_count];
	policy = vm_tune_load(file, text, length);
	if (!policy)
		return -VMPI_EINVAL;
	tune->file_count++;
	return vm_policies_add(&tune->policies, policy, file->argument,
			       vm_clock_ns() + tune->day_ns);
}

/* Each part of a list, without the empty ones. */
static int list_take(struct vm_tune *tune, const char *list, char separator,
		     int (*take)(struct vm_tune *, const char *, size_t))
{
	int rc = 0;

	while (!rc && *list) {
		const char *end = strchrnul(list, separator);

		if (end > list)
			rc = take(tune, list, (size_t)(end - list));
		list = *end ? end + 1 : end;
	}
	return rc;
}

/* The time of the day, less that of vm_clock_ns(). */
static uint64_t day_ns(void)
{
	struct timespec day;

	clock_gettime(CLOCK_REALTIME, &day);
	return (uint64_t)day.tv_sec * SECOND_NS + (uint64_t)day.tv_nsec -
	       vm_clock_ns();
}

int vm_tune_start(struct vm_node *node)
{
	struct vm_policy_vars vars = { .process = node->process,
				       .processes = node->process_count,
				       .ranks = node->rank_count,
				       .ranks_here = node->rank_here,
				       .decided = decided,
				       .say = said };
	struct vm_tune *tune;
	int rc;

	if (!tune_cvar.policies[0] && !tune_cvar.plugins[0])
		return 0;
	tune = node->tune = calloc(1, sizeof(*tune));
	if (!tune)
		return -VMPI_ENOMEM;
	tune->day_ns = day_ns();
	vm_tune_vars(&vars, tune);
	vm_policies_init(&tune->policies, &vars, &node->tune_pvars);
	rc = list_take(tune, tune_cvar.policies, ',', builtin_take);
	if (!rc)
		rc = list_take(tune, tune_cvar.plugins, ':', plugin_take);
	if (!rc) {
		tune->interval_ms = tune_cvar.interval_ms;
		rc = vm_service_every((uint64_t)tune->interval_ms *
					      MILLISECOND_NS,
				      tick, tune);
		tune->handler = rc;
	}
	return rc < 0 ? rc : 0;
}

void vm_tune_stop(struct vm_node *node)
{
	struct vm_tune *tune = node->tune;

	if (!tune)
		return;
	vm_policies_fini(&tune->policies, vm_clock_ns() + tune->day_ns);
	while (tune->file_count > 0)
		vm_tune_unload(&tune->files[--tune->file_count]);
	vm_tune_names_free(tune);
	free(tune);
	node->tune = NULL;
}
