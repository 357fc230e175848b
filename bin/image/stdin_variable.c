/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard input belongs to rank 0; for all other ranks it is empty.
 */
#include <stdio.h>

#include "image.h"
#include "vmpi.h"

extern struct _IO_FILE_plus _IO_2_1_stdin_; /* libc's */

FILE *stdin;

__attribute__((constructor(101))) static void start(void)
{
	stdin = (FILE *)&_IO_2_1_stdin_;
	/* Without a read function every read is the end of the file. */
	if (vmpi_rank() > 0)
		stdin = LIBC(fopencookie)(NULL, "r",
					  (cookie_io_functions_t){ 0 });
}
