/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards in few bytes: what is packed comes out again, and whatever comes in is
 * no more than a card.
 */
#include "core/meeting/leaders_card.h"

#include <stdlib.h>
#include <string.h>

#include "core/meeting/leaders.h"
#include "tap.h"

union room {
	struct vm_leaders_card card;
	char bytes[sizeof(struct vm_leaders_card) + VM_LEADERS_CARD_PACKED];
};

/* Packs a card with these words and so much data, and unpacks it: how many bytes
 * it took, or -1: it came out otherwise. */
static int there_and_back_as(const uint64_t words[4], size_t data_bytes,
			     uint32_t topic)
{
	union room in = { 0 }, out;
	char packed[VM_LEADERS_CARD_PACKED];
	size_t bytes, n = 99;
	uint32_t as = 99;

	memcpy(in.card.key, words, sizeof(in.card.key));
	in.card.bytes = (uint32_t)data_bytes;
	for (size_t i = 0; i < data_bytes && i < sizeof(packed); i++)
		in.card.data[i] = (char)(i + 1);
	bytes = vm_leaders_card_pack(packed, &in.card, data_bytes, topic);
	if (!bytes)
		return 0;
	memset(&out, 0x55, sizeof(out));
	if ((unsigned char)packed[0] < VM_LEADERS_CARD_MARK ||
	    !vm_leaders_card_unpack(&out.card, &n, &as, packed, bytes) ||
	    as != topic || n != data_bytes || out.card.bytes != data_bytes ||
	    memcmp(out.card.key, in.card.key, sizeof(in.card.key)) ||
	    memcmp(out.card.data, in.card.data, data_bytes))
		return -1;
	return (int)bytes;
}

static int there_and_back(const uint64_t words[4], size_t data_bytes)
{
	return there_and_back_as(words, data_bytes, VM_LEADERS_SHORT);
}

static void known(void)
{
	is_int(there_and_back((uint64_t[]){ 17, 0, 0, 0 }, 0), 3,
	       "a call without data takes 3 bytes");
	is_int(there_and_back((uint64_t[]){ 0x05000123, 7, 8, 8 }, 8), 16,
	       "the sum of 8 bytes takes 16");
	is_int(there_and_back((uint64_t[]){ 0x05000123, 7, 16, 8 }, 16), 25,
	       "of 16 bytes it takes 25");
	is_int(there_and_back((uint64_t[]){ 17, 0, 0, 0 },
			      VM_LEADERS_CARD_SHORT + 1),
	       0, "more data than that do not fit");
	is_int(there_and_back((uint64_t[]){ 0, 0, 0, 0 }, 0), 0,
	       "nor does what has no call");
	is_int(there_and_back_as((uint64_t[]){ 0x05000123, 7, 8, 8 }, 8,
				 VM_LEADERS_AHEAD),
	       16, "the sum of 8 bytes takes 16 of who does not wait, too");
	is_int(there_and_back_as((uint64_t[]){ 17, 0, 0, 3 }, 0,
				 VM_LEADERS_AHEAD),
	       0, "another last word does not fit then");
}

static void random_ones(void)
{
	int wrong = 0, packed = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t words[4];
		int took;

		for (int w = 0; w < 4; w++) {
			int bits = rand() % 64;

			words[w] = (uint64_t)rand() << 32 ^ (uint64_t)rand();
			words[w] &= rand() % 3 ? ((uint64_t)1 << bits) - 1 : 0;
		}
		if (rand() % 2)
			words[3] = words[2];
		took = there_and_back_as(words, (size_t)rand() % 17,
					 rand() % 3 ? VM_LEADERS_SHORT :
					 rand() % 2 ? VM_LEADERS_AHEAD :
						      VM_LEADERS_CHAINED);
		wrong += took < 0;
		packed += took > 0;
	}
	is_int(wrong, 0, "what is packed comes out again");
	ok(packed > 1000, "which many are (%d)", packed);
}

static void garbage(void)
{
	int taken = 0, wrong = 0;

	for (int i = 0; i < 100000; i++) {
		char in[VM_LEADERS_CARD_PACKED + 8];
		size_t bytes = (size_t)rand() % sizeof(in), n = 0;
		union room out;
		uint32_t topic;

		for (size_t j = 0; j < bytes; j++)
			in[j] = (char)rand();
		if (!vm_leaders_card_unpack(&out.card, &n, &topic, in, bytes))
			continue;
		taken++;
		wrong += n > VM_LEADERS_CARD_PACKED || n != out.card.bytes ||
			 bytes < 2 || bytes > VM_LEADERS_CARD_PACKED;
	}
	ok(taken > 0 && !wrong,
	   "of other bytes it takes no more than there are");
}

int main(void)
{
	srand(1);
	known();
	random_ones();
	garbage();
	return done_testing();
}
