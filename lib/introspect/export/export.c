/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each piece of memory is a mapping of its own part of the file, which grows
 * with each; its pages are allocated at once, since a page that cannot be had
 * later would be a bus error at any place.
 */
#include "introspect/export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mapfile.h"
#include "introspect/export/alive.h"
#include "introspect/export/control.h"
#include "introspect/export/table.h"
#include "introspect/vars/cvar.h"

#define AREAS_MAX 32

struct area {
	char *base;
	size_t bytes;
	uint64_t offset;
};

/* Written at start and stop only. */
static struct {
	bool open;
	bool handlers; /* of fork() are there, for ever */
	int fd;
	pid_t pid; /* whose file it is: not that of a child */
	char path[VM_EXPORT_PATH_MAX];
	char control[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];
	uint64_t bytes; /* of the file */
	struct area areas[AREAS_MAX];
	unsigned area_count;
	struct vm_export_head *head;
	/* Written while cvar_changed() is not registered. */
	struct vm_export_mirror mirror;
} share = { .fd = -1 };

static size_t page_round(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static void *area_new(size_t bytes)
{
	struct area *area = &share.areas[share.area_count];
	void *base;

	bytes = page_round(bytes);
	if (share.area_count == AREAS_MAX ||
	    vm_mapfile_allocate(share.fd, share.bytes, bytes))
		return NULL;
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, share.fd,
		    (off_t)share.bytes);
	if (base == MAP_FAILED)
		return NULL;
	*area = (struct area){ base, bytes, share.bytes };
	share.area_count++;
	share.bytes += bytes;
	vm_mapped_root(base, bytes, true);
	return base;
}

void *vm_export_alloc(size_t bytes, size_t align)
{
	void *memory = share.open ? area_new(bytes ? bytes : 1) : NULL;

	if (memory)
		return memory;
	bytes = (bytes + align - 1) / align * align;
	memory = aligned_alloc(align, bytes ? bytes : align);
	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

static struct area *area_at(const void *memory)
{
	for (unsigned i = 0; i < share.area_count; i++) {
		struct area *area = &share.areas[i];

		if ((const char *)memory >= area->base &&
		    (const char *)memory < area->base + area->bytes)
			return area;
	}
	return NULL;
}

void vm_export_free(void *memory)
{
	struct area *area = area_at(memory);

	if (!area) {
		free(memory);
		return;
	}
	vm_mapped_root(area->base, area->bytes, false);
	munmap(area->base, area->bytes);
	*area = share.areas[--share.area_count];
}

uint64_t vm_export_offset(const void *memory)
{
	const struct area *area = memory ? area_at(memory) : NULL;

	if (!area)
		return 0;
	return area->offset + (uint64_t)((const char *)memory - area->base);
}

/*
 * A child gets memory of its own, because its parent's file is not its own.
 * Where there is no memory for a copy, it loses it, and faults when it reads
 * it.
 */
static void child_part(void)
{
	for (unsigned i = 0; i < share.area_count; i++) {
		struct area *area = &share.areas[i];
		void *copy = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (copy == MAP_FAILED) {
			munmap(area->base, area->bytes);
			continue;
		}
		memcpy(copy, area->base, area->bytes);
		mremap(copy, area->bytes, area->bytes,
		       MREMAP_MAYMOVE | MREMAP_FIXED, area->base);
	}
	if (share.fd >= 0)
		close(share.fd);
	share.fd = -1;
	share.open = false;
}

/* The job's name in characters that file names may have. */
static void job_plain(char plain[VM_EXPORT_JOB_MAX], const char *job)
{
	size_t i;

	for (i = 0; job[i] && i < VM_EXPORT_JOB_MAX - 1; i++) {
		char c = job[i];

		plain[i] = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
					   (c >= 'A' && c <= 'Z') || c == '_' ||
					   c == '@' ?
				   c :
				   '-';
	}
	plain[i] = '\0';
}

void vm_export_path(char *path, size_t bytes, const char *dir, const char *job,
		    unsigned node)
{
	char plain[VM_EXPORT_JOB_MAX];

	job_plain(plain, job);
	snprintf(path, bytes, "%s/vmpi.%u.%s.%u", dir, (unsigned)getuid(),
		 plain, node);
}

/* Makes a new file at the path; that of a dead process is removed. */
static int file_make(const char **why)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	share.fd = open(share.path, flags, 0600);
	if (share.fd < 0 && errno == EEXIST) {
		if (vm_export_alive(share.path)) {
			*why = "a process that lives has a file of this name";
			return -VMPI_ELIMIT;
		}
		unlink(share.path);
		share.fd = open(share.path, flags, 0600);
	}
	if (share.fd >= 0 && vm_export_lock(share.fd))
		return 0;
	*why = strerror(errno);
	return -VMPI_ELIMIT;
}

static void head_begin(const char *job, unsigned node)
{
	struct vm_export_head *head = share.head;
	struct timespec now;

	memcpy(head->magic, VM_EXPORT_MAGIC, sizeof(head->magic));
	head->version = VM_EXPORT_VERSION;
	head->head_bytes = sizeof(*head);
	head->pid = (uint32_t)share.pid;
	head->uid = (uint32_t)getuid();
	head->pid_start = vm_export_pid_start(share.pid);
	head->pid_space = vm_export_pid_space();
	clock_gettime(CLOCK_REALTIME, &now);
	head->started_ns =
		(uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	head->node = node;
	job_plain(head->job, job);
	gethostname(head->host, sizeof(head->host) - 1);
	snprintf(head->program, sizeof(head->program), "%s",
		 program_invocation_short_name);
	snprintf(head->library, sizeof(head->library), "%s", vmpi_version());
}

int vm_export_open(const char *dir, const char *job, unsigned node,
		   const char **why)
{
	if (share.open || share.area_count)
		return -VMPI_ESTATE;
	vm_export_path(share.path, sizeof(share.path), dir, job, node);
	vm_control_path(share.control, sizeof(share.control), share.path);
	share.bytes = 0;
	if (!share.handlers && pthread_atfork(NULL, NULL, child_part) == 0)
		share.handlers = true;
	if (file_make(why)) {
		if (share.fd >= 0)
			close(share.fd);
		share.fd = -1;
		return -VMPI_ELIMIT;
	}
	share.pid = (pid_t)syscall(SYS_getpid);
	share.open = share.handlers;
	share.head = share.open ? area_new(sizeof(*share.head)) : NULL;
	if (!share.head) {
		vm_export_close(false);
		*why = "there is no room for it";
		return -VMPI_ELIMIT;
	}
	head_begin(job, node);
	return 0;
}

void vm_export_keep(void)
{
	if (share.open)
		share.head->kept = true;
}

void vm_export_died(void)
{
	if (share.open && !share.head->kept)
		vm_export_remove();
}

bool vm_export_is_open(void)
{
	return share.open;
}

static void cvar_changed(unsigned index, int64_t value, const char *text)
{
	vm_export_mirror_set(&share.mirror, index, value, text);
}

/* Gives the file up; the memory that came from it stays. */
static int unpublished(void)
{
	vm_export_remove();
	share.open = false;
	return -VMPI_ELIMIT;
}

int vm_export_publish(const struct vm_export_facts *facts)
{
	if (!share.open)
		return 0;
	if (vm_export_tables(share.head, &share.mirror, facts))
		return unpublished();
	vm_cvar_observe(cvar_changed);
	/* What changed between the two. */
	vm_export_mirror_fill(&share.mirror);
	share.head->phase = VM_EXPORT_RUNS;
	/* Pairs with the load in vm_export_map(). */
	__atomic_store_n(&share.head->ready, 1, __ATOMIC_RELEASE);
	return 0;
}

void vm_export_remove(void)
{
	if (!share.open || share.pid != (pid_t)syscall(SYS_getpid))
		return;
	/* Who is killed in between leaves the file, by which both are found. */
	unlink(share.control);
	unlink(share.path);
}

void vm_export_close(bool keep)
{
	if (!keep)
		vm_export_remove();
	vm_cvar_observe(NULL);
	share.open = false;
	share.head = NULL;
	while (share.area_count)
		vm_export_free(share.areas[0].base);
	if (share.fd >= 0)
		close(share.fd);
	share.fd = -1;
}

/* A program that ends without stopping the runtime has ended all the same. */
static __attribute__((destructor)) void program_ends(void)
{
	vm_export_remove();
}
