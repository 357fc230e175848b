/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits files, the environment and --set text into names and values; what they
 * mean is cvar.c's business.
 */
#include "introspect/vars/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/nearest.h"
#include "introspect/vars/cvar.h"

/* After so many mistakes in one file it is not meant for us. */
#define MISTAKES_MAX 10

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static void comment_cut(char *line)
{
	for (char *c = line; *c; c++) {
		if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
			*c = '\0';
			return;
		}
	}
}

/* Cuts `name = value` at its sign; false without one or without a name. */
static bool assignment_split(char *text, char **name, char **value)
{
	char *sign = strchr(text, '=');

	if (!sign)
		return false;
	*sign = '\0';
	*name = trim(text);
	*value = trim(sign + 1);
	return (*name)[0] != '\0';
}

static int line_apply(char *line, size_t length, enum vm_var_source source,
		      const char *path, unsigned number)
{
	char *name, *value;

	if (strlen(line) != length) {
		vm_log(VM_ERROR, "%.480s:%u: a zero byte; this is no text file",
		       path, number);
		return -VMPI_EINVAL;
	}
	comment_cut(line);
	line = trim(line);
	if (!line[0])
		return 0;
	if (!assignment_split(line, &name, &value)) {
		vm_log(VM_ERROR,
		       "%.480s:%u: not a line of the form "
		       "name = value",
		       path, number);
		return -VMPI_EINVAL;
	}
	return vm_cvar_set_at(name, value, source, path, number);
}

/* Whether this process is the first of its job, as far as launchers say. */
static bool is_first(void)
{
	const char *rank = getenv("PMI_RANK");

	rank = rank ? rank : getenv("PMIX_RANK");
	return !rank || !strcmp(rank, "0");
}

/* Only the file that was asked for must be readable: the home directory may be
 * another user's, as that of a container whose user was chosen. */
static int unreadable(const char *path, int error, enum vm_var_source source)
{
	if (source == VM_SOURCE_CONFIG) {
		vm_log(VM_ERROR, "%.480s: cannot be read: %s", path,
		       strerror(error));
		return -VMPI_EIO;
	}
	if (is_first())
		vm_log(VM_WARN,
		       "%.480s: cannot be read, so nothing in it is set: %s",
		       path, strerror(error));
	return 0;
}

/* The first error of those that came. */
static int first_error(int first, int next)
{
	return first < 0 ? first : next;
}

static int file_apply(const char *path, enum vm_var_source source)
{
	unsigned number = 0, mistakes = 0;
	size_t room = 0;
	char *line = NULL;
	ssize_t length;
	int rc = 0, one;
	FILE *file;

	file = fopen(path, "re");
	if (!file) {
		/* Only a file that was asked for must be there. */
		if ((errno == ENOENT || errno == ENOTDIR) &&
		    source != VM_SOURCE_CONFIG)
			return 0;
		return unreadable(path, errno, source);
	}
	while (mistakes < MISTAKES_MAX &&
	       (length = getline(&line, &room, file)) >= 0) {
		one = line_apply(line, (size_t)length, source, path, ++number);
		mistakes += one < 0;
		rc = first_error(rc, one);
	}
	if (mistakes == MISTAKES_MAX)
		vm_log(VM_ERROR, "%.480s: the lines after %u were not read",
		       path, number);
	else if (!feof(file))
		rc = first_error(rc, unreadable(path, errno, source));
	free(line);
	fclose(file);
	return rc;
}

/* Variables of the environment which begin with VMPI_ and are no CVARs. */
static bool env_is_other(const char *name)
{
	static const char *const names[] = {
		"VMPI_CONFIG",				    /* the file above */
		"VMPI_NODE",				    /* vmpirun */
		"VMPI_CC",     "VMPI_CXX", "VMPI_FC",	    /* vmpicc */
		"VMPI_BUILD",  "VMPI_SRC", "VMPI_SANITIZE", /* the tests */
	};

	if (strncmp(name, "VMPI_JOB_", 9) == 0)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int nearest_offer(const struct vm_cvar_view *view, void *arg)
{
	vm_nearest_offer(arg, view->name);
	return 0;
}

static void copy_case(char out[VM_NAME_MAX], const char *name,
		      int (*convert)(int))
{
	size_t i;

	for (i = 0; name[i] && i < VM_NAME_MAX - 1; i++)
		out[i] = (char)convert((unsigned char)name[i]);
	out[i] = '\0';
}

/* Another program's variable may have the same prefix: that is no mistake, but
 * most often it is one. */
static void env_warn(const char *name)
{
	struct vm_nearest nearest;
	char capitals[VM_NAME_MAX];
	const char *meant;

	vm_nearest_init(&nearest, name + 5);
	vm_cvar_each(nearest_offer, &nearest);
	meant = vm_nearest_name(&nearest);
	if (meant) {
		copy_case(capitals, meant, toupper);
		vm_log(VM_WARN,
		       "environment variable %s is not known; "
		       "did you mean VMPI_%s?",
		       name, capitals);
	} else {
		vm_log(VM_WARN,
		       "environment variable %s is not known; vmpi_info --cvars "
		       "lists those that are",
		       name);
	}
}

static int env_apply(const char *entry)
{
	const char *sign = strchr(entry, '=');
	char name[VM_NAME_MAX], small[VM_NAME_MAX];

	if (strncmp(entry, "VMPI_", 5) != 0 || !sign || !sign[1])
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(sign - entry), entry);
	if (env_is_other(name))
		return 0;
	copy_case(small, name + 5, tolower);
	if (!vm_cvar_known(small)) {
		env_warn(name);
		return 0;
	}
	return vm_cvar_set(small, sign + 1, VM_SOURCE_ENVIRONMENT);
}

static int set_apply(const char *set)
{
	char *name, *value, *text, *rest, *line;
	int rc = 0;

	text = strdup(set);
	if (!text) {
		vm_log(VM_ERROR, "--set: %s", vmpi_strerror(-VMPI_ENOMEM));
		return -VMPI_ENOMEM;
	}
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		line = trim(line);
		if (!line[0])
			continue;
		if (assignment_split(line, &name, &value)) {
			rc = first_error(rc, vm_cvar_set(name, value,
							 VM_SOURCE_COMMAND));
			continue;
		}
		vm_log(VM_ERROR, "--set %.60s: not of the form NAME=VALUE",
		       line);
		rc = first_error(rc, -VMPI_EINVAL);
	}
	free(text);
	return rc;
}

int vm_vars_load_from(const struct vm_var_files *files, const char *set)
{
	int rc = vm_vars_reset();

	if (rc < 0)
		return rc;
	if (files->system)
		rc = first_error(rc,
				 file_apply(files->system, VM_SOURCE_SYSTEM));
	if (files->user)
		rc = first_error(rc, file_apply(files->user, VM_SOURCE_USER));
	if (files->config)
		rc = first_error(rc,
				 file_apply(files->config, VM_SOURCE_CONFIG));
	for (char **entry = environ; entry && *entry; entry++)
		rc = first_error(rc, env_apply(*entry));
	if (set)
		rc = first_error(rc, set_apply(set));
	return rc == -VMPI_ENOENT ? -VMPI_EINVAL : rc;
}

void vm_var_files_usual(struct vm_var_files *files,
			char user_path[VM_VAR_PATH_MAX])
{
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	const char *config = getenv("VMPI_CONFIG");
	int n = -1;

	if (xdg && xdg[0])
		n = snprintf(user_path, VM_VAR_PATH_MAX, "%s/vmpi.conf", xdg);
	else if (home && home[0])
		n = snprintf(user_path, VM_VAR_PATH_MAX, "%s/.config/vmpi.conf",
			     home);
	files->system = VM_SYSCONFDIR "/vmpi.conf";
	/* A name longer than PATH_MAX names no file. */
	files->user = n > 0 && n < VM_VAR_PATH_MAX ? user_path : NULL;
	files->config = config && config[0] ? config : NULL;
}

int vm_vars_load(const char *set)
{
	char user_path[VM_VAR_PATH_MAX];
	struct vm_var_files files;

	vm_var_files_usual(&files, user_path);
	return vm_vars_load_from(&files, set);
}
