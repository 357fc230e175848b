/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of two jobs that are connected: jobs CASE SIDE NAME, where SIDE is s, the
 * server, or c.  Each rank that has found nothing wrong prints "right".
 */
#include <mpi.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 300000, LONGS = 50000, TIMES = 3 };

static int wrong, serves, rank, size;
static const char *name;

static void check(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "rank %d of %s: %s\n", rank,
			serves ? "the server" : "the client", what);
		wrong++;
	}
}

static void nap(int ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

/* Rank 0 of the server publishes a port; that of the client finds it. */
static void port_get(char *port)
{
	int class = MPI_ERR_NAME;

	if (rank != 0)
		return;
	if (serves) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Publish_name(name, MPI_INFO_NULL, port);
		return;
	}
	for (int i = 0; i < 5000 && class != MPI_SUCCESS; i++) {
		nap(10);
		MPI_Error_class(MPI_Lookup_name(name, MPI_INFO_NULL, port),
				&class);
	}
	check(class == MPI_SUCCESS, "the name is found");
}

static void port_end(const char *port)
{
	if (rank == 0 && serves) {
		MPI_Unpublish_name(name, MPI_INFO_NULL, port);
		MPI_Close_port(port);
	}
}

static MPI_Comm meet(const char *port, MPI_Comm comm)
{
	MPI_Comm inter;

	if (serves)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter);
	return inter;
}

/* Messages of several lengths with the rank of the same number. */
static void messages(MPI_Comm inter, int other)
{
	char *out = malloc(BIG), *in = malloc(BIG);
	MPI_Request request[2];

	memset(out, serves ? 's' : 'c', BIG);
	for (int bytes = 1; bytes <= BIG; bytes = bytes * 7 + 11) {
		MPI_Irecv(in, BIG, MPI_CHAR, MPI_ANY_SOURCE, bytes, inter,
			  &request[0]);
		MPI_Isend(out, bytes, MPI_CHAR, other, bytes, inter,
			  &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		check(in[0] == (serves ? 'c' : 's') && in[bytes - 1] == in[0],
		      "a message comes whole");
	}
	for (int i = 0; i < 300; i++) {
		MPI_Status status;
		int got = -1;

		MPI_Sendrecv(&i, 1, MPI_INT, other, i, &got, 1, MPI_INT,
			     MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status);
		check(got == i && status.MPI_SOURCE == other &&
			      status.MPI_TAG == i,
		      "short messages come in order");
	}
	free(out);
	free(in);
}

/* Collectives of all, on one communicator. */
static void collectives(MPI_Comm all)
{
	int me, members, one = 1, sum = 0;
	long *mine = malloc(LONGS * sizeof(long));
	long *total = malloc(LONGS * sizeof(long));
	char *letters, letter;

	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &members);
	letters = malloc((size_t)members);
	letter = (char)('a' + me % 26);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	check(sum == members, "all are counted");
	MPI_Allgather(&letter, 1, MPI_CHAR, letters, 1, MPI_CHAR, all);
	for (int i = 0; i < members; i++)
		check(letters[i] == 'a' + i % 26, "all letters are gathered");
	for (int i = 0; i < LONGS; i++)
		mine[i] = i;
	MPI_Allreduce(mine, total, LONGS, MPI_LONG, MPI_SUM, all);
	check(total[LONGS - 1] == (LONGS - 1L) * members,
	      "long sums are right");
	MPI_Bcast(mine, LONGS, MPI_LONG, members - 1, all);
	MPI_Barrier(all);
	free(mine);
	free(total);
	free(letters);
}

/* Communicators that are made of one with ranks of both jobs. */
static void others(MPI_Comm all)
{
	MPI_Group group;
	MPI_Comm made;
	int me, result;

	MPI_Comm_rank(all, &me);
	MPI_Comm_group(all, &group);
	MPI_Comm_dup(all, &made);
	collectives(made);
	MPI_Comm_free(&made);
	MPI_Comm_split(all, me % 2, -me, &made);
	collectives(made);
	MPI_Comm_free(&made);
	MPI_Comm_create(all, group, &made);
	MPI_Comm_compare(all, made, &result);
	check(result == MPI_CONGRUENT, "a communicator of all is congruent");
	MPI_Comm_free(&made);
	MPI_Comm_create_group(all, group, 7, &made);
	collectives(made);
	MPI_Comm_free(&made);
	MPI_Comm_create_from_group(group, "jobs", MPI_INFO_NULL,
				   MPI_ERRORS_ARE_FATAL, &made);
	collectives(made);
	MPI_Comm_free(&made);
	MPI_Group_free(&group);
}

static void window(MPI_Comm all)
{
	int me, members, *memory;
	MPI_Win win;

	MPI_Comm_rank(all, &me);
	MPI_Comm_size(all, &members);
	MPI_Win_allocate((MPI_Aint)sizeof(int) * members, sizeof(int),
			 MPI_INFO_NULL, all, &memory, &win);
	for (int i = 0; i < members; i++)
		memory[i] = -1;
	MPI_Win_fence(0, win);
	for (int i = 0; i < members; i++)
		MPI_Put(&me, 1, MPI_INT, i, me, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < members; i++)
		check(memory[i] == i, "all ranks put their numbers");
	MPI_Win_free(&win);
}

/* All that is done with an intercommunicator; the server's ranks come last. */
static void use(MPI_Comm inter)
{
	int remote, sum = 0, mine = rank + 1, me;
	MPI_Comm all, worlds;

	MPI_Comm_remote_size(inter, &remote);
	if (rank < remote)
		messages(inter, rank);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
	check(sum == remote * (remote + 1) / 2, "the other side is added up");
	MPI_Intercomm_merge(inter, serves, &all);
	MPI_Comm_rank(all, &me);
	check(me == (serves ? remote + rank : rank), "the server comes last");
	collectives(all);
	others(all);
	window(all);
	/* The leaders reach each other already. */
	MPI_Intercomm_create(MPI_COMM_WORLD, 0, all, serves ? 0 : size, 3,
			     &worlds);
	MPI_Barrier(worlds);
	MPI_Comm_disconnect(&worlds);
	MPI_Comm_free(&all);
}

static void all_case(void)
{
	char port[MPI_MAX_PORT_NAME] = "";

	port_get(port);
	for (int i = 0; i < TIMES; i++) {
		MPI_Comm inter = meet(port, MPI_COMM_WORLD);

		use(inter);
		MPI_Comm_disconnect(&inter);
	}
	port_end(port);
}

/* Only the first ranks meet; then the worlds, of which the others know
 * nothing. */
static void first_case(void)
{
	MPI_Comm inter = MPI_COMM_NULL, pair = MPI_COMM_NULL, worlds;
	char port[MPI_MAX_PORT_NAME] = "";

	port_get(port);
	if (rank == 0) {
		inter = meet(port, MPI_COMM_SELF);
		messages(inter, 0);
		MPI_Intercomm_merge(inter, serves, &pair);
	}
	MPI_Intercomm_create(MPI_COMM_WORLD, 0, pair, !serves, 5, &worlds);
	use(worlds);
	MPI_Comm_disconnect(&worlds);
	if (rank == 0) {
		MPI_Comm_free(&pair);
		MPI_Comm_disconnect(&inter);
	}
	port_end(port);
}

/* The server ends while the client waits for it. */
static void death_case(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int got = 0, class = 0;
	MPI_Comm inter;

	port_get(port);
	inter = meet(port, MPI_COMM_WORLD);
	MPI_Barrier(inter);
	port_end(port);
	if (serves)
		raise(SIGKILL);
	MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
	MPI_Error_class(MPI_Recv(&got, 1, MPI_INT, 0, 1, inter,
				 MPI_STATUS_IGNORE),
			&class);
	check(class == MPI_ERR_PROC_ABORTED, "the server has aborted");
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Both have a socket to each other. */
static int socket_get(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), there = -1;

	strncpy(address.sun_path, name, sizeof(address.sun_path) - 1);
	if (serves) {
		if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
		    !listen(fd, 1))
			there = accept(fd, NULL, NULL);
		close(fd);
		return there;
	}
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		nap(10);
	return fd;
}

static void join_case(void)
{
	MPI_Comm inter;
	char byte = 'x';

	if (rank == 0) {
		int fd = socket_get();

		check(MPI_Comm_join(fd, &inter) == MPI_SUCCESS &&
			      inter != MPI_COMM_NULL,
		      "two jobs join by a socket");
		messages(inter, 0);
		MPI_Comm_disconnect(&inter);
		check((serves ? write(fd, &byte, 1) : read(fd, &byte, 1)) == 1,
		      "the socket stays open");
		close(fd);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Nobody is there; a timeout ends the wait for who does not accept. */
static void nobody_case(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int class = 0, found = 0;
	MPI_Comm inter;
	MPI_Info info;

	port_get(port);
	MPI_Info_create(&info);
	MPI_Info_set(info, "timeout", "0.2");
	if (!serves) {
		MPI_Error_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF,
						 &inter),
				&class);
		check(class == MPI_ERR_PORT, "nobody accepts");
		MPI_Info_set(info, "timeout", "soon");
		MPI_Error_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF,
						 &inter),
				&class);
		check(class == MPI_ERR_INFO_VALUE, "a timeout is a number");
		inter = meet(port, MPI_COMM_WORLD);
	} else {
		nap(500);
		/* Who has gone is not let in. */
		inter = meet(port, MPI_COMM_WORLD);
	}
	MPI_Barrier(inter);
	MPI_Comm_disconnect(&inter);
	port_end(port);
	MPI_Info_free(&info);
	if (serves)
		return;
	while (!found) {
		MPI_Error_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0,
						 MPI_COMM_SELF, &inter),
				&class);
		found = class == MPI_ERR_PORT;
		nap(1);
	}
	check(found, "a port that was closed is not found");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = { { "all", all_case },
		      { "first", first_case },
		      { "death", death_case },
		      { "join", join_case },
		      { "nobody", nobody_case } };

	MPI_Init(&argc, &argv);
	if (argc != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	serves = argv[2][0] == 's';
	name = argv[3];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1]))
			cases[i].run();
	if (!wrong)
		puts("right");
	MPI_Finalize();
	return wrong != 0;
}
