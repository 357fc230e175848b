/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In each round a member sends one message to each other one that lives, and
 * gets one from it.  Its last message says that it has decided, so none is left
 * over.
 */
#include "mpi/fault/agree.h"

#include <stdlib.h>
#include <string.h>

#include "core/comm/p2p.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "core/runtime/guests.h"
#include "core/remote/failure.h"
#include "mpi/comm/comm.h"

struct vm_chan_faults *vm_faults_look(struct vm_chan *chan)
{
	const struct vm_group *group = chan->group;
	struct vm_chan_faults *faults = chan->faults;

	for (int i = 0; i < group->size; i++) {
		bool known = false;

		if (!vm_failure_died(group->ranks[i]))
			continue;
		for (int k = 0; faults && k < faults->count && !known; k++)
			known = faults->members[k] == i;
		if (known)
			continue;
		if (!faults)
			faults = chan->faults = calloc(
				1, sizeof(*faults) +
					   (size_t)group->size * sizeof(int));
		if (!faults)
			return NULL;
		faults->members[faults->count++] = i;
	}
	return faults;
}

static size_t vote_bytes(const struct vm_group *group)
{
	return sizeof(struct vm_vote) + (size_t)group->size;
}

struct vm_vote *vm_vote_new(struct vm_comm *comm, int flag)
{
	struct vm_chan *chan = comm->chan;
	struct vm_vote *vote = calloc(1, vote_bytes(chan->group));
	const struct vm_chan_faults *faults;

	if (!vote)
		return NULL;
	vote->context = chan->context;
	vote->number = chan->agreements++;
	vote->flag = flag;
	vote->chooser = chan->rank;
	vote->new_context = vm_context_new();
	vm_lock_take(&vm_node->chans_lock);
	faults = vm_faults_look(chan);
	for (int i = 0; faults && i < faults->count; i++)
		vote->marks[faults->members[i]] =
			VM_VOTE_FAILED |
			(i < faults->acked ? 0 : VM_VOTE_UNACKED);
	vm_lock_give(&vm_node->chans_lock);
	return vote;
}

/* Takes in what another member knows. */
static void vote_add(struct vm_vote *vote, const struct vm_vote *theirs,
		     int size)
{
	vote->flag &= theirs->flag;
	if (theirs->chooser < vote->chooser) {
		vote->chooser = theirs->chooser;
		vote->new_context = theirs->new_context;
	}
	for (int i = 0; i < size; i++)
		vote->marks[i] |= theirs->marks[i];
}

/* The messages of one agreement with one other member. */
struct peer {
	struct vm_req *send, *recv;
	struct vm_vote *theirs;
	bool gone;	    /* it has failed, or left */
	bool decided;	    /* it sends nothing any more */
	bool heard, before; /* in this round, in the one before */
};

struct agreement {
	struct vm_vote *vote, *sent;
	const struct vm_group *group;
	int me;
	struct vm_env env;
	struct peer *peers;
};

/* FNV-1a. */
static int32_t tag_of(const struct vm_vote *vote)
{
	const uint32_t words[2] = { vote->context, vote->number };
	const unsigned char *at = (const unsigned char *)words;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < sizeof(words); i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return vm_comm_hash_tag(hash ^ hash >> 32);
}

static bool talks(const struct agreement *a, int i)
{
	return i != a->me && !a->peers[i].gone && !a->peers[i].decided;
}

/* Waits for a message of a peer; false: there is none. */
static bool message_wait(struct vm_req **req)
{
	vmpi_status status = { 0 };
	int rc;

	if (!*req)
		return false;
	vm_req_await(req, 1, 1);
	rc = vm_req_finish(*req, &status);
	*req = NULL;
	return rc == 0;
}

/* The member has failed, or left. */
static void peer_lost(struct agreement *a, int i)
{
	a->peers[i].gone = true;
	if (!(a->vote->marks[i] & VM_VOTE_FAILED))
		a->vote->marks[i] |= VM_VOTE_FAILED | VM_VOTE_UNACKED;
}

/* Sends the vote as it is to all that listen. */
static void round_send(struct agreement *a)
{
	struct vm_env env = a->env;
	size_t bytes = vote_bytes(a->group);
	struct vm_data data = vm_data_bytes(a->sent, bytes);

	memcpy(a->sent, a->vote, bytes);
	for (int i = 0; i < a->group->size; i++) {
		env.source = vm_rank_source(vm_rank_self(), a->group->ranks[i]);
		if (talks(a, i) &&
		    vm_isend(a->group->ranks[i], env, &data, VM_SEND_STANDARD,
			     &a->peers[i].send))
			peer_lost(a, i);
	}
}

/* Gets a message of each of them; whether one has decided, whose vote becomes
 * the caller's. */
static bool round_receive(struct agreement *a)
{
	size_t bytes = vote_bytes(a->group);
	bool decided = false;

	for (int i = 0; i < a->group->size; i++) {
		struct vm_env env = a->env;
		struct vm_data data = vm_data_bytes(a->peers[i].theirs, bytes);

		env.source = vm_rank_source(a->group->ranks[i], vm_rank_self());
		if (talks(a, i) && vm_irecv(env, &data, &a->peers[i].recv))
			peer_lost(a, i);
	}
	for (int i = 0; i < a->group->size; i++) {
		struct peer *peer = &a->peers[i];

		peer->before = peer->heard;
		peer->heard = false;
		if (!talks(a, i))
			continue;
		peer->heard = message_wait(&peer->recv);
		if (!peer->heard)
			peer_lost(a, i);
		else if (peer->theirs->decided)
			peer->decided = true;
	}
	for (int i = 0; i < a->group->size; i++)
		message_wait(&a->peers[i].send);
	for (int i = 0; i < a->group->size && !decided; i++) {
		decided = a->peers[i].heard && a->peers[i].decided;
		if (decided)
			memcpy(a->vote, a->peers[i].theirs, bytes);
	}
	for (int i = 0; i < a->group->size && !decided; i++)
		if (a->peers[i].heard)
			vote_add(a->vote, a->peers[i].theirs, a->group->size);
	return decided;
}

/* Whether the same members were heard of as in the round before. */
static bool is_stable(const struct agreement *a)
{
	for (int i = 0; i < a->group->size; i++)
		if (i != a->me && a->peers[i].heard != a->peers[i].before)
			return false;
	return true;
}

/* Until the others have decided, too, or failed. */
static void others_await(struct agreement *a)
{
	size_t bytes = vote_bytes(a->group);

	for (int i = 0; i < a->group->size; i++) {
		struct peer *peer = &a->peers[i];
		struct vm_env env = a->env;
		struct vm_data data = vm_data_bytes(peer->theirs, bytes);

		env.source = vm_rank_source(a->group->ranks[i], vm_rank_self());
		while (talks(a, i)) {
			peer->gone = vm_recv(env, &data, NULL) != 0;
			peer->decided = peer->theirs->decided;
		}
		message_wait(&peer->send);
	}
}

static void agree(struct agreement *a)
{
	bool decided = false;

	/* Before the first round all are taken to live. */
	for (int i = 0; i < a->group->size; i++)
		a->peers[i].heard = i != a->me;
	while (!decided) {
		round_send(a);
		decided = round_receive(a) || is_stable(a);
	}
	a->vote->decided = 1;
	round_send(a);
	others_await(a);
}

int vm_vote_agree(struct vm_vote *vote, const struct vm_group *group, int me)
{
	size_t size = (size_t)group->size, bytes = vote_bytes(group);
	struct agreement a = {
		.vote = vote,
		.group = group,
		.me = me,
		.env = { .context = VM_CONTEXT_JOB + 1, .tag = tag_of(vote) },
		.peers = calloc(size, sizeof(*a.peers)),
		.sent = malloc(bytes),
	};
	int rc = a.peers && a.sent ? 0 : -VMPI_ENOMEM;

	for (size_t i = 0; i < size && !rc; i++) {
		a.peers[i].theirs = malloc(bytes);
		rc = a.peers[i].theirs ? 0 : -VMPI_ENOMEM;
	}
	if (!rc)
		agree(&a);
	for (size_t i = 0; a.peers && i < size; i++)
		free(a.peers[i].theirs);
	free(a.peers);
	free(a.sent);
	return rc;
}
