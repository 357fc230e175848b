/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C library of this system does all that is asked of it: otherwise tests
 * would find processes where they take tasks for granted.  What is said where
 * it does not is tested in t/run/47-libc.t.
 */
#include "core/libc/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmpi.h"

#define STEP(name, text) #name "\n"

int main(void)
{
	const char *build = getenv("VMPI_BUILD");
	char path[4096], *said = NULL;
	size_t bytes;
	FILE *out = open_memstream(&said, &bytes);

	if (!build)
		skip_all("VMPI_BUILD, where the library is, is not set");
	is_int(vm_trial_run("/nonexistent/" VM_TRIAL_LIBRARY, out),
	       -VMPI_ENOENT, "a library that is missing is none of libc's");
	fflush(out);
	is_int((long)bytes, 0, "and nothing is tried");
	snprintf(path, sizeof(path), "%s/bin/vmpi-node/" VM_TRIAL_LIBRARY,
		 build);
	is_int(vm_trial_run(path, out), 0, "all holds");
	fclose(out);
	is_string(said, VM_TRIALS(STEP), "each was named before it was tried");
	free(said);
	return done_testing();
}
