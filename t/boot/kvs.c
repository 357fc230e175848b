/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and bytes: all that is put is found, once, with any bytes in it.
 */
#include "boot/kvs.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "vmpi.h"

#define MANY 20000

int main(void)
{
	struct vm_kvs kvs;
	const char *found;
	size_t length = 99;
	char name[32], value[32];
	int wrong = 0;

	vm_kvs_init(&kvs);
	ok(!vm_kvs_get(&kvs, &length, "a"), "nothing is in a new one");
	is_int(length, 99, "and the length is left alone");
	is_int(vm_kvs_put(&kvs, "a", "x\0y", 3), 0, "bytes are put");
	found = vm_kvs_get(&kvs, &length, "a");
	ok(found && length == 3 && !memcmp(found, "x\0y\0", 4),
	   "and found, with a zero behind them");
	is_int(vm_kvs_put(&kvs, "a", "z", 1), -VMPI_EINVAL,
	       "a name is put once");
	is_int(vm_kvs_put(&kvs, "", NULL, 0), 0, "nothing may be put");
	found = vm_kvs_get(&kvs, &length, "");
	ok(found && length == 0, "and is something");
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "vmpi.%d.card", i);
		snprintf(value, sizeof(value), "value %d", i);
		wrong += vm_kvs_put(&kvs, name, value, strlen(value)) != 0;
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "vmpi.%d.card", i);
		snprintf(value, sizeof(value), "value %d", i);
		found = vm_kvs_get(&kvs, NULL, name);
		wrong += !found || strcmp(found, value) != 0;
	}
	is_int(wrong, 0, "%d names are all found", MANY);
	vm_kvs_fini(&kvs);
	return done_testing();
}
