/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each start of ranks loads an image of its own, also of a program that is
 * loaded already, and unloads it when all its ranks have ended.
 */
#include "later.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/job.h"
#include "core/object/elf.h"
#include "core/image/image.h"
#include "core/image/ordinary.h"
#include "core/runtime/spares.h"
#include "libc.h"
#include "node.h"
#include "openmp.h"
#include "output.h"
#include "rank.h"
#include "real.h"

/* An image and the number of its ranks that have not ended. */
struct loaded {
	struct vm_image *image;
	int ranks;
};

static struct {
	pthread_mutex_t lock; /* one thread loads or unloads */
	const struct vm_job *job;
} later = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* libc's: ours (blocking.c) would switch to another task. */
static void lock_take(void)
{
	REAL(pthread_mutex_lock)(&later.lock);
}

static void lock_give(void)
{
	pthread_mutex_unlock(&later.lock);
}

/* The path of a command: one with a slash is a path, others are looked for in
 * the folders and in PATH.  NULL: out of memory. */
static char *path_of(const struct vm_spare_program *program)
{
	const char *lists[] = { program->folders, getenv("PATH") };
	char *path = NULL;

	for (int i = 0; i < 2 && !strchr(program->command, '/'); i++) {
		const char *at = lists[i];

		while (at) {
			int length = (int)strcspn(at, ":");

			if (length && asprintf(&path, "%.*s/%s", length, at,
					       program->command) < 0)
				return NULL;
			if (length && !access(path, X_OK))
				return path;
			free(length ? path : NULL);
			at = at[length] ? at + length + 1 : NULL;
		}
	}
	return strdup(program->command);
}

/* Whether the kernel would give it to an interpreter. */
static bool is_script(const char *path)
{
	char begin[2] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, begin, sizeof(begin));

	if (fd >= 0)
		close(fd);
	return got == 2 && begin[0] == '#' && begin[1] == '!';
}

/* As vmpirun decides.  What is no program at all is for spare_load() to say. */
static bool spare_can(const char *command, const char *folders)
{
	const struct vm_spare_program program = { .command = command,
						  .folders = folders };
	char *path = path_of(&program);
	ElfW(Addr) address;
	struct vm_elf elf;
	char why[200];
	bool can = path && !is_script(path) &&
		   libc_loads_many(later.job, why, sizeof(why));

	if (can && !access(path, X_OK) && !vm_elf_open(&elf, path, command)) {
		can = vm_elf_note(&elf, "vmpi", VM_IMAGE_NOTE, sizeof(int32_t),
				  &address) ||
		      !vm_ordinary_why(&elf, why, sizeof(why));
		vm_elf_close(&elf);
	}
	free(path);
	return can;
}

/* What the process would have had to do before its first rank. */
static int check(const struct vm_image *image, const char *command)
{
	if (openmp_is_used() || (!vm_image_needs(image, "libgomp.so") &&
				 !vm_image_needs(image, "libomp.so") &&
				 !vm_image_needs(image, "libiomp5.so")))
		return 0;
	vm_log(VM_ERROR,
	       "%s: a program with OpenMP cannot be started by one without",
	       command);
	return -VMPI_EINVAL;
}

/* Gives each rank its copy and its arguments: 0 or -VMPI_ENOMEM. */
static int copies_give(const struct vm_spare_program *program,
		       struct loaded *loaded)
{
	int argc = 1;
	char **argv;

	while (program->arguments && program->arguments[argc - 1])
		argc++;
	argv = malloc(((size_t)argc + 1) * sizeof(*argv));
	if (!argv)
		return -VMPI_ENOMEM;
	argv[0] = (char *)(uintptr_t)program->command;
	for (int i = 1; i < argc; i++)
		argv[i] = program->arguments[i - 1];
	argv[argc] = NULL;
	for (int i = 0; i < program->count; i++) {
		struct vm_image_copy *copy = vm_image_copy(loaded->image, i);

		copy->number = program->ranks[i]->index;
		copy->owner = loaded;
		if (!rank_words(copy, argc, argv))
			break;
		program->ranks[i]->image = copy;
		loaded->ranks++;
	}
	free(argv);
	return loaded->ranks == program->count ? 0 : -VMPI_ENOMEM;
}

static int image_load(const struct vm_spare_program *program, const char *path,
		      struct loaded *loaded)
{
	const struct vm_image_choice choice = { later.job->private,
						later.job->shared, true };
	int rc = vm_image_open(&loaded->image, path, program->command,
			       program->count, &choice);

	if (rc)
		return rc;
	rc = check(loaded->image, program->command);
	if (!rc)
		rc = vm_image_load(loaded->image);
	if (!rc)
		rc = copies_give(program, loaded);
	if (rc) {
		for (int i = 0; i < program->count; i++)
			program->ranks[i]->image = NULL;
		vm_image_close(loaded->image);
	}
	return rc;
}

static int spare_load(const struct vm_spare_program *program)
{
	struct loaded *loaded = calloc(1, sizeof(*loaded));
	char *path = path_of(program);
	int rc = -VMPI_ENOMEM;

	if (loaded && path) {
		lock_take();
		rc = image_load(program, path, loaded);
		lock_give();
	}
	free(path);
	if (rc)
		free(loaded);
	return rc;
}

static void spare_free(struct vm_rank *rank)
{
	struct vm_image_copy *copy = rank->image;
	struct loaded *loaded = copy->owner;

	output_end(copy);
	lock_take();
	if (--loaded->ranks == 0) {
		vm_image_close(loaded->image);
		free(loaded);
	}
	lock_give();
}

void later_prepare(const struct vm_job *job)
{
	later.job = job;
	vm_node_hooks.spare_load = spare_load;
	vm_node_hooks.spare_can = spare_can;
	vm_node_hooks.spare_free = spare_free;
}
