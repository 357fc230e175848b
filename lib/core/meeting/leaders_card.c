/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two bytes with the lengths of the key's four words, less leading zeros; the
 * words; the data.
 */
#include "core/meeting/leaders_card.h"

#include <string.h>

#include "core/meeting/leaders.h"

#define WORDS VM_MEET_KEY_WORDS

/* As the length of the last word: it is that before it; the same, or it is 0,
 * and the card is one of VM_LEADERS_AHEAD, or of VM_LEADERS_CHAINED. */
enum { CHAINED_NONE = 11, CHAINED_SAME, AHEAD_NONE, AHEAD_SAME, SAME };

VM_STATIC_ASSERT(WORDS == 4, "their lengths have room in two bytes");

/* Bytes up to the last one that is not 0. */
static unsigned length_of(uint64_t word)
{
	return word ? 8 - (unsigned)__builtin_clzll(word) / 8 : 0;
}

/* Whole words are written, of which the next one covers what is not counted. */
static char *word_put(char *to, uint64_t word, unsigned length)
{
	memcpy(to, &word, sizeof(word));
	return to + length;
}

size_t vm_leaders_card_begin(char out[VM_LEADERS_CARD_BEGIN],
			     const uint64_t key[VM_MEET_KEY_WORDS],
			     uint32_t topic)
{
	unsigned none = topic == VM_LEADERS_AHEAD ? AHEAD_NONE : CHAINED_NONE;
	unsigned first = length_of(key[0]), second = length_of(key[1]),
		 third = length_of(key[2]), last = length_of(key[3]);
	bool same = last && key[3] == key[2];
	char *at = out + 2;

	if (!first || (topic != VM_LEADERS_SHORT && last && !same))
		return 0;
	at = word_put(at, key[0], first);
	at = word_put(at, key[1], second);
	at = word_put(at, key[2], third);
	if (!same)
		at = word_put(at, key[3], last);
	else
		last = SAME;
	if (topic != VM_LEADERS_SHORT)
		last = same ? none + 1 : none;
	out[0] = (char)(first << 4 | second);
	out[1] = (char)(third << 4 | last);
	return (size_t)(at - out);
}

size_t vm_leaders_card_pack(char out[VM_LEADERS_CARD_PACKED],
			    const struct vm_leaders_card *card,
			    size_t data_bytes, uint32_t topic)
{
	size_t begin;

	if (data_bytes != card->bytes || data_bytes > VM_LEADERS_CARD_SHORT ||
	    card->board || card->reads)
		return 0;
	begin = vm_leaders_card_begin(out, card->key, topic);
	if (begin)
		memcpy(out + begin, card->data, data_bytes);
	return begin ? begin + data_bytes : 0;
}

bool vm_leaders_card_unpack(struct vm_leaders_card *card, size_t *data_bytes,
			    uint32_t *topic, const char *in, size_t bytes)
{
	const unsigned char *from = (const unsigned char *)in;
	uint64_t words[WORDS] = { 0 };
	size_t at = 2;

	*topic = VM_LEADERS_SHORT;
	if (bytes < 2 || bytes > VM_LEADERS_CARD_PACKED)
		return false;
	for (int i = 0; i < WORDS; i++) {
		unsigned length = i % 2 ? from[i / 2] & 15 : from[i / 2] >> 4;

		if (i == 3 && length >= CHAINED_NONE) {
			if (length != SAME)
				*topic = length < AHEAD_NONE ?
						 VM_LEADERS_CHAINED :
						 VM_LEADERS_AHEAD;
			words[i] = length == AHEAD_NONE ||
						   length == CHAINED_NONE ?
					   0 :
					   words[i - 1];
			continue;
		}
		if (length > 8 || at + length > bytes)
			return false;
		for (unsigned j = 0; j < length; j++)
			words[i] |= (uint64_t)from[at++] << 8 * j;
	}
	memcpy(card->key, words, sizeof(words));
	card->bytes = (uint32_t)(bytes - at);
	card->follows = card->board = card->reads = 0;
	memcpy(card->data, in + at, bytes - at);
	*data_bytes = bytes - at;
	return true;
}
