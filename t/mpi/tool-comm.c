/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: variables that are bound to a communicator.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tool.h"

static MPI_T_pvar_session session;

/* Allocates a handle bound to a communicator, MPI_T_PVAR_HANDLE_NULL on
 * failure. */
static MPI_T_pvar_handle watch(const char *name, MPI_Comm comm)
{
	MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
	int count = 0;

	if (MPI_T_pvar_handle_alloc(session, tool_find(name), &comm, &handle,
				    &count) ||
	    count != 1)
		return MPI_T_PVAR_HANDLE_NULL;
	return handle;
}

static uint64_t value_of(MPI_T_pvar_handle handle)
{
	return tool_read(session, handle);
}

static void unwatch(MPI_T_pvar_handle *handle)
{
	MPI_T_pvar_handle_free(session, handle);
}

/* n messages of so many ints to the next rank, from the one before. */
static void round_of(MPI_Comm comm, int n, int ints)
{
	int *out = calloc((size_t)ints + 1, sizeof(*out));
	int *in = calloc((size_t)ints + 1, sizeof(*in));

	for (int i = 0; i < n; i++)
		MPI_Sendrecv(out, ints, MPI_INT, (rank + 1) % size, 5, in, ints,
			     MPI_INT, (rank + size - 1) % size, 5, comm,
			     MPI_STATUS_IGNORE);
	free(out);
	free(in);
}

static void bound(void)
{
	static const char *const names[] = {
		"core_comm_sends",	"core_comm_sent_bytes",
		"core_comm_receives",	"core_comm_received_bytes",
		"core_comm_posted_len", "core_comm_unexpected_len",
		"core_comm_collectives"
	};
	bool held = true;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct tool_pvar pvar = { 0 };

		held = held && !tool_pvar(&pvar, tool_find(names[i])) &&
		       pvar.bind == MPI_T_BIND_MPI_COMM &&
		       pvar.type == MPI_UNSIGNED_LONG_LONG && pvar.continuous;
	}
	all_ok(held, "variables of communicators say so");
}

/* Messages are counted on one communicator and on no other. */
static void messages(MPI_Comm one, MPI_Comm other)
{
	MPI_T_pvar_handle sends = watch("core_comm_sends", one);
	MPI_T_pvar_handle bytes = watch("core_comm_sent_bytes", one);
	MPI_T_pvar_handle receives = watch("core_comm_receives", one);
	MPI_T_pvar_handle got = watch("core_comm_received_bytes", one);
	MPI_T_pvar_handle others = watch("core_comm_sends", other), late;

	all_ok(value_of(sends) == 0 && value_of(got) == 0,
	       "a handle begins with 0");
	everybody();
	for (int ints = 0; ints <= 20000; ints = ints ? ints * 5000 : 4)
		round_of(one, 3, ints);
	round_of(other, 2, 1);
	all_ok(value_of(sends) == 9 && value_of(receives) == 9,
	       "messages are counted on their communicator");
	all_ok(value_of(bytes) == 3 * (4 + 20000) * sizeof(int) &&
		       value_of(got) == value_of(bytes),
	       "so is their payload");
	all_ok(value_of(others) == 2, "and not on others");
	late = watch("core_comm_sends", one);
	round_of(one, 1, 1);
	all_ok(value_of(late) == 1 && value_of(sends) == 10,
	       "each handle has its own beginning");
	all_ok(MPI_T_pvar_reset(session, sends) == MPI_SUCCESS &&
		       value_of(sends) == 0 && value_of(late) == 1,
	       "a reset moves that of one handle");
	unwatch(&late);
	unwatch(&others);
	unwatch(&bytes);
	unwatch(&receives);
	unwatch(&got);
	unwatch(&sends);
	round_of(one, 1, 1);
	sends = watch("core_comm_sends", one);
	round_of(one, 2, 1);
	all_ok(value_of(sends) == 2, "counting ends and begins with handles");
	unwatch(&sends);
}

/* Every rank posts receives, and lets messages wait. */
static void queues(MPI_Comm one, MPI_Comm other)
{
	MPI_T_pvar_handle posted = watch("core_comm_posted_len", one);
	MPI_T_pvar_handle waiting = watch("core_comm_unexpected_len", one);
	MPI_T_pvar_handle elsewhere = watch("core_comm_posted_len", other);
	int next = (rank + 1) % size, last = (rank + size - 1) % size, here;
	MPI_Request requests[6];
	int in[8], out = 1;

	all_ok(value_of(posted) == 0 && value_of(waiting) == 0,
	       "queues are empty");
	for (int i = 0; i < 6; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? last : MPI_ANY_SOURCE, i,
			  one, &requests[i]);
	all_ok(value_of(posted) == 6 && value_of(elsewhere) == 0,
	       "posted receives are counted where they are posted");
	everybody();
	for (int i = 7; i >= 0; i--)
		MPI_Send(&out, 1, MPI_INT, next, i, one);
	MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
	MPI_Probe(last, 6, one, MPI_STATUS_IGNORE);
	all_ok(value_of(posted) == 0 && value_of(waiting) == 2,
	       "messages without a receive wait in the other queue");
	MPI_Recv(&in[6], 1, MPI_INT, last, 6, one, MPI_STATUS_IGNORE);
	here = (int)value_of(waiting);
	MPI_Recv(&in[7], 1, MPI_INT, last, 7, one, MPI_STATUS_IGNORE);
	all_ok(here == 1 && value_of(waiting) == 0, "until they are received");
	MPI_Irecv(&in[0], 1, MPI_INT, last, 99, one, &requests[0]);
	here = (int)value_of(posted);
	MPI_Cancel(&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	all_ok(here == 1 && value_of(posted) == 0,
	       "a cancelled receive is none");
	unwatch(&posted);
	unwatch(&waiting);
	unwatch(&elsewhere);
}

/* Tells whether a state has that word. */
static bool state_is(MPI_T_pvar_handle handle, const char *word)
{
	struct tool_pvar pvar;
	char name[64] = "";
	int state = -1, value, length = sizeof(name);

	tool_pvar(&pvar, tool_find("core_comm_algorithm"));
	return MPI_T_pvar_read(session, handle, &state) == MPI_SUCCESS &&
	       MPI_T_enum_get_item(pvar.enumeration, state, &value, name,
				   &length) == MPI_SUCCESS &&
	       value == state && strcmp(name, word) == 0;
}

static MPI_T_cvar_handle setting(const char *name, MPI_Comm comm)
{
	MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
	int index, count;

	if (MPI_T_cvar_get_index(name, &index) ||
	    MPI_T_cvar_handle_alloc(index, &comm, &handle, &count))
		return MPI_T_CVAR_HANDLE_NULL;
	return handle;
}

/* Tells whether there are several processes. */
static bool several(void)
{
	MPI_T_pvar_handle last = watch("core_comm_algorithm", MPI_COMM_WORLD);
	int one = 1, sum;
	bool many;

	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	many = !state_is(last, "shared");
	unwatch(&last);
	return many;
}

static void collectives(MPI_Comm one, MPI_Comm other, bool internode)
{
	MPI_T_pvar_handle calls = watch("core_comm_collectives", one);
	MPI_T_pvar_handle others = watch("core_comm_collectives", other);
	MPI_T_pvar_handle algorithm = watch("core_comm_algorithm", one);
	MPI_T_pvar_handle bcasts =
		tool_handle(session, "core_coll_bcast_calls");
	MPI_T_pvar_handle barriers =
		tool_handle(session, "core_coll_barrier_calls");
	MPI_T_pvar_handle allgathers =
		tool_handle(session, "core_coll_allgather_calls");
	MPI_T_pvar_handle last = tool_handle(session, "core_coll_algorithm");
	MPI_Request request;
	int *all = calloc((size_t)size, sizeof(*all)), mine = 1, state = -1;
	int state_one = -2;

	all_ok(state_is(algorithm, "none"), "there was no collective yet");
	MPI_Barrier(one);
	MPI_Bcast(&mine, 1, MPI_INT, 0, one);
	MPI_Ibcast(&mine, 1, MPI_INT, 0, one, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allgather_init(&mine, 1, MPI_INT, all, 1, MPI_INT, one,
			   MPI_INFO_NULL, &request);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
	MPI_Barrier(other);
	all_ok(value_of(calls) == 5 && value_of(others) == 1,
	       "collectives are counted on their communicator");
	all_ok(value_of(bcasts) == 2 && value_of(barriers) == 2 &&
		       value_of(allgathers) == 2,
	       "and by what they are");
	MPI_Bcast(&mine, 1, MPI_INT, 0, one);
	all_ok(MPI_T_pvar_read(session, last, &state) == MPI_SUCCESS &&
		       MPI_T_pvar_read(session, algorithm, &state_one) ==
			       MPI_SUCCESS &&
		       state == state_one,
	       "the rank's last algorithm is that of the communicator");
	all_ok(state_is(algorithm, internode ? "linear" : "shared"),
	       "it is known how it went");
	free(all);
	unwatch(&calls);
	unwatch(&others);
	unwatch(&algorithm);
	unwatch(&bcasts);
	unwatch(&barriers);
	unwatch(&allgathers);
	unwatch(&last);
}

/* An algorithm of its own counts for one communicator, also for the next. */
static void algorithms(MPI_Comm one, MPI_Comm other, bool internode)
{
	MPI_T_cvar_handle bcast =
		setting("mpi_coll_bcast_algorithm_bycomm", one);
	MPI_T_cvar_handle plain =
		setting("mpi_coll_bcast_algorithm_bycomm", other);
	MPI_T_cvar_handle scan = setting("mpi_coll_scan_algorithm_bycomm", one);
	MPI_T_pvar_handle here = watch("core_comm_algorithm", one);
	MPI_T_pvar_handle there = watch("core_comm_algorithm", other);
	int binomial = 2, doubling = 3, value = -1, sum, mine = rank == 0;

	all_ok(MPI_T_cvar_read(bcast, &value) == MPI_SUCCESS && value == 0,
	       "without a value of its own a communicator has that of all");
	all_ok(MPI_T_cvar_write(bcast, &binomial) == MPI_SUCCESS &&
		       MPI_T_cvar_read(bcast, &value) == MPI_SUCCESS &&
		       value == binomial &&
		       MPI_T_cvar_read(plain, &value) == MPI_SUCCESS &&
		       value == 0,
	       "one of its own counts for it alone");
	all_ok(MPI_T_cvar_write(scan, &doubling) == MPI_SUCCESS, "another one");
	MPI_Bcast(&mine, 1, MPI_INT, 0, one);
	MPI_Bcast(&mine, 1, MPI_INT, 0, other);
	all_ok(mine == 1 && state_is(here, internode ? "binomial" : "shared") &&
		       state_is(there, internode ? "linear" : "shared"),
	       "collectives go that way");
	MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, one);
	all_ok(sum == rank + 1 &&
		       state_is(here,
				internode ? "recursive_doubling" : "shared"),
	       "so do those of another family");
	value = 77;
	all_ok(MPI_T_cvar_write(bcast, &value) == MPI_T_ERR_INVALID,
	       "a value that is none is refused");
	MPI_T_cvar_handle_free(&bcast);
	MPI_Bcast(&mine, 1, MPI_INT, 0, one);
	all_ok(state_is(here, internode ? "binomial" : "shared"),
	       "a setting outlives its handle");
	MPI_T_cvar_handle_free(&plain);
	MPI_T_cvar_handle_free(&scan);
	unwatch(&here);
	unwatch(&there);
}

/* Messages of 80000 bytes are announced by all networks, unless their communicator
 * says no. */
static void eager(MPI_Comm one, MPI_Comm other)
{
	MPI_T_cvar_handle limit = setting("core_eager_limit_bycomm", one);
	MPI_T_cvar_handle plain = setting("core_eager_limit_bycomm", other);
	MPI_T_pvar_handle announced =
		tool_handle(session, "core_sends_rendezvous");
	MPI_T_pvar_handle at_once = tool_handle(session, "core_sends_eager");
	unsigned long long value = 1, long_ones, more = 90000;

	all_ok(MPI_T_cvar_read(limit, &value) == MPI_SUCCESS && value == 8192,
	       "the eager limit is that of the rank");
	round_of(one, 2, 20000);
	long_ones = value_of(announced);
	all_ok(long_ones == 0 || long_ones == 2,
	       "long messages to other processes are announced");
	all_ok(MPI_T_cvar_write(limit, &more) == MPI_SUCCESS &&
		       MPI_T_cvar_read(limit, &value) == MPI_SUCCESS &&
		       value == more &&
		       MPI_T_cvar_read(plain, &value) == MPI_SUCCESS &&
		       value == 8192,
	       "a communicator has an eager limit of its own");
	everybody();
	MPI_T_pvar_reset(session, at_once);
	MPI_T_pvar_reset(session, announced);
	round_of(one, 2, 20000);
	all_ok(value_of(announced) == 0 && value_of(at_once) == long_ones,
	       "now they go at once");
	round_of(other, 2, 20000);
	all_ok(value_of(announced) == long_ones,
	       "on another communicator they do not");
	value = 1ull << 40;
	all_ok(MPI_T_cvar_write(limit, &value) == MPI_T_ERR_INVALID,
	       "a limit out of its range is refused");
	unwatch(&announced);
	unwatch(&at_once);
	MPI_T_cvar_handle_free(&limit);
	MPI_T_cvar_handle_free(&plain);
}

static bool refused(void *object)
{
	MPI_T_pvar_handle pvar;
	MPI_T_cvar_handle cvar;
	int index = -1, count;

	MPI_T_cvar_get_index("core_eager_limit_bycomm", &index);
	return MPI_T_pvar_handle_alloc(session, tool_find("core_comm_sends"),
				       object, &pvar,
				       &count) == MPI_T_ERR_INVALID_HANDLE &&
	       pvar == MPI_T_PVAR_HANDLE_NULL &&
	       MPI_T_cvar_handle_alloc(index, object, &cvar, &count) ==
		       MPI_T_ERR_INVALID_HANDLE &&
	       cvar == MPI_T_CVAR_HANDLE_NULL;
}

static void wrong(void)
{
	MPI_Comm none = MPI_COMM_NULL, freed, copy;
	int index = -1;

	MPI_Comm_dup(MPI_COMM_WORLD, &freed);
	copy = freed;
	MPI_Comm_free(&freed);
	all_ok(refused(NULL), "no object is none");
	all_ok(refused(&none), "MPI_COMM_NULL is none");
	all_ok(refused(&copy), "a freed communicator is none");
	all_ok(MPI_T_cvar_get_index("core_collaborative_polling_bycomm",
				    &index) == MPI_T_ERR_INVALID_NAME &&
		       index == -1,
	       "not all variables have one");
}

/* The handles outlive their communicator; another one may take its place. */
static void freed(void)
{
	MPI_T_pvar_handle sends, length, algorithm, again;
	MPI_T_cvar_handle limit;
	unsigned long long value = 100, was = 0;
	MPI_Comm comm, next;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	sends = watch("core_comm_sends", comm);
	length = watch("core_comm_posted_len", comm);
	algorithm = watch("core_comm_algorithm", comm);
	limit = setting("core_eager_limit_bycomm", comm);
	MPI_T_cvar_write(limit, &value);
	round_of(comm, 3, 1);
	MPI_Comm_free(&comm);
	all_ok(value_of(sends) == 3 && value_of(length) == 0,
	       "what was counted on a freed communicator stays");
	all_ok(MPI_T_cvar_read(limit, &was) == MPI_SUCCESS && was == 100 &&
		       MPI_T_cvar_write(limit, &value) ==
			       MPI_T_ERR_INVALID_HANDLE,
	       "its settings are read, and are set no more");
	for (int i = 0; i < 20; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &next);
		again = watch("core_comm_sends", next);
		round_of(next, 1, 1);
		if (value_of(again) != 1)
			break;
		unwatch(&again);
		MPI_Comm_free(&next);
	}
	all_ok(again == MPI_T_PVAR_HANDLE_NULL && value_of(sends) == 3,
	       "those that follow have values of their own");
	unwatch(&sends);
	unwatch(&length);
	unwatch(&algorithm);
	MPI_T_cvar_handle_free(&limit);
	MPI_Comm_dup(MPI_COMM_WORLD, &next);
	limit = setting("core_eager_limit_bycomm", next);
	all_ok(MPI_T_cvar_read(limit, &was) == MPI_SUCCESS && was == 8192,
	       "and none of the settings");
	MPI_T_cvar_handle_free(&limit);
	MPI_Comm_free(&next);
}

/* A thread of the tool reads while the rank works. */
static _Atomic bool over;

static void *reads(void *handle)
{
	uint64_t last = 0, value = 0;

	while (!atomic_load(&over)) {
		if (MPI_T_pvar_read(session, handle, &value) || value > 2)
			return handle;
		last = value > last ? value : last;
	}
	return NULL;
}

static void helper(MPI_Comm one)
{
	MPI_T_pvar_handle posted = watch("core_comm_posted_len", one);
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, reads, posted);
	for (int i = 0; i < 20; i++)
		round_of(one, 5, i);
	atomic_store(&over, true);
	pthread_join(thread, &result);
	all_ok(result == NULL, "a thread reads lengths meanwhile");
	unwatch(&posted);
}

/* Messages between two groups are on the communicator of both. */
static void between(void)
{
	MPI_T_pvar_handle sends;
	MPI_Comm half, inter;
	int peer = rank / 2, value = 0;

	if (size < 2 || size % 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
	sends = watch("core_comm_sends", inter);
	MPI_Sendrecv(&rank, 1, MPI_INT, peer, 0, &value, 1, MPI_INT, peer, 0,
		     inter, MPI_STATUS_IGNORE);
	all_ok(value_of(sends) == 1 && value == (rank ^ 1),
	       "an intercommunicator counts too");
	unwatch(&sends);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	MPI_Comm one, other, world = MPI_COMM_WORLD;
	int provided;
	bool internode;

	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	MPI_T_pvar_session_create(&session);
	if (!refused(&world))
		bail("MPI_COMM_WORLD was there before MPI_Init");
	mtap_init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_WORLD, &one);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	bound();
	messages(one, other);
	queues(one, other);
	internode = several();
	collectives(one, other, internode);
	algorithms(one, other, internode);
	eager(one, other);
	wrong();
	freed();
	helper(one);
	between();
	MPI_Comm_free(&one);
	MPI_Comm_free(&other);
	MPI_T_pvar_session_free(&session);
	return mtap_end();
}
