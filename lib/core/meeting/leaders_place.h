/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of one process that others of its host fill themselves, each its place,
 * so that they do not do so one after the other on that one's core.
 *
 * Its card has the places; who has filled one, or cannot, says so.
 */
#ifndef CORE_MEETING_LEADERS_PLACE_H
#define CORE_MEETING_LEADERS_PLACE_H

#include <stdbool.h>
#include <stddef.h>

struct vm_data;
struct vm_leaders_card;
struct vm_leaders_data;
struct vm_leaders_places;
struct vm_meet;

/* The most processes of a channel whose places a card has room for. */
#define VM_LEADERS_PLACES 64

/* Places for those of the other processes for which data[process] has bytes and no
 * layout, of which the card tells; *card_bytes: so much data that has.  NULL:
 * there are none. */
struct vm_leaders_places *vm_leaders_places_open(const struct vm_meet *meet,
						 const struct vm_data *data,
						 struct vm_leaders_card *card,
						 size_t *card_bytes);

/* Expects each one that has a place, or one of them, to say whether it has filled it;
 * whether it has, after vm_leaders_received(): else it sends the data. */
void vm_leaders_places_expect(struct vm_leaders_places *places,
			      struct vm_leaders_data *talk);
void vm_leaders_place_expect(struct vm_leaders_places *places,
			     struct vm_leaders_data *talk, int process);
bool vm_leaders_place_full(const struct vm_leaders_places *places, int process);

/* Nobody writes there from now on. */
void vm_leaders_places_close(struct vm_leaders_places *places);

/* Fills the place that a process has for this one, by its card of the meeting `told`,
 * and says so: true; or says that it has not. */
bool vm_leaders_place_fill(struct vm_leaders_data *talk,
			   const struct vm_meet *told, int process,
			   const struct vm_data *data);

#endif
