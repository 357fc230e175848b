/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong with a word of the command line that argp could not take, in one
 * line; its own words would be two, and say less.
 */
#ifndef REPORT_CLI_H
#define REPORT_CLI_H

#include <argp.h>

#define VM_CLI_MISTAKE_MAX 400

/*
 * Writes what is wrong: "--xyz: no such option; did you mean --xya?".  options is
 * argp's array; hidden ones are never meant.
 */
void vm_cli_mistake(char text[VM_CLI_MISTAKE_MAX], const char *program,
		    const char *word, const struct argp_option *options);

#endif
