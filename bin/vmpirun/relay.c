/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One poll() over all pipes.  A stream is closed at its end, or when nobody
 * reads what it says any more: then its process gets SIGPIPE, as without us.
 * What cannot be written to a file is said once and left out.
 */
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/standard.h"
#include "report/cli.h"
#include "vmpi.h"

#define CHUNK_BYTES 65536
#define LINE_BYTES_MAX (16 << 20) /* longer lines are cut */

struct relay_stream {
	int from, to; /* from: -1 when it has ended */
	int rank;
	char *path; /* of a file for this stream, without labels; or NULL */
	char *line; /* that has begun; [room] */
	size_t used, room;
	bool failed; /* it cannot be written any more */
};

int relay_init(struct relay *relay, int processes)
{
	relay->room = 2 * processes;
	relay->streams = calloc((size_t)relay->room, sizeof(*relay->streams));
	if (!relay->streams)
		return vm_cli_no_memory();
	relay->stop = eventfd(0, EFD_CLOEXEC);
	if (relay->stop >= 0)
		return 0;
	vm_cli_say("eventfd: %s", strerror(errno));
	free(relay->streams);
	*relay = (struct relay){ 0 };
	return -VMPI_ELIMIT;
}

/* Opens the file of a stream. */
static int file_open(struct relay_stream *stream, const char *stem, int i)
{
	if (asprintf(&stream->path, "%s.%s", stem, i ? "err" : "out") < 0) {
		stream->path = NULL;
		return vm_cli_no_memory();
	}
	stream->to = open(stream->path,
			  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
			  0666);
	if (stream->to >= 0)
		return 0;
	vm_cli_say("%s: %s", stream->path, strerror(errno));
	return -VMPI_EIO;
}

int relay_add(struct relay *relay, int output[2], int rank, const char *stem)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct relay_stream *stream = &relay->streams[relay->count];
		int ends[2];

		if (pipe2(ends, O_CLOEXEC)) {
			vm_cli_say("a pipe for the output of rank %d: %s", rank,
				   strerror(errno));
			return -VMPI_ELIMIT;
		}
		output[i] = ends[1];
		*stream = (struct relay_stream){
			.from = ends[0],
			.to = i + 1,
			.rank = rank,
		};
		relay->count++;
		if (stem)
			rc = file_open(stream, stem, i);
	}
	return rc;
}

static void stream_close(struct relay_stream *stream)
{
	if (stream->from >= 0)
		close(stream->from);
	stream->from = -1;
	free(stream->line);
	stream->line = NULL;
	stream->used = stream->room = 0;
	if (stream->path && stream->to >= 0)
		close(stream->to);
	free(stream->path);
	stream->path = NULL;
}

/* Keeps the beginning of a line; the label stands before it. */
static int line_keep(struct relay_stream *stream, const char *bytes,
		     size_t count)
{
	char label[24];
	size_t length = 0;

	if (!stream->used)
		length = (size_t)snprintf(label, sizeof(label), "[%d] ",
					  stream->rank);
	/* And a newline. */
	if (stream->used + length + count + 1 > stream->room) {
		size_t room = 2 * (stream->used + length + count + 1);
		char *line = realloc(stream->line, room);

		if (!line)
			return vm_cli_no_memory();
		stream->line = line;
		stream->room = room;
	}
	memcpy(stream->line + stream->used, label, length);
	memcpy(stream->line + stream->used + length, bytes, count);
	stream->used += length + count;
	return 0;
}

/* Writes the line that is kept. */
static int line_write(struct relay_stream *stream)
{
	size_t used = stream->used;

	stream->used = 0;
	stream->line[used++] = '\n';
	return vm_flush_bytes(stream->to, stream->line, used);
}

static int bytes_take(struct relay_stream *stream, const char *bytes,
		      size_t count)
{
	int rc = 0;

	while (count && !rc) {
		const char *newline = memchr(bytes, '\n', count);
		size_t n = newline ? (size_t)(newline - bytes) : count;

		rc = line_keep(stream, bytes, n);
		if (!rc && (newline || stream->used >= LINE_BYTES_MAX))
			rc = line_write(stream);
		n += newline != NULL;
		bytes += n;
		count -= n;
	}
	return rc;
}

/* Output is lost, which is said once, and so is the rest of the stream. */
static void failure_say(struct relay *relay, struct relay_stream *stream,
			const char *where)
{
	if (!relay->failed)
		vm_cli_say("%s: %s; output of the job is lost", where,
			   strerror(errno));
	relay->failed = stream->failed = true;
}

static void file_write(struct relay *relay, struct relay_stream *stream,
		       const char *bytes, size_t count)
{
	if (vm_flush_bytes(stream->to, bytes, count))
		failure_say(relay, stream, stream->path);
}

static void stream_read(struct relay *relay, struct relay_stream *stream)
{
	char bytes[CHUNK_BYTES];
	ssize_t got = read(stream->from, bytes, sizeof(bytes));
	int rc = 0;

	if (got < 0 && errno == EINTR)
		return;
	if (got > 0 && stream->failed)
		return;
	if (got > 0 && stream->path)
		file_write(relay, stream, bytes, (size_t)got);
	else if (got > 0)
		rc = bytes_take(stream, bytes, (size_t)got);
	else if (stream->used && !stream->failed)
		rc = line_write(stream);
	if (rc && errno != EPIPE) {
		char name[VM_STANDARD_NAME_MAX];

		failure_say(relay, stream, vm_standard_name(name, stream->to));
		rc = 0;
	}
	if (rc || got <= 0)
		stream_close(stream);
}

/* Reads what there is; whether there was anything. */
static bool round_read(struct relay *relay, struct pollfd *fds, int timeout_ms)
{
	bool some = false;

	for (int i = 0; i < relay->count; i++)
		fds[i] = (struct pollfd){ .fd = relay->streams[i].from,
					  .events = POLLIN };
	fds[relay->count] =
		(struct pollfd){ .fd = relay->stop, .events = POLLIN };
	if (poll(fds, (nfds_t)relay->count + 1, timeout_ms) <= 0)
		return false;
	for (int i = 0; i < relay->count; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		stream_read(relay, &relay->streams[i]);
		some = true;
	}
	return some;
}

static void *relay_main(void *arg)
{
	struct relay *relay = arg;
	struct pollfd *fds = calloc((size_t)relay->count + 1, sizeof(*fds));
	bool stopped = false;

	if (!fds)
		vm_cli_no_memory();
	while (fds && !stopped) {
		round_read(relay, fds, -1);
		stopped = fds[relay->count].revents;
	}
	while (fds && round_read(relay, fds, 0))
		continue;
	/* A process that still has a pipe outlives the job: it is not waited
	 * for. */
	for (int i = 0; i < relay->count; i++) {
		if (fds && relay->streams[i].used)
			line_write(&relay->streams[i]);
		stream_close(&relay->streams[i]);
	}
	free(fds);
	return NULL;
}

int relay_start(struct relay *relay)
{
	sigset_t pipe, before;
	int error;

	if (!relay->streams)
		return 0;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	error = pthread_create(&relay->thread, NULL, relay_main, relay);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	relay->running = !error;
	if (!error)
		return 0;
	vm_cli_say("a thread for the output of the ranks: %s", strerror(error));
	return -VMPI_ELIMIT;
}

int relay_stop(struct relay *relay)
{
	if (relay->running) {
		eventfd_write(relay->stop, 1);
		pthread_join(relay->thread, NULL);
	}
	relay->running = false;
	return relay->failed ? -VMPI_EIO : 0;
}

void relay_fini(struct relay *relay)
{
	if (!relay->streams)
		return;
	relay_stop(relay);
	for (int i = 0; i < relay->count; i++)
		stream_close(&relay->streams[i]);
	close(relay->stop);
	free(relay->streams);
	*relay = (struct relay){ 0 };
}
