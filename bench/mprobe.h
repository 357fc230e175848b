/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The labels of messages of bench/mprobe, by which a receiver can tell whether
 * it has the message that its probe promised, and whether any was lost or came
 * twice.
 *
 * A message of a label's size or more begins with one; a shorter one has the
 * number of its sender in its first byte.
 */
#ifndef BENCH_MPROBE_H
#define BENCH_MPROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define RECEIVERS 8 /* threads or tasks of rank 0 that receive */
#define RANKS_MAX 64

/* In flight at a time: a method that buffers what it has not handed out yet
 * must not run out of memory. */
#define FLIGHT_BYTES (32 << 20)

static const int mprobe_sizes[] = { 1, 64, 1024, 8192, 65536 };
#define MPROBE_SIZES ((int)(sizeof(mprobe_sizes) / sizeof(*mprobe_sizes)))
#define MPROBE_BYTES_MAX 65536

/* Round trips: how many threads on each side, of which size. */
static const struct {
	int threads, bytes;
} mprobe_trips[] = { { 1, 1 },	  { 4, 1 },    { 8, 1 },    { 4, 64 },
		     { 4, 1024 }, { 4, 8192 }, { 4, 65536 } };
#define MPROBE_TRIPS ((int)(sizeof(mprobe_trips) / sizeof(*mprobe_trips)))

struct label {
	int32_t source, tag, bytes;
	uint32_t number;
};

static inline void label_write(void *payload, struct label label)
{
	if (label.bytes >= (int)sizeof(label))
		memcpy(payload, &label, sizeof(label));
	else if (label.bytes > 0)
		*(char *)payload = (char)label.source;
}

/* Whether the payload is that of the message which `promised` describes; its
 * number, as far as it has one, becomes that of `promised`. */
static inline bool label_fits(const void *payload, struct label *promised)
{
	struct label label;

	if (promised->bytes < (int)sizeof(label))
		return promised->bytes < 1 ||
		       *(const char *)payload == (char)promised->source;
	memcpy(&label, payload, sizeof(label));
	promised->number = label.number;
	return label.source == promised->source && label.tag == promised->tag &&
	       label.bytes == promised->bytes;
}

/* The messages that one receiver got from one sender. */
struct tally {
	uint64_t count, sum, squares; /* of the numbers */
};

static inline void tally_add(struct tally *tally, uint64_t number)
{
	tally->count++;
	tally->sum += number;
	tally->squares += number * number;
}

static inline void tally_merge(struct tally *all, const struct tally *one)
{
	all->count += one->count;
	all->sum += one->sum;
	all->squares += one->squares;
}

/* Whether these are the numbers 0 to n - 1, `times` times each; of messages
 * without a label only the count is known. */
static inline bool tally_holds(const struct tally *tally, int bytes, uint64_t n,
			       uint64_t times)
{
	struct tally want = { 0 };

	for (uint64_t i = 0; i < n; i++)
		tally_add(&want, i);
	if (tally->count != want.count * times)
		return false;
	return bytes < (int)sizeof(struct label) ||
	       (tally->sum == want.sum * times &&
		tally->squares == want.squares * times);
}

#endif
