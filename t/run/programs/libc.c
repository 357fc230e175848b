/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of libc's that each rank must have for itself, used by all ranks in
 * turns.  Prints "rank R: ok" or the first thing that was wrong.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <vmpi.h>

static bool options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "long", required_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	char seen[64] = "";
	int c;

	optind = 1;
	while ((c = getopt_long(argc, argv, "ab:", longs, NULL)) != -1) {
		size_t used = strlen(seen);

		snprintf(seen + used, sizeof(seen) - used, "%c%s;", c,
			 optarg ? optarg : "");
		vmpi_yield();
	}
	return !strcmp(seen, "a;b3;lx;") && optind == argc - 1 &&
	       !strcmp(argv[optind], "word");
}

/* Two sequences for one seed, with other ranks drawing between. */
static bool randoms(int rank)
{
	int ints[8];
	double doubles[8];

	srand((unsigned)rank + 1);
	srand48(rank);
	for (int i = 0; i < 8; i++) {
		ints[i] = rand();
		doubles[i] = drand48();
		vmpi_yield();
	}
	srand((unsigned)rank + 1);
	srand48(rank);
	for (int i = 0; i < 8; i++) {
		if (ints[i] != rand() || doubles[i] != drand48())
			return false;
		vmpi_yield();
	}
	return true;
}

static bool tokens(int rank)
{
	char text[64], want[16];
	int i = 0;

	snprintf(text, sizeof(text), "%d,%d,%d,%d", rank, rank + 1, rank + 2,
		 rank + 3);
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		snprintf(want, sizeof(want), "%d", rank + i++);
		if (strcmp(word, want))
			return false;
		vmpi_yield();
	}
	return i == 4;
}

static bool environment(int rank)
{
	char value[16];

	if (!getenv("SHARED") || strcmp(getenv("SHARED"), "yes"))
		return false;
	snprintf(value, sizeof(value), "%d", rank);
	setenv("MINE", value, 1);
	if (rank % 2)
		unsetenv("SHARED");
	vmpi_barrier(vmpi_world());
	if (system("exit $MINE") != rank * 256)
		return false;
	return !strcmp(getenv("MINE"), value) &&
	       !getenv("SHARED") == (rank % 2) && environ[0];
}

static bool calendar(int rank)
{
	time_t day = 86400L * 366 * (rank % 60);
	struct tm *tm = gmtime(&day), copy = *tm;

	vmpi_yield();
	return !memcmp(&copy.tm_year, &tm->tm_year, sizeof(int)) &&
	       tm->tm_yday == copy.tm_yday;
}

static bool table(int rank)
{
	char key[16];
	ENTRY item = { .key = key };
	ENTRY *found;

	snprintf(key, sizeof(key), "%d", rank);
	if (!hcreate(4))
		return false;
	item.data = &key;
	hsearch(item, ENTER);
	vmpi_yield();
	found = hsearch(item, FIND);
	return found && found->data == &key;
}

int main(int argc, char **argv)
{
	int rank = vmpi_rank();
	const char *result = "ok";

	if (!options(argc, argv))
		result = "getopt";
	else if (!randoms(rank))
		result = "rand";
	else if (!tokens(rank))
		result = "strtok";
	else if (!environment(rank))
		result = "environment";
	else if (!calendar(rank))
		result = "gmtime";
	else if (!table(rank))
		result = "hsearch";
	printf("rank %d: %s\n", rank, result);
	return 0;
}
