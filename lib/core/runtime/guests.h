/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Guests: processes of other jobs that this one has got to know, and their
 * ranks.
 *
 * Each process numbers its guests itself, behind the processes of its job, and
 * their ranks behind the ranks of its job.  What ranks of several jobs tell each
 * other about ranks are therefore names.
 */
#ifndef CORE_RUNTIME_GUESTS_H
#define CORE_RUNTIME_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rank/state.h"
#include "fabric/fabric.h"

/* Of a rank, anywhere. */
struct vm_rank_name {
	uint64_t job;	/* vm_process_job_number() there */
	int32_t number; /* in its job */
	int32_t port;	/* its home port, of its process */
};

struct vm_rank_name vm_rank_name(const struct vm_rank *rank);

/* The rank with that name; NULL: this process does not know it. */
struct vm_rank *vm_rank_named(const struct vm_rank_name *name);

/* The source of messages from one rank to another in the context of the job: a
 * number in the job, or, where these differ, one made of its name. */
int32_t vm_rank_source(const struct vm_rank *from, const struct vm_rank *to);

/* What another process has to know about one. */
struct vm_guest_card {
	uint64_t job, job_key;
	int32_t process; /* in its job */
	int32_t apart;	 /* vm_node->apart, in which both must agree */
	int32_t bytes;	 /* of the address of its fabric */
	int32_t unused;
	unsigned char address[VM_ADDRESS_MAX];
};

/* Bytes of a card with its address; what is behind them need not be sent. */
static inline size_t vm_guest_card_bytes(const struct vm_guest_card *card)
{
	return offsetof(struct vm_guest_card, address) + (size_t)card->bytes;
}

/* Fills in our own; opens the fabric if need be: 0 or an error (logged).  May
 * switch. */
int vm_guest_card(struct vm_guest_card *card);

/*
 * The number of the process with that card, which may be one of the own job; a
 * new one if it was not known.  Logged: -VMPI_ELIMIT: there are core_connect_max
 * already; -VMPI_ENOTSUP: its job works in another way.
 */
int vm_guest_number(const struct vm_guest_card *card);

/* Makes it possible to talk to the process with that number, which knows us by
 * the number `there`.  Nothing is to be done the second time.  0, or an error
 * (logged). */
int vm_guest_connect(int number, const struct vm_guest_card *card, int there);

/* Makes a rank of that process known: 0, -VMPI_EINVAL, -VMPI_ENOMEM. */
int vm_guest_rank(int number, const struct vm_rank_name *name);

/* Whether there is a guest that lives, as far as this process has seen. */
bool vm_guests_alive(void);

/* When the runtime stops. */
void vm_guests_fini(struct vm_node *node);

#endif
