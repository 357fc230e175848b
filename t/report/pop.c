/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Efficiencies of programs whose answers are known.
 */
#include "report/pop.h"

#include <math.h>

#include "tap.h"

static void is_part(double got, double want, const char *what)
{
	if (!ok(fabs(got - want) < 1e-9, "%s is %g", what, want))
		diag("got %.12g", got);
}

static void is_pop(const struct vm_pop_core *cores, unsigned count,
		   double elapsed, double balance, double serialisation,
		   double transfer)
{
	struct vm_pop pop;

	ok(vm_pop_of(&pop, cores, count, elapsed, true), "%u cores", count);
	is_part(pop.balance, balance, "balance");
	is_part(pop.serialisation, serialisation, "serialisation");
	is_part(pop.transfer, transfer, "transfer");
	is_part(pop.parallel, balance * serialisation * transfer, "parallel");
	is_part(pop.parallel, pop.useful / (count * pop.elapsed),
		"useful time by all time");
}

int main(void)
{
	struct vm_pop pop;

	/* All compute all the time. */
	is_pop((struct vm_pop_core[]){ { 8, 0 }, { 8, 0 } }, 2, 8, 1, 1, 1);
	/* One waits for the other, as at a barrier. */
	is_pop((struct vm_pop_core[]){ { 8, 0 }, { 4, 0 } }, 2, 8, 0.75, 1, 1);
	/* A pipeline: they take turns. */
	is_pop((struct vm_pop_core[]){ { 4, 0 }, { 4, 0 } }, 2, 8, 1, 0.5, 1);
	/* Both move messages half of the time. */
	is_pop((struct vm_pop_core[]){ { 4, 4 }, { 4, 4 } }, 2, 8, 1, 1, 0.5);
	/* All of that: of 20 the first computes 8, moves 4 and waits 8. */
	is_pop((struct vm_pop_core[]){ { 8, 4 }, { 6, 10 }, { 4, 0 } }, 3, 20,
	       0.75, 0.5, 0.8);
	/* A core without ranks. */
	is_pop((struct vm_pop_core[]){ { 8, 0 }, { 0, 0 } }, 2, 8, 0.5, 1, 1);
	/* A clock that is late. */
	is_pop((struct vm_pop_core[]){ { 9, 1 } }, 1, 9.5, 1, 1, 0.9);
	ok(!vm_pop_of(&pop, NULL, 0, 8, true), "without cores there is none");
	ok(!vm_pop_of(&pop, &(struct vm_pop_core){ 0, 3 }, 1, 8, true),
	   "nor where nobody computes");
	/* A section that only one of two cores has been in. */
	ok(vm_pop_of(&pop, (struct vm_pop_core[]){ { 0, 0 }, { 4, 2 } }, 2, 8,
		     false),
	   "a section");
	is_int(pop.cores, 1, "is on the cores that were in it");
	is_part(pop.balance, 1, "and balanced among them");
	return done_testing();
}
