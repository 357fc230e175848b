/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables: rows become fields and names; blocks add up.
 */
#include "introspect/pvar.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "introspect/nearest.h"
#include "tap.h"

#define FARM_BARN_PVARS(X)                                         \
	X(COUNTER, cows, "cows", WORKER, "Cows that came in")      \
	X(HIGHWATERMARK, hay_max, "bales", WORKER, "Most hay")     \
	X(AGGREGATE, milk_bytes, "bytes", WORKER, "Milk in bytes") \
	X(STATE, door, "state", WORKER, "0 closed, 1 open")

#define FARM_HEN_PVARS(X) X(LEVEL, eggs, "eggs", RANK, "Eggs under the hen")

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

	snprintf(line, sizeof(line), "%u %s %s %s %s;", view->index, view->name,
		 vm_pvar_class_name(view->row->class_), view->row->unit,
		 vm_pvar_of_name(view->row->of));
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

/* Blocks with a second one each, of which only the odd ones are here. */
static void place_checks(void)
{
	struct {
		struct farm_barn_pvars first, second;
	} barns[4] = {
		[0] = { .first = { .cows = 100 } },
		[1] = { .first = { .cows = 3, .hay_max = 7 },
			.second = { .cows = 4, .hay_max = 5 } },
		[3] = { .first = { .cows = 10, .hay_max = 6 } },
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

	is_int(vm_pvar_count(), 5, "five variables");
	is_int(vm_pvar_find("farm_eggs"), 4, "found by its name");
	is_int(vm_pvar_find("farm_egg"), -1, "no such name");
	ok(vm_pvar_info(3, &view, name) && strcmp(name, "farm_door") == 0,
	   "told by its number");
	ok(!vm_pvar_info(5, &view, name) && !vm_pvar_info(-1, &view, name),
	   "no such numbers");
	is_int(vm_pvar_value(&value, 0, 1), -VMPI_ERANK, "no blocks yet");
	is_int(vm_pvar_total(&value, 0), -VMPI_ESTATE, "so no total");
	vm_pvars_place(&farm_barn_pvar_table, &place);
	is_int(vm_pvar_blocks(0), 4, "four blocks");
	is_int(vm_pvar_value(&value, 0, 0), -VMPI_ERANK, "one is elsewhere");
	is_int(vm_pvar_value(&value, 0, 4), -VMPI_ERANK, "one is nowhere");
	is_int(vm_pvar_value(&value, 5, 1), -VMPI_ENOENT, "no such variable");
	is_int((intmax_t)value, 77, "failures leave the value alone");
	is_int(vm_pvar_value(&value, 0, 1), 0, "a value can be read");
	is_int((intmax_t)value, 7, "of both blocks");
	vm_pvar_value(&value, 1, 1);
	is_int((intmax_t)value, 7, "of watermarks the higher one");
	is_int(vm_pvar_total(&value, 0), 0, "a total can be read");
	is_int((intmax_t)value, 17, "of all blocks that are here");
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
		  "0 farm_cows counter cows worker;"
		  "1 farm_hay_max high-water mark bales worker;"
		  "2 farm_milk_bytes aggregate bytes worker;"
		  "3 farm_door state state worker;"
		  "4 farm_eggs level eggs rank;",
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
	place_checks();
	return done_testing();
}
