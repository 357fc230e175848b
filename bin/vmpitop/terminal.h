/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal: pages go out, keys come in (ncurses).
 *
 * Whatever ends the program, a signal too, leaves the terminal as it was.
 */
#ifndef VMPITOP_TERMINAL_H
#define VMPITOP_TERMINAL_H

#include "canvas.h"
#include "plot.h"

/* Takes the terminal; -1: it cannot be used, and *why says it in words. */
int term_open(char *why, size_t bytes);

/* Gives it back; without term_open() nothing happens. */
void term_close(void);

void term_size(int *rows, int *cols);

/* The best way of plotting for this terminal. */
enum plot_how term_plot_how(void);

/* Shows a page, which has the terminal's size or another one. */
void term_show(const struct canvas *canvas);

/*
 * Waits up to wait_s seconds for a key: a character, one of keys.h, or
 * TERM_NONE, also when the size has changed, TERM_GONE when there will be none.
 */
enum { TERM_NONE = -1, TERM_GONE = -2 };
int term_key(double wait_s);

#endif
