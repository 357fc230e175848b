/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests to a control socket that a thread of this test serves: every answer,
 * and everything that can be wrong with the process behind it.
 */
#include "report/live/control.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "tap.h"

#define PATIENCE_MS 60000

static char dir[] = "/tmp/vmpi-control-XXXXXX";
static char path[64];
static char answer[VM_CONTROL_LINE_MAX];

static int listener_open(int backlog)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(fd, backlog))
		bail("no socket at %s", path);
	return fd;
}

/* A process that answers once; the answer comes in two pieces. */
struct server {
	pthread_t thread;
	int fd;
	const char *first, *second;
	char request[2 * VM_CONTROL_LINE_MAX];
};

static void write_all(int fd, const char *text)
{
	size_t bytes = strlen(text);

	while (bytes) {
		ssize_t n = send(fd, text, bytes, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		text += n;
		bytes -= (size_t)n;
	}
}

static void *serve(void *arg)
{
	const struct timespec moment = { .tv_nsec = 2000000 };
	struct server *server = arg;
	int fd = accept(server->fd, NULL, NULL);
	size_t bytes = 0;

	do {
		ssize_t n = recv(fd, server->request + bytes,
				 sizeof(server->request) - 1 - bytes, 0);

		if (n <= 0)
			break;
		bytes += (size_t)n;
	} while (!strchr(server->request, '\n'));
	write_all(fd, server->first);
	nanosleep(&moment, NULL);
	write_all(fd, server->second);
	close(fd);
	return NULL;
}

/* Asks a server that answers with these; its request is to be right, too. */
static void answered(const char *request, const char *first, const char *second,
		     int code, const char *want, const char *name)
{
	struct server server = { .first = first, .second = second };
	char line[VM_CONTROL_LINE_MAX + 1];
	int rc;

	server.fd = listener_open(1);
	if (pthread_create(&server.thread, NULL, serve, &server))
		bail("no thread");
	rc = vm_control_ask(answer, path, request, PATIENCE_MS);
	pthread_join(server.thread, NULL);
	close(server.fd);
	unlink(path);
	is_int(rc, code, "%s", name);
	is_string(answer, want, "... what is said");
	snprintf(line, sizeof(line), "%s\n", request);
	is_string(server.request, line, "... the request is one line");
}

static void answers(void)
{
	static char flood[2 * VM_CONTROL_LINE_MAX];
	char request[VM_CONTROL_LINE_MAX];

	answered("set farm_cows 12", "ok\n", "", 0, "", "a plain ok");
	answered("get farm_cows", "ok 12\n", "", 0, "12", "an ok with a value");
	answered("get farm_dog", "ok \n", "", 0, "", "an empty value");
	answered("get farm_dog", "ok Old ", "Yeller\nmore", 0, "Old Yeller",
		 "an answer in two pieces ends at its newline");
	answered("get farm_cow", "error no farm_cow here\n", "", -VMPI_EINVAL,
		 "no farm_cow here", "a refusal");
	answered("ping", "HTTP/1.1 400 Bad Request\n", "", -VMPI_EIO,
		 "the answer is not from a vmpi process",
		 "somebody else listens there");
	answered("ping", "okay\n", "", -VMPI_EIO,
		 "the answer is not from a vmpi process",
		 "a word that only begins with ok");
	answered("ping", "ok 1", "", -VMPI_EIO,
		 "the process closed the connection without an answer",
		 "an answer that ends before its newline");
	memset(flood, 'x', sizeof(flood) - 1);
	answered("ping", flood, "", -VMPI_EIO, "the answer is too long",
		 "an answer without an end");
	memset(request, 'y', sizeof(request) - 1);
	request[sizeof(request) - 1] = '\0';
	answered(request, "ok long\n", "", 0, "long",
		 "the longest request that there is");
}

static void asked(const char *socket_path, const char *request, int timeout_ms,
		  int code, const char *want, const char *name)
{
	is_int(vm_control_ask(answer, socket_path, request, timeout_ms), code,
	       "%s", name);
	is_string(answer, want, "... what is said");
}

static const char none[] =
	"the job does not accept settings: start it with vmpirun --control";

static void nobody(void)
{
	char other[200];
	FILE *file;

	ok(!vm_control_there(path), "there is no socket");
	asked(path, "ping", PATIENCE_MS, -VMPI_ENOENT, none,
	      "a process without a socket");
	file = fopen(path, "w");
	if (!file)
		bail("%s cannot be written", path);
	fclose(file);
	ok(!vm_control_there(path), "a file is no socket");
	snprintf(other, sizeof(other), "%s/below", path);
	asked(other, "ping", PATIENCE_MS, -VMPI_EIO, strerror(ENOTDIR),
	      "errors of the system have its words");
	unlink(path);
	close(listener_open(1));
	ok(vm_control_there(path), "a socket is one when nobody listens");
	asked(path, "ping", PATIENCE_MS, -VMPI_ENOENT, none,
	      "the socket of a process that has died");
	unlink(path);
}

static void refused(void)
{
	char line[VM_CONTROL_LINE_MAX + 1];
	struct rlimit limit, none_more;

	asked(path, "get a\nget b", PATIENCE_MS, -VMPI_ELIMIT,
	      "a request must be one line, and shorter", "two lines");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	asked(path, line, PATIENCE_MS, -VMPI_ELIMIT,
	      "a request must be one line, and shorter", "a line too long");
	line[200] = '\0';
	asked(line, "ping", PATIENCE_MS, -VMPI_ELIMIT,
	      "the path of the control socket is too long", "a path too long");
	getrlimit(RLIMIT_NOFILE, &limit);
	none_more = limit;
	none_more.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none_more);
	asked(path, "ping", PATIENCE_MS, -VMPI_EIO, strerror(EMFILE),
	      "no descriptor is left");
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* The kernel takes connections for a process that does nothing, up to some. */
static void silent(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = listener_open(0), queue[8], count = 0;

	asked(path, "ping", 20, -VMPI_EAGAIN,
	      "the process does not answer; is it stopped?",
	      "a process that does not answer");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (; count < 8; count++) {
		queue[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(queue[count], (const struct sockaddr *)&address,
			    sizeof(address)))
			break;
	}
	asked(path, "ping", 20, -VMPI_EAGAIN,
	      "too many other clients are connected to the process",
	      "a process with a long queue");
	for (int i = 0; i <= count && i < 8; i++)
		close(queue[i]);
	close(fd);
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail("no directory");
	snprintf(path, sizeof(path), "%s/socket", dir);
	answers();
	nobody();
	refused();
	silent();
	ok(rmdir(dir) == 0, "nothing is left behind");
	return done_testing();
}
