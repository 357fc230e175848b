/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment is the wire: it survives every launcher, and a person can
 * read it and type it.  Both directions expand from the one table, so a field
 * cannot be written without being read.
 */
#include "boot/job.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

extern char **environ;

/*
 * The thread-local variables of the images live in libc's static block, and
 * the room to add to it after the start is set by this alone (the default, 512
 * bytes, is enough for about 25 images).  libc reads it before main().
 */
#define TUNABLE "glibc.rtld.optional_static_tls"
#define TUNABLE_BYTES "300000"

enum kind { KIND_COUNT, KIND_MANY, KIND_FLAG, KIND_TEXT };

struct field {
	enum kind kind;
	const char *name;
	size_t offset;
};

#define FIELD_ROW(kind_, field_, name_, value_, text_) \
	{ KIND_##kind_, VM_JOB_PREFIX name_, offsetof(struct vm_job, field_) },

static const struct field fields[] = { VM_JOB_FIELDS(FIELD_ROW) };

#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* One function each, so that each cast is in one place. */
static int *field_count(const struct vm_job *job, const struct field *field)
{
	return (int *)((char *)(uintptr_t)job + field->offset);
}

static bool *field_flag(const struct vm_job *job, const struct field *field)
{
	return (bool *)((char *)(uintptr_t)job + field->offset);
}

static char **field_text(const struct vm_job *job, const struct field *field)
{
	return (char **)((char *)(uintptr_t)job + field->offset);
}

void vm_job_init(struct vm_job *job)
{
#define FIELD_VALUE(kind, field, name, value, text) .field = (value),
	*job = (struct vm_job){ VM_JOB_FIELDS(FIELD_VALUE) };
#undef FIELD_VALUE
}

void vm_job_fini(struct vm_job *job)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (fields[i].kind == KIND_TEXT)
			free(*field_text(job, &fields[i]));
	vm_job_init(job);
}

static int no_memory(void)
{
	vm_log(VM_ERROR, "out of memory for the description of the job");
	return -VMPI_ENOMEM;
}

int vm_job_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return no_memory();
	free(*text);
	*text = copy;
	return 0;
}

int vm_job_set_add(struct vm_job *job, const char *name, const char *value)
{
	char *set;

	if (asprintf(&set, "%s%s%s=%s", job->set ? job->set : "",
		     job->set ? "\n" : "", name, value) < 0)
		return no_memory();
	free(job->set);
	job->set = set;
	return 0;
}

bool vm_job_present(void)
{
	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, VM_JOB_PREFIX, strlen(VM_JOB_PREFIX)))
			return true;
	return false;
}

/* Digits only: strtol() alone would also take " 4", "+4" and "4x". */
static int count_read(int *count, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	long value;

	if (digits == 0 || digits > 9 || text[digits])
		return -VMPI_EINVAL;
	value = strtol(text, NULL, 10);
	if (value < 1 || value > VM_JOB_RANKS_MAX)
		return -VMPI_EINVAL;
	*count = (int)value;
	return 0;
}

static int field_read(struct vm_job *job, const struct field *field,
		      const char *text)
{
	switch (field->kind) {
	case KIND_COUNT:
	case KIND_MANY:
		if (!count_read(field_count(job, field), text))
			return 0;
		vm_log(VM_ERROR, "%s=%s: a number from 1 to %d is needed",
		       field->name, text, VM_JOB_RANKS_MAX);
		return -VMPI_EINVAL;
	case KIND_FLAG:
		*field_flag(job, field) = text[0] == '1';
		if ((text[0] == '0' || text[0] == '1') && !text[1])
			return 0;
		vm_log(VM_ERROR, "%s=%s: 0 or 1 is needed", field->name, text);
		return -VMPI_EINVAL;
	case KIND_TEXT:
		if (text[0])
			return vm_job_text(field_text(job, field), text);
		vm_log(VM_ERROR, "%s is empty: unset it or give it a value",
		       field->name);
		return -VMPI_EINVAL;
	}
	vm_panic("a job field of kind %d", (int)field->kind);
}

/*
 * A name from a newer vmpirun, or a misspelt one, must not be dropped silently:
 * the job would not be the one that was asked for.
 */
static int unknown_check(void)
{
	const size_t prefix = strlen(VM_JOB_PREFIX);

	for (char **entry = environ; entry && *entry; entry++) {
		size_t name = strcspn(*entry, "=");
		size_t i;

		if (strncmp(*entry, VM_JOB_PREFIX, prefix) != 0)
			continue;
		for (i = 0; i < FIELDS; i++)
			if (strlen(fields[i].name) == name &&
			    !strncmp(*entry, fields[i].name, name))
				break;
		if (i < FIELDS)
			continue;
		vm_log(VM_ERROR,
		       "%.*s: this vmpi does not know this field of a job; names "
		       "with " VM_JOB_PREFIX " are set by vmpirun alone",
		       (int)name, *entry);
		return -VMPI_EINVAL;
	}
	return 0;
}

int vm_job_from_env(struct vm_job *job)
{
	int rc;

	vm_job_init(job);
	rc = unknown_check();
	for (size_t i = 0; i < FIELDS && !rc; i++) {
		const char *text = getenv(fields[i].name);

		if (text)
			rc = field_read(job, &fields[i], text);
	}
	if (rc)
		vm_job_fini(job);
	return rc;
}

static int tunables_each(vm_job_each_fn each, void *arg)
{
	const char *given = getenv("GLIBC_TUNABLES");
	char *value;
	int rc;

	/* A user's own choice of this tunable stays. */
	if (given && strstr(given, TUNABLE "="))
		return 0;
	if (asprintf(&value, "%s%s" TUNABLE "=" TUNABLE_BYTES,
		     given && given[0] ? given : "",
		     given && given[0] ? ":" : "") < 0)
		return no_memory();
	rc = each("GLIBC_TUNABLES", value, arg);
	free(value);
	return rc;
}

int vm_job_each(const struct vm_job *job, vm_job_each_fn each, void *arg)
{
	for (size_t i = 0; i < FIELDS; i++) {
		const struct field *field = &fields[i];
		const char *value = NULL;
		char digits[16];
		int rc;

		switch (field->kind) {
		case KIND_COUNT:
		case KIND_MANY:
			snprintf(digits, sizeof(digits), "%d",
				 *field_count(job, field));
			value = digits;
			if (field->kind == KIND_MANY && !strcmp(digits, "1"))
				value = NULL;
			break;
		case KIND_FLAG:
			value = *field_flag(job, field) ? "1" : NULL;
			break;
		case KIND_TEXT:
			value = *field_text(job, field);
			break;
		}
		rc = each(field->name, value, arg);
		if (rc)
			return rc;
	}
	return job->processes ? 0 : tunables_each(each, arg);
}

static int env_put(const char *name, const char *value, void *arg)
{
	if (!value)
		return unsetenv(name) ? no_memory() : 0;
	return setenv(name, value, 1) ? no_memory() : 0;
}

int vm_job_to_env(const struct vm_job *job)
{
	vm_job_clear_env();
	return vm_job_each(job, env_put, NULL);
}

void vm_job_clear_env(void)
{
	const size_t prefix = strlen(VM_JOB_PREFIX);
	char **entry = environ;

	/* unsetenv() moves the later entries down: look again at the same
	 * place. */
	while (entry && *entry) {
		char name[64];
		size_t length = strcspn(*entry, "=");

		if (strncmp(*entry, VM_JOB_PREFIX, prefix) != 0 ||
		    length >= sizeof(name)) {
			entry++;
			continue;
		}
		memcpy(name, *entry, length);
		name[length] = '\0';
		if (unsetenv(name))
			entry++;
	}
}
