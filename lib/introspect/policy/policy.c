/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of a tuner, and the life of a policy.
 *
 * A policy that is turned off for a mistake still finishes the call that it is
 * in: `broken` is the reason, and guard() checks it afterwards.
 */
#include "introspect/policy/policy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define LINE_MAX_ 256

/* The tuner that a policy sees is the first field of its run. */
static struct vm_policy_run *run_of(vmpi_tuner *tuner)
{
	return (struct vm_policy_run *)(void *)tuner;
}

VM_STATIC_ASSERT(offsetof(struct vm_policy_run, tuner) == 0,
		 "run_of() finds it there");

static const struct vm_policy_vars *vars_of(vmpi_tuner *tuner)
{
	return &run_of(tuner)->all->vars;
}

static int tuner_control_find(vmpi_tuner *tuner, const char *name)
{
	return name ? vars_of(tuner)->control_find(vars_of(tuner)->arg, name) :
		      -VMPI_ENOENT;
}

static int tuner_counter_find(vmpi_tuner *tuner, const char *name)
{
	return name ? vars_of(tuner)->counter_find(vars_of(tuner)->arg, name) :
		      -VMPI_ENOENT;
}

static int tuner_control_count(vmpi_tuner *tuner)
{
	return vars_of(tuner)->control_count(vars_of(tuner)->arg);
}

static int tuner_counter_count(vmpi_tuner *tuner)
{
	return vars_of(tuner)->counter_count(vars_of(tuner)->arg);
}

static int tuner_control_info(vmpi_tuner *tuner, int number,
			      struct vmpi_policy_var *var)
{
	if (!var)
		return -VMPI_EINVAL;
	return vars_of(tuner)->control_info(vars_of(tuner)->arg, number, var);
}

static int tuner_counter_info(vmpi_tuner *tuner, int number,
			      struct vmpi_policy_var *var)
{
	if (!var)
		return -VMPI_EINVAL;
	return vars_of(tuner)->counter_info(vars_of(tuner)->arg, number, var);
}

static int tuner_control_read(vmpi_tuner *tuner, int number, int64_t *value)
{
	if (!value)
		return -VMPI_EINVAL;
	return vars_of(tuner)->control_read(vars_of(tuner)->arg, number, value);
}

static int tuner_read(vmpi_tuner *tuner, int number, unsigned block,
		      uint64_t *values, unsigned words)
{
	if (!values || !words)
		return -VMPI_EINVAL;
	return vars_of(tuner)->read(vars_of(tuner)->arg, number, block, values,
				    words);
}

static int tuner_total(vmpi_tuner *tuner, int number, uint64_t *values,
		       unsigned words)
{
	if (!values || !words)
		return -VMPI_EINVAL;
	return vars_of(tuner)->total(vars_of(tuner)->arg, number, values,
				     words);
}

static void say(struct vm_policy_run *run, bool wrong, const char *text)
{
	const struct vm_policy_vars *vars = &run->all->vars;

	vars->say(vars->arg, run->policy->name, wrong, text);
}

static void tuner_log(vmpi_tuner *tuner, const char *text)
{
	if (text)
		say(run_of(tuner), false, text);
}

static struct vm_policy_knob *knob_find(struct vm_policy_run *run, int number)
{
	for (unsigned i = 0; i < run->knob_count; i++)
		if (run->knobs[i].number == number)
			return &run->knobs[i];
	return NULL;
}

/* The variable as this policy knows it; NULL: it has set too many. */
static struct vm_policy_knob *knob_get(struct vm_policy_run *run, int number,
				       int64_t now)
{
	struct vm_policy_knob *knob = knob_find(run, number);

	if (knob)
		return knob;
	if (run->knob_count == VM_POLICY_KNOBS_MAX)
		return NULL;
	knob = &run->knobs[run->knob_count++];
	*knob = (struct vm_policy_knob){ .number = number,
					 .first = now,
					 .last = now,
					 .now = now,
					 .ours = true };
	return knob;
}

/* The value that was decided on, which a trial may have left for a moment. */
static int64_t decided(const struct vm_policy_knob *knob, int64_t now)
{
	return knob && knob->ours && knob->now == now ? knob->last : now;
}

/* Whether one more step in that direction is one too many. */
static bool turns_wildly(struct vm_policy_run *run, struct vm_policy_knob *knob,
			 bool up)
{
	bool begins = knob->last == knob->first && knob->turns == 0;

	if (run->ticks - knob->turn_tick >= VM_POLICY_TURN_TICKS) {
		knob->turn_tick = run->ticks;
		knob->turns = 0;
	}
	if (!begins && up != knob->up)
		knob->turns++;
	knob->up = up;
	return knob->turns > VM_POLICY_TURNS;
}

static void record_add(struct vm_policy_run *run,
		       const struct vmpi_policy_var *var, int number,
		       int64_t old_value, int64_t new_value, bool reverted,
		       const char *reason)
{
	struct vm_policies *all = run->all;
	struct vm_policy_record *record =
		&all->records[all->record_count++ % VM_POLICY_RECORDS];

	*record = (struct vm_policy_record){ .at_ns = all->now_ns,
					     .variable = var->name,
					     .number = number,
					     .old_value = old_value,
					     .new_value = new_value,
					     .reverted = reverted };
	snprintf(record->policy, sizeof(record->policy), "%s",
		 run->policy->name);
	snprintf(record->reason, sizeof(record->reason), "%s", reason);
	/* It is a line, whatever it was. */
	for (char *c = record->reason; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	vm_pvar_add(all->pvars->decisions, 1);
	vm_pvar_add(all->pvars->reverted, reverted);
	all->vars.decided(all->vars.arg, record);
}

/* Counts a value that cannot be given, and says why. */
static int refuse(struct vm_policy_run *run, int rc, const char *name,
		  const char *why)
{
	char text[LINE_MAX_];

	vm_pvar_add(run->all->pvars->refused, 1);
	snprintf(text, sizeof(text), "%s cannot be set: %s", name, why);
	say(run, true, text);
	return rc;
}

/* Checks whether a policy may set it at all: 0, or the error it is given. */
static int write_check(struct vm_policy_run *run, int number,
		       const char *reason, struct vmpi_policy_var *var,
		       int64_t *now)
{
	const struct vm_policy_vars *vars = &run->all->vars;
	char name[32];

	snprintf(name, sizeof(name), "variable %d", number);
	if (vars->control_info(vars->arg, number, var) < 0)
		return refuse(run, -VMPI_ENOENT, name, "there is none");
	if (!reason || !reason[0])
		return refuse(run, -VMPI_EINVAL, var->name,
			      "no reason is given");
	if (vars->control_read(vars->arg, number, now) < 0)
		return refuse(run, -VMPI_EINVAL, var->name, "it is a text");
	if (var->when == VMPI_POLICY_STARTUP)
		return refuse(run, -VMPI_ESTATE, var->name,
			      "only before the start");
	if (var->when == VMPI_POLICY_ALIKE && vars->processes > 1)
		return refuse(run, -VMPI_ENOTSUP, var->name,
			      "it must be alike in all processes, and this is "
			      "one of several");
	return 0;
}

/* The value within the range; for a choice there is no nearest word. */
static int write_bound(struct vm_policy_run *run,
		       const struct vmpi_policy_var *var, int64_t *value)
{
	if (*value >= var->min && *value <= var->max)
		return 0;
	if (strchr(var->unit, '|'))
		return refuse(run, -VMPI_EINVAL, var->name,
			      "there is no such choice");
	*value = *value < var->min ? var->min : var->max;
	vm_pvar_add(run->all->pvars->bounded, 1);
	return VMPI_POLICY_BOUNDED;
}

static int write_value(struct vm_policy_run *run,
		       const struct vmpi_policy_var *var, int number,
		       int64_t value)
{
	const struct vm_policy_vars *vars = &run->all->vars;
	int rc = vars->control_write(vars->arg, number, value);

	return rc < 0 ? refuse(run, rc, var->name, vmpi_strerror(rc)) : 0;
}

static int tuner_write(vmpi_tuner *tuner, int number, int64_t value,
		       const char *reason)
{
	struct vm_policy_run *run = run_of(tuner);
	struct vmpi_policy_var var = { 0 };
	struct vm_policy_knob *knob;
	int64_t now = 0;
	int rc, bounded;

	if (run->broken)
		return -VMPI_ELIMIT;
	rc = write_check(run, number, reason, &var, &now);
	if (rc < 0)
		return rc;
	bounded = write_bound(run, &var, &value);
	now = decided(knob_find(run, number), now);
	if (bounded < 0 || value == now)
		return bounded;
	knob = knob_get(run, number, now);
	if (!knob)
		return refuse(run, -VMPI_ELIMIT, var.name,
			      "this policy has set too many variables");
	if (turns_wildly(run, knob, value > now)) {
		run->broken = "it sets a variable up and down again and again";
		return refuse(run, -VMPI_ELIMIT, var.name, run->broken);
	}
	rc = write_value(run, &var, number, value);
	if (rc < 0)
		return rc;
	/* A value set by anything else is the one it goes back to. */
	if (!knob->ours)
		knob->first = now;
	knob->last = knob->now = value;
	knob->ours = true;
	record_add(run, &var, number, now, value, false, reason);
	return bounded;
}

static int tuner_revert(vmpi_tuner *tuner, int number, const char *reason)
{
	struct vm_policy_run *run = run_of(tuner);
	struct vm_policy_knob *knob = knob_find(run, number);
	struct vmpi_policy_var var = { 0 };
	int64_t now = 0;
	int rc;

	if (!knob)
		return -VMPI_ENOENT;
	rc = write_check(run, number, reason, &var, &now);
	now = decided(knob, now);
	if (rc < 0 || now == knob->first)
		return rc;
	/* Not a turn: it is what a policy should do. */
	rc = write_value(run, &var, number, knob->first);
	if (rc < 0)
		return rc;
	knob->last = knob->now = knob->first;
	knob->ours = true;
	knob->turns = 0;
	record_add(run, &var, number, now, knob->first, true, reason);
	return 0;
}

/* No decision: neither counted, nor reported. */
static int tuner_alternate(vmpi_tuner *tuner, int number, int64_t value)
{
	struct vm_policy_run *run = run_of(tuner);
	const struct vm_policy_vars *vars = &run->all->vars;
	struct vm_policy_knob *knob = knob_find(run, number);
	struct vmpi_policy_var var = { 0 };
	int64_t now = 0;
	int rc;

	if (!knob || run->all->trial != run)
		return -VMPI_ESTATE;
	if (vars->control_read(vars->arg, number, &now) < 0 || !knob->ours ||
	    now != knob->now || now == value)
		return 0;
	vars->control_info(vars->arg, number, &var);
	rc = write_bound(run, &var, &value);
	if (rc < 0)
		return rc;
	rc = write_value(run, &var, number, value);
	if (!rc)
		knob->now = value;
	return rc;
}

static int tuner_trial_begin(vmpi_tuner *tuner)
{
	struct vm_policy_run *run = run_of(tuner);
	struct vm_policies *all = run->all;

	if (all->trial == run)
		return 0;
	if (all->trial || (all->next_trial && all->next_trial != run)) {
		if (!all->next_trial)
			all->next_trial = run;
		return -VMPI_ESTATE;
	}
	all->trial = run;
	all->next_trial = NULL;
	return 0;
}

/* What was decided on is so again. */
static void tuner_trial_end(vmpi_tuner *tuner)
{
	struct vm_policy_run *run = run_of(tuner);

	if (run->all->trial != run)
		return;
	for (unsigned i = 0; i < run->knob_count; i++)
		if (run->knobs[i].ours)
			tuner_alternate(tuner, run->knobs[i].number,
					run->knobs[i].last);
	run->all->trial = NULL;
}

static const vmpi_tuner tuner_of_all = {
	.abi = VMPI_POLICY_ABI,
	.argument = "",
	.control_find = tuner_control_find,
	.counter_find = tuner_counter_find,
	.control_count = tuner_control_count,
	.counter_count = tuner_counter_count,
	.control_info = tuner_control_info,
	.counter_info = tuner_counter_info,
	.control_read = tuner_control_read,
	.read = tuner_read,
	.total = tuner_total,
	.write = tuner_write,
	.revert = tuner_revert,
	.log = tuner_log,
	.trial_begin = tuner_trial_begin,
	.trial_end = tuner_trial_end,
	.alternate = tuner_alternate,
};

void vm_policies_init(struct vm_policies *all,
		      const struct vm_policy_vars *vars,
		      struct tune_node_pvars *pvars)
{
	memset(all, 0, sizeof(*all));
	all->vars = *vars;
	all->pvars = pvars;
	all->controls_seen = vars->control_count(vars->arg);
	all->counters_seen = vars->counter_count(vars->arg);
}

const char *vm_policy_wrong(const struct vmpi_policy *policy)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_";

	if (policy->abi != VMPI_POLICY_ABI)
		return "it was built for another version of vmpi_policy.h";
	if (!policy->name || !policy->name[0])
		return "it has no name";
	if (strlen(policy->name) >= VM_POLICY_NAME_MAX)
		return "its name is too long";
	if (policy->name[strspn(policy->name, letters)])
		return "its name has other characters than letters, digits, - "
		       "and _";
	if (!policy->description)
		return "it has no description";
	if (!policy->tick)
		return "it has no tick()";
	return NULL;
}

/* Reverts its settings, except those that something else has set since. */
static void knobs_restore(struct vm_policy_run *run)
{
	const struct vm_policy_vars *vars = &run->all->vars;

	for (unsigned i = run->knob_count; i-- > 0;) {
		const struct vm_policy_knob *knob = &run->knobs[i];
		int64_t now;

		if (vars->control_read(vars->arg, knob->number, &now) == 0 &&
		    knob->ours && now == knob->now && now != knob->first)
			vars->control_write(vars->arg, knob->number,
					    knob->first);
	}
	run->knob_count = 0;
}

static void run_end(struct vm_policy_run *run)
{
	if (run->off)
		return;
	run->off = true;
	tuner_trial_end(&run->tuner);
	if (run->all->next_trial == run)
		run->all->next_trial = NULL;
	if (run->started) {
		vm_pvar_add(run->all->pvars->running, (uint64_t)-1);
		if (run->policy->end)
			run->policy->end(&run->tuner);
	}
	knobs_restore(run);
}

/* Turns a policy off after a call, for its result or for what it has done. */
static void guard(struct vm_policy_run *run, int rc)
{
	char text[LINE_MAX_];

	if (!rc && !run->broken)
		return;
	if (run->broken)
		snprintf(text, sizeof(text), "disabled: %s", run->broken);
	else
		snprintf(text, sizeof(text), "disabled because it failed: %s",
			 vmpi_strerror(rc));
	vm_pvar_add(run->all->pvars->failed, 1);
	run_end(run);
	say(run, true, text);
}

static bool name_taken(const struct vm_policies *all, const char *name)
{
	for (unsigned i = 0; i < all->count; i++)
		if (!strcmp(all->runs[i]->policy->name, name))
			return true;
	return false;
}

/* Calls start(); 0, or its error. */
static int run_start(struct vm_policy_run *run)
{
	struct vm_policies *all = run->all;
	char text[LINE_MAX_];
	int rc = run->policy->start ? run->policy->start(&run->tuner) : 0;

	if (!rc && !run->broken) {
		run->started = true;
		vm_pvar_add(all->pvars->running, 1);
		return 0;
	}
	snprintf(text, sizeof(text), "it does not start: %s",
		 run->broken ? run->broken : vmpi_strerror(rc));
	knobs_restore(run);
	say(run, true, text);
	return -VMPI_EINVAL;
}

int vm_policies_add(struct vm_policies *all, const struct vmpi_policy *policy,
		    const char *argument, uint64_t now_ns)
{
	const char *wrong = vm_policy_wrong(policy);
	struct vm_policy_run *run;
	int rc;

	all->now_ns = now_ns;
	if (!wrong && name_taken(all, policy->name))
		wrong = "there is another one of this name";
	if (wrong) {
		all->vars.say(all->vars.arg, policy->name, true, wrong);
		return -VMPI_EINVAL;
	}
	if (all->count == VM_POLICIES_MAX) {
		all->vars.say(all->vars.arg, policy->name, true,
			      "there are too many policies");
		return -VMPI_ELIMIT;
	}
	run = calloc(1, sizeof(*run));
	if (!run)
		return -VMPI_ENOMEM;
	run->all = all;
	run->policy = policy;
	run->tuner = tuner_of_all;
	run->tuner.process = all->vars.process;
	run->tuner.processes = all->vars.processes;
	run->tuner.ranks = all->vars.ranks;
	run->tuner.ranks_here = all->vars.ranks_here;
	if (argument)
		run->tuner.argument = argument;
	rc = run_start(run);
	if (rc) {
		free(run);
		return rc;
	}
	all->runs[all->count++] = run;
	return 0;
}

static void event_report(struct vm_policy_run *run,
			 enum vmpi_policy_event event, int number)
{
	if (!run->off && run->policy->event)
		guard(run, run->policy->event(&run->tuner, event, number));
}

/* Whether a variable is still what the policy has made it. */
static bool knob_holds(const struct vm_policy_vars *vars,
		       const struct vm_policy_knob *knob)
{
	int64_t now;

	return vars->control_read(vars->arg, knob->number, &now) == 0 &&
	       now == knob->now;
}

/* Notices variables whose value is not the policy's: something else has set
 * them. */
static void changes_see(struct vm_policy_run *run)
{
	const struct vm_policy_vars *vars = &run->all->vars;

	for (unsigned i = 0; i < run->knob_count && !run->off; i++) {
		struct vm_policy_knob *knob = &run->knobs[i];

		if (!knob->ours || knob_holds(vars, knob))
			continue;
		knob->ours = false;
		event_report(run, VMPI_POLICY_CHANGED, knob->number);
	}
}

/* Calls tick().  Who could have had the trial that it had asked for and did not
 * take it does not want it any more. */
static void run_tick(struct vm_policy_run *run, uint64_t now_ns)
{
	struct vm_policies *all = run->all;
	bool free = !all->trial;

	guard(run, run->policy->tick(&run->tuner, now_ns));
	if (free && all->next_trial == run)
		all->next_trial = NULL;
}

/* Tells all others of the decisions since the last call. */
static void disturbed_report(struct vm_policies *all, uint64_t from,
			     const struct vm_policy_run *self)
{
	for (uint64_t i = from; i < all->record_count; i++) {
		const struct vm_policy_record *record =
			vm_policy_record(all, i);

		for (unsigned o = 0; record && o < all->count; o++)
			if (all->runs[o] != self)
				event_report(all->runs[o],
					     VMPI_POLICY_DISTURBED,
					     record->number);
	}
}

/* More variables than there were. */
static bool added_see(struct vm_policies *all)
{
	int controls = all->vars.control_count(all->vars.arg);
	int counters = all->vars.counter_count(all->vars.arg);
	bool more = controls != all->controls_seen ||
		    counters != all->counters_seen;

	all->controls_seen = controls;
	all->counters_seen = counters;
	return more;
}

void vm_policies_tick(struct vm_policies *all, uint64_t now_ns)
{
	bool added = added_see(all);

	all->now_ns = now_ns;
	vm_pvar_add(all->pvars->ticks, 1);
	for (unsigned i = 0; i < all->count; i++) {
		struct vm_policy_run *run = all->runs[i];

		uint64_t decisions = all->record_count;

		if (run->off)
			continue;
		run->ticks++;
		if (added)
			event_report(run, VMPI_POLICY_ADDED, 0);
		changes_see(run);
		if (!run->off)
			run_tick(run, now_ns);
		disturbed_report(all, decisions, run);
	}
}

/* What was found: the next run can begin with it.  What is only tried was not. */
static void found_say(struct vm_policy_run *run)
{
	const struct vm_policy_vars *vars = &run->all->vars;
	struct vmpi_policy_var var;
	char text[LINE_MAX_];

	for (unsigned i = 0; i < run->knob_count && !run->off; i++) {
		const struct vm_policy_knob *knob = &run->knobs[i];

		if (!knob->ours || knob->last == knob->first ||
		    run->all->trial == run ||
		    vars->control_info(vars->arg, knob->number, &var) < 0)
			continue;
		snprintf(text, sizeof(text),
			 "to begin with what this one ends with: --set "
			 "%s=%" PRId64,
			 var.name, knob->last);
		say(run, false, text);
	}
}

void vm_policies_fini(struct vm_policies *all, uint64_t now_ns)
{
	all->now_ns = now_ns;
	for (unsigned i = all->count; i-- > 0;) {
		event_report(all->runs[i], VMPI_POLICY_END, 0);
		found_say(all->runs[i]);
		run_end(all->runs[i]);
		free(all->runs[i]);
	}
	all->count = 0;
}

const struct vm_policy_record *vm_policy_record(const struct vm_policies *all,
						uint64_t i)
{
	bool known = i < all->record_count &&
		     all->record_count - i <= VM_POLICY_RECORDS;

	return known ? &all->records[i % VM_POLICY_RECORDS] : NULL;
}
