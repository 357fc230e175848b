/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of the program, where a rank asks for that of its process.
 */
#ifndef EXE_PATH_H
#define EXE_PATH_H

/* The program, if path is a link to the executable and a rank asks; or path. */
const char *exe_path_meant(const char *path);

#endif
