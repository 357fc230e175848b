/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A list of guests by number, and one of their ranks by index.  Both only grow;
 * readers of the ranks take no lock.
 */
#include "core/runtime/guests.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/local/engine.h"
#include "core/rank/context.h"
#include "core/rank/numbers.h"
#include "core/remote/failure.h"
#include "core/runtime/helper.h"
#include "core/runtime/node.h"
#include "core/runtime/process.h"
#include "core/runtime/spares.h"
#include "core/service/thread.h"

#define RANKS_MAX (1 << 20)
#define LOOK_NS 1000000000u /* between looks whether guests live */
#define OPENING_NS 50000    /* ... whether a helper is ready */

struct guest {
	uint64_t job;
	int32_t process;
	bool connected;
	struct vm_look look; /* of the service thread */
};

struct vm_guests {
	struct vm_lock lock; /* guards what follows */
	int count;
	struct vm_rank **ranks; /* [vm_node->guest_ranks] */
	struct guest list[];
};

/* The thread asks all of them whether they live: nobody else would say so. */
static void guests_look(void *arg, uint64_t now_ns)
{
	struct vm_guests *guests = arg;
	int count;

	(void)now_ns;
	vm_lock_take(&guests->lock);
	count = guests->count;
	vm_lock_give(&guests->lock);
	for (int i = 0; i < count; i++) {
		uint32_t number = (uint32_t)(vm_node->process_count + i);

		if (guests->list[i].connected && !vm_failure_seen(number))
			vm_fabric_look(vm_node->fabric, number,
				       &guests->list[i].look);
	}
}

/* Makes the lists, and the fabric if there is none. */
static int guests_make(void)
{
	size_t room = (size_t)(vm_node->process_room - vm_node->process_count);
	struct vm_guests *guests;
	int rc = vm_node->fabric ? 0 : vm_node_fabric_open();

	if (rc)
		return rc;
	guests = calloc(1, sizeof(*guests) + room * sizeof(struct guest));
	if (guests)
		guests->ranks = calloc(RANKS_MAX, sizeof(struct vm_rank *));
	if (!guests || !guests->ranks) {
		free(guests);
		return -VMPI_ENOMEM;
	}
	vm_lock_init(&guests->lock);
	rc = vm_contexts_share();
	if (!rc && vm_service_every(LOOK_NS, guests_look, guests) < 0)
		rc = -VMPI_ELIMIT;
	if (rc) {
		free(guests->ranks);
		free(guests);
		return rc;
	}
	vm_node->guests = guests;
	return 0;
}

/* A helper does it, as threads of ranks are the program's. */
struct guests_opening {
	struct vm_helper_job job;
	int rc;
	_Atomic bool done;
};

static void opening_run(struct vm_helper_job *job)
{
	struct guests_opening *opening =
		vm_container_of(job, struct guests_opening, job);

	opening->rc = guests_make();
	/* Pairs with the load of who waits. */
	atomic_store_explicit(&opening->done, true, memory_order_release);
}

static int guests_open(void)
{
	struct guests_opening opening = { .job.run = opening_run };

	/* What has failed once is not tried again. */
	if (vm_node->guests || vm_node->guests_error)
		return vm_node->guests_error;
	vm_helper_do(vm_node->helpers, &opening.job);
	while (!atomic_load_explicit(&opening.done, memory_order_acquire))
		vm_ult_sleep(OPENING_NS);
	vm_node->guests_error = opening.rc;
	return opening.rc;
}

int vm_guest_card(struct vm_guest_card *card)
{
	int rc, bytes;

	while (!vm_lock_try(&vm_node->spares.guests_lock))
		vm_ult_yield();
	rc = guests_open();
	vm_lock_give(&vm_node->spares.guests_lock);
	if (rc)
		return rc;
	bytes = vm_fabric_address(vm_node->fabric, card->address,
				  sizeof(card->address));
	if (bytes < 0)
		return bytes;
	card->job = vm_process_job_number();
	card->job_key = vm_fabric_key(vm_node->fabric);
	card->process = vm_node->process;
	card->apart = vm_node->apart;
	card->bytes = bytes;
	return 0;
}

/* Under lock: the place of a guest in the list, or -1. */
static int guest_find(uint64_t job, int32_t process)
{
	const struct vm_guests *guests = vm_node->guests;

	for (int i = 0; i < guests->count; i++)
		if (guests->list[i].job == job &&
		    guests->list[i].process == process)
			return i;
	return -1;
}

/* Under lock: a new place, or -VMPI_ELIMIT. */
static int guest_new(const struct vm_guest_card *card)
{
	struct vm_guests *guests = vm_node->guests;

	if (guests->count == vm_node->process_room - vm_node->process_count)
		return -VMPI_ELIMIT;
	guests->list[guests->count] = (struct guest){
		.job = card->job,
		.process = card->process,
	};
	return guests->count++;
}

int vm_guest_number(const struct vm_guest_card *card)
{
	int place;

	if (!card->apart != !vm_node->apart) {
		vm_log(VM_ERROR, "two jobs cannot be connected of which one "
				 "was started with --keep-going=ranks");
		return -VMPI_ENOTSUP;
	}

	if (card->job == vm_process_job_number())
		return card->process;
	vm_lock_take(&vm_node->guests->lock);
	place = guest_find(card->job, card->process);
	if (place < 0)
		place = guest_new(card);
	vm_lock_give(&vm_node->guests->lock);
	if (place >= 0)
		return vm_node->process_count + place;
	vm_log(VM_ERROR,
	       "this process knows %d processes of other jobs already; "
	       "core_connect_max is the limit",
	       vm_node->guests->count);
	return place;
}

int vm_guest_connect(int number, const struct vm_guest_card *card, int there)
{
	struct vm_fabric_guest guest = {
		.address = card->address,
		.bytes = (size_t)card->bytes,
		.job_key = card->job_key,
		.there = (uint32_t)there,
	};
	int rc = 0, place = number - vm_node->process_count;

	if (place < 0)
		return 0;
	vm_lock_take(&vm_node->guests->lock);
	if (!vm_node->guests->list[place].connected)
		rc = vm_fabric_connect_guest(vm_node->fabric, (uint32_t)number,
					     &guest);
	if (!rc)
		vm_node->guests->list[place].connected = true;
	vm_lock_give(&vm_node->guests->lock);
	return rc;
}

static struct vm_rank *guest_rank_find(int number, int32_t there)
{
	int count = vm_rank_limit() - vm_node->rank_room;

	for (int i = 0; i < count; i++) {
		struct vm_rank *rank = vm_node->guests->ranks[i];

		if (rank->there == there &&
		    rank->to.process == (uint32_t)number)
			return rank;
	}
	return NULL;
}

/* Under lock. */
static int guest_rank_new(int number, const struct vm_rank_name *name)
{
	int count = vm_rank_limit() - vm_node->rank_room;
	struct vm_rank *rank;

	rank = count < RANKS_MAX ?
		       aligned_alloc(_Alignof(struct vm_rank), sizeof(*rank)) :
		       NULL;
	if (!rank)
		return -VMPI_ENOMEM;
	memset(rank, 0, sizeof(*rank));
	rank->index = vm_node->rank_room + count;
	rank->there = name->number;
	rank->to = (struct vm_to){ (uint32_t)number, (uint32_t)name->port };
	rank->engine = rank->via = &vm_engine_remote;
	vm_node->guests->ranks[count] = rank;
	/* Pairs with the load in vm_rank_limit(). */
	atomic_store_explicit(&vm_node->guest_ranks, count + 1,
			      memory_order_release);
	return 0;
}

int vm_guest_rank(int number, const struct vm_rank_name *name)
{
	int rc = 0;

	if (number < vm_node->process_count)
		return 0;
	if (name->number < 0 || name->port < 0 ||
	    (unsigned)name->port >=
		    vm_fabric_peer_ports(vm_node->fabric, (uint32_t)number))
		return -VMPI_EINVAL;
	vm_lock_take(&vm_node->guests->lock);
	if (!guest_rank_find(number, name->number))
		rc = guest_rank_new(number, name);
	vm_lock_give(&vm_node->guests->lock);
	return rc;
}

static uint64_t job_of(const struct vm_rank *rank)
{
	int place = (int)rank->to.process - vm_node->process_count;

	return place < 0 ? vm_process_job_number() :
			   vm_node->guests->list[place].job;
}

struct vm_rank_name vm_rank_name(const struct vm_rank *rank)
{
	return (struct vm_rank_name){ .job = job_of(rank),
				      .number = rank->there,
				      .port = (int32_t)rank->to.port };
}

struct vm_rank *vm_rank_named(const struct vm_rank_name *name)
{
	int count = vm_rank_limit() - vm_node->rank_room;

	if (name->job == vm_process_job_number())
		return name->number >= 0 && name->number < vm_node->rank_room ?
			       vm_rank_at(name->number) :
			       NULL;
	for (int i = 0; i < count; i++) {
		struct vm_rank *rank = vm_node->guests->ranks[i];

		if (rank->there == name->number && job_of(rank) == name->job)
			return rank;
	}
	return NULL;
}

/* Not a number in any job. */
#define FAR_SOURCE 0x40000000

int32_t vm_rank_source(const struct vm_rank *from, const struct vm_rank *to)
{
	uint64_t x;

	if (job_of(from) == job_of(to))
		return from->there;
	x = job_of(from) + (uint64_t)from->there * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (int32_t)(x >> 34) | FAR_SOURCE;
}

bool vm_guests_alive(void)
{
	struct vm_guests *guests = vm_node->guests;
	bool found = false;

	if (!guests)
		return false;
	vm_lock_take(&guests->lock);
	for (int i = 0; i < guests->count && !found; i++)
		found = guests->list[i].connected &&
			!vm_failure_seen(
				(uint32_t)(vm_node->process_count + i));
	vm_lock_give(&guests->lock);
	return found;
}

void vm_guests_fini(struct vm_node *node)
{
	struct vm_guests *guests = node->guests;
	int count = atomic_load(&node->guest_ranks);

	if (!guests)
		return;
	for (int i = 0; i < guests->count; i++)
		vm_fabric_look_end(&guests->list[i].look);
	for (int i = 0; i < count; i++)
		free(guests->ranks[i]);
	free(guests->ranks);
	free(guests);
	node->guests = NULL;
	vm_numbers_close();
}
