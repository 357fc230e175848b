/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of other launchers that mean something here, at least with some
 * values; the others are told in one line.
 */
#ifndef VMPIRUN_COMPAT_H
#define VMPIRUN_COMPAT_H

#include <stdbool.h>

#include "options.h"

/* Each takes the value of an option.  0, or -VMPI_EINVAL after one line. */
int compat_bind_to(struct options *options, const char *text);
int compat_map_by(struct options *options, const char *text);
int compat_by_node(struct options *options, const char *text);
int compat_ppr(struct options *options, const char *text);
int compat_with_ft(struct options *options, const char *text);
int compat_rank_by(struct options *options, const char *text);
int compat_cpu_set(struct options *options, const char *text);
int compat_display(struct options *options, const char *text);
int compat_bootstrap(struct options *options, const char *text);
int compat_mca(struct options *options, const char *text);

/* Whether --output means the beginning of lines, as it does in Open MPI 5. */
bool compat_is_tag(const char *text);

/* Remembers an option that has no effect, with its value or ""; of one with a name
 * and a value ("btl=tcp") the name only.  0 or -VMPI_ENOMEM. */
int compat_ignore(struct options *options, const char *option,
		  const char *text);

/* Says what of them has no effect, unless --quiet is given. */
void compat_say(const struct options *options);

#endif
