/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network's sockets, which are this process's alone.
 */
#ifndef SOCKETS_H
#define SOCKETS_H

/* Around fork(): the child closes them. */
void sockets_fork_begin(void);
void sockets_fork_parent(void);
void sockets_fork_child(void);

#endif
