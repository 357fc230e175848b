/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion of a program's options in bash and zsh.
 */
#ifndef REPORT_COMPLETE_H
#define REPORT_COMPLETE_H

#include "report/cli.h"

/* Writes the completion script for a shell, "bash" or "zsh", to standard
 * output.  0, or -VMPI_EINVAL after one line. */
int vm_complete_print(const struct vm_cli *cli, const char *shell);

#endif
