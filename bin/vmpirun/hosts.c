/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts the host files of Open MPI and Hydra, so that users need no second
 * file; anything else is a mistake, reported with its place.
 */
#include "hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/job.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

#define NAME_BYTES 256
#define BLANKS " \t\r\n"

/* Letters of names of hosts, also as user@host and [addresses]. */
#define NAME_LETTERS                                                     \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"-._@"

/* The number text consists of, from 1 to the most ranks a job may have; or 0 */
static int slots_of(const char *text)
{
	int slots;

	return vm_option_digits(&slots, &text) && !*text &&
			       slots <= VM_JOB_RANKS_MAX ?
		       slots :
		       0;
}

/* A job has no more ranks than that, so more slots are of no use. */
static int slots_sum(int slots, int more)
{
	return slots > VM_JOB_RANKS_MAX - more ? VM_JOB_RANKS_MAX :
						 slots + more;
}

static int host_add(struct hosts *hosts, const char *name, int slots)
{
	struct host *list;
	char *copy;

	for (int i = 0; i < hosts->count; i++) {
		if (strcmp(hosts->list[i].name, name) != 0)
			continue;
		/* A name per slot is how batch systems write them. */
		hosts->list[i].slots =
			slots_sum(hosts->list[i].slots, slots ? slots : 1);
		hosts->slots_given = true;
		return 0;
	}
	list = realloc(hosts->list, (size_t)(hosts->count + 1) * sizeof(*list));
	if (!list)
		return vm_cli_no_memory();
	hosts->list = list;
	copy = strdup(name);
	if (!copy)
		return vm_cli_no_memory();
	hosts->slots_given |= slots > 0;
	hosts->list[hosts->count++] = (struct host){
		.name = copy,
		.slots = slots ? slots : 1,
	};
	return 0;
}

/* One "name" or "name:4"; where says for a message what it is part of. */
static int word_add(struct hosts *hosts, const char *where, const char *word,
		    int slots)
{
	char name[NAME_BYTES];
	size_t length = strspn(word, NAME_LETTERS);

	if (word[length] == ':' && !slots)
		slots = slots_of(word + length + 1);
	else if (word[length] || !length)
		slots = -1;
	if (!length || length >= sizeof(name) || slots < 0 ||
	    (word[length] && !slots)) {
		vm_cli_say(
			"%s: '%s': the name of a host is needed, with :SLOTS (at "
			"least 1) or without",
			where, word);
		return -VMPI_EINVAL;
	}
	memcpy(name, word, length);
	name[length] = '\0';
	return host_add(hosts, name, slots);
}

int hosts_add_list(struct hosts *hosts, const char *text)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *word;
	int rc = 0;

	if (!copy)
		return vm_cli_no_memory();
	while (!rc && (word = strsep(&rest, ",")))
		rc = word_add(hosts, "--hosts", word, 0);
	free(copy);
	return rc;
}

/* The words after the name in a line of a file; *slots is 0 or what they say */
static int command_take(const char *where, char *rest, int *slots)
{
	char *word;

	while ((word = strsep(&rest, BLANKS))) {
		const char *equals = strchr(word, '=');
		int number = equals ? slots_of(equals + 1) : 0;

		if (!word[0])
			continue;
		if (number && !strncmp(word, "slots=", 6)) {
			*slots = number;
			continue;
		}
		if (number && (!strncmp(word, "max_slots=", 10) ||
			       !strncmp(word, "max-slots=", 10)))
			continue;
		vm_cli_say(
			"%s: '%s': only slots=N and max_slots=N may follow the "
			"name of a host",
			where, word);
		return -VMPI_EINVAL;
	}
	return 0;
}

static int line_add(struct hosts *hosts, const char *where, char *line)
{
	char *word, *rest;
	int slots = 0;
	int rc;

	line[strcspn(line, "#")] = '\0';
	word = line + strspn(line, BLANKS);
	if (!word[0])
		return 0;
	rest = word + strcspn(word, BLANKS);
	if (*rest)
		*rest++ = '\0';
	rc = command_take(where, rest, &slots);
	return rc ? rc : word_add(hosts, where, word, slots);
}

int hosts_add_file(struct hosts *hosts, const char *path)
{
	FILE *file = fopen(path, "re");
	char where[NAME_BYTES + 32];
	char *line = NULL;
	size_t room = 0;
	int before = hosts->count;
	int number = 0;
	int rc = 0;

	if (!file) {
		vm_cli_say("--hostfile %s: %s", path, strerror(errno));
		return -VMPI_ENOENT;
	}
	while (!rc && getline(&line, &room, file) >= 0) {
		snprintf(where, sizeof(where), "%.*s:%d", NAME_BYTES, path,
			 ++number);
		rc = line_add(hosts, where, line);
	}
	if (!rc && ferror(file)) {
		vm_cli_say("--hostfile %s: %s", path, strerror(errno));
		rc = -VMPI_EIO;
	} else if (!rc && hosts->count == before && !hosts->slots_given) {
		vm_cli_say("--hostfile %s: the file lists no hosts", path);
		rc = -VMPI_EINVAL;
	}
	free(line);
	fclose(file);
	return rc;
}

int hosts_slots(const struct hosts *hosts)
{
	long sum = 0;

	for (int i = 0; i < hosts->count; i++)
		sum += hosts->list[i].slots;
	return sum > VM_JOB_RANKS_MAX ? VM_JOB_RANKS_MAX : (int)sum;
}

bool hosts_is_here(const char *name)
{
	char own[NAME_BYTES] = "";
	size_t first;

	if (!strcmp(name, "localhost") || !strcmp(name, "127.0.0.1"))
		return true;
	if (gethostname(own, sizeof(own) - 1))
		return false;
	/* With or without the domain, on either side. */
	first = strcspn(own, ".");
	return !strcmp(name, own) ||
	       (strcspn(name, ".") == first && !strncmp(name, own, first) &&
		(!name[first] || !own[first]));
}

bool hosts_remote(const struct hosts *hosts)
{
	for (int i = 0; i < hosts->count; i++)
		if (!hosts_is_here(hosts->list[i].name))
			return true;
	return false;
}

void hosts_fini(struct hosts *hosts)
{
	for (int i = 0; i < hosts->count; i++)
		free(hosts->list[i].name);
	free(hosts->list);
	*hosts = (struct hosts){ 0 };
}
