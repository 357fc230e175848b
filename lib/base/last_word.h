/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last word: of the processes of a job that end for one reason, one prints
 * it.
 *
 * vmpirun makes a descriptor that its node processes inherit.  A process that
 * is about to print why the job ends takes the last word first, and gives it
 * back when the line is written; any later process finds it taken, and ends
 * without a line of its own.  A process without a descriptor always has
 * the last word.
 */
#ifndef BASE_LAST_WORD_H
#define BASE_LAST_WORD_H

#include <stdbool.h>

/* Makes a descriptor, closed on exec; -1: failed. */
int vm_last_word_new(void);

/* Sets the descriptor from which this process takes the last word; -1: always
 * has it. */
void vm_last_word_set(int fd);

/*
 * Whether this process may print why the job ends: it is the first, or was
 * before.  Waits until another process has finished printing, for at most a
 * few seconds.  Async-signal-safe.  After true, call vm_last_word_give() once the
 * line is written.
 */
bool vm_last_word_take(void);
void vm_last_word_give(void);

/* Whether another process has said, or is saying, why the job ends; false
 * without a descriptor. */
bool vm_last_word_said(void);

/* How many errors this process has logged; vm_log() counts them. */
void vm_last_word_count(void);
unsigned vm_last_word_counted(void);

/* Sets whether every error that is logged from now on is why the job ends. */
void vm_last_word_start(bool starting);
bool vm_last_word_starting(void);

#endif
