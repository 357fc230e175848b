/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers run on the thread that received the signal, with the signal mask of
 * that thread; sa_mask is ignored.
 */
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fatal.h"
#include "node.h"
#include "real.h"

static struct sigaction initial[_NSIG];

typedef int (*sigaction_fn)(int signal, const struct sigaction *action,
			    struct sigaction *old);

int signals_set(int signal, const struct sigaction *action,
		struct sigaction *old)
{
	static _Atomic(sigaction_fn) real;

	if (!real)
		real = (sigaction_fn)dlsym(RTLD_NEXT, "sigaction");
	return real(signal, action, old);
}

void signals_start(void)
{
	for (int i = 1; i < _NSIG; i++)
		if (signals_set(i, NULL, &initial[i]))
			memset(&initial[i], 0, sizeof(initial[i]));
}

static bool calls(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

static void call(struct sigaction *action, int signal, siginfo_t *info,
		 void *context)
{
	struct sigaction now = *action;

	if (now.sa_flags & (int)SA_RESETHAND)
		action->sa_handler = SIG_DFL;
	if (now.sa_flags & SA_SIGINFO)
		now.sa_sigaction(signal, info, context);
	else
		now.sa_handler(signal);
}

bool signals_call(int signal, siginfo_t *info, void *context)
{
	struct vm_image_copy *copy = node_copy();

	if (!copy || !copy->signals || !calls(&copy->signals[signal]))
		return false;
	call(&copy->signals[signal], signal, info, context);
	return true;
}

void signals_default(int signal)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;

	signals_set(signal, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	/* Not blocked any more, it is delivered here. */
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Whether the rank that runs here caused the signal. */
static bool is_own(const siginfo_t *info, int signal)
{
	if (!node_copy())
		return false;
	return node.child || info->si_code == SI_TKILL || signal == SIGPIPE ||
	       (info->si_code <= 0 && info->si_pid == node.pid);
}

static void dispatch(int signal, siginfo_t *info, void *context)
{
	struct vm_image_copy *copy = node_copy();
	bool handled = false;
	int saved = errno;

	if (is_own(info, signal)) {
		if (!signals_call(signal, info, context) &&
		    (copy->signals ? copy->signals : initial)[signal]
				    .sa_handler == SIG_DFL)
			signals_default(signal);
		errno = saved;
		return;
	}
	for (int i = 0; i < node.ranks; i++) {
		struct vm_image_copy *each = vm_image_copy(node.image, i);

		if (!each->signals ||
		    each->signals[signal].sa_handler == SIG_DFL)
			continue;
		handled = true;
		if (calls(&each->signals[signal]))
			call(&each->signals[signal], signal, info, context);
	}
	if (!handled)
		signals_default(signal);
	errno = saved;
}

static int rank_set(struct vm_image_copy *copy, int signal,
		    const struct sigaction *action, struct sigaction *old)
{
	struct sigaction all = {
		.sa_sigaction = dispatch,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	if (old)
		*old = copy->signals ? copy->signals[signal] : initial[signal];
	if (!action)
		return 0;
	if (!copy->signals) {
		struct sigaction *table = malloc(sizeof(initial));

		if (!table)
			return -1;
		memcpy(table, initial, sizeof(initial));
		copy->signals = table;
	}
	copy->signals[signal] = *action;
	if (fatal_signal(signal))
		return 0; /* its handler asks signals_call() first */
	if (node.ranks == 1 && !calls(action))
		return signals_set(signal, action, NULL);
	/* A rank that wants calls to be interrupted gets that for all. */
	all.sa_flags &= action->sa_flags | ~SA_RESTART;
	all.sa_flags |= action->sa_flags & SA_NODEFER;
	if (action->sa_handler == SIG_IGN)
		all.sa_flags |= SA_RESTART;
	return signals_set(signal, &all, NULL);
}

NODE_EXPORT int sigaction(int signal, const struct sigaction *action,
			  struct sigaction *old)
{
	struct vm_image_copy *copy = node_copy();

	if (!copy || signal < 1 || signal >= _NSIG || signal == SIGKILL ||
	    signal == SIGSTOP)
		return signals_set(signal, action, old);
	return rank_set(copy, signal, action, old);
}

#ifndef __SANITIZE_THREAD__ /* which calls it before ours can be called */
/* Handlers of faults run on a stack of the OS thread's (fatal.c).  One of a
 * rank's would serve all ranks of its worker, also after the rank's end. */
NODE_EXPORT int sigaltstack(const stack_t *stack, stack_t *old)
{
	if (!node_on_task())
		return REAL(sigaltstack)(stack, old);
	if (old)
		*old = (stack_t){ .ss_flags = SS_DISABLE };
	return 0;
}
#endif

static sighandler_t simple_set(int signal, sighandler_t handler, int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct sigaction old;

	if (sigaction(signal, &action, &old))
		return SIG_ERR;
	return old.sa_handler;
}

NODE_EXPORT sighandler_t signal(int signal, sighandler_t handler)
{
	return simple_set(signal, handler, SA_RESTART);
}

extern sighandler_t bsd_signal(int signal, sighandler_t handler);

NODE_EXPORT sighandler_t bsd_signal(int signal, sighandler_t handler)
{
	return simple_set(signal, handler, SA_RESTART);
}

/* The meaning of signal() in strict ISO C mode. */
extern sighandler_t __sysv_signal(int signal, sighandler_t handler);

NODE_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler)
{
	return simple_set(signal, handler, (int)SA_RESETHAND | SA_NODEFER);
}
