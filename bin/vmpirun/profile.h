/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --profile: where the node processes leave their profiles, and the tables at
 * the end.
 */
#ifndef VMPIRUN_PROFILE_H
#define VMPIRUN_PROFILE_H

#include "options.h"

/* Takes --profile[=VARS] and --profile-json FILE. */
int profile_take(struct options *options, const char *vars);
int profile_json_take(struct options *options, const char *file);

/* Before the start: the variables are there, and a directory for the files,
 * which processes on other hosts find.  0, or -VMPI_E... after one line. */
int profile_check(struct options *options, bool others);

/* Prints the profile when all processes have ended, and removes the files.  0,
 * or -VMPI_E... after one line. */
int profile_report(const struct options *options, int processes);

#endif
