/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set and count of policies.
 */
#ifndef INTROSPECT_POLICY_VARS_H
#define INTROSPECT_POLICY_VARS_H

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

#define TUNE_CVARS(X)                                                           \
	X(STRING, policies, "", 0, 0, "names", STARTUP, UB, tune,               \
	  "Built-in policies that watch the job and set its variables while "   \
	  "it runs, such as eager,pool; all: all there are; see "               \
	  "vmpi-tuning(7)")                                                     \
	X(STRING, plugins, "", 0, 0, "paths", STARTUP, UD, tune,                \
	  "Policies from shared objects (vmpi_policy.h), separated by colons, " \
	  "each as FILE or FILE=ARGUMENT")                                      \
	X(INT, interval_ms, 10, 1, 60000, "ms", ANYTIME, TB, tune,              \
	  "How often policies look at the job")                                 \
	X(BOOL, log, 0, 0, 1, "flag", ANYTIME, UB, tune,                        \
	  "Print a line about each decision of a policy")                       \
	X(SIZE, memory, 67108864, 0, 1099511627776, "bytes", ANYTIME, TB,       \
	  tune,                                                                 \
	  "Packet memory of a process, besides what is ready for arrivals, "    \
	  "beyond which policies take back what needs more of it")              \
	X(SIZE, eager_max, 131072, 1024, 1048576, "bytes", ANYTIME, TB, tune,   \
	  "Highest core_eager_limit that policy eager sets")                    \
	X(INT, gain, 3, 1, 100, "percent", ANYTIME, TB, tune,                   \
	  "Least gain of a trial by which a policy keeps what it has tried")

struct tune_cvars {
	TUNE_CVARS(VM_CVAR_FIELD)
};
extern struct tune_cvars tune_cvar;
extern const struct vm_cvar_table tune_cvar_table;

/* Of the process; written by the thread that runs policies. */
#define TUNE_NODE_PVARS(X)                                                 \
	X(LEVEL, running, "policies", NODE, UB, tune, "Policies that run") \
	X(COUNTER, ticks, "ticks", NODE, UB, tune,                         \
	  "Times that policies looked at the job")                         \
	X(COUNTER, decisions, "decisions", NODE, UB, tune,                 \
	  "Values that policies gave to control variables")                \
	X(COUNTER, reverted, "decisions", NODE, UB, tune,                  \
	  "Of these, those that took earlier ones back")                   \
	X(COUNTER, bounded, "decisions", NODE, UB, tune,                   \
	  "Of these, those whose value was beyond the variable's range")   \
	X(COUNTER, refused, "decisions", NODE, UB, tune,                   \
	  "Values that policies wanted to give and could not")             \
	X(COUNTER, failed, "policies", NODE, UB, tune,                     \
	  "Policies that were turned off because of what they did")

struct tune_node_pvars {
	TUNE_NODE_PVARS(VM_PVAR_FIELD)
};
extern const struct vm_pvar_table tune_node_pvar_table;

#endif
