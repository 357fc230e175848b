/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of arguments that functions of vmpi.h have in common: 0 or the error.
 */
#ifndef CORE_RUNTIME_CHECKS_H
#define CORE_RUNTIME_CHECKS_H

#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/rank.h"
#include "sched/ult.h"
#include "vmpi.h"

/* The caller must belong to the rank whose handle this is. */
static inline int vm_chan_check(const vmpi_chan *chan)
{
	struct vm_rank *rank = vm_rank_self();

	if (!chan)
		return -VMPI_EINVAL;
	if (!rank)
		return -VMPI_ENORANK;
	return chan->owner == rank ? 0 : -VMPI_EINVAL;
}

static inline int vm_match_check(const vmpi_chan *chan, int source, int tag)
{
	int rc = vm_chan_check(chan);

	if (rc)
		return rc;
	if (source != VMPI_ANY && (source < 0 || source >= chan->group->size))
		return -VMPI_ERANK;
	return tag >= 0 || tag == VMPI_ANY ? 0 : -VMPI_ETAG;
}

static inline int vm_recv_check(const vmpi_chan *chan, const void *buf,
				size_t bytes, int source, int tag)
{
	int rc = vm_match_check(chan, source, tag);

	return !rc && !buf && bytes ? -VMPI_EINVAL : rc;
}

#endif
