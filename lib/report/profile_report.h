/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The profile of a whole job: those of its processes merged, printed as tables
 * and as JSON.
 */
#ifndef REPORT_PROFILE_REPORT_H
#define REPORT_PROFILE_REPORT_H

#include <stdio.h>

#include "introspect/measure/profile_file.h"
#include "report/pop.h"

/* A number over all ranks; ranks that have none count as 0. */
struct vm_profile_spread {
	uint64_t sum, min, max;
};

/* One function, in all sections. */
struct vm_profile_line {
	uint32_t call; /* 0: outside of calls */
	struct vm_profile_spread count, time;
	uint64_t had,
		idle; /* time in which it ran; in which its core was idle */
	struct vm_profile_spread values[VM_PROFILE_WORDS];
};

/* One section, of all ranks that were in one of that name and place. */
struct vm_profile_part {
	const char *name;
	int parent; /* -1: it is the whole */
	uint64_t count;
	uint64_t calls, time_calls; /* in it, without those within it */
	uint64_t idle;	    /* of time_calls: the core had nothing to run */
	uint64_t own, time; /* without and with those within it */
	uint64_t own_values[VM_PROFILE_WORDS], values[VM_PROFILE_WORDS];
	struct vm_pop pop; /* with those within it; cores 0: not known */
	unsigned ranks;	   /* that were in it */
};

struct vm_profile_job {
	/* Set by the caller. */
	const char *(*call_name)(uint32_t call);
	/* Times in ns from here on. */
	struct vm_profile_file **files;
	int file_count, rank_count;
	bool lent;	/* the files are not ours */
	uint32_t words; /* of variables */
	const struct vm_profile_var *vars;
	struct vm_profile_line *lines; /* most time first */
	unsigned line_count;
	struct vm_profile_part *parts; /* outer ones before inner ones */
	unsigned part_count;
	struct vm_pop_core *cores;	/* core_count of each part */
	unsigned core_count;		/* of all processes */
	uint64_t time, time_calls;	/* of all ranks */
	uint64_t had_calls, idle_calls; /* of time_calls: as of a line */
	uint64_t lost; /* amounts that had no room of their own */
};

/*
 * Reads the files that `processes` processes have left in dir.  0;
 * -VMPI_ENOENT: none (not logged); -VMPI_EINVAL, -VMPI_EIO (logged),
 * -VMPI_ENOMEM.  To be ended in any case.
 */
int vm_profile_job_read(struct vm_profile_job *job, const char *dir,
			int processes);
/* The same of one process whose profiles are in memory, and stay there.  0,
 * -VMPI_ENOMEM. */
int vm_profile_job_of(struct vm_profile_job *job, struct vm_profile_file *file);
/* Inside of them: adds the efficiencies.  0, -VMPI_ENOMEM. */
int vm_profile_job_pop(struct vm_profile_job *job);
void vm_profile_job_fini(struct vm_profile_job *job);

/* Prints the tables for people, in 80 columns. */
void vm_profile_job_print(const struct vm_profile_job *job, FILE *out);

/* Writes everything, each rank's rows too. */
void vm_profile_job_json(const struct vm_profile_job *job, FILE *out);

#endif
