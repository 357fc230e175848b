/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the built-in policies.
 */
#include "introspect/policy/policies.h"

#include <string.h>

const struct vmpi_policy *const vm_policies_builtin[] = {
#define VM_POLICY_ENTRY_(name) &vm_policy_##name,
	VM_POLICIES(VM_POLICY_ENTRY_)
#undef VM_POLICY_ENTRY_
		NULL
};

const struct vmpi_policy *vm_policies_builtin_find(const char *name,
						   size_t length)
{
	for (int i = 0; vm_policies_builtin[i]; i++) {
		const char *known = vm_policies_builtin[i]->name;

		if (strlen(known) == length && !memcmp(known, name, length))
			return vm_policies_builtin[i];
	}
	return NULL;
}
