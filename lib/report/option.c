/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strtol() and strtod() alone would also take " 4", "+4", "0x4", "4x" and
 * "infinity".
 */
#include "report/option.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/vars/value.h"
#include "report/cli.h"

#define DIGITS "0123456789"
#define SIZES "such as 65536, 256K or 1M"
#define VALUE 200 /* bytes of what was typed that are repeated */

/* What stands between an option and its value. */
static const char *gap(const char *option)
{
	size_t length = strlen(option);

	return length && option[length - 1] == '=' ? "" : " ";
}

int vm_option_refuse(const char *option, const char *value, const char *needed,
		     ...)
{
	char text[512];
	va_list args;

	va_start(args, needed);
	vsnprintf(text, sizeof(text), needed, args);
	va_end(args);
	vm_cli_say("%s%s%.*s: %s", option, value ? gap(option) : "", VALUE,
		   value ? value : "", text);
	return -VMPI_EINVAL;
}

bool vm_option_digits(int *number, const char **text)
{
	size_t digits = strspn(*text, DIGITS);

	if (digits < 1 || digits > 9)
		return false;
	*number = (int)strtol(*text, NULL, 10);
	*text += digits;
	return true;
}

int vm_option_number(int *number, const char *option, const char *value,
		     const char *what, int least, int most)
{
	const char *end = value;
	int one;

	if (vm_option_digits(&one, &end) && !*end && one >= least &&
	    one <= most) {
		*number = one;
		return 0;
	}
	if (most == INT_MAX)
		return vm_option_refuse(option, value,
					"%s, at least %d, is needed", what,
					least);
	return vm_option_refuse(option, value, "%s from %d to %d is needed",
				what, least, most);
}

int vm_option_seconds(double *seconds, const char *option, const char *value,
		      double least, double most)
{
	char *end;
	double one = strtod(value, &end);

	if (strspn(value, DIGITS ".") == strlen(value) && end != value &&
	    !*end && one >= least && one <= most) {
		*seconds = one;
		return 0;
	}
	return vm_option_refuse(option, value,
				"a number of seconds from %.15g to %.15g is "
				"needed, such as 90 or 0.5",
				least, most);
}

int vm_option_size(int64_t *bytes, const char *option, const char *value,
		   int64_t least, int64_t most)
{
	const struct vm_cvar row = {
		.type = VM_VAR_SIZE, .unit = "bytes", .min = least, .max = most
	};
	char why[VM_VALUE_WHY_MAX], from[VM_NUMBER_MAX], to[VM_NUMBER_MAX];

	if (vm_value_parse(&row, bytes, why, value) == 0)
		return 0;
	if (most == INT64_MAX)
		return vm_option_refuse(option, value,
					"a size is needed, " SIZES);
	vm_value_pretty(&row, from, least);
	vm_value_pretty(&row, to, most);
	return vm_option_refuse(option, value,
				"a size from %s to %s is needed, " SIZES, from,
				to);
}

int vm_option_word(int *which, const char *option, const char *value,
		   const char *const *words, int count)
{
	char list[256];
	size_t length = 0;

	for (int i = 0; value[0] && i < count; i++)
		if (strncmp(words[i], value, strlen(value)) == 0) {
			*which = i;
			return 0;
		}
	for (int i = 0; i < count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length,
					   "%s%s",
					   i == 0	  ? "" :
					   i + 1 == count ? " and " :
							    ", ",
					   words[i]);
	return vm_option_refuse(option, value, "one of %s is needed", list);
}

int vm_option_path(char **path, const char *option, const char *value,
		   const char *what)
{
	char *here = NULL;
	int length;

	if (!value[0] || strchr(value, '\n'))
		return vm_option_refuse(option, NULL,
					"the name of %s is needed", what);
	if (value[0] == '/') {
		*path = strdup(value);
		if (*path)
			return 0;
	} else {
		here = getcwd(NULL, 0);
		length = here ? asprintf(path, "%s/%s", here, value) : -1;
		free(here);
		if (length >= 0)
			return 0;
	}
	vm_cli_say("%s%s%s: %s", option, gap(option), value, strerror(errno));
	return errno == ENOMEM ? -VMPI_ENOMEM : -VMPI_EIO;
}
