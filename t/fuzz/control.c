/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the control socket: requests of clients, as the service thread
 * of a process reads them from their sockets, and what answers vmpitop and
 * vmpistat.
 *
 *	make fuzz TARGET=control SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "boot/boot.h"
#include "core/rank/state.h"
#include "core/rank/vars.h"
#include "core/service/control.h"
#include "core/service/publish.h"
#include "core/service/thread.h"
#include "fabric/packet/vars.h"
#include "input.h"
#include "introspect/export/control.h"
#include "introspect/export/export.h"
#include "report/live/control.h"
#include "sched/vars.h"

#define RANKS 4
#define ANSWER_MAX 16384

int __wrap_vm_service_fd(int fd, short events, vm_service_ready *ready,
			 void *arg);
int __wrap_vm_service_drop(int id);
int __real_connect(int fd, const struct sockaddr *address, socklen_t bytes);

/* The handler of the socket that a process has opened. */
static struct {
	vm_service_ready *ready;
	void *arg;
	int fd;
	struct sockaddr_un address;
} service;

int __wrap_vm_service_fd(int fd, short events, vm_service_ready *ready,
			 void *arg)
{
	(void)events;
	service.ready = ready;
	service.arg = arg;
	service.fd = fd;
	return 0;
}

int __wrap_vm_service_drop(int id)
{
	(void)id;
	return 0;
}

static int rank_load(int64_t *value, int rank, int number)
{
	if (rank < 0 || number < 0)
		abort();
	*value = number;
	return rank < RANKS ? 0 : -VMPI_ERANK;
}

static int rank_store(int rank, int number, int64_t value)
{
	(void)value;
	if (rank < 0 || number < 0)
		abort();
	return rank < RANKS ? 0 : -VMPI_ERANK;
}

/* An answer is one line, "ok" or "error". */
static void answer_judge(const char *answer)
{
	if (strchr(answer, '\n') || strlen(answer) >= VM_CONTROL_LINE_MAX ||
	    (strncmp(answer, "ok", 2) != 0 &&
	     strncmp(answer, "error ", 6) != 0))
		abort();
}

static void line_try(const char *text)
{
	static const struct vm_control_ranks ranks = { rank_load, rank_store };
	char answer[VM_CONTROL_LINE_MAX];

	vm_control_answer(answer, text, &ranks);
	answer_judge(answer);
	vm_control_answer(answer, text, NULL);
	answer_judge(answer);
}

static void socket_remove(void)
{
	unlink(service.address.sun_path);
}

static void service_start(void)
{
	static struct vm_node node;
	static struct vm_boot boot;
	char share[VM_EXPORT_PATH_MAX];
	char path[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];

	/* There may be another target on this machine. */
	snprintf(boot.id, sizeof(boot.id), "fuzz%d", (int)getpid());
	core_cvar.control = 1;
	vm_control_start(&node, &boot);
	vm_publish_path(share, sizeof(share), &boot);
	vm_control_path(path, sizeof(path), share);
	if (!service.ready || strlen(path) >= sizeof(service.address.sun_path))
		abort();
	service.address.sun_family = AF_UNIX;
	memcpy(service.address.sun_path, path, strlen(path) + 1);
	atexit(socket_remove);
}

/* A client that sends pieces of as many bytes as the first byte says, and
 * reads answers or, where that is odd, none. */
static void service_try(const uint8_t *data, size_t bytes)
{
	size_t piece = bytes ? data[0] + 1u : 1;
	char answers[4096];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (!service.ready)
		service_start();
	if (fd < 0 ||
	    __real_connect(fd, (const struct sockaddr *)&service.address,
			   sizeof(service.address)))
		abort();
	service.ready(service.arg, service.fd, 0);
	for (size_t at = 1; at < bytes; at += piece) {
		size_t most = bytes - at < piece ? bytes - at : piece;

		if (send(fd, data + at, most, MSG_NOSIGNAL) < 0)
			break;
		service.ready(service.arg, service.fd, 0);
		while (piece % 2 && recv(fd, answers, sizeof(answers), 0) > 0)
			;
	}
	shutdown(fd, SHUT_WR);
	/* A line, or the end, at a time. */
	for (int i = 0; i < 4; i++)
		service.ready(service.arg, service.fd, 0);
	close(fd);
	service.ready(service.arg, service.fd, 0);
}

/* What the process says to one who asks. */
static void answer_try(const uint8_t *data, size_t bytes)
{
	char answer[VM_CONTROL_LINE_MAX];

	if (bytes > ANSWER_MAX)
		return;
	memset(answer, 'x', sizeof(answer));
	fuzz_answer(data, bytes);
	vm_control_ask(answer, FUZZ_DIR "socket", "get sched_spin_us", 1);
	if (!memchr(answer, '\0', sizeof(answer)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static bool added;
	char *text;

	if (!bytes)
		return 0;
	if (!added) {
		added = true;
		vm_vars_add(&sched_cvar_table);
		vm_vars_add(&fabric_cvar_table);
	}
	switch (data[0] % 3) {
	case 0:
		text = fuzz_text(data + 1, bytes - 1);
		line_try(text);
		free(text);
		break;
	case 1:
		service_try(data + 1, bytes - 1);
		break;
	default:
		answer_try(data + 1, bytes - 1);
	}
	return 0;
}
