/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows, found by section and call; row 0 is that of section 0 outside of calls,
 * and gets everything there is no room for.
 */
#include "introspect/measure/profile.h"

#include <stdio.h>
#include <string.h>

static unsigned slot_first(uint32_t section, uint32_t call)
{
	uint32_t key = (section << 16) | (call & 0xffff);

	return (key * 2654435761u) >> 16 & (VM_PROFILE_SLOTS - 1);
}

/* The rows are at most half as many as the slots, so there is a free one. */
static uint32_t row_find(struct vm_profile *profile, uint32_t section,
			 uint32_t call)
{
	unsigned slot = slot_first(section, call);
	struct vm_profile_row *row;
	uint32_t index;

	while ((index = profile->slots[slot])) {
		row = &profile->table[index - 1];
		if (row->section == section && row->call == call)
			return index - 1;
		slot = (slot + 1) & (VM_PROFILE_SLOTS - 1);
	}
	if (profile->rows == VM_PROFILE_ROWS) {
		profile->lost_rows++;
		return 0;
	}
	index = profile->rows++;
	row = &profile->table[index];
	row->section = section;
	row->call = call;
	profile->slots[slot] = (uint16_t)(index + 1);
	return index;
}

/* The innermost open section that there is room for. */
static uint32_t section_now(const struct vm_profile *profile)
{
	uint32_t depth = profile->depth;

	if (depth > VM_PROFILE_DEPTH)
		depth = VM_PROFILE_DEPTH;
	return depth ? profile->open[depth - 1] : 0;
}

/* Adds the growth since the last time to the row that the rank leaves. */
static void settle(struct vm_profile *profile, uint64_t now,
		   const uint64_t *values)
{
	struct vm_profile_row *row = &profile->table[profile->row];

	if (!profile->off) {
		row->time += now - profile->time;
		for (unsigned w = 0; w < profile->words; w++)
			row->values[w] += values[w] - profile->last[w];
	}
	profile->time = now;
	memcpy(profile->last, values, profile->words * sizeof(*values));
}

static void go(struct vm_profile *profile, uint32_t section, uint32_t call)
{
	profile->row = row_find(profile, section, call);
}

void vm_profile_init(struct vm_profile *profile, int rank, unsigned words)
{
	VM_ASSERT(words <= VM_PROFILE_WORDS);
	profile->rank = rank;
	profile->words = words;
	profile->sections = 1;
	profile->list[0].parent = -1;
	profile->list[0].count = 1;
	go(profile, 0, 0);
}

void vm_profile_begin(struct vm_profile *profile, uint64_t now,
		      const uint64_t *values)
{
	if (!profile->begin)
		profile->begin = now;
	profile->depth = 0;
	profile->time = now;
	memcpy(profile->last, values, profile->words * sizeof(*values));
	go(profile, section_now(profile), 0);
}

void vm_profile_end(struct vm_profile *profile, uint64_t now,
		    const uint64_t *values)
{
	settle(profile, now, values);
}

uint64_t vm_profile_idle(struct vm_profile *profile, uint32_t worker,
			 uint64_t idle)
{
	if (profile->idle_worker == worker + 1)
		profile->idle += idle - profile->idle_last;
	profile->idle_worker = worker + 1;
	profile->idle_last = idle;
	return profile->idle;
}

void vm_profile_enter(struct vm_profile *profile, uint64_t now,
		      const uint64_t *values, uint32_t call)
{
	settle(profile, now, values);
	go(profile, section_now(profile), call);
	if (!profile->off)
		profile->table[profile->row].count++;
}

void vm_profile_exit(struct vm_profile *profile, uint64_t now,
		     const uint64_t *values)
{
	settle(profile, now, values);
	go(profile, section_now(profile), 0);
}

/* The section of that name in `parent`; parent itself without room. */
static uint32_t section_find(struct vm_profile *profile, uint32_t parent,
			     const char *name)
{
	struct vm_profile_section *section;
	char known[VM_PROFILE_NAME];

	snprintf(known, sizeof(known), "%s", name);
	for (uint32_t s = 1; s < profile->sections; s++)
		if (profile->list[s].parent == (int32_t)parent &&
		    strcmp(profile->list[s].name, known) == 0)
			return s;
	if (profile->sections == VM_PROFILE_SECTIONS) {
		profile->lost_sections++;
		return parent;
	}
	section = &profile->list[profile->sections];
	memcpy(section->name, known, sizeof(known));
	section->parent = (int32_t)parent;
	return profile->sections++;
}

/* The call that the rank is in, as MPI_Pcontrol may be, goes on. */
static uint32_t call_now(const struct vm_profile *profile)
{
	return profile->table[profile->row].call;
}

void vm_profile_section_begin(struct vm_profile *profile, uint64_t now,
			      const uint64_t *values, const char *name)
{
	uint32_t call = call_now(profile), outer = section_now(profile);
	uint32_t section = outer;

	settle(profile, now, values);
	if (profile->depth < VM_PROFILE_DEPTH) {
		section = section_find(profile, outer, name);
		profile->open[profile->depth] = section;
	} else {
		profile->lost_sections++;
	}
	profile->depth++;
	if (section != outer && !profile->off)
		profile->list[section].count++;
	go(profile, section, call);
}

/* Of one without room the name is not known. */
static bool name_fits(const struct vm_profile *profile, const char *name)
{
	uint32_t depth = profile->depth, section = section_now(profile);
	char known[VM_PROFILE_NAME];

	if (!depth)
		return false;
	if (!name || depth > VM_PROFILE_DEPTH || profile->lost_sections)
		return true;
	snprintf(known, sizeof(known), "%s", name);
	return strcmp(profile->list[section].name, known) == 0;
}

int vm_profile_section_end(struct vm_profile *profile, uint64_t now,
			   const uint64_t *values, const char *name)
{
	uint32_t call = call_now(profile);

	if (!name_fits(profile, name))
		return -VMPI_EINVAL;
	settle(profile, now, values);
	profile->depth--;
	go(profile, section_now(profile), call);
	return 0;
}

void vm_profile_switch(struct vm_profile *profile, uint64_t now,
		       const uint64_t *values, bool on)
{
	settle(profile, now, values);
	profile->off = !on;
}

bool vm_profile_valid(const struct vm_profile *profile)
{
	if (profile->words > VM_PROFILE_WORDS || profile->sections < 1 ||
	    profile->sections > VM_PROFILE_SECTIONS || profile->rows < 1 ||
	    profile->rows > VM_PROFILE_ROWS)
		return false;
	for (uint32_t s = 0; s < profile->sections; s++) {
		const struct vm_profile_section *section = &profile->list[s];

		if (section->parent < (s ? 0 : -1) ||
		    section->parent >= (int32_t)s ||
		    !memchr(section->name, 0, sizeof(section->name)))
			return false;
	}
	for (uint32_t r = 0; r < profile->rows; r++)
		if (profile->table[r].section >= profile->sections)
			return false;
	return true;
}
