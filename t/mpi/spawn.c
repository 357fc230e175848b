/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that other ranks start.  The program starts itself; what a child does is
 * its first argument, and each child ends with a word to the first parent.
 */
#include <unistd.h>

#include "mtap.h"

#define CHILDREN 3

static int global = 1; /* each rank has its own */
static const char *self;

static bool is_class(int rc, int class)
{
	int got = -1;

	MPI_Error_class(rc, &got);
	return got == class;
}

/* ---- children ---- */

/* The first parent learns whether all was right. */
static void report(MPI_Comm parent, bool right)
{
	int word = right;

	MPI_Send(&word, 1, MPI_INT, 0, 9, parent);
}

/* All of both sides meet in one communicator. */
static bool merge_works(MPI_Comm inter, bool child)
{
	int local, remote, one = 1, sum = 0, place, me;
	MPI_Comm all;

	MPI_Comm_size(inter, &local);
	MPI_Comm_rank(inter, &me);
	MPI_Comm_remote_size(inter, &remote);
	MPI_Intercomm_merge(inter, child, &all);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	MPI_Comm_rank(all, &place);
	MPI_Comm_free(&all);
	return sum == local + remote && place == me + (child ? remote : 0);
}

static void child_plain(MPI_Comm parent, int argc, char **argv)
{
	bool right = argc == 5 && !strcmp(argv[2], "two words") && !*argv[3];
	int value = -1, remote, before = global;
	char name[MPI_MAX_OBJECT_NAME] = "";
	MPI_Comm again, dup;
	int length;

	MPI_Comm_get_name(parent, name, &length);
	right = right && !strcmp(name, "MPI_COMM_PARENT");
	global += rank + 1;
	MPI_Comm_remote_size(parent, &remote);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	MPI_Bcast(&value, 1, MPI_INT, atoi(argv[4]), parent);
	right = right && before == 1 && value == 77 && size == CHILDREN;
	MPI_Barrier(dup);
	MPI_Comm_free(&dup);
	right = merge_works(parent, true) && global == rank + 2 && right;
	report(parent, right);
	MPI_Comm_disconnect(&parent);
	MPI_Comm_get_parent(&again);
	if (again != MPI_COMM_NULL)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

/* A child that starts a child, which reports to it. */
static void child_nested(MPI_Comm parent, char **argv)
{
	char *arguments[] = { "leaf", NULL };
	int word = 0, codes[1];
	MPI_Comm inter;

	MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
		       &inter, codes);
	MPI_Recv(&word, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE);
	MPI_Comm_disconnect(&inter);
	report(parent, word == 1);
	MPI_Comm_disconnect(&parent);
}

/* Which of several commands it is. */
static void child_multiple(MPI_Comm parent, int argc, char **argv)
{
	int *appnum, found = 0, want = rank < 2 ? 0 : 1;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
	report(parent, found && *appnum == want && size == 3 && argc == 3 &&
			       atoi(argv[2]) == want);
	MPI_Comm_disconnect(&parent);
}

/* It does not use the parents, but a port of one. */
static void child_port(MPI_Comm parent, char **argv)
{
	MPI_Comm inter;
	bool right;

	report(parent, true);
	MPI_Comm_disconnect(&parent);
	right = MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD,
				 &inter) == MPI_SUCCESS &&
		merge_works(inter, true);
	report(inter, right);
	MPI_Comm_disconnect(&inter);
}

static int child(int argc, char **argv, MPI_Comm parent)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Group group;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
	if (!strcmp(what, "plain")) {
		child_plain(parent, argc, argv);
	} else if (!strcmp(what, "nested")) {
		child_nested(parent, argv);
	} else if (!strcmp(what, "multiple")) {
		child_multiple(parent, argc, argv);
	} else if (!strcmp(what, "port")) {
		child_port(parent, argv);
	} else if (!strcmp(what, "leaf")) {
		MPI_Comm_remote_group(parent, &group);
		MPI_Group_free(&group);
		report(parent, true);
		MPI_Comm_disconnect(&parent);
	} else {
		MPI_Abort(MPI_COMM_WORLD, 4);
	}
	MPI_Finalize();
	return 0;
}

/* ---- parents ---- */

/* The reports of so many children; only the first parent gets them. */
static bool reports(MPI_Comm inter, int count)
{
	int me, word;
	bool right = true;

	MPI_Comm_rank(inter, &me);
	for (int i = 0; i < count && me == 0; i++) {
		word = 0;
		MPI_Recv(&word, 1, MPI_INT, i, 9, inter, MPI_STATUS_IGNORE);
		right = right && word == 1;
	}
	return right;
}

static bool all_zero(const int *codes, int count)
{
	for (int i = 0; i < count; i++)
		if (codes[i] != MPI_SUCCESS)
			return false;
	return true;
}

static void plain(int root)
{
	char number[16];
	char *arguments[] = { "plain", "two words", "", number, NULL };
	int codes[CHILDREN] = { 9, 9, 9 }, remote = 0, value = 77, is_inter;
	MPI_Comm inter;
	int rc;

	snprintf(number, sizeof(number), "%d", root);
	rc = MPI_Comm_spawn(self, arguments, CHILDREN, MPI_INFO_NULL, root,
			    MPI_COMM_WORLD, &inter, codes);
	MPI_Comm_remote_size(inter, &remote);
	MPI_Comm_test_inter(inter, &is_inter);
	all_ok(rc == MPI_SUCCESS && is_inter && remote == CHILDREN &&
		       all_zero(codes, CHILDREN),
	       "rank %d starts %d ranks", root, CHILDREN);
	MPI_Bcast(&value, 1, MPI_INT, rank == root ? MPI_ROOT : MPI_PROC_NULL,
		  inter);
	all_ok(merge_works(inter, false), "parents and children merge");
	all_ok(reports(inter, CHILDREN),
	       "children have arguments, variables and a world of their own");
	MPI_Comm_disconnect(&inter);
}

/* Each rank by itself, at the same time, again and again. */
static void many(void)
{
	char *arguments[] = { "leaf", NULL };
	MPI_Comm inter;
	bool right = true;

	for (int i = 0; i < 5; i++) {
		right = MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0,
				       MPI_COMM_SELF, &inter,
				       MPI_ERRCODES_IGNORE) == MPI_SUCCESS &&
			reports(inter, 2) && right;
		MPI_Comm_disconnect(&inter);
	}
	all_ok(right, "all ranks start others at the same time");
}

/* More than there is place for at a time, one after the other. */
static void in_turn(void)
{
	char *arguments[] = { "leaf", NULL };
	MPI_Comm inter;
	bool right = true;

	for (int i = 0; i < 40; i++) {
		right = MPI_Comm_spawn(self, arguments, 8, MPI_INFO_NULL, 0,
				       MPI_COMM_WORLD, &inter,
				       MPI_ERRCODES_IGNORE) == MPI_SUCCESS &&
			reports(inter, 8) && right;
		MPI_Comm_disconnect(&inter);
	}
	all_ok(right, "places of ranks that have ended are used again");
}

static void nested(void)
{
	char *arguments[] = { "nested", NULL };
	MPI_Comm inter;
	int rc = MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0,
				MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);

	all_ok(rc == MPI_SUCCESS && reports(inter, 2),
	       "children start children");
	MPI_Comm_disconnect(&inter);
}

static void multiple(void)
{
	char *commands[] = { (char *)self, (char *)self };
	char *first[] = { "multiple", "0", NULL };
	char *second[] = { "multiple", "1", NULL };
	char **arguments[] = { first, second };
	MPI_Info infos[] = { MPI_INFO_NULL, MPI_INFO_NULL };
	int counts[] = { 2, 1 }, codes[] = { 9, 9, 9 };
	MPI_Comm inter;
	int rc = MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos,
					 0, MPI_COMM_WORLD, &inter, codes);

	all_ok(rc == MPI_SUCCESS && all_zero(codes, 3) && reports(inter, 3),
	       "two commands are one world");
	MPI_Comm_disconnect(&inter);
}

/* Children meet the parents again, at a port. */
static void by_port(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	char *arguments[] = { "port", port, NULL };
	MPI_Comm inter;
	bool right;

	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
		       &inter, MPI_ERRCODES_IGNORE);
	right = reports(inter, 2);
	MPI_Comm_disconnect(&inter);
	right = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
				&inter) == MPI_SUCCESS &&
		right;
	right = merge_works(inter, false) && right;
	all_ok(reports(inter, 2) && right,
	       "children that have disconnected connect again");
	MPI_Comm_disconnect(&inter);
	if (rank == 0)
		MPI_Close_port(port);
}

/* What a call of the first rank alone returns. */
static int refused(const char *command, int count, const char *key,
		   const char *value, int *codes)
{
	char *arguments[] = { "leaf", NULL };
	MPI_Comm inter = MPI_COMM_WORLD;
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	if (key)
		MPI_Info_set(info, key, value);
	rc = MPI_Comm_spawn(command, arguments, count, info, 0, MPI_COMM_WORLD,
			    &inter, codes);
	MPI_Info_free(&info);
	if (rc == MPI_SUCCESS) {
		reports(inter, count);
		MPI_Comm_disconnect(&inter);
		return rc;
	}
	return inter == MPI_COMM_NULL ? rc : MPI_ERR_INTERN;
}

static void errors(void)
{
	int codes[2] = { 0, 0 };
	char here[4096] = ".", host[256] = "";

	all_class(refused("/nowhere/program", 2, NULL, NULL, codes),
		  MPI_ERR_SPAWN, "a program that is not there is not started");
	all_ok(rank != 0 || (is_class(codes[0], MPI_ERR_SPAWN) &&
			     is_class(codes[1], MPI_ERR_SPAWN)),
	       "and each of its ranks has a code");
	all_class(refused("/bin/true", 1, NULL, NULL, codes), MPI_ERR_SPAWN,
		  "nor is a program that is not one of MPI");
	all_class(refused(NULL, 1, NULL, NULL, codes), MPI_ERR_ARG,
		  "a command is a string");
	all_class(refused(self, -1, NULL, NULL, codes), MPI_ERR_ARG,
		  "and the number of ranks is not negative");
	all_class(refused(self, 100000, NULL, NULL, MPI_ERRCODES_IGNORE),
		  MPI_ERR_SPAWN, "there are not places for all numbers");
	all_class(refused(self, 1, "host", "nowhere.example", codes),
		  MPI_ERR_SPAWN, "ranks do not start on another host");
	all_class(refused(self, 1, "wdir", "/nowhere", codes), MPI_ERR_SPAWN,
		  "or in another folder");
	gethostname(host, sizeof(host) - 1);
	all_class(refused(self, 1, "host", host, codes), MPI_SUCCESS,
		  "but they do on this host");
	if (!getcwd(here, sizeof(here)))
		perror("getcwd");
	all_class(refused(self, 1, "wd", here, codes), MPI_SUCCESS,
		  "and in this folder");
}

/* A name without a slash is looked for. */
static void found_by_path(void)
{
	char folder[4096];
	const char *slash = strrchr(self, '/');
	int codes[1];

	snprintf(folder, sizeof(folder), "/nowhere:%.*s",
		 slash ? (int)(slash - self) : 1, slash ? self : ".");
	all_class(refused(slash ? slash + 1 : self, 1, "path", folder, codes),
		  MPI_SUCCESS, "a program is found in the folders of the info");
}

/* So many as there are, of those that are allowed. */
static void soft(void)
{
	char *arguments[] = { "leaf", NULL };
	int codes[300], remote = 0, failed = 0;
	MPI_Comm inter;
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "soft", "1:10:2,300,7:100000:100000");
	rc = MPI_Comm_spawn(self, arguments, 300, info, 0, MPI_COMM_WORLD,
			    &inter, codes);
	MPI_Info_free(&info);
	MPI_Comm_remote_size(inter, &remote);
	for (int i = 0; i < 300 && rank == 0; i++)
		failed += is_class(codes[i], MPI_ERR_SPAWN);
	all_ok(rc == MPI_SUCCESS && remote == 9 && (rank || failed == 291) &&
		       reports(inter, 9),
	       "fewer ranks start where that is enough");
	MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int *universe, found = 0;

	self = argv[0];
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL)
		return child(argc, argv, parent);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &mtap_comm);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	plain(0);
	plain(size - 1);
	many();
	in_turn();
	nested();
	multiple();
	by_port();
	errors();
	found_by_path();
	soft();
	all_ok(global == 1, "the parents' variables are theirs");
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
	all_ok(found && *universe > size, "the universe is larger than that");
	return mtap_end();
}
