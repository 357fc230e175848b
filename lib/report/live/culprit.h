/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose buffer a fault inside of a call was in: a message is copied by one of
 * its two ranks, or by a third, and the fault meets whoever copies.
 */
#ifndef REPORT_LIVE_CULPRIT_H
#define REPORT_LIVE_CULPRIT_H

#include <stdbool.h>

#include "report/live/buffer.h"

struct vm_modules;
struct vm_where_ask;

/* rank: NULL: the thread that asks; owned: that is known. */
struct vm_culprit {
	struct vm_buffer buffer;
	const struct vm_snapshot_rank *rank;
	bool found, owned;
};

/* Takes a snapshot for it, unless the fault was in a function of the
 * program. */
void vm_culprit_find(struct vm_culprit *culprit, struct vm_modules *modules,
		     struct vm_snapshot *snapshot,
		     const struct vm_where_ask *ask);

#endif
