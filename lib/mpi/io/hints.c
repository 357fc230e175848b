/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info keys of files.
 */
#include "mpi/io/hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/call/call.h"
#include "mpi/call/info.h"

#define COLLECTIVE_KEY "collective_buffering"
#define PERMISSIONS_KEY "file_perm"
#define ACCESS_KEY "access_style"

static const char *const switch_words[] = { "automatic", "enable", "disable" };

void vm_io_hints_init(struct vm_io_hints *hints)
{
	*hints = (struct vm_io_hints){
#define INITIAL(field, key, value, least, most) .field = (value),
		VM_IO_NUMBERS(INITIAL)
#undef INITIAL
			.permissions = 0666,
	};
}

static void number_take(int64_t *field, MPI_Info info, const char *key,
			int64_t least, int64_t most)
{
	const char *value = vm_info_value(info, key);
	char *end;
	long long number;

	if (!value)
		return;
	number = strtoll(value, &end, 10);
	if (end != value && !*end && number >= least && number <= most)
		*field = number;
}

static void switch_take(uint8_t *field, MPI_Info info, const char *key)
{
	const char *value = vm_info_value(info, key);

	for (uint8_t i = 0; value && i < 3; i++)
		if (!strcmp(value, switch_words[i]))
			*field = i;
}

/* The standard's key for both of ROMIO's. */
static void collective_take(struct vm_io_hints *hints, MPI_Info info)
{
	const char *value = vm_info_value(info, COLLECTIVE_KEY);

	if (value && !strcmp(value, "true"))
		hints->cb_read = hints->cb_write = VM_IO_ENABLE;
	else if (value && !strcmp(value, "false"))
		hints->cb_read = hints->cb_write = VM_IO_DISABLE;
}

int vm_io_hints_take(struct vm_call *call, struct vm_io_hints *hints,
		     MPI_Info info)
{
	const char *value;
	char *end;
	int rc = vm_check_hints(call, info);

	if (rc != 0)
		return rc;
#define TAKE(field, key, value, least, most) \
	number_take(&hints->field, info, key, least, most);
	VM_IO_NUMBERS(TAKE)
#undef TAKE
	collective_take(hints, info);
#define TAKE(field, key) switch_take(&hints->field, info, key);
	VM_IO_SWITCHES(TAKE)
#undef TAKE
	value = vm_info_value(info, PERMISSIONS_KEY);
	if (value) {
		unsigned long mode = strtoul(value, &end, 8);

		if (end != value && !*end && mode <= 07777)
			hints->permissions = (int)mode;
	}
	value = vm_info_value(info, ACCESS_KEY);
	if (value && strlen(value) < sizeof(hints->access))
		memcpy(hints->access, value, strlen(value) + 1);
	return 0;
}

static int number_give(MPI_Info info, const char *key, long long number,
		       const char *format)
{
	char text[24];

	snprintf(text, sizeof(text), format, number);
	return vm_info_put(info, key, text);
}

int vm_io_hints_give(struct vm_call *call, const struct vm_io_hints *hints,
		     const char *name, MPI_Info *out)
{
	int rc = vm_info_new(call->mpi, out);

	if (rc != 0)
		return rc;
#define GIVE(field, key, value, least, most) \
	rc = rc ? rc : number_give(*out, key, hints->field, "%lld");
	VM_IO_NUMBERS(GIVE)
#undef GIVE
#define GIVE(field, key) \
	rc = rc ? rc : vm_info_put(*out, key, switch_words[hints->field]);
	VM_IO_SWITCHES(GIVE)
#undef GIVE
	rc = rc ? rc :
		  vm_info_put(*out, COLLECTIVE_KEY,
			      hints->cb_write == VM_IO_DISABLE ? "false" :
								 "true");
	rc = rc ? rc :
		  number_give(*out, PERMISSIONS_KEY, hints->permissions,
			      "%llo");
	if (rc == 0 && hints->access[0])
		rc = vm_info_put(*out, ACCESS_KEY, hints->access);
	if (rc == 0 && strlen(name) < MPI_MAX_INFO_VAL)
		rc = vm_info_put(*out, "filename", name);
	return rc;
}
