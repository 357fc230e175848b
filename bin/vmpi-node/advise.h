/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpirun's --advise: the facts of the processes, brought together, and what
 * report/advice.h says to them.
 */
#ifndef ADVISE_H
#define ADVISE_H

#include <stdint.h>

struct vm_advice_facts;

/* With the variables read and before the program is loaded: what is counted in
 * which call is wanted.  0 or -VMPI_ENOMEM. */
int advise_prepare(void);

/* The calls of the ranks here, and their time: 0 or -VMPI_ENOMEM. */
int advise_calls_take(struct vm_advice_facts *facts);
/* Where they wait, and what their placement costs: 0 or -VMPI_ENOMEM. */
int advise_sites_take(struct vm_advice_facts *facts);

/*
 * Prints advice when all ranks have ended: a collective operation of all
 * processes, of which node 0 prints.  ticks are the run times of the ranks
 * here, wall_ns the time that has passed.
 */
void advise_print(const uint64_t *ticks, uint64_t wall_ns);
#endif
