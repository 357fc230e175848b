/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of control variables: own values stay, all others follow.
 */
#include "introspect/vars/cvar_copy.h"

#include "base/err.h"
#include "farm.h"
#include "tap.h"

#define COOP_CVARS(X)                                                       \
	X(INT, hens, 4, 0, 100, "hens", RANK, UB, p2p, "Hens in the coop")  \
	X(INT, cocks, 1, 0, 9, "cocks", RANK, UB, p2p, "Cocks in the coop") \
	X(BOOL, open, 1, 0, 1, "flag", ANYTIME, UB, p2p, "The hatch is open")

struct coop_cvars {
	COOP_CVARS(VM_CVAR_FIELD)
};

VM_CVARS_DEFINE(coop, COOP_CVARS)

int main(void)
{
	struct vm_cvar_copy *one, *two;
	const struct coop_cvars *first, *second;
	int hens, cocks, open, cows;

	vm_vars_add(&farm_cvar_table);
	vm_vars_add(&coop_cvar_table);
	hens = vm_cvar_find("coop_hens");
	cocks = vm_cvar_find("coop_cocks");
	open = vm_cvar_find("coop_open");
	cows = vm_cvar_find("farm_cows");
	vm_cvar_store(hens, 7, VM_SOURCE_RUNTIME);
	one = vm_cvar_copy_new(&coop_cvar_table);
	two = vm_cvar_copy_new(&coop_cvar_table);
	if (!one || !two)
		bail("out of memory");
	first = vm_cvar_copy_values(one);
	second = vm_cvar_copy_values(two);
	is_int(first->hens, 7, "a copy begins with the values of the layer");
	is_int(vm_cvar_copy_store(one, hens, 20), 0, "one gets its own value");
	is_int(first->hens, 20, "which counts there");
	is_int(second->hens, 7, "but not in another");
	is_int(coop_cvar.hens, 7, "nor in the layer");
	vm_cvar_set("coop_hens", "9", VM_SOURCE_RUNTIME);
	vm_cvar_set("coop_cocks", "3", VM_SOURCE_RUNTIME);
	vm_cvar_set("coop_open", "off", VM_SOURCE_RUNTIME);
	is_int(first->hens, 20, "the own value stays when the layer's changes");
	is_int(first->cocks, 3, "what is not its own follows");
	is_int(first->open, 0, "and what cannot be its own does");
	is_int(second->hens, 9, "another copy follows in all");
	is_int(vm_cvar_copy_store(one, open, 1), -VMPI_EINVAL,
	       "only some variables can have own values");
	is_int(vm_cvar_copy_store(one, cows, 1), -VMPI_EINVAL,
	       "none of another layer");
	is_int(vm_cvar_copy_store(one, 1000, 1), -VMPI_ENOENT,
	       "none that there is not");
	is_int(vm_cvar_copy_store(one, cocks, 10), -VMPI_EINVAL,
	       "nor one out of its range");
	is_int(first->cocks, 3, "a refused store changes nothing");
	vm_cvar_set("coop_cocks", "4", VM_SOURCE_RUNTIME);
	is_int(first->cocks, 4, "and the variable goes on to follow");
	is_int(vm_cvar_copy_follow(one, hens), 0,
	       "an own value can be given up");
	is_int(first->hens, 9, "then it is the layer's");
	vm_cvar_set("coop_hens", "11", VM_SOURCE_RUNTIME);
	is_int(first->hens, 11, "and follows it");
	vm_cvar_copy_free(one);
	vm_cvar_copy_free(NULL);
	vm_cvar_set("coop_hens", "12", VM_SOURCE_RUNTIME);
	is_int(second->hens, 12, "others follow when one has gone");
	vm_cvar_copy_free(two);
	vm_cvar_set("coop_hens", "13", VM_SOURCE_RUNTIME);
	is_int(coop_cvar.hens, 13, "the layer goes on without copies");
	return done_testing();
}
