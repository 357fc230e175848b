/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects.
 *
 * MPI_INFO_ENV has the constant pairs of info_env(): a value for each key of
 * MPI 4.1, 11.2.1, that this library knows.
 */
#include "mpi/call/info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rank/state.h"
#include "mpi/call/check.h"

void vm_info_clear(struct vm_info *info)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&info->pairs)) != NULL)
		free(vm_container_of(link, struct vm_info_pair, link));
	info->count = 0;
}

static struct vm_info *info_new(struct vm_mpi *mpi)
{
	struct vm_info *info =
		vm_object_new(mpi, VM_OBJECT_INFO, sizeof(*info));

	if (info)
		vm_list_init(&info->pairs);
	return info;
}

static void info_free(struct vm_mpi *mpi, struct vm_info *info)
{
	vm_info_clear(info);
	vm_object_free(mpi, VM_OBJECT_INFO, info);
}

static struct vm_info_pair *info_find(const struct vm_info *info,
				      const char *key)
{
	struct vm_list *link;

	vm_list_each(link, &info->pairs) {
		struct vm_info_pair *pair =
			vm_container_of(link, struct vm_info_pair, link);

		if (strcmp(pair->key, key) == 0)
			return pair;
	}
	return NULL;
}

static struct vm_info_pair *pair_new(const char *key, const char *value)
{
	size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
	struct vm_info_pair *pair =
		malloc(sizeof(*pair) + key_bytes + value_bytes);

	if (pair) {
		pair->value = pair->key + key_bytes;
		memcpy(pair->key, key, key_bytes);
		memcpy(pair->value, value, value_bytes);
	}
	return pair;
}

/* Sets the value of a key, which keeps its place if it exists. */
static int info_put(struct vm_info *info, const char *key, const char *value)
{
	struct vm_info_pair *old = info_find(info, key);
	struct vm_info_pair *pair = pair_new(key, value);

	if (!pair)
		return MPI_ERR_NO_MEM;
	vm_list_append(old ? &old->link : &info->pairs, &pair->link);
	info->count += !old;
	if (old) {
		vm_list_remove(&old->link);
		free(old);
	}
	return 0;
}

/* Makes an info of how the rank was started; the caller frees it. */
static struct vm_info *info_env(struct vm_mpi *mpi)
{
	struct vm_info *info = info_new(mpi);
	char ranks[16];
	int rc = 0;

	if (!info)
		return NULL;
	snprintf(ranks, sizeof(ranks), "%d", mpi->world.size);
	rc |= info_put(info, "maxprocs", ranks);
	rc |= info_put(info, "soft", ranks);
	rc |= info_put(info, "thread_level", "MPI_THREAD_MULTIPLE");
	if (rc != 0) {
		info_free(mpi, info);
		return NULL;
	}
	return info;
}

/* Gets an info to read; *temporary tells that info_done() must free it. */
static int info_open(struct vm_call *call, MPI_Info handle,
		     struct vm_info **info, bool *temporary)
{
	*temporary = handle == MPI_INFO_ENV;
	*info = *temporary ? info_env(call->mpi) :
			     vm_object_of(handle, VM_MAGIC_INFO);
	if (*info)
		return 0;
	if (*temporary)
		return MPI_ERR_NO_MEM;
	return vm_error(call, MPI_ERR_INFO,
			handle == MPI_INFO_NULL ?
				"MPI_INFO_NULL" :
				"not an info object, or it was freed");
}

static void info_done(struct vm_mpi *mpi, struct vm_info *info, bool temporary)
{
	if (temporary)
		info_free(mpi, info);
}

/* Checks an info that is to be changed. */
static int check_info(struct vm_call *call, MPI_Info handle,
		      struct vm_info **info)
{
	bool temporary;

	if (handle == MPI_INFO_ENV)
		return vm_error(call, MPI_ERR_INFO,
				"MPI_INFO_ENV cannot be changed");
	return info_open(call, handle, info, &temporary);
}

static int check_key(struct vm_call *call, const char *key)
{
	size_t length = key ? strlen(key) : 0;

	if (length > 0 && length < MPI_MAX_INFO_KEY)
		return 0;
	return vm_error(call, MPI_ERR_INFO_KEY,
			"a key has 1 to %d characters, this one %zu",
			MPI_MAX_INFO_KEY - 1, length);
}

int vm_info_new(struct vm_mpi *mpi, MPI_Info *info)
{
	struct vm_info *new = info_new(mpi);

	if (!new)
		return MPI_ERR_NO_MEM;
	*info = (MPI_Info) new;
	return 0;
}

int vm_info_put(MPI_Info handle, const char *key, const char *value)
{
	return info_put((struct vm_info *)handle, key, value);
}

void vm_info_drop(struct vm_mpi *mpi, MPI_Info handle)
{
	info_free(mpi, (struct vm_info *)handle);
}

const char *vm_info_value(MPI_Info handle, const char *key)
{
	const struct vm_info *info = vm_object_of(handle, VM_MAGIC_INFO);
	const struct vm_info_pair *pair = info ? info_find(info, key) : NULL;

	return pair ? pair->value : NULL;
}

size_t vm_info_alignment(MPI_Info handle, size_t most)
{
	const char *value =
		vm_info_value(handle, "mpi_minimum_memory_alignment");
	size_t align = 1;
	char *end;
	long long bytes;

	if (!value)
		return 0;
	errno = 0;
	bytes = strtoll(value, &end, 10);
	if (errno || end == value || *end || bytes <= 0 ||
	    (unsigned long long)bytes > most)
		return 0;
	while (align < (size_t)bytes)
		align *= 2;
	return align;
}

int vm_check_hints(struct vm_call *call, MPI_Info handle)
{
	if (handle == MPI_INFO_NULL || handle == MPI_INFO_ENV ||
	    vm_object_of(handle, VM_MAGIC_INFO))
		return 0;
	return vm_error(call, MPI_ERR_INFO,
			"not an info object, or it was freed");
}

int PMPI_Info_create(MPI_Info *info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_create);
	int rc = vm_check_pointer(&call, info, "info");

	if (rc == 0)
		rc = vm_info_new(call.mpi, info);
	return vm_call_exit_self(&call, rc);
}

/* Puts the words of a command into an info: its name and, if they fit into a
 * value, its arguments. */
static int put_command(struct vm_info *info, int argc, char **argv)
{
	char text[MPI_MAX_INFO_VAL];
	size_t used = 0;
	int rc = 0;

	if (argc < 1 || !argv || !argv[0])
		return 0;
	if (strlen(argv[0]) < sizeof(text))
		rc = info_put(info, "command", argv[0]);
	for (int i = 1; rc == 0 && i < argc && argv[i]; i++) {
		int n = snprintf(text + used, sizeof(text) - used, "%s%s",
				 i > 1 ? " " : "", argv[i]);

		used += (size_t)n;
		if (used >= sizeof(text))
			return 0;
	}
	return rc == 0 && used ? info_put(info, "argv", text) : rc;
}

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_create_env);
	struct vm_info *new = NULL;
	int rc = vm_check_pointer(&call, info, "info");

	if (rc == 0) {
		new = info_env(call.mpi);
		rc = new ? put_command(new, argc, argv) : MPI_ERR_NO_MEM;
	}
	if (rc == 0)
		*info = (MPI_Info) new;
	else if (new)
		info_free(call.mpi, new);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_set);
	struct vm_info *object;
	int rc = check_info(&call, info, &object);

	if (rc == 0)
		rc = check_key(&call, key);
	if (rc == 0 && (!value || strlen(value) >= MPI_MAX_INFO_VAL))
		rc = vm_error(&call, MPI_ERR_INFO_VALUE,
			      "a value has at most %d characters",
			      MPI_MAX_INFO_VAL - 1);
	if (rc == 0)
		rc = info_put(object, key, value);
	return vm_call_exit_self(&call, rc);
}

/* Copies the value of key, cut to bytes with its end; *length is its full
 * length, -1 without such a key. */
static int info_read(struct vm_call *call, MPI_Info handle, const char *key,
		     char *value, size_t bytes, int *length)
{
	struct vm_info *info;
	struct vm_info_pair *pair;
	bool temporary;
	int rc = check_key(call, key);

	if (rc == 0)
		rc = info_open(call, handle, &info, &temporary);
	if (rc != 0)
		return rc;
	pair = info_find(info, key);
	*length = pair ? (int)strlen(pair->value) : -1;
	if (pair && bytes > 0)
		snprintf(value, bytes, "%s", pair->value);
	info_done(call->mpi, info, temporary);
	return 0;
}

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value,
		  int *flag)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_get);
	int length, rc = vm_check_pointer(&call, value, "value");

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0 && valuelen < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "valuelen %d is negative",
			      valuelen);
	if (rc == 0)
		/* valuelen does not count the end of the string. */
		rc = info_read(&call, info, key, value, (size_t)valuelen + 1,
			       &length);
	if (rc == 0)
		*flag = length >= 0;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
			 char *value, int *flag)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_get_string);
	int length, rc = vm_check_pointer(&call, buflen, "buflen");

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0 && *buflen < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "buflen %d is negative",
			      *buflen);
	if (rc == 0 && *buflen > 0)
		rc = vm_check_pointer(&call, value, "value");
	if (rc == 0)
		rc = info_read(&call, info, key, value, (size_t)*buflen,
			       &length);
	if (rc == 0) {
		*flag = length >= 0;
		if (*flag)
			*buflen = length + 1;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
			   int *flag)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_get_valuelen);
	int length, rc = vm_check_pointer(&call, valuelen, "valuelen");

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		rc = info_read(&call, info, key, NULL, 0, &length);
	if (rc == 0) {
		*flag = length >= 0;
		if (*flag)
			*valuelen = length;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_get_nkeys);
	struct vm_info *object;
	bool temporary;
	int rc = vm_check_pointer(&call, nkeys, "nkeys");

	if (rc == 0)
		rc = info_open(&call, info, &object, &temporary);
	if (rc == 0) {
		*nkeys = object->count;
		info_done(call.mpi, object, temporary);
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_get_nthkey);
	struct vm_info *object;
	struct vm_list *link;
	bool temporary;
	int rc = vm_check_pointer(&call, key, "key");

	if (rc == 0)
		rc = info_open(&call, info, &object, &temporary);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (n < 0 || n >= object->count) {
		rc = vm_error(&call, MPI_ERR_ARG,
			      "key %d of an info object with %d", n,
			      object->count);
	} else {
		link = object->pairs.next;
		for (int i = 0; i < n; i++)
			link = link->next;
		snprintf(key, MPI_MAX_INFO_KEY, "%s",
			 vm_container_of(link, struct vm_info_pair, link)->key);
	}
	info_done(call.mpi, object, temporary);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_delete(MPI_Info info, const char *key)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_delete);
	struct vm_info *object;
	struct vm_info_pair *pair;
	int rc = check_info(&call, info, &object);

	if (rc == 0)
		rc = check_key(&call, key);
	if (rc == 0) {
		pair = info_find(object, key);
		if (pair) {
			vm_list_remove(&pair->link);
			free(pair);
			object->count--;
		} else {
			rc = vm_error(&call, MPI_ERR_INFO_NOKEY, "\"%s\"", key);
		}
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_dup);
	struct vm_info *from, *to = NULL;
	struct vm_list *link;
	bool temporary;
	int rc = vm_check_pointer(&call, newinfo, "newinfo");

	if (rc == 0)
		rc = info_open(&call, info, &from, &temporary);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	to = info_new(call.mpi);
	if (!to)
		rc = MPI_ERR_NO_MEM;
	for (link = from->pairs.next; rc == 0 && link != &from->pairs;
	     link = link->next) {
		struct vm_info_pair *pair =
			vm_container_of(link, struct vm_info_pair, link);

		rc = info_put(to, pair->key, pair->value);
	}
	info_done(call.mpi, from, temporary);
	if (rc == 0)
		*newinfo = (MPI_Info)to;
	else if (to)
		info_free(call.mpi, to);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Info_free(MPI_Info *info)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Info_free);
	struct vm_info *object;
	int rc = vm_check_pointer(&call, info, "info");

	if (rc == 0)
		rc = check_info(&call, *info, &object);
	if (rc == 0) {
		info_free(call.mpi, object);
		*info = MPI_INFO_NULL;
	}
	return vm_call_exit_self(&call, rc);
}
