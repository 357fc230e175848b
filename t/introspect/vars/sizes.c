/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bins of sizes: each size is in the first bin whose bound it does not exceed.
 */
#include "introspect/vars/sizes.h"

#include "tap.h"

static void bounds(void)
{
	int wrong = 0;

	is_int((int)vm_size_bound(0), VM_SIZE_BIN_FIRST, "the first bound");
	is_int((int)vm_size_bound(1), 96, "then one and a half of it");
	is_int((int)vm_size_bound(2), 128, "then twice as much");
	is_int((int)vm_size_bound(18), 32768, "bins end at powers of two");
	is_int((int)vm_size_bound(VM_SIZE_BINS - 2), 32 << 20, "to 32 MiB");
	ok(vm_size_bound(VM_SIZE_BINS - 1) == UINT64_MAX,
	   "the last bin has no bound");
	for (unsigned i = 1; i < VM_SIZE_BINS; i++)
		wrong += vm_size_bound(i) <= vm_size_bound(i - 1);
	is_int(wrong, 0, "bounds grow");
}

static void bins(void)
{
	int wrong = 0;

	for (uint64_t bytes = 0; bytes < 80000000;
	     bytes += bytes < 100000 ? 1 : 997) {
		unsigned bin = vm_size_bin(bytes);

		wrong += bytes > vm_size_bound(bin);
		wrong += bin > 0 && bytes <= vm_size_bound(bin - 1);
	}
	is_int(wrong, 0, "each size is in its bin");
	wrong = 0;
	for (unsigned i = 0; i < VM_SIZE_BINS - 1; i++)
		wrong += vm_size_bin(vm_size_bound(i)) != i ||
			 vm_size_bin(vm_size_bound(i) + 1) != i + 1;
	is_int(wrong, 0, "a bound is the last size of its bin");
	is_int((int)vm_size_bin(0), 0, "nothing is in the first one");
	is_int((int)vm_size_bin(UINT64_MAX), VM_SIZE_BINS - 1,
	       "the longest in the last one");
}

int main(void)
{
	bounds();
	bins();
	return done_testing();
}
