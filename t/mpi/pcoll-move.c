/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-move.c with every collective persistent.
 */
#include "pcoll.h"

#include "coll-move.c"
