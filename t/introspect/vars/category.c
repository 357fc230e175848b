/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Categories: a tree with names, and a stamp that moves when members come.
 */
#include "introspect/vars/category.h"

#include <string.h>

#include "farm.h"
#include "introspect/vars/pvar.h"
#include "tap.h"

#define FARM_HEN_PVARS(X) \
	X(LEVEL, eggs, "eggs", RANK, UB, p2p, "Eggs under the hen")

struct farm_hen_pvars {
	FARM_HEN_PVARS(VM_PVAR_FIELD)
};

VM_PVARS_DEFINE(farm_hen, FARM_HEN_PVARS)

static void names(void)
{
	struct vm_category_view view;
	int wrong = 0, endless = 0, steps;

	for (int i = 0; vm_category_info(i, &view); i++) {
		wrong += vm_category_find(view.name) != i || !view.text[0];
		steps = 0;
		while (view.parent != VM_CATEGORY_none &&
		       steps++ < VM_CATEGORY_end)
			vm_category_info((int)view.parent, &view);
		endless += steps > VM_CATEGORY_end;
	}
	is_int(wrong, 0, "each category has a name of its own and a text");
	is_int(endless, 0, "each is part of a root in the end");
	ok(!vm_category_info(-1, &view) &&
		   !vm_category_info(VM_CATEGORY_end, &view),
	   "there are no others");
	is_int(vm_category_find("cattle"), -1, "nor names of others");
}

static void tree(void)
{
	ok(vm_category_in(VM_CATEGORY_rndv, VM_CATEGORY_rndv),
	   "a category lies in itself");
	ok(vm_category_in(VM_CATEGORY_rndv, VM_CATEGORY_p2p),
	   "in the one that it is part of");
	ok(!vm_category_in(VM_CATEGORY_p2p, VM_CATEGORY_rndv),
	   "which does not lie in it");
	ok(!vm_category_in(VM_CATEGORY_rndv, VM_CATEGORY_coll),
	   "nor does it lie in others");
	ok(vm_category_in(VM_CATEGORY_rndv, VM_CATEGORY_none) &&
		   vm_category_in(VM_CATEGORY_p2p, VM_CATEGORY_none),
	   "all lie in what has no name");
}

static void stamps(void)
{
	unsigned first = vm_vars_stamp(), second, third;

	vm_vars_add(&farm_cvar_table);
	second = vm_vars_stamp();
	ok(second != first, "the stamp moves with control variables");
	vm_pvars_add(&farm_hen_pvar_table);
	third = vm_vars_stamp();
	ok(third != second && third != first, "and with performance variables");
	vm_vars_add(&farm_cvar_table);
	is_int(vm_vars_stamp(), third, "and not without new ones");
}

int main(void)
{
	names();
	tree();
	stamps();
	is_string(vm_level_name(VM_LEVEL_TB), "tuner basic",
		  "levels have names");
	return done_testing();
}
