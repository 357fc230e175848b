/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One row of `commands` per request.  A client has one request under way, so
 * its queue holds an answer and a few lines of reports.
 */
#include "boot/pmi_server.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "boot/pmi_wire.h"

#define KVS_NAME "vmpi"
#define STORE_BYTES_MAX (16u << 20) /* bytes that one client may put */
#define OUT_BYTES_MAX (1u << 20)    /* more than all its lines can be */

/* Written by the thread that calls the server. */
struct vm_pmi_client {
	int fd; /* -1: closed */
	bool joined, left, ended, aborted;
	bool refused; /* its socket was closed by us */
	bool in_fence;
	bool wants_events;
	bool in_mcmd; /* in the lines of a request we refuse */
	int status;   /* how it ended, once it has */
	size_t stored_bytes;
	struct vm_pmi_reader reader;
	char *out; /* [out_room]; what waits: out_begin to out_end */
	size_t out_begin, out_end, out_room;
};

static struct vm_pmi_client *client_of(const struct vm_pmi_server *server,
				       int process)
{
	VM_ASSERT(process >= 0 && process < server->count);
	return &server->clients[process];
}

/*
 * Whether it will not reach a fence any more.  A closed socket is not enough:
 * its exit status is known a little later, and should be known first.
 */
static bool is_remote(const struct vm_pmi_client *client)
{
	return client->left || client->ended || client->refused;
}

int vm_pmi_server_init(struct vm_pmi_server *server, int count)
{
	char mapping[64];
	int rc;

	*server = (struct vm_pmi_server){ .abort_process = -1 };
	vm_kvs_init(&server->kvs);
	server->clients = calloc((size_t)count, sizeof(*server->clients));
	/* MPICH's programs ask which processes share a host: all do. */
	snprintf(mapping, sizeof(mapping), "(vector,(0,1,%d))", count);
	rc = server->clients ? vm_kvs_put(&server->kvs, "PMI_process_mapping",
					  mapping, strlen(mapping)) :
			       -VMPI_ENOMEM;
	if (rc) {
		vm_log(VM_ERROR, "out of memory for %d processes", count);
		vm_pmi_server_fini(server);
		return -VMPI_ENOMEM;
	}
	server->count = count;
	for (int i = 0; i < count; i++) {
		server->clients[i].fd = -1;
		vm_pmi_reader_init(&server->clients[i].reader);
	}
	return 0;
}

static void client_close(struct vm_pmi_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	free(client->out);
	client->out = NULL;
	client->out_begin = client->out_end = client->out_room = 0;
}

void vm_pmi_server_fini(struct vm_pmi_server *server)
{
	for (int i = 0; i < server->count; i++)
		client_close(&server->clients[i]);
	free(server->clients);
	vm_kvs_fini(&server->kvs);
	*server = (struct vm_pmi_server){ .abort_process = -1 };
}

void vm_pmi_server_attach(struct vm_pmi_server *server, int process, int fd)
{
	client_of(server, process)->fd = fd;
}

/* Sends waiting output, as far as the socket takes it. */
static void out_send(struct vm_pmi_client *client)
{
	while (client->fd >= 0 && client->out_begin < client->out_end) {
		ssize_t sent = send(client->fd, client->out + client->out_begin,
				    client->out_end - client->out_begin,
				    MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		/* Nobody reads it: the end of the process is reported with the
		 * end of its input. */
		if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
			client->out_begin = client->out_end;
		if (sent < 0)
			return;
		client->out_begin += (size_t)sent;
	}
	client->out_begin = client->out_end = 0;
}

static int out_grow(struct vm_pmi_client *client, size_t bytes)
{
	size_t room = client->out_room ? client->out_room : 1024;
	char *out;

	while (room < client->out_end + bytes)
		room *= 2;
	if (room == client->out_room)
		return 0;
	out = room <= OUT_BYTES_MAX ? realloc(client->out, room) : NULL;
	if (!out)
		return -VMPI_ENOMEM;
	client->out = out;
	client->out_room = room;
	return 0;
}

static void answer(struct vm_pmi_client *client, const char *format, ...)
	VM_PRINTF(2, 3);

static void answer(struct vm_pmi_client *client, const char *format, ...)
{
	char line[VM_PMI_LINE_MAX];
	va_list args;
	int length;

	if (client->fd < 0)
		return;
	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	VM_ASSERT(length > 0 && (size_t)length < sizeof(line));
	if (out_grow(client, (size_t)length)) {
		vm_log(VM_ERROR, "out of memory for an answer to a process");
		client->refused = true;
		client_close(client);
		return;
	}
	memcpy(client->out + client->out_end, line, (size_t)length);
	client->out_end += (size_t)length;
	out_send(client);
}

/* Ends the fence when all processes that can reach it have. */
static void fence_check(struct vm_pmi_server *server)
{
	bool somebody = false, missing = false;

	for (int i = 0; i < server->count; i++) {
		const struct vm_pmi_client *client = &server->clients[i];

		if (!client->in_fence && !is_remote(client))
			return;
		somebody |= client->in_fence;
		missing |= !client->in_fence;
	}
	for (int i = 0; somebody && i < server->count; i++) {
		struct vm_pmi_client *client = &server->clients[i];

		if (!client->in_fence)
			continue;
		client->in_fence = false;
		answer(client, "cmd=barrier_out%s\n",
		       missing && client->wants_events ? " rc=-1" : "");
	}
}

static void event_send(struct vm_pmi_client *to, int process, int status)
{
	if (to->wants_events && !is_remote(to))
		answer(to, "cmd=vmpi_left process=%d status=%d\n", process,
		       status);
}

typedef void (*answer_fn)(struct vm_pmi_server *server,
			  struct vm_pmi_client *client,
			  const struct vm_pmi_message *message);

static void init_answer(struct vm_pmi_server *server,
			struct vm_pmi_client *client,
			const struct vm_pmi_message *message)
{
	bool known = vm_pmi_number(message, "pmi_version", 0) == 1;

	/* The process may be a script that runs one program after the other. */
	if (client->left) {
		answer(client,
		       "cmd=response_to_init rc=-1 "
		       "msg=this_process_has_been_in_the_job_already\n");
		return;
	}
	client->joined |= known;
	answer(client,
	       "cmd=response_to_init pmi_version=1 pmi_subversion=1 "
	       "rc=%d vmpi=1\n",
	       known ? 0 : -1);
}

static void maxes_answer(struct vm_pmi_server *server,
			 struct vm_pmi_client *client,
			 const struct vm_pmi_message *message)
{
	answer(client,
	       "cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d\n",
	       VM_PMI_KVSNAME_MAX, VM_PMI_KEY_MAX, VM_PMI_VALUE_MAX);
}

static void appnum_answer(struct vm_pmi_server *server,
			  struct vm_pmi_client *client,
			  const struct vm_pmi_message *message)
{
	answer(client, "cmd=appnum rc=0 appnum=0\n");
}

static void universe_answer(struct vm_pmi_server *server,
			    struct vm_pmi_client *client,
			    const struct vm_pmi_message *message)
{
	answer(client, "cmd=universe_size rc=0 size=%d\n", server->count);
}

static void kvsname_answer(struct vm_pmi_server *server,
			   struct vm_pmi_client *client,
			   const struct vm_pmi_message *message)
{
	answer(client, "cmd=my_kvsname rc=0 kvsname=" KVS_NAME "\n");
}

/* NULL, or why the pair cannot be stored. */
static const char *put_check(const struct vm_pmi_client *client,
			     const char *key, const char *value)
{
	if (!key || !key[0] || !value)
		return "no_key_or_value";
	if (strlen(key) >= VM_PMI_KEY_MAX || strlen(value) >= VM_PMI_VALUE_MAX)
		return "key_or_value_too_long";
	if (client->stored_bytes + strlen(key) + strlen(value) >
	    STORE_BYTES_MAX)
		return "too_much_stored";
	return NULL;
}

static void put_answer(struct vm_pmi_server *server,
		       struct vm_pmi_client *client,
		       const struct vm_pmi_message *message)
{
	const char *key = vm_pmi_text(message, "key");
	const char *value = vm_pmi_text(message, "value");
	const char *wrong = put_check(client, key, value);
	int rc = -VMPI_EINVAL;

	if (!wrong) {
		rc = vm_kvs_put(&server->kvs, key, value, strlen(value));
		if (!rc)
			client->stored_bytes +=
				64 + strlen(key) + strlen(value);
		wrong = rc == -VMPI_ENOMEM ? "out_of_memory" : "key_is_there";
	}
	answer(client, "cmd=put_result rc=%d msg=%s\n", rc ? -1 : 0,
	       rc ? wrong : "success");
}

static void get_answer(struct vm_pmi_server *server,
		       struct vm_pmi_client *client,
		       const struct vm_pmi_message *message)
{
	const char *key = vm_pmi_text(message, "key");
	const char *value = key ? vm_kvs_get(&server->kvs, NULL, key) : NULL;

	if (value)
		answer(client, "cmd=get_result rc=0 msg=success value=%s\n",
		       value);
	else
		answer(client, "cmd=get_result rc=-1 msg=key_not_found "
			       "value=unknown\n");
}

static void fence_answer(struct vm_pmi_server *server,
			 struct vm_pmi_client *client,
			 const struct vm_pmi_message *message)
{
	client->in_fence = true;
	fence_check(server);
}

static void finalize_answer(struct vm_pmi_server *server,
			    struct vm_pmi_client *client,
			    const struct vm_pmi_message *message)
{
	client->left = true;
	client->in_fence = false;
	answer(client, "cmd=finalize_ack rc=0\n");
	fence_check(server);
}

static void abort_answer(struct vm_pmi_server *server,
			 struct vm_pmi_client *client,
			 const struct vm_pmi_message *message)
{
	int code = vm_pmi_number(message, "exitcode", 1);

	client->aborted = true;
	if (server->abort_process >= 0)
		return;
	server->abort_process = (int)(client - server->clients);
	server->abort_code = code < 1 || code > 255 ? 1 : code;
}

static void events_answer(struct vm_pmi_server *server,
			  struct vm_pmi_client *client,
			  const struct vm_pmi_message *message)
{
	client->wants_events = true;
	answer(client, "cmd=vmpi_events_on rc=0\n");
	for (int i = 0; i < server->count; i++) {
		const struct vm_pmi_client *other = &server->clients[i];

		if (other->ended && !other->left)
			event_send(client, i, other->status);
	}
}

static const struct {
	const char *command;
	answer_fn answer;
} commands[] = {
	{ "init", init_answer },
	{ "get_maxes", maxes_answer },
	{ "get_appnum", appnum_answer },
	{ "get_universe_size", universe_answer },
	{ "get_my_kvsname", kvsname_answer },
	{ "put", put_answer },
	{ "get", get_answer },
	{ "barrier_in", fence_answer },
	{ "finalize", finalize_answer },
	{ "abort", abort_answer },
	{ "vmpi_events", events_answer },
};

static void message_take(struct vm_pmi_server *server,
			 struct vm_pmi_client *client,
			 const struct vm_pmi_message *message)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].command, message->command) != 0)
			continue;
		commands[i].answer(server, client, message);
		return;
	}
	/* Names and spawn, for instance: the client is told, and continues. */
	answer(client, "cmd=unknown_cmd rc=-1 msg=not_supported\n");
}

/* Whether the line belongs to a request of many lines, which only spawn is. */
static bool mcmd_take(struct vm_pmi_client *client, const char *line)
{
	if (!client->in_mcmd && strncmp(line, "mcmd=", 5) != 0)
		return false;
	client->in_mcmd = strcmp(line, "endcmd") != 0;
	if (!client->in_mcmd)
		answer(client, "cmd=spawn_result rc=-1 msg=not_supported\n");
	return true;
}

static void client_refuse(struct vm_pmi_server *server,
			  struct vm_pmi_client *client, const char *what)
{
	vm_log(VM_ERROR,
	       "node process %d: %s on its PMI socket, which is closed",
	       (int)(client - server->clients), what);
	client->refused = true;
	client_close(client);
	fence_check(server);
}

static void lines_take(struct vm_pmi_server *server,
		       struct vm_pmi_client *client)
{
	char *line;

	while (client->fd >= 0 &&
	       (line = vm_pmi_reader_line(&client->reader))) {
		struct vm_pmi_message message;

		if (mcmd_take(client, line))
			continue;
		if (vm_pmi_parse(&message, line)) {
			client_refuse(server, client, "a malformed line");
			return;
		}
		message_take(server, client, &message);
	}
}

/* Whether the client may be read: it takes the answers it asked for. */
static bool is_reading(const struct vm_pmi_client *client)
{
	return client->out_end - client->out_begin <= VM_PMI_LINE_MAX;
}

void vm_pmi_server_ready(struct vm_pmi_server *server, int process)
{
	struct vm_pmi_client *client = client_of(server, process);

	out_send(client);
	while (client->fd >= 0 && is_reading(client)) {
		int got = vm_pmi_reader_fill(&client->reader, client->fd);

		if (got == -VMPI_EAGAIN)
			return;
		if (got == -VMPI_ELIMIT) {
			client_refuse(server, client, "a line without an end");
			return;
		}
		if (got <= 0) {
			client_close(client);
			return;
		}
		lines_take(server, client);
	}
}

short vm_pmi_server_events(const struct vm_pmi_server *server, int *fd,
			   int process)
{
	const struct vm_pmi_client *client = client_of(server, process);
	short events = is_reading(client) ? POLLIN : 0;

	*fd = client->fd;
	if (client->out_begin < client->out_end)
		events |= POLLOUT;
	return events;
}

void vm_pmi_server_ended(struct vm_pmi_server *server, int process, int status)
{
	struct vm_pmi_client *client = client_of(server, process);

	vm_pmi_server_ready(server, process);
	client_close(client);
	client->in_fence = false;
	client->ended = true;
	client->status = status;
	for (int i = 0; !client->left && i < server->count; i++)
		event_send(&server->clients[i], process, status);
	fence_check(server);
}

bool vm_pmi_server_joined(const struct vm_pmi_server *server, int process)
{
	return client_of(server, process)->joined;
}

bool vm_pmi_server_left(const struct vm_pmi_server *server, int process)
{
	return client_of(server, process)->left;
}

bool vm_pmi_server_aborted(const struct vm_pmi_server *server, int process)
{
	return client_of(server, process)->aborted;
}
