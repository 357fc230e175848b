/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies from shared objects.
 *
 * A file is bound at once and keeps its names to itself: what is missing is
 * missing here, not in the middle of the job.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/service/tune.h"

/* Says why and gives the file back. */
static const struct vmpi_policy *wrong(struct vm_tune_file *file,
				       const char *path, const char *why)
{
	vm_log(VM_ERROR, "policy %s: %s", path, why);
	vm_tune_unload(file);
	return NULL;
}

static const struct vmpi_policy *file_open(struct vm_tune_file *file,
					   const char *path)
{
	const struct vmpi_policy *policy;
	const char *why;

	file->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file->handle)
		return wrong(file, path, dlerror());
	policy = dlsym(file->handle, "vmpi_policy");
	if (!policy)
		return wrong(
			file, path,
			"it is not a policy: it does not export vmpi_policy "
			"(vmpi_policy.h)");
	why = vm_policy_wrong(policy);
	return why ? wrong(file, path, why) : policy;
}

const struct vmpi_policy *vm_tune_load(struct vm_tune_file *file,
				       const char *text, size_t length)
{
	char *path = strndup(text, length), *equals, *own = NULL;
	const struct vmpi_policy *policy;
	const char *from;

	*file = (struct vm_tune_file){ 0 };
	equals = path ? strchr(path, '=') : NULL;
	if (equals) {
		*equals = '\0';
		file->argument = strdup(equals + 1);
	}
	from = path;
	/* Without a slash dlopen() would look in the system's directories. */
	if (path && !strchr(path, '/')) {
		own = malloc(strlen(path) + 3);
		if (own) {
			memcpy(own, "./", 3);
			memcpy(own + 2, path, strlen(path) + 1);
		}
		from = own;
	}
	if (!from || (equals && !file->argument))
		policy = wrong(file, "file", "out of memory");
	else
		policy = file_open(file, from);
	free(own);
	free(path);
	return policy;
}

void vm_tune_unload(struct vm_tune_file *file)
{
	if (file->handle)
		dlclose(file->handle);
	free(file->argument);
	*file = (struct vm_tune_file){ 0 };
}
