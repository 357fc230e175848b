/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of bytes of a file.
 *
 * Whoever has to wait looks again and again, since locks are held for as long
 * as a system call takes.
 */
#include "mpi/io/range.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/lock.h"
#include "core/local/engine.h"
#include "mpi/io/disk.h"

/* Then the thread waits in the kernel. */
#define LOOKS 1000

static void others_run(void)
{
	if (vm_self)
		vm_rank_yield();
	else
		vm_cpu_yield();
}

static bool overlap(const struct vm_range *a, const struct vm_range *b)
{
	return a->first < b->end && b->first < a->end;
}

/* Members of this process; with other processes all locks exclude each other,
 * since the kernel has one lock for all of these. */
static bool take_here(struct vm_disk *disk, struct vm_range *range)
{
	struct vm_list *link;
	bool free = true;

	vm_lock_take(&disk->lock);
	vm_list_each(link, &disk->ranges) {
		const struct vm_range *other =
			vm_container_of(link, struct vm_range, link);

		if ((range->alone || other->alone || !disk->alone) &&
		    overlap(range, other))
			free = false;
	}
	if (free)
		vm_list_append(&disk->ranges, &range->link);
	vm_lock_give(&disk->lock);
	return free;
}

static void give_here(struct vm_disk *disk, struct vm_range *range)
{
	vm_lock_take(&disk->lock);
	vm_list_remove(&range->link);
	vm_lock_give(&disk->lock);
}

static struct flock lock_of(const struct vm_range *range, short type)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = range->first,
		.l_len = range->end - range->first,
	};
}

/* Among processes: 0 or an errno. */
static int take_there(struct vm_disk *disk, const struct vm_range *range)
{
	struct flock lock = lock_of(range, range->alone ? F_WRLCK : F_RDLCK);
	int way = F_OFD_SETLK;

	for (int looks = 0;; looks++) {
		if (fcntl(disk->fd, way, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return errno;
		if (looks < LOOKS)
			others_run();
		else
			way = F_OFD_SETLKW;
	}
}

int vm_range_take(struct vm_disk *disk, struct vm_range *range)
{
	int error;

	if (range->first >= range->end)
		range->end = range->first + 1;
	while (!take_here(disk, range))
		others_run();
	if (disk->alone)
		return 0;
	error = take_there(disk, range);
	if (error)
		give_here(disk, range);
	return error;
}

void vm_range_give(struct vm_disk *disk, struct vm_range *range)
{
	struct flock lock = lock_of(range, F_UNLCK);

	if (!disk->alone)
		fcntl(disk->fd, F_OFD_SETLK, &lock);
	give_here(disk, range);
}
