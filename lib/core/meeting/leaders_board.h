/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that a process puts where all others of its host read them: as soon as its
 * card has told where, it needs nobody to go on.
 */
#ifndef CORE_MEETING_LEADERS_BOARD_H
#define CORE_MEETING_LEADERS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_leaders;
struct vm_leaders_card;
struct vm_meet;

/* Whether this process reads the boards of all others. */
bool vm_leaders_board_reaches(const struct vm_leaders *leaders);

/* Memory on the board of this process, of which the card tells, until so many have
 * read it, of whom this one may be one.  NULL: there is none. */
char *vm_leaders_board_post(struct vm_leaders_card *card, size_t bytes,
			    uint32_t readers);

/* Nobody will read it. */
void vm_leaders_board_take_back(struct vm_leaders_card *card);

/* What a process, maybe this one, tells in a meeting whose cards have come, of so
 * many bytes; NULL: nothing.  And that it has been read. */
const char *vm_leaders_board_of(const struct vm_meet *meet, int process,
				size_t bytes);
void vm_leaders_board_read(const struct vm_meet *meet, int process);

/* The same of a card that is not of this call. */
void vm_leaders_board_drop(const struct vm_leaders *leaders, int process,
			   const struct vm_leaders_card *card);

#endif
