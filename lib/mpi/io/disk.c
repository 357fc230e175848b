/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors, and the system calls on them.
 *
 * System calls block the worker: data of a local file are in the kernel's
 * memory mostly, and moving them takes the time of a copy.
 */
#include "mpi/io/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/call/call.h"

/* What is in front of the memory that is handed out. */
struct buffer {
	struct vm_list link;
	size_t bytes;
} VM_ALIGNED(64);

#define SPARE_BYTES (64 << 10) /* the least that is allocated */

/* What the table does not have is MPI_ERR_IO. */
static const struct {
	int error, class;
} classes[] = {
	{ ENOENT, MPI_ERR_NO_SUCH_FILE }, { EEXIST, MPI_ERR_FILE_EXISTS },
	{ EACCES, MPI_ERR_ACCESS },	  { EPERM, MPI_ERR_ACCESS },
	{ ENOSPC, MPI_ERR_NO_SPACE },	  { EDQUOT, MPI_ERR_QUOTA },
	{ EROFS, MPI_ERR_READ_ONLY },	  { EISDIR, MPI_ERR_BAD_FILE },
	{ ENOTDIR, MPI_ERR_BAD_FILE },	  { ENAMETOOLONG, MPI_ERR_BAD_FILE },
	{ ELOOP, MPI_ERR_BAD_FILE },	  { ENXIO, MPI_ERR_BAD_FILE },
	{ ENODEV, MPI_ERR_BAD_FILE },	  { EBUSY, MPI_ERR_FILE_IN_USE },
	{ ETXTBSY, MPI_ERR_FILE_IN_USE }, { ENOMEM, MPI_ERR_NO_MEM },
	{ EFAULT, MPI_ERR_BUFFER },	  { EFBIG, MPI_ERR_NO_SPACE },
};

static int class_of(int error)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i].error == error)
			return classes[i].class;
	return MPI_ERR_IO;
}

int vm_disk_fail(struct vm_call *call, int error, const char *doing)
{
	char text[128];

	return vm_error(call, class_of(error), "%s: %s", doing,
			strerror_r(error, text, sizeof(text)));
}

/* Writes that also read need the descriptor to allow it; where the file does
 * not, they do without. */
static int descriptor(const char *name, int amode, int flags, int permissions)
{
	int fd = -1;

	flags |= O_CLOEXEC | O_NOCTTY;
	if (amode & MPI_MODE_RDONLY)
		return open(name, flags | O_RDONLY);
	if (!(amode & MPI_MODE_SEQUENTIAL))
		fd = open(name, flags | O_RDWR, permissions);
	if (fd < 0 && (amode & MPI_MODE_WRONLY) &&
	    ((amode & MPI_MODE_SEQUENTIAL) || errno == EACCES))
		fd = open(name, flags | O_WRONLY, permissions);
	return fd;
}

static struct vm_disk *disk_new(int fd)
{
	struct vm_disk *disk = malloc(sizeof(*disk));
	int flags = fcntl(fd, F_GETFL);

	if (!disk)
		return NULL;
	*disk = (struct vm_disk){
		.fd = fd,
		.stream = lseek(fd, 0, SEEK_CUR) < 0 && errno == ESPIPE,
		.reads = (flags & O_ACCMODE) != O_WRONLY,
	};
	atomic_init(&disk->refs, 1);
	vm_lock_init(&disk->lock);
	vm_list_init(&disk->ranges);
	vm_list_init(&disk->spare);
	return disk;
}

int vm_disk_open(struct vm_call *call, struct vm_disk **out, const char *name,
		 int amode, bool create, int permissions)
{
	struct stat status;
	int fd, flags = 0;

	if (create && (amode & MPI_MODE_CREATE))
		flags |= O_CREAT;
	if (create && (amode & MPI_MODE_EXCL))
		flags |= O_EXCL;
	fd = descriptor(name, amode, flags, permissions);
	if (fd < 0)
		return vm_disk_fail(call, errno, name);
	/* Which can be opened to be read. */
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		close(fd);
		return vm_disk_fail(call, EISDIR, name);
	}
	*out = disk_new(fd);
	if (*out)
		return 0;
	close(fd);
	return MPI_ERR_NO_MEM;
}

int vm_disk_drop(struct vm_disk *disk)
{
	struct vm_list *link;
	int error = 0;

	if (atomic_fetch_sub_explicit(&disk->refs, 1, memory_order_acq_rel) !=
	    1)
		return 0;
	if (close(disk->fd) != 0 && errno != EINTR)
		error = errno;
	while ((link = vm_list_pop(&disk->spare)))
		free(vm_container_of(link, struct buffer, link));
	free(disk);
	return error;
}

int vm_disk_size(const struct vm_disk *disk, MPI_Offset *size)
{
	struct stat status;
	off_t end;

	if (fstat(disk->fd, &status) != 0)
		return errno;
	*size = status.st_size;
	if (S_ISBLK(status.st_mode)) {
		end = lseek(disk->fd, 0, SEEK_END);
		*size = end < 0 ? 0 : end;
	}
	return 0;
}

int vm_disk_read(struct vm_disk *disk, void *to, size_t bytes,
		 MPI_Offset offset, size_t *moved)
{
	ssize_t n = 1;

	*moved = 0;
	while (*moved < bytes && n != 0) {
		char *at = (char *)to + *moved;

		n = disk->stream ? read(disk->fd, at, bytes - *moved) :
				   pread(disk->fd, at, bytes - *moved,
					 offset + (MPI_Offset)*moved);
		if (n > 0)
			*moved += (size_t)n;
		else if (n < 0 && errno != EINTR)
			return errno;
	}
	return 0;
}

int vm_disk_write(struct vm_disk *disk, const void *from, size_t bytes,
		  MPI_Offset offset, size_t *moved)
{
	ssize_t n;

	*moved = 0;
	while (*moved < bytes) {
		const char *at = (const char *)from + *moved;

		n = disk->stream ? write(disk->fd, at, bytes - *moved) :
				   pwrite(disk->fd, at, bytes - *moved,
					  offset + (MPI_Offset)*moved);
		if (n > 0)
			*moved += (size_t)n;
		else if (n == 0)
			return ENOSPC;
		else if (errno != EINTR)
			return errno;
	}
	return 0;
}

void *vm_disk_buffer(struct vm_disk *disk, size_t bytes)
{
	struct buffer *buffer = NULL;
	struct vm_list *link;

	vm_lock_take(&disk->lock);
	link = vm_list_pop(&disk->spare);
	vm_lock_give(&disk->lock);
	if (link)
		buffer = vm_container_of(link, struct buffer, link);
	if (buffer && buffer->bytes >= bytes)
		return buffer + 1;
	free(buffer);
	if (bytes < SPARE_BYTES)
		bytes = SPARE_BYTES;
	if (bytes > PTRDIFF_MAX)
		return NULL;
	buffer = aligned_alloc(64, sizeof(*buffer) + ((bytes + 63) & ~63ul));
	if (!buffer)
		return NULL;
	buffer->bytes = bytes;
	return buffer + 1;
}

void vm_disk_buffer_put(struct vm_disk *disk, void *pointer)
{
	struct buffer *buffer = (struct buffer *)pointer - 1;

	vm_lock_take(&disk->lock);
	vm_list_append(&disk->spare, &buffer->link);
	vm_lock_give(&disk->lock);
}
