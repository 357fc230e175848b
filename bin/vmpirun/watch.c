/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All signals are blocked and taken one at a time by sigtimedwait(): no
 * handlers, no races, and vmpirun sleeps in between.
 */
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "say.h"

#define SECOND_NS UINT64_C(1000000000)
#define GRACE_SIGNAL_NS (5 * SECOND_NS)
#define GRACE_LIMIT_NS (1 * SECOND_NS)
#define EXIT_TIMEOUT 124 /* as timeout(1) */

/* What a signal to vmpirun does to the job. */
enum effect { EFFECT_END, EFFECT_STOP, EFFECT_PASS, EFFECT_CHILD };

static const struct {
	int signal;
	enum effect effect;
} table[] = {
	{ SIGINT, EFFECT_END },	   { SIGTERM, EFFECT_END },
	{ SIGHUP, EFFECT_END },	   { SIGQUIT, EFFECT_END },
	{ SIGTSTP, EFFECT_STOP },  { SIGCONT, EFFECT_PASS },
	{ SIGUSR1, EFFECT_PASS },  { SIGUSR2, EFFECT_PASS },
	{ SIGCHLD, EFFECT_CHILD },
};

#define TABLE (sizeof(table) / sizeof(table[0]))

static void name_make(char *name, size_t bytes, int signal)
{
	const char *text = sigabbrev_np(signal);

	if (text)
		snprintf(name, bytes, "SIG%s", text);
	else
		snprintf(name, bytes, "signal %d", signal);
}

void watch_init(struct watch *watch)
{
	*watch = (struct watch){
		.limit_ns = UINT64_MAX,
		.kill_ns = UINT64_MAX,
		.code = -1,
	};
	/* If the parent ignores its children, ours would vanish unseen. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&watch->signals);
	for (size_t i = 0; i < TABLE; i++) {
		struct sigaction now;

		/* What nohup(1) or a shell has set to be ignored stays so. */
		if (sigaction(table[i].signal, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			continue;
		sigaddset(&watch->signals, table[i].signal);
	}
	sigprocmask(SIG_BLOCK, &watch->signals, &watch->before);
}

static void node_signal(const struct watch *watch, int signal)
{
	/* It may have ended meanwhile; then SIGCHLD is on its way. */
	kill(watch->group ? -watch->pid : watch->pid, signal);
}

static void node_end(struct watch *watch, int code, uint64_t grace_ns)
{
	watch->code = code;
	watch->grace_ns = grace_ns;
	watch->kill_ns = vm_clock_ns() + grace_ns;
	watch->limit_ns = UINT64_MAX;
	node_signal(watch, SIGTERM);
	/* A stopped process would see it only when it goes on. */
	node_signal(watch, SIGCONT);
}

static void node_kill(struct watch *watch)
{
	watch->kill_ns = UINT64_MAX;
	node_signal(watch, SIGKILL);
}

static void signal_end(struct watch *watch, int signal)
{
	char name[32];

	name_make(name, sizeof(name), signal);
	if (watch->code >= 0) {
		say("%s again: the job is killed", name);
		node_kill(watch);
		return;
	}
	say("%s: the job is asked to end (SIGTERM); again to kill", name);
	node_end(watch, 128 + signal, GRACE_SIGNAL_NS);
}

static void time_over(struct watch *watch)
{
	if (watch->kill_ns != UINT64_MAX) {
		say("the job has not ended within %d s: it is killed",
		    (int)(watch->grace_ns / SECOND_NS));
		node_kill(watch);
		return;
	}
	say("the time limit of %s s is over; the job is ended",
	    watch->limit_text);
	node_end(watch, EXIT_TIMEOUT, GRACE_LIMIT_NS);
}

static void signal_take(struct watch *watch, int signal)
{
	for (size_t i = 0; i < TABLE; i++) {
		if (table[i].signal != signal)
			continue;
		switch (table[i].effect) {
		case EFFECT_END:
			signal_end(watch, signal);
			break;
		case EFFECT_STOP:
			node_signal(watch, signal);
			raise(SIGSTOP);
			break;
		case EFFECT_PASS:
			node_signal(watch, signal);
			break;
		case EFFECT_CHILD: /* the caller looks at every signal */
			break;
		}
	}
}

/* The next signal, or 0 when the earlier of the two times has come. */
static int signal_wait(const struct watch *watch)
{
	uint64_t until = watch->limit_ns < watch->kill_ns ? watch->limit_ns :
							    watch->kill_ns;

	for (;;) {
		uint64_t now = vm_clock_ns();
		uint64_t left = until > now ? until - now : 0;
		struct timespec wait = {
			.tv_sec = (time_t)(left / SECOND_NS),
			.tv_nsec = (long)(left % SECOND_NS),
		};
		int signal = sigtimedwait(&watch->signals, NULL,
					  until == UINT64_MAX ? NULL : &wait);

		if (signal > 0)
			return signal;
		if (errno == EAGAIN)
			return 0;
	}
}

static int code_of(const struct watch *watch, const siginfo_t *end)
{
	char name[32];

	if (watch->code >= 0)
		return watch->code;
	if (end->si_code == CLD_EXITED)
		return end->si_status;
	name_make(name, sizeof(name), end->si_status);
	say("the node process (pid %d) died of %s%s", (int)watch->pid, name,
	    end->si_status == SIGKILL ?
		    "; if nobody sent it, memory has run out" :
		    "");
	return 128 + end->si_status;
}

/* Whether the node process has ended; then *code is vmpirun's exit code. */
static bool node_ended(const struct watch *watch, int *code)
{
	siginfo_t end = { 0 };

	/* Left unreaped for the moment, so that its number stays its own. */
	if (waitid(P_PID, (id_t)watch->pid, &end,
		   WEXITED | WNOHANG | WNOWAIT) ||
	    end.si_pid == 0)
		return false;
	*code = code_of(watch, &end);
	/* What ranks have started and left behind ends with the job. */
	if (watch->group)
		kill(-watch->pid, SIGKILL);
	waitid(P_PID, (id_t)watch->pid, &end, WEXITED);
	return true;
}

int watch_node(struct watch *watch, pid_t pid, bool group, uint64_t limit_ns,
	       const char *limit_text)
{
	int code;

	watch->pid = pid;
	watch->group = group;
	watch->limit_text = limit_text;
	if (limit_ns)
		watch->limit_ns = vm_clock_ns() + limit_ns;
	while (!node_ended(watch, &code)) {
		int signal = signal_wait(watch);

		if (signal)
			signal_take(watch, signal);
		else
			time_over(watch);
	}
	return code;
}
