/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel refuses leases for files that others own, that are open for writing,
 * and of some networks' file systems.  A writer waits for at most
 * /proc/sys/fs/lease-break-time; the copy takes milliseconds.
 */
#include "core/image/keep.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/image/file.h"
#include "core/image/load.h"
#include "core/image/text.h"

struct keep {
	struct keep *next;
	struct vm_image *image;
	size_t part;
	int fd;
};

static struct {
	pthread_mutex_t lock; /* guards: */
	struct keep *first;
	pid_t thread; /* 0: none is served yet */
	int signal;
} keeps = { .lock = PTHREAD_MUTEX_INITIALIZER };

bool vm_image_keep_may(int fd, bool *leased)
{
	struct stat status;

	/* Until a thread is served, a signal that nobody minds. */
	if (leased)
		*leased = !fcntl(fd, F_SETSIG, SIGURG) &&
			  !fcntl(fd, F_SETLEASE, F_RDLCK);
	return (leased && *leased) ||
	       (!fstat(fd, &status) && status.st_uid == 0 && geteuid() != 0 &&
		!(status.st_mode & (S_IWGRP | S_IWOTH)));
}

static void lease_end(int fd)
{
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
}

/* The view of the file and the code of all copies get their pages from one new
 * file in memory; each mapping is replaced in one step, while code runs. */
void vm_image_keep_memory(struct vm_image *image, size_t part)
{
	struct vm_elf *elf = vm_image_part(image, part);
	struct vm_image_file file = { .fd = -1, .text = -1 };

	if (vm_image_file_make(&file, elf))
		return;
	vm_elf_rehome(elf, file.fd);
	for (int i = 0; i < image->ranks; i++) {
		const struct link_map *map = __atomic_load_n(
			&image->copies[i].maps[part], __ATOMIC_ACQUIRE);

		if (map)
			vm_image_text_map(elf, map->l_addr, file.fd);
	}
	vm_image_file_close(&file);
}

static void serve(const struct keep *keep)
{
	struct f_owner_ex owner = { F_OWNER_TID, keeps.thread };

	fcntl(keep->fd, F_SETOWN_EX, &owner);
	fcntl(keep->fd, F_SETSIG, keeps.signal);
}

static bool is_asked(const struct keep *keep, const void *arg)
{
	(void)arg;
	return fcntl(keep->fd, F_GETLEASE) != F_RDLCK;
}

static bool is_of(const struct keep *keep, const void *image)
{
	return keep->image == image;
}

static bool is_any(const struct keep *keep, const void *arg)
{
	(void)arg;
	return keep != NULL;
}

/* Gives the leases back, and memory if the image stays. */
static void leases_end(bool (*is)(const struct keep *keep, const void *arg),
		       const void *arg, bool stays)
{
	struct keep **at = &keeps.first, *keep;

	while ((keep = *at)) {
		if (!is(keep, arg)) {
			at = &keep->next;
			continue;
		}
		*at = keep->next;
		if (stays)
			vm_image_keep_memory(keep->image, keep->part);
		lease_end(keep->fd);
		free(keep);
	}
}

void vm_image_keep_add(struct vm_image *image, size_t part, int fd)
{
	struct keep *keep = malloc(sizeof(*keep));

	if (!keep) {
		vm_image_keep_memory(image, part);
		lease_end(fd);
		return;
	}
	pthread_mutex_lock(&keeps.lock);
	*keep = (struct keep){ keeps.first, image, part, fd };
	keeps.first = keep;
	if (keeps.thread)
		serve(keep);
	leases_end(is_asked, NULL, true);
	pthread_mutex_unlock(&keeps.lock);
}

void vm_image_keep_all(void)
{
	pthread_mutex_lock(&keeps.lock);
	leases_end(is_any, NULL, true);
	pthread_mutex_unlock(&keeps.lock);
}

void vm_image_keep_drop(const struct vm_image *image)
{
	pthread_mutex_lock(&keeps.lock);
	leases_end(is_of, image, false);
	pthread_mutex_unlock(&keeps.lock);
}

void vm_image_keep_serve(int signal)
{
	pthread_mutex_lock(&keeps.lock);
	keeps.thread = gettid();
	keeps.signal = signal;
	for (const struct keep *keep = keeps.first; keep; keep = keep->next)
		serve(keep);
	/* Of those who came earlier there was no signal. */
	leases_end(is_asked, NULL, true);
	pthread_mutex_unlock(&keeps.lock);
}

void vm_image_keep_look(void)
{
	pthread_mutex_lock(&keeps.lock);
	leases_end(is_asked, NULL, true);
	pthread_mutex_unlock(&keeps.lock);
}

/* It shares the lease with its parent, for which that stays. */
void vm_image_keep_fork_child(void)
{
	for (const struct keep *keep = keeps.first; keep; keep = keep->next)
		close(keep->fd);
	keeps.first = NULL;
	pthread_mutex_init(&keeps.lock, NULL);
}
