/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The image: a program loaded once per rank, so that each has its own globals.
 *
 * vmpicc links programs as shared objects with an entry point.  The dynamic
 * linker loads such a file once only, because it looks through the list of what
 * is loaded first; the loader takes each copy out of that list until all copies
 * are there.  So glibc knows every copy (exceptions, thread-local variables and
 * debuggers work), the copies share the pages of their text, and a copy costs
 * two mappings and the pages of data it writes to.
 */
#ifndef CORE_IMAGE_IMAGE_H
#define CORE_IMAGE_IMAGE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "core/object/elf.h"
#include "core/image/lib.h"

/*
 * One thread opens and loads, before the workers start.  Then each rank starts
 * its copy, runs main, and ends its copy, on its own ULT.
 */

struct vm_image;
struct vm_image_plugin;

/*
 * The descriptor that bin/image puts into each program; a note (name "vmpi",
 * type VM_IMAGE_NOTE) holds its distance from the note's content, as int32_t.
 */
#define VM_IMAGE_NOTE 1
struct vm_image_descriptor {
	uint32_t version;
	uint32_t bytes; /* of this struct */
	int (*main)(int argc, char **argv, char **envp);
	void *dso_handle; /* identifies the program's atexit handlers */
};

/* A destructor of a C++ thread_local variable. */
struct vm_image_dtor {
	struct vm_image_dtor *next;
	void (*run)(void *object);
	void *object;
};

/* One rank's copy.  The rank writes what is below the line. */
struct vm_image_copy {
	struct vm_image *image;
	int index;
	struct link_map **maps; /* own libraries, then the program; NULL: not
				   loaded yet */
	const struct vm_image_descriptor *descriptor; /* NULL: ordinary */
	/* ---- */
	void *dso_handle; /* identifies the program's atexit handlers */
	struct vm_image_dtor *dtors;
	_Atomic(struct vm_image_dtor *) quick; /* of at_quick_exit() */
	/* By number; NULL: all are the default.  Handlers look meanwhile. */
	_Atomic(struct sigaction *) signals;
	bool ending;  /* exit handlers run or have run */
	void *thread; /* owned by the node's rank.c: its own OS thread */
	bool listing; /* as in its image */
	pthread_mutex_t plugins_lock;	 /* guards: */
	struct vm_image_plugin *plugins; /* core/image/plugin.h */
	void *stack_end;		 /* as __libc_stack_end of a process */
	char *token;			 /* where its strtok() goes on */
	int number;			 /* of the rank, in the job */
	void *owner;			 /* owned by the node's later.c */
	int argc;			 /* the number of, */
	char **words; /* its arguments; freed with the image */
	void *frame;  /* what its entry finds; freed with it */
	void *out;    /* owned by the output module of the node */
	struct vm_lock deputies_lock; /* guards: */
	void *deputies;		      /* owned by the node's deputies */
	/* What libgomp has once per process: its lock for critical sections
	 * without a name, and for atomic updates. */
	_Atomic uint32_t critical, atomics;
	/* Its threads that have not ended; the main one, when it waits for the
	 * others (the node's leave.c). */
	_Atomic int threads;
	struct vm_ult *main;
	void *cleanups; /* of the main one: pthread_cleanup_push() */
};

/*
 * Opens the program at path for `ranks` copies and finds its libraries.  `name`
 * is how the user calls it.  0; -VMPI_ENOENT, -VMPI_EINVAL (it cannot be loaded
 * so often...), -VMPI_ELIMIT, -VMPI_ENOMEM, all logged with what would be
 * right.  It stays until the process ends, as threads of ranks may.
 */
int vm_image_open(struct vm_image **image, const char *path, const char *name,
		  int ranks, const struct vm_image_choice *choice);

/*
 * Unloads the copies of a program that was loaded `later`, all of which have
 * ended, or not begun, and frees it.  One thread of the process opens, loads and
 * closes images at a time.
 */
void vm_image_close(struct vm_image *image);

/* Bytes of libc's static block for thread-local variables that the copies
 * take; the block's size is set when a process starts (GLIBC_TUNABLES). */
size_t vm_image_static_tls(const struct vm_image *image);

/*
 * Loads the shared libraries, registers their thread-local state with sched,
 * and loads all copies; a single copy is loaded by vm_image_start() instead,
 * from the file itself, where every tool finds its symbols.  0, or
 * -VMPI_ELIMIT, -VMPI_EINVAL (logged).
 */
int vm_image_load(struct vm_image *image);

struct vm_image_copy *vm_image_copy(const struct vm_image *image, int rank);

/* Runs the constructors.  Call on the rank's ULT.  0 or -VMPI_EINVAL (logged).
 */
int vm_image_start(struct vm_image_copy *copy, int argc, char **argv,
		   char **envp);

/* Runs main.  Its result, or -VMPI_ENOMEM; that of an ordinary executable ends
 * by exit(). */
int vm_image_main(struct vm_image_copy *copy, int argc, char **argv,
		  char **envp);

/* Runs atexit handlers and destructors, the latest first. */
void vm_image_end(struct vm_image_copy *copy);

/* A constructor, handler or destructor does not return, but ends its rank. */
void vm_image_left(struct vm_image_copy *copy);

/*
 * Before and after fork(), where `copy` (or NULL) is the caller's.  A child has
 * all locks in the state of that moment and only one thread, and libc does not
 * release the lock of its list of handlers: no other thread may hold it
 * meanwhile.
 */
void vm_image_fork_begin(struct vm_image *image,
			 const struct vm_image_copy *copy);
void vm_image_fork_end(struct vm_image *image, bool child);

/* Has run(object) called by vm_image_end().  0 or -VMPI_ENOMEM. */
int vm_image_at_end(struct vm_image_copy *copy, void (*run)(void *object),
		    void *object);

/* Has run(object) called by vm_image_quick_end(); any thread of the rank.  0 or
 * -VMPI_ENOMEM. */
int vm_image_at_quick_end(struct vm_image_copy *copy, void (*run)(void *object),
			  void *object);

/* Runs the handlers of at_quick_exit(), the latest first. */
void vm_image_quick_end(struct vm_image_copy *copy);

/*
 * The copy that an address lies in: its number and the offset in the program's
 * file, or -1.  Async-signal-safe.
 */
int vm_image_find(const struct vm_image *image, const void *address,
		  size_t *offset);

/*
 * Names of tools (core/image/tools.h) of which each rank is to have a copy, but
 * one is in the process already, by LD_PRELOAD: copies would be bound to it.
 * One per call, before the image is loaded; start with *next = 0.  NULL at the
 * end.
 */
const char *vm_image_preloaded(const struct vm_image *image, size_t *next);

/* Whether the program uses a library whose name begins so. */
bool vm_image_needs(const struct vm_image *image, const char *name);

/* Whether the program itself imports a symbol whose name begins so. */
bool vm_image_calls(const struct vm_image *image, const char *name);

/* The function `name` of a library that the copies share, as the first of them
 * to have it defines it; NULL: none. */
void *vm_image_function(const struct vm_image *image, const char *name);

/* Names of the libraries that the program needs, but for libc's, and their
 * paths; one per call, as vm_image_preloaded(). */
const char *vm_image_library(const struct vm_image *image, size_t *next,
			     const char **path);

/* The absolute path of the program. */
const char *vm_image_path(const struct vm_image *image);

#endif
