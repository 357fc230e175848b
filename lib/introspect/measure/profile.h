/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile: how much chosen counters grew, and how much time passed, in each
 * function and section, of one rank.
 *
 * The rank is always in exactly one row: that of its innermost open section and
 * of the call it is in, or of none.  Whenever it goes to another row, the
 * growth since the last time is added to the row that it leaves.  So rows add
 * up to everything, nothing is counted twice, and the total of a section with
 * its inner ones is a sum.  Time and values come as arguments.
 */
#ifndef INTROSPECT_MEASURE_PROFILE_H
#define INTROSPECT_MEASURE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define VM_PROFILE_VARS 32 /* words of chosen variables */
/* Behind the variables: for how long the rank has had its core, and for how long
 * that had nothing to run. */
enum { VM_PROFILE_HAD, VM_PROFILE_IDLE, VM_PROFILE_OWN };
#define VM_PROFILE_WORDS (VM_PROFILE_VARS + VM_PROFILE_OWN)
#define VM_PROFILE_SECTIONS 32 /* with that of all, 0 */
#define VM_PROFILE_DEPTH 32
#define VM_PROFILE_ROWS 512
#define VM_PROFILE_SLOTS 1024 /* a power of 2, twice the rows */
#define VM_PROFILE_NAME 48

struct vm_profile_row {
	uint32_t section;
	uint32_t call;	/* its number; 0: outside of calls */
	uint64_t count; /* calls that began */
	uint64_t time;
	uint64_t values[VM_PROFILE_WORDS];
};

struct vm_profile_section {
	char name[VM_PROFILE_NAME];
	int32_t parent; /* of section 0: -1 */
	uint32_t reserved;
	uint64_t count; /* times that it began */
};

/* Of one rank, in the file of its process; written by the rank. */
struct vm_profile {
	int32_t rank;
	uint32_t words;
	uint32_t off;	   /* switched off: nothing is counted */
	uint32_t sections; /* used */
	uint32_t rows;	   /* used */
	uint32_t row;	   /* where the rank is */
	uint32_t depth;	   /* of open sections, those without room too */
	uint32_t lost_sections, lost_rows; /* that found no room */
	uint32_t worker;		   /* the rank's, of its process */
	uint32_t idle_worker;	  /* whose idle time was read last, and 1 */
	uint64_t idle_last, idle; /* it; the growth while the rank was there */
	uint32_t open[VM_PROFILE_DEPTH];
	uint64_t begin, time; /* of the first and the last change of row */
	uint64_t last[VM_PROFILE_WORDS];
	uint16_t slots[VM_PROFILE_SLOTS]; /* number of a row and 1; 0: free */
	struct vm_profile_section list[VM_PROFILE_SECTIONS];
	struct vm_profile_row table[VM_PROFILE_ROWS];
};

/* Initializes it; all zeros before. */
void vm_profile_init(struct vm_profile *profile, int rank, unsigned words);

/* The rank begins to run, outside of calls and sections; it ends. */
void vm_profile_begin(struct vm_profile *profile, uint64_t now,
		      const uint64_t *values);
void vm_profile_end(struct vm_profile *profile, uint64_t now,
		    const uint64_t *values);

/* The idle time of the rank's core, as a value that grows also when the rank goes
 * to another one: by the idle time of its worker of this number. */
uint64_t vm_profile_idle(struct vm_profile *profile, uint32_t worker,
			 uint64_t idle);

/* A call begins; it ends. */
void vm_profile_enter(struct vm_profile *profile, uint64_t now,
		      const uint64_t *values, uint32_t call);
void vm_profile_exit(struct vm_profile *profile, uint64_t now,
		     const uint64_t *values);

/* Begins a section, inside the one that is open; ends the innermost one if
 * `name` is its name or NULL, else -VMPI_EINVAL. */
void vm_profile_section_begin(struct vm_profile *profile, uint64_t now,
			      const uint64_t *values, const char *name);
int vm_profile_section_end(struct vm_profile *profile, uint64_t now,
			   const uint64_t *values, const char *name);

/* Switches counting on or off. */
void vm_profile_switch(struct vm_profile *profile, uint64_t now,
		       const uint64_t *values, bool on);

/* Whether all numbers in it are such that the functions above could have made
 * them: for a profile from a file. */
bool vm_profile_valid(const struct vm_profile *profile);

#endif
