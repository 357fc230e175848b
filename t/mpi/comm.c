/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators: isolation, splits, creation from groups, names.
 */
#include "mtap.h"

static int next, before;

static void predefined(void)
{
	int r = -1, s = -1, flag = -1;

	MPI_Comm_rank(MPI_COMM_SELF, &r);
	MPI_Comm_size(MPI_COMM_SELF, &s);
	all_ok(r == 0 && s == 1, "MPI_COMM_SELF has one rank");
	MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
	all_ok(flag == 0, "MPI_COMM_WORLD is an intracommunicator");
	all_ok(rank >= 0 && rank < size, "a rank lies between 0 and the size");
}

/* The same envelope on two communicators. */
static void isolation(void)
{
	int out[2] = { 1, 2 }, in[2] = { 0 }, result;
	MPI_Request requests[2];
	MPI_Comm copy;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Isend(&out[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&out[1], 1, MPI_INT, next, 1, copy, &requests[1]);
	MPI_Recv(&in[1], 1, MPI_INT, before, 1, copy, MPI_STATUS_IGNORE);
	MPI_Recv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
		 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	all_ok(in[0] == 1 && in[1] == 2,
	       "messages of a duplicate are a world of their own");
	MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
	all_ok(result == MPI_CONGRUENT, "a duplicate is congruent");
	MPI_Comm_compare(copy, copy, &result);
	all_ok(result == MPI_IDENT, "and identical with itself");
	MPI_Comm_free(&copy);
	all_ok(copy == MPI_COMM_NULL, "MPI_Comm_free forgets the handle");
}

static void free_while_pending(void)
{
	static char out[50000], in[50000];
	MPI_Request requests[2];
	MPI_Comm copy;

	out[7] = (char)(rank + 1);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Irecv(in, sizeof(in), MPI_CHAR, before, 1, copy, &requests[0]);
	MPI_Isend(out, sizeof(out), MPI_CHAR, next, 1, copy, &requests[1]);
	MPI_Comm_free(&copy);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	all_ok(in[7] == (char)(before + 1),
	       "communication on a freed communicator ends as usual");
}

static void split(void)
{
	int r = -1, s = -1, half = (size + 1) / 2, sum = -1, got = -1;
	MPI_Comm parity, none;

	/* Even and odd ranks, in reverse order. */
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &parity);
	MPI_Comm_rank(parity, &r);
	MPI_Comm_size(parity, &s);
	if (rank % 2)
		half = size / 2;
	all_ok(s == half && r == s - 1 - rank / 2,
	       "a split orders by key within each colour");
	MPI_Sendrecv(&rank, 1, MPI_INT, (r + 1) % s, 0, &got, 1, MPI_INT,
		     (r + s - 1) % s, 0, parity, MPI_STATUS_IGNORE);
	sum = s - 1 - (r + s - 1) % s;
	all_ok(got == 2 * sum + rank % 2, "its members talk to each other");
	MPI_Comm_free(&parity);

	none = parity = MPI_COMM_SELF;
	MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 5, 0, &none);
	all_ok((rank == 0) == (none == MPI_COMM_NULL),
	       "MPI_UNDEFINED gives MPI_COMM_NULL");
	if (none != MPI_COMM_NULL) {
		MPI_Comm_rank(none, &r);
		MPI_Comm_free(&none);
	}
	all_ok(rank == 0 || r == rank - 1, "equal keys keep the old order");
}

/* What a resource's name asks for: what shares memory, or nothing. */
static void split_type_guided(const char *resource, bool shared)
{
	static const int types[] = { MPI_COMM_TYPE_HW_GUIDED,
				     MPI_COMM_TYPE_RESOURCE_GUIDED };
	int result = -1;

	for (int i = 0; i < 2; i++) {
		MPI_Comm comm;
		MPI_Info info;

		MPI_Info_create(&info);
		if (resource)
			MPI_Info_set(info, "mpi_hw_resource_type", resource);
		MPI_Comm_split_type(MPI_COMM_WORLD, types[i], 0, info, &comm);
		MPI_Info_free(&info);
		if (!shared) {
			all_ok(comm == MPI_COMM_NULL, "split by %s: nothing",
			       resource ? resource : "no name");
			continue;
		}
		MPI_Comm_compare(MPI_COMM_WORLD, comm, &result);
		all_ok(result == MPI_CONGRUENT, "split by %s", resource);
		MPI_Comm_free(&comm);
	}
}

/* A process set is split off by its name, in any letters; MPI_COMM_TYPE_HW_GUIDED
 * knows none. */
static void split_type_pset(const char *pset, int type, int want)
{
	MPI_Comm comm = MPI_COMM_SELF;
	MPI_Info info;
	int n = 0;

	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_pset_name", pset);
	MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, info, &comm);
	MPI_Info_free(&info);
	if (comm != MPI_COMM_NULL) {
		MPI_Comm_size(comm, &n);
		MPI_Comm_free(&comm);
	}
	all_ok(n == want, "split by the process set %s", pset);
}

static int deleted;

static int count_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	deleted++;
	return MPI_SUCCESS;
}

/* A communicator that is disconnected ends as one that is freed, once all have
 * come to that. */
static void disconnect(void)
{
	MPI_Comm comm, parent = MPI_COMM_WORLD;
	int keyval, sum = 0;

	MPI_Comm_get_parent(&parent);
	all_ok(parent == MPI_COMM_NULL, "nobody has started these ranks");
	MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_deleted, &keyval,
			       NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_attr(comm, keyval, NULL);
	MPI_Comm_free_keyval(&keyval);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
	MPI_Comm_disconnect(&comm);
	all_ok(comm == MPI_COMM_NULL && deleted == 1,
	       "MPI_Comm_disconnect frees a communicator and its attributes");
}

static void split_type(void)
{
	int result = -1;
	MPI_Comm shared;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &shared);
	MPI_Comm_compare(MPI_COMM_WORLD, shared, &result);
	all_ok(result == MPI_CONGRUENT, "the ranks of one host share memory");
	MPI_Comm_free(&shared);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL,
			    &shared);
	all_ok(shared == MPI_COMM_NULL, "MPI_UNDEFINED is in no such group");
	split_type_guided("mpi_shared_memory", true);
	split_type_guided("no such resource", false);
	split_type_guided(NULL, false);
	split_type_pset("mpi://WORLD", MPI_COMM_TYPE_RESOURCE_GUIDED, size);
	split_type_pset("MPI://self", MPI_COMM_TYPE_RESOURCE_GUIDED, 1);
	split_type_pset("mpi://nothing", MPI_COMM_TYPE_RESOURCE_GUIDED, 0);
	split_type_pset("mpi://WORLD", MPI_COMM_TYPE_HW_GUIDED, 0);
}

/* Two groups that do not overlap, in one call. */
static void create(void)
{
	MPI_Group world, mine;
	MPI_Comm made = MPI_COMM_NULL;
	int *members = malloc((size_t)size * sizeof(*members));
	int n = 0, r = -1, s = -1;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	for (int i = size - 1; i >= 0; i--)
		if (i % 2 == rank % 2)
			members[n++] = i;
	MPI_Group_incl(world, n, members, &mine);
	MPI_Comm_create(MPI_COMM_WORLD, mine, &made);
	MPI_Comm_rank(made, &r);
	MPI_Comm_size(made, &s);
	all_ok(s == n && members[r] == rank,
	       "MPI_Comm_create takes disjoint groups and keeps their order");
	MPI_Comm_free(&made);

	made = MPI_COMM_SELF;
	MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &made);
	all_ok(made == MPI_COMM_NULL, "an empty group gives MPI_COMM_NULL");

	/* Collective over the even ranks only. */
	if (rank % 2 == 0) {
		int got = -1, sent;

		MPI_Comm_create_group(MPI_COMM_WORLD, mine, 17, &made);
		MPI_Comm_rank(made, &r);
		MPI_Comm_size(made, &s);
		sent = r;
		MPI_Sendrecv(&sent, 1, MPI_INT, (r + 1) % s, 0, &got, 1,
			     MPI_INT, (r + s - 1) % s, 0, made,
			     MPI_STATUS_IGNORE);
		n = got == (r + s - 1) % s && members[r] == rank;
		MPI_Comm_free(&made);
	}
	all_ok(rank % 2 || n == 1, "MPI_Comm_create_group asks its group only");
	MPI_Group_free(&world);
	MPI_Group_free(&mine);
	free(members);
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
	int length = -1;
	MPI_Comm copy;

	MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
	all_ok(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14,
	       "MPI_COMM_WORLD knows its name");
	MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
	all_ok(strcmp(name, "MPI_COMM_NULL") == 0, "MPI_COMM_NULL too");
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_get_name(copy, name, &length);
	all_ok(length == 0 && name[0] == '\0', "a new communicator has none");
	MPI_Comm_set_name(copy, "first");
	MPI_Comm_set_name(copy, "a copy");
	MPI_Comm_get_name(copy, name, &length);
	all_ok(strcmp(name, "a copy") == 0 && length == 6,
	       "until it is given one");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	MPI_Comm_set_name(copy, longer);
	MPI_Comm_get_name(copy, name, &length);
	all_ok(length == MPI_MAX_OBJECT_NAME - 1, "a long name is cut");
	MPI_Comm_free(&copy);
}

/* Communicators come and go; context numbers must not run into each other. */
static void many(void)
{
	bool held = true;

	for (int i = 0; i < 300; i++) {
		int out = 1000 * rank + i, in = -1;
		MPI_Comm copy;

		MPI_Comm_dup(MPI_COMM_WORLD, &copy);
		MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before,
			     0, copy, MPI_STATUS_IGNORE);
		held = held && in == 1000 * before + i;
		MPI_Comm_free(&copy);
	}
	all_ok(held, "hundreds of communicators come and go");
}

/* Ranks other than 0 go on before rank 0 has come. */
static void idup(void)
{
	int key, flag = 0, in = -1, count = -1;
	void *value = NULL;
	MPI_Comm copy, third;
	MPI_Request request;
	MPI_Info info;

	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key,
			       NULL);
	MPI_Comm_set_attr(mtap_comm, key, &key);
	if (rank == 0)
		for (int i = 1; i < size; i++)
			MPI_Recv(NULL, 0, MPI_INT, i, 9, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	MPI_Comm_idup(mtap_comm, &copy, &request);
	if (rank != 0)
		MPI_Ssend(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_get_attr(copy, key, &value, &flag);
	all_ok(flag && value == &key, "MPI_Comm_idup copies attributes");
	MPI_Comm_delete_attr(mtap_comm, key);
	MPI_Comm_free_keyval(&key);
	MPI_Comm_dup_with_info(copy, MPI_INFO_NULL, &third);
	MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before, 0,
		     copy, MPI_STATUS_IGNORE);
	all_ok(in == before, "its communicator works");
	in = -1;
	MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before, 0,
		     third, MPI_STATUS_IGNORE);
	all_ok(in == before, "so does that of MPI_Comm_dup_with_info");
	MPI_Comm_get_info(third, &info);
	MPI_Info_get_nkeys(info, &count);
	all_ok(count == 0, "MPI_Comm_get_info gives an info of its own");
	MPI_Info_free(&info);
	MPI_Comm_free(&third);
	MPI_Comm_free(&copy);
}

/* Several at once, over communicators that are freed before they are made. */
static void idup_many(void)
{
	MPI_Comm parent, copies[20];
	MPI_Request requests[20];
	bool held = true;

	MPI_Comm_dup(MPI_COMM_WORLD, &parent);
	for (int i = 0; i < 20; i++)
		MPI_Comm_idup(parent, &copies[i], &requests[i]);
	MPI_Comm_free(&parent);
	MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 20; i++) {
		int out = rank + i, in = -1;

		MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before,
			     0, copies[i], MPI_STATUS_IGNORE);
		held = held && in == before + i;
		MPI_Comm_free(&copies[i]);
	}
	all_ok(held, "many duplicates can be on their way at once");
}

/* Rank 0 comes last, so that the other duplicates are not complete before. */
static void idup_errhandler(void)
{
	MPI_Comm parent, copy;
	MPI_Request request;
	MPI_Errhandler inherited, set;

	MPI_Comm_dup(MPI_COMM_WORLD, &parent);
	MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
	if (rank == 0)
		for (int i = 1; i < size; i++)
			MPI_Recv(NULL, 0, MPI_INT, i, 9, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
	MPI_Comm_idup(parent, &copy, &request);
	MPI_Comm_get_errhandler(copy, &inherited);
	MPI_Comm_set_errhandler(copy, MPI_ERRORS_ABORT);
	if (rank != 0)
		MPI_Ssend(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_get_errhandler(copy, &set);
	all_ok(inherited == MPI_ERRORS_RETURN && set == MPI_ERRORS_ABORT,
	       "the error handler of a duplicate can be set before it is "
	       "complete");
	MPI_Comm_free(&copy);
	MPI_Comm_free(&parent);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	predefined();
	isolation();
	free_while_pending();
	split();
	split_type();
	disconnect();
	create();
	names();
	many();
	idup();
	idup_many();
	idup_errhandler();
	return mtap_end();
}
