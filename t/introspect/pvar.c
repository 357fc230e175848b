/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performance variables: rows become fields and names; blocks add up.
 */
#include "introspect/pvar.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
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
	return done_testing();
}
