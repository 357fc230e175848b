/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects.
 */
#include "mtap.h"

static void pairs(void)
{
	char value[MPI_MAX_INFO_VAL + 1] = "", key[MPI_MAX_INFO_KEY];
	int n = -1, flag = 0, length = -1, room;
	MPI_Info info, copy;

	MPI_Info_create(&info);
	MPI_Info_get_nkeys(info, &n);
	all_ok(n == 0, "a new info object is empty");
	MPI_Info_set(info, "first", "1");
	MPI_Info_set(info, "second", "two");
	MPI_Info_set(info, "first", "one");
	MPI_Info_get_nkeys(info, &n);
	MPI_Info_get(info, "first", MPI_MAX_INFO_VAL, value, &flag);
	all_ok(n == 2 && flag && strcmp(value, "one") == 0,
	       "a second value replaces the first");
	MPI_Info_get(info, "second", 2, value, &flag);
	all_ok(flag && strcmp(value, "tw") == 0, "MPI_Info_get cuts");
	room = 3;
	MPI_Info_get_string(info, "second", &room, value, &flag);
	all_ok(flag && strcmp(value, "tw") == 0 && room == 4,
	       "MPI_Info_get_string counts the end and says what it needs");
	MPI_Info_get_valuelen(info, "second", &length, &flag);
	all_ok(flag && length == 3, "MPI_Info_get_valuelen");
	MPI_Info_get(info, "third", 10, value, &flag);
	all_ok(!flag, "a missing key is no error");
	MPI_Info_get_nthkey(info, 0, key);
	all_ok(strcmp(key, "first") == 0, "keys keep their order");
	MPI_Info_dup(info, &copy);
	MPI_Info_delete(info, "first");
	MPI_Info_get_nkeys(info, &n);
	MPI_Info_get(copy, "first", 10, value, &flag);
	all_ok(n == 1 && flag, "a duplicate is independent");
	MPI_Info_free(&info);
	MPI_Info_free(&copy);
	all_ok(info == MPI_INFO_NULL, "a freed object is MPI_INFO_NULL");
}

static void errors(void)
{
	char key[MPI_MAX_INFO_KEY + 1], value[8];
	MPI_Info info;
	int flag;

	memset(key, 'k', sizeof(key));
	key[MPI_MAX_INFO_KEY] = '\0';
	MPI_Info_create(&info);
	all_class(MPI_Info_set(info, key, "x"), MPI_ERR_INFO_KEY,
		  "a key that is too long");
	all_class(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY,
		  "an empty key");
	all_class(MPI_Info_delete(info, "none"), MPI_ERR_INFO_NOKEY,
		  "deleting a missing key");
	all_class(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG,
		  "a key number out of range");
	all_class(MPI_Info_get(MPI_INFO_NULL, "x", 7, value, &flag),
		  MPI_ERR_INFO, "MPI_INFO_NULL");
	MPI_Info_free(&info);
}

static void environment(void)
{
	char value[64] = "";
	int flag = 0;

	MPI_Info_get(MPI_INFO_ENV, "maxprocs", 63, value, &flag);
	all_ok(flag && atoi(value) == size, "MPI_INFO_ENV knows maxprocs");
	all_class(MPI_Info_set(MPI_INFO_ENV, "x", "y"), MPI_ERR_INFO,
		  "and cannot be changed");
}

/* A copy of MPI_INFO_ENV that one may have before MPI_Init, with the words of a
 * command. */
static MPI_Info early;

static void made_of_command(void)
{
	char value[MPI_MAX_INFO_VAL + 1] = "", ranks[16];
	int room = sizeof(value), flag = 0;

	MPI_Info_get_string(early, "command", &room, value, &flag);
	all_ok(flag && strcmp(value, "prog") == 0, "the command's name");
	room = sizeof(value);
	MPI_Info_get_string(early, "argv", &room, value, &flag);
	all_ok(flag && strcmp(value, "-a b") == 0, "the command's arguments");
	room = sizeof(value);
	MPI_Info_get_string(early, "maxprocs", &room, value, &flag);
	snprintf(ranks, sizeof(ranks), "%d", size);
	all_ok(flag && strcmp(value, ranks) == 0, "the number of ranks");
	MPI_Info_set(early, "mine", "1");
	MPI_Info_free(&early);
	all_ok(early == MPI_INFO_NULL, "it is an object as any other");
}

int main(int argc, char **argv)
{
	char *words[] = { "prog", "-a", "b", NULL };

	MPI_Info_create_env(3, words, &early);
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	pairs();
	errors();
	environment();
	made_of_command();
	return mtap_end();
}
