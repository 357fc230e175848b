/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: before MPI_Init, from a constructor on, and after MPI_Finalize.
 */
#include "tool.h"

static int early = -1, early_count = -1;

static __attribute__((constructor)) void begin(void)
{
	int provided = -1;

	early = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_T_pvar_get_num(&early_count);
}

/* Handles on all variables that belong to no object. */
#define HANDLES_MAX 1024
#define WORDS_MAX 4096
static MPI_T_pvar_handle handles[HANDLES_MAX];
static int handle_count;

static int all_handles(MPI_T_pvar_session session)
{
	struct tool_pvar pvar;
	int count, faults = 0;

	for (int i = 0; tool_pvar(&pvar, i) == MPI_SUCCESS; i++) {
		if (pvar.bind != MPI_T_BIND_NO_OBJECT)
			continue;
		faults += handle_count == HANDLES_MAX ||
			  MPI_T_pvar_handle_alloc(session, i, NULL,
						  &handles[handle_count++],
						  &count) ||
			  count > WORDS_MAX;
	}
	return faults;
}

static int all_read(MPI_T_pvar_session session)
{
	static uint64_t values[WORDS_MAX];
	int faults = 0;

	for (int i = 0; i < handle_count; i++)
		faults += MPI_T_pvar_read(session, handles[i], values) !=
			  MPI_SUCCESS;
	return faults;
}

/*
 * After MPI_Finalize, when a rank that is a process of its own has closed its
 * fabric: what that has counted stays.
 */
static int after_end(MPI_T_pvar_session session, MPI_T_pvar_handle sends,
		     uint64_t sends_before, MPI_T_pvar_handle packets,
		     uint64_t packets_before)
{
	int faults = all_read(session);

	faults += tool_read(session, sends) < sends_before;
	faults += tool_read(session, packets) < packets_before;
	while (handle_count > 0)
		faults += MPI_T_pvar_handle_free(session,
						 &handles[--handle_count]) !=
			  MPI_SUCCESS;
	return faults;
}

int main(int argc, char **argv)
{
	MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
	MPI_T_pvar_handle sends, packets;
	int initialized = -1, created, count = 0, token = 0, mistakes = 0;
	uint64_t before, after, sent;
	unsigned long long spin = 0, value = 123;
	MPI_T_cvar_handle cvar;
	int index = -1;

	MPI_Initialized(&initialized);
	created = MPI_T_pvar_session_create(&session);
	sends = tool_handle(session, "core_sends");
	before = tool_read(session, sends);
	mistakes += MPI_T_cvar_get_index("sched_spin_us", &index) != 0;
	mistakes += MPI_T_cvar_handle_alloc(index, NULL, &cvar, NULL) != 0;
	mistakes += MPI_T_cvar_write(cvar, &value) != 0;
	mtap_init(&argc, &argv);
	all_ok(early == MPI_SUCCESS && !initialized,
	       "MPI_T is initialised by a constructor");
	MPI_T_pvar_get_num(&count);
	all_ok(early_count == count && count > 0,
	       "all variables are there from then on");
	all_ok(created == MPI_SUCCESS && before == 0,
	       "a session is made and read before MPI_Init");
	mistakes += MPI_T_cvar_read(cvar, &spin) != 0;
	all_ok(mistakes == 0 && spin == 123,
	       "a control variable is set before MPI_Init");
	before = tool_read(session, sends);
	MPI_Sendrecv(&token, 1, MPI_INT, rank, 0, &token, 1, MPI_INT, rank, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	after = tool_read(session, sends);
	all_ok(after == before + 1, "the handle of before counts");
	packets = tool_handle(session, "fabric_sent");
	all_ok(all_handles(session) == 0 && all_read(session) == 0,
	       "all variables are read");
	all_ok(true, "MPI ends");
	MPI_Comm_free(&mtap_comm);
	after = tool_read(session, sends);
	sent = tool_read(session, packets);
	MPI_Finalize();
	mistakes += after_end(session, sends, after, packets, sent);
	if (MPI_T_pvar_handle_free(session, &packets) ||
	    MPI_T_cvar_write(cvar, &value) || MPI_T_cvar_handle_free(&cvar) ||
	    MPI_T_pvar_handle_free(session, &sends) ||
	    MPI_T_pvar_session_free(&session) || MPI_T_finalize() ||
	    MPI_T_finalize() != MPI_T_ERR_NOT_INITIALIZED)
		mistakes++;
	if (MPI_T_init_thread(MPI_THREAD_SINGLE, &index) || MPI_T_finalize())
		mistakes++;
	if (mistakes)
		return 1; /* of any rank: the job's */
	if (rank != 0)
		return 0;
	ok(true, "and MPI_T goes on");
	return done_testing();
}
