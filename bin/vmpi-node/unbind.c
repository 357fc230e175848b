/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of libc that start a process without fork(): the worker that calls
 * them is not bound meanwhile.  What fork() starts sees to it itself
 * (core/runtime/child.c).
 */
#include "unbind.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "exe_path.h"
#include "real.h"
#include "sched/topo.h"

int unbind_begin(void)
{
	struct vm_rank *rank = vm_rank_self();
	int worker = rank && rank->image ? vm_self->worker->index : -1;

	return worker >= 0 && vm_topo_unbind_worker(worker) ? worker : -1;
}

void unbind_end(int worker)
{
	int error = errno;

	if (worker >= 0)
		vm_topo_bind(worker);
	errno = error;
}

NODE_EXPORT int system(const char *command)
{
	int worker = unbind_begin();
	int rc = REAL(system)(command);

	unbind_end(worker);
	return rc;
}

NODE_EXPORT FILE *popen(const char *command, const char *mode)
{
	int worker = unbind_begin();
	FILE *file = REAL(popen)(command, mode);

	unbind_end(worker);
	return file;
}

NODE_EXPORT int posix_spawn(pid_t *pid, const char *path,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, char *const *argv,
			    char *const *envp)
{
	int worker = unbind_begin();
	int rc = REAL(posix_spawn)(pid, exe_path_meant(path), actions, attr,
				   argv, envp);

	unbind_end(worker);
	return rc;
}

NODE_EXPORT int posix_spawnp(pid_t *pid, const char *file,
			     const posix_spawn_file_actions_t *actions,
			     const posix_spawnattr_t *attr, char *const *argv,
			     char *const *envp)
{
	int worker = unbind_begin();
	int rc = REAL(posix_spawnp)(pid, exe_path_meant(file), actions, attr,
				    argv, envp);

	unbind_end(worker);
	return rc;
}
