/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signatures of data: the sequence of predefined types in it, however the
 * datatype was made.  What a message carries of one is a word of 24 bits.
 *
 * They are computed only while mpi_check_types is on.
 */
#ifndef MPI_TYPE_SIGNATURE_H
#define MPI_TYPE_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_type;

/*
 * A word: the first predefined type, by its handle - MPI_DATATYPE_NULL, in the
 * high 8 bits; in the low 16 bits a hash of the sequence, or 0 if all are
 * alike.  With the number of bytes, the words of data that are alike are exact.
 * 0: it says nothing.
 */
#define VM_SIGNATURE_BITS 24

/* Values of mpi_check_types. */
enum vm_check_types {
	VM_TYPES_OFF,
	/* Integers of the same size are alike, signed or not, and so are
	 * numbers with a point; MPI_BYTE fits everything. */
	VM_TYPES_KIND,
	VM_TYPES_EXACT, /* MPI 4.1, 3.3.1 */
};

/* Returns the word of count elements. */
uint32_t vm_signature(const struct vm_type *type, size_t count);

/* Tells whether `bytes` bytes of data with this word may be received as the
 * first of count elements of type. */
bool vm_signature_fits(uint32_t word, size_t bytes, const struct vm_type *type,
		       size_t count);

/* Writes what is known: "4 MPI_INT", "24 bytes of MPI_INT and others". */
void vm_signature_words(char *text, size_t size, uint32_t word, size_t bytes);

#endif
