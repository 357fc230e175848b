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
#define LINE_BYTES_MAX (16 << 20) /* longer lines leave in pieces */
#define TICK_MS ((int)(VM_OUTLET_TICK_NS / 1000000))

struct relay_stream {
	int from, to; /* from: -1 when it has ended */
	int rank;
	char *path; /* of a file for this stream, without labels; or NULL */
	char *text; /* that has not left; [room] */
	size_t used, room;
	uint64_t since_ns; /* when the first of it came; 0: there is none */
	bool failed;	   /* it cannot be written any more */
};

int relay_init(struct relay *relay, int processes)
{
	relay->room = 2 * processes;
	relay->one_place = vm_standard_one_place();
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
	free(stream->text);
	stream->text = NULL;
	stream->used = stream->room = 0;
	if (stream->path && stream->to >= 0)
		close(stream->to);
	free(stream->path);
	stream->path = NULL;
}

/* Makes room for `more` bytes at the end of a text. */
static int room_make(char **text, size_t *room, size_t used, size_t more)
{
	size_t need = used + more;
	char *larger;

	if (need <= *room)
		return 0;
	larger = realloc(*text, 2 * need);
	if (!larger)
		return vm_cli_no_memory();
	*text = larger;
	*room = 2 * need;
	return 0;
}

static int text_keep(struct relay_stream *stream, const char *bytes,
		     size_t count)
{
	if (room_make(&stream->text, &stream->room, stream->used, count))
		return -VMPI_ENOMEM;
	memcpy(stream->text + stream->used, bytes, count);
	stream->used += count;
	if (!stream->since_ns)
		stream->since_ns = vm_outlet_now();
	return 0;
}

static int sheet_add(struct relay *relay, const char *bytes, size_t count)
{
	if (room_make(&relay->sheet, &relay->sheet_room, relay->sheet_used,
		      count))
		return -VMPI_ENOMEM;
	memcpy(relay->sheet + relay->sheet_used, bytes, count);
	relay->sheet_used += count;
	return 0;
}

static struct vm_outlet_line *begun(struct relay *relay,
				    const struct relay_stream *stream)
{
	return &relay->begun[relay->one_place ? 0 : stream->to - 1];
}

/* Writes the first `count` bytes of what is kept, with labels, on a line of
 * their own unless it is the stream's line that has begun. */
static int text_write(struct relay *relay, struct relay_stream *stream,
		      size_t count)
{
	struct vm_outlet_line *last = begun(relay, stream);
	bool inside = last->writer == stream->rank + 1;
	const char *text = stream->text, *end = text + count;
	char label[24];
	int length = snprintf(label, sizeof(label), "[%d] ", stream->rank);
	int rc = 0;

	relay->sheet_used = 0;
	if (vm_outlet_foreign(last, stream->rank))
		rc = sheet_add(relay, "\n", 1);
	while (text < end && !rc) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *next = newline ? newline + 1 : end;

		if (!inside)
			rc = sheet_add(relay, label, (size_t)length);
		if (!rc)
			rc = sheet_add(relay, text, (size_t)(next - text));
		inside = !newline;
		text = next;
	}
	vm_outlet_note(last, stream->rank, !inside);
	stream->used -= count;
	memmove(stream->text, stream->text + count, stream->used);
	stream->since_ns = stream->used ? vm_outlet_now() : 0;
	return rc ? rc :
		    vm_flush_bytes(stream->to, relay->sheet, relay->sheet_used);
}

/* Whether what the stream has is still to wait: for another rank's line, or,
 * `open`, for its own end. */
static bool has_to_wait(struct relay *relay, const struct relay_stream *stream,
			bool open)
{
	const struct vm_outlet_line *last = begun(relay, stream);
	bool foreign = vm_outlet_foreign(last, stream->rank);
	uint64_t now;

	if ((!foreign && !open) || stream->used >= LINE_BYTES_MAX)
		return false;
	now = vm_outlet_now();
	return now - stream->since_ns < VM_OUTLET_PATIENCE_NS &&
	       (open || now - last->since_ns < VM_OUTLET_PATIENCE_NS);
}

/* Writes what may leave. */
static int text_leave(struct relay *relay, struct relay_stream *stream)
{
	const char *newline = memrchr(stream->text, '\n', stream->used);
	size_t whole = newline ? (size_t)(newline - stream->text) + 1 : 0;
	bool mine = begun(relay, stream)->writer == stream->rank + 1;
	int rc = 0;

	if (whole && has_to_wait(relay, stream, false))
		return 0;
	if (whole) {
		rc = text_write(relay, stream, whole);
		mine = false;
	}
	if (!rc && stream->used && !has_to_wait(relay, stream, !mine))
		rc = text_write(relay, stream, stream->used);
	return rc;
}

/* Writes all, and ends the line that has begun. */
static int text_end(struct relay *relay, struct relay_stream *stream)
{
	bool open = stream->used ?
			    stream->text[stream->used - 1] != '\n' :
			    begun(relay, stream)->writer == stream->rank + 1;

	if (open && text_keep(stream, "\n", 1))
		return -VMPI_ENOMEM;
	return stream->used ? text_write(relay, stream, stream->used) : 0;
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

/* Closes a stream that nobody reads, and says so of one that cannot be
 * written. */
static void result_take(struct relay *relay, struct relay_stream *stream,
			int rc)
{
	char name[VM_STANDARD_NAME_MAX];

	if (rc && errno == EPIPE)
		stream_close(stream);
	else if (rc)
		failure_say(relay, stream, vm_standard_name(name, stream->to));
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
		rc = text_keep(stream, bytes, (size_t)got) ||
		     text_leave(relay, stream);
	else if (!stream->path && !stream->failed)
		rc = text_end(relay, stream);
	result_take(relay, stream, rc);
	if (got <= 0)
		stream_close(stream);
}

/* Writes what has waited long enough; whether more waits. */
static bool texts_leave(struct relay *relay)
{
	bool more = false;

	for (int i = 0; i < relay->count; i++) {
		struct relay_stream *stream = &relay->streams[i];

		if (stream->used && !stream->failed)
			result_take(relay, stream, text_leave(relay, stream));
		more |= stream->used > 0 && !stream->failed;
	}
	return more;
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
		round_read(relay, fds, texts_leave(relay) ? TICK_MS : -1);
		stopped = fds[relay->count].revents;
	}
	while (fds && round_read(relay, fds, 0))
		continue;
	/* A process that still has a pipe outlives the job: it is not waited
	 * for. */
	for (int i = 0; i < relay->count; i++) {
		if (fds && relay->streams[i].used && !relay->streams[i].failed)
			text_end(relay, &relay->streams[i]);
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
	free(relay->sheet);
	*relay = (struct relay){ 0 };
}
