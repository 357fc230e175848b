/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a job: it ended, died, or hangs, and who waits for whom.
 */
#ifndef VMPITOP_VERDICT_H
#define VMPITOP_VERDICT_H

#include "model.h"

enum verdict_kind { VERDICT_FINE, VERDICT_ENDED, VERDICT_DIED, VERDICT_HANGS };

#define VERDICT_LINES 6

struct verdict {
	enum verdict_kind kind;
	int line_count;
	char lines[VERDICT_LINES][160];
};

/*
 * hang_s: after so many seconds in which nothing moved, while all ranks that
 * have not ended wait, the job hangs.  The first line says what is the matter,
 * the others who waits for whom: a circle of them, if there is one.
 */
void verdict_find(struct verdict *verdict, const struct model *model,
		  double hang_s);

#endif
