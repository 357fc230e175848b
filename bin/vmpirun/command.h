/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line that is being put together.
 */
#ifndef VMPIRUN_COMMAND_H
#define VMPIRUN_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct command {
	char **list; /* ends with NULL once there is a word */
	size_t count, room;
	bool failed; /* out of memory: said, and nothing is added any more */
};

/* Adds a copy of the word. */
void command_add(struct command *command, const char *word);

/* Adds what printf() would print as one word. */
void command_addf(struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Moves the words of `from` behind those of `to`. */
void command_move(struct command *to, struct command *from);

/*
 * Adds the words of a command as a shell divides it: at blanks, but for quotes
 * and backslashes.  %h becomes host, %n number, %% one %.
 * Result: 0, or -VMPI_EINVAL after one line, which begins with `option`.
 */
int command_add_text(struct command *command, const char *option,
		     const char *text, const char *host, int number);

/* Adds the word as a shell reads it back: in quotes if it needs them. */
void command_add_quoted(struct command *command, const char *word);

/* The same to standard output. */
void command_word_print(const char *word);

void command_fini(struct command *command);

#endif
