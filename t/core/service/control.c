/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control socket: permissions, answers, and clients that try to do harm.
 */
#include "core/service/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "core/service/publish.h"
#include "core/rank/state.h"
#include "report/live/control.h"
#include "introspect/export/export.h"
#include "tap.h"

/* Longer than a machine is busy: nothing here waits for the end of it. */
#define PATIENCE_MS 50000

static char path[VM_EXPORT_PATH_MAX + 16];
static char answer[VM_CONTROL_LINE_MAX];

static void start(const char *control)
{
	vmpi_config config = { .ranks = 2, .workers = 1 };
	int rc = vmpi_set("core_control", control);

	if (!rc)
		rc = vmpi_start(&config);
	if (rc)
		bail("vmpi_start: %s", vmpi_strerror(rc));
}

static int ask(const char *request)
{
	return vm_control_ask(answer, path, request, PATIENCE_MS);
}

static int client_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		bail("%s: %s", path, strerror(errno));
	return fd;
}

static void client_send(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		diag("send: %s", strerror(errno));
}

/* Receives until there are so many lines, or the other side hangs up. */
static const char *client_read(int fd, int lines)
{
	static char text[65536];
	size_t bytes = 0;

	while (lines > 0 && bytes < sizeof(text) - 1) {
		if (read(fd, text + bytes, 1) != 1)
			break;
		lines -= text[bytes++] == '\n';
	}
	text[bytes] = '\0';
	return text;
}

static void path_find(void)
{
	char share[VM_EXPORT_PATH_MAX];

	vm_publish_path(share, sizeof(share), NULL);
	vm_control_path(path, sizeof(path), share);
}

static void test_off(void)
{
	start("off");
	ok(!vm_control_there(path), "without core_control there is no socket");
	is_int(ask("ping"), -VMPI_ENOENT, "and nobody to ask");
	ok(strstr(answer, "vmpirun --control"), "which says how to get one");
	vmpi_stop();
}

static void test_requests(void)
{
	char value[32], request[VM_CONTROL_LINE_MAX + 8];
	struct stat stat_;

	start("on");
	ok(!stat(path, &stat_) && (stat_.st_mode & 0777) == 0600,
	   "the socket is its user's alone");
	is_int(ask("ping"), 0, "it answers");
	ok(strstr(answer, vmpi_version()), "with the version");
	is_int(ask("set core_eager_limit 4K"), 0, "a variable is set");
	is_int(vmpi_get("core_eager_limit", value, sizeof(value)), 0, "and");
	is_string(value, "4096", "the program sees it");
	is_int(ask("get core_eager_limit"), 0, "it can be asked for");
	is_string(answer, "4096", "and is that");
	is_int(ask("set core_balance auto"), -VMPI_EINVAL,
	       "others are refused");
	is_string(answer,
		  "core_balance can only be set before the runtime starts",
		  "with the reason");
	is_int(ask("ping\nping"), -VMPI_ELIMIT, "a request is one line");
	memset(request, 'x', sizeof(request));
	request[sizeof(request) - 1] = '\0';
	is_int(ask(request), -VMPI_ELIMIT, "and not too long");
}

/* Each of two ranks may have a value of its own. */
static void test_ranks(void)
{
	is_int(ask("set core_eager_limit 4K"), 0, "all ranks have a value");
	is_int(ask("rank 1 set core_eager_limit 2K"), 0,
	       "one gets another one");
	is_int(ask("rank 1 get core_eager_limit"), 0, "it can be asked for");
	is_string(answer, "2048", "and has it");
	is_int(ask("rank 0 get core_eager_limit"), 0, "the other one");
	is_string(answer, "4096", "has that of all");
	ask("get core_eager_limit");
	is_string(answer, "4096", "which stays as it was");
	is_int(ask("rank 2 get core_eager_limit"), -VMPI_EINVAL,
	       "a rank that is not there");
	is_string(answer, "rank 2 is not in this process", "has none");
	is_int(ask("rank 1 set core_eager_limit 2G"), -VMPI_EINVAL,
	       "ranges hold for ranks too");
	is_int(ask("rank 1 set sched_spin_us 7"), -VMPI_EINVAL,
	       "what is of the process");
	is_string(answer,
		  "sched_spin_us has one value for all ranks of a process; set "
		  "it without a rank",
		  "is not set for one rank");
}

static void test_harmless(void)
{
	int fd = client_open(), mute, many[3 * VM_CONTROL_CLIENTS_MAX];
	char noise[3 * VM_CONTROL_LINE_MAX];
	unsigned seed = 23;
	const char *got;

	client_send(fd, "pi");
	client_send(fd, "ng\nget core_control\nbogus\n");
	got = client_read(fd, 3);
	ok(strstr(got, "ok vmpi") && strstr(got, "ok 1\n") &&
		   strstr(got, "error 'bogus'"),
	   "requests may come in pieces, and several at once");
	memset(noise, 'x', sizeof(noise));
	noise[sizeof(noise) - 1] = '\0';
	client_send(fd, noise);
	ok(strstr(client_read(fd, 1), "error a request is one line of at most"),
	   "a line without an end is refused");
	is_string(client_read(fd, 1), "", "and its sender is hung up on");
	close(fd);

	/* Asks and asks, and never reads an answer. */
	mute = client_open();
	for (int i = 0; i < 20000; i++)
		if (send(mute, "get core_eager_limit\n", 21,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
	is_int(ask("ping"), 0, "who never reads does not stop the others");

	for (int i = 0; i < 3 * VM_CONTROL_CLIENTS_MAX; i++)
		many[i] = client_open();
	is_int(ask("ping"), 0, "nor do those who connect and say nothing");
	for (int i = 0; i < 3 * VM_CONTROL_CLIENTS_MAX; i++)
		close(many[i]);
	close(mute);

	for (int round = 0; round < 50; round++) {
		fd = client_open();
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)(rand_r(&seed) % 256);
		send(fd, noise, (size_t)rand_r(&seed) % sizeof(noise),
		     MSG_NOSIGNAL);
		close(fd);
	}
	is_int(ask("ping"), 0, "nor does noise");
}

/* The child has the descriptors, and no service. */
static void test_fork(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		exit(0);
	waitpid(child, &status, 0);
	is_int(status, 0, "a child ends");
	is_int(ask("ping"), 0, "and leaves its parent the socket");
}

static void test_stop(void)
{
	int fd = client_open(), next;

	client_send(fd, "ping\n");
	client_read(fd, 1);
	vmpi_stop();
	is_string(client_read(fd, 1), "", "at the stop all are hung up on");
	close(fd);
	ok(!vm_control_there(path), "and the socket is gone");

	/* The socket that a killed process leaves. */
	next = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, path);
	bind(next, (struct sockaddr *)&address, sizeof(address));
	close(next);
	ok(vm_control_there(path), "a dead process left its socket");
	is_int(ask("ping"), -VMPI_ENOENT, "where nobody answers");
	start("on");
	is_int(ask("ping"), 0, "the next one of its name takes its place");
	vmpi_stop();
}

int main(void)
{
	path_find();
	test_off();
	test_requests();
	test_ranks();
	test_harmless();
	test_fork();
	test_stop();
	return done_testing();
}
