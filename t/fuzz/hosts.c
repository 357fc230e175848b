/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: host files and lists of hosts (-H).
 *
 *	make fuzz TARGET=hosts SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include "hosts.h"

#include <stdlib.h>

#include "input.h"

static void hosts_judge(struct hosts *hosts, int rc)
{
	for (int i = 0; i < hosts->count; i++)
		if (!hosts->list[i].name[0] || hosts->list[i].slots < 1)
			abort();
	if (!rc && hosts_slots(hosts) < hosts->count)
		abort();
	hosts_remote(hosts);
	hosts_fini(hosts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct hosts hosts = { 0 };
	char *text;

	if (!bytes)
		return 0;
	if (data[0] & 1) {
		fuzz_file("hosts", data + 1, bytes - 1);
		hosts_judge(&hosts, hosts_add_file(&hosts, FUZZ_DIR "hosts"));
		return 0;
	}
	text = fuzz_text(data + 1, bytes - 1);
	hosts_judge(&hosts, hosts_add_list(&hosts, text));
	free(text);
	return 0;
}
