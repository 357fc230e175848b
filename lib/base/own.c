/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The name of the calling thread, exchanged for a moment.
 */
#include "base/own.h"

#include <signal.h>
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

int vm_own_thread(pthread_t *thread, void *(*body)(void *arg), void *arg)
{
	sigset_t all, before;
	struct vm_own own;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	vm_own_begin(&own);
	error = pthread_create(thread, NULL, body, arg);
	vm_own_end(&own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
