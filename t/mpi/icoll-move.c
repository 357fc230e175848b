/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-move.c with every collective nonblocking.
 */
#include "icoll.h"

#include "coll-move.c"
