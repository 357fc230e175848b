/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The near end.
 */
#include "ssh.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/last_word.h"
#include "base/own.h"
#include "base/standard.h"
#include "boot/job.h"
#include "frame.h"
#include "other_mpi.h"
#include "report/cli.h"
#include "report/outlet.h"

#define ALL_VARIABLES "*"
#define INPUT_WINDOW 65536 /* bytes on their way */
#define HELD_BYTES_MAX 65536
#define TICK_MS ((int)(VM_OUTLET_TICK_NS / 1000000))
/* As a writer to an outlet: beyond all ranks. */
#define WRITER(process) (VM_JOB_RANKS_MAX + (process))

extern char **environ;

/* Output that waits for the end of another process's line. */
struct held {
	char *text;
	size_t used;
	uint64_t since_ns;
};

struct near {
	const char *host;
	int process;
	struct vm_outlet own, *outlet;
	bool shared, one_place;
	struct held held[2];
	pid_t ssh;
	struct frame_sink to;
	struct frame_source from;
	bool greeted, ended;
	int pmi, input, signals; /* descriptors; -1: none */
	size_t input_sent;	 /* and not taken yet */
	int status;		 /* of wait(), when it has ended */
	bool other;		 /* it has loaded another MPI */
};

void ssh_words(struct command *words, const struct options *options,
	       const char *host)
{
	char self[PATH_MAX] = "vmpirun";
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *names = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&names, &bytes);

	if (length > 0)
		self[length] = '\0';
	command_add(words, self);
	command_add(words, SSH_NEAR);
	command_add(words, host);
	command_add(words,
		    options->launcher_exec ? options->launcher_exec : "ssh");
	for (size_t i = 0; stream && i < options->exports.count; i++)
		fprintf(stream, "%s%.*s", i ? "," : "",
			(int)strcspn(options->exports.list[i], "="),
			options->exports.list[i]);
	if (stream)
		fclose(stream);
	command_add(words, options->everything ? ALL_VARIABLES :
			   names	       ? names :
						 "");
	free(names);
}

/* Whether a variable goes along: those of vmpi, libfabric and the launcher, the
 * search path of libraries, and what was asked for. */
static bool is_passed(const char *variable, const char *names)
{
	static const char *const begins[] = { "VMPI_",
					      "FI_",
					      "PMI_",
					      "GMON_",
					      "LD_LIBRARY_PATH=",
					      "GLIBC_TUNABLES=",
					      "MPI4PY_MPIABI=",
					      "GFORTRAN_" };
	size_t length = strcspn(variable, "=");

	/* Descriptors lead nowhere there. */
	if (!strncmp(variable, "VMPI_JOB_LAST_WORD=", 19) ||
	    !strncmp(variable, "VMPI_JOB_HANG=", 14) ||
	    !strncmp(variable, "VMPI_JOB_OUTLET=", 16) ||
	    !strncmp(variable, "PMI_FD=", 7))
		return false;
	if (!strcmp(names, ALL_VARIABLES))
		return true;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(variable, begins[i], strlen(begins[i])))
			return true;
	for (const char *at = names; *at; at += at[0] == ',') {
		size_t word = strcspn(at, ",");

		if (word == length && !strncmp(at, variable, length))
			return true;
		at += word;
	}
	return false;
}

/* Everything the process needs goes ahead of it. */
static void job_send(struct near *near, const char *names, char **words)
{
	char *folder = getcwd(NULL, 0);

	for (char **entry = environ; *entry; entry++)
		if (is_passed(*entry, names))
			frame_put_text(&near->to, FRAME_VARIABLE, *entry);
	frame_put_text(&near->to, FRAME_FOLDER, folder ? folder : "/");
	for (; *words; words++)
		frame_put_text(&near->to, FRAME_WORD, *words);
	frame_put_number(&near->to, FRAME_START, near->pmi >= 0);
	free(folder);
}

static _Noreturn void ssh_exec(const struct near *near, char **words,
			       const int to[2], const int from[2],
			       const sigset_t *mask)
{
	dup2(to[0], STDIN_FILENO);
	dup2(from[1], STDOUT_FILENO);
	/* What ends our group ends it too late to tell the other end. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(words[0], words);
	vm_cli_say("%s: %s", words[0], strerror(errno));
	_exit(127);
}

/* Starts ssh, and the far end with it. */
static int ssh_start(struct near *near, const char *launcher,
		     const sigset_t *mask)
{
	struct command words = { 0 };
	char self[PATH_MAX] = "";
	int to[2], from[2];

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) ||
	    command_add_text(&words, "--launcher-exec", launcher, near->host,
			     0))
		return -1;
	if (!strcmp(launcher, "ssh")) {
		command_add(&words, "-x");
		command_add(&words, "-T");
		command_add(&words, "--");
	}
	command_add(&words, near->host);
	/* The shell there reads it. */
	command_add_quoted(&words, self);
	command_add(&words, SSH_FAR);
	near->ssh = words.failed ? -1 : fork();
	if (near->ssh == 0)
		ssh_exec(near, words.list, to, from, mask);
	command_fini(&words);
	close(to[0]);
	close(from[1]);
	fcntl(to[1], F_SETFL, O_NONBLOCK);
	near->to = (struct frame_sink){ .fd = to[1] };
	near->from = (struct frame_source){ .fd = from[0] };
	return near->ssh < 0 ? -1 : 0;
}

static void other_take(struct near *near, const struct frame *frame)
{
	char process[300], path[PATH_MAX];

	snprintf(process, sizeof(process), "a process on %s", near->host);
	snprintf(path, sizeof(path), "%.*s", (int)frame->length, frame->bytes);
	other_mpi_say(process, path);
	near->other = true;
}

/* Writes what has come, or leaves it for the moment while the line of another
 * process has just begun; whether it did. */
static bool held_leave(struct near *near, int stream, bool last)
{
	struct held *held = &near->held[stream];
	struct vm_outlet_line *begun =
		&near->outlet->begun[near->one_place ? 0 : stream];
	uint64_t now = vm_outlet_now();
	bool waits, locked;

	if (!held->used)
		return true;
	locked = near->shared &&
		 vm_outlet_lock(near->outlet, getpid(), UINT64_MAX);
	waits = !last && held->used < HELD_BYTES_MAX &&
		vm_outlet_foreign(begun, WRITER(near->process)) &&
		now - held->since_ns < VM_OUTLET_PATIENCE_NS &&
		now - begun->since_ns < VM_OUTLET_PATIENCE_NS;
	if (!waits) {
		if (vm_outlet_foreign(begun, WRITER(near->process)))
			frame_write(stream + 1, "\n", 1);
		frame_write(stream + 1, held->text, held->used);
		vm_outlet_note(begun, WRITER(near->process),
			       held->text[held->used - 1] == '\n');
		held->used = 0;
	}
	if (locked)
		vm_outlet_unlock(near->outlet);
	return !waits;
}

static void output_take(struct near *near, int stream,
			const struct frame *frame)
{
	struct held *held = &near->held[stream];
	char *text = realloc(held->text, held->used + frame->length);

	if (!text || !frame->length)
		return;
	if (!held->used)
		held->since_ns = vm_outlet_now();
	memcpy(text + held->used, frame->bytes, frame->length);
	held->text = text;
	held->used += frame->length;
	held_leave(near, stream, false);
}

/* Tries again; whether all has left. */
static bool output_leave(struct near *near, bool last)
{
	bool output = held_leave(near, 0, last);

	return held_leave(near, 1, last) && output;
}

static void outlet_find(struct near *near)
{
	int fd = vm_standard_handed(getenv(VM_JOB_PREFIX "OUTLET"));
	const char *number = getenv("PMI_RANK");

	near->outlet = fd < 0 ? NULL : vm_outlet_open(fd);
	near->shared = near->outlet != NULL;
	if (!near->outlet)
		near->outlet = &near->own;
	if (fd >= 0)
		close(fd);
	near->process = number ? (int)strtol(number, NULL, 10) : 0;
	near->one_place = vm_standard_one_place();
}

static void frame_take(struct near *near, const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_OUTPUT:
		output_take(near, 0, frame);
		break;
	case FRAME_ERROR:
		output_take(near, 1, frame);
		break;
	case FRAME_PMI:
		if (near->pmi >= 0 &&
		    (!frame->length ||
		     frame_write(near->pmi, frame->bytes, frame->length))) {
			close(near->pmi);
			near->pmi = -1;
		}
		break;
	case FRAME_TAKEN:
		near->input_sent -= (size_t)frame_number(frame);
		break;
	case FRAME_OTHER:
		other_take(near, frame);
		break;
	case FRAME_ENDED:
		near->status = (int)frame_number(frame);
		near->ended = true;
		break;
	default:
		break;
	}
}

static void frames_take(struct near *near)
{
	struct frame frame;
	int rc = 1;

	frame_fill(&near->from);
	if (!near->greeted)
		near->greeted = frame_skip(&near->from, SSH_FAR " 1\n");
	while (near->greeted && (rc = frame_next(&near->from, &frame)) > 0)
		frame_take(near, &frame);
	if (rc < 0)
		near->from.fd = -1;
}

/* Passes on what a descriptor has; it is -1 after its end. */
static void stream_send(struct near *near, int *fd, enum frame_type type)
{
	char bytes[16384];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	frame_put(&near->to, type, bytes, n > 0 ? (size_t)n : 0);
	if (type == FRAME_INPUT && n > 0)
		near->input_sent += (size_t)n;
	if (n <= 0)
		*fd = -1;
}

static void signal_send(struct near *near)
{
	struct signalfd_siginfo info;

	if (read(near->signals, &info, sizeof(info)) != sizeof(info))
		return;
	frame_put_number(&near->to, FRAME_SIGNAL, (long)info.ssi_signo);
	/* Nobody is there yet who could heed it. */
	if (!near->greeted && info.ssi_signo != SIGUSR1 &&
	    info.ssi_signo != SIGUSR2 && info.ssi_signo != SIGCONT)
		kill(near->ssh, SIGTERM);
}

static void turn(struct near *near)
{
	bool full = frame_kept(&near->to) > FRAME_KEPT_MAX;
	struct pollfd fds[] = {
		{ .fd = near->from.fd, .events = POLLIN },
		{ .fd = frame_kept(&near->to) ? near->to.fd : -1,
		  .events = POLLOUT },
		{ .fd = full ? -1 : near->pmi, .events = POLLIN },
		{ .fd = full || near->input_sent > INPUT_WINDOW ? -1 :
								  near->input,
		  .events = POLLIN },
		{ .fd = near->signals, .events = POLLIN },
	};

	if (poll(fds, 5, output_leave(near, false) ? -1 : TICK_MS) < 0)
		return;
	if (fds[4].revents)
		signal_send(near);
	if (fds[1].revents)
		frame_flush(&near->to);
	if (fds[0].revents)
		frames_take(near);
	if (fds[2].revents && near->pmi >= 0)
		stream_send(near, &near->pmi, FRAME_PMI);
	if (fds[3].revents)
		stream_send(near, &near->input, FRAME_INPUT);
}

/* Ends as the process has ended, so that vmpirun sees the same. */
static int end_as(const struct near *near)
{
	const struct rlimit none = { 0, 0 };
	sigset_t mask;

	if (WIFSIGNALED(near->status)) {
		setrlimit(RLIMIT_CORE, &none);
		signal(WTERMSIG(near->status), SIG_DFL);
		sigemptyset(&mask);
		sigaddset(&mask, WTERMSIG(near->status));
		raise(WTERMSIG(near->status));
		sigprocmask(SIG_UNBLOCK, &mask, NULL);
		return 128 + WTERMSIG(near->status);
	}
	return near->other && !WEXITSTATUS(near->status) ?
		       EXIT_FAILURE :
		       WEXITSTATUS(near->status);
}

/* The connection is lost, or there never was one. */
static int lost(const struct near *near, const char *launcher)
{
	int status = 0;

	waitpid(near->ssh, &status, 0);
	/* Hosts that are not reached are often many. */
	if (!vm_last_word_take())
		return VM_EXIT_MISTAKE;
	if (near->greeted)
		vm_cli_say("the connection to %s by %s is lost", near->host,
			   launcher);
	else if (WIFEXITED(status) && WEXITSTATUS(status) >= 126 &&
		 WEXITSTATUS(status) <= 127)
		vm_cli_say("%s cannot start vmpirun on %s; it has to be there "
			   "at the same path",
			   launcher, near->host);
	else
		vm_cli_say("%s to %s has failed (%s %d)", launcher, near->host,
			   WIFEXITED(status) ? "status" : "signal",
			   WIFEXITED(status) ? WEXITSTATUS(status) :
					       WTERMSIG(status));
	vm_last_word_give();
	return VM_EXIT_MISTAKE;
}

/* A descriptor that vmpirun has handed on, or -1. */
static int fd_of_env(const char *name)
{
	const char *text = getenv(name);
	int fd = text ? (int)strtol(text, NULL, 10) : -1;

	if (fd >= 0)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

int ssh_near(int argc, char **argv)
{
	struct near near = { .input = STDIN_FILENO };
	sigset_t mask, before;

	if (argc < 4)
		return VM_EXIT_MISTAKE;
	near.host = argv[0];
	if (hosts_is_here(near.host)) {
		execvp(argv[3], argv + 3);
		vm_cli_say("%s: %s", argv[3], strerror(errno));
		return VM_EXIT_MISTAKE;
	}
	near.pmi = fd_of_env("PMI_FD");
	vm_last_word_set(fd_of_env(VM_JOB_PREFIX "LAST_WORD"));
	outlet_find(&near);
	sigemptyset(&mask);
	for (const int *at = (const int[]){ SIGTERM, SIGINT, SIGHUP, SIGQUIT,
					    SIGUSR1, SIGUSR2, SIGCONT, 0 };
	     *at; at++)
		sigaddset(&mask, *at);
	sigprocmask(SIG_BLOCK, &mask, &before);
	signal(SIGPIPE, SIG_IGN);
	near.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (ssh_start(&near, argv[1], &before)) {
		vm_cli_say("%s: %s", argv[1], vm_own_why(errno));
		return VM_EXIT_MISTAKE;
	}
	job_send(&near, argv[2], argv + 3);
	while (!near.ended && near.from.fd >= 0)
		turn(&near);
	output_leave(&near, true);
	free(near.held[0].text);
	free(near.held[1].text);
	frame_sink_fini(&near.to);
	frame_source_fini(&near.from);
	return near.ended ? end_as(&near) : lost(&near, argv[1]);
}
