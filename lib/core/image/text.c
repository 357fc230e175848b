/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The headers of the file are patched for the dynamic linker alone, which has
 * read them by now: they need not be the same.
 */
#include "core/image/text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/image/keep.h"

static bool is_text(const ElfW(Phdr) * s)
{
	return s->p_type == PT_LOAD && !(s->p_flags & PF_W) && s->p_filesz;
}

/* Whether the bytes are those of the file, but for its headers. */
static bool is_same(const struct vm_elf *elf, const ElfW(Phdr) * s, int fd)
{
	size_t headers = elf->header->e_phoff +
			 elf->header->e_phnum * sizeof(ElfW(Phdr));
	size_t at = s->p_offset < headers ? headers : s->p_offset;
	size_t end = s->p_offset + s->p_filesz;
	char block[16384];

	while (at < end) {
		size_t bytes = end - at < sizeof(block) ? end - at :
							  sizeof(block);
		ssize_t n = pread(fd, block, bytes, (off_t)at);

		if (n <= 0 || memcmp(block, elf->bytes + at, (size_t)n) != 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

int vm_image_text_open(const struct vm_elf *elf, bool *leased)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(elf->path, O_RDONLY | O_CLOEXEC);
	ElfW(Xword) value;
	bool fits = fd >= 0 && vm_image_keep_may(fd, leased);

	/* Relocations have changed it. */
	if (vm_elf_dynamic(elf, DT_TEXTREL, &value) ||
	    (vm_elf_dynamic(elf, DT_FLAGS, &value) && value & DF_TEXTREL))
		fits = false;
	for (int i = 0; i < elf->header->e_phnum && fits; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];

		fits = !is_text(s) || ((s->p_offset - s->p_vaddr) % page == 0 &&
				       is_same(elf, s, fd));
	}
	if (fits || fd < 0)
		return fd;
	close(fd);
	if (leased)
		*leased = false;
	return -1;
}

void vm_image_text_map(const struct vm_elf *elf, ElfW(Addr) base, int fd)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < elf->header->e_phnum && fd >= 0; i++) {
		const ElfW(Phdr) *s = &elf->segments[i];
		int rights = (s->p_flags & PF_R ? PROT_READ : 0) |
			     (s->p_flags & PF_X ? PROT_EXEC : 0);
		size_t lead = s->p_vaddr % page;

		if (is_text(s))
			mmap((void *)(base + s->p_vaddr - lead),
			     s->p_filesz + lead, rights,
			     MAP_PRIVATE | MAP_FIXED, fd,
			     (off_t)(s->p_offset - lead));
	}
}
