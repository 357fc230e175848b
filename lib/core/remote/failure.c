/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks per port and process, and the search for receives and probes that can
 * never complete.
 *
 * A receive knows its context only; the ranks that its message may come from
 * are looked up in the channels of the rank.
 */
#include "core/remote/failure.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/state.h"

#define BATCH 64 /* receives ended under one lock */

int vm_failure_init(struct vm_node *node)
{
	size_t ports = vm_fabric_limits(node->fabric)->ports;

	node->failure.marks = calloc(ports * (size_t)node->process_room,
				     sizeof(*node->failure.marks));
	return node->failure.marks ? 0 : -VMPI_ENOMEM;
}

void vm_failure_fini(struct vm_node *node)
{
	free(node->failure.marks);
	node->failure.marks = NULL;
}

/* A process may have left after it has done all it had to, or have died. */
enum { HERE, LEFT, DIED };

/* The mark of a process, as the port has seen it. */
static _Atomic uint8_t *mark_of(const struct vm_port *port, uint32_t process)
{
	return &vm_node->failure.marks[vm_port_index(port) *
					       (size_t)vm_node->process_room +
				       process];
}

static bool has_failed(const struct vm_rank *rank)
{
	return atomic_load_explicit(&rank->failed, memory_order_relaxed);
}

static uint8_t mark(const struct vm_rank *rank, const struct vm_rank *source)
{
	if (has_failed(source))
		return DIED;
	if (!vm_node->failure.marks)
		return HERE;
	return atomic_load_explicit(mark_of(rank->port, source->to.process),
				    memory_order_relaxed);
}

/* Whether the process of the rank with that number in the job is gone; that a
 * rank of another job is gone ends the wait for it elsewhere. */
static bool is_lost_in_job(const struct vm_rank *rank, int source)
{
	if (source < 0 || source >= vm_node->rank_room)
		return false;
	if (has_failed(&vm_node->ranks[source]))
		return true;
	if (!vm_node->failure.marks)
		return false;
	return atomic_load_explicit(mark_of(rank->port, vm_process_of(source)),
				    memory_order_relaxed) != HERE;
}

static bool is_lost(const struct vm_rank *rank, const struct vm_rank *source)
{
	return mark(rank, source) != HERE;
}

/* Whether a leader of a channel waits in vain for another one: when any process
 * has died the others may have given up (core/meeting/leaders.h). */
static bool far_lost(const struct vm_rank *rank, const struct vm_chan *chan,
		     int source)
{
	const struct vm_group *group = chan->group;

	if (source < 0 || source >= group->size ||
	    is_lost(rank, group->ranks[source]))
		return true;
	for (int i = 0; i < group->size; i++)
		if (mark(rank, group->ranks[i]) == DIED)
			return true;
	return false;
}

/* Whether the program knows that the member has failed, and has said so. */
static bool is_acked(const struct vm_chan *chan, long member)
{
	const struct vm_chan_faults *faults = chan->faults;

	for (int i = 0; faults && i < faults->acked; i++)
		if (faults->members[i] == member)
			return true;
	return false;
}

/* Whether a message of that number in the channel, or of any, may be
 * missing. */
static bool chan_lost(const struct vm_rank *rank, const struct vm_chan *chan,
		      const struct vm_env *env)
{
	int source = env->source;

	if (env->context != chan->context && vm_chan_is_leaders_tag(env->tag))
		return far_lost(rank, chan, source);
	/* Collectives number all members. */
	if (env->context != chan->context)
		return source >= 0 && source < chan->group->size &&
		       is_lost(rank, chan->group->ranks[source]);
	if (source != VM_ANY)
		return source >= 0 && source < chan->source_count &&
		       is_lost(rank, chan->sources[source]);
	for (int i = 0; i < chan->source_count; i++)
		if (is_lost(rank, chan->sources[i]) &&
		    !is_acked(chan, chan->sources + i - chan->group->ranks))
			return true;
	return false;
}

/* The rank's channel of a context, or NULL; chans_lock is held. */
static const struct vm_chan *chan_of(const struct vm_rank *rank,
				     uint32_t context)
{
	const struct vm_list *link;

	vm_list_each(link, &rank->chans) {
		const struct vm_chan *chan =
			vm_container_of(link, const struct vm_chan, link);

		if (chan->context == context)
			return chan;
	}
	return NULL;
}

int vm_failure_wanted_slow(const struct vm_rank *rank, const struct vm_env *env)
{
	const struct vm_chan *chan;
	/* The senders of a freed channel are unknown. */
	int rc = atomic_load_explicit(&vm_node->failure.down,
				      memory_order_relaxed) ?
			 -VMPI_EPEER :
			 0;

	/* Whoever else is there may still come. */
	if ((env->context & ~1u) == VM_CONTEXT_JOB)
		return env->source != VM_ANY &&
				       is_lost_in_job(rank, env->source) ?
			       -VMPI_EPEER :
			       0;
	vm_lock_take(&vm_node->chans_lock);
	chan = chan_of(rank, env->context & ~1u);
	if (chan)
		rc = chan_lost(rank, chan, env) ? -VMPI_EPEER : 0;
	if (chan && atomic_load_explicit(&chan->revoked, memory_order_relaxed))
		rc = -VMPI_EREVOKED;
	vm_lock_give(&vm_node->chans_lock);
	return rc;
}

bool vm_failure_stalls(struct vm_req *req, int error)
{
	const struct vm_env *env = &req->node.env;
	const struct vm_chan *chan;
	bool stalls;

	if (error != -VMPI_EPEER || env->source != VM_ANY || req->transient)
		return false;
	vm_lock_take(&vm_node->chans_lock);
	chan = chan_of(req->rank, env->context);
	/* Only a layer above knows receives that fail and stay. */
	stalls = chan && chan->user;
	vm_lock_give(&vm_node->chans_lock);
	return stalls && vm_req_stall(req);
}

static void stalled_look(struct vm_match_node *node, void *arg)
{
	struct vm_req *req = vm_container_of(node, struct vm_req, node);

	if (!vm_failure_wanted(arg, &node->env))
		vm_req_unstall(req);
}

void vm_failure_acked(struct vm_rank *rank)
{
	vm_engine_lock(rank->engine);
	vm_match_each(&rank->match.posted, stalled_look, rank);
	vm_engine_unlock(rank->engine);
}

void vm_failure_settle(struct vm_req *req)
{
	struct vm_engine *engine = req->rank->engine;
	bool posted;

	vm_engine_lock(engine);
	posted = req->posted;
	if (posted) {
		req->posted = false;
		vm_match_unpost(&req->rank->match, &req->node);
	}
	vm_engine_unlock(engine);
	if (!posted) {
		/* A message has come after all. */
		vm_req_unstall(req);
		vm_req_await(&req, 1, 1);
		return;
	}
	req->status = (vmpi_status){ .source = VM_ANY,
				     .tag = req->node.env.tag,
				     .error = -VMPI_EPEER };
	vm_req_complete(req);
}

/* What any port has seen of a process. */
static int fate(uint32_t process)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	int seen = HERE;

	for (unsigned i = 0; i < ports; i++) {
		int one = atomic_load_explicit(
			mark_of(vm_fabric_port(vm_node->fabric, i), process),
			memory_order_relaxed);

		seen = one > seen ? one : seen;
	}
	return seen;
}

#define RANKS_MAX 64

/* Writes "rank 3" or "ranks 2-3, 7": those of the process, or the first. */
static void ranks_text(char text[RANKS_MAX], uint32_t process)
{
	int first = -1, count = 0;
	char list[RANKS_MAX] = "";
	size_t used = 0;

	for (int i = 0; i <= vm_node->rank_count; i++) {
		bool in = i < vm_node->rank_count &&
			  vm_node->ranks[i].to.process == process;

		count += in;
		if (in && first < 0)
			first = i;
		if (in || first < 0)
			continue;
		if (used + 32 < sizeof(list))
			used += (size_t)snprintf(
				list + used, sizeof(list) - used,
				i - first > 1 ? "%s%d-%d" : "%s%d",
				used ? ", " : "", first, i - 1);
		first = -1;
	}
	snprintf(text, RANKS_MAX, "rank%s %.*s", count == 1 ? "" : "s",
		 RANKS_MAX - 8, list);
}

bool vm_failure_text(char *text, size_t bytes)
{
	static const char *const fates[] = { "", "has left", "has died" };
	uint32_t processes = (uint32_t)vm_node->process_count;
	size_t used = 0;

	for (uint32_t p = 0; vm_node->fabric && p < processes; p++) {
		char ranks[RANKS_MAX];
		int seen = fate(p);

		/* Of many, the first ones. */
		if (seen == HERE || used + RANKS_MAX + 40 > bytes)
			continue;
		ranks_text(ranks, p);
		used += (size_t)snprintf(text + used, bytes - used,
					 "%snode %u (%s) %s", used ? ", " : "",
					 p, ranks, fates[seen]);
	}
	return used != 0;
}

bool vm_failure_died(const struct vm_rank *rank)
{
	return has_failed(rank) || (vm_node->fabric && !vm_rank_here(rank) &&
				    fate(rank->to.process) == DIED);
}

bool vm_failure_gone(const struct vm_rank *rank)
{
	return has_failed(rank) ||
	       (vm_node->fabric && !vm_rank_here(rank) &&
		!vm_fabric_peer_alive(vm_node->fabric, rank->to.process));
}

bool vm_failure_any(void)
{
	return atomic_load_explicit(&vm_node->failure.down,
				    memory_order_relaxed) ||
	       (vm_node->fabric && vm_fabric_deaths(vm_node->fabric));
}

struct batch {
	struct vm_rank *rank;
	struct vm_req *reqs[BATCH];
	int errors[BATCH];
	int count;
};

static void posted_look(struct vm_match_node *node, void *arg)
{
	struct vm_req *req = vm_container_of(node, struct vm_req, node);
	struct batch *batch = arg;
	int error = batch->count < BATCH ?
			    vm_failure_wanted(batch->rank, &node->env) :
			    0;

	if (!error || vm_failure_stalls(req, error))
		return;
	batch->errors[batch->count] = error;
	batch->reqs[batch->count++] = req;
}

/* Takes receives out that wait in vain; the lock is held. */
static void batch_take(struct batch *batch)
{
	batch->count = 0;
	vm_match_each(&batch->rank->match.posted, posted_look, batch);
	for (int i = 0; i < batch->count; i++) {
		batch->reqs[i]->posted = false;
		vm_match_unpost(&batch->rank->match, &batch->reqs[i]->node);
	}
}

static void batch_end(struct batch *batch)
{
	for (int i = 0; i < batch->count; i++) {
		struct vm_req *req = batch->reqs[i];

		req->status = (vmpi_status){ .source = req->node.env.source,
					     .tag = req->node.env.tag,
					     .error = batch->errors[i] };
		vm_req_complete(req);
	}
}

/* The lock is held. */
static void probers_end(struct vm_rank *rank)
{
	struct vm_list *link = rank->probers.next;

	while (link != &rank->probers) {
		struct vm_prober *prober =
			vm_container_of(link, struct vm_prober, link);

		int error = vm_failure_wanted(rank, &prober->env);

		link = link->next;
		if (!error)
			continue;
		prober->error = error;
		vm_prober_end(prober);
	}
}

/* Ends what waits in vain. */
static void rank_down(struct vm_rank *rank)
{
	struct batch batch = { .rank = rank };

	do {
		vm_engine_lock(rank->engine);
		atomic_store_explicit(&rank->peer_failed, true,
				      memory_order_relaxed);
		probers_end(rank);
		batch_take(&batch);
		vm_engine_unlock(rank->engine);
		batch_end(&batch);
	} while (batch.count);
}

/* Whether the rank has a channel with a rank of that process. */
static bool has_member(const struct vm_rank *rank, uint32_t process)
{
	const struct vm_list *link;
	bool found = false;

	vm_lock_take(&vm_node->chans_lock);
	vm_list_each(link, &rank->chans) {
		const struct vm_group *group =
			vm_container_of(link, const struct vm_chan, link)
				->group;

		for (int i = 0; i < group->size && !found; i++)
			found = group->ranks[i]->to.process == process;
	}
	vm_lock_give(&vm_node->chans_lock);
	return found;
}

void vm_failure_down(struct vm_port *port, uint32_t process, bool died)
{
	bool guest = process >= (uint32_t)vm_node->process_count;

	atomic_store_explicit(mark_of(port, process), died ? DIED : LEFT,
			      memory_order_relaxed);
	/* Those whose ranks are disconnected from a guest wait for nothing. */
	for (int i = 0; i < vm_own_count(); i++) {
		struct vm_rank *rank = vm_node->own[i];

		if (rank->port != port || (guest && !has_member(rank, process)))
			continue;
		/* Read under the locks that rank_down() takes. */
		atomic_store_explicit(&vm_node->failure.down, true,
				      memory_order_relaxed);
		rank_down(rank);
	}
}

bool vm_failure_seen(uint32_t process)
{
	return fate(process) != HERE;
}

void vm_failure_sweep(void)
{
	for (int i = 0; i < vm_own_count(); i++)
		rank_down(vm_node->own[i]);
}
