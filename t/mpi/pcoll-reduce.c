/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-reduce.c with every collective persistent.
 */
#include "pcoll.h"

#include "coll-reduce.c"
