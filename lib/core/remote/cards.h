/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages between leaders of collectives in processes that share cores, of
 * which each has an envelope of its own: they stay in the lane of their sender
 * (fabric/lanes.h) until they are wanted.
 */
#ifndef CORE_REMOTE_CARDS_H
#define CORE_REMOTE_CARDS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rank/match.h"

struct vm_card;
struct vm_rank;
struct vm_ult;

/* Sends one; false: nothing has been sent, it is to be a message.  May switch. */
bool vm_cards_send(struct vm_ult *self, const struct vm_rank *dest,
		   struct vm_env env, const void *addr, size_t bytes);

/* Whether the next one from a rank of another process is that for `rank` with this
 * envelope, of at most *bytes: then it is taken, and *bytes are at addr. */
bool vm_cards_recv(struct vm_ult *self, const struct vm_rank *rank,
		   const struct vm_rank *source, struct vm_env env, void *addr,
		   size_t *bytes);

/* The fabric has one (config.card). */
bool vm_cards_take(void *arg, const struct vm_card *card, bool must);

#endif
