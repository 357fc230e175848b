/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accepts the host files of Open MPI and Hydra, so that users need no second
 * file; anything else is a mistake, reported with its place.
 */
#include "hosts.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "boot/job.h"
#include "host_name.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

#define BLANKS " \t\r\n\v\f"
#define MARK "\xef\xbb\xbf" /* with which some editors begin a file of UTF-8 */

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

/* What finds a host by its name. */
struct known {
	const char *name;
	int number;
};

static int known_compare(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->name,
		      ((const struct known *)b)->name);
}

/* Appends a host whose name is new. */
static int host_append(struct hosts *hosts, const char *name, int slots)
{
	struct host *list = realloc(hosts->list,
				    (size_t)(hosts->count + 1) * sizeof(*list));
	struct known *entry = malloc(sizeof(*entry));
	char *copy = strdup(name);

	hosts->list = list ? list : hosts->list;
	if (list && entry && copy) {
		*entry = (struct known){ copy, hosts->count };
		if (tsearch(entry, &hosts->entries, known_compare)) {
			list[hosts->count++] = (struct host){
				.name = copy,
				.slots = slots,
			};
			return 0;
		}
	}
	free(entry);
	free(copy);
	return vm_cli_no_memory();
}

int hosts_add(struct hosts *hosts, const char *where, const char *name,
	      int slots)
{
	const char *why = host_name_why(name);
	struct known **found;

	if (why) {
		vm_cli_say("%s: '%s': %s", where, name, why);
		return -VMPI_EINVAL;
	}
	found = tfind(&(struct known){ .name = name }, &hosts->entries,
		      known_compare);
	/* A name per slot is how batch systems write them. */
	hosts->slots_given |= found || slots;
	slots = slots ? slots : 1;
	if (!found)
		return host_append(hosts, name, slots);
	hosts->list[(*found)->number].slots =
		slots_sum(hosts->list[(*found)->number].slots, slots);
	return 0;
}

/* A word "user@name:4", taken apart. */
struct word {
	struct hosts *hosts;
	const char *where; /* what it is part of, for a message */
	const char *user;  /* NULL: as the word says */
	int slots;	   /* 0: none */
};

static int name_add(void *arg, const char *name)
{
	const struct word *word = arg;
	char *both;
	int rc;

	if (!word->user)
		return hosts_add(word->hosts, word->where, name, word->slots);
	if (asprintf(&both, "%s@%s", word->user, name) < 0)
		return vm_cli_no_memory();
	rc = hosts_add(word->hosts, word->where, both, word->slots);
	free(both);
	return rc;
}

/* The bytes of the name in a word.  *skip of them are not part of it: the
 * brackets around an address. */
static size_t name_length(const char *text, size_t *skip)
{
	const char *close = strchr(text, ']');

	*skip = text[0] == '[' && close &&
		memchr(text, ':', (size_t)(close - text));
	if (*skip)
		return (size_t)(close - text) + 1;
	return host_name_is_ipv6(text) ? strlen(text) : strcspn(text, ":");
}

/* One "name" or "name:4". */
static int word_add(struct word *word, char *text)
{
	size_t skip, length;
	char *at = strrchr(text, '@');
	bool understood = true;
	int rc = -VMPI_EINVAL;

	/* Of an address in brackets the user is before them. */
	if (at && at[1] == '[') {
		*at = '\0';
		word->user = text;
		text = at + 1;
	}
	length = name_length(text, &skip);
	if (text[length] == ':' && !word->slots) {
		word->slots = slots_of(text + length + 1);
		understood = word->slots > 0;
	} else {
		understood = !text[length];
	}
	if (understood)
		rc = host_name_each(text + skip, length - 2 * skip, &understood,
				    name_add, word);
	if (!understood)
		vm_cli_say("%s: '%s': the name of a host is needed, with "
			   ":SLOTS (at least 1) or without, or several as "
			   "n[1-4,7]",
			   word->where, text);
	return rc;
}

/* The next word of a list, which commas divide outside of brackets; blanks
 * around it are left out. */
static char *list_next(char **rest)
{
	char *word = *rest, *end = word;
	bool inside = false;

	if (!word)
		return NULL;
	for (; *end && (inside || *end != ','); end++)
		inside = *end == '[' || (inside && *end != ']');
	*rest = *end ? end + 1 : NULL;
	word += strspn(word, BLANKS);
	while (end > word && strchr(BLANKS, end[-1]))
		end--;
	*end = '\0';
	return word;
}

int hosts_add_list(struct hosts *hosts, const char *text)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *text_next;
	int rc = 0;

	if (!copy)
		return vm_cli_no_memory();
	while (!rc && (text_next = list_next(&rest)))
		rc = word_add(&(struct word){ hosts, "--hosts", NULL, 0 },
			      text_next);
	free(copy);
	return rc;
}

/* What may follow the name in a line of a file: words of Open MPI and Hydra,
 * with '-' for '_' or not. */
static const struct {
	const char *name;
	enum { KEY_SLOTS, KEY_MOST, KEY_USER, KEY_NOTHING } kind;
} keys[] = {
	{ "slots", KEY_SLOTS },	    { "count", KEY_SLOTS },
	{ "cpu", KEY_SLOTS },	    { "max_slots", KEY_MOST },
	{ "slots_max", KEY_MOST },  { "max_count", KEY_MOST },
	{ "count_max", KEY_MOST },  { "max_cpu", KEY_MOST },
	{ "cpu_max", KEY_MOST },    { "user", KEY_USER },
	{ "username", KEY_USER },   { "user_name", KEY_USER },
	{ "binding", KEY_NOTHING },
};

static bool is_key(const char *word, size_t length, const char *key)
{
	for (size_t i = 0; i < length; i++)
		if (!key[i] || (word[i] == '-' ? '_' : word[i]) != key[i])
			return false;
	return !key[length];
}

/* Takes one word "key=value".  Whether it is one. */
static bool key_take(struct word *word, const char *text)
{
	size_t length = strcspn(text, "=");
	const char *value = text + length + 1;

	if (!text[length] || !value[0])
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!is_key(text, length, keys[i].name))
			continue;
		if (keys[i].kind == KEY_SLOTS)
			word->slots = slots_of(value);
		if (keys[i].kind == KEY_USER)
			word->user = value;
		return keys[i].kind > KEY_MOST || slots_of(value);
	}
	return false;
}

/* Removes the blanks around '='. */
static void equals_close(char *line)
{
	char *to = line;

	for (const char *at = line; *at;) {
		size_t blanks = strspn(at, BLANKS);

		if (blanks &&
		    (at[blanks] == '=' || (to > line && to[-1] == '=')))
			at += blanks;
		else
			*to++ = *at++;
	}
	*to = '\0';
}

static int line_add(struct hosts *hosts, const char *where, char *line)
{
	struct word word = { .hosts = hosts, .where = where };
	char *name, *text;

	line[strcspn(line, "#")] = '\0';
	equals_close(line);
	name = strtok_r(line, BLANKS, &line);
	if (!name)
		return 0;
	while ((text = strtok_r(NULL, BLANKS, &line))) {
		if (key_take(&word, text))
			continue;
		vm_cli_say(
			"%s: '%s': only slots=N, max_slots=N and user=NAME may "
			"follow the name of a host",
			where, text);
		return -VMPI_EINVAL;
	}
	return word_add(&word, name);
}

int hosts_add_file(struct hosts *hosts, const char *path)
{
	FILE *file = fopen(path, "re");
	char where[HOST_NAME_BYTES + 32];
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
		bool marked = !number && !strncmp(line, MARK, strlen(MARK));

		snprintf(where, sizeof(where), "%.*s:%d", HOST_NAME_BYTES, path,
			 ++number);
		rc = line_add(hosts, where, line + (marked ? strlen(MARK) : 0));
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
	char own[HOST_NAME_BYTES] = "";
	size_t first;

	if (!strcasecmp(name, "localhost") || !strcmp(name, "127.0.0.1") ||
	    !strcmp(name, "::1"))
		return true;
	if (gethostname(own, sizeof(own) - 1))
		return false;
	/* With or without the domain, on either side. */
	first = strcspn(own, ".");
	return !strcasecmp(name, own) ||
	       (strcspn(name, ".") == first && !strncasecmp(name, own, first) &&
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
	tdestroy(hosts->entries, free);
	*hosts = (struct hosts){ 0 };
}
