/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The built-in policies.  Each is a policy like those loaded from a file: it
 * knows variables by name and nothing else of vmpi.  To add one: its row here,
 * its object in a file of its own.
 */
#ifndef INTROSPECT_POLICY_POLICIES_H
#define INTROSPECT_POLICY_POLICIES_H

#include <stddef.h>

#include "vmpi_policy.h"

/* X(name): there is `const struct vmpi_policy vm_policy_<name>`. */
#define VM_POLICIES(X) \
	X(eager)       \
	X(pool)        \
	X(rndv)

#define VM_POLICY_DECLARE_(name) \
	extern const struct vmpi_policy vm_policy_##name;
VM_POLICIES(VM_POLICY_DECLARE_)
#undef VM_POLICY_DECLARE_

/* Their names, for messages. */
#define VM_POLICY_TEXT_(name) #name " "
#define VM_POLICIES_BUILTIN VM_POLICIES(VM_POLICY_TEXT_)

/* All of them, up to NULL. */
extern const struct vmpi_policy *const vm_policies_builtin[];

/* Finds the policy of a name of so many bytes; NULL: there is none. */
const struct vmpi_policy *vm_policies_builtin_find(const char *name,
						   size_t length);

#endif
