/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The COMMON block of mpif.h and the modules, for those who do not use it.
 */
#include "convert.h"

__attribute__((common)) struct vm_f_sentinels vmpi_sentinels_;
