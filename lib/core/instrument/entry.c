/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function behind an entry: its distance is in front of the entry
 * (entry.inc).
 */
#include "core/instrument/entry.h"

#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* The section of all entries; the linker knows where it is. */
extern const char entries_begin[] __asm__("__start_vm_entries")
	__attribute__((visibility("hidden")));
extern const char entries_end[] __asm__("__stop_vm_entries")
	__attribute__((visibility("hidden")));

uintptr_t vm_entry_direct(uintptr_t entry)
{
	int32_t distance;

	if (entry < (uintptr_t)entries_begin || entry >= (uintptr_t)entries_end)
		return entry;
	memcpy(&distance, (const char *)entry - sizeof(distance),
	       sizeof(distance));
	return entry + (uintptr_t)(intptr_t)distance;
}
