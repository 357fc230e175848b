/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables: rows become fields and names; blocks add up.
 */
#include "introspect/vars/pvar.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "tap.h"

#define FARM_BARN_PVARS(X)                                                   \
	X(COUNTER, cows, "cows", WORKER, UB, p2p, "Cows that came in")       \
	X(HIGHWATERMARK, hay_max, "bales", WORKER, TD, pool, "Most hay")     \
	X(AGGREGATE, milk_bytes, "bytes", WORKER, TD, pool, "Milk in bytes") \
	X(STATE, door, "shut|open", WORKER, DA, debug, "The door")           \
	X(LEVEL, stalls[3], "cows", WORKER, TB, sched, "Cows in each stall") \
	X(LOWWATERMARK, hay_min, "bales", WORKER, TA, pool, "Least hay")     \
	X(PERCENTAGE, full, "part", WORKER, TB, pool, "How full it is")

#define FARM_HEN_PVARS(X) \
	X(LEVEL, eggs, "eggs", RANK, UB, p2p, "Eggs under the hen")

struct farm_barn_pvars {
	FARM_BARN_PVARS(VM_PVAR_FIELD)
};
struct farm_hen_pvars {
	FARM_HEN_PVARS(VM_PVAR_FIELD)
};

VM_PVARS_DEFINE(farm_barn, FARM_BARN_PVARS)
VM_PVARS_DEFINE(farm_hen, FARM_HEN_PVARS)

static int collect(const struct vm_pvar_view *view, void *arg)
{
	char *list = arg, line[256];

	snprintf(line, sizeof(line), "%u %s[%u] %s %s %s %s;", view->index,
		 view->name, view->row->words,
		 vm_pvar_class_name(view->row->class_), view->row->unit,
		 vm_pvar_of_name(view->row->of),
		 vm_level_name(view->row->level));
	strncat(list, line, 1000 - strlen(list));
	return 0;
}

static int stop_at_second(const struct vm_pvar_view *view, void *arg)
{
	(*(int *)arg)++;
	return view->index == 1 ? 7 : 0;
}

static bool odd_here(unsigned i)
{
	return i % 2 == 1;
}

/* While blocks 1 and 3 are placed. */
static void array_checks(void)
{
	int stalls = vm_pvar_find("farm_stalls");
	uint64_t values[4] = { 0, 0, 0, 99 };
	struct vm_pvar_view view;
	char name[VM_NAME_MAX];

	vm_pvar_info(stalls, &view, name);
	is_int(view.word, 4, "an array has its place in the block");
	is_int(vm_pvar_value(values, stalls, 1), 0, "its values can be read");
	ok(values[0] == 11 && values[1] == 0 && values[2] == 2,
	   "each of both blocks");
	vm_pvar_total(values, stalls);
	ok(values[0] == 11 && values[1] == 0 && values[2] == 6,
	   "the total is one of each word");
	is_int((intmax_t)values[3], 99, "and of no more");
	vm_pvar_info(vm_pvar_find("farm_hay_min"), &view, name);
	is_int(view.word, 7, "what follows an array lies behind it");
	vm_pvar_value(values, (int)view.index, 1);
	is_int((intmax_t)values[0], 4,
	       "a low-water mark does not count where none was set");
	vm_pvar_total(values, (int)view.index);
	is_int((intmax_t)values[0], 3, "the total is the least");
}

static void clear_checks(void)
{
	struct farm_barn_pvars total, barn = { .hay_min = 8, .full = 250000 };

	memset(&total, 1, sizeof(total));
	vm_pvars_clear(&farm_barn_pvar_table, &total);
	ok(total.cows == 0 && total.stalls[2] == 0 && total.full == 0,
	   "a clear block counts nothing");
	ok(total.hay_min == VM_PVAR_NONE, "and has no low-water mark");
	vm_pvars_fold(&farm_barn_pvar_table, &total, &barn);
	barn = (struct farm_barn_pvars){ .hay_min = 9,
					 .stalls = { [2] = 5 },
					 .full = 100000 };
	vm_pvars_fold(&farm_barn_pvar_table, &total, &barn);
	is_int((intmax_t)total.hay_min, 8, "of low-water marks the lower one");
	is_int((intmax_t)total.full, 250000, "of percentages the higher one");
	is_int((intmax_t)total.stalls[2], 5, "arrays add up");
}

/* Blocks with a second one each, of which only the odd ones are here. */
static void place_checks(void)
{
	struct {
		struct farm_barn_pvars first, second;
	} barns[4] = {
		[0] = { .first = { .cows = 100 } },
		[1] = { .first = { .cows = 3,
				   .hay_max = 7,
				   .stalls = { 1, 0, 2 },
				   .hay_min = 4 },
			.second = { .cows = 4,
				    .hay_max = 5,
				    .stalls = { 10 },
				    .hay_min = VM_PVAR_NONE } },
		[3] = { .first = { .cows = 10,
				   .hay_max = 6,
				   .stalls = { 0, 0, 4 },
				   .hay_min = 3 },
			.second = { .hay_min = VM_PVAR_NONE } },
	};
	const struct vm_pvar_place place = {
		.base = (const char *)barns,
		.stride = sizeof(barns[0]),
		.also = sizeof(barns[0].first),
		.count = 4,
		.here = odd_here,
	};
	struct vm_pvar_view view;
	char name[VM_NAME_MAX];
	uint64_t value = 77;

	is_int(vm_pvar_count(), 8, "eight variables");
	is_int(vm_pvar_find("farm_eggs"), 7, "found by its name");
	is_int(vm_pvar_find("farm_egg"), -1, "no such name");
	ok(vm_pvar_info(3, &view, name) && strcmp(name, "farm_door") == 0,
	   "told by its number");
	ok(!vm_pvar_info(8, &view, name) && !vm_pvar_info(-1, &view, name),
	   "no such numbers");
	is_int(vm_pvar_value(&value, 0, 1), -VMPI_ERANK, "no blocks yet");
	is_int(vm_pvar_total(&value, 0), -VMPI_ESTATE, "so no total");
	vm_pvars_place(&farm_barn_pvar_table, &place);
	is_int(vm_pvar_blocks(0), 4, "four blocks");
	is_int(vm_pvar_value(&value, 0, 0), -VMPI_ERANK, "one is elsewhere");
	is_int(vm_pvar_value(&value, 0, 4), -VMPI_ERANK, "one is nowhere");
	is_int(vm_pvar_value(&value, 8, 1), -VMPI_ENOENT, "no such variable");
	is_int((intmax_t)value, 77, "failures leave the value alone");
	is_int(vm_pvar_value(&value, 0, 1), 0, "a value can be read");
	is_int((intmax_t)value, 7, "of both blocks");
	vm_pvar_value(&value, 1, 1);
	is_int((intmax_t)value, 7, "of watermarks the higher one");
	is_int(vm_pvar_total(&value, 0), 0, "a total can be read");
	is_int((intmax_t)value, 17, "of all blocks that are here");
	array_checks();
	vm_pvars_place(&farm_barn_pvar_table, NULL);
	is_int(vm_pvar_value(&value, 0, 1), -VMPI_ERANK, "blocks can go");
}

int main(void)
{
	struct farm_barn_pvars total = { .cows = 1, .hay_max = 5, .door = 1 };
	struct farm_barn_pvars barn = { .cows = 2,
					.hay_max = 3,
					.milk_bytes = UINT64_C(1) << 40 };
	char list[1024] = "";
	int visits = 0;

	is_int(vm_pvars_add(&farm_barn_pvar_table), 0, "a table is added");
	is_int(vm_pvars_add(&farm_hen_pvar_table), 0,
	       "another of the same layer is added");
	is_int(vm_pvars_add(&farm_barn_pvar_table), 0,
	       "adding a table again is no error");
	vm_pvar_each(collect, list);
	is_string(list,
		  "0 farm_cows[1] counter cows worker user basic;"
		  "1 farm_hay_max[1] high-water mark bales worker tuner detail;"
		  "2 farm_milk_bytes[1] aggregate bytes worker tuner detail;"
		  "3 farm_door[1] state shut|open worker develop all;"
		  "4 farm_stalls[3] level cows worker tuner basic;"
		  "5 farm_hay_min[1] low-water mark bales worker tuner all;"
		  "6 farm_full[1] percentage part worker tuner basic;"
		  "7 farm_eggs[1] level eggs rank user basic;",
		  "each row is visited once, in order, with its facts");
	is_int(vm_pvar_each(stop_at_second, &visits), 7,
	       "a visit can end the tour with a result");
	is_int(visits, 2, "which then ends");

	is_int((intmax_t)vm_pvar_read(&barn, 2), INT64_C(1) << 40,
	       "row 2 is word 2 of the block");
	vm_pvars_fold(&farm_barn_pvar_table, &total, &barn);
	is_int((intmax_t)total.cows, 3, "counters add up");
	is_int((intmax_t)total.hay_max, 5,
	       "of watermarks the higher one holds");
	is_int((intmax_t)total.milk_bytes, INT64_C(1) << 40,
	       "aggregates add up");
	is_int((intmax_t)total.door, 1, "states are not added");
	clear_checks();
	place_checks();
	return done_testing();
}
