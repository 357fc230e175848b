/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels whose members are in several processes: the messages between the
 * processes.
 *
 * The members of one process meet in memory (core/meeting/meet.h); the last of
 * them to arrive is the leader there, and the leaders exchange messages. These
 * go to the first member of the other process, in the context of collectives:
 * source is the sending process's first member, tag the number of the meeting.
 * Any worker may receive them for that member.
 */
#ifndef CORE_MEETING_LEADERS_H
#define CORE_MEETING_LEADERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/local/errand.h"
#include "core/meeting/meet_post.h"
#include "core/rank/chan.h"

struct vm_data;
struct vm_group;
struct vm_leaders_talk;
struct vm_meet;
struct vm_rank;

/* The members of a channel in one process, in order. */
struct vm_leaders_process {
	uint32_t process; /* in the job */
	uint32_t count;
	uint32_t *members; /* their ranks in the channel */
	struct vm_rank *first;
};

/* Immutable but for what is said to change; the processes are in the order of their first
 * members. */
struct vm_leaders {
	int count, self; /* processes, and which of them this one is */
	/* A process of the channel is gone, as far as this one has noticed in
	 * its messages to the other leaders.  Never cleared. */
	_Atomic bool lost;
	bool ones;    /* each process has one member, and they are few */
	bool blocks;  /* each one's members are neighbours in the channel */
	uint32_t *of; /* by rank in the channel: the member's process */
	/* Memory for the next exchange, or NULL. */
	_Atomic(struct vm_leaders_talk *) spare;
	/* Cards that the first process has not waited for; NULL: never. */
	struct vm_leaders_unheard *unheard;
	/* Cards of this process that it does not expect: a bit per meeting, the
	 * lowest that of left_tag, the others those before. */
	uint32_t left, left_tag;
	struct vm_leaders_process processes[];
};

/* *leaders is NULL when all members are here; if ranks are apart each member
 * counts as a process, and only `self` is here.  0 or -VMPI_ENOMEM. */
int vm_leaders_new(struct vm_leaders **leaders, const struct vm_group *group,
		   const struct vm_rank *self);
void vm_leaders_free(struct vm_leaders *leaders);

/* Whether another process gets messages from buffer to buffer, without an answer
 * from afar. */
bool vm_leaders_near(const struct vm_leaders *leaders, int process);

/* Whether all processes are on one host and share its processors: all of them think
 * alike. */
bool vm_leaders_crowded(const struct vm_leaders *leaders);

/*
 * Cards go by the first process where there are 8 to 64: it gets those of all
 * and sends each one a bundle.  That is twice as long a way, but two messages per
 * process instead of one for each other one, and where processes share a core
 * each has to have it once.
 */
#define VM_LEADERS_STAR_MOST 64

static inline bool vm_leaders_star(const struct vm_leaders *leaders)
{
	return leaders->count >= 8 && leaders->count <= VM_LEADERS_STAR_MOST;
}

/*
 * Tags of meetings: their number, in the order in which all members have to join
 * and start them, so that a leader in one that is started hears of another in one
 * that is not.  All are negative, so that no other message in the context has one
 * of them.  What ends when a member dies, and by nothing else, is a receive of
 * VM_LEADERS_NEVER; VM_LEADERS_OWED is that of leaders_ahead.h.
 */
#define VM_LEADERS_TAG VM_CHAN_LEADERS_TAG
#define VM_LEADERS_NEVER 0x40000000u
#define VM_LEADERS_OWED 0x20000000u
#define VM_LEADERS_NUMBERS 0x0fffffffu

/* The topic of a meeting, for the leaders; the first exchange of a meeting
 * carries it. */
enum vm_leaders_topic {
	VM_LEADERS_BARRIER,
	VM_LEADERS_SPLIT,
	VM_LEADERS_COLL,
	VM_LEADERS_MISMATCH, /* members of one process disagree already */
	VM_LEADERS_LOST,     /* a process of the channel is gone */
	VM_LEADERS_SHORT,    /* a card; what it cannot say comes behind it */
	VM_LEADERS_AHEAD,    /* a card of who does not wait for the others */
	VM_LEADERS_CHAINED,  /* the same with VM_LEADERS_CHAIN */
};

/* Whose cards are needed, by whom. */
enum vm_leaders_need {
	VM_LEADERS_ALL,	  /* all, by all */
	VM_LEADERS_DOWN,  /* the first process's, by all */
	VM_LEADERS_DEALT, /* the first process's, which has one for each */
	VM_LEADERS_UP,	  /* all, by the first process */
	VM_LEADERS_CHAIN, /* the first process's, and that of the one before */
};

/*
 * What a process says of a call, the same to all others: which call, so that
 * equal keys are one, and the data of its members, `bytes` of each.  Long data are
 * no part of it: they follow, in so many messages to each other process, or lie on
 * the board (leaders_board.h).
 */
struct vm_leaders_card {
	uint64_t key[VM_MEET_KEY_WORDS];
	uint32_t bytes, follows, board, reads;
	char data[];
};

#define VM_LEADERS_CARD_DATA 2048

/*
 * An exchange of cards, which may be the whole of a meeting.  vm_leaders_card()
 * is where the caller's is filled, with up to VM_LEADERS_CARD_DATA bytes of
 * data; NULL: out of memory.  vm_leaders_short() sends it, with so many of
 * them, and gets those of the others: VM_DONE if all have the same key, or an
 * error as below.  VM_PENDING: somebody had no card, or another key, and
 * vm_leaders_exchange() is to follow as if this had not been.  It also follows
 * where a card was begun and not sent.  May switch.
 *
 * Where vm_leaders_may_go_ahead(), who needs no card does not wait: the first
 * process with VM_LEADERS_DOWN, the others with VM_LEADERS_UP; these must know
 * that all have a card then.  A process that it has told, and that has another
 * key, gets -VMPI_EMISMATCH, and the card of the first process.
 *
 * With VM_LEADERS_DEALT and VM_LEADERS_CHAIN, which are only for there, the first
 * process has filled data and bytes of a card for each other one,
 * vm_leaders_card_for(), and the key of its own.  With the latter each other one
 * but the last is to tell the next one, vm_leaders_pass(), when it has got VM_DONE
 * and filled data and bytes of its own card.
 */
struct vm_leaders_card *vm_leaders_card(struct vm_meet *meet);
struct vm_leaders_card *vm_leaders_card_for(struct vm_meet *meet, int process);
int vm_leaders_short(struct vm_meet *meet, size_t data_bytes,
		     enum vm_leaders_need need);
bool vm_leaders_may_go_ahead(const struct vm_meet *meet);

/*
 * Sends the filled card of a started meeting to all others, where each process
 * tells each other one; vm_leaders_short() is to follow, with VM_LEADERS_ALL.
 * Whether it has; then vm_leaders_ripe() tells when that need not wait.  May
 * switch.
 */
bool vm_leaders_tell(struct vm_meet *meet, size_t data_bytes);
enum vm_errand_ripe vm_leaders_ripe(struct vm_meet *meet);
int vm_leaders_pass(struct vm_meet *meet);

/* After VM_DONE, or -VMPI_EMISMATCH: the card of another process, and how much data
 * it has; NULL: it has shown none.  Till the end, which is to follow. */
const struct vm_leaders_card *
vm_leaders_card_of(const struct vm_meet *meet, int process, size_t *data_bytes);
void vm_leaders_short_end(struct vm_meet *meet);

/* Sends the first process what follows a card that says so, with VM_LEADERS_UP: 0;
 * -VMPI_EMISMATCH: that one has gone in another call; or another error.  May
 * switch. */
int vm_leaders_follow(struct vm_meet *meet, const struct vm_data *data);

/* A process that is in another call than this one; -1: none is. */
int vm_leaders_other(const struct vm_meet *meet);

/* The data for one process and the data that came from it, malloc'ed; NULL:
 * none. */
struct vm_leaders_msg {
	const void *out;
	void *in;
	size_t out_bytes, in_bytes;
};

/*
 * Tells every other process its part and gets theirs; parts are by process.  By
 * the leader, once or more often in a meeting.  0, -VMPI_EMISMATCH on all
 * leaders if the topics differ, -VMPI_EPEER if one of them knows that a process
 * is gone, or another error.  On errors nothing is left in `in`.  May switch.
 */
int vm_leaders_exchange(struct vm_meet *meet, enum vm_leaders_topic topic,
			struct vm_leaders_msg *parts);

/* As vm_leaders_exchange(), for meetings without data. */
int vm_leaders_barrier(struct vm_meet *meet, enum vm_leaders_topic topic);

/*
 * Data that leaders send each other after the exchange, when they know who
 * sends how much to whom: from and to any memory, a pair's messages in order.
 * When a process of the channel dies all of this ends, with whichever process:
 * those that are still there may have given up.
 */
struct vm_leaders_data {
	const struct vm_meet *meet;
	struct vm_leaders_message *messages; /* that are not waited for */
	int count, room;
	int error; /* the first; what is sent then is empty */
};

void vm_leaders_data_begin(struct vm_leaders_data *talk,
			   const struct vm_meet *meet);
void vm_leaders_send(struct vm_leaders_data *talk, int process,
		     const struct vm_data *data);
/* As much as `data` has room for, or it is an error: -VMPI_ETRUNC, or
 * -VMPI_EPEER when nothing came, since the other one has failed. */
void vm_leaders_recv(struct vm_leaders_data *talk, int process,
		     const struct vm_data *data);
/* Waits for all receives, or for all of them: 0 or the first error.  May
 * switch. */
int vm_leaders_received(struct vm_leaders_data *talk);
int vm_leaders_wait(struct vm_leaders_data *talk);
/* As vm_leaders_received(), for the end. */
int vm_leaders_data_end(struct vm_leaders_data *talk);

/*
 * The first process has sent its card ahead, and what follows it: now it hears the
 * cards of the others.  0, -VMPI_EMISMATCH or another error; what is sent to those
 * that have gone in another call is withdrawn.  May switch.
 */
int vm_leaders_hear_late(const struct vm_meet *meet,
			 struct vm_leaders_data *talk);

#endif
