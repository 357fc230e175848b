/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A storm of messages of every size, mode and way among 32 ranks and two OS
 * threads, each message checked against what was sent.
 *
 * A rank's body receives, one of its tasks sends, both at random.  A stream is
 * what one sender sends to one receiver under one tag; its messages are
 * numbered, and size and content follow from stream and number.  Receivers
 * write down in which order they asked and what they got; in that order each
 * stream must come without a gap.  Sends that may be cancelled have a tag of
 * their own, where numbers only grow and the count must be right.  At the end
 * each sender says how many it has sent.
 *
 * Whoever includes this defines BYTES_MAX, and SENDS_MAX of one sender.
 */
#ifndef T_CORE_STORM_H
#define T_CORE_STORM_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "job.h"

#define RANKS 32
#define THREADS 2
#define OPEN_MAX 8 /* receives of a rank that are under way */

/* Tags: plain streams, then special ones. */
enum { PLAIN = 4, CANCEL = PLAIN, THREAD, DONE = THREAD + THREADS, TAGS };

/* The messages that a receiver got, in the order in which it asked. */
struct entry {
	uint8_t source, tag;
	bool filled; /* false: cancelled, nothing came */
	bool numbered;
	uint32_t number;
	uint32_t bytes, room;
};

struct rank_log {
	struct entry *entries;
	size_t count, max;
	int done; /* DONE messages received */
};

static struct rank_log logs[RANKS];
static uint32_t next_number[RANKS][RANKS][TAGS]; /* by source; its own */
static uint32_t cancelled[RANKS][RANKS];
/* By source and receiver, what the source's DONE messages say: how many it has
 * sent under each tag, and how many of them it has cancelled. */
struct counts {
	uint32_t sent[TAGS], cancelled;
};
static struct counts told[RANKS][RANKS];
/* A busy machine may have no time for a storm at all. */
#define SENDS_MIN 10

static uint64_t deadline, seed;

struct random {
	uint64_t state;
};

static unsigned below(struct random *random, unsigned n)
{
	random->state =
		random->state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random->state >> 33) % n;
}

static uint64_t stream_key(int source, int dest, int tag, uint32_t number)
{
	return job_mix((uint64_t)number << 32 | (uint64_t)source << 24 |
		       (uint64_t)dest << 16 | (uint64_t)tag);
}

/* Mostly small, now and then up to BYTES_MAX. */
static size_t bytes_of(int source, int dest, int tag, uint32_t number)
{
	uint64_t random = stream_key(source, dest, tag, number);
	size_t bytes = random >> 32;

	if (tag == DONE)
		return sizeof(struct counts);
	switch (random % 32) {
	case 0:
		bytes %= (random / 32 % 4 ? BYTES_MAX / 32 : BYTES_MAX) + 1;
		break;
	case 1:
	case 2:
		bytes %= 20000;
		break;
	case 3:
	case 4:
	case 5:
	case 6:
		bytes %= 3000;
		break;
	default:
		bytes %= 48;
	}
	return tag == CANCEL && bytes < 8 ? 8 : bytes;
}

/* The first eight bytes are number and key, if there are so many. */
static void content_fill(char *data, size_t bytes, uint64_t key,
			 uint32_t number)
{
	if (bytes >= 4)
		memcpy(data, &number, 4);
	for (size_t i = 4; i + 8 <= bytes; i += 8) {
		uint64_t word = key + i * UINT64_C(0x9e3779b97f4a7c15);

		memcpy(data + i, &word, 8);
	}
}

static bool content_right(const char *data, size_t bytes, uint64_t key)
{
	for (size_t i = 4; i + 8 <= bytes; i += 8) {
		uint64_t word;

		memcpy(&word, data + i, 8);
		if (word != key + i * UINT64_C(0x9e3779b97f4a7c15))
			return false;
	}
	return true;
}

/*
 * Senders.
 */
struct flight {
	vmpi_req *req;
	char *data;
	int dest;
	bool may_cancel;
};

struct sender {
	struct random random;
	int rank, tag_first, tag_count; /* its plain tags */
	bool cancels;
	struct flight flights[OPEN_MAX];
};

/* The end of a send that was not waited for. */
static void flight_end(struct sender *sender, struct flight *flight)
{
	int rc;

	if (!flight->data)
		return;
	if (flight->may_cancel && below(&sender->random, 2))
		EXPECT(vmpi_cancel(flight->req) == 0);
	rc = vmpi_wait(&flight->req, NULL);
	EXPECT(rc == 0 || (rc == -VMPI_ECANCELED && flight->may_cancel));
	if (rc)
		cancelled[sender->rank][flight->dest]++;
	free(flight->data);
	flight->data = NULL;
}

static void send_one(struct sender *sender)
{
	vmpi_chan *world = vmpi_world();
	struct random *random = &sender->random;
	struct flight *flight = &sender->flights[below(random, OPEN_MAX)];
	int dest = (int)below(random, RANKS), mode = (int)below(random, 8);
	bool cancels = sender->cancels && below(random, 8) == 0;
	int tag = cancels ? CANCEL :
			    sender->tag_first +
				    (int)below(random,
					       (unsigned)sender->tag_count);
	uint32_t number = next_number[sender->rank][dest][tag]++;
	size_t bytes = bytes_of(sender->rank, dest, tag, number);
	char *data = malloc(bytes + 1);

	content_fill(data, bytes, stream_key(sender->rank, dest, tag, number),
		     number);
	if (!cancels && mode < 4) {
		EXPECT((mode ? vmpi_send : vmpi_ssend)(world, data, bytes, dest,
						       tag) == 0);
		memset(data, 0x5a, bytes);
		free(data);
		return;
	}
	flight_end(sender, flight);
	*flight = (struct flight){ .data = data,
				   .dest = dest,
				   .may_cancel = cancels };
	EXPECT((mode % 2 ? vmpi_issend : vmpi_isend)(world, &flight->req, data,
						     bytes, dest, tag) == 0);
}

static int send_all(void *arg)
{
	struct sender *sender = arg;

	for (int i = 0;
	     i < SENDS_MAX && (i < SENDS_MIN || vm_clock_ns() < deadline);
	     i++) {
		send_one(sender);
		if (below(&sender->random, 64) == 0)
			vmpi_sleep(below(&sender->random, 100000));
	}
	for (int i = 0; i < OPEN_MAX; i++)
		flight_end(sender, &sender->flights[i]);
	for (int dest = 0; dest < RANKS; dest++) {
		const uint32_t *next = next_number[sender->rank][dest];
		struct counts counts = { 0 };

		/* Other senders of the rank tell of their own. */
		for (int i = 0; i < sender->tag_count; i++)
			counts.sent[sender->tag_first + i] =
				next[sender->tag_first + i];
		if (sender->cancels)
			counts.sent[CANCEL] = next[CANCEL];
		counts.cancelled = cancelled[sender->rank][dest];
		EXPECT(vmpi_send(vmpi_world(), &counts, sizeof(counts), dest,
				 DONE) == 0);
	}
	return 0;
}

/*
 * Receivers.
 */
struct pending {
	vmpi_req *req;
	size_t entry; /* in the log */
	char *data;
	size_t room;
};

struct receiver {
	struct random random;
	int rank;
	struct rank_log *log;
	struct pending pending[OPEN_MAX];
	int pending_count;
	char *data;
};

/* The next line of the log. */
static size_t log_add(struct rank_log *log)
{
	if (log->count == log->max) {
		log->max = log->max ? 2 * log->max : 4096;
		log->entries =
			realloc(log->entries, log->max * sizeof(struct entry));
		if (!log->entries)
			bail("no memory for the log");
	}
	log->entries[log->count] = (struct entry){ 0 };
	return log->count++;
}

/* Several senders of a rank say this, each knows its own tags for sure. */
static void counts_take(struct counts *sum, const struct counts *counts)
{
	for (int tag = 0; tag < TAGS; tag++)
		if (counts->sent[tag] > sum->sent[tag])
			sum->sent[tag] = counts->sent[tag];
	if (counts->cancelled > sum->cancelled)
		sum->cancelled = counts->cancelled;
}

/* Writes down what came and checks what needs no other message. */
static void log_fill(struct receiver *receiver, size_t at,
		     const vmpi_status *status, const char *data, size_t room)
{
	struct entry *entry = &receiver->log->entries[at];

	entry->source = (uint8_t)status->source;
	entry->tag = (uint8_t)status->tag;
	entry->filled = true;
	entry->bytes = (uint32_t)status->bytes;
	entry->room = (uint32_t)room;
	EXPECT(status->source >= 0 && status->source < RANKS);
	EXPECT(status->tag >= 0 && status->tag < TAGS);
	if (status->tag == DONE) {
		struct counts counts;

		memcpy(&counts, data, sizeof(counts));
		counts_take(&told[status->source][receiver->rank], &counts);
		receiver->log->done++;
		return;
	}
	if (status->bytes < 4)
		return;
	entry->numbered = true;
	memcpy(&entry->number, data, 4);
	EXPECT(content_right(data, status->bytes,
			     stream_key(status->source, receiver->rank,
					status->tag, entry->number)));
}

/* An envelope to ask for, often with wildcards. */
static void choose(struct random *random, int *source, int *tag)
{
	*source = below(random, 3) ? VMPI_ANY : (int)below(random, RANKS);
	*tag = below(random, 2) ? VMPI_ANY : (int)below(random, TAGS);
}

static void post(struct receiver *receiver)
{
	struct pending *pending = &receiver->pending[receiver->pending_count++];
	int source, tag;

	choose(&receiver->random, &source, &tag);
	pending->room = below(&receiver->random, 8) ? BYTES_MAX : 1024;
	pending->data = malloc(pending->room);
	pending->entry = log_add(receiver->log);
	EXPECT(vmpi_irecv(vmpi_world(), &pending->req, pending->data,
			  pending->room, source, tag) == 0);
}

/* Request number `at` is complete; the last one takes its place. */
static void finish(struct receiver *receiver, int at, int rc,
		   const vmpi_status *status)
{
	struct pending *pending = &receiver->pending[at];

	EXPECT(rc == 0 || rc == -VMPI_ETRUNC || rc == -VMPI_ECANCELED);
	EXPECT(rc == status->error);
	if (rc != -VMPI_ECANCELED)
		log_fill(receiver, pending->entry, status, pending->data,
			 pending->room);
	free(pending->data);
	*pending = receiver->pending[--receiver->pending_count];
}

static void look(struct receiver *receiver)
{
	vmpi_status status;
	int at = (int)below(&receiver->random,
			    (unsigned)receiver->pending_count);
	int rc = vmpi_test(&receiver->pending[at].req, &status);

	if (rc != -VMPI_EAGAIN)
		finish(receiver, at, rc, &status);
}

static void look_any(struct receiver *receiver)
{
	vmpi_req *reqs[OPEN_MAX];
	vmpi_status status;
	int at = -1, rc;

	for (int i = 0; i < receiver->pending_count; i++)
		reqs[i] = receiver->pending[i].req;
	rc = vmpi_test_any(reqs, &at, &status, receiver->pending_count);
	if (rc != -VMPI_EAGAIN)
		finish(receiver, at, rc, &status);
}

static void withdraw(struct receiver *receiver)
{
	vmpi_status status;
	int at = (int)below(&receiver->random,
			    (unsigned)receiver->pending_count);
	int rc;

	EXPECT(vmpi_cancel(receiver->pending[at].req) == 0);
	rc = vmpi_wait(&receiver->pending[at].req, &status);
	finish(receiver, at, rc, &status);
}

/* Ends a handle in one of the ways there are. */
static void take(struct receiver *receiver, vmpi_msg *msg)
{
	size_t at = log_add(receiver->log), bytes = vmpi_msg_size(msg);
	vmpi_status status = { .source = vmpi_msg_source(msg),
			       .tag = vmpi_msg_tag(msg),
			       .bytes = bytes };
	const void *data = receiver->data;
	vmpi_req *req;

	switch (below(&receiver->random, 3)) {
	case 0:
		EXPECT(vmpi_msg_borrow(msg, &data) == 0);
		log_fill(receiver, at, &status, data, BYTES_MAX);
		EXPECT(vmpi_msg_drop(&msg) == 0);
		return;
	case 1:
		EXPECT(vmpi_msg_irecv(&msg, &req, receiver->data, BYTES_MAX) ==
		       0);
		EXPECT(vmpi_wait(&req, &status) == 0);
		break;
	default:
		EXPECT(vmpi_msg_recv(&msg, receiver->data, BYTES_MAX,
				     &status) == 0);
	}
	EXPECT(status.bytes == bytes);
	log_fill(receiver, at, &status, data, BYTES_MAX);
}

static void try_take(struct receiver *receiver)
{
	int source, tag;
	vmpi_msg *msg;

	choose(&receiver->random, &source, &tag);
	if (vmpi_try_match(vmpi_world(), &msg, source, tag) == 0)
		take(receiver, msg);
}

/* With no receive posted one may wait: something comes, DONE at the least. */
static void wait_take(struct receiver *receiver)
{
	vmpi_status status;
	vmpi_msg *msg;
	size_t at;

	if (below(&receiver->random, 2)) {
		EXPECT(vmpi_match(vmpi_world(), &msg, VMPI_ANY, VMPI_ANY) == 0);
		take(receiver, msg);
		return;
	}
	at = log_add(receiver->log);
	EXPECT(vmpi_recv(vmpi_world(), receiver->data, BYTES_MAX, VMPI_ANY,
			 VMPI_ANY, &status) == 0);
	log_fill(receiver, at, &status, receiver->data, BYTES_MAX);
}

static void receive_some(struct receiver *receiver)
{
	unsigned what = below(&receiver->random, 16);

	if (receiver->pending_count == 0 && what < 8)
		wait_take(receiver);
	else if (what < 3)
		try_take(receiver);
	else if (receiver->pending_count == 0 ||
		 (what < 7 && receiver->pending_count < OPEN_MAX))
		post(receiver);
	else if (what < 9)
		look(receiver);
	else if (what < 11)
		withdraw(receiver);
	else
		look_any(receiver);
}

static void storm_body(int rank, int size)
{
	struct receiver receiver = { .rank = rank, .log = &logs[rank] };
	struct sender *sender = calloc(1, sizeof(*sender));
	int dones = size + THREADS;
	vmpi_task *task;
	vmpi_msg *msg;

	receiver.random.state = job_mix(seed + (uint64_t)rank);
	receiver.data = malloc(BYTES_MAX);
	sender->random.state = job_mix(seed + 1000 + (uint64_t)rank);
	sender->rank = rank;
	sender->tag_count = PLAIN;
	sender->cancels = true;
	EXPECT(vmpi_spawn(&task, send_all, sender) == 0);
	while (receiver.log->done < dones)
		receive_some(&receiver);
	/* Everything has arrived: what is not asked for yet waits in queues. */
	while (receiver.pending_count)
		withdraw(&receiver);
	while (vmpi_try_match(vmpi_world(), &msg, VMPI_ANY, VMPI_ANY) == 0)
		take(&receiver, msg);
	EXPECT(vmpi_join(&task, NULL) == 0);
	free(receiver.data);
	free(sender);
}

/* An OS thread that sends for one of the ranks. */
static void *storm_thread(void *arg)
{
	int index = (int)(intptr_t)arg;
	struct sender *sender = calloc(1, sizeof(*sender));

	sender->random.state = job_mix(seed + 2000 + (uint64_t)index);
	sender->rank = RANKS / 2 + index;
	sender->tag_first = THREAD + index;
	sender->tag_count = 1;
	EXPECT(vmpi_attach(sender->rank) == 0);
	send_all(sender);
	EXPECT(vmpi_detach() == 0);
	free(sender);
	return NULL;
}

/* Goes through a log: each stream in order, each size as sent. */
static long log_check(int rank, uint32_t received[RANKS][TAGS])
{
	struct rank_log *log = &logs[rank];
	uint32_t expected[RANKS][TAGS] = { { 0 } };
	long wrong = 0;

	for (size_t i = 0; i < log->count; i++) {
		struct entry *entry = &log->entries[i];
		uint32_t *next;
		size_t bytes;

		if (!entry->filled)
			continue;
		received[entry->source][entry->tag]++;
		next = &expected[entry->source][entry->tag];
		if (entry->tag == CANCEL) {
			wrong += !entry->numbered || entry->number < *next;
			*next = entry->number;
		} else {
			wrong += entry->numbered && entry->number != *next;
		}
		bytes = bytes_of(entry->source, rank, entry->tag, *next);
		if (bytes > entry->room)
			bytes = entry->room;
		wrong += bytes != entry->bytes;
		++*next;
	}
	return wrong;
}

/* All logs of these ranks, then the number of messages of each stream; messages
 * received. */
static long check(int *faults, int first, int count)
{
	long total = 0;
	int wrong = 0, lost = 0;

	for (int rank = first; rank < first + count; rank++) {
		uint32_t received[RANKS][TAGS] = { { 0 } };

		wrong += (int)log_check(rank, received);
		for (int source = 0; source < RANKS; source++) {
			const struct counts *counts = &told[source][rank];

			for (int tag = 0; tag < DONE; tag++) {
				uint32_t n = received[source][tag];

				total += n;
				if (tag == CANCEL)
					n += counts->cancelled;
				lost += n != counts->sent[tag];
			}
		}
	}
	if (wrong || lost)
		diag("%d messages out of order or not whole, %d streams that "
		     "lost one or got one twice",
		     wrong, lost);
	*faults = wrong + lost;
	return total;
}

/* Starts the OS threads of these ranks; how many. */
static int storm_threads(pthread_t threads[THREADS], int first, int count)
{
	int n = 0;

	for (intptr_t i = 0; i < THREADS; i++) {
		int rank = RANKS / 2 + (int)i;

		if (rank < first || rank >= first + count)
			continue;
		if (pthread_create(&threads[n++], NULL, storm_thread,
				   (void *)i))
			bail("no thread");
	}
	return n;
}

static void storm_init(uint64_t ns)
{
	memset(next_number, 0, sizeof(next_number));
	memset(cancelled, 0, sizeof(cancelled));
	memset(told, 0, sizeof(told));
	memset(logs, 0, sizeof(logs));
	deadline = vm_clock_ns() + ns;
}

#endif
