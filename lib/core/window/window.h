/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows: memory of the members of a channel that all of them reach.
 *
 * Each member has its end, struct vm_window, which others change under its
 * lock; a team is the table of all members that those of one process share.
 * Begin here; then read claim.h, haul.h, post.h, region.h, reply.h, share.h,
 * update.h and wire.h.
 */
#ifndef CORE_WINDOW_WINDOW_H
#define CORE_WINDOW_WINDOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/err.h"

struct vm_group;
struct vm_rank;
struct vm_window_far;
struct vm_window_packet;
struct vm_window_replies;
struct vm_window_told;

/* Bytes that were attached to a window after it was made. */
struct vm_window_region {
	uintptr_t base;
	size_t bytes;
};

/* What others change who synchronize with a member.  It is part of its end, or
 * of memory that several processes share. */
struct vm_window_words {
	_Atomic uint64_t locks VM_ALIGNED(VM_CACHELINE); /* claim.h */
	/* post.h: how often others were done; and wait.h: so many of the
	 * member's tasks sleep until they are told of a change. */
	_Atomic uint32_t completes VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t sleepers;
};

/* What all look at who reach a member's memory by loads and stores.  It is part
 * of its end, or of memory that several processes share. */
struct vm_window_common {
	struct vm_window_words words;
	bool processes; /* several share it; constant */
	/* update.h: all updates take the lock, as they always do of several
	 * processes.  A process is gone, which may have had the lock. */
	_Atomic bool locked, broken;
	struct vm_lock update;
};

/* What one member offers, as the members of this process see it.  Constant. */
struct vm_window_place {
	char *base;		  /* of its memory, where its end is, */
	size_t reach;		  /* or here, if loads reach it: bytes */
	size_t unit;		  /* bytes of a displacement */
	size_t bytes;		  /* of its memory, wherever it is */
	struct vm_window *window; /* its end; NULL: in another process, */
	uint64_t number;	  /* where this names it */
	/* NULL: nothing but packets reaches it, or the kernel, */
	struct vm_window_common *common;
	/* and who updates it so takes the lock here; NULL: nobody does. */
	struct vm_window_common *updates;
	struct vm_window_words *words; /* or NULL as well */
	/* post.h: posts to it, if other processes see them; or NULL */
	_Atomic uint32_t *posts;
	/* reply.h: where it is answered, by member and in turn; or NULL */
	struct vm_window_told *told;
	struct vm_window_replies *replies;
};

/* Memory that a team has together with other processes (share.h). */
struct vm_window_map {
	char *base;
	size_t bytes;
};

struct vm_window_team {
	_Atomic int refs;
	size_t size;
	void *memory; /* that the team has for all members here, or NULL */
	struct vm_window_map *maps; /* or NULL */
	size_t map_count;
	struct vm_window_place places[];
};

struct vm_window {
	struct vm_window_team *team; /* holds a reference */
	struct vm_rank *owner;
	size_t rank; /* the member's number */
	void *own;   /* its memory, if the window made it; or NULL */
	/* Guards the following; never held across a switch. */
	struct vm_lock lock VM_ALIGNED(VM_CACHELINE);
	struct vm_list claims; /* claim.h: who waits for a lock */
	/* post.h: by member, or NULL; what was waited for is the owner's. */
	_Atomic(_Atomic uint32_t *) posts; /* the window's own, */
	uint32_t *posts_taken;		   /* and so many of them are used up */
	uint32_t completes_taken;
	struct vm_list waiters; /* wait.h: its own tasks */
	/* wire.h: with members in other processes. */
	uint64_t number; /* or 0 */
	struct vm_group *group;
	void (*take)(const struct vm_window_packet *packet);
	bool lost; /* a process is gone */
	/* The layer above: by member; and what it waits for. */
	struct vm_window_far *far;
	struct vm_list questions;
	uint32_t sequence;
	/* region.h: by address */
	struct vm_window_region *regions;
	size_t region_count, region_room;
	/* The team's for this member: this one, unless processes share it; they
	 * may share the words alone. */
	struct vm_window_common *common, own_common;
	struct vm_window_words *words;
};

/* Prepares what those who reach a member look at. */
void vm_window_common_init(struct vm_window_common *common, bool processes);

/* A team with one reference, without places; NULL when out of memory. */
struct vm_window_team *vm_window_team_new(size_t size);
void vm_window_team_drop(struct vm_window_team *team);

/* An end that is no member of a team yet; NULL when out of memory. */
struct vm_window *vm_window_new(struct vm_rank *owner, size_t rank);

/* Frees it; nobody reaches it any more.  Drops its team, if it has one. */
void vm_window_free(struct vm_window *window);

/* Memory for a window, aligned to a cache line at least; NULL when out of memory,
 * or for 0 bytes. */
void *vm_window_memory(size_t bytes, size_t align);

#endif
