/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The values of a job's performance variables at one moment: what all forms of
 * output are made of.
 *
 * Processes of one job have the same variables, unless they are of different
 * versions: numbers are those of the first file, others are asked by name.
 */
#ifndef VMPISTAT_SAMPLE_H
#define VMPISTAT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "report/live/job.h"

/* The variables that the user has chosen. */
struct choice {
	char **names; /* of variables, or patterns; none: all */
	unsigned name_count;
	bool *used;	     /* by name: whether it fits any */
	bool ranks, workers; /* values of each, not only totals */
	bool all;	     /* zeros and all digits, too */
	long rank, worker;   /* of this one; -1: of all */
	double every_s;	     /* 0: once */
	int count;	     /* samples; 0: until the job ends */
};

/* A variable of the job. */
struct pvar {
	struct vm_live_pvar_view view;
	unsigned number; /* in the first file */
	bool grows;	 /* its class only grows, so it has a rate */
};

struct sample {
	const struct vm_live_job *job;
	struct pvar *pvars; /* those that were chosen */
	unsigned count;
	uint64_t *totals, *before; /* of the job now and last time, by word */
	unsigned *first;	   /* of each variable's words in totals */
	double time_s, passed_s;   /* now; since last time, 0: there was none */
	/* Checking whether the job lives costs more than all its values: it was
	 * last checked then (0: never), maybe for this sample. */
	double looked_s;
	bool looked, lives;
	const char *state;
};

/* Chooses variables; notes in choice->used which names fitted.  0,
 * -VMPI_ENOMEM. */
int sample_init(struct sample *sample, const struct vm_live_job *job,
		struct choice *choice);
void sample_fini(struct sample *sample);

/* Reads the totals, and before them, once in SAMPLE_LOOK_S, how the job is. */
#define SAMPLE_LOOK_S 0.1
void sample_take(struct sample *sample);

/* How many blocks a file has of it: no others have values in this file. */
unsigned pvar_blocks(const struct sample *sample, const struct pvar *pvar,
		     const struct vm_live_file *file);
/* A value in one file: -VMPI_ERANK: it has no such block or variable. */
int pvar_value(const struct sample *sample, const struct pvar *pvar,
	       const struct vm_live_file *file, uint64_t *value, unsigned block,
	       unsigned word);
int pvar_total(const struct sample *sample, const struct pvar *pvar,
	       const struct vm_live_file *file, uint64_t *value, unsigned word);

/* Whether name fits the choice; notes which of its names fitted. */
bool choice_fits(struct choice *choice, const char *name);

#endif
