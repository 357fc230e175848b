/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The brackets of a name are replaced one after the other, the first one first;
 * the number of digits of a range's first number is that of all.
 */
#include "host_name.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "report/option.h"
#include "vmpi.h"

/* No name stands for more hosts than that. */
#define EACH_MAX 16384

#define LETTERS                                                          \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"-._"
#define ZONE '%'

/* Behind the name of the user. */
static const char *host_of(const char *name)
{
	const char *at = strrchr(name, '@');

	return at ? at + 1 : name;
}

bool host_name_is_ipv6(const char *name)
{
	const char *host = host_of(name);
	size_t length = strcspn(host, (const char[]){ ZONE, '\0' });
	char address[INET6_ADDRSTRLEN];
	struct in6_addr bytes;

	if (length >= sizeof(address))
		return false;
	memcpy(address, host, length);
	address[length] = '\0';
	/* What follows names an interface. */
	return inet_pton(AF_INET6, address, &bytes) == 1 &&
	       (!host[length] ||
		(host[length + 1] &&
		 !host[length + 1 + strspn(host + length + 1, LETTERS)]));
}

const char *host_name_why(const char *name)
{
	const char *host = host_of(name);

	if (name[0] == '-' || host[0] == '-')
		return "no name of a host or user begins with '-'";
	if (!host[0] || host == name + 1 || strlen(name) >= HOST_NAME_BYTES ||
	    name + strspn(name, LETTERS "@") < host ||
	    (host[strspn(host, LETTERS)] && !host_name_is_ipv6(name)))
		return "the name of a host is needed, with :SLOTS (at least 1) "
		       "or without";
	return NULL;
}

struct each {
	host_name_take take;
	void *arg;
	int left; /* so many more names are given */
	bool understood;
};

static int expand(struct each *each, const char *name);

/* What a name that cannot be read comes to. */
static int refuse(struct each *each)
{
	each->understood = false;
	return -VMPI_EINVAL;
}

/* The names with a number of a range in place of the first brackets. */
static int range_expand(struct each *each, const char *name, int digits,
			int from, int to)
{
	const char *open = strchr(name, '[');
	const char *close = strchr(open, ']');
	int rc = 0;

	if (to < from || to - from >= each->left)
		return refuse(each);
	for (int i = from; i <= to && !rc; i++) {
		char text[HOST_NAME_BYTES];
		int length = snprintf(text, sizeof(text), "%.*s%0*d%s",
				      (int)(open - name), name, digits, i,
				      close + 1);

		rc = length < (int)sizeof(text) ? expand(each, text) :
						  refuse(each);
	}
	return rc;
}

static int expand(struct each *each, const char *name)
{
	const char *open = strchr(name, '['), *at = open;

	if (!open && (strchr(name, ']') || each->left-- <= 0))
		return refuse(each);
	if (!open)
		return each->take(each->arg, name);
	if (!strchr(open, ']'))
		return refuse(each);
	do {
		const char *begin = ++at;
		int from, to, digits, rc;

		if (!vm_option_digits(&from, &at))
			return refuse(each);
		digits = (int)(at - begin);
		to = from;
		if (*at == '-' && (at++, !vm_option_digits(&to, &at)))
			return refuse(each);
		if (*at != ',' && *at != ']')
			return refuse(each);
		rc = range_expand(each, name, digits, from, to);
		if (rc)
			return rc;
	} while (*at == ',');
	return 0;
}

int host_name_each(const char *text, size_t length, bool *understood,
		   host_name_take take, void *arg)
{
	struct each each = { take, arg, EACH_MAX, true };
	char name[HOST_NAME_BYTES];
	int rc;

	if (length >= sizeof(name)) {
		*understood = false;
		return -VMPI_EINVAL;
	}
	memcpy(name, text, length);
	name[length] = '\0';
	rc = expand(&each, name);
	*understood = each.understood;
	return rc;
}
