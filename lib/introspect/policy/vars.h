/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control and performance variables of policies.
 */
#ifndef INTROSPECT_POLICY_VARS_H
#define INTROSPECT_POLICY_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define TUNE_CVARS(X)                                                         \
	X(STRING, policies, "", 0, 0, "names", STARTUP, UB, tune,             \
	  "Built-in policies that set variables while the job runs, such as " \
	  "eager,pool, or all; see vmpi-tuning(7)")                           \
	X(STRING, plugins, "", 0, 0, "paths", STARTUP, UD, tune,              \
	  "Policies to load from shared objects (vmpi_policy.h): FILE or "    \
	  "FILE=ARGUMENT, separated by colons")                               \
	X(INT, interval_ms, 10, 1, 60000, "ms", ANYTIME, TB, tune,            \
	  "Interval at which policies run")                                   \
	X(BOOL, log, 0, 0, 1, "flag", ANYTIME, UB, tune,                      \
	  "Print a line for each decision of a policy")                       \
	X(SIZE, memory, 67108864, 0, 1099511627776, "bytes", ANYTIME, TB,     \
	  tune,                                                               \
	  "Packet memory of a process, without packets posted to receive, "   \
	  "beyond which policies revert settings that need more of it")       \
	X(SIZE, eager_max, 131072, 1024, 1048576, "bytes", ANYTIME, TB, tune, \
	  "Highest core_eager_limit that the policy eager sets")              \
	X(INT, gain, 3, 1, 100, "percent", ANYTIME, TB, tune,                 \
	  "Smallest gain for which a policy keeps a value that it has tried")

struct tune_cvars {
	TUNE_CVARS(VM_CVAR_FIELD)
};
extern struct tune_cvars tune_cvar;
extern const struct vm_cvar_table tune_cvar_table;

/* Of the process; written by the thread that runs policies. */
#define TUNE_NODE_PVARS(X)                                                  \
	X(LEVEL, running, "policies", NODE, UB, tune, "Policies running")   \
	X(COUNTER, ticks, "ticks", NODE, UB, tune,                          \
	  "Number of times policies were run")                              \
	X(COUNTER, decisions, "decisions", NODE, UB, tune,                  \
	  "Control variables set by policies")                              \
	X(COUNTER, reverted, "decisions", NODE, UB, tune,                   \
	  "Decisions that reverted earlier ones")                           \
	X(COUNTER, bounded, "decisions", NODE, UB, tune,                    \
	  "Decisions whose value was limited to the range of the variable") \
	X(COUNTER, refused, "decisions", NODE, UB, tune,                    \
	  "Decisions that were refused")                                    \
	X(COUNTER, failed, "policies", NODE, UB, tune,                      \
	  "Policies that were disabled because of an error")

struct tune_node_pvars {
	TUNE_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table tune_node_pvar_table;

#endif
