/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All signals are blocked and read from a descriptor, and one poll() waits for
 * them, for the sockets of the node processes and for the time: no handlers, no
 * races, and vmpirun sleeps in between.
 */
#include "monitor.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/last_word.h"
#include "base/standard.h"
#include "report/cli.h"
#include "states.h"
#include "vmpi.h"

#define SECOND_NS UINT64_C(1000000000)
#define GRACE_SIGNAL_NS (5 * SECOND_NS)
#define GRACE_LIMIT_NS (1 * SECOND_NS)
#define GRACE_DEATH_NS (1 * SECOND_NS)	    /* from a death to SIGTERM */
#define GRACE_FAILED_NS (3 * SECOND_NS / 4) /* from there to SIGKILL */
#define EXIT_TIMEOUT 124		    /* as timeout(1) */
#define EXIT_DEADLOCK 86		    /* VM_DEADLOCK_EXIT */

/* The effect of a signal to vmpirun on the job. */
enum effect {
	EFFECT_END,
	EFFECT_FAULT, /* the same, and say who has sent it */
	EFFECT_STOP,
	EFFECT_PASS,
	EFFECT_SHOW, /* say what the ranks do, and pass it if they heed it */
	EFFECT_CHILD
};

static const struct {
	int signal;
	enum effect effect;
} table[] = {
	{ SIGINT, EFFECT_END },	   { SIGTERM, EFFECT_END },
	{ SIGHUP, EFFECT_END },	   { SIGQUIT, EFFECT_END },
	{ SIGSEGV, EFFECT_FAULT }, { SIGBUS, EFFECT_FAULT },
	{ SIGFPE, EFFECT_FAULT },  { SIGILL, EFFECT_FAULT },
	{ SIGTSTP, EFFECT_STOP },  { SIGCONT, EFFECT_PASS },
	{ SIGUSR1, EFFECT_SHOW },  { SIGUSR2, EFFECT_PASS },
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

static void nothing(int signal)
{
	(void)signal;
}

void monitor_bear(void)
{
	struct sigaction now,
		bear = { .sa_handler = nothing, .sa_flags = SA_RESTART };

	if (sigaction(SIGUSR1, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGUSR1, &bear, NULL);
}

void monitor_init(struct monitor *monitor, struct launch *launch)
{
	*monitor = (struct monitor){
		.launch = launch,
		.signal_fd = -1,
		.limit_ns = UINT64_MAX,
		.end_ns = UINT64_MAX,
		.kill_ns = UINT64_MAX,
		.ended = -1,
		.failed = -1,
	};
	/* If the parent ignores its children, ours would vanish unseen. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&monitor->signals);
	for (size_t i = 0; i < TABLE; i++) {
		struct sigaction now;

		/* Signals that nohup(1) or a shell has set to be ignored stay
		 * ignored. */
		if (sigaction(table[i].signal, NULL, &now) == 0 &&
		    now.sa_handler == SIG_IGN)
			continue;
		sigaddset(&monitor->signals, table[i].signal);
	}
	if (sigprocmask(SIG_BLOCK, &monitor->signals, &monitor->before))
		monitor->refused = errno;
	/* A child must not seem to catch it: it is not passed on then. */
	if (sigismember(&monitor->signals, SIGUSR1))
		signal(SIGUSR1, SIG_DFL);
}

static void child_signal(const struct child *child, int signal)
{
	/* It may have ended meanwhile; then SIGCHLD is on its way. */
	if (!child->ended)
		kill(child->group ? -child->pid : child->pid, signal);
}

static void all_signal(const struct monitor *monitor, int signal)
{
	for (int i = 0; i < monitor->launch->count; i++)
		child_signal(&monitor->launch->children[i], signal);
}

/* Whether the process has a handler for the signal. */
static bool is_caught(const struct child *child, int signal)
{
	unsigned long long caught = 0;
	char path[64], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)child->pid);
	status = fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "SigCgt: %llx", &caught) == 1)
			break;
	if (status)
		fclose(status);
	return caught >> (signal - 1) & 1;
}

/* Passes a signal on to those that do not die of it. */
static void catchers_signal(const struct monitor *monitor, int signal)
{
	for (int i = 0; i < monitor->launch->count; i++)
		if (is_caught(&monitor->launch->children[i], signal))
			child_signal(&monitor->launch->children[i], signal);
}

static void all_end(struct monitor *monitor, uint64_t grace_ns)
{
	monitor->ending = true;
	monitor->grace_ns = grace_ns;
	monitor->kill_ns = vm_clock_ns() + grace_ns;
	monitor->limit_ns = UINT64_MAX;
	monitor->end_ns = UINT64_MAX;
	all_signal(monitor, SIGTERM);
	/* A stopped process would see it only when it goes on. */
	all_signal(monitor, SIGCONT);
}

static void all_kill(struct monitor *monitor)
{
	monitor->kill_ns = UINT64_MAX;
	all_signal(monitor, SIGKILL);
}

static void signal_end(struct monitor *monitor, int signal, const char *sender)
{
	char name[32];

	name_make(name, sizeof(name), signal);
	if (monitor->ended >= 0) {
		vm_cli_say("%s again: killing the job", name);
		all_kill(monitor);
		return;
	}
	vm_cli_say("%s%s: ending the job with SIGTERM; the next signal kills "
		   "it",
		   name, sender);
	monitor->ended = 128 + signal;
	all_end(monitor, GRACE_SIGNAL_NS);
}

/* One of the times has come, or none. */
static void time_check(struct monitor *monitor)
{
	uint64_t now = vm_clock_ns();

	if (now >= monitor->kill_ns) {
		/* After a failure the user waits for nothing we should say. */
		if (monitor->ended >= 0)
			vm_cli_say(
				"the job has not ended within %d s; killing it",
				(int)(monitor->grace_ns / SECOND_NS));
		all_kill(monitor);
	} else if (now >= monitor->end_ns) {
		all_end(monitor, GRACE_FAILED_NS);
	} else if (now >= monitor->limit_ns) {
		vm_cli_say("the time limit of %s s has expired; ending the job",
			   monitor->launch->options->timeout_text);
		states_say(monitor->launch->options->job.id);
		monitor->ended = EXIT_TIMEOUT;
		all_end(monitor, GRACE_LIMIT_NS);
	}
}

/* Faults of vmpirun itself are not blocked; this one was sent. */
static void fault_take(struct monitor *monitor, int signal, int pid)
{
	char sender[160];
	int ranks = monitor->launch->options->job.ranks;

	snprintf(sender, sizeof(sender),
		 " was sent to vmpirun (rank%s 0%s%.0d) from outside, by "
		 "process %d",
		 ranks > 1 ? "s" : "", ranks > 1 ? " to " : "", ranks - 1, pid);
	signal_end(monitor, signal, sender);
}

static void signal_take(struct monitor *monitor, int signal, int pid)
{
	for (size_t i = 0; i < TABLE; i++) {
		if (table[i].signal != signal)
			continue;
		switch (table[i].effect) {
		case EFFECT_END:
			signal_end(monitor, signal, "");
			break;
		case EFFECT_FAULT:
			fault_take(monitor, signal, pid);
			break;
		case EFFECT_STOP:
			all_signal(monitor, signal);
			raise(SIGSTOP);
			break;
		case EFFECT_SHOW:
			states_say(monitor->launch->options->job.id);
			catchers_signal(monitor, signal);
			break;
		case EFFECT_PASS:
			all_signal(monitor, signal);
			break;
		case EFFECT_CHILD: /* the caller looks at all of them */
			break;
		}
	}
}

/* Ends the job; processes that end by themselves, because they were told, have
 * time until then. */
static void end_after(struct monitor *monitor, uint64_t grace_ns)
{
	uint64_t end_ns = vm_clock_ns() + grace_ns;

	if (!monitor->ending && end_ns < monitor->end_ns)
		monitor->end_ns = end_ns;
}

/* A node has failed; the first one gives the exit code. */
static void fail(struct monitor *monitor, int code, uint64_t grace_ns)
{
	if (monitor->failed < 0)
		monitor->failed = code;
	if (!monitor->launch->options->job.keep_going)
		end_after(monitor, grace_ns);
}

/* A node has called abort: that is for all. */
static void abort_check(struct monitor *monitor)
{
	const struct launch *launch = monitor->launch;

	if (!launch->serves || launch->server.abort_process < 0)
		return;
	if (monitor->failed < 0)
		monitor->failed = launch->server.abort_code;
	end_after(monitor, 0);
}

/* "node 1 (ranks 16-31, pid 4711)", "rank 3 (pid 4711)"; with "on HOST" if
 * hosts were named. */
static void child_name(const struct monitor *monitor, char *text, size_t bytes,
		       int number)
{
	const struct launch *launch = monitor->launch;
	const int *first = launch->plan.first + number;
	int pid = (int)launch->children[number].pid;
	const char *on = "", *host = "";

	if (launch->options->hosts.count && !launch->plan.engine) {
		on = " on ";
		host = plan_host(&launch->plan, launch->options, number);
	}

	if (launch->plan.engine)
		snprintf(text, bytes, "%s (pid %d)",
			 engine_name(launch->plan.engine), pid);
	else if (!launch->node)
		snprintf(text, bytes, "rank %d%s%s (pid %d)", number, on, host,
			 pid);
	else if (launch->count == 1)
		snprintf(text, bytes, "the node process (pid %d)", pid);
	else if (first[1] - first[0] == 1)
		snprintf(text, bytes, "node %d%s%s (rank %d, pid %d)", number,
			 on, host, first[0], pid);
	else
		snprintf(text, bytes, "node %d%s%s (ranks %d-%d, pid %d)",
			 number, on, host, first[0], first[1] - 1, pid);
}

static void death_say(struct monitor *monitor, int number, const siginfo_t *end)
{
	char name[NAME_MAX], signal[32];

	child_name(monitor, name, sizeof(name), number);
	name_make(signal, sizeof(signal), end->si_status);
	vm_cli_say("%s died of %s%s", name, signal,
		   end->si_status == SIGKILL ?
			   "; if nobody sent it, the machine is out of memory" :
			   "");
}

/* A child was ended by a signal that did not come from here. */
static void death_take(struct monitor *monitor, int number,
		       const siginfo_t *end)
{
	/* The others are to end in silence: their reason is this. */
	if (monitor->ended < 0 && monitor->failed < 0) {
		vm_last_word_take();
		if (end->si_status != SIGPIPE || !vm_standard_unread())
			death_say(monitor, number, end);
		vm_last_word_give();
	}
	fail(monitor, 128 + end->si_status, GRACE_DEATH_NS);
}

/* Whether a process that has not joined the job is one with another MPI, which
 * is said once. */
static bool other_check(struct monitor *monitor, int number)
{
	char name[NAME_MAX];

	if (!monitor->looks || !monitor->other.path[0] ||
	    vm_pmi_server_joined(&monitor->launch->server, number))
		return false;
	child_name(monitor, name, sizeof(name), monitor->other.number);
	if (!monitor->found)
		other_mpi_say(name, monitor->other.path);
	return monitor->found = true;
}

/* Looks for other MPIs until a process joins. */
static void others_look(struct monitor *monitor)
{
	struct launch *launch = monitor->launch;

	for (int i = 0; i < launch->count && monitor->looks; i++) {
		monitor->pids[i] =
			launch->children[i].ended ? 0 : launch->children[i].pid;
		if (vm_pmi_server_joined(&launch->server, i))
			monitor->looks = false;
	}
	if (!monitor->looks)
		other_mpi_stop(&monitor->other);
	else if (other_mpi_look(&monitor->other, monitor->pids, launch->count))
		other_check(monitor, monitor->other.number);
}

/* A child has ended with an exit code. */
static void exit_take(struct monitor *monitor, int number, int code)
{
	struct launch *launch = monitor->launch;
	bool deserted = launch->serves &&
			vm_pmi_server_joined(&launch->server, number) &&
			!vm_pmi_server_left(&launch->server, number);
	char name[NAME_MAX];

	if (other_check(monitor, number) && !code)
		fail(monitor, EXIT_FAILURE, 0);
	if (!code && !deserted)
		return;
	/* The reason for the end of this process is known, or no other is
	 * ended; the same if it aborts. */
	if (launch->count > 1 && monitor->ended < 0 && monitor->failed < 0 &&
	    !vm_pmi_server_aborted(&launch->server, number) &&
	    vm_last_word_take()) {
		child_name(monitor, name, sizeof(name), number);
		vm_cli_say(
			"%s exited with status %d%s%s", name, code,
			!code && !launch->node ? " and without MPI_Finalize" :
						 "",
			launch->options->job.keep_going ? "" :
							  "; ending the job");
		vm_last_word_give();
	}
	fail(monitor, code ? code : EXIT_FAILURE, 0);
}

/* Who has ended because another process aborted has seen the end of that one,
 * which has said why before it. */
static void aborts_read(struct monitor *monitor)
{
	struct launch *launch = monitor->launch;

	for (int i = 0; launch->serves && i < launch->count; i++)
		vm_pmi_server_ready(&launch->server, i);
	abort_check(monitor);
}

/* As waitid(), which filters of system calls may refuse: then the child is reaped
 * in any case, and its number may soon be another's. */
static int child_wait(pid_t pid, siginfo_t *end, int options)
{
	int status, error;
	pid_t got;

	*end = (siginfo_t){ 0 };
	while (waitid(P_PID, (id_t)pid, end, options)) {
		error = errno;
		if (error == EINTR)
			continue;
		if (error == ECHILD)
			return error;
		got = waitpid(pid, &status, options & WNOHANG);
		if (got == 0)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		end->si_pid = pid;
		end->si_code = WIFEXITED(status) ? CLD_EXITED : CLD_KILLED;
		end->si_status = WIFEXITED(status) ? WEXITSTATUS(status) :
						     WTERMSIG(status);
		return 0;
	}
	return 0;
}

/* Nobody can say how it ends. */
static void unseen_take(struct monitor *monitor, int number, int error)
{
	struct child *child = &monitor->launch->children[number];
	char name[NAME_MAX];

	child_name(monitor, name, sizeof(name), number);
	vm_cli_say("cannot wait for the end of %s: %s; ending the job", name,
		   strerror(error));
	kill(child->group ? -child->pid : child->pid, SIGKILL);
	child->ended = true;
	fail(monitor, EXIT_FAILURE, 0);
}

/* Looks whether child `number` has ended, by a signal only if `died`. */
static void child_check(struct monitor *monitor, int number, bool died)
{
	struct launch *launch = monitor->launch;
	struct child *child = &launch->children[number];
	siginfo_t end = child->end;
	bool exited;
	int error;

	if (child->ended)
		return;
	/* Left unreaped for the moment, so that its number stays its own. */
	error = end.si_pid ? 0 :
			     child_wait(child->pid, &end,
					WEXITED | WNOHANG | WNOWAIT);
	if (error)
		unseen_take(monitor, number, error);
	if (error || end.si_pid == 0)
		return;
	exited = end.si_code == CLD_EXITED;
	child->end = end;
	if (exited && died)
		return;
	if (exited && monitor->failed < 0)
		aborts_read(monitor);
	if (launch->serves)
		vm_pmi_server_ended(&launch->server, number,
				    end.si_status + (exited ? 0 : 128));
	if (exited)
		exit_take(monitor, number, end.si_status);
	else
		death_take(monitor, number, &end);
	/* Processes that ranks have started and left behind end with the
	 * job. */
	if (child->group)
		kill(-child->pid, SIGKILL);
	child_wait(child->pid, &end, WEXITED);
	child->ended = true;
}

static void signals_read(struct monitor *monitor)
{
	struct signalfd_siginfo info;

	while (read(monitor->signal_fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info))
		signal_take(monitor, (int)info.ssi_signo, (int)info.ssi_pid);
}

/* The longest sleep of poll(), in milliseconds, rounded up. */
static int wait_ms(const struct monitor *monitor)
{
	uint64_t until = monitor->limit_ns;
	uint64_t now, left;

	if (monitor->end_ns < until)
		until = monitor->end_ns;
	if (monitor->kill_ns < until)
		until = monitor->kill_ns;
	if (monitor->other.next_ns < until)
		until = monitor->other.next_ns;
	if (until == UINT64_MAX)
		return -1;
	now = vm_clock_ns();
	left = until > now ? until - now : 0;
	return left > 60 * SECOND_NS ? 60000 : (int)((left + 999999) / 1000000);
}

/* The processes have something to say about deadlocks. */
static void hang_take(struct monitor *monitor)
{
	struct launch *launch = monitor->launch;

	if (hang_read(&launch->hang, launch->options->job.id) != HANG_END ||
	    monitor->ending)
		return;
	monitor->ended = EXIT_DEADLOCK;
	all_end(monitor, GRACE_LIMIT_NS);
}

/* What the kernel refuses, no signal can be heard without. */
static void refused_take(struct monitor *monitor, int error)
{
	if (monitor->ended < 0)
		vm_cli_say("cannot wait for the job: poll: %s",
			   strerror(error));
	monitor->ended = EXIT_FAILURE;
	all_kill(monitor);
}

/* Waits until something has happened; fds has room for all children, and two
 * more. */
static void events_wait(struct monitor *monitor, struct pollfd *fds)
{
	struct launch *launch = monitor->launch;
	int count = launch->serves ? launch->count : 0;
	struct pollfd *hang = &fds[count + 1];
	int ready;

	fds[0] = (struct pollfd){ .fd = monitor->signal_fd, .events = POLLIN };
	*hang = (struct pollfd){ .fd = launch->hang.ends[0], .events = POLLIN };
	for (int i = 0; i < count; i++)
		fds[i + 1].events = vm_pmi_server_events(&launch->server,
							 &fds[i + 1].fd, i);
	ready = poll(fds, (nfds_t)count + 2, wait_ms(monitor));
	if (ready < 0 && errno != EINTR && errno != EAGAIN)
		refused_take(monitor, errno);
	if (ready <= 0)
		return;
	if (hang->revents)
		hang_take(monitor);
	for (int i = 0; i < count; i++)
		if (fds[i + 1].fd >= 0 && fds[i + 1].revents)
			vm_pmi_server_ready(&launch->server, i);
	signals_read(monitor);
}

static bool is_running(const struct monitor *monitor)
{
	for (int i = 0; i < monitor->launch->count; i++)
		if (!monitor->launch->children[i].ended)
			return true;
	return false;
}

static void monitor_loop(struct monitor *monitor, struct pollfd *fds)
{
	while (is_running(monitor)) {
		events_wait(monitor, fds);
		/* Those that died first: others end for that reason. */
		for (int i = 0; i < monitor->launch->count; i++)
			child_check(monitor, i, true);
		for (int i = 0; i < monitor->launch->count; i++)
			child_check(monitor, i, false);
		abort_check(monitor);
		others_look(monitor);
		time_check(monitor);
	}
}

void monitor_kill(struct monitor *monitor)
{
	all_signal(monitor, SIGKILL);
	for (int i = 0; i < monitor->launch->count; i++)
		child_wait(monitor->launch->children[i].pid, &(siginfo_t){ 0 },
			   WEXITED);
}

int monitor_run(struct monitor *monitor)
{
	const struct options *options = monitor->launch->options;
	size_t count = (size_t)monitor->launch->count + 2;
	struct pollfd *fds = calloc(count, sizeof(*fds));
	int error;

	monitor->pids = calloc(count, sizeof(*monitor->pids));
	monitor->looks = monitor->launch->serves && !monitor->launch->node;
	other_mpi_begin(&monitor->other);
	monitor->signal_fd =
		signalfd(-1, &monitor->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (!fds || !monitor->pids || monitor->signal_fd < 0 ||
	    monitor->refused) {
		error = errno;
		vm_cli_say("cannot wait for the job: %s: %s",
			   !fds || !monitor->pids ? "memory" :
			   monitor->refused	  ? "sigprocmask" :
						    "signalfd",
			   strerror(monitor->refused ? monitor->refused :
						       error));
		monitor_kill(monitor);
		free(monitor->pids);
		free(fds);
		return EXIT_FAILURE;
	}
	if (options->timeout_ns)
		monitor->limit_ns = vm_clock_ns() + options->timeout_ns;
	monitor_loop(monitor, fds);
	close(monitor->signal_fd);
	free(monitor->pids);
	free(fds);
	if (monitor->ended >= 0)
		return monitor->ended;
	return monitor->failed >= 0 ? monitor->failed : EXIT_SUCCESS;
}
