/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-reduce.c with every collective nonblocking.
 */
#include "icoll.h"

#include "coll-reduce.c"
