/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables of which each rank may have a value of its own: those whose
 * row says RANK.
 *
 * A rank reads them as vm_rank_cvars(rank)->eager_limit.  It shares the struct
 * of the process until it gets its first own value; then it has a copy, in
 * which all that was not set for it follows the process.
 */
#ifndef CORE_RANK_CVAR_H
#define CORE_RANK_CVAR_H

#include <stdint.h>

struct vm_rank;

/*
 * The value that counts for rank `rank` (of the world) of this process, as a
 * number; of variables that are not RANK, and with rank -1, that of the
 * process. As vm_cvar_load(), and -VMPI_ERANK: no such rank is here.  Any
 * thread while the runtime runs.
 */
int vm_cvar_load_rank(int64_t *value, int number, int rank);

/*
 * Gives the rank a value of its own, from its next call on;
 * vm_cvar_follow_rank() lets it follow the process again.  -VMPI_ENOENT: no
 * such variable; -VMPI_EINVAL: not RANK, or out of its range; -VMPI_ERANK;
 * -VMPI_ENOMEM. Nothing is logged.  Any thread while the runtime runs.
 */
int vm_cvar_store_rank(int number, int rank, int64_t value);
int vm_cvar_follow_rank(int number, int rank);

/* At its beginning and end. */
void vm_rank_cvars_init(struct vm_rank *rank);
void vm_rank_cvars_fini(struct vm_rank *rank);

#endif
