/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that meet others on their way to the report; argv[1] says which. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *kind = "";
static int rank;
static volatile int *volatile nowhere;
static void (*volatile nothing)(void);

static int is(const char *name)
{
	return !strcmp(kind, name);
}

/* Makes the tables for unwinding unreadable: of the program if arg is NULL, and
 * else of everything, which the C library needs for nothing else. */
static int tables_hide(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	/* Not with the constants, whose page may be hidden, too. */
	static char name[] = "circle";
	const uintptr_t page = 4096;

	if (!arg && !strstr(info->dlpi_name, name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t low = info->dlpi_addr + segment->p_vaddr;
		uintptr_t end = low + segment->p_memsz;

		if (segment->p_type != PT_GNU_EH_FRAME)
			continue;
		mprotect((void *)(low / page * page), end - low / page * page,
			 PROT_NONE);
	}
	return bytes == 0;
}

static int deep(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return deep(depth + 1) + frame[0];
}

static void again(int number)
{
	*nowhere = number;
}

/* In libc's code, so that the report asks for the caller. */
static int compare(const void *a, const void *b)
{
	dl_iterate_phdr(tables_hide, is("tables") ? NULL : &kind);
	memcpy((void *)nowhere, a, sizeof(int));
	return a == b;
}

static void *thread(void *arg)
{
	*nowhere = 1;
	return arg;
}

__attribute__((destructor)) static void late(void)
{
	int pair[2] = { 2, 1 };

	if (rank == 1 && is("destructor"))
		qsort(pair, 2, sizeof(int), compare);
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = again,
				    .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

static void heap_damage(void)
{
	char *blocks[8];

	for (int i = 0; i < 8; i++)
		blocks[i] = malloc(2000);
	for (int i = 0; i < 8; i++)
		memset(blocks[i] - 16, 0x41, 2032);
	for (int i = 0; i < 8; i++)
		free(blocks[i]);
}

static void first_page_hide(void)
{
	struct dl_find_object found;

	_dl_find_object((void *)compare, &found);
	mprotect(found.dlfo_map_start, 4096, PROT_NONE);
	*nowhere = 1;
}

static void stuck(void)
{
	close(open("stuck", O_CREAT | O_WRONLY, 0600));
	abort();
}

int main(int argc, char **argv)
{
	int pair[2] = { 2, 1 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	kind = argv[1];
	if (is("both"))
		*nowhere = rank;
	if (rank != 1)
		goto end;
	if (is("call"))
		nothing();
	else if (is("page"))
		first_page_hide();
	else if (is("tables") || is("all"))
		qsort(pair, 2, sizeof(int), compare);
	else if (is("deep"))
		deep(0);
	else if (is("handler") || is("handler-deep"))
		handlers();
	else if (is("heap"))
		heap_damage();
	else if (is("stuck"))
		stuck();
	if (is("handler"))
		*nowhere = 1;
	if (is("handler-deep"))
		deep(0);
	if (is("thread")) {
		pthread_t other;

		pthread_create(&other, NULL, thread, NULL);
		pthread_join(other, NULL);
	}
end:
	if (!is("destructor"))
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
