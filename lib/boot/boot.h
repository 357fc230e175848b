/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Boot: the place of this process in its job, and how it reaches the others
 * before there is a fabric.
 */
#ifndef BOOT_BOOT_H
#define BOOT_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/job.h"

/*
 * A job has P processes, numbered from 0, and N ranks; each process has a block
 * of consecutive slots, which are the ranks themselves unless there is a
 * placement.  The launcher (a backend of boot/backend.h) is found in the
 * environment: our vmpirun or MPICH's mpiexec.hydra (PMI-1), Open MPI's mpirun
 * or srun --mpi=pmix (PMIx), or none.  Processes exchange named blobs: put,
 * then fence, then get.  Functions block the calling OS thread, may be called
 * by any thread, one at a time per process for fences, and log errors.
 */

#define VM_BOOT_KEY_BYTES 16
#define VM_BOOT_NAME_MAX 24    /* bytes of a blob's name, without the zero */
#define VM_BOOT_BLOB_MAX 65536 /* bytes of a blob */
#define VM_BOOT_HOST_MAX 64    /* bytes of a host's name, with the zero */
#define VM_BOOT_ID_MAX 64      /* bytes of a job's name, with the zero */

/* The facts that every process knows of every process. */
struct vm_boot_peer {
	int rank_first, rank_count; /* its slots: see vm_boot.numbers */
	int host;		    /* same number: loopback connects the two */
	char host_name[VM_BOOT_HOST_MAX];
};

/* Constant between vm_boot_open() and vm_boot_close(); may be read directly. */
struct vm_boot {
	int process, processes;
	int ranks;		    /* of the whole job */
	int rank_first, rank_count; /* its slots; at least one */
	int hosts;		    /* 1: loopback connects all processes */
	struct vm_boot_peer *peers; /* [processes] */

	/* With a placement (boot/map.h): the number in the job of the rank of
	 * each slot, and its worker.  NULL: a rank's slot is its number, and
	 * VM_MAP_BLOCK. */
	int *numbers, *workers;

	/* Several processes of the job may use the same cores (same machine,
	 * same affinity mask): this is number `share` of `shares` such
	 * processes. */
	int share, shares;

	/* Random, the same in all processes, unknown to others.  All zero in
	 * a job of one process. */
	uint8_t key[VM_BOOT_KEY_BYTES];

	/* The launcher's name for the job, for people; "": none. */
	char id[VM_BOOT_ID_MAX];

	const char *backend; /* "alone", "pmi", "pmix" */
	/* The launcher is known to end all processes when one dies. */
	bool launcher_kills;
	/* The launcher may let the others live without telling them. */
	bool launcher_silent;

	struct vm_boot_private *private;
};

/*
 * The number of ranks this process is going to have, from the environment
 * alone: no launcher is contacted, and the process may still execute another
 * program. Result: the number, at least 1; -VMPI_EINVAL after logging what is
 * wrong.
 *
 * With a job from vmpirun (VMPI_JOB_RANKS, VMPI_JOB_NODES, VMPI_JOB_BLOCKS) its
 * ranks lie in blocks over its nodes; processes which another launcher started
 * without a job are one rank each.
 */
int vm_boot_ranks_here(const struct vm_job *job);

/*
 * Joins the job: a collective operation of all processes, with one fence in it.
 * Removes the launcher's variables from the environment, so that programs which
 * a rank starts do not join as well.  A process that no launcher started as one
 * of several is process 0 of 1, which fails only without memory. Result: 0,
 * *boot to be closed; -VMPI_EINVAL (environment, or the processes disagree
 * about the job), -VMPI_ENOTSUP (an unsupported launcher), -VMPI_EIO (the
 * launcher or a process is gone), -VMPI_ENOMEM.
 */
int vm_boot_open(struct vm_boot **boot, const struct vm_job *job);

/*
 * Names of variables by which launchers make a process join, up to NULL; and
 * their removal from the environment, which vm_boot_open() does too, for
 * processes that start others that are not to join.
 */
extern const char *const vm_boot_variables[];
void vm_boot_clear_env(void);

/*
 * Leaves the job.  Not collective: fence first where the others still need this
 * process.  To the launcher, a process that ends without this has died. No
 * callback runs afterwards.  NULL is allowed.
 */
void vm_boot_close(struct vm_boot *boot);

/* The process that has the rank; rank is one of the job's numbers. */
int vm_boot_process_of(const struct vm_boot *boot, int rank);

/*
 * Publishes bytes[length] as `name` of this process; others see it after both
 * have passed the next fence.  Names have up to VM_BOOT_NAME_MAX letters,
 * digits, '.', '_' and '-'; a name is put once. Result: 0, -VMPI_EINVAL (name,
 * length), -VMPI_EIO, -VMPI_ENOMEM.
 */
int vm_boot_put(struct vm_boot *boot, const char *name, const void *bytes,
		size_t length);

/*
 * Waits until all processes have reached the fence, and makes visible what they
 * have put before.  Result: 0; -VMPI_EIO when a process has died or left (the
 * living have reached it all the same; not logged, vmpirun reports it) or the
 * launcher is gone.
 */
int vm_boot_fence(struct vm_boot *boot);

/*
 * Copies the blob that `process` (or this one) has put as `name` to bytes,
 * which has space for `room` bytes; *length is its length.  The fence after the
 * put must have been passed.  Result: 0; -VMPI_ENOENT, not logged, when there
 * is none; -VMPI_ELIMIT, not logged, when room is too small (*length is set);
 * -VMPI_EINVAL; -VMPI_EIO.
 */
int vm_boot_get(struct vm_boot *boot, void *bytes, size_t *length, size_t room,
		int process, const char *name);

/*
 * Tells the launcher that the job ends with this code (1 to 255; others become
 * 1); text is the reason, for launchers that show it.  Returns; the caller has
 * printed the reason and ends this process with the same code next.  In a
 * signal handler in_handler has to be true: then only async-signal-safe steps
 * are done, possibly none, since the exit code of the process suffices.
 */
void vm_boot_abort(struct vm_boot *boot, int code, const char *text,
		   bool in_handler);

/* The death or departure of a process of the job; process -1 is the
 * launcher. */
struct vm_boot_peer_event {
	int process;
	int status; /* exit code, 128 + signal, or -1 where nobody knows */
};

/* ... or this: a descriptor says that it has ended (vm_boot_end_fd()), and the
 * launcher has not, who would know whether it had left before. */
#define VM_BOOT_ENDED (-2)

typedef void (*vm_boot_peer_event_fn)(const struct vm_boot_peer_event *event,
				      void *arg);

/*
 * The descriptor is readable when the process has ended: that is reported too, if
 * the launcher does not within a second.  Takes it over.  Before
 * vm_boot_watch().
 */
void vm_boot_end_fd(struct vm_boot *boot, int process, int fd);

/*
 * Calls fn for each process that dies from now on, and for those that are dead
 * already; each once, this process never.  fn runs on a thread of its own with
 * all signals blocked; it may call vm_boot_abort() and nothing else here, and
 * has to be quick: set a mark, wake the thread concerned.  Where
 * launcher_kills, no process may live long enough to see it.  Our vmpirun ends
 * the job two seconds after a death, unless it was told to keep going.  Once
 * per boot. Result: 0; -VMPI_ELIMIT (no thread); -VMPI_EIO (no launcher any
 * more).
 */
int vm_boot_watch(struct vm_boot *boot, vm_boot_peer_event_fn fn, void *arg);

#endif
