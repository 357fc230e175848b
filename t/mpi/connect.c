/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports and names, and communicators of ranks that meet by them or by a socket.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mtap.h"

#define ROUNDS 3

static char service[64]; /* of this run */

static bool is_class(int rc, int class)
{
	int got = -1;

	MPI_Error_class(rc, &got);
	return got == class;
}

/* Each rank tells its own number to all of the other side. */
static bool inter_works(MPI_Comm inter)
{
	int local, remote, me, is_inter = 0, sum = 0, one = 1;
	bool right = true;

	MPI_Comm_test_inter(inter, &is_inter);
	MPI_Comm_size(inter, &local);
	MPI_Comm_remote_size(inter, &remote);
	MPI_Comm_rank(inter, &me);
	for (int i = 0; i < remote; i++) {
		int theirs = -1;

		MPI_Sendrecv(&me, 1, MPI_INT, i, 5, &theirs, 1, MPI_INT, i, 5,
			     inter, MPI_STATUS_IGNORE);
		right = right && theirs == i;
	}
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
	return right && is_inter && sum == remote;
}

static void look_at_names(void)
{
	char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
	char mine[96];

	snprintf(mine, sizeof(mine), "%s of %d\nand more", service, rank);
	all_class(MPI_Lookup_name(mine, MPI_INFO_NULL, found), MPI_ERR_NAME,
		  "a name that nobody has published is not found");
	MPI_Open_port(MPI_INFO_NULL, port);
	all_class(MPI_Publish_name(mine, MPI_INFO_NULL, port), MPI_SUCCESS,
		  "a name is published");
	all_class(MPI_Publish_name(mine, MPI_INFO_NULL, port), MPI_ERR_SERVICE,
		  "and not a second time");
	all_ok(!MPI_Lookup_name(mine, MPI_INFO_NULL, found) &&
		       !strcmp(found, port),
	       "it is found with its port");
	all_class(MPI_Unpublish_name(mine, MPI_INFO_NULL, "other"),
		  MPI_ERR_SERVICE,
		  "it has not been published with another one");
	all_class(MPI_Unpublish_name(mine, MPI_INFO_NULL, port), MPI_SUCCESS,
		  "it is taken back");
	all_class(MPI_Unpublish_name(mine, MPI_INFO_NULL, port),
		  MPI_ERR_SERVICE, "once");
	all_class(MPI_Lookup_name(mine, MPI_INFO_NULL, found), MPI_ERR_NAME,
		  "and then it is not found");
	all_class(MPI_Close_port(port), MPI_SUCCESS, "a port is closed");
	all_class(MPI_Close_port(port), MPI_ERR_PORT, "once");
}

static void look_at_errors(void)
{
	char port[MPI_MAX_PORT_NAME], two[MPI_MAX_PORT_NAME], other[80];
	char tampered[MPI_MAX_PORT_NAME + 2], *colon;
	char *longest = malloc(MPI_MAX_PORT_NAME + 1);
	MPI_Comm comm;

	memset(longest, 'x', MPI_MAX_PORT_NAME);
	longest[MPI_MAX_PORT_NAME] = '\0';
	MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Open_port(MPI_INFO_NULL, two);
	all_ok(strcmp(port, two) != 0, "two ports have two names");
	MPI_Close_port(two);
	all_class(MPI_Comm_connect("nowhere", MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_PORT, "a word is no port");
	all_ok(comm == MPI_COMM_NULL, "and nothing comes of it");
	all_class(MPI_Comm_connect(two, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm),
		  MPI_ERR_PORT, "nobody connects to a port that was closed");
	all_class(MPI_Comm_accept(two, MPI_INFO_NULL, 0, MPI_COMM_SELF, &comm),
		  MPI_ERR_PORT, "or accepts there");
	snprintf(tampered, sizeof(tampered), "%s9", port);
	all_class(MPI_Comm_connect(tampered, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_PORT, "or connects to one that never was");
	all_class(MPI_Comm_connect("vmpi:0123456789abcdef:0:0", MPI_INFO_NULL,
				   0, MPI_COMM_SELF, &comm),
		  MPI_ERR_PORT, "or to one of another job");
	colon = strchr(strchr(port, ':') + 1, ':');
	snprintf(other, sizeof(other), "%.*s:%d:0", (int)(colon - port), port,
		 size);
	all_class(MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_PORT, "or to one of a rank that is not there");
	all_class(MPI_Comm_connect(longest, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_PORT, "or to one with a name that is too long");
	all_class(MPI_Comm_connect(NULL, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_ARG, "a port has a name");
	all_class(MPI_Comm_accept(port, MPI_INFO_NULL, 1, MPI_COMM_SELF, &comm),
		  MPI_ERR_ROOT, "the root is a member");
	all_class(MPI_Comm_join(-1, &comm), MPI_ERR_OTHER,
		  "a join needs a descriptor");
	MPI_Close_port(port);
	free(longest);
}

/* The variable's value is set for the calls of this process that follow. */
static void patience_set(unsigned long long seconds)
{
	MPI_T_cvar_handle handle;
	int level, index, count, rc;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
	MPI_T_cvar_get_index("mpi_connect_timeout_s", &index);
	MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
	rc = MPI_T_cvar_write(handle, &seconds);
	MPI_T_cvar_handle_free(&handle);
	MPI_T_finalize();
	all_ok(rc == MPI_SUCCESS, "the patience is %llu s", seconds);
}

/* Nobody accepts: MPI 4.1, 11.9.1, has an error after some time. */
static void look_at_patience(void)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Info info;
	MPI_Comm comm;

	MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Info_create(&info);
	MPI_Info_set(info, "timeout", "soon");
	all_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &comm),
		  MPI_ERR_INFO_VALUE, "a timeout is a number");
	MPI_Info_set(info, "timeout", "0.2");
	all_class(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &comm),
		  MPI_ERR_PORT, "where nobody accepts, connecting times out");
	all_ok(comm == MPI_COMM_NULL, "and nothing comes of it");
	patience_set(1);
	all_class(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				   &comm),
		  MPI_ERR_PORT, "so it does by itself");
	MPI_Barrier(MPI_COMM_WORLD);
	patience_set(180);
	MPI_Info_free(&info);
	MPI_Close_port(port);
}

/* A port that one rank has opened is not another one's. */
static void look_at_owners(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm comm;
	int rc = MPI_ERR_PORT;

	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank == 1)
		rc = MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF,
				     &comm);
	all_class(rc, MPI_ERR_PORT, "who accepts has opened the port");
	rc = MPI_ERR_PORT;
	if (rank == 1)
		rc = MPI_Close_port(port);
	all_class(rc, MPI_ERR_PORT, "and so has who closes it");
	if (rank == 0)
		MPI_Close_port(port);
}

/* The lower half of the ranks accepts what the upper half connects. */
static void meet_in_halves(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	bool server = rank < size / 2, right = true;
	MPI_Comm half, inter, merged;
	int number, sum = 0, one = 1, root;

	MPI_Comm_split(MPI_COMM_WORLD, server, rank, &half);
	MPI_Comm_size(half, &root);
	root--;
	MPI_Comm_rank(half, &number);
	if (server && number == root) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Publish_name(service, MPI_INFO_NULL, port);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!server && number == root)
		MPI_Lookup_name(service, MPI_INFO_NULL, port);
	for (int i = 0; i < ROUNDS; i++) {
		int rc = server ? MPI_Comm_accept(port, MPI_INFO_NULL, root,
						  half, &inter) :
				  MPI_Comm_connect(port, MPI_INFO_NULL, root,
						   half, &inter);

		right = right && rc == MPI_SUCCESS && inter_works(inter);
		MPI_Intercomm_merge(inter, !server, &merged);
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
		right = right && sum == size;
		MPI_Comm_free(&merged);
		right = right && !MPI_Comm_disconnect(&inter) &&
			inter == MPI_COMM_NULL;
	}
	all_ok(right, "two groups meet %d times at a port", ROUNDS);
	if (server && number == root) {
		MPI_Unpublish_name(service, MPI_INFO_NULL, port);
		MPI_Close_port(port);
	}
	MPI_Comm_free(&half);
}

/* Rank 0 accepts all others, each by itself. */
static void meet_one_by_one(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm inter;
	bool right = true, *seen = calloc((size_t)size, sizeof(*seen));

	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	for (int i = 1; i < size && rank == 0; i++) {
		int who = 0;

		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
		MPI_Recv(&who, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
		right = right && !seen[who];
		seen[who] = true;
		MPI_Comm_disconnect(&inter);
	}
	if (rank > 0) {
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
		MPI_Send(&rank, 1, MPI_INT, 0, 1, inter);
		MPI_Comm_disconnect(&inter);
	}
	all_ok(right, "a port takes one after the other");
	if (rank == 0)
		MPI_Close_port(port);
	free(seen);
}

/* A connection between ranks 0 and 1; on others -1. */
static int connection(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(at);
	int fd = -1, listener;

	if (rank > 1)
		return -1;
	fd = listener = socket(AF_INET, SOCK_STREAM, 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (rank == 0) {
		bind(listener, (struct sockaddr *)&at, bytes);
		listen(listener, 1);
		getsockname(listener, (struct sockaddr *)&at, &bytes);
		MPI_Send(&at, sizeof(at), MPI_BYTE, 1, 3, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else {
		MPI_Recv(&at, sizeof(at), MPI_BYTE, 0, 3, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (connect(fd, (struct sockaddr *)&at, bytes))
			perror("connect");
		MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
	}
	return fd;
}

static void join_by_socket(void)
{
	int fd = connection(), rc = MPI_SUCCESS;
	MPI_Comm inter = MPI_COMM_NULL;
	bool right = true;
	char text[4] = "";

	if (fd >= 0) {
		right = MPI_Comm_join(fd, &inter) == MPI_SUCCESS &&
			inter_works(inter);
		MPI_Comm_disconnect(&inter);
		/* The socket is as it was. */
		if (rank == 0)
			right = right && write(fd, "yes", 4) == 4;
	}
	everybody(); /* the ranks may share an OS thread */
	if (rank == 1)
		right = right && read(fd, text, 4) == 4 && !strcmp(text, "yes");
	all_ok(right, "the ends of a socket join");
	if (rank == 0) {
		static const char nothing[256];

		right = write(fd, nothing, sizeof(nothing)) == sizeof(nothing);
	} else if (rank == 1) {
		rc = MPI_Comm_join(fd, &inter);
	}
	all_ok(right && rc == MPI_SUCCESS && inter == MPI_COMM_NULL,
	       "a stranger at the other end is no error, and no communicator");
	if (fd >= 0)
		close(fd);
	fd = connection();
	if (rank == 0)
		close(fd);
	else if (rank == 1)
		rc = MPI_Comm_join(fd, &inter);
	all_ok(rank != 1 || is_class(rc, MPI_ERR_OTHER),
	       "nobody at the other end is an error");
	if (rank == 1)
		close(fd);
}

int main(int argc, char **argv)
{
	int pid = (int)getpid();

	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
	snprintf(service, sizeof(service), "t/mpi/connect %d", pid);
	look_at_names();
	look_at_errors();
	look_at_patience();
	if (size > 1) {
		look_at_owners();
		meet_in_halves();
		meet_one_by_one();
		join_by_socket();
	}
	/* What is left open ends with MPI. */
	if (rank == 0) {
		char port[MPI_MAX_PORT_NAME];

		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Publish_name(service, MPI_INFO_NULL, port);
	}
	return mtap_end();
}
