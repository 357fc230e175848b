/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launchers that we recognize in the environment, but cannot talk to. Running
 * alone instead would be wrong: N jobs of one instead of one of N.
 */
#include <stdlib.h>

#include "base/log.h"
#include "boot/backend.h"
#include "vmpi.h"

static const struct {
	const char *variable, *text;
} rows[] = {
	{ "PMIX_NAMESPACE",
	  "this vmpi was built without PMIx (libpmix-dev); use a launcher that "
	  "speaks PMI-1, such as mpiexec.hydra" },
	{ "PMI_PORT",
	  "PMI through a port is not supported; for mpiexec.hydra leave out "
	  "-pmi-port" },
};

static int row_present(void)
{
	for (int i = 0; i < (int)(sizeof(rows) / sizeof(*rows)); i++)
		if (getenv(rows[i].variable))
			return i;
	return -1;
}

static bool refused_present(void)
{
	return row_present() >= 0;
}

static int refused_process(void)
{
	int row = row_present();

	vm_log(VM_ERROR,
	       "%s is set, so a launcher has started this program: "
	       "%s",
	       rows[row].variable, rows[row].text);
	return -VMPI_ENOTSUP;
}

static int refused_open(void **state, struct vm_boot *boot,
			struct vm_peer_events *events)
{
	return refused_process();
}

const struct vm_boot_backend vm_boot_refused = {
	.name = "refused",
	.present = refused_present,
	.process = refused_process,
	.open = refused_open,
};
