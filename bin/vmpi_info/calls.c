/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expands the table of mpi/call/calls.h to names.
 */
#include "calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "mpi/call/calls.h"

#define NAME(name, ...) "MPI_" #name,

/* The refused ones are the last of all. */
static const char *const names[] = { MPI_CALLS(NAME) NULL };

#define ONE(name, ...) +1
#define REFUSED_COUNT ((size_t)(0 MPI_CALLS_UNSUPPORTED(ONE)))
#define FULL_COUNT (sizeof(names) / sizeof(names[0]) - 1 - REFUSED_COUNT)

#define WIDTH 36 /* MPI_Reduce_scatter_block_init_c and some blanks */
#define COLUMNS 2

static void columns_print(const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool last = i + 1 == count || i % COLUMNS == COLUMNS - 1;

		printf("%-*s%s", last ? 0 : WIDTH, list[i], last ? "\n" : "");
	}
}

void calls_print(enum form form)
{
	if (form == FORM_NAMES || form == FORM_PARSEABLE) {
		for (size_t i = 0; i < FULL_COUNT + REFUSED_COUNT; i++) {
			if (form == FORM_NAMES)
				puts(names[i]);
			else
				text_fields("call", names[i],
					    i < FULL_COUNT ? "full" : "refused",
					    NULL);
		}
		return;
	}
	printf("%zu MPI calls, each also as PMPI_:\n", FULL_COUNT);
	columns_print(names, FULL_COUNT);
	if (REFUSED_COUNT) {
		printf("%zu that are not there yet and return an error:\n",
		       REFUSED_COUNT);
		columns_print(names + FULL_COUNT, REFUSED_COUNT);
	}
}
