/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined datatypes as tables.
 *
 * A kind is a C type used in computations; several predefined types may share
 * one.  A family determines the operations that MPI (4.1, 6.9.2) allows on a
 * type.  The tables expand to the types (builtin.c) and the operations
 * (mpi/op/table.c).
 */
#ifndef MPI_TYPE_BASIC_H
#define MPI_TYPE_BASIC_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
typedef __float128 vm_f128;
typedef _Complex float vm_c256 __attribute__((mode(TC)));
#else
typedef long double vm_f128;
typedef _Complex long double vm_c256;
#endif
typedef __int128 vm_i128;

/* gcc supports half precision on both architectures, clang 14 does not. */
#if defined(__FLT16_MAX__) && !defined(__clang__)
typedef _Float16 vm_f16;
typedef _Complex _Float16 vm_c32;
#define VM_KINDS_F16(X) X(F16, vm_f16)
#define VM_KINDS_C32(X) X(C32, vm_c32)
#define VM_TYPES_F16(X)             \
	X(REAL2, 0x2ca, F16, FLOAT) \
	X(COMPLEX4, 0x2d3, C32, COMPLEX)
#else
#define VM_KINDS_F16(X)
#define VM_KINDS_C32(X)
#define VM_TYPES_F16(X)
#endif

/*
 * MPI counts char as text, without operations; programs do reduce it, and every
 * MPI lets them.
 */
#ifdef __CHAR_UNSIGNED__
#define VM_TYPES_CHAR(X) X(CHAR, 0x243, U8, INTEGER)
#else
#define VM_TYPES_CHAR(X) X(CHAR, 0x243, I8, INTEGER)
#endif

/* clang-format off */

/* Kind and C type, grouped by the operations they have. */
#define VM_KINDS_INTEGER(X)                                      \
	X(I8, int8_t) X(I16, int16_t) X(I32, int32_t)            \
	X(I64, int64_t) X(I128, vm_i128)                         \
	X(U8, uint8_t) X(U16, uint16_t) X(U32, uint32_t)         \
	X(U64, uint64_t)
#define VM_KINDS_FLOAT(X)                                        \
	VM_KINDS_F16(X) X(F32, float) X(F64, double)             \
	X(FLONG, long double) X(F128, vm_f128)
#define VM_KINDS_COMPLEX(X)                                      \
	VM_KINDS_C32(X) X(C64, _Complex float)                   \
	X(C128, _Complex double) X(CLONG, _Complex long double)  \
	X(C256, vm_c256)
#define VM_KINDS_BOOL(X) X(BOOL, bool)

/* Pairs of a value and an index: kind and both C types. */
#define VM_KINDS_PAIR(X)                                         \
	X(P_FLOAT_INT, float, int)                               \
	X(P_DOUBLE_INT, double, int)                             \
	X(P_LONG_INT, long, int)                                 \
	X(P_INT_INT, int, int)                                   \
	X(P_SHORT_INT, short, int)                               \
	X(P_LONG_DOUBLE_INT, long double, int)                   \
	X(P_FLOAT_FLOAT, float, float)                           \
	X(P_DOUBLE_DOUBLE, double, double)

/* clang-format on */

#define VM_PAIR_STRUCT_(kind, value_type, index_type) \
	struct vm_##kind {                            \
		value_type value;                     \
		index_type index;                     \
	};
VM_KINDS_PAIR(VM_PAIR_STRUCT_)
#undef VM_PAIR_STRUCT_

enum vm_basic_kind {
	VM_KIND_NONE,
#define VM_KIND_(kind, ...) VM_KIND_##kind,
	VM_KINDS_INTEGER(VM_KIND_) VM_KINDS_FLOAT(VM_KIND_)
		VM_KINDS_COMPLEX(VM_KIND_) VM_KINDS_BOOL(VM_KIND_)
			VM_KINDS_PAIR(VM_KIND_)
#undef VM_KIND_
				VM_KINDS
};

/* The families, as bits. */
enum vm_basic_family {
	VM_FAMILY_TEXT = 0, /* no operation is defined */
	VM_FAMILY_INTEGER = 1,
	VM_FAMILY_FORTRAN = 2, /* Fortran integers: no logical operations */
	VM_FAMILY_FLOAT = 4,
	VM_FAMILY_LOGICAL = 8,
	VM_FAMILY_COMPLEX = 16,
	VM_FAMILY_BYTE = 32,
	VM_FAMILY_ADDRESS = 64, /* MPI_AINT, MPI_COUNT, MPI_OFFSET */
	VM_FAMILY_PAIR = 128,
};

/* MPI_ name, handle, kind, family. */
#define VM_TYPES_SIMPLE(X)                                \
	X(AINT, 0x201, I64, ADDRESS)                      \
	X(COUNT, 0x202, I64, ADDRESS)                     \
	X(OFFSET, 0x203, I64, ADDRESS)                    \
	X(PACKED, 0x207, U8, TEXT)                        \
	X(SHORT, 0x208, I16, INTEGER)                     \
	X(INT, 0x209, I32, INTEGER)                       \
	X(LONG, 0x20a, I64, INTEGER)                      \
	X(LONG_LONG_INT, 0x20b, I64, INTEGER)             \
	X(UNSIGNED_SHORT, 0x20c, U16, INTEGER)            \
	X(UNSIGNED, 0x20d, U32, INTEGER)                  \
	X(UNSIGNED_LONG, 0x20e, U64, INTEGER)             \
	X(UNSIGNED_LONG_LONG, 0x20f, U64, INTEGER)        \
	X(FLOAT, 0x210, F32, FLOAT)                       \
	X(C_COMPLEX, 0x212, C64, COMPLEX)                 \
	X(CXX_FLOAT_COMPLEX, 0x213, C64, COMPLEX)         \
	X(DOUBLE, 0x214, F64, FLOAT)                      \
	X(C_DOUBLE_COMPLEX, 0x216, C128, COMPLEX)         \
	X(CXX_DOUBLE_COMPLEX, 0x217, C128, COMPLEX)       \
	X(LOGICAL, 0x218, I32, LOGICAL)                   \
	X(INTEGER, 0x219, I32, FORTRAN)                   \
	X(REAL, 0x21a, F32, FLOAT)                        \
	X(COMPLEX, 0x21b, C64, COMPLEX)                   \
	X(DOUBLE_PRECISION, 0x21c, F64, FLOAT)            \
	X(DOUBLE_COMPLEX, 0x21d, C128, COMPLEX)           \
	X(CHARACTER, 0x21e, I8, TEXT)                     \
	X(LONG_DOUBLE, 0x220, FLONG, FLOAT)               \
	X(C_LONG_DOUBLE_COMPLEX, 0x224, CLONG, COMPLEX)   \
	X(CXX_LONG_DOUBLE_COMPLEX, 0x225, CLONG, COMPLEX) \
	X(C_BOOL, 0x238, BOOL, LOGICAL)                   \
	X(CXX_BOOL, 0x239, BOOL, LOGICAL)                 \
	X(WCHAR, 0x23c, I32, TEXT)                        \
	X(INT8_T, 0x240, I8, INTEGER)                     \
	X(UINT8_T, 0x241, U8, INTEGER)                    \
	VM_TYPES_CHAR(X)                                  \
	X(SIGNED_CHAR, 0x244, I8, INTEGER)                \
	X(UNSIGNED_CHAR, 0x245, U8, INTEGER)              \
	X(BYTE, 0x247, U8, BYTE)                          \
	X(INT16_T, 0x248, I16, INTEGER)                   \
	X(UINT16_T, 0x249, U16, INTEGER)                  \
	X(INT32_T, 0x250, I32, INTEGER)                   \
	X(UINT32_T, 0x251, U32, INTEGER)                  \
	X(INT64_T, 0x258, I64, INTEGER)                   \
	X(UINT64_T, 0x259, U64, INTEGER)                  \
	X(LOGICAL1, 0x2c0, I8, LOGICAL)                   \
	X(INTEGER1, 0x2c1, I8, FORTRAN)                   \
	X(LOGICAL2, 0x2c8, I16, LOGICAL)                  \
	X(INTEGER2, 0x2c9, I16, FORTRAN)                  \
	X(LOGICAL4, 0x2d0, I32, LOGICAL)                  \
	X(INTEGER4, 0x2d1, I32, FORTRAN)                  \
	X(REAL4, 0x2d2, F32, FLOAT)                       \
	X(LOGICAL8, 0x2d8, I64, LOGICAL)                  \
	X(INTEGER8, 0x2d9, I64, FORTRAN)                  \
	X(REAL8, 0x2da, F64, FLOAT)                       \
	X(COMPLEX8, 0x2db, C64, COMPLEX)                  \
	X(LOGICAL16, 0x2e0, I128, LOGICAL)                \
	X(INTEGER16, 0x2e1, I128, FORTRAN)                \
	X(REAL16, 0x2e2, F128, FLOAT)                     \
	X(COMPLEX16, 0x2e3, C128, COMPLEX)                \
	X(COMPLEX32, 0x2eb, C256, COMPLEX)                \
	VM_TYPES_F16(X)

/* Pairs without padding after their value or index, and pairs with padding. */
#define VM_TYPES_PAIR_DENSE(X)                             \
	X(FLOAT_INT, 0x228, P_FLOAT_INT, PAIR)             \
	X(2INT, 0x22b, P_INT_INT, PAIR)                    \
	X(2REAL, 0x230, P_FLOAT_FLOAT, PAIR)               \
	X(2DOUBLE_PRECISION, 0x231, P_DOUBLE_DOUBLE, PAIR) \
	X(2INTEGER, 0x232, P_INT_INT, PAIR)
#define VM_TYPES_PAIR_SPARSE(X)                  \
	X(DOUBLE_INT, 0x229, P_DOUBLE_INT, PAIR) \
	X(LONG_INT, 0x22a, P_LONG_INT, PAIR)     \
	X(SHORT_INT, 0x22c, P_SHORT_INT, PAIR)   \
	X(LONG_DOUBLE_INT, 0x22d, P_LONG_DOUBLE_INT, PAIR)

/* Without data: the one bound that each sets.  MPI 3 removed them; MPI_ name,
 * handle, bound. */
#define VM_TYPES_MARKER(X) \
	X(LB, 0x23e, lb)   \
	X(UB, 0x23f, ub)

#endif
