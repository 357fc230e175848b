/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-threads.c with every collective nonblocking.
 */
#include "icoll.h"

#include "coll-threads.c"
