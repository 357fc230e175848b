/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --tune and --policy: which policies watch the job.
 */
#ifndef VMPIRUN_TUNE_H
#define VMPIRUN_TUNE_H

#include "options.h"

/* Takes --tune LIST: names of built-in policies, or all. */
int tune_take(struct options *options, const char *list);

/* Takes --policy FILE[=ARGUMENT], which may come again.  The file is there;
 * what is in it the node processes see. */
int policy_take(struct options *options, const char *text);

/* Takes --tune-log. */
int tune_log_take(struct options *options, const char *text);

#endif
