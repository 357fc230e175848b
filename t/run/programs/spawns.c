/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts itself in several ways: spawns FOLDER SCRIPT, where SCRIPT executes its
 * words.  Each parent that has found nothing wrong prints "right".
 */
#include <mpi.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong, rank;
static char *self;

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "parent %d: %s\n", rank, what);
		wrong++;
	}
}

/* What a child tells the first parent. */
struct word {
	int rank, size, parents, appnum, argc, right, named;
	char folder[PATH_MAX];
	char setting[32];
};

static void child(MPI_Comm parent, int argc, char **argv)
{
	const char *setting = getenv("SPAWNS_SETTING");
	int *appnum = NULL, flag = 0, length, sum = 0, one = 1;
	char name[MPI_MAX_OBJECT_NAME] = "";
	struct word word = { 0 };
	MPI_Comm all;

	MPI_Comm_rank(MPI_COMM_WORLD, &word.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &word.size);
	MPI_Comm_remote_size(parent, &word.parents);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
	MPI_Comm_get_name(parent, name, &length);
	word.appnum = flag ? *appnum : -1;
	word.argc = argc;
	word.right = argc < 4 || (!strcmp(argv[2], "two words") &&
				  !strcmp(argv[3], "it's"));
	word.named = !strcmp(name, "MPI_COMM_PARENT");
	snprintf(word.setting, sizeof(word.setting), "%s",
		 setting ? setting : "");
	if (!getcwd(word.folder, sizeof(word.folder)))
		word.right = 0;
	MPI_Send(&word, sizeof(word), MPI_BYTE, 0, word.rank, parent);
	MPI_Intercomm_merge(parent, 1, &all);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&parent);
}

/* Hears all children, which then end. */
static void family(MPI_Comm inter, int children, struct word *words)
{
	int size, one = 1, sum = 0, parents;
	MPI_Comm all;

	MPI_Comm_remote_size(inter, &size);
	MPI_Comm_size(inter, &parents);
	check(size == children, "all children are there");
	for (int i = 0; i < children && rank == 0; i++) {
		MPI_Recv(&words[i], sizeof(words[i]), MPI_BYTE, i, i, inter,
			 MPI_STATUS_IGNORE);
		check(words[i].size == children &&
			      words[i].parents == parents && words[i].right &&
			      words[i].named,
		      "a child is as it should be");
	}
	MPI_Intercomm_merge(inter, 0, &all);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	check(sum == parents + children, "parents and children meet");
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&inter);
}

static char *arguments[] = { "child", "two words", "it's", NULL };

static MPI_Info info_of(const char *key, const char *value)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, key, value);
	return info;
}

/* One command, with a key. */
static void one(const char *key, const char *value, struct word *words)
{
	MPI_Info info = key ? info_of(key, value) : MPI_INFO_NULL;
	int codes[2] = { -1, -1 };
	MPI_Comm inter;

	MPI_Comm_spawn(self, arguments, 2, info, 0, MPI_COMM_WORLD, &inter,
		       codes);
	check(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS,
	      "there is a code for each child");
	family(inter, 2, words);
	if (key)
		MPI_Info_free(&info);
}

static void several(const char *folder, char *script)
{
	char *more[] = { self, ":", NULL }, **all[] = { arguments, more };
	char *commands[] = { self, script };
	int counts[] = { 2, 1 };
	MPI_Info infos[] = { MPI_INFO_NULL, info_of("wdir", folder) };
	struct word words[3] = { 0 };
	MPI_Comm inter;

	MPI_Comm_spawn_multiple(2, commands, all, counts, infos, 0,
				MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
	family(inter, 3, words);
	if (rank == 0) {
		check(words[0].appnum == 0 && words[1].appnum == 0 &&
			      words[2].appnum == 1,
		      "children know their command");
		check(words[1].argc == 4 && words[2].argc == 2,
		      "and have its arguments");
		check(!strcmp(words[2].folder, folder) &&
			      strcmp(words[1].folder, folder) != 0,
		      "and its folder");
	}
	MPI_Info_free(&infos[1]);
}

static void refused(const char *command, const char *key, const char *value,
		    const char *what)
{
	MPI_Info info = key ? info_of(key, value) : MPI_INFO_NULL;
	int class = 0, codes[2] = { 0, 0 };
	MPI_Comm inter;

	MPI_Error_class(MPI_Comm_spawn(command, MPI_ARGV_NULL, 2, info, 0,
				       MPI_COMM_WORLD, &inter, codes),
			&class);
	check(class == MPI_ERR_SPAWN && inter == MPI_COMM_NULL &&
		      (rank != 0 || codes[0] != MPI_SUCCESS),
	      what);
	if (key)
		MPI_Info_free(&info);
}

static void parent(const char *folder, char *script)
{
	struct word words[2] = { 0 };

	one(NULL, NULL, words);
	one("wdir", folder, words);
	check(rank != 0 || !strcmp(words[1].folder, folder),
	      "children have the folder of the key");
	one("env", "SPAWNS_SETTING=it's 1\nSPAWNS_OTHER=2", words);
	check(rank != 0 || !strcmp(words[0].setting, "it's 1"),
	      "and what the key puts into their environment");
	several(folder, script);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	refused("/bin/true", NULL, NULL, "a program without MPI is refused");
	refused("nowhere-program", NULL, NULL, "so is one that is not there");
	refused(self, "wdir", "/nowhere", "and a folder that is not there");
	refused(self, "host", "nowhere.example", "and another host");
	refused(self, "arch", "pdp11", "and another machine");
	refused(self, "file", "hosts", "and a file that nobody knows");
	refused(self, "env", "A=1\nB;false=2", "and no variable's name");
}

int main(int argc, char **argv)
{
	MPI_Comm parents;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parents);
	self = realpath(argv[0], NULL);
	if (parents != MPI_COMM_NULL) {
		child(parents, argc, argv);
	} else if (argc == 3) {
		parent(argv[1], argv[2]);
		if (!wrong)
			puts("right");
	}
	free(self);
	MPI_Finalize();
	return wrong != 0;
}
