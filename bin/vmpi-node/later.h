/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that are loaded while ranks run, for ranks that these start.
 */
#ifndef LATER_H
#define LATER_H

struct vm_job;

/* Sets the hooks of the runtime for that; the job stays. */
void later_prepare(const struct vm_job *job);

#endif
