/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that is hit by a signal, as killer.c draws it, runs it and judges it.
 */
#ifndef T_RUN_KILLER_H
#define T_RUN_KILLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NODES_MAX 4
#define OUTPUT_MAX 65536

enum target { TARGET_NODE, TARGET_LAUNCHER, TARGETS };

/* What hits a process: a signal, or SIGSTOP and a moment later that signal. */
struct blow {
	const char *name;
	bool stops;
	int signal;
};

struct round {
	uint64_t seed, random;
	const struct blow *blow;
	enum target target;
	bool keep_going; /* --keep-going */
	bool returns;	 /* errors are returned to the ranks */
	bool processes;	 /* each rank is one */
	bool control;	 /* --control */
	const char *phase, *provider, *protocol;
	int nodes, per_node, delay_us;
	bool early; /* not later, even if some are not there yet */
	unsigned victims;

	pid_t launcher;
	pid_t pids[NODES_MAX];
	int ready_fd, output_fd; /* the reading ends */
	int begun;		 /* ranks that are */
	uint64_t killed_ns, ended_ns, gone_ns;
	int status;
	char output[OUTPUT_MAX];
	size_t output_bytes;
	char wrong[256];
};

/* The first reason counts. */
void wrong(struct round *round, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether everybody goes on, as if nothing had happened. */
bool is_harmless(const struct round *round);

/* Whether there was a process to hit. */
bool was_hit(const struct round *round);

/* From the blow to the end of all processes. */
double life_ms(const struct round *round);

/* Whether the code, the words and the files are those of such an end. */
void round_judge(struct round *round, int limit_ms);

/* Adds a round to the table of signals, targets and providers. */
void table_add(const struct round *round);

void table_print(void);

#endif
