/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The largest unit of which there is one.
 */
#include "report/amount.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *digits(char text[VM_AMOUNT_MAX], double number,
			  const char *unit)
{
	int places = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;

	snprintf(text, VM_AMOUNT_MAX, "%.*f %s", places, number, unit);
	return text;
}

const char *vm_amount_bytes(char text[VM_AMOUNT_MAX], double bytes)
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	int u = 0;

	while (u < 6 && bytes >= 1023.5) {
		bytes /= 1024;
		u++;
	}
	if (u)
		return digits(text, bytes, units[u]);
	snprintf(text, VM_AMOUNT_MAX, "%.0f B", bytes);
	return text;
}

const char *vm_amount_ns(char text[VM_AMOUNT_MAX], double ns)
{
	if (ns < 999.5)
		snprintf(text, VM_AMOUNT_MAX, "%.0f ns", ns);
	else if (ns < 999.5e3)
		digits(text, ns / 1e3, "us");
	else if (ns < 999.5e6)
		digits(text, ns / 1e6, "ms");
	else if (ns < 599.5e9)
		digits(text, ns / 1e9, "s");
	else if (ns < 2 * 3600e9)
		digits(text, ns / 60e9, "min");
	else
		digits(text, ns / 3600e9, "h");
	return text;
}

const char *vm_amount(char text[VM_AMOUNT_MAX], uint64_t value,
		      const char *unit)
{
	if (!strcmp(unit, "bytes"))
		return vm_amount_bytes(text, (double)value);
	if (!strcmp(unit, "ns"))
		return vm_amount_ns(text, (double)value);
	snprintf(text, VM_AMOUNT_MAX, "%" PRIu64 " %s", value, unit);
	return text;
}
