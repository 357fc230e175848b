/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the calling thread, exchanged for a moment.
 */
#include "base/own.h"

#include <sys/prctl.h>

void vm_own_begin(struct vm_own *own)
{
	own->before[0] = '\0';
	prctl(PR_GET_NAME, own->before);
	prctl(PR_SET_NAME, VM_OWN_NAME);
}

void vm_own_end(const struct vm_own *own)
{
	prctl(PR_SET_NAME, own->before);
}
