/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of the ranks of this process, from their profiles: how often, how
 * long, and what was counted in them.
 */
#include "advise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/instrument/intercept.h"
#include "core/rank/state.h"
#include "core/instrument/profiler.h"
#include "core/rank/vars.h"
#include "report/advice.h"
#include "introspect/measure/profile.h"
#include "introspect/vars/cvar.h"
#include "node.h"

/* A profile requested by the user has the user's variables. */
int advise_prepare(void)
{
	static const char names[] =
#define NAME(field, counter, text) counter ","
		VM_ADVICE_COUNTS(NAME)
#undef NAME
			"core_sends";
	int rc = vm_cvar_set("core_profile_sites", "1", VM_SOURCE_COMMAND);

	if (rc || core_cvar.profile[0])
		return rc;
	return vm_cvar_set("core_profile", names, VM_SOURCE_COMMAND);
}

/* Calls that look whether something is there, and return. */
static bool is_poll(const char *name)
{
	static const char *const polls[] = { "MPI_Test",
					     "MPI_Testany",
					     "MPI_Testall",
					     "MPI_Testsome",
					     "MPI_Iprobe",
					     "MPI_Improbe",
					     "MPI_Request_get_status",
					     "vmpi_test",
					     "vmpi_test_any",
					     "vmpi_try_match" };

	for (size_t i = 0; i < sizeof(polls) / sizeof(polls[0]); i++)
		if (!strcmp(name, polls[i]))
			return true;
	return false;
}

/* A word of a row that is no variable. */
static uint64_t own_ns(const struct vm_profile *profile,
		       const struct vm_profile_row *row, unsigned word)
{
	return vm_clock_span_ns(
		row->values[profile->words - VM_PROFILE_OWN + word]);
}

static void row_add(struct vm_advice_call *call,
		    const struct vm_profile *profile,
		    const struct vm_profile_row *row)
{
	int word;

	call->count += row->count;
	call->time_ns += vm_clock_span_ns(row->time);
	call->idle_ns += own_ns(profile, row, VM_PROFILE_IDLE);
#define COUNT(field, counter, text)       \
	word = vm_profiler_word(counter); \
	if (word >= 0)                    \
		call->field += row->values[word];
	VM_ADVICE_COUNTS(COUNT)
#undef COUNT
}

static void rank_add(struct vm_advice_facts *facts,
		     struct vm_advice_call *calls,
		     const struct vm_profile *profile)
{
	for (uint32_t i = 0; i < profile->rows; i++) {
		const struct vm_profile_row *row = &profile->table[i];

		if (row->call == 0 || row->call >= vm_intercept_call_count())
			continue;
		row_add(&calls[row->call], profile, row);
		facts->call_ns += vm_clock_span_ns(row->time);
		facts->work_ns += own_ns(profile, row, VM_PROFILE_HAD);
		facts->idle_ns += own_ns(profile, row, VM_PROFILE_IDLE);
	}
}

static int longer(const void *left, const void *right)
{
	const struct vm_advice_call *a = left, *b = right;

	return (a->time_ns < b->time_ns) - (a->time_ns > b->time_ns);
}

int advise_calls_take(struct vm_advice_facts *facts)
{
	uint32_t count = vm_intercept_call_count();
	struct vm_advice_call *calls = calloc(count, sizeof(*calls));

	if (!calls)
		return -VMPI_ENOMEM;
	for (int i = 0; i < node.ranks; i++)
		if (vm_node->own[i]->profile)
			rank_add(facts, calls, vm_node->own[i]->profile);
	for (uint32_t i = 0; i < count; i++) {
		snprintf(calls[i].name, sizeof(calls[i].name), "%s",
			 vm_intercept_call_name(i));
		if (is_poll(calls[i].name))
			calls[i].polls = calls[i].count;
	}
	qsort(calls, count, sizeof(*calls), longer);
	for (uint32_t i = 0; i < VM_ADVICE_CALLS && i < count; i++)
		if (calls[i].count)
			vm_advice_call_add(facts, &calls[i]);
	free(calls);
	return 0;
}
