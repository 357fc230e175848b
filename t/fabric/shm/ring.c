/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of records: order and bytes over many rounds, what does not fit, a
 * writer that stops in the middle, memory that is not what it should be.
 */
#include "fabric/shm/ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "tap.h"

static struct vm_shm_ring ring;
static struct vm_shm_writer writer;
static struct vm_shm_reader reader;

static void begin(void)
{
	memset(&ring, 0, sizeof(ring));
	memset(&writer, 0, sizeof(writer));
	memset(&reader, 0, sizeof(reader));
	writer.ring = reader.ring = &ring;
}

/* Writes record `number`; false: there is no room. */
static bool put(uint32_t number, uint32_t bytes)
{
	struct vm_shm_slot *slot;
	void *data;

	slot = vm_shm_room(&writer, bytes, &data);
	if (!slot)
		return false;
	memcpy(slot->head, &number, sizeof(number));
	pattern_fill(data, number, bytes);
	vm_shm_publish(&writer, slot, bytes, data);
	return true;
}

/* Takes a record: whether it is that one. */
static bool get(uint32_t number, uint32_t bytes)
{
	const struct vm_shm_slot *slot = vm_shm_peek(&reader);
	uint32_t found, length;
	const char *data;

	if (!slot)
		return false;
	memcpy(&found, slot->head, sizeof(found));
	data = vm_shm_data(&reader, slot, &length);
	if (!data || found != number || length != bytes ||
	    !pattern_fits(data, number, bytes))
		return false;
	vm_shm_take(&reader);
	return true;
}

static void one(void)
{
	begin();
	ok(!vm_shm_peek(&reader), "a ring of zeros is empty");
	ok(put(0, 0) && get(0, 0), "an empty record comes");
	ok(put(1, VM_SHM_INLINE) && get(1, VM_SHM_INLINE),
	   "one that fits into its slot");
	ok(put(2, VM_SHM_INLINE + 1) && get(2, VM_SHM_INLINE + 1),
	   "one that does not");
	ok(put(3, VM_SHM_RECORD_MAX) && get(3, VM_SHM_RECORD_MAX),
	   "the longest one");
	ok(!vm_shm_peek(&reader), "and no other");
}

static void full(void)
{
	uint32_t n = 0, m;

	begin();
	while (put(n, 8))
		n++;
	is_int((int)n, VM_SHM_SLOTS, "a ring has so many short records");
	ok(get(0, 8) && put(n, 8) && !put(n + 1, 8),
	   "who takes one makes room for one");
	for (m = 1; m <= n && get(m, 8); m++)
		;
	is_int((int)m, (int)n + 1, "all come, in order");
	for (n = 0; put(n, 16000); n++)
		;
	is_int((int)n, VM_SHM_AREA / 16000, "and so many long ones");
	ok(put(n, 8), "beside which a short one fits");
	for (m = 0; m < n && get(m, 16000); m++)
		;
	ok(m == n && get(n, 8), "all of which come");
}

/* Any lengths, any number under way. */
static void random_ones(void)
{
	static uint32_t lengths[VM_SHM_SLOTS];
	uint32_t written = 0, taken = 0;
	bool right = true;

	begin();
	/* Numbers of records begin again, too. */
	writer.next = writer.taken =
		UINT32_MAX - 20000 / VM_SHM_SLOTS * VM_SHM_SLOTS;
	writer.next -= writer.next % VM_SHM_SLOTS;
	writer.taken = reader.next = ring.taken = writer.next;
	srand(1);
	for (int i = 0; i < 200000 && right; i++) {
		uint32_t most = rand() % 8 ? 100 : VM_SHM_RECORD_MAX / 4;
		uint32_t bytes = (uint32_t)rand() % (most + 1);

		if (rand() % 2 && written - taken < VM_SHM_SLOTS) {
			lengths[written % VM_SHM_SLOTS] = bytes;
			written += put(written, bytes);
		} else if (taken < written) {
			right = get(taken, lengths[taken % VM_SHM_SLOTS]);
			taken++;
		}
	}
	ok(right, "records of random lengths come in order, whole");
}

static void little(void)
{
	uint32_t most = 0;

	begin();
	for (uint32_t i = 0; i < 10000; i++) {
		put(i, 1000);
		if (vm_shm_peek(&reader)->at > most)
			most = vm_shm_peek(&reader)->at;
		get(i, 1000);
	}
	ok(most < 20000, "who waits for each record uses little memory");
}

static void broken(void)
{
	struct vm_shm_slot *slot;
	uint32_t bytes;
	void *data;

	begin();
	put(0, 8);
	slot = vm_shm_room(&writer, 100, &data);
	memset(slot->head, 1, sizeof(slot->head));
	memset(data, 1, 50);
	ok(get(0, 8) && !vm_shm_peek(&reader),
	   "a writer that dies in the middle has written nothing");
	begin();
	put(0, 100);
	ring.slots[0].at = VM_SHM_AREA - 99;
	ok(!vm_shm_data(&reader, vm_shm_peek(&reader), &bytes),
	   "a place outside is refused");
	ring.slots[0].bytes = UINT32_MAX;
	ok(!vm_shm_data(&reader, vm_shm_peek(&reader), &bytes),
	   "and so is a length");
	begin();
	ring.taken = 2 * VM_SHM_SLOTS;
	for (uint32_t i = 0; i < VM_SHM_SLOTS; i++)
		put(i, 0);
	ok(!put(VM_SHM_SLOTS, 0), "a reader that is ahead is not believed");
}

#define COUNT 300000

static void *write_all(void *arg)
{
	for (uint32_t i = 0; i < COUNT;)
		i += put(i, i % 3 ? i % 16 : i % 3000);
	return arg;
}

static void threads(void)
{
	pthread_t thread;
	uint32_t i = 0;

	begin();
	pthread_create(&thread, NULL, write_all, NULL);
	while (i < COUNT)
		if (vm_shm_peek(&reader)) {
			if (!get(i, i % 3 ? i % 16 : i % 3000))
				break;
			i++;
		}
	is_int((int)i, COUNT, "two threads at a time");
	if (i == COUNT)
		pthread_join(thread, NULL);
}

int main(void)
{
	one();
	full();
	random_ones();
	little();
	broken();
	threads();
	return done_testing();
}
