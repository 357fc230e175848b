/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a rank starts.
 *
 * A process inherits the binding of the thread that starts it.  A worker is
 * bound to one core, which a program that counts its processors must not take
 * for all there are.
 */
#ifndef UNBIND_H
#define UNBIND_H

/* Before a process is started: if the caller is a worker that is bound, it is
 * so no more.  Returns what unbind_end() needs to bind it again. */
int unbind_begin(void);
void unbind_end(int worker);

#endif
