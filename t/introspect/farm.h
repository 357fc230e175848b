/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of control variables of a layer that does not exist, for tests.
 */
#ifndef T_INTROSPECT_FARM_H
#define T_INTROSPECT_FARM_H

#include "introspect/vars/cvar.h"

#define FARM_CVARS(X)                                                          \
	X(INT, cows, 4, -1, 100, "cows", ANYTIME, UB, p2p, "Cows in the barn") \
	X(SIZE, milk_bytes, 8192, 1024, 1048576, "bytes", STARTUP, TD, pool,   \
	  "Milk")                                                              \
	X(BOOL, open, 1, 0, 1, "flag", ANYTIME, DA, debug,                     \
	  "Whether the gate is open")                                          \
	X(STRING, dog, "Rex", 0, 0, "name", ANYTIME, UD, p2p,                  \
	  "The dog's name")                                                    \
	X(STRING, cat, "", 0, 0, "name", STARTUP, UA, p2p, "The cat's name")

struct farm_cvars {
	FARM_CVARS(VM_CVAR_FIELD)
};

VM_CVARS_DEFINE(farm, FARM_CVARS)
#endif
