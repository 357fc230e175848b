/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory first.  A kernel may forbid memory files that are executable (sysctl
 * vm.memfd_noexec); an older one does not know MFD_EXEC.  Folders for temporary
 * files may be mounted without the right to execute, then dlopen() says so.
 */
#include "core/image/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

#ifdef VM_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

static int unnamed_in(const char *folder)
{
	return folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700) : -1;
}

static int unnamed_open(void)
{
	int fd = memfd_create("vmpi-image", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0)
		fd = memfd_create("vmpi-image", MFD_CLOEXEC);
	if (fd < 0)
		fd = unnamed_in("/dev/shm");
	if (fd < 0)
		fd = unnamed_in(getenv("TMPDIR"));
	if (fd < 0)
		fd = unnamed_in("/tmp");
	return fd;
}

/* A name for a file that no other has had, however often its number is used:
 * the dynamic linker remembers names. */
static void path_make(char *path, size_t bytes, int fd)
{
	static _Atomic unsigned count;
	unsigned number =
		atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
	/* Not /proc/self: a debugger reads this name too. */
	int used = snprintf(path, bytes, "/proc/%d/fd", (int)getpid());

	for (int i = 0; i < 32; i++)
		used += snprintf(path + used, bytes - (size_t)used, "%s",
				 number >> i & 1 ? "/." : "/");
	snprintf(path + used, bytes - (size_t)used, "/%d", fd);
}

static bool file_open(struct vm_image_file *file)
{
	file->named = RUNNING_ON_VALGRIND;
	if (file->named) {
		snprintf(file->path, sizeof(file->path),
			 "/tmp/vmpi-image-XXXXXX");
		file->fd = mkostemp(file->path, O_CLOEXEC);
		return file->fd >= 0;
	}
	file->fd = unnamed_open();
	path_make(file->path, sizeof(file->path), file->fd);
	return file->fd >= 0;
}

/* The end of the loaded part: debug information behind it is not needed, and
 * without section headers no tool looks for it in the copy. */
static size_t loaded_end(struct vm_elf *elf)
{
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)elf->bytes;
	size_t end = 0;

	for (int i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type == PT_LOAD && s->p_offset + s->p_filesz > end)
			end = s->p_offset + s->p_filesz;
	}
	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
	return end;
}

int vm_image_file_make(struct vm_image_file *file, struct vm_elf *elf)
{
	size_t end, done = 0;

	if (!file_open(file)) {
		vm_log(VM_ERROR,
		       "%s: there is no place for a copy of the program "
		       "(memfd_create, /dev/shm, TMPDIR, /tmp): %s",
		       elf->path, strerror(errno));
		return -VMPI_ENOTSUP;
	}
	end = file->named ? elf->size : loaded_end(elf);
	while (done < end) {
		ssize_t n = write(file->fd, elf->bytes + done, end - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			vm_log(VM_ERROR,
			       "%s: the copy of the program cannot be written: "
			       "%s",
			       elf->path, strerror(errno));
			vm_image_file_close(file);
			return -VMPI_ENOMEM;
		}
		done += (size_t)n;
	}
	return 0;
}

const char *vm_image_file_enter(struct vm_image_file *file, int copy)
{
	if (!file->named)
		return file->path;
	snprintf(file->alias, sizeof(file->alias), "%s.%d", file->path, copy);
	return link(file->path, file->alias) ? file->path : file->alias;
}

void vm_image_file_leave(struct vm_image_file *file)
{
	if (file->named)
		unlink(file->alias);
}

void vm_image_file_close(struct vm_image_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->text >= 0)
		close(file->text);
	if (file->named)
		unlink(file->path);
	*file = (struct vm_image_file){ .fd = -1, .text = -1 };
}
