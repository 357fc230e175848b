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

struct vm_leaders_card;

#define VM_LEADERS_CARD_PACKED 16 /* bytes, at most */

/* The first byte of what is packed is larger than any topic. */
#define VM_LEADERS_CARD_MARK 16

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
