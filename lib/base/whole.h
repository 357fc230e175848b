/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole numbers of numbers that come from files: those which a type cannot hold
 * become its limits, as the language says nothing about them.
 */
#ifndef BASE_WHOLE_H
#define BASE_WHOLE_H

#include <stdint.h>

/* Rounded down; 0: it is negative, or none. */
static inline uint64_t vm_whole(double value)
{
	if (!(value > 0))
		return 0;
	return value < 0x1p64 ? (uint64_t)value : UINT64_MAX;
}

/* Rounded to 0; 0: it is none. */
static inline int64_t vm_whole_signed(double value)
{
	if (!(value > -0x1p63))
		return value < 0 ? INT64_MIN : 0;
	return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

#endif
