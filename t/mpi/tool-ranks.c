/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: a process is a rank.  Each rank has its own sessions, which read its
 * own values from any thread; resets do not affect others.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "tool.h"

#define SESSIONS 4
#define TURNS 20

static MPI_T_pvar_session session;

/* Exchanges messages: to the next rank and from the previous one. */
static void round_trip(int messages)
{
	int token = 0;

	for (int i = 0; i < messages; i++)
		MPI_Sendrecv(&token, 1, MPI_INT, (rank + 1) % size, 9, &token,
			     1, MPI_INT, (rank + size - 1) % size, 9,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Sends messages from the rank to itself. */
static void own_messages(int messages)
{
	int token = 0;

	for (int i = 0; i < messages; i++)
		MPI_Sendrecv(&token, 1, MPI_INT, rank, 8, &token, 1, MPI_INT,
			     rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void own_values(void)
{
	MPI_T_pvar_handle sends = tool_handle(session, "core_sends");
	MPI_T_pvar_handle later;
	uint64_t value, written = 1000;

	everybody();
	MPI_T_pvar_reset(session, sends);
	own_messages(rank + 1);
	value = tool_read(session, sends);
	all_ok(value == (uint64_t)rank + 1,
	       "each rank counts its own messages");
	later = tool_handle(session, "core_sends");
	all_ok(tool_read(session, later) == 0, "a handle begins with 0");
	MPI_T_pvar_reset(session, sends);
	round_trip(5);
	all_ok(tool_read(session, sends) == 5, "a reset begins again");
	MPI_T_pvar_readreset(session, sends, &value);
	all_ok(value >= 5 && tool_read(session, sends) == 0,
	       "so does a read with reset");
	MPI_T_pvar_write(session, sends, &written);
	round_trip(2);
	all_ok(tool_read(session, sends) == 1002, "and a written value");
	MPI_T_pvar_handle_free(session, &sends);
	MPI_T_pvar_handle_free(session, &later);
}

/* Several sessions of each rank, which reset in different steps. */
static void isolated(void)
{
	MPI_T_pvar_session sessions[SESSIONS];
	MPI_T_pvar_handle handles[SESSIONS];
	uint64_t want[SESSIONS] = { 0 };
	bool held = true;

	for (int i = 0; i < SESSIONS; i++) {
		MPI_T_pvar_session_create(&sessions[i]);
		handles[i] = tool_handle(sessions[i], "core_sends");
	}
	for (int i = 0; i < SESSIONS; i++)
		MPI_T_pvar_reset(sessions[i], handles[i]);
	for (int turn = 1; turn <= TURNS; turn++) {
		round_trip(1);
		for (int i = 0; i < SESSIONS; i++) {
			want[i]++;
			held = held &&
			       tool_read(sessions[i], handles[i]) == want[i];
			if ((turn + rank) % (i + 2))
				continue;
			MPI_T_pvar_reset(sessions[i], handles[i]);
			want[i] = 0;
		}
	}
	all_ok(held, "%d ranks with %d sessions each, apart", size, SESSIONS);
	for (int i = 0; i < SESSIONS; i++)
		MPI_T_pvar_session_free(&sessions[i]);
}

/* A tool's thread, which belongs to the rank that starts it. */
struct helper {
	MPI_T_pvar_handle handle;
	uint64_t value;
	int rc;
};

static void *help(void *arg)
{
	struct helper *helper = arg;

	helper->rc = MPI_T_pvar_read(session, helper->handle, &helper->value);
	return NULL;
}

static void helpers(void)
{
	struct helper helper = { .handle = tool_handle(session, "core_sends"),
				 .rc = -1 };
	pthread_t thread;

	everybody();
	MPI_T_pvar_reset(session, helper.handle);
	own_messages(rank + 3);
	pthread_create(&thread, NULL, help, &helper);
	pthread_join(thread, NULL);
	all_ok(helper.rc == MPI_SUCCESS && helper.value == (uint64_t)rank + 3,
	       "a thread reads the values of the session's rank");
	MPI_T_pvar_handle_free(session, &helper.handle);
}

/* Messages that are not received make the queue longer. */
static void watermarks(void)
{
	MPI_T_pvar_handle first = tool_handle(session, "core_unexpected_max");
	MPI_T_pvar_handle second = tool_handle(session, "core_unexpected_max");
	MPI_Request requests[16];
	int token = 0;

	everybody();
	MPI_T_pvar_reset(session, first);
	MPI_T_pvar_reset(session, second);
	everybody();
	for (int i = 0; i < 16; i++)
		MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 3,
			  MPI_COMM_WORLD, &requests[i]);
	everybody();
	for (int i = 0; i < 16; i++)
		MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 3,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
	all_ok(tool_read(session, first) >= 16, "a watermark is reached");
	MPI_T_pvar_reset(session, first);
	all_ok(tool_read(session, first) < 16, "and set back");
	all_ok(tool_read(session, second) >= 16, "for one handle");
	MPI_T_pvar_handle_free(session, &first);
	MPI_T_pvar_handle_free(session, &second);
}

/* Posts n receives, which get their messages when all have. */
static void receives(int n)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Request requests[16];
	int token[16];

	for (int i = 0; i < n; i++)
		MPI_Irecv(&token[i], 1, MPI_INT, left, 4, MPI_COMM_WORLD,
			  &requests[i]);
	everybody();
	for (int i = 0; i < n; i++)
		MPI_Send(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* A mark that has been higher before is reached again. */
static void watermark_again(void)
{
	MPI_T_pvar_handle most = tool_handle(session, "core_posted_max");

	for (int i = 0; i < 2; i++)
		receives(16);
	MPI_T_pvar_reset(session, most);
	receives(5);
	all_ok(tool_read(session, most) >= 5 && tool_read(session, most) < 16,
	       "a watermark that was set back rises with fewer than before");
	MPI_T_pvar_handle_free(session, &most);
}

/* Each rank sets limits only for itself. */
static void own_limits(void)
{
	unsigned long long own = 100 + (unsigned)rank, read = 0, old = 0;
	MPI_T_cvar_handle cvar;
	int index = -1;

	MPI_T_cvar_get_index("core_eager_limit", &index);
	MPI_T_cvar_handle_alloc(index, NULL, &cvar, NULL);
	MPI_T_cvar_read(cvar, &old);
	everybody();
	all_ok(MPI_T_cvar_write(cvar, &own) == MPI_SUCCESS, "a rank's limit");
	everybody();
	MPI_T_cvar_read(cvar, &read);
	all_ok(read == own, "is its own");
	round_trip(3);
	all_ok(MPI_T_cvar_write(cvar, &old) == MPI_SUCCESS, "and goes back");
	own = 1ull << 40;
	all_ok(MPI_T_cvar_write(cvar, &own) == MPI_T_ERR_INVALID,
	       "within its range");
	MPI_T_cvar_handle_free(&cvar);
}

/* One rank ends its use of the interface, the others go on. */
static void apart(void)
{
	MPI_T_pvar_handle sends;
	int n = -1, gone;

	everybody();
	gone = rank == size - 1;
	if (gone)
		MPI_T_finalize();
	everybody();
	all_ok(MPI_T_cvar_get_num(&n) ==
		       (gone ? MPI_T_ERR_NOT_INITIALIZED : MPI_SUCCESS),
	       "each rank finalises for itself");
	sends = gone ? MPI_T_PVAR_HANDLE_NULL :
		       tool_handle(session, "core_sends");
	if (!gone)
		MPI_T_pvar_reset(session, sends);
	round_trip(4);
	all_ok(gone || tool_read(session, sends) == 4,
	       "the sessions of the others stay");
	if (!gone)
		MPI_T_finalize();
}

/* Threads make, read and free handles of one session. */
static _Atomic int mistakes;

static void *churn(void *arg)
{
	for (int i = 0; i < 200; i++) {
		MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
		uint64_t value = 0;
		int count;

		if (MPI_T_pvar_handle_alloc(session, (int)(intptr_t)arg, NULL,
					    &handle, &count) ||
		    count != 1 || MPI_T_pvar_read(session, handle, &value) ||
		    MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) ||
		    MPI_T_pvar_handle_free(session, &handle))
			atomic_fetch_add(&mistakes, 1);
	}
	return NULL;
}

static void threads(void)
{
	void *index = (void *)(intptr_t)tool_find("core_sends");
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, churn, index);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	all_ok(mistakes == 0, "threads share a session");
}

int main(int argc, char **argv)
{
	int provided;

	mtap_init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	MPI_T_pvar_session_create(&session);
	own_values();
	isolated();
	helpers();
	if (size > 1)
		watermarks();
	watermark_again();
	if (size <= 8)
		threads();
	own_limits();
	apart();
	return mtap_end();
}
