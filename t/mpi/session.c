/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions, without MPI_Init, beside it, after it, and again; process sets,
 * communicators of groups, error handlers, buffers.
 *
 * It prints by itself, since there is no MPI_COMM_WORLD at first.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static MPI_Session session; /* the test's own */
static MPI_Comm all;
static int rank, size;

/* Collective: a check that succeeds if it succeeds on every rank. */
static void all_ok(bool held, const char *sentence)
{
	int mine = held, every = 0;

	MPI_Allreduce(&mine, &every, 1, MPI_INT, MPI_MIN, all);
	if (!held)
		fprintf(stderr, "# rank %d: not so: %s\n", rank, sentence);
	if (rank == 0)
		ok(every, "%s", sentence);
}

static bool is_class(int rc, int class)
{
	int got = -1;

	MPI_Error_class(rc, &got);
	return got == class;
}

/* A communicator of a process set. */
static MPI_Comm comm_of(MPI_Session from, const char *pset, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm = MPI_COMM_NULL;

	MPI_Group_from_session_pset(from, pset, &group);
	MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN,
				   &comm);
	MPI_Group_free(&group);
	return comm;
}

static int sum_on(MPI_Comm comm)
{
	int one = 1, sum = 0;

	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	return sum;
}

static void begin(void)
{
	int flag = 1;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	all = comm_of(session, "mpi://WORLD", "all");
	MPI_Comm_rank(all, &rank);
	MPI_Comm_size(all, &size);
	MPI_Initialized(&flag);
	all_ok(!flag, "a session does not initialize the world");
}

static void process_sets(void)
{
	MPI_Comm self, host, process;
	MPI_Info info;
	char name[MPI_MAX_PSET_NAME_LEN], small[5] = "xxxx", value[16];
	int n = 0, length = 0, flag = 0, count = 16, hosts, procs;
	bool found = false;

	MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
	for (int i = 0; i < n; i++) {
		length = 0;
		MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length,
					 NULL);
		MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length,
					 name);
		found = found || !strcmp(name, "mpi://WORLD");
		found = found && length == (int)strlen(name) + 1;
	}
	all_ok(n >= 2 && found, "process sets are listed with their lengths");
	length = 4;
	MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, small);
	all_ok(!strcmp(small, "mpi") && length > 4,
	       "a short buffer gets the beginning of a name");
	MPI_Session_get_pset_info(session, "mpi://world", &info);
	MPI_Info_get_string(info, "mpi_size", &count, value, &flag);
	MPI_Info_free(&info);
	all_ok(flag && atoi(value) == size, "the info of a set has its size");
	self = comm_of(session, "mpi://SELF", "self");
	all_ok(sum_on(self) == 1, "mpi://SELF has one member");
	host = comm_of(session, "vmpi://HOST", "host");
	process = comm_of(session, "vmpi://PROCESS", "process");
	hosts = sum_on(host);
	procs = sum_on(process);
	all_ok(hosts == size && procs <= hosts && procs >= 1,
	       "vmpi://HOST and vmpi://PROCESS are sets too");
	MPI_Comm_free(&self);
	MPI_Comm_free(&host);
	MPI_Comm_free(&process);
}

static void groups(void)
{
	MPI_Session second;
	MPI_Group world, mine, other;
	MPI_Comm comm, again, inter = MPI_COMM_NULL;
	int color = rank % 2, n = 0, remote = -1, from = -1;
	int halves[2][3] = { { 0, size - 1, 2 }, { 1, size - 1, 2 } };

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
	MPI_Group_from_session_pset(second, "mpi://WORLD", &world);
	MPI_Group_range_incl(world, 1, &halves[color], &mine);
	MPI_Group_size(mine, &n);
	MPI_Comm_create_from_group(mine, "half", MPI_INFO_NULL,
				   MPI_ERRORS_RETURN, &comm);
	all_ok(sum_on(comm) == n, "a part of a set has a communicator");
	MPI_Comm_create_from_group(mine, "half", MPI_INFO_NULL,
				   MPI_ERRORS_RETURN, &again);
	all_ok(sum_on(again) == n, "and another one of the same name");
	MPI_Comm_free(&again);
	MPI_Comm_free(&comm);
	MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL,
				   MPI_ERRORS_RETURN, &comm);
	all_ok(comm == MPI_COMM_NULL, "an empty group makes none");
	if (size > 1) {
		MPI_Group_range_incl(world, 1, &halves[!color], &other);
		MPI_Intercomm_create_from_groups(mine, 0, other, 0, "both",
						 MPI_INFO_NULL,
						 MPI_ERRORS_RETURN, &inter);
		MPI_Comm_remote_size(inter, &remote);
		MPI_Allreduce(&color, &from, 1, MPI_INT, MPI_MAX, inter);
		MPI_Comm_free(&inter);
		MPI_Group_free(&other);
	}
	all_ok(size == 1 || (remote == size - n && from == !color),
	       "two groups have an intercommunicator");
	inter = all;
	MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, mine, 0, "none",
					 MPI_INFO_NULL, MPI_ERRORS_RETURN,
					 &inter);
	again = all;
	if (rank == 0)
		MPI_Intercomm_create_from_groups(mine, 0, MPI_GROUP_EMPTY, 0,
						 "none", MPI_INFO_NULL,
						 MPI_ERRORS_RETURN, &again);
	all_ok(inter == MPI_COMM_NULL &&
		       again == (rank == 0 ? MPI_COMM_NULL : all),
	       "one of which is empty make none, without the others");
	MPI_Group_free(&mine);
	MPI_Group_free(&world);
	MPI_Session_finalize(&second);
	all_ok(second == MPI_SESSION_NULL && sum_on(all) == size,
	       "what another session has made outlives a session");
}

static void *use_session(void *arg)
{
	MPI_Session own;
	MPI_Comm comm;

	for (int i = 0; i < 10; i++) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own);
		comm = comm_of(own, "mpi://WORLD", arg);
		if (sum_on(comm) != size)
			return NULL;
		MPI_Comm_free(&comm);
		MPI_Session_finalize(&own);
	}
	return arg;
}

static void threads(void)
{
	char names[3][8] = { "one", "two", "three" };
	pthread_t thread[3];
	void *result;
	bool held = true;

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, use_session, names[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], &result);
		held = held && result == names[i];
	}
	all_ok(held, "threads have sessions at the same time");
}

static MPI_Session seen;
static int seen_code;

static void handler(MPI_Session *which, int *code, ...)
{
	seen = *which;
	seen_code = *code;
}

static void handler_of_comm(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	seen_code = -*code;
}

/* The level of threads that a session asks for. */
static void levels(void)
{
	MPI_Session other = MPI_SESSION_NULL;
	MPI_Info info;
	int rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "MPI_THREAD_MOST");
	rc = MPI_Session_init(info, MPI_ERRORS_RETURN, &other);
	all_ok(is_class(rc, MPI_ERR_INFO_VALUE) && other == MPI_SESSION_NULL,
	       "an unknown level of threads is an error");
	MPI_Info_set(info, "thread_level", "MPI_THREAD_SERIALIZED");
	rc = MPI_Session_init(info, MPI_ERRORS_RETURN, &other);
	all_ok(rc == 0, "a known one is not");
	MPI_Session_finalize(&other);
	MPI_Info_free(&info);
}

static void errors(void)
{
	MPI_Errhandler own, of_comm, got;
	MPI_Group group = MPI_GROUP_NULL;
	MPI_Comm comm;
	int rc, n;

	MPI_Session_create_errhandler(handler, &own);
	MPI_Comm_create_errhandler(handler_of_comm, &of_comm);
	MPI_Session_set_errhandler(session, own);
	rc = MPI_Group_from_session_pset(session, "mpi://MARS", &group);
	all_ok(is_class(rc, MPI_ERR_ARG) && seen == session &&
		       is_class(seen_code, MPI_ERR_ARG),
	       "a session's handler hears of an unknown set");
	MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
	all_ok(seen_code == MPI_ERR_OTHER, "and of what the program raises");
	MPI_Session_get_errhandler(session, &got);
	all_ok(got == own, "the handler can be asked for");
	MPI_Errhandler_free(&got);
	rc = MPI_Session_set_errhandler(session, of_comm);
	all_ok(is_class(rc, MPI_ERR_ERRHANDLER),
	       "a communicator's handler is none of a session");
	MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
	MPI_Errhandler_free(&own);
	rc = MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 99, &n, NULL);
	all_ok(is_class(rc, MPI_ERR_ARG), "sets have numbers");
	MPI_Group_from_session_pset(session, "mpi://SELF", &group);
	rc = MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, of_comm,
					&comm);
	all_ok(is_class(rc, MPI_ERR_ARG) && is_class(-seen_code, MPI_ERR_ARG),
	       "the handler of a communicator to be hears of errors");
	MPI_Group_free(&group);
	MPI_Errhandler_free(&of_comm);
}

static void buffers(void)
{
	static char memory[4096];
	MPI_Request request;
	MPI_Count bytes = -1;
	void *back = NULL;
	int in = -1, small = -1, rc;
	MPI_Comm dup;

	MPI_Session_attach_buffer_c(session, memory, sizeof(memory));
	MPI_Comm_dup(all, &dup);
	rc = MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, 1, dup);
	MPI_Session_iflush_buffer(session, &request);
	MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, dup,
		 MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Session_flush_buffer(session);
	all_ok(rc == MPI_SUCCESS && in == (rank + size - 1) % size,
	       "communicators of a session use its buffer");
	MPI_Session_detach_buffer(session, &back, &small);
	all_ok(back == memory && small == sizeof(memory),
	       "which is given back");
	rc = MPI_Bsend(&rank, 1, MPI_INT, 0, 1, dup);
	all_ok(is_class(rc, MPI_ERR_BUFFER), "and then is none");
	MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
	MPI_Session_detach_buffer_c(session, &back, &bytes);
	all_ok(back == MPI_BUFFER_AUTOMATIC && bytes == 0,
	       "a session's buffer may be automatic");
	MPI_Comm_free(&dup);
}

static void information(void)
{
	MPI_Info info;
	char value[64] = "";
	int length = sizeof(value), flag = 0;

	MPI_Session_get_info(session, &info);
	MPI_Info_get_string(info, "thread_level", &length, value, &flag);
	MPI_Info_free(&info);
	all_ok(flag && !strcmp(value, "MPI_THREAD_MULTIPLE"),
	       "a session has the highest level of threads");
}

static void beside_world(void)
{
	MPI_Comm dup;
	int flag = 0, sum = 0, rc;

	MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
	MPI_Init(NULL, NULL);
	MPI_Initialized(&flag);
	sum = sum_on(MPI_COMM_WORLD);
	MPI_Comm_dup(MPI_COMM_WORLD, &dup);
	all_ok(flag && sum == size && sum_on(dup) == size,
	       "MPI_Init goes beside a session");
	MPI_Comm_free(&dup);
	MPI_Finalize();
	MPI_Finalized(&flag);
	rc = sum_on(all);
	all_ok(flag && rc == size, "which goes on after MPI_Finalize");
}

static void again(void)
{
	MPI_Session_finalize(&session);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	all = comm_of(session, "mpi://WORLD", "again");
	all_ok(sum_on(all) == size, "sessions begin again");
}

int main(int argc, char **argv)
{
	bool world = argc < 2 || strcmp(argv[1], "alone") != 0;

	begin();
	process_sets();
	groups();
	threads();
	levels();
	errors();
	buffers();
	information();
	MPI_Comm_free(&all);
	again();
	if (world)
		beside_world();
	MPI_Comm_free(&all);
	MPI_Session_finalize(&session);
	return rank == 0 ? done_testing() : 0;
}
