/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backends: ways in which processes of a job are started and find each other.
 * One const struct per way; boot.c has the table and asks them in its order.
 */
#ifndef BOOT_BACKEND_H
#define BOOT_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

struct vm_boot;
struct vm_peer_events;

/*
 * Results are 0 or negative and logged, as in boot/boot.h.  Names have been
 * checked.  Put, fence, get and close are called by one thread at a time, abort
 * by any.
 */
struct vm_boot_backend {
	const char *name;

	/* Whether the environment says that we were started this way. */
	bool (*present)(void);

	/* The number of this process, from the environment; or negative. */
	int (*process)(void);

	/* Joins: sets boot's process, processes, the abilities of the launcher
	 * and, unless it has one, its id, and calls vm_peer_events_count().
	 * From now on, and until close, deaths are added to events
	 * (vm_peer_events_add()) by any thread, or by a pump. */
	int (*open)(void **state, struct vm_boot *boot,
		    struct vm_peer_events *events);
	int (*put)(void *state, const char *name, const void *bytes,
		   size_t length);
	int (*fence)(void *state);
	int (*get)(void *state, void *bytes, size_t *length, size_t room,
		   int process, const char *name);
	void (*abort)(void *state, int code, const char *text, bool in_handler);

	/* Begins to report deaths. */
	int (*watch)(void *state);
	void (*close)(void *state);
};

extern const struct vm_boot_backend vm_boot_pmix;
extern const struct vm_boot_backend vm_boot_pmi;
extern const struct vm_boot_backend vm_boot_refused;
extern const struct vm_boot_backend vm_boot_alone;

#endif
