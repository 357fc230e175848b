/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Amounts at the borders of their units.
 */
#include "report/amount.h"
#include "tap.h"

static void is_amount(uint64_t value, const char *unit, const char *want)
{
	char text[VM_AMOUNT_MAX];

	is_string(vm_amount(text, value, unit), want, "%llu %s",
		  (unsigned long long)value, unit);
}

int main(void)
{
	is_amount(0, "bytes", "0 B");
	is_amount(1023, "bytes", "1023 B");
	is_amount(1024, "bytes", "1.00 KiB");
	is_amount(1048064, "bytes", "1.00 MiB");
	is_amount(19140904, "bytes", "18.3 MiB");
	is_amount(UINT64_MAX, "bytes", "16.0 EiB");
	is_amount(0, "ns", "0 ns");
	is_amount(999, "ns", "999 ns");
	is_amount(1000, "ns", "1.00 us");
	is_amount(999600, "ns", "1.00 ms");
	is_amount(5039867979, "ns", "5.04 s");
	is_amount(599000000000, "ns", "599 s");
	is_amount(600000000000, "ns", "10.0 min");
	is_amount(UINT64_C(13488016480344), "ns", "3.75 h");
	is_amount(1234567, "messages", "1234567 messages");
	return done_testing();
}
