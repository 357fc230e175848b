/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry of programs that are started without vmpirun.
 */
#ifndef CORE_INSTRUMENT_IMAGE_MAIN_H
#define CORE_INSTRUMENT_IMAGE_MAIN_H

#include "vmpi.h"

/* The environment variable with the file that the node program is to load; its
 * arguments are then the program's, its name included. */
#define VM_IMAGE_VARIABLE "VMPI_IMAGE"

/* Called by the entry code that vmpicc links into programs (bin/image): runs
 * the program as a job of one rank.  Does not return. */
VMPI_API _Noreturn void vmpi_image_main(int argc, char **argv);

#endif
