/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined operations: one loop per operation and kind of number, in a
 * table that the compiler fills from mpi/type/basic.h.
 *
 * Sums, products and bitwise operations are the same for signed and unsigned
 * numbers and are computed unsigned, where overflow is defined.
 */
#include "mpi/type/basic.h"
#include "mpi/op/op.h"

/* gcc vectorises loops of unknown length at -O3 only. */
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* The result may be stored over an operand, but only at the same elements. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The loader takes the loops that the processor is best at: vectors of 32 bytes
 * where there are any.  Sanitizers do not know functions that are chosen so. */
#if defined(__x86_64__) && defined(__OPTIMIZE__) && defined(__GLIBC__) && \
	defined(__GNUC__) && !defined(__clang__) &&                       \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CHOSEN __attribute__((target_clones("avx2", "default")))
#else
#define CHOSEN
#endif

typedef unsigned __int128 u128;

static inline const void *at(const void *from, ptrdiff_t offset)
{
	return (const char *)from + offset;
}

/* Kind, and the unsigned C type of its size. */
#define KINDS_BITS(X)  \
	X(I8, uint8_t) \
	X(I16, uint16_t) X(I32, uint32_t) X(I64, uint64_t) X(I128, u128)
/* Kinds whose loops are those of the signed kind of their size. */
#define KINDS_UNSIGNED(X) X(U8, I8) X(U16, I16) X(U32, I32) X(U64, I64)

/* The loops over one operation: of two operands and, at once, of four that are
 * neighbours, which are then read from memory once and not kept in between. */
#define LOOPS(op, kind, c_type)                                                \
	CHOSEN static void op##_##kind(const void *left, const void *right,    \
				       void *to, size_t n)                     \
	{                                                                      \
		const c_type *a = left, *b = right;                            \
		c_type *out = to;                                              \
                                                                               \
		INDEPENDENT                                                    \
		for (size_t i = 0; i < n; i++)                                 \
			out[i] = op##_one_##kind(a[i], b[i]);                  \
	}                                                                      \
	CHOSEN static void op##_four_##kind(const void *const from[4],         \
					    ptrdiff_t offset, void *to,        \
					    size_t n)                          \
	{                                                                      \
		const c_type *a = at(from[0], offset);                         \
		const c_type *b = at(from[1], offset);                         \
		const c_type *c = at(from[2], offset);                         \
		const c_type *d = at(from[3], offset);                         \
		c_type *out = to;                                              \
                                                                               \
		INDEPENDENT                                                    \
		for (size_t i = 0; i < n; i++)                                 \
			out[i] = op##_one_##kind(op##_one_##kind(a[i], b[i]),  \
						 op##_one_##kind(c[i], d[i])); \
	}

#define LOOP(op, kind, c_type, result)                                       \
	static inline c_type op##_one_##kind(const c_type a, const c_type b) \
	{                                                                    \
		return (c_type)(result);                                     \
	}                                                                    \
	LOOPS(op, kind, c_type)

#define MAX_(kind, c_type) LOOP(max, kind, c_type, a > b ? a : b)
#define MIN_(kind, c_type) LOOP(min, kind, c_type, a < b ? a : b)
VM_KINDS_INTEGER(MAX_)
VM_KINDS_INTEGER(MIN_)
VM_KINDS_FLOAT(MAX_)
VM_KINDS_FLOAT(MIN_)

/* 1u: small numbers are promoted to unsigned int, not to int. */
#define SUM_BITS_(kind, c_type) LOOP(sum, kind, c_type, 1u * a + b)
#define PROD_BITS_(kind, c_type) LOOP(prod, kind, c_type, 1u * a * b)
KINDS_BITS(SUM_BITS_)
KINDS_BITS(PROD_BITS_)
#define SUM_(kind, c_type) LOOP(sum, kind, c_type, a + b)
#define PROD_(kind, c_type) LOOP(prod, kind, c_type, a *b)
VM_KINDS_FLOAT(SUM_)
VM_KINDS_FLOAT(PROD_)
VM_KINDS_COMPLEX(SUM_)
VM_KINDS_COMPLEX(PROD_)

#define BAND_(kind, c_type) LOOP(band, kind, c_type, a &b)
#define BOR_(kind, c_type) LOOP(bor, kind, c_type, a | b)
#define BXOR_(kind, c_type) LOOP(bxor, kind, c_type, a ^ b)
KINDS_BITS(BAND_)
KINDS_BITS(BOR_)
KINDS_BITS(BXOR_)

#define LAND_(kind, c_type) LOOP(land, kind, c_type, a &&b)
#define LOR_(kind, c_type) LOOP(lor, kind, c_type, a || b)
#define LXOR_(kind, c_type) LOOP(lxor, kind, c_type, !a != !b)
KINDS_BITS(LAND_)
KINDS_BITS(LOR_)
KINDS_BITS(LXOR_)
VM_KINDS_BOOL(LAND_)
VM_KINDS_BOOL(LOR_)
VM_KINDS_BOOL(LXOR_)

/* Of equal values the one with the lower index wins (MPI 4.1, 6.9.4). */
#define LOC_LOOP(op, kind, better)                                      \
	static inline struct vm_##kind op##_one_##kind(                 \
		const struct vm_##kind a, const struct vm_##kind b)     \
	{                                                               \
		return a.value better b.value || (a.value == b.value && \
						  a.index < b.index) ?  \
			       a :                                      \
			       b;                                       \
	}                                                               \
	LOOPS(op, kind, struct vm_##kind)
#define MAXLOC_(kind, v, i) LOC_LOOP(maxloc, kind, >)
#define MINLOC_(kind, v, i) LOC_LOOP(minloc, kind, <)
VM_KINDS_PAIR(MAXLOC_)
VM_KINDS_PAIR(MINLOC_)

/* The rows of the tables. */
#define AT(op, kind) [VM_KIND_##kind] = { op##_##kind, op##_four_##kind },
#define AT_AS(op, kind, other) \
	[VM_KIND_##kind] = { op##_##other, op##_four_##other },
#define MAX_AT(kind, c_type) AT(max, kind)
#define MIN_AT(kind, c_type) AT(min, kind)
#define SUM_AT(kind, c_type) AT(sum, kind)
#define PROD_AT(kind, c_type) AT(prod, kind)
#define BAND_AT(kind, c_type) AT(band, kind)
#define BOR_AT(kind, c_type) AT(bor, kind)
#define BXOR_AT(kind, c_type) AT(bxor, kind)
#define LAND_AT(kind, c_type) AT(land, kind)
#define LOR_AT(kind, c_type) AT(lor, kind)
#define LXOR_AT(kind, c_type) AT(lxor, kind)
#define SUM_AS(kind, other) AT_AS(sum, kind, other)
#define PROD_AS(kind, other) AT_AS(prod, kind, other)
#define BAND_AS(kind, other) AT_AS(band, kind, other)
#define BOR_AS(kind, other) AT_AS(bor, kind, other)
#define BXOR_AS(kind, other) AT_AS(bxor, kind, other)
#define LAND_AS(kind, other) AT_AS(land, kind, other)
#define LOR_AS(kind, other) AT_AS(lor, kind, other)
#define LXOR_AS(kind, other) AT_AS(lxor, kind, other)
#define MAXLOC_AT(kind, v, i) AT(maxloc, kind)
#define MINLOC_AT(kind, v, i) AT(minloc, kind)

#define ORDERED                                                    \
	(VM_FAMILY_INTEGER | VM_FAMILY_FORTRAN | VM_FAMILY_FLOAT | \
	 VM_FAMILY_ADDRESS)
#define NUMBERS (ORDERED | VM_FAMILY_COMPLEX)
#define BITS                                                      \
	(VM_FAMILY_INTEGER | VM_FAMILY_FORTRAN | VM_FAMILY_BYTE | \
	 VM_FAMILY_ADDRESS)
/* Addresses are numbers that other MPIs accept, too. */
#define TRUTHS (VM_FAMILY_INTEGER | VM_FAMILY_LOGICAL | VM_FAMILY_ADDRESS)
#define PAIRS VM_FAMILY_PAIR

/* Name, handle, families, rows. */
#define OPS(X)                                                                 \
	X(SUM, 0x21, NUMBERS,                                                  \
	  KINDS_BITS(SUM_AT) KINDS_UNSIGNED(SUM_AS) VM_KINDS_FLOAT(SUM_AT)     \
		  VM_KINDS_COMPLEX(SUM_AT))                                    \
	X(MIN, 0x22, ORDERED, VM_KINDS_INTEGER(MIN_AT) VM_KINDS_FLOAT(MIN_AT)) \
	X(MAX, 0x23, ORDERED, VM_KINDS_INTEGER(MAX_AT) VM_KINDS_FLOAT(MAX_AT)) \
	X(PROD, 0x24, NUMBERS,                                                 \
	  KINDS_BITS(PROD_AT) KINDS_UNSIGNED(PROD_AS) VM_KINDS_FLOAT(PROD_AT)  \
		  VM_KINDS_COMPLEX(PROD_AT))                                   \
	X(BAND, 0x28, BITS, KINDS_BITS(BAND_AT) KINDS_UNSIGNED(BAND_AS))       \
	X(BOR, 0x29, BITS, KINDS_BITS(BOR_AT) KINDS_UNSIGNED(BOR_AS))          \
	X(BXOR, 0x2a, BITS, KINDS_BITS(BXOR_AT) KINDS_UNSIGNED(BXOR_AS))       \
	X(LAND, 0x30, TRUTHS,                                                  \
	  KINDS_BITS(LAND_AT) KINDS_UNSIGNED(LAND_AS) VM_KINDS_BOOL(LAND_AT))  \
	X(LOR, 0x31, TRUTHS,                                                   \
	  KINDS_BITS(LOR_AT) KINDS_UNSIGNED(LOR_AS) VM_KINDS_BOOL(LOR_AT))     \
	X(LXOR, 0x32, TRUTHS,                                                  \
	  KINDS_BITS(LXOR_AT) KINDS_UNSIGNED(LXOR_AS) VM_KINDS_BOOL(LXOR_AT))  \
	X(MINLOC, 0x38, PAIRS, VM_KINDS_PAIR(MINLOC_AT))                       \
	X(MAXLOC, 0x39, PAIRS, VM_KINDS_PAIR(MAXLOC_AT))                       \
	X(REPLACE, 0x3c, VM_FAMILY_TEXT, [0] = { NULL })                       \
	X(NO_OP, 0x3d, VM_FAMILY_TEXT, [0] = { NULL })

#define OP_(op_name, handle, families_, rows)                                 \
	static const struct vm_op_loops loops_##op_name[VM_KINDS] = { rows }; \
	static const struct vm_op op_##op_name = {                            \
		.object = { .magic = VM_MAGIC_OP },                           \
		.name = "MPI_" #op_name,                                      \
		.number = (handle)-0x20,                                      \
		.commutes = (handle) < 0x3c,                                  \
		.families = (families_),                                      \
		.loops = loops_##op_name,                                     \
	};
OPS(OP_)

#define OP_AT_(op_name, handle, families, rows) [(handle)-0x20] = &op_##op_name,
const struct vm_op *const vm_op_builtin[VM_OP_BUILTINS] = { OPS(OP_AT_) };
