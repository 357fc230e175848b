/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the targets of t/fuzz have in common: files that are inputs, and inputs
 * that say how a good file is changed.
 *
 * The folder of these files, FUZZ_DIR, exists for the code under test only: its
 * open(), fopen(), realpath() and mmap() come here (t/fuzz/meson.build).  A file
 * is mapped as a copy of exactly its bytes, so that a sanitizer sees what is
 * read beyond.  Nothing is printed: messages are formatted and dropped.
 */
#ifndef T_FUZZ_INPUT_H
#define T_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_DIR "/fuzz/"

/* A target: one input.  Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Makes FUZZ_DIR/name a file with these bytes.  What is written to other files
 * there is lost, and others cannot be read. */
void fuzz_file(const char *name, const void *bytes, size_t length);

/* The input as a text that ends with a zero, to be freed. */
char *fuzz_text(const uint8_t *data, size_t bytes);

/* The most bytes of a good file. */
#define FUZZ_GOOD_MAX (1 << 20)

/*
 * Makes FUZZ_DIR/name of the good file and an input: of its first byte 0 the
 * input is the file, behind that byte; else changes of the good one follow, each
 * a byte with what is done and how often, three with the place, and the bytes
 * that are put there, if any are.
 */
void fuzz_changed(const char *name, const void *good, size_t length,
		  const uint8_t *data, size_t bytes);

/* Whether such an input changes nothing: a target that then finds its file
 * refused has not made a good one, and aborts. */
bool fuzz_unchanged(const uint8_t *data, size_t bytes);

/* As fuzz_changed() in memory, with room for the good bytes and for the input; the
 * result is how many there are. */
size_t fuzz_change(uint8_t *out, const void *good, size_t length,
		   const uint8_t *data, size_t bytes);

/* What the next one who connects to a socket in FUZZ_DIR is answered: so many
 * bytes, and the end. */
void fuzz_answer(const void *bytes, size_t length);

#endif
