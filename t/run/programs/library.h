/* SPDX-License-Identifier: BSD-3-Clause */
/* A library with state that calls vmpi, and one that does not. */
#ifndef LIBRARY_H
#define LIBRARY_H

int library_start(void); /* keeps the caller's rank */
int library_state(void);
extern int library_global;  /* 100 + rank */
int library_callback(void); /* what program_value() says */
int program_value(void);    /* the program's */

int plain_next(void); /* counts the calls of all ranks */

#endif
