/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <stdatomic.h>

int plain_next(void)
{
	static atomic_int calls;

	return atomic_fetch_add(&calls, 1);
}
