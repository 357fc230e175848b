/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All descriptors are in one epoll set, which is one handler of the service.  A
 * client has one line in and one answer out: while its answer cannot go it is
 * not read from.
 */
#include "core/service/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "core/rank/state.h"
#include "core/rank/cvar.h"
#include "core/service/publish.h"
#include "core/service/thread.h"
#include "introspect/export/control.h"
#include "introspect/export/export.h"

#define BACKLOG 16

struct client {
	int fd;		/* -1: none */
	uint64_t heard; /* when, in requests of all */
	bool last;	/* closed when its answer has gone */
	size_t in_bytes, out_bytes, out_sent;
	char in[VM_CONTROL_LINE_MAX];
	char out[VM_CONTROL_LINE_MAX + 1]; /* with its newline */
};

/* After the start the service's alone. */
struct vm_control {
	int listener, epoll, handler;
	pid_t pid;
	uint64_t clock; /* counts what happens */
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct client clients[VM_CONTROL_CLIENTS_MAX];
};

static void client_close(struct client *client)
{
	close(client->fd);
	client->fd = -1;
}

/* Sets the events to poll it for: room for the answer, or the next request. */
static void client_await(struct vm_control *control, struct client *client)
{
	struct epoll_event event = {
		.events = client->out_bytes ? EPOLLOUT : EPOLLIN,
		.data.u32 = (uint32_t)(client - control->clients),
	};

	if (epoll_ctl(control->epoll, EPOLL_CTL_MOD, client->fd, &event))
		client_close(client);
}

/* Sends the answer; returns whether all of it has gone. */
static bool client_send(struct client *client)
{
	while (client->out_sent < client->out_bytes) {
		ssize_t n = send(client->fd, client->out + client->out_sent,
				 client->out_bytes - client->out_sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				client_close(client);
			return false;
		}
		client->out_sent += (size_t)n;
	}
	client->out_bytes = client->out_sent = 0;
	if (client->last)
		client_close(client);
	return !client->last;
}

static int rank_load(int64_t *value, int rank, int number)
{
	return vm_cvar_load_rank(value, number, rank);
}

static int rank_store(int rank, int number, int64_t value)
{
	return vm_cvar_store_rank(number, rank, value);
}

static const struct vm_control_ranks ranks = { rank_load, rank_store };

static void client_answer(struct client *client)
{
	client->out_bytes = strlen(client->out);
	client->out[client->out_bytes++] = '\n';
}

/* Answers what has come, a line at a time, as long as answers go. */
static void client_answer_all(struct client *client)
{
	while (client->fd >= 0 && !client->out_bytes) {
		char *end = memchr(client->in, '\n', client->in_bytes);
		size_t bytes;

		if (!end && client->in_bytes < sizeof(client->in))
			break;
		if (!end) {
			snprintf(client->out, sizeof(client->out),
				 "error a request is one line of at most %zu "
				 "bytes",
				 sizeof(client->in) - 1);
			client->last = true;
		} else {
			/* Text behind a zero is ignored. */
			*end = '\0';
			vm_control_answer(client->out, client->in, &ranks);
			bytes = (size_t)(end - client->in) + 1;
			client->in_bytes -= bytes;
			memmove(client->in, end + 1, client->in_bytes);
		}
		client_answer(client);
		client_send(client);
	}
}

static void client_receive(struct client *client)
{
	ssize_t n = recv(client->fd, client->in + client->in_bytes,
			 sizeof(client->in) - client->in_bytes, MSG_DONTWAIT);

	if (n > 0)
		client->in_bytes += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		client_close(client);
}

static void client_serve(struct vm_control *control, struct client *client)
{
	if (client->fd < 0)
		return;
	client->heard = ++control->clock;
	if (client->out_bytes)
		client_send(client);
	else
		client_receive(client);
	client_answer_all(client);
	if (client->fd >= 0)
		client_await(control, client);
}

/* A free place, or that of the one that was silent for longest. */
static struct client *client_place(struct vm_control *control)
{
	struct client *place = control->clients;

	for (int i = 0; i < VM_CONTROL_CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->fd < 0)
			return client;
		if (client->heard < place->heard)
			place = client;
	}
	client_close(place);
	return place;
}

/* The file's mode says so already; this says it also where it does not. */
static bool is_ours(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	       (peer.uid == geteuid() || peer.uid == 0);
}

static void client_accept(struct vm_control *control)
{
	int fd = accept4(control->listener, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct epoll_event event = { .events = EPOLLIN };
	struct client *client;

	if (fd < 0)
		return;
	if (!is_ours(fd)) {
		close(fd);
		return;
	}
	client = client_place(control);
	client->fd = fd;
	client->heard = ++control->clock;
	client->last = false;
	client->in_bytes = client->out_bytes = client->out_sent = 0;
	event.data.u32 = (uint32_t)(client - control->clients);
	if (epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event))
		client_close(client);
}

/* The service's handler. */
static void control_ready(void *arg, int fd, short revents)
{
	struct epoll_event events[1 + VM_CONTROL_CLIENTS_MAX];
	struct vm_control *control = arg;
	int count = epoll_wait(fd, events, 1 + VM_CONTROL_CLIENTS_MAX, 0);

	for (int i = 0; i < count; i++)
		if (events[i].data.u32 < VM_CONTROL_CLIENTS_MAX)
			client_serve(control,
				     &control->clients[events[i].data.u32]);
	/* Last: a place that changes hands must not get the other's event. */
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 == VM_CONTROL_CLIENTS_MAX)
			client_accept(control);
}

/* Whether a process listens there. */
static bool is_used(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool used = fd < 0 || !connect(fd, (const struct sockaddr *)address,
				       sizeof(*address));

	used |= fd >= 0 && errno != ECONNREFUSED && errno != ENOENT;
	if (fd >= 0)
		close(fd);
	return used;
}

/* A process that was killed leaves its socket. */
static int bind_to(int fd, const struct sockaddr_un *address)
{
	const struct sockaddr *any = (const struct sockaddr *)address;

	if (!bind(fd, any, sizeof(*address)))
		return 0;
	if (errno != EADDRINUSE || is_used(address)) {
		errno = EADDRINUSE;
		return -1;
	}
	unlink(address->sun_path);
	return bind(fd, any, sizeof(*address));
}

static int listener_open(struct vm_control *control, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct epoll_event event = { .events = EPOLLIN };

	event.data.u32 = VM_CONTROL_CLIENTS_MAX;
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	control->listener =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The mode of the descriptor is that of the file. */
	if (control->listener < 0 || fchmod(control->listener, 0600) ||
	    bind_to(control->listener, &address))
		return -1;
	memcpy(control->path, path, strlen(path) + 1);
	if (listen(control->listener, BACKLOG))
		return -1;
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (control->epoll < 0)
		return -1;
	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, control->listener,
			 &event);
}

/* Frees everything; the service does not use it (any more). */
static void control_free(struct vm_control *control)
{
	for (int i = 0; i < VM_CONTROL_CLIENTS_MAX; i++)
		if (control->clients[i].fd >= 0)
			client_close(&control->clients[i]);
	if (control->epoll >= 0)
		close(control->epoll);
	if (control->listener >= 0)
		close(control->listener);
	/* The child of a fork() has a copy of this, and no right to it. */
	if (control->path[0] && control->pid == getpid())
		unlink(control->path);
	free(control);
}

static int control_open(struct vm_control **result, const char *path)
{
	struct vm_control *control = calloc(1, sizeof(*control));
	int rc;

	if (!control)
		return -VMPI_ENOMEM;
	control->listener = control->epoll = -1;
	control->pid = getpid();
	for (int i = 0; i < VM_CONTROL_CLIENTS_MAX; i++)
		control->clients[i].fd = -1;
	if (listener_open(control, path)) {
		vm_log(VM_WARN,
		       "variables cannot be set while the job runs: cannot "
		       "create the control socket %s: %s",
		       path, strerror(errno));
		rc = -VMPI_ELIMIT;
		goto free;
	}
	rc = vm_service_fd(control->epoll, EPOLLIN, control_ready, control);
	if (rc < 0)
		goto free;
	control->handler = rc;
	*result = control;
	return 0;
free:
	control_free(control);
	return rc;
}

void vm_control_start(struct vm_node *node, const struct vm_boot *boot)
{
	char share[VM_EXPORT_PATH_MAX];
	char path[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];

	if (!core_cvar.control)
		return;
	vm_publish_path(share, sizeof(share), boot);
	vm_control_path(path, sizeof(path), share);
	control_open(&node->control, path);
}

void vm_control_stop(struct vm_node *node)
{
	struct vm_control *control = node->control;

	if (!control)
		return;
	node->control = NULL;
	vm_service_drop(control->handler);
	control_free(control);
}

/* A program that ends without stopping the runtime has ended all the same. */
static __attribute__((destructor)) void program_ends(void)
{
	if (vm_node && vm_node->control && vm_node->control->pid == getpid())
		unlink(vm_node->control->path);
}
