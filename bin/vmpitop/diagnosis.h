/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdict on a job: it ended, died, or hangs, and which ranks wait for
 * which.
 */
#ifndef VMPITOP_DIAGNOSIS_H
#define VMPITOP_DIAGNOSIS_H

#include "model.h"

enum diagnosis_kind {
	DIAGNOSIS_FINE,
	DIAGNOSIS_ENDED,
	DIAGNOSIS_DIED,
	DIAGNOSIS_HANGS
};

#define DIAGNOSIS_LINES 6

struct diagnosis {
	enum diagnosis_kind kind;
	int line_count;
	char lines[DIAGNOSIS_LINES][160];
};

/*
 * hang_s: after so many seconds in which nothing moved, while all ranks that
 * have not ended wait, the job hangs.  The first line is the summary, the
 * others say which rank waits for which: a circle of them, if there is one.
 */
void diagnosis_find(struct diagnosis *diagnosis, const struct model *model,
		    double hang_s);

#endif
