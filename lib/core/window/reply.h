/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to the packets of a window in memory that processes share: who has
 * asked looks at a word of its own, and the target's process stores there, so
 * that an answer is no packet.
 *
 * Each member has a row of words, by target, for "all is done that came before",
 * and places for data.  Who does not want to look any longer asks by a packet
 * (wire.h), whose answer comes behind all that was stored.
 */
#ifndef CORE_WINDOW_REPLY_H
#define CORE_WINDOW_REPLY_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/copy.h"
#include "core/window/window.h"

#define VM_WINDOW_REPLIES 64 /* places of a member; it uses them in turn */
#define VM_WINDOW_REPLY_BYTES 2048

/* Memory of zeros is one that nothing has come to. */
struct vm_window_told {
	uint32_t error;	       /* of the layer above; who waits clears it */
	_Atomic uint32_t come; /* the number of the last one */
};

/* A few data are in the same line; all places of them are a page. */
struct vm_window_reply {
	struct vm_window_told told;
	char few[VM_CACHELINE - sizeof(struct vm_window_told)];
};

/* What a member has. */
struct vm_window_replies {
	struct vm_window_reply places[VM_WINDOW_REPLIES];
	char data[VM_WINDOW_REPLIES][VM_WINDOW_REPLY_BYTES];
} VM_ALIGNED(VM_CACHELINE);

static inline void vm_window_tell(struct vm_window_told *told, uint32_t number,
				  uint32_t error)
{
	if (VM_UNLIKELY(error))
		told->error = error;
	/* Pairs with the load in vm_window_has_come(). */
	atomic_store_explicit(&told->come, number, memory_order_release);
}

static inline struct vm_window_reply *
vm_window_reply(const struct vm_window_place *place, uint32_t number)
{
	return &place->replies->places[number % VM_WINDOW_REPLIES];
}

/* Where so many bytes of data go; both sides know how many. */
static inline char *vm_window_reply_data(const struct vm_window_place *place,
					 uint32_t number, size_t bytes)
{
	struct vm_window_reply *reply = vm_window_reply(place, number);

	return bytes <= sizeof(reply->few) ?
		       reply->few :
		       place->replies->data[number % VM_WINDOW_REPLIES];
}

#endif
