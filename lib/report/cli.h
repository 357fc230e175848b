/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of a program: a table of options over argp, and one line on
 * standard error for each mistake.
 *
 * A program has a struct options of its own, a row and a function for each
 * option, and vm_cli_program.  Values of options are read by report/option.h.
 */
#ifndef REPORT_CLI_H
#define REPORT_CLI_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/nearest.h"

/* Exit status of a mistake on the command line or in the environment. */
#define VM_EXIT_MISTAKE 2

/* The name of the program, which begins what it says: each program has one. */
extern const char vm_cli_program[];

/* Writes "PROGRAM: text" to standard error as one line. */
void vm_cli_say(const char *format, ...) VM_PRINTF(1, 2);

/* Says "out of memory" and returns -VMPI_ENOMEM. */
int vm_cli_no_memory(void);

/* Of the program. */
struct options;

/* Takes the value of an option; NULL: it has none.  0, or -VMPI_E... after one
 * line. */
typedef int (*vm_cli_take)(struct options *options, const char *value);

/* Two that vm_cli_parse() knows: they print to standard output and exit. */
int vm_cli_help(struct options *options, const char *value);
int vm_cli_version(struct options *options, const char *value);

struct vm_cli_row {
	const char *name; /* the long name; NULL: doc is the title of a group */
	int letter;	  /* the short name, or 0 */
	/* What the help calls the value; NULL: none.  With a space in it there
	 * are two, which are taken as one text, as which they may also be given:
	 * "FIRST=SECOND". */
	const char *value;
	int flags; /* of argp; an OPTION_ALIAS is taken as the row before */
	const char *doc;
	int group;
	vm_cli_take take;
};

/* An option of other programs of this kind, which the help does not list. */
struct vm_cli_foreign {
	const char *name;
	const char *value;   /* what its value is; NULL: none */
	const char *instead; /* why it is refused; NULL: it has no effect */
};

/* The words that an option takes, for completion. */
struct vm_cli_words {
	const char *name; /* of the option; NULL ends the table */
	const char *words;
};

struct vm_cli {
	const struct vm_cli_row *rows;
	size_t count;
	const struct vm_cli_words *words; /* or NULL */
	const struct vm_cli_foreign *foreign;
	size_t foreign_count;
	int (*foreign_take)(struct options *options,
			    const struct vm_cli_foreign *row,
			    const char *value);
	const char *operands; /* for the help: "[JOB]" */
	const char *doc;      /* of argp: before the options \v behind them */
	bool one_dash;	      /* -name is --name */
	bool command; /* the operands are a command, whose options are its own */
	/* Takes an operand, the first of words; of a command all of it, up to
	 * NULL. */
	int (*operand)(struct options *options, char **words);
};

#define VM_CLI_ROWS(table) \
	.rows = (table), .count = sizeof(table) / sizeof((table)[0])

/* Defines NAME_take(), for an option that sets a field to true, or to its
 * value. */
#define VM_CLI_FLAG(name, field)                                           \
	static int name##_take(struct options *options, const char *value) \
	{                                                                  \
		(void)value;                                               \
		options->field = true;                                     \
		return 0;                                                  \
	}
#define VM_CLI_TEXT(name, field)                                           \
	static int name##_take(struct options *options, const char *value) \
	{                                                                  \
		options->field = value;                                    \
		return 0;                                                  \
	}

/*
 * Reads the words of the command line in their order.  0, or -VMPI_E... after
 * one line about the first mistake.  If the only word is --completion=SHELL, it
 * prints a completion script and exits: the build installs those.
 */
int vm_cli_parse(const struct vm_cli *cli, struct options *options, int argc,
		 char **argv);

/* Flushes standard output at the end of a program.  Result: status; if
 * something could not be written, EXIT_FAILURE after one line. */
int vm_cli_end(int status);

#define VM_CLI_MISTAKE_MAX 400

/*
 * Writes what is wrong with a word that is no option, or not so: "--xyz: no
 * such option; did you mean --xya?".  Hidden options are never meant.
 */
void vm_cli_mistake(char text[VM_CLI_MISTAKE_MAX], const struct vm_cli *cli,
		    const char *word);

/* "did you mean NAME?"; if no name is near, `lists`, which says where they are
 * listed. */
const char *vm_cli_meant(char text[VM_CLI_MISTAKE_MAX],
			 const struct vm_nearest *nearest, const char *lists);

#endif
