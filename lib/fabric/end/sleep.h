/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping until something comes for any port of the fabric.
 */
#ifndef FABRIC_END_SLEEP_H
#define FABRIC_END_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"

/*
 * One thread at a time sleeps for all ports of the fabric:
 *
 *	if (vm_fabric_sleep_begin(fabric, &sleep) == 0) {
 *		if (nothing to do, looked at once more)
 *			vm_fabric_sleep_wait(fabric, &sleep, until_ns);
 *		vm_fabric_sleep_end(fabric);
 *	}
 *	... poll all ports ...
 *
 * begin: 0; -VMPI_EAGAIN: there is something to poll; -VMPI_ESTATE: another
 * thread sleeps here already (wait elsewhere).  After a begin that returned 0 a
 * kick ends the wait, even one from before the wait.  The wait takes no longer
 * than until `until_ns` (CLOCK_MONOTONIC; UINT64_MAX: no limit), of either.  Its
 * result: whether something has ended it before that time.
 */
struct vm_sleep {
	uint64_t until_ns;
};
int vm_fabric_sleep_begin(struct vm_fabric *fabric, struct vm_sleep *sleep);
/* The same, without the ports for which left[port] is true: somebody else looks
 * after those.  What comes there does not end the wait. */
int vm_fabric_sleep_beside(struct vm_fabric *fabric, struct vm_sleep *sleep,
			   const bool *left);
bool vm_fabric_sleep_wait(struct vm_fabric *fabric,
			  const struct vm_sleep *sleep, uint64_t until_ns);
void vm_fabric_sleep_end(struct vm_fabric *fabric);

#endif
