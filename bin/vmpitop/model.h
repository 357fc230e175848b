/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a job: as of its last reading, and of the one before.
 *
 * A feed (feed.h) fills it, screens read it; in between it is plain data, so
 * that tests make jobs of their own.  A figure is one column of a screen: a
 * variable, and whether its value, its change per second or its share of the
 * time counts.
 */
#ifndef VMPITOP_MODEL_H
#define VMPITOP_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "figure.h"
#include "report/live/file.h"

enum group { GROUP_WORKER, GROUP_RANK, GROUP_PORT, GROUPS };

enum how {
	HOW_NOW,   /* the value */
	HOW_RATE,  /* its change per second */
	HOW_SHARE, /* of nanoseconds: how much of the time; the other variable
		      says since when more of it passes, or 0 */
};

/*
 * The figures: group, name, title, width, how, kind, and the variable, with
 * another one that is added to it, or NULL.
 */
#define MODEL_FIGURES(X)                                                       \
	X(WORKER, idle, "idle", 7, SHARE, PERCENT, "sched_idle_ns",            \
	  "sched_idle_since_ns")                                               \
	X(WORKER, switches, "switch/s", 10, RATE, COUNT, "sched_switches",     \
	  NULL)                                                                \
	X(WORKER, handoffs, "hand/s", 8, RATE, COUNT, "sched_handoffs", NULL)  \
	X(WORKER, sleeps, "sleep/s", 9, RATE, COUNT, "sched_sleeps",           \
	  "sched_short_sleeps")                                                \
	X(WORKER, wakes, "wake/s", 8, RATE, COUNT, "sched_remote_wakes", NULL) \
	X(WORKER, tasks, "task/s", 8, RATE, COUNT, "sched_tasks", NULL)        \
	X(RANK, posted, "posted", 7, NOW, COUNT, "core_posted_len", NULL)      \
	X(RANK, unexpected, "unexp", 7, NOW, COUNT, "core_unexpected_len",     \
	  NULL)                                                                \
	X(RANK, received, "recv/s", 8, RATE, COUNT, "core_receives", NULL)     \
	X(RANK, messages, "msg/s", 7, RATE, COUNT, "core_sends", NULL)         \
	X(RANK, bytes, "byte/s", 8, RATE, BYTES, "core_sent_bytes", NULL)      \
	X(PORT, sent, "sent/s", 8, RATE, COUNT, "fabric_sent", NULL)           \
	X(PORT, received, "recv/s", 8, RATE, COUNT, "fabric_received", NULL)   \
	X(PORT, bytes, "byte/s", 8, RATE, BYTES, "fabric_sent_bytes",          \
	  "fabric_received_bytes")                                             \
	X(PORT, moved, "moved/s", 8, RATE, BYTES, "fabric_rma_bytes",          \
	  "fabric_shm_moved_bytes")                                            \
	X(PORT, helped, "steal/s", 8, RATE, COUNT, "fabric_events_helped",     \
	  NULL)                                                                \
	X(PORT, kept, "kept", 6, NOW, COUNT, "fabric_kept", NULL)              \
	X(PORT, backlog, "queue", 7, NOW, COUNT, "fabric_backlog", NULL)       \
	X(PORT, credit, "nocr/s", 8, RATE, COUNT, "fabric_no_credit", NULL)    \
	X(PORT, pool, "pool", 7, NOW, BYTES, "fabric_pool_bytes", NULL)

enum figure {
#define MODEL_FIGURE_ENUM(group, name, title, width, how, kind, one, other) \
	FIGURE_##group##_##name,
	MODEL_FIGURES(MODEL_FIGURE_ENUM)
#undef MODEL_FIGURE_ENUM
		FIGURES
};

struct figure_row {
	enum group group;
	const char *title;
	int width;
	enum how how;
	enum figure_kind kind;
	const char *names[2];
};

extern const struct figure_row figure_rows[FIGURES];

/* Figures of one group stand together. */
#define BLOCK_FIGURES_MAX 12
int figure_first(enum group group);
int figure_count(enum group group);

enum rank_state {
	RANK_UNKNOWN,
	RANK_NEW, /* has not begun */
	RANK_RUNS,
	RANK_WAITS,
	RANK_SLEEPS, /* for a time */
	RANK_DONE,
	RANK_STATES
};

const char *rank_state_name(enum rank_state state);

/* A worker, a rank or a port. */
struct block {
	int node, index;
	uint64_t now[BLOCK_FIGURES_MAX], before[BLOCK_FIGURES_MAX];
	uint32_t known; /* bits: which figures have a value */
	bool had;	/* ... and had one the time before */
	enum rank_state state;
	/* Of a rank: how often its state was read between the look before and
	 * this one, and how often it ran, or was ready to; 0: the process is
	 * gone.  The others count until the next look. */
	unsigned looks, runs, next_looks, next_runs;
	struct vm_live_doing doing; /* of a rank whose state is known */
	char waits[64];		    /* what for: "MPI_Recv from 3 tag 7" */
};

enum life { LIFE_RUNS, LIFE_ENDED, LIFE_DIED };

struct node {
	int number, pid;
	char host[64];
	int ranks, workers;
	double started; /* seconds since 1970 */
	double cpu_s;	/* processor time it has used; negative: not known */
	double cpu_before_s;
	enum life life;
	bool control; /* variables can be set */
};

/* A variable, of a node or added up over the nodes shown. */
struct variable {
	char name[96];
	bool control;	   /* a CVAR */
	bool settable;	   /* ... at any time */
	bool counts;	   /* its change per second says more than its value */
	bool shown;	   /* `now` has a value */
	char kind[24];	   /* "counter", "setting" */
	char category[24]; /* or "" */
	char unit[48];
	char text[200]; /* what it means */
	double now, before;
	uint64_t total; /* as `now`, of a performance variable */
	bool had;
	char value[64]; /* of a CVAR or a state, as text */
};

struct model {
	char job[64], program[64], version[32];
	int ranks; /* of the whole job */
	struct node *nodes;
	int node_count;
	struct block *blocks[GROUPS];
	int block_count[GROUPS];
	struct variable *variables;
	int variable_count;
	double now_s;	   /* seconds since 1970 */
	double interval_s; /* since the look before; 0: this is the first */
	double still_s;	   /* for how long nothing has moved */
};

void model_fini(struct model *model);

/* The number of a figure, as it is shown; FIGURE_NONE: not known. */
struct value;
struct value figure_value(const struct model *model, const struct block *block,
			  enum figure figure);

/* The sum of a figure over the blocks of a node (-1: of all); whether any
 * is known. */
bool figure_sum(double *sum, const struct model *model, enum figure figure,
		int node);

/* The change per second; 0 after the first look. */
double variable_rate(const struct model *model,
		     const struct variable *variable);

/* Whether a process of it on this host runs. */
bool model_lives(const struct model *model);

/* NULL: there is none. */
const struct node *model_node(const struct model *model, int number);
struct variable *model_variable(const struct model *model, const char *name);

#endif
