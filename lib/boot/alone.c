/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is its whole job: it gets the blobs that it has put itself.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "boot/backend.h"
#include "boot/boot.h"
#include "boot/kvs.h"
#include "boot/peer_events.h"

static bool alone_present(void)
{
	return true;
}

static int alone_process(void)
{
	return 0;
}

/* Slurm starts tasks without a connection between them, unless it is asked
 * to. */
static void slurm_warn(void)
{
	const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
	const char *task = getenv("SLURM_PROCID");

	if (vm_job_present() || !tasks || !task || strcmp(tasks, "1") == 0 ||
	    strcmp(task, "0") != 0)
		return;
	vm_log(VM_WARN,
	       "this is one of %s tasks of srun, and alone: they join "
	       "with srun --mpi=pmix",
	       tasks);
}

static int alone_open(void **state, struct vm_boot *boot,
		      struct vm_peer_events *events)
{
	struct vm_kvs *kvs = malloc(sizeof(*kvs));

	if (!kvs) {
		vm_log(VM_ERROR, "out of memory for the job");
		return -VMPI_ENOMEM;
	}
	vm_kvs_init(kvs);
	boot->process = 0;
	boot->processes = 1;
	boot->launcher_kills = false;
	slurm_warn();
	*state = kvs;
	return vm_peer_events_count(events, 1);
}

static int alone_put(void *state, const char *name, const void *bytes,
		     size_t length)
{
	int rc = vm_kvs_put(state, name, bytes, length);

	if (rc)
		vm_log(VM_ERROR, "%s cannot be put: %s", name,
		       vmpi_strerror(rc));
	return rc;
}

static int alone_fence(void *state)
{
	return 0;
}

static int alone_get(void *state, void *bytes, size_t *length, size_t room,
		     int process, const char *name)
{
	const char *found = vm_kvs_get(state, length, name);

	if (!found)
		return -VMPI_ENOENT;
	if (*length > room)
		return -VMPI_ELIMIT;
	memcpy(bytes, found, *length);
	return 0;
}

static void alone_abort(void *state, int code, const char *text,
			bool in_handler)
{
	/* Nobody to tell. */
}

static int alone_watch(void *state)
{
	return 0;
}

static void alone_close(void *state)
{
	vm_kvs_fini(state);
	free(state);
}

const struct vm_boot_backend vm_boot_alone = {
	.name = "alone",
	.present = alone_present,
	.process = alone_process,
	.open = alone_open,
	.put = alone_put,
	.fence = alone_fence,
	.get = alone_get,
	.abort = alone_abort,
	.watch = alone_watch,
	.close = alone_close,
};
