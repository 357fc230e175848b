/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process for policies that is none: variables in arrays, and time as tests
 * like it.
 */
#ifndef T_INTROSPECT_WORLD_H
#define T_INTROSPECT_WORLD_H

#include <stdio.h>
#include <string.h>

#include "introspect/policy/policy.h"
#include "tap.h"

#define WORLD_VARS 32
#define WORLD_WORDS 64

struct world {
	struct world_control {
		struct vmpi_policy_var var;
		bool text;
		int64_t value;
	} controls[WORLD_VARS];
	int control_count;
	struct world_counter {
		struct vmpi_policy_var var;
		uint64_t words[WORLD_WORDS];
	} counters[WORLD_VARS];
	int counter_count;
	int decided, wrong;
	struct vm_policy_record last;
	char said[256];
};

static inline int world_controls(void *arg)
{
	return ((struct world *)arg)->control_count;
}

static inline int world_counters(void *arg)
{
	return ((struct world *)arg)->counter_count;
}

static inline int world_control_find(void *arg, const char *name)
{
	struct world *world = arg;

	for (int i = 0; i < world->control_count; i++)
		if (!strcmp(world->controls[i].var.name, name))
			return i;
	return -VMPI_ENOENT;
}

static inline int world_counter_find(void *arg, const char *name)
{
	struct world *world = arg;

	for (int i = 0; i < world->counter_count; i++)
		if (!strcmp(world->counters[i].var.name, name))
			return i;
	return -VMPI_ENOENT;
}

static inline int world_control_info(void *arg, int number,
				     struct vmpi_policy_var *var)
{
	struct world *world = arg;

	if (number < 0 || number >= world->control_count)
		return -VMPI_ENOENT;
	*var = world->controls[number].var;
	return 0;
}

static inline int world_counter_info(void *arg, int number,
				     struct vmpi_policy_var *var)
{
	struct world *world = arg;

	if (number < 0 || number >= world->counter_count)
		return -VMPI_ENOENT;
	*var = world->counters[number].var;
	return 0;
}

static inline int world_load(void *arg, int number, int64_t *value)
{
	struct world *world = arg;

	if (number < 0 || number >= world->control_count)
		return -VMPI_ENOENT;
	if (world->controls[number].text)
		return -VMPI_EINVAL;
	*value = world->controls[number].value;
	return 0;
}

/* Whatever comes through must be allowed. */
static inline int world_store(void *arg, int number, int64_t value)
{
	struct world *world = arg;
	const struct vmpi_policy_var *var = &world->controls[number].var;

	if (number < 0 || number >= world->control_count ||
	    var->when == VMPI_POLICY_STARTUP || value < var->min ||
	    value > var->max)
		bail("variable %d was to become %lld", number,
		     (long long)value);
	world->controls[number].value = value;
	return 0;
}

static inline int world_total(void *arg, int number, uint64_t *values,
			      unsigned words)
{
	struct world *world = arg;

	if (number < 0 || number >= world->counter_count ||
	    words > world->counters[number].var.words)
		return -VMPI_ENOENT;
	memcpy(values, world->counters[number].words,
	       words * sizeof(values[0]));
	return 0;
}

static inline int world_read(void *arg, int number, unsigned block,
			     uint64_t *values, unsigned words)
{
	return block ? -VMPI_ERANK : world_total(arg, number, values, words);
}

static inline void world_decided(void *arg,
				 const struct vm_policy_record *record)
{
	struct world *world = arg;

	world->decided++;
	world->last = *record;
}

static inline void world_say(void *arg, const char *policy, bool wrong,
			     const char *text)
{
	struct world *world = arg;

	world->wrong += wrong;
	snprintf(world->said, sizeof(world->said), "%s: %s",
		 policy ? policy : "?", text);
}

static inline struct vm_policy_vars world_vars(struct world *world)
{
	return (struct vm_policy_vars){
		.process = 0,
		.processes = 2,
		.ranks = 8,
		.ranks_here = 4,
		.control_count = world_controls,
		.control_find = world_control_find,
		.control_info = world_control_info,
		.control_read = world_load,
		.control_write = world_store,
		.counter_count = world_counters,
		.counter_find = world_counter_find,
		.counter_info = world_counter_info,
		.read = world_read,
		.total = world_total,
		.decided = world_decided,
		.say = world_say,
		.arg = world,
	};
}

/* New variables; their numbers. */
static inline int world_control(struct world *world, const char *name,
				int64_t value, int64_t min, int64_t max,
				const char *unit, enum vmpi_policy_when when)
{
	world->controls[world->control_count] = (struct world_control){
		.var = { .name = name,
			 .unit = unit,
			 .text = "",
			 .when = when,
			 .preset = value,
			 .min = min,
			 .max = max },
		.value = value,
	};
	return world->control_count++;
}

static inline int world_counter(struct world *world, const char *name,
				unsigned words)
{
	world->counters[world->counter_count] = (struct world_counter){
		.var = { .name = name,
			 .unit = "",
			 .text = "",
			 .of = VMPI_POLICY_NODE,
			 .blocks = 1,
			 .words = words },
	};
	return world->counter_count++;
}

/* Adds to the counter of that name. */
static inline void world_add(struct world *world, const char *name,
			     unsigned word, uint64_t amount)
{
	int number = world_counter_find(world, name);

	if (number < 0)
		bail("there is no counter %s", name);
	world->counters[number].words[word] += amount;
}

/* The control variable of that name. */
static inline int64_t *world_value(struct world *world, const char *name)
{
	int number = world_control_find(world, name);

	if (number < 0)
		bail("there is no control variable %s", name);
	return &world->controls[number].value;
}

/* Numbers that look random: the next of *state. */
static inline uint64_t world_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return *state >> 33;
}

#endif
