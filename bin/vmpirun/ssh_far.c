/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The far end: starts the process, and is its parent as vmpirun would be.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own.h"
#include "boot/job.h"
#include "frame.h"
#include "introspect/export/export.h"
#include "introspect/export/list.h"
#include "other_mpi.h"
#include "report/cli.h"
#include "ssh.h"

struct far {
	struct frame_source from;
	struct frame_sink to;
	struct command words;
	char *folder;
	bool started, ended;
	pid_t child;
	int output[2], pmi, signals; /* descriptors, -1: none */
	int input;
	struct frame_sink waiting; /* standard input that was not taken */
	struct other_mpi other;
	int status;
};

/* Says once that the process has another MPI. */
static void other_send(struct far *far)
{
	if (far->other.path[0])
		frame_put_text(&far->to, FRAME_OTHER, far->other.path);
	other_mpi_stop(&far->other);
}

/* What happens in the child. */
static _Noreturn void child_exec(struct far *far, const int output[2],
				 int input, int pmi)
{
	sigset_t none;
	char text[16];

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(input, STDIN_FILENO);
	dup2(output[0], STDOUT_FILENO);
	dup2(output[1], STDERR_FILENO);
	if (pmi >= 0) {
		fcntl(pmi, F_SETFD, 0);
		snprintf(text, sizeof(text), "%d", pmi);
		setenv("PMI_FD", text, 1);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(far->folder)) {
		vm_cli_say("%s: %s", far->folder, strerror(errno));
		_exit(VM_EXIT_MISTAKE);
	}
	execvp(far->words.list[0], far->words.list);
	vm_cli_say("%s: %s", far->words.list[0], strerror(errno));
	_exit(VM_EXIT_MISTAKE);
}

static void start(struct far *far, bool pmi)
{
	int input[2], output[2][2], ends[2] = { -1, -1 };
	int theirs[2];

	if (!far->words.count || !far->folder || pipe2(input, O_CLOEXEC) ||
	    pipe2(output[0], O_CLOEXEC) || pipe2(output[1], O_CLOEXEC) ||
	    (pmi && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)))
		_exit(VM_EXIT_MISTAKE);
	theirs[0] = output[0][1];
	theirs[1] = output[1][1];
	far->child = fork();
	if (far->child == 0)
		child_exec(far, theirs, input[0], ends[1]);
	for (int i = 0; i < 2; i++) {
		close(theirs[i]);
		far->output[i] = output[i][0];
		fcntl(far->output[i], F_SETFL, O_NONBLOCK);
	}
	close(input[0]);
	far->waiting.fd = input[1];
	fcntl(input[1], F_SETFL, O_NONBLOCK);
	if (pmi)
		close(ends[1]);
	far->pmi = ends[0];
	far->started = true;
	if (pmi)
		other_mpi_begin(&far->other);
	if (far->child < 0) {
		vm_cli_say("fork: %s", vm_own_why(errno));
		_exit(VM_EXIT_MISTAKE);
	}
}

/* Standard input; what the pipe does not take waits. */
static void input_take(struct far *far, const struct frame *frame)
{
	if (!frame->length || far->waiting.fd < 0) {
		far->input = frame->length ? far->input : -1;
		frame_put_number(&far->to, FRAME_TAKEN, (long)frame->length);
		return;
	}
	frame_keep(&far->waiting, frame->bytes, frame->length);
}

/* Hands on what waits; the other end may send that much more. */
static void input_give(struct far *far)
{
	size_t before = far->waiting.end - far->waiting.begin;

	frame_flush(&far->waiting);
	before -= far->waiting.end - far->waiting.begin;
	if (before)
		frame_put_number(&far->to, FRAME_TAKEN, (long)before);
	if (far->input < 0 && far->waiting.fd >= 0 &&
	    far->waiting.begin == far->waiting.end) {
		close(far->waiting.fd);
		far->waiting.fd = -1;
	}
}

static void frame_take(struct far *far, const struct frame *frame)
{
	char *text = strndup(frame->bytes, frame->length);

	if (!text)
		_exit(VM_EXIT_MISTAKE);
	switch (frame->type) {
	case FRAME_VARIABLE:
		putenv(text);
		return;
	case FRAME_FOLDER:
		far->folder = text;
		return;
	case FRAME_WORD:
		command_add(&far->words, text);
		break;
	case FRAME_START:
		start(far, frame_number(frame) != 0);
		break;
	case FRAME_SIGNAL:
		if (far->started && !far->ended)
			kill(-far->child, (int)frame_number(frame));
		break;
	case FRAME_INPUT:
		input_take(far, frame);
		break;
	case FRAME_PMI:
		if (far->pmi >= 0 && frame->length)
			frame_write(far->pmi, frame->bytes, frame->length);
		else if (far->pmi >= 0)
			shutdown(far->pmi, SHUT_WR);
		break;
	default:
		break;
	}
	free(text);
}

static void frames_take(struct far *far)
{
	struct frame frame;
	int rc;

	frame_fill(&far->from);
	while ((rc = frame_next(&far->from, &frame)) > 0)
		frame_take(far, &frame);
	if (rc < 0)
		far->from.fd = -1;
}

/* Passes on what a descriptor has; it is -1 after its end. */
static bool stream_send(struct far *far, int *fd, enum frame_type type)
{
	char bytes[16384];
	ssize_t n = *fd < 0 ? 0 : read(*fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (type == FRAME_PMI && n > 0) /* It joins. */
		other_mpi_stop(&far->other);
	if (*fd >= 0 && (n > 0 || type == FRAME_PMI))
		frame_put(&far->to, type, bytes, n > 0 ? (size_t)n : 0);
	if (n <= 0 && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	return n > 0;
}

static void child_reap(struct far *far)
{
	struct signalfd_siginfo info;

	if (read(far->signals, &info, sizeof(info)) != sizeof(info) ||
	    waitpid(far->child, &far->status, WNOHANG) != far->child)
		return;
	far->ended = true;
}

/* Until other MPIs are looked for. */
static int wait_ms(const struct far *far)
{
	uint64_t now = vm_clock_ns(), until = far->other.next_ns;

	if (until == UINT64_MAX)
		return -1;
	return until > now ? (int)((until - now + 999999) / 1000000) : 0;
}

static void turn(struct far *far)
{
	bool full = frame_kept(&far->to) > FRAME_KEPT_MAX;
	struct pollfd fds[] = {
		{ .fd = far->from.fd, .events = POLLIN },
		{ .fd = frame_kept(&far->to) ? far->to.fd : -1,
		  .events = POLLOUT },
		{ .fd = full ? -1 : far->pmi, .events = POLLIN },
		{ .fd = full ? -1 : far->output[0], .events = POLLIN },
		{ .fd = full ? -1 : far->output[1], .events = POLLIN },
		{ .fd = far->signals, .events = POLLIN },
		{ .fd = frame_kept(&far->waiting) ? far->waiting.fd : -1,
		  .events = POLLOUT },
	};

	if (poll(fds, 7, wait_ms(far)) < 0)
		return;
	if (fds[0].revents)
		frames_take(far);
	if (fds[1].revents)
		frame_flush(&far->to);
	if (fds[2].revents)
		stream_send(far, &far->pmi, FRAME_PMI);
	if (fds[3].revents)
		stream_send(far, &far->output[0], FRAME_OUTPUT);
	if (fds[4].revents)
		stream_send(far, &far->output[1], FRAME_ERROR);
	if (fds[5].revents && far->started)
		child_reap(far);
	if (far->started)
		input_give(far);
	if (far->started && other_mpi_look(&far->other, &far->child, 1))
		other_send(far);
}

/* The process has ended; what it wrote is in the pipes. */
static void finish(struct far *far)
{
	fcntl(STDOUT_FILENO, F_SETFL, 0);
	while (stream_send(far, &far->output[0], FRAME_OUTPUT))
		;
	while (stream_send(far, &far->output[1], FRAME_ERROR))
		;
	if (far->pmi >= 0)
		fcntl(far->pmi, F_SETFL, O_NONBLOCK);
	while (stream_send(far, &far->pmi, FRAME_PMI))
		;
	other_send(far);
	frame_put_number(&far->to, FRAME_ENDED, far->status);
	frame_flush(&far->to);
}

/* Nobody is left who wants the job. */
static void give_up(const struct far *far)
{
	if (far->started && !far->ended)
		kill(-far->child, SIGKILL);
}

int ssh_far(void)
{
	struct far far = { .from.fd = STDIN_FILENO,
			   .to.fd = STDOUT_FILENO,
			   .output = { -1, -1 },
			   .pmi = -1,
			   .waiting.fd = -1,
			   .other.next_ns = UINT64_MAX };
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	far.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	frame_write(STDOUT_FILENO, SSH_FAR " 1\n", sizeof(SSH_FAR " 1\n") - 1);
	fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	while (!far.ended && far.from.fd >= 0 && far.to.fd >= 0)
		turn(&far);
	if (far.ended)
		finish(&far);
	else
		give_up(&far);
	if (getenv(VM_JOB_PREFIX "ID"))
		vm_export_clean(VM_EXPORT_DIR, getenv(VM_JOB_PREFIX "ID"),
				VM_EXPORT_OLD_S);
	return 0;
}
