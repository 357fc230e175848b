/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards in few bytes, so that the call and 8 bytes of data are on the cache line
 * of a message between processes of one host.
 */
#ifndef CORE_MEETING_LEADERS_CARD_H
#define CORE_MEETING_LEADERS_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/meeting/meet_post.h"

struct vm_leaders_card;

/* The most bytes of what is packed: what it begins with, of two bytes and the words
 * of a key, and data. */
#define VM_LEADERS_CARD_BEGIN 40
#define VM_LEADERS_CARD_SHORT 64
#define VM_LEADERS_CARD_PACKED (VM_LEADERS_CARD_BEGIN + VM_LEADERS_CARD_SHORT)

/* The first byte of what is packed is larger than any topic. */
#define VM_LEADERS_CARD_MARK 16

/* Packs the key and the topic of a card behind which its data are to follow;
 * returns how many bytes they take; 0: not this one. */
size_t vm_leaders_card_begin(char out[VM_LEADERS_CARD_BEGIN],
			     const uint64_t key[VM_MEET_KEY_WORDS],
			     uint32_t topic);

/* Packs a card whose data are those of one member, or none, and which of the three
 * topics of cards it has; returns how many bytes it takes; 0: too many, or there
 * are more members. */
size_t vm_leaders_card_pack(char out[VM_LEADERS_CARD_PACKED],
			    const struct vm_leaders_card *card,
			    size_t data_bytes, uint32_t topic);

/* The reverse; *data_bytes is at most VM_LEADERS_CARD_PACKED.  false: it is
 * malformed. */
bool vm_leaders_card_unpack(struct vm_leaders_card *card, size_t *data_bytes,
			    uint32_t *topic, const char *in, size_t bytes);

#endif
