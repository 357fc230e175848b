/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers run on the thread that received the signal, those of a rank for what
 * it caused itself on its own stack (handler.h).  The signal mask is that of the
 * thread.
 */
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"
#include "fatal.h"
#include "handler.h"
#include "node.h"
#include "real.h"

static struct sigaction initial[_NSIG];

/* Guards what the ranks' tables hold.  Handlers take it too: who holds it has
 * all signals blocked. */
static struct vm_lock tables_lock;

static void tables_guard(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	handler_mask(SIG_SETMASK, &all, before);
	vm_lock_take(&tables_lock);
}

static void tables_unguard(const sigset_t *before)
{
	vm_lock_give(&tables_lock);
	handler_mask(SIG_SETMASK, before, NULL);
}

void signals_fork_child(void)
{
	/* Its holder may not be here. */
	vm_lock_init(&tables_lock);
	handler_fork_child();
}

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

/* Those that end a process that has no handler; faults are another matter
 * (fatal.c). */
static const int deadly[] = {
	SIGHUP,	 SIGINT,  SIGPIPE, SIGALRM,   SIGTERM, SIGUSR1, SIGUSR2,
	SIGPOLL, SIGPROF, SIGXFSZ, SIGVTALRM, SIGXCPU, SIGPWR,	SIGSTKFLT,
};

static bool is_deadly(int signal)
{
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (deadly[i] == signal)
			return true;
	return false;
}

static void dispatch(int signal, siginfo_t *info, void *context);

#ifdef __SANITIZE_THREAD__
/* The sanitizer calls the handler after the system call, which must end. */
#define RESTART 0
#else
#define RESTART SA_RESTART
#endif

/* A program that was started directly dies of signals as any other. */
void signals_start(void)
{
	const struct sigaction all = {
		.sa_sigaction = dispatch,
		.sa_flags = SA_SIGINFO | RESTART | SA_ONSTACK,
	};

	/* From now on it may be called in handlers. */
	handler_mask(SIG_BLOCK, NULL, NULL);
	for (int i = 1; i < _NSIG; i++)
		if (signals_set(i, NULL, &initial[i]))
			memset(&initial[i], 0, sizeof(initial[i]));
	for (size_t i = 0;
	     !node.alone && i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (initial[deadly[i]].sa_handler == SIG_DFL)
			signals_set(deadly[i], &all, NULL);
}

static bool calls(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* The rank's action; `use`: once more only, if it says so. */
static struct sigaction action_of(struct vm_image_copy *copy, int signal,
				  bool use)
{
	/* Pairs with the release store of table_of(). */
	struct sigaction *table =
		atomic_load_explicit(&copy->signals, memory_order_acquire);
	struct sigaction now = initial[signal];
	sigset_t before;

	if (!table)
		return now;
	tables_guard(&before);
	now = table[signal];
	if (use && calls(&now) && now.sa_flags & (int)SA_RESETHAND)
		table[signal].sa_handler = SIG_DFL;
	tables_unguard(&before);
	return now;
}

/* Calls a rank's handler here, on any thread. */
static void foreign_call(struct vm_image_copy *copy, int signal,
			 siginfo_t *info, void *context)
{
	struct sigaction now = action_of(copy, signal, true);

	if (!calls(&now))
		return;
	if (now.sa_flags & SA_SIGINFO)
		now.sa_sigaction(signal, info, context);
	else
		now.sa_handler(signal);
}

bool signals_call(int signal, siginfo_t *info, void *context)
{
	struct vm_image_copy *copy = node_copy();
	struct sigaction now;

	if (!copy || !copy->signals || handler_blocked(signal, context))
		return false;
	now = action_of(copy, signal, true);
	return calls(&now) && handler_call(&now, signal, info, context);
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
	handler_mask(SIG_UNBLOCK, &set, NULL);
}

/* Whether the rank that runs here caused the signal. */
static bool is_own(const siginfo_t *info, int signal)
{
	if (!node_copy())
		return false;
	return node.child || info->si_code == SI_TKILL || signal == SIGPIPE ||
	       signal == SIGXFSZ ||
	       (info->si_code <= 0 && info->si_pid == node.pid);
}

/* Signals that have come from outside, as bits: a rank that raises one again
 * when it has cleaned up is not the reason. */
static _Atomic uint64_t outside;

static uint64_t bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

/* The rank that runs here has sent itself a signal without a handler. */
static void own_default(int signal, void *context)
{
	if (is_deadly(signal) && node_is_job() && !node.alone &&
	    !(atomic_load(&outside) & bit(signal)))
		fatal_raised(signal, context);
	signals_default(signal);
}

static void dispatch(int signal, siginfo_t *info, void *context)
{
	struct vm_image_copy *copy = node_copy();
	bool handled = false;
	int saved = errno;

	if (is_own(info, signal)) {
		if (!signals_call(signal, info, context) &&
		    action_of(copy, signal, false).sa_handler == SIG_DFL)
			own_default(signal, context);
		errno = saved;
		return;
	}
	atomic_fetch_or(&outside, bit(signal));
	for (int i = 0; i < node.ranks; i++) {
		struct vm_image_copy *each = vm_image_copy(node.image, i);

		if (!each->signals ||
		    action_of(each, signal, false).sa_handler == SIG_DFL)
			continue;
		handled = true;
		foreign_call(each, signal, info, context);
	}
	/* vmpirun is asked for a report by it. */
	if (!handled && (signal != SIGUSR1 || node.alone || !node_is_job()))
		signals_default(signal);
	errno = saved;
}

/* The rank's table, made when it is first needed; NULL: out of memory. */
static struct sigaction *table_of(struct vm_image_copy *copy)
{
	struct sigaction *table = copy->signals;

	if (table)
		return table;
	table = malloc(sizeof(initial));
	if (!table)
		return NULL;
	memcpy(table, initial, sizeof(initial));
	atomic_store_explicit(&copy->signals, table, memory_order_release);
	return table;
}

/* 0, or -1: out of memory. */
static int action_set(struct vm_image_copy *copy, int signal,
		      const struct sigaction *action)
{
	struct sigaction *table = table_of(copy);
	sigset_t before;

	if (!table)
		return -1;
	tables_guard(&before);
	table[signal] = *action;
	tables_unguard(&before);
	return 0;
}

static int rank_set(struct vm_image_copy *copy, int signal,
		    const struct sigaction *action, struct sigaction *old)
{
	struct sigaction all = {
		.sa_sigaction = dispatch,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	if (old)
		*old = action_of(copy, signal, false);
	if (!action)
		return 0;
	if (action_set(copy, signal, action))
		return -1;
	if (fatal_signal(signal))
		return 0; /* its handler asks signals_call() first */
	if (node.ranks == 1 && !calls(action) &&
	    (node.alone || action->sa_handler == SIG_IGN || !is_deadly(signal)))
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

/* The ranks of a process have one number: who sends itself a signal by it means
 * itself. */
NODE_EXPORT int kill(pid_t pid, int signal)
{
	int error;

	if (pid != node.pid || signal == 0 || signal == SIGKILL ||
	    signal == SIGSTOP || !node_copy() || !node_is_job())
		return REAL(kill)(pid, signal);
	error = pthread_kill(pthread_self(), signal);
	errno = error ? error : errno;
	return error ? -1 : 0;
}
