/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection per request: the user is a person, or a script.
 */
#include "report/live/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"

struct call {
	int fd;
	char *answer;
	uint64_t until_ns;
};

bool vm_control_there(const char *socket_path)
{
	struct stat stat;

	return lstat(socket_path, &stat) == 0 && S_ISSOCK(stat.st_mode);
}

/* Fails with a text and a code. */
static int fail(const struct call *call, int code, const char *text)
{
	snprintf(call->answer, VM_CONTROL_LINE_MAX, "%s", text);
	return code;
}

static int lost(const struct call *call)
{
	return fail(call, -VMPI_EIO, strerror(errno));
}

/* Waits for events; 0: they have happened. */
static int await(const struct call *call, short events)
{
	struct pollfd fd = { call->fd, events, 0 };
	uint64_t now = vm_clock_ns();
	int rc = 0;

	if (now < call->until_ns)
		rc = poll(&fd, 1, (int)((call->until_ns - now) / 1000000) + 1);
	if (rc > 0 || (rc < 0 && errno == EINTR))
		return 0;
	if (rc < 0)
		return lost(call);
	return fail(call, -VMPI_EAGAIN,
		    "the process does not answer; is it stopped?");
}

/* Waits a moment; false: the time is over. */
static bool pause_before(uint64_t until_ns)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	bool left = vm_clock_ns() < until_ns;

	if (left)
		nanosleep(&moment, NULL);
	errno = EAGAIN;
	return left;
}

static int connect_to(const struct call *call, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int rc;

	if (strlen(path) >= sizeof(address.sun_path))
		return fail(call, -VMPI_ELIMIT,
			    "the path of the control socket is too long");
	memcpy(address.sun_path, path, strlen(path) + 1);
	/* A full queue cannot be waited for, only tried again. */
	do
		rc = connect(call->fd, (struct sockaddr *)&address,
			     sizeof(address));
	while (rc && errno == EAGAIN && pause_before(call->until_ns));
	if (!rc)
		return 0;
	if (errno == EAGAIN)
		return fail(
			call, -VMPI_EAGAIN,
			"too many other clients are connected to the process");
	if (errno == ENOENT || errno == ECONNREFUSED)
		return fail(
			call, -VMPI_ENOENT,
			"the job does not accept settings: start it with vmpirun "
			"--control");
	return lost(call);
}

static int send_all(const struct call *call, const char *text, size_t bytes)
{
	while (bytes) {
		ssize_t n = send(call->fd, text, bytes, MSG_NOSIGNAL);
		int rc = 0;

		if (n >= 0) {
			text += n;
			bytes -= (size_t)n;
		} else if (errno == EAGAIN || errno == EINTR) {
			rc = await(call, POLLOUT);
		} else {
			rc = lost(call);
		}
		if (rc)
			return rc;
	}
	return 0;
}

/* Receives up to the newline, which is left out. */
static int receive_line(const struct call *call, char line[VM_CONTROL_LINE_MAX])
{
	size_t bytes = 0;

	while (bytes < VM_CONTROL_LINE_MAX - 1) {
		ssize_t n = recv(call->fd, line + bytes,
				 VM_CONTROL_LINE_MAX - 1 - bytes, 0);
		char *end;
		int rc = 0;

		if (n == 0)
			return fail(
				call, -VMPI_EIO,
				"the process closed the connection without an answer");
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return lost(call);
		if (n < 0)
			rc = await(call, POLLIN);
		if (rc)
			return rc;
		if (n < 0)
			continue;
		end = memchr(line + bytes, '\n', (size_t)n);
		if (end) {
			*end = '\0';
			return 0;
		}
		bytes += (size_t)n;
	}
	return fail(call, -VMPI_EIO, "the answer is too long");
}

static int answer_take(const struct call *call, const char *line)
{
	if (!strcmp(line, "ok"))
		return fail(call, 0, "");
	if (!strncmp(line, "ok ", 3))
		return fail(call, 0, line + 3);
	if (!strncmp(line, "error ", 6))
		return fail(call, -VMPI_EINVAL, line + 6);
	return fail(call, -VMPI_EIO, "the answer is not from a vmpi process");
}

int vm_control_ask(char answer[VM_CONTROL_LINE_MAX], const char *socket_path,
		   const char *request, int timeout_ms)
{
	struct call call = { .answer = answer };
	char line[VM_CONTROL_LINE_MAX + 1];
	size_t bytes = strlen(request);
	int rc;

	if (bytes >= VM_CONTROL_LINE_MAX || strchr(request, '\n'))
		return fail(&call, -VMPI_ELIMIT,
			    "a request must be one line, and shorter");
	call.until_ns = vm_clock_ns() + (uint64_t)timeout_ms * 1000000;
	call.fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (call.fd < 0)
		return lost(&call);
	memcpy(line, request, bytes);
	line[bytes++] = '\n';
	rc = connect_to(&call, socket_path);
	if (!rc)
		rc = send_all(&call, line, bytes);
	if (!rc)
		rc = receive_line(&call, line);
	if (!rc)
		rc = answer_take(&call, line);
	close(call.fd);
	return rc;
}
