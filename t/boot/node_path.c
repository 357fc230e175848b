/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node program is found where VMPI_NODE says; a missing one is reported.
 * The places near vmpirun are tested by t/run/12-vmpirun-launch.t.
 */
#include "boot/job.h"

#include <limits.h>
#include <stdlib.h>

#include "tap.h"
#include "vmpi.h"

int main(void)
{
	char path[PATH_MAX], tiny[4] = "xyz";
	char real[PATH_MAX];

	setenv("VMPI_NODE", "/bin/sh", 1);
	is_int(vm_job_node_path(path, sizeof(path)), 0,
	       "VMPI_NODE names the node program");
	is_string(path, realpath("/bin/sh", real), "by its real path");
	is_int(vm_job_node_path(tiny, sizeof(tiny)), -VMPI_ELIMIT,
	       "a path that does not fit is refused");
	setenv("VMPI_NODE", "/nosuch/node", 1);
	is_int(vm_job_node_path(path, sizeof(path)), -VMPI_ENOENT,
	       "a node program that is not there is refused");
	setenv("VMPI_NODE", "/etc/passwd", 1);
	is_int(vm_job_node_path(path, sizeof(path)), -VMPI_ENOENT,
	       "and so is one that may not be executed");
	setenv("VMPI_NODE", "/tmp", 1);
	is_int(vm_job_node_path(path, sizeof(path)), -VMPI_ENOENT,
	       "and so is a directory");
	return done_testing();
}
