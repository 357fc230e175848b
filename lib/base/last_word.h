/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word: of the processes of a job that end for one reason, one says it.
 *
 * vmpirun makes a descriptor that its node processes inherit.  Who is about to
 * say why the job ends takes the word first, and gives it back when that is
 * written; whoever comes later finds that all has been said, and ends without a
 * line of its own.  A process without a descriptor always has the word.
 */
#ifndef BASE_LAST_WORD_H
#define BASE_LAST_WORD_H

#include <stdbool.h>

/* A new descriptor, closed on exec; -1: there is none. */
int vm_last_word_new(void);

/* From now on this process takes the word by fd; -1: it has it. */
void vm_last_word_set(int fd);

/*
 * Whether this process may say why the job ends: it is the first, or was before.
 * Waits until who is speaking has spoken, but no longer than a second.  Signal
 * handlers may call it.  After true, vm_last_word_give() once it is written.
 */
bool vm_last_word_take(void);
void vm_last_word_give(void);

/* While `starting`, every error that is logged is why the job ends. */
void vm_last_word_start(bool starting);
bool vm_last_word_starting(void);

#endif
