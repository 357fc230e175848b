/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines: programs that start processes on many hosts, for which vmpirun only
 * composes the command.  They start node processes, or the processes that are
 * ranks, which join by themselves (lib/boot).
 */
#ifndef VMPIRUN_ENGINE_H
#define VMPIRUN_ENGINE_H

#include <stdbool.h>

#include "options.h"
#include "command.h"

struct engine;
struct plan;

/* What to start. */
struct engine_job {
	const struct plan *plan;
	const struct options *options;
	bool label; /* begin each line with the number of its process */
};

/*
 * Finds the engine that is called `name` on the command line, or for "auto" the
 * first that is there; *engine is NULL if that is ssh.  *program is its path, to
 * be freed.  Result: 0, or -VMPI_E... after one line.
 */
int engine_find(const struct engine **engine, char **program, const char *name);

/* The name it has on the command line. */
const char *engine_name(const struct engine *engine);

/* Adds the program of the plan and its options; the node program comes next. */
void engine_words(struct command *words, const struct engine_job *job);

#endif
