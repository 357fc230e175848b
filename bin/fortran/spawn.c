/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of programs: arrays of strings that end with a blank one.
 */
#include <stdlib.h>
#include <string.h>

#include "by_hand.h"
#include "convert.h"

static bool is_blank(const char *text, size_t bytes)
{
	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	return bytes == 0;
}

/* Makes an argv of strings that lie `step` bytes apart and are `bytes` long: as
 * many as `count`, or, if that is negative, until one is blank.  In one piece of
 * memory; NULL when there is none. */
static char **strings(const char *text, size_t bytes, size_t step, int count)
{
	char **all, *to;
	int n = 0;

	while (count < 0 ? !is_blank(text + (size_t)n * step, bytes) :
			   n < count)
		n++;
	all = malloc(((size_t)n + 1) * sizeof(*all) + (size_t)n * (bytes + 1));
	if (!all)
		return NULL;
	to = (char *)(all + n + 1);
	for (int i = 0; i < n; i++, to += bytes + 1) {
		const char *from = text + (size_t)i * step;
		size_t used = bytes;

		/* Blanks at both ends do not count (MPI 4.1, 11.8.2). */
		while (used && from[used - 1] == ' ')
			used--;
		for (; used && *from == ' '; used--)
			from++;
		memcpy(to, from, used);
		to[used] = '\0';
		all[i] = to;
	}
	all[n] = NULL;
	return all;
}

int vm_f_comm_spawn(__typeof__(MPI_Comm_spawn) *call, char *command, char *argv,
		    MPI_Fint *maxprocs, MPI_Fint *info, MPI_Fint *root,
		    MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *errcodes,
		    size_t command_bytes, size_t argv_bytes)
{
	struct vm_f_string c_command;
	char **c_argv = MPI_ARGV_NULL;
	MPI_Comm made;
	int rc = vm_f_string_in(&c_command, command, command_bytes);

	if (rc != 0)
		return rc;
	if (argv != &vmpi_sentinels_.argv_null) {
		c_argv = strings(argv, argv_bytes, argv_bytes, -1);
		if (!c_argv)
			rc = vm_f_fail(MPI_ERR_NO_MEM);
	}
	if (rc == 0)
		rc = call(c_command.text, c_argv, *maxprocs, vm_f_info(*info),
			  *root, vm_f_comm(*comm), &made,
			  vm_f_errcodes(errcodes));
	if (rc == 0)
		*intercomm = vm_f_comm_number(made);
	vm_f_string_end(&c_command);
	if (c_argv != MPI_ARGV_NULL)
		free(c_argv);
	return rc;
}

/* Whether the arguments that only count at the root are to be read here. */
static bool is_root(MPI_Comm comm, int root)
{
	int inter = 0, rank = -1;

	PMPI_Comm_test_inter(comm, &inter);
	if (inter)
		return root == MPI_ROOT;
	PMPI_Comm_rank(comm, &rank);
	return rank == root;
}

/* The arguments of each command: argv(count, *) of Fortran, so that those of one
 * lie `count` strings apart. */
static char ***lists(const char *argv, size_t bytes, int count)
{
	char ***all = calloc((size_t)count + 1, sizeof(*all));

	for (int i = 0; all && i < count; i++) {
		all[i] = strings(argv + (size_t)i * bytes, bytes,
				 (size_t)count * bytes, -1);
		if (all[i])
			continue;
		while (i > 0)
			free(all[--i]);
		free(all);
		return NULL;
	}
	return all;
}

int vm_f_comm_spawn_multiple(__typeof__(MPI_Comm_spawn_multiple) *call,
			     MPI_Fint *count, char *commands, char *argv,
			     MPI_Fint *maxprocs, MPI_Fint *infos,
			     MPI_Fint *root, MPI_Fint *comm,
			     MPI_Fint *intercomm, MPI_Fint *errcodes,
			     size_t commands_bytes, size_t argv_bytes)
{
	int n = is_root(vm_f_comm(*comm), *root) ? *count : 0;
	bool no_argv = argv == &vmpi_sentinels_.argvs_null;
	char **c_commands =
		strings(commands, commands_bytes, commands_bytes, n);
	char ***c_argv = no_argv ? MPI_ARGVS_NULL : lists(argv, argv_bytes, n);
	struct vm_f_handles c_infos = { .all = NULL };
	MPI_Comm made;
	int rc = c_commands && (c_argv || no_argv) ?
			 vm_f_handles_in(&c_infos, VM_F_INFO, infos, n) :
			 vm_f_fail(MPI_ERR_NO_MEM);

	if (rc == 0)
		rc = call(*count, c_commands, c_argv, maxprocs,
			  (MPI_Info *)c_infos.all, *root, vm_f_comm(*comm),
			  &made, vm_f_errcodes(errcodes));
	if (rc == 0)
		*intercomm = vm_f_comm_number(made);
	for (int i = 0; !no_argv && c_argv && i < n; i++)
		free(c_argv[i]);
	if (!no_argv)
		free(c_argv);
	free(c_commands);
	vm_f_handles_end(&c_infos);
	return rc;
}
