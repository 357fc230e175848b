/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric as simply as it goes: what any MPI over the same provider can
 * reach.
 *
 *	raw_fabric [--quick] [--wait] [--provider NAME]
 *		   [WAY[:CHUNK[:INFLIGHT]]]...
 *
 * Two processes with an endpoint each (FI_EP_RDM, the provider that vmpi would
 * take) hand a message to and fro as two ranks do in pingpong.c: one buffer,
 * what goes out is what came in.  Ways:
 *
 *	send	the whole message at once
 *	chunks	sends of CHUNK bytes, INFLIGHT of them under way
 *	read	8 bytes say that it is there, the receiver reads it
 *	write	the sender writes it and, when it is there, says so
 *
 * --wait: the queue of events has a descriptor to wait for, as vmpi needs it,
 * although nobody waits; names of ways then begin with "wait+".
 *
 * Prints "WAY:CHUNK:INFLIGHT-SIZE ns" (half round trip) and "rate messages/s"
 * (8 bytes, WINDOW of them, then an acknowledgement).  Both sides poll without
 * pause, and the far one checks every byte.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fabric/fabric.h"
#include "fabric/packet/vars.h"
#include "raw_end.h"

#define WINDOW (NOTES - 1)
#define INFLIGHT_MAX (CONTEXTS / 2)

struct way {
	const char *name;
	/* Gets ready for a message, sends one, waits for one. */
	void (*arm)(const struct way *way, size_t bytes);
	void (*put)(const struct way *way, size_t bytes);
	void (*await)(const struct way *way, size_t bytes);
	size_t chunk;
	unsigned inflight;
};

/* The next receive of a message whose first `done` bytes have theirs. */
static size_t receive_next(const struct way *way, size_t bytes, size_t done)
{
	size_t left = bytes - done;
	size_t part = left < way->chunk ? left : way->chunk;

	receive(end.memory + done, part);
	return done + part;
}

static void chunks_arm(const struct way *way, size_t bytes)
{
	size_t done = 0;

	end.started = end.posted;
	for (unsigned i = 0; i < 2 * way->inflight && done < bytes; i++)
		done = receive_next(way, bytes, done);
}

static void chunks_await(const struct way *way, size_t bytes)
{
	uint64_t count = (bytes + way->chunk - 1) / way->chunk;
	size_t done = (end.posted - end.started) * way->chunk;
	uint64_t seen = end.received;

	while (end.received - end.started < count) {
		poll_once();
		for (; seen < end.received && done < bytes; seen++)
			done = receive_next(way, bytes, done);
	}
}

static void chunks_put(const struct way *way, size_t bytes)
{
	uint64_t first = end.sent, posted = 0;

	for (size_t done = 0; done < bytes; done += way->chunk) {
		size_t left = bytes - done;

		while (posted - (end.sent - first) >= way->inflight)
			poll_once();
		post_send(end.memory + done,
			  left < way->chunk ? left : way->chunk, posted++);
	}
	sent_wait(first + posted);
}

static void note_arm(const struct way *way, size_t bytes)
{
	(void)way;
	(void)bytes;
	end.started = end.posted;
	receive(end.notes + NOTE_BYTES, NOTE_BYTES);
}

static void note_put(const struct way *way, size_t bytes)
{
	uint64_t until = end.sent + 1;

	(void)way;
	(void)bytes;
	post_send(end.notes, NOTE_BYTES, CONTEXTS - 1);
	sent_wait(until);
}

static void note_await(const struct way *way, size_t bytes)
{
	(void)way;
	(void)bytes;
	while (end.received == end.started)
		poll_once();
}

static void rma_do(const struct way *way, size_t bytes, bool write)
{
	uint64_t first = end.sent, posted = 0;
	size_t done = 0;

	while (done < bytes) {
		size_t left = bytes - done;
		size_t part = left < way->chunk ? left : way->chunk;
		ssize_t rc = -FI_EAGAIN;

		if (posted - (end.sent - first) < way->inflight)
			rc = post_rma(done, part, write, posted);
		if (rc == 0) {
			posted++;
			done += part;
			continue;
		}
		if (rc != -FI_EAGAIN)
			die("remote memory", (int)-rc);
		poll_once();
	}
	sent_wait(first + posted);
}

static void read_await(const struct way *way, size_t bytes)
{
	note_await(way, bytes);
	rma_do(way, bytes, false);
}

static void write_put(const struct way *way, size_t bytes)
{
	rma_do(way, bytes, true);
	note_put(way, bytes);
}

/* WINDOW sends one way, an acknowledgement the other way. */
static void rate_run(int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t until = end.received + (end.far ? WINDOW : 1);

		for (int j = 0; j < (end.far ? WINDOW : 1); j++)
			receive(end.notes + NOTE_BYTES * (j + 1), NOTE_BYTES);
		for (int j = 0; !end.far && j < WINDOW; j++)
			post_send(end.notes, NOTE_BYTES, (uint64_t)j);
		while (end.received < until)
			poll_once();
		if (end.far)
			post_send(end.notes, NOTE_BYTES, 0);
	}
}

static const struct way ways[] = {
	{ "send", chunks_arm, chunks_put, chunks_await, BYTES_MAX, 1 },
	{ "chunks", chunks_arm, chunks_put, chunks_await, 65536, 8 },
	{ "read", note_arm, note_put, read_await, 1 << 20, 4 },
	{ "write", note_arm, write_put, note_await, 1 << 20, 4 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void trips(const struct way *way, size_t bytes, int n)
{
	for (int i = 0; i < n; i++) {
		if (!end.far) {
			if (i)
				way->arm(way, bytes);
			way->put(way, bytes);
		}
		way->await(way, bytes);
		if (end.far) {
			if (i + 1 < n)
				way->arm(way, bytes);
			way->put(way, bytes);
		}
	}
}

/* A request to the remote side, to be done n times; way WAYS: the rate; n == 0:
 * the end. */
struct job {
	size_t bytes, chunk;
	unsigned inflight, way;
	int n;
	bool check;
};

static char pattern(size_t i)
{
	return (char)(i * 7 + i / 256 + 1);
}

/* Before the first message of a size, and after the last one. */
static void memory_fill(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		end.memory[i] = end.far ? 0 : pattern(i);
}

static void memory_check(size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (end.memory[i] != pattern(i)) {
			fprintf(stderr,
				"raw_fabric: byte %zu of %zu is "
				"wrong\n",
				i, bytes);
			_exit(1);
		}
}

/* Both sides. */
static void job_run(const struct job *job)
{
	struct way way;
	char go = 0;

	if (job->way == WAYS) {
		rate_run(job->n);
		return;
	}
	way = ways[job->way];
	way.chunk = job->chunk;
	way.inflight = job->inflight;
	way.arm(&way, job->bytes);
	give(&go, 1);
	take(&go, 1);
	trips(&way, job->bytes, job->n);
}

static double job_time(struct job *job, int n)
{
	double start;

	job->n = n;
	give(job, sizeof(*job));
	start = now_ns();
	job_run(job);
	return now_ns() - start;
}

/* The other one may still wait for what only our polls move. */
static void meet(void)
{
	char go = 0;

	give(&go, 1);
	while (recv(end.socket, &go, 1, MSG_DONTWAIT) != 1)
		poll_once();
}

static void far_main(void)
{
	struct job job = { .n = 1 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		take(&job, sizeof(job));
		if (job.n == 0)
			_exit(0);
		if (job.n < 0)
			memory_fill(job.bytes);
		else
			job_run(&job);
		if (job.check)
			memory_check(job.bytes);
		meet();
	}
}

/* On the measuring side: ns of one repetition, the median over the batches. */
static double measure(const struct effort *effort, struct job job)
{
	double times[BATCHES_MAX], took;
	int n = 2;

	job.n = -1;
	memory_fill(job.bytes);
	give(&job, sizeof(job));
	meet();
	job.check = job.bytes > 0;
	while ((took = job_time(&job, n)) < effort->batch_ns / 4) {
		meet();
		n *= 2;
	}
	meet();
	n = batch_size(effort, n, took);
	for (int i = 0; i < effort->batches; i++) {
		times[i] = job_time(&job, n) / n;
		meet();
	}
	return median_of(times, effort->batches);
}

static void way_measure(const struct effort *effort, unsigned number,
			size_t chunk, unsigned inflight)
{
	static const size_t sizes[] = { 8, 1024, 65536, 1 << 20, 4 << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct job job = { .bytes = sizes[i],
				   .chunk = chunk,
				   .inflight = inflight,
				   .way = number };

		printf("%s%s:%zu:%u-%zu %.2f\n", end.wait ? "wait+" : "",
		       ways[number].name, chunk, inflight, sizes[i],
		       measure(effort, job) / 2);
		fflush(stdout);
	}
}

static _Noreturn void usage(const char *what)
{
	fprintf(stderr,
		"raw_fabric: '%s': send, chunks, read or write is needed, then "
		":CHUNK from 1024 to %zu\nand :INFLIGHT from 1 to %d, such as "
		"read:262144:4\n",
		what, BYTES_MAX, INFLIGHT_MAX);
	_exit(2);
}

/* A WAY argument. */
static void way_argument(const struct effort *effort, const char *text)
{
	char name[16], rest;
	size_t chunk = 0;
	unsigned inflight = 0, number = 0;
	int n = sscanf(text, "%15[a-z]:%zu:%u%c", name, &chunk, &inflight,
		       &rest);

	if (n < 1 || n > 3)
		usage(text);
	while (number < WAYS && strcmp(name, ways[number].name))
		number++;
	if (number == WAYS)
		usage(text);
	if (n < 2)
		chunk = ways[number].chunk;
	if (n < 3)
		inflight = ways[number].inflight;
	if (chunk < 1024 || chunk > BYTES_MAX || inflight < 1 ||
	    inflight > INFLIGHT_MAX)
		usage(text);
	way_measure(effort, number, chunk, inflight);
}

static void near_main(const struct effort *effort, char **names)
{
	struct job job = { .way = WAYS };

	if (!*names)
		for (unsigned i = 0; i < WAYS; i++)
			way_measure(effort, i, ways[i].chunk, ways[i].inflight);
	for (; *names; names++)
		way_argument(effort, *names);
	printf("%srate %.0f\n", end.wait ? "wait+" : "",
	       WINDOW / measure(effort, job) * 1e9);
	job.n = 0;
	give(&job, sizeof(job));
}

int main(int argc, char **argv)
{
	struct effort effort = effort_of(argc, argv);
	char **names = argv + 1;
	int fds[2];
	pid_t child;

	vm_fabric_vars_add();
	if (*names && !strcmp(*names, "--quick"))
		names++;
	if (*names && !strcmp(*names, "--wait")) {
		end.wait = true;
		names++;
	}
	if (*names && !strcmp(*names, "--provider") && names[1]) {
		if (vm_cvar_set("fabric_provider", names[1],
				VM_SOURCE_RUNTIME) < 0)
			return 2;
		names += 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("socketpair", errno);
	child = fork();
	if (child < 0)
		die("fork", errno);
	end.far = child == 0;
	end.socket = fds[end.far];
	close(fds[!end.far]);
	end_open();
	if (end.far)
		far_main();
	near_main(&effort, names);
	waitpid(child, NULL, 0);
	return 0;
}
