/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory first.  A kernel may forbid memory files that are executable (sysctl
 * vm.memfd_noexec); an older one does not know MFD_EXEC.  Folders for temporary
 * files may be mounted without the right to execute, then dlopen() says so.
 */
#include "core/image/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mapfile.h"

#ifdef VM_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/* Of files with names, followed by the number of the process. */
#define NAMES_FOLDER "/tmp"
#define NAMES_BEGIN "vmpi-image-"

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

void vm_image_file_clean(void)
{
	DIR *folder = opendir(NAMES_FOLDER);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		const char *number = entry->d_name + strlen(NAMES_BEGIN);
		long pid;

		if (strncmp(entry->d_name, NAMES_BEGIN, strlen(NAMES_BEGIN)))
			continue;
		pid = strtol(number, NULL, 10);
		if (pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH)
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	if (folder)
		closedir(folder);
}

bool vm_image_file_named(void)
{
	return RUNNING_ON_VALGRIND;
}

static bool file_open(struct vm_image_file *file)
{
	file->named = vm_image_file_named();
	if (file->named) {
		vm_image_file_clean();
		snprintf(file->path, sizeof(file->path),
			 NAMES_FOLDER "/" NAMES_BEGIN "%d-XXXXXX",
			 (int)getpid());
		file->fd = mkostemp(file->path, O_CLOEXEC);
		return file->fd >= 0;
	}
	file->fd = unnamed_open();
	path_make(file->path, sizeof(file->path), file->fd);
	return file->fd >= 0;
}

/* Sections that stand for those of the file: its code, and their names. */
struct sections {
	ElfW(Shdr) none, code, strings;
	char names[24];
};

static void sections_make(struct sections *sections, const struct vm_elf *elf,
			  size_t at)
{
	*sections = (struct sections){ .names = "\0.text\0.shstrtab" };
	for (int i = 0; i < elf->header->e_phnum; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		if (s->p_type != PT_LOAD || !(s->p_flags & PF_X))
			continue;
		sections->code = (ElfW(Shdr)){
			.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = s->p_vaddr,
			.sh_offset = s->p_offset,
			.sh_size = s->p_filesz,
			.sh_addralign = 1,
		};
		break;
	}
	sections->strings = (ElfW(Shdr)){
		.sh_name = 7,
		.sh_type = SHT_STRTAB,
		.sh_offset = at + offsetof(struct sections, names),
		.sh_size = sizeof(sections->names),
		.sh_addralign = 1,
	};
}

/*
 * The end of the loaded part: debug information behind it is not needed, and no
 * tool looks for it in the copy, whose sections lie there instead.  gdb 16 stops
 * by itself at a file without any.
 */
static size_t loaded_end(struct vm_elf *elf, struct sections *sections)
{
	ElfW(Ehdr) *header = (ElfW(Ehdr) *)(void *)elf->bytes;
	size_t end = vm_elf_loaded(elf);

	header->e_shoff = (end + 7) & ~(size_t)7;
	header->e_shentsize = sizeof(ElfW(Shdr));
	header->e_shnum = 3;
	header->e_shstrndx = 2;
	sections_make(sections, elf, header->e_shoff);
	return end;
}

static bool bytes_write(int fd, const void *bytes, size_t count, size_t at)
{
	size_t done = 0;

	/* The limit of files holds for those in memory, and is a signal. */
	errno = vm_mapfile_reserve(fd, at + count);
	if (errno)
		return false;
	while (done < count) {
		ssize_t n = pwrite(fd, (const char *)bytes + done, count - done,
				   (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

int vm_image_file_make(struct vm_image_file *file, struct vm_elf *elf)
{
	struct sections sections;
	bool done;

	if (!file_open(file)) {
		vm_log(VM_ERROR,
		       "%s: there is no place for a copy of the program "
		       "(memfd_create, /dev/shm, TMPDIR, /tmp): %s",
		       elf->path, strerror(errno));
		return -VMPI_ENOTSUP;
	}
	if (file->named)
		done = bytes_write(file->fd, elf->bytes, elf->size, 0);
	else
		done = bytes_write(file->fd, elf->bytes,
				   loaded_end(elf, &sections), 0) &&
		       bytes_write(file->fd, &sections, sizeof(sections),
				   elf->header->e_shoff);
	if (done)
		return 0;
	vm_log(VM_ERROR, "%s: the copy of the program cannot be written: %s%s",
	       elf->path, strerror(errno),
	       errno == EFBIG ? " (ulimit -f counts it, too)" : "");
	vm_image_file_close(file);
	return -VMPI_ENOMEM;
}

const char *vm_image_file_path(struct vm_image_file *file, int copy)
{
	if (!file->named)
		return file->path;
	snprintf(file->alias, sizeof(file->alias), "%s.%d", file->path, copy);
	return link(file->path, file->alias) ? file->path : file->alias;
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
