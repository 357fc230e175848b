/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the processes of one host share.
 *
 * Each process makes one file, which has no name, with room for the rings of all
 * who may send to it, and opens those of the others in /proc.  So only processes
 * of its user that may look into it reach it, and nothing of it is left when
 * they have ended, whatever ended them.
 */
#ifndef FABRIC_SHM_SHM_H
#define FABRIC_SHM_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/shm/board.h"
#include "fabric/shm/lane.h"
#include "fabric/shm/load.h"
#include "fabric/shm/place.h"
#include "fabric/shm/ring.h"

/*
 * Pages of the file are there once they are written to, so a ring that nobody
 * uses costs addresses only.  A child made by fork() has none of the mappings.
 *
 * Two processes that do not reach each other this way (other host, container,
 * user, or a process that forbids it) have the network.
 */

struct vm_shm;

struct vm_shm_config {
	uint64_t job; /* the same in all processes of the job */
	uint32_t process, processes;
	uint32_t guests; /* processes of other jobs, whose numbers follow */
	uint32_t ports;
	bool crowded; /* said to the others */
};

/* Makes our file.  -VMPI_ENOMEM, or -VMPI_ELIMIT: it cannot be made, for which
 * there are many harmless reasons: *why is the text. */
int vm_shm_open(struct vm_shm **shm, const struct vm_shm_config *config,
		const char **why);
/* NULL is allowed, also in what follows. */
void vm_shm_close(struct vm_shm *shm);

/* Zeros without a file. */
void vm_shm_place(const struct vm_shm *shm, struct vm_shm_place *place);

/* Opens the file of another process, which has so many ports, and lets it know.
 * -VMPI_ENOTSUP: it cannot be reached, *why is the reason. */
int vm_shm_meet(struct vm_shm *shm, uint32_t process, uint32_t ports,
		const struct vm_shm_place *place, const char **why);

/* The same for a guest, who is somebody else in its job. */
struct vm_shm_guest {
	uint64_t job;
	uint32_t process; /* its number there */
	uint32_t there;	  /* ours as its guest */
	uint32_t ports;
};
int vm_shm_meet_guest(struct vm_shm *shm, uint32_t process,
		      const struct vm_shm_guest *guest,
		      const struct vm_shm_place *place, const char **why);

/* Whether each process of the job has met all others; once they have tried. */
bool vm_shm_all_met(const struct vm_shm *shm);

/* Whether we reach each other.  Both know it once both have met the other. */
bool vm_shm_near(const struct vm_shm *shm, uint32_t process);

/* Our board, and that of a process that is near; NULL: there is none. */
struct vm_board_own *vm_shm_board(struct vm_shm *shm);
struct vm_board *vm_shm_board_of(const struct vm_shm *shm, uint32_t process);

/* The lane in which that process of the job leaves cards for us, once it has opened it,
 * and how many have; ours at one that is near, whose first port is to be woken. */
struct vm_lane *vm_shm_lane(const struct vm_shm *shm, uint32_t process);
const _Atomic uint32_t *vm_shm_lanes_open(const struct vm_shm *shm);
struct vm_lane *vm_shm_lane_open(const struct vm_shm *shm, uint32_t process,
				 struct vm_shm_sleeper *reader);

/* A word in which a process says that it has given up its processor to others;
 * NULL: there is no file.  And whether that one has, or cannot say. */
_Atomic uint32_t *vm_shm_away(const struct vm_shm *shm);
bool vm_shm_is_away(const struct vm_shm *shm, uint32_t process);

/* Says that we are about to end in order, and whether that process, which we have
 * met, has said so. */
void vm_shm_leave(struct vm_shm *shm);
bool vm_shm_has_left(const struct vm_shm *shm, uint32_t process);

/* What that one has said of its `crowded`. */
bool vm_shm_crowded(const struct vm_shm *shm, uint32_t process);

/* Takes a ring from one of our ports to one of that process, which is near.
 * -VMPI_ENOMEM, -VMPI_ELIMIT: all of that port are taken. */
int vm_shm_outlet(struct vm_shm_writer **writer, struct vm_shm *shm,
		  uint32_t process, uint32_t port, uint32_t from);

/* The largest number of rings to a port of ours. */
uint32_t vm_shm_rings(const struct vm_shm *shm);
/* ... of a process that has been met, or ours. */
uint32_t vm_shm_rings_of(const struct vm_shm *shm, uint32_t process);

/* How many of them have been taken; grows. */
uint32_t vm_shm_inlets(const struct vm_shm *shm, uint32_t port);

/* The word that says so; it may say more than there are rings. */
const _Atomic uint32_t *vm_shm_taken(const struct vm_shm *shm, uint32_t port);

/* The bell of our port: set by who has written to a ring that is not watched,
 * cleared by the reader before it looks at all. */
_Atomic uint32_t *vm_shm_bell(const struct vm_shm *shm, uint32_t port);

/* Rings it, after something was stored, if that is necessary. */
static inline void vm_shm_announce(const struct vm_shm_writer *writer)
{
	vm_watch_announce(&writer->ring->watched, writer->bell);
}

/* Whether the sender of ring `index` of our port has said who it is. */
bool vm_shm_named(const struct vm_shm *shm, uint32_t port, uint32_t index);

/* Ring `index` of our port, once its sender has said who it is: false before,
 * and for ever if it died meanwhile. */
bool vm_shm_inlet(const struct vm_shm *shm, uint32_t port, uint32_t index,
		  struct vm_shm_reader *reader, uint32_t *process,
		  uint32_t *from);

/*
 * Sleeping: who stores something for a process and then wakes it wakes it if it
 * has begun to sleep, or is seen by what it does after the begin.  The
 * descriptor is readable after a wake, until the end.  Processes sleep seldom
 * and send often, so the fence between storing and looking whether to wake is
 * made by who goes to sleep, for all, where the kernel can do that
 * (fabric/shm/barrier.h).  If it does not any more the begin is false: there may
 * be no wake.  What comes at a port for which left[port] is true does not wake;
 * NULL: there is none.
 */
int vm_shm_fd(const struct vm_shm *shm);
bool vm_shm_sleep_begin(struct vm_shm *shm, const bool *left);
void vm_shm_sleep_end(struct vm_shm *shm, bool woken);
void vm_shm_wake(struct vm_shm *shm, uint32_t process,
		 const struct vm_shm_sleeper *reader);

/* Whether the reader of a ring is to be woken, after something was stored. */
static inline bool vm_shm_sleeps(const struct vm_shm_sleeper *reader)
{
	/* Pairs with the barrier in vm_shm_sleep_begin(), or with the fence
	 * there. */
	if (VM_LIKELY(!reader->fence))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(reader->sleeping, memory_order_relaxed);
}

/* Whether it is certain that a process that we have met lives no more. */
bool vm_shm_dead(const struct vm_shm *shm, uint32_t process);

/* Whether it can move our memory (far), or we can move its (near). */
bool vm_shm_moves_far(const struct vm_shm *shm, uint32_t process);
bool vm_shm_moves_near(const struct vm_shm *shm, uint32_t process);

/* Reads from, or writes to, its memory at once bytes of a load from `at` on.  -VMPI_ENOTSUP: it is not
 * allowed any more, -VMPI_EPEER: it has died and can be waited for,
 * -VMPI_EINVAL.  Waits for the end of a process that is dying. */
int vm_shm_move(struct vm_shm *shm, uint32_t process,
		const struct vm_load *load, size_t at, size_t bytes,
		bool write);

#endif
