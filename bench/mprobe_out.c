/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists by (source, tag), wildcards included: of messages that no receiver has
 * asked for yet, and of receivers that wait.  With one pattern only, each pair
 * has a lock of its own; else one lock guards all, since a message is in four
 * lists.
 */
#include "mprobe_out.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BINS 1024
#define PAIRS 4 /* that a message matches */

struct link {
	struct link *prev, *next;
};

struct out_msg {
	struct place {
		struct link link;
		struct out_msg *msg;
	} places[PAIRS];
	struct out_env env;
	MPI_Request request;
	char data[];
};

/* A receiver that waits: on its stack. */
struct waiter {
	struct link link;
	uint64_t since;
	pthread_cond_t filled;
	struct out_msg *msg;
};

struct pair {
	int source, tag;
	pthread_mutex_t own, *lock; /* own, or that of the whole */
	struct link messages, waiters;
	struct pair *next;
};

struct out {
	MPI_Comm comm;
	enum out_pattern pattern;
	pthread_t thread;
	pthread_mutex_t all;
	pthread_mutex_t finding; /* the table of pairs */
	struct pair *bins[BINS];
	_Atomic uint64_t clock;
};

#define container(link, type) ((type *)(void *)(link)) /* link comes first */

static void list_init(struct link *head)
{
	head->prev = head->next = head;
}

static void list_append(struct link *head, struct link *link)
{
	link->prev = head->prev;
	link->next = head;
	head->prev->next = link;
	head->prev = link;
}

static void list_remove(struct link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

/* Memory or the end. */
static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "mprobe: out of memory for messages\n");
	abort();
}

static struct pair *pair_new(struct out *out, int source, int tag)
{
	struct pair *pair = need(malloc(sizeof(*pair)));

	*pair = (struct pair){ .source = source, .tag = tag };
	pthread_mutex_init(&pair->own, NULL);
	pair->lock = out->pattern == OUT_MIXED ? &out->all : &pair->own;
	list_init(&pair->messages);
	list_init(&pair->waiters);
	return pair;
}

/* The pair, made when it is first asked for. */
static struct pair *pair_of(struct out *out, int source, int tag)
{
	unsigned hash = (unsigned)source * 2654435761u + (unsigned)tag * 40503u;
	struct pair **bin = &out->bins[hash / 64 % BINS], *pair;

	pthread_mutex_lock(&out->finding);
	for (pair = *bin; pair; pair = pair->next)
		if (pair->source == source && pair->tag == tag)
			break;
	if (!pair) {
		pair = pair_new(out, source, tag);
		pair->next = *bin;
		*bin = pair;
	}
	pthread_mutex_unlock(&out->finding);
	return pair;
}

/* The pairs in whose lists a message belongs; returns how many. */
static int pairs_of(struct out *out, const struct out_msg *msg,
		    struct pair *pairs[PAIRS])
{
	if (out->pattern == OUT_DIRECTED) {
		pairs[0] = pair_of(out, msg->env.source, msg->env.tag);
		return 1;
	}
	pairs[0] = pair_of(out, MPI_ANY_SOURCE, MPI_ANY_TAG);
	if (out->pattern == OUT_ANY)
		return 1;
	pairs[1] = pair_of(out, msg->env.source, msg->env.tag);
	pairs[2] = pair_of(out, msg->env.source, MPI_ANY_TAG);
	pairs[3] = pair_of(out, MPI_ANY_SOURCE, msg->env.tag);
	return PAIRS;
}

/* The receiver that has waited longest at any of the pairs, or NULL. */
static struct waiter *waiter_oldest(struct pair *const *pairs, int count)
{
	struct waiter *oldest = NULL;

	for (int i = 0; i < count; i++) {
		struct link *head = &pairs[i]->waiters;
		struct waiter *waiter = container(head->next, struct waiter);

		if (head->next != head &&
		    (!oldest || waiter->since < oldest->since))
			oldest = waiter;
	}
	return oldest;
}

/* Hands a message to the receiver that waits for it, or keeps it. */
static void msg_arrived(struct out *out, struct out_msg *msg)
{
	struct pair *pairs[PAIRS];
	int count = pairs_of(out, msg, pairs);
	struct waiter *waiter;

	pthread_mutex_lock(pairs[0]->lock);
	waiter = waiter_oldest(pairs, count);
	if (waiter) {
		list_remove(&waiter->link);
		waiter->msg = msg;
		pthread_cond_signal(&waiter->filled);
	} else {
		for (int i = 0; i < count; i++)
			list_append(&pairs[i]->messages, &msg->places[i].link);
	}
	pthread_mutex_unlock(pairs[0]->lock);
}

/* Starts to receive the message that a probe has found. */
static struct out_msg *msg_new(struct out *out, const MPI_Status *status)
{
	struct out_msg *msg;
	int bytes;

	MPI_Get_count(status, MPI_BYTE, &bytes);
	msg = need(malloc(sizeof(*msg) + (size_t)bytes));
	for (int i = 0; i < PAIRS; i++)
		msg->places[i].msg = msg;
	msg->env =
		(struct out_env){ status->MPI_SOURCE, status->MPI_TAG, bytes };
	MPI_Irecv(msg->data, bytes, MPI_BYTE, status->MPI_SOURCE,
		  status->MPI_TAG, out->comm, &msg->request);
	return msg;
}

/* The tag of the message to oneself that ends the thread. */
#define TAG_STOP 32000

static void *out_main(void *arg)
{
	struct out *out = arg;
	MPI_Status status;
	int self;

	MPI_Comm_rank(out->comm, &self);
	for (;;) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, out->comm, &status);
		if (status.MPI_SOURCE == self && status.MPI_TAG == TAG_STOP)
			break;
		msg_arrived(out, msg_new(out, &status));
	}
	MPI_Recv(NULL, 0, MPI_BYTE, self, TAG_STOP, out->comm,
		 MPI_STATUS_IGNORE);
	return NULL;
}

struct out *out_new(MPI_Comm comm, enum out_pattern pattern)
{
	struct out *out = calloc(1, sizeof(*out));

	if (!out)
		return NULL;
	out->comm = comm;
	out->pattern = pattern;
	pthread_mutex_init(&out->all, NULL);
	pthread_mutex_init(&out->finding, NULL);
	if (pthread_create(&out->thread, NULL, out_main, out)) {
		free(out);
		return NULL;
	}
	return out;
}

void out_free(struct out *out)
{
	int self;

	MPI_Comm_rank(out->comm, &self);
	MPI_Send(NULL, 0, MPI_BYTE, self, TAG_STOP, out->comm);
	pthread_join(out->thread, NULL);
	for (int i = 0; i < BINS; i++) {
		struct pair *pair = out->bins[i];

		while (pair) {
			struct pair *next = pair->next;

			pthread_mutex_destroy(&pair->own);
			free(pair);
			pair = next;
		}
	}
	pthread_mutex_destroy(&out->finding);
	pthread_mutex_destroy(&out->all);
	free(out);
}

/* The pair's oldest message, taken out of all its lists, or NULL; the lock is
 * held. */
static struct out_msg *msg_take(struct out *out, struct pair *pair)
{
	int count = out->pattern == OUT_MIXED ? PAIRS : 1;
	struct out_msg *msg;

	if (pair->messages.next == &pair->messages)
		return NULL;
	msg = container(pair->messages.next, struct place)->msg;
	for (int i = 0; i < count; i++)
		list_remove(&msg->places[i].link);
	return msg;
}

struct out_msg *out_probe(struct out *out, int source, int tag,
			  struct out_env *env)
{
	struct pair *pair = pair_of(out, source, tag);
	struct waiter waiter = { .msg = NULL };

	pthread_mutex_lock(pair->lock);
	waiter.msg = msg_take(out, pair);
	if (!waiter.msg) {
		pthread_cond_init(&waiter.filled, NULL);
		waiter.since = out->clock++;
		list_append(&pair->waiters, &waiter.link);
		while (!waiter.msg)
			pthread_cond_wait(&waiter.filled, pair->lock);
		pthread_cond_destroy(&waiter.filled);
	}
	pthread_mutex_unlock(pair->lock);
	*env = waiter.msg->env;
	return waiter.msg;
}

void out_recv(struct out_msg *msg, void *buf, int bytes)
{
	MPI_Wait(&msg->request, MPI_STATUS_IGNORE);
	memcpy(buf, msg->data,
	       (size_t)(bytes < msg->env.bytes ? bytes : msg->env.bytes));
	free(msg);
}
