/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of queues.  A queue exists while it is not empty, so memory is
 * that of the waiting entries, however many keys there are in all.
 */
#include "report/trace/pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define SIZE_FIRST 256

struct item {
	struct item *next;
	struct vm_trace_half half;
};

struct vm_trace_queue {
	struct vm_trace_queue *next; /* of its chain */
	struct vm_trace_key key;
	struct item *first, *last;
};

static size_t key_hash(const struct vm_trace_key *key)
{
	uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);

	for (int i = 0; i < 4; i++)
		hash = (hash ^ key->word[i]) * UINT64_C(0xff51afd7ed558ccd);
	return (size_t)(hash ^ hash >> 32);
}

/* The place of the queue of this key, or where it would be put: the end of its
 * chain. */
static struct vm_trace_queue **place_of(const struct vm_trace_table *table,
					const struct vm_trace_key *key)
{
	struct vm_trace_queue **place =
		&table->buckets[key_hash(key) & (table->size - 1)];

	while (*place && memcmp(&(*place)->key, key, sizeof(*key)) != 0)
		place = &(*place)->next;
	return place;
}

static int grow(struct vm_trace_table *table)
{
	struct vm_trace_table grown = { .size = table->size ? table->size * 2 :
							      SIZE_FIRST,
					.count = table->count };

	grown.buckets = calloc(grown.size, sizeof(struct vm_trace_queue *));
	if (!grown.buckets)
		return -VMPI_ENOMEM;
	for (size_t i = 0; i < table->size; i++) {
		struct vm_trace_queue *queue = table->buckets[i], *next;

		for (; queue; queue = next) {
			next = queue->next;
			queue->next = NULL;
			*place_of(&grown, &queue->key) = queue;
		}
	}
	free(table->buckets);
	*table = grown;
	return 0;
}

/* The queue of this key, made if there is none; NULL: out of memory. */
static struct vm_trace_queue *queue_get(struct vm_trace_table *table,
					const struct vm_trace_key *key)
{
	struct vm_trace_queue **place;

	if (table->count >= table->size && grow(table))
		return NULL;
	place = place_of(table, key);
	if (*place)
		return *place;
	*place = calloc(1, sizeof(**place));
	if (*place) {
		(*place)->key = *key;
		table->count++;
	}
	return *place;
}

int vm_trace_put(struct vm_trace_table *table, const struct vm_trace_key *key,
		 const struct vm_trace_half *half)
{
	struct item *item = malloc(sizeof(*item));
	struct vm_trace_queue *queue = item ? queue_get(table, key) : NULL;

	if (!queue) {
		free(item);
		return -VMPI_ENOMEM;
	}
	*item = (struct item){ .half = *half };
	if (queue->last)
		queue->last->next = item;
	else
		queue->first = item;
	queue->last = item;
	return 0;
}

bool vm_trace_take(struct vm_trace_table *table, const struct vm_trace_key *key,
		   struct vm_trace_half *half)
{
	struct vm_trace_queue **place, *queue;
	struct item *item;

	if (!table->count)
		return false;
	place = place_of(table, key);
	queue = *place;
	if (!queue)
		return false;
	item = queue->first;
	*half = item->half;
	queue->first = item->next;
	free(item);
	if (!queue->first) {
		*place = queue->next;
		free(queue);
		table->count--;
	}
	return true;
}

struct vm_trace_half *vm_trace_look(const struct vm_trace_table *table,
				    const struct vm_trace_key *key)
{
	struct vm_trace_queue *queue = NULL;

	if (table->count)
		queue = *place_of(table, key);
	return queue ? &queue->first->half : NULL;
}

static void queue_free(struct vm_trace_queue *queue)
{
	struct item *item = queue->first, *next;

	for (; item; item = next) {
		next = item->next;
		free(item);
	}
	free(queue);
}

void vm_trace_table_fini(struct vm_trace_table *table)
{
	for (size_t i = 0; i < table->size; i++) {
		struct vm_trace_queue *queue = table->buckets[i], *next;

		for (; queue; queue = next) {
			next = queue->next;
			queue_free(queue);
		}
	}
	free(table->buckets);
	*table = (struct vm_trace_table){ 0 };
}
