/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of a rank's own error classes and codes.
 */
#include "mpi/call/errcode.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/call/errh.h"

/* A code that the program added; a class is a code of its own class. */
struct errcode {
	int class; /* 0: the place is free */
	char *text;
};

struct vm_errcodes {
	int count, room;
	struct errcode *rows;
};

static struct errcode *errcode_find(const struct vm_mpi *mpi, int code)
{
	const struct vm_errcodes *codes = mpi ? mpi->errcodes : NULL;
	int i = code - VM_ERRCODE_FIRST;

	if (!codes || i < 0 || i >= codes->count || !codes->rows[i].class)
		return NULL;
	return &codes->rows[i];
}

int vm_errcode_class(int code)
{
	const struct errcode *row = errcode_find(vm_mpi_self(), code);

	return row ? row->class : -1;
}

const char *vm_errcode_text(int code)
{
	const struct errcode *row = errcode_find(vm_mpi_self(), code);

	return !row ? NULL : row->text ? row->text : "";
}

void vm_errcodes_free(struct vm_errcodes *codes)
{
	if (!codes)
		return;
	for (int i = 0; i < codes->count; i++)
		free(codes->rows[i].text);
	free(codes->rows);
	free(codes);
}

/* Returns the first free place; -1 when out of memory. */
static int place_new(struct vm_mpi *mpi)
{
	struct vm_errcodes *codes = mpi->errcodes;

	if (!codes)
		codes = mpi->errcodes = calloc(1, sizeof(*codes));
	if (!codes)
		return -1;
	for (int i = 0; i < codes->count; i++)
		if (!codes->rows[i].class)
			return i;
	if (codes->count == codes->room) {
		int room = codes->room ? 2 * codes->room : 16;
		struct errcode *rows =
			realloc(codes->rows, (size_t)room * sizeof(*rows));

		if (!rows)
			return -1;
		codes->rows = rows;
		codes->room = room;
	}
	codes->rows[codes->count] = (struct errcode){ 0 };
	return codes->count++;
}

/* Adds a code of this class; 0: of the class that it is itself. */
static int errcode_add(struct vm_call *call, int class, int *code)
{
	struct vm_mpi *mpi = call->mpi;
	int place = place_new(mpi);

	if (place < 0)
		return MPI_ERR_NO_MEM;
	*code = VM_ERRCODE_FIRST + place;
	mpi->errcodes->rows[place].class = class ? class : *code;
	if (*code > mpi->last_code)
		mpi->last_code = *code;
	return 0;
}

int PMPI_Add_error_class(int *errorclass)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Add_error_class);
	int rc = vm_check_pointer(&call, errorclass, "errorclass");

	if (rc == 0)
		rc = errcode_add(&call, 0, errorclass);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Add_error_code(int errorclass, int *errorcode)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Add_error_code);
	int rc = vm_check_pointer(&call, errorcode, "errorcode");

	if (rc == 0 && (errorclass == MPI_SUCCESS ||
			vm_error_class(errorclass) != errorclass))
		rc = vm_error(&call, MPI_ERR_ARG, "%d is not an error class",
			      errorclass);
	if (rc == 0)
		rc = errcode_add(&call, errorclass, errorcode);
	return vm_call_exit_self(&call, rc);
}

/* Checks a code that the program added. */
static int check_own(struct vm_call *call, int code, struct errcode **row)
{
	*row = errcode_find(call->mpi, code);
	if (*row)
		return 0;
	return vm_error(call, MPI_ERR_ARG,
			"%d is not an error code that the program added", code);
}

int PMPI_Add_error_string(int errorcode, const char *string)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Add_error_string);
	struct errcode *row;
	char *text;
	int rc = check_own(&call, errorcode, &row);

	if (rc == 0)
		rc = vm_check_pointer(&call, string, "string");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	text = strndup(string, MPI_MAX_ERROR_STRING - 1);
	if (!text)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	free(row->text);
	row->text = text;
	return MPI_SUCCESS;
}

int PMPI_Remove_error_string(int errorcode)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Remove_error_string);
	struct errcode *row;
	int rc = check_own(&call, errorcode, &row);

	if (rc == 0 && !row->text)
		rc = vm_error(&call, MPI_ERR_ARG, "error code %d has no string",
			      errorcode);
	if (rc == 0) {
		free(row->text);
		row->text = NULL;
	}
	return vm_call_exit_self(&call, rc);
}

static int check_removable(struct vm_call *call, int code, bool is_class,
			   struct errcode **row)
{
	int rc = check_own(call, code, row);

	if (rc == 0 && ((*row)->class == code) != is_class)
		rc = vm_error(call, MPI_ERR_ARG, "%d is %s", code,
			      is_class ? "a code, not a class" :
					 "a class, not a code");
	if (rc == 0 && (*row)->text)
		rc = vm_error(call, MPI_ERR_OTHER,
			      "error code %d still has a string", code);
	return rc;
}

int PMPI_Remove_error_code(int errorcode)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Remove_error_code);
	struct errcode *row;
	int rc = check_removable(&call, errorcode, false, &row);

	if (rc == 0)
		row->class = 0;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Remove_error_class(int errorclass)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Remove_error_class);
	const struct vm_errcodes *codes = call.mpi->errcodes;
	struct errcode *row;
	int rc = check_removable(&call, errorclass, true, &row);

	for (int i = 0; rc == 0 && i < codes->count; i++)
		if (&codes->rows[i] != row &&
		    codes->rows[i].class == errorclass)
			rc = vm_error(&call, MPI_ERR_OTHER,
				      "class %d still has the code %d",
				      errorclass, VM_ERRCODE_FIRST + i);
	if (rc == 0)
		row->class = 0;
	return vm_call_exit_self(&call, rc);
}
