/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: each error has its code, and none aborts the program although the
 * error handlers are the fatal ones.
 */
#include "tool.h"

#define is_code(call, want, ...) all_ok((call) == (want), __VA_ARGS__)

/* Handles that never were one, under all types. */
#define JUNK ((void *)0x31415926)

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static int number;

static void not_initialized(const char *when)
{
	MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
	MPI_T_enum none = MPI_T_ENUM_NULL;
	int n = 77, bad = 0;
	char text[8] = "";

#define EARLY(call) bad += (call) != MPI_T_ERR_NOT_INITIALIZED
	EARLY(MPI_T_finalize());
	EARLY(MPI_T_enum_get_info(none, &n, text, &n));
	EARLY(MPI_T_enum_get_item(none, 0, &n, text, &n));
	EARLY(MPI_T_cvar_get_num(&n));
	EARLY(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
				  NULL, NULL));
	EARLY(MPI_T_cvar_get_index("sched_spin_us", &n));
	EARLY(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &n));
	EARLY(MPI_T_cvar_handle_free(&cvar));
	EARLY(MPI_T_cvar_read(cvar, text));
	EARLY(MPI_T_cvar_write(cvar, text));
	EARLY(MPI_T_pvar_get_num(&n));
	EARLY(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
				  NULL, NULL, NULL, NULL, NULL));
	EARLY(MPI_T_pvar_get_index("core_sends", MPI_T_PVAR_CLASS_COUNTER, &n));
	EARLY(MPI_T_pvar_session_create(&session));
	EARLY(MPI_T_pvar_session_free(&session));
	EARLY(MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &n));
	EARLY(MPI_T_pvar_handle_free(session, &handle));
	EARLY(MPI_T_pvar_start(session, handle));
	EARLY(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
	EARLY(MPI_T_pvar_read(session, handle, text));
	EARLY(MPI_T_pvar_write(session, handle, text));
	EARLY(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
	EARLY(MPI_T_pvar_reset(session, handle));
	EARLY(MPI_T_pvar_readreset(session, handle, text));
	EARLY(MPI_T_category_get_num(&n));
	EARLY(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL,
				      NULL));
	EARLY(MPI_T_category_get_num_events(0, &n));
	EARLY(MPI_T_category_get_index("p2p", &n));
	EARLY(MPI_T_category_get_cvars(0, 1, &n));
	EARLY(MPI_T_category_get_pvars(0, 1, &n));
	EARLY(MPI_T_category_get_events(0, 1, &n));
	EARLY(MPI_T_category_get_categories(0, 1, &n));
	EARLY(MPI_T_category_changed(&n));
	all_ok(bad == 0 && n == 77, "all need MPI_T_init_thread, %s", when);
}

static void indices(void)
{
	MPI_T_cvar_handle cvar;
	MPI_T_pvar_handle pvar;
	int bad = 0, n, wrong[] = { -1, 1 << 20 };

	MPI_T_pvar_session_create(&session);
	for (int i = 0; i < 2; i++) {
#define INDEX(call) bad += (call) != MPI_T_ERR_INVALID_INDEX
		INDEX(MPI_T_cvar_get_info(wrong[i], NULL, NULL, NULL, NULL,
					  NULL, NULL, NULL, NULL, NULL));
		INDEX(MPI_T_cvar_handle_alloc(wrong[i], NULL, &cvar, &n));
		INDEX(MPI_T_pvar_get_info(wrong[i], NULL, NULL, NULL, NULL,
					  NULL, NULL, NULL, NULL, NULL, NULL,
					  NULL, NULL));
		INDEX(MPI_T_pvar_handle_alloc(session, wrong[i], NULL, &pvar,
					      &n));
		INDEX(MPI_T_category_get_info(wrong[i], NULL, NULL, NULL, NULL,
					      NULL, NULL, NULL));
		INDEX(MPI_T_category_get_num_events(wrong[i], &n));
		INDEX(MPI_T_category_get_cvars(wrong[i], 1, &n));
		INDEX(MPI_T_category_get_pvars(wrong[i], 1, &n));
		INDEX(MPI_T_category_get_events(wrong[i], 1, &n));
		INDEX(MPI_T_category_get_categories(wrong[i], 1, &n));
	}
	all_ok(bad == 0, "MPI_T_ERR_INVALID_INDEX");
	all_ok(cvar == MPI_T_CVAR_HANDLE_NULL && pvar == MPI_T_PVAR_HANDLE_NULL,
	       "a handle that was not made is the null handle");
	MPI_T_pvar_session_free(&session);
}

static void names(void)
{
	int n = 77;

	is_code(MPI_T_cvar_get_index("sched_spin", &n), MPI_T_ERR_INVALID_NAME,
		"no control variable has that name");
	is_code(MPI_T_pvar_get_index("core_send", MPI_T_PVAR_CLASS_COUNTER, &n),
		MPI_T_ERR_INVALID_NAME, "no performance variable");
	is_code(MPI_T_pvar_get_index("core_sends", MPI_T_PVAR_CLASS_LEVEL, &n),
		MPI_T_ERR_INVALID_NAME, "none of that class");
	is_code(MPI_T_pvar_get_index("core_sends", 99, &n),
		MPI_T_ERR_INVALID_NAME, "nor of one that is none");
	is_code(MPI_T_category_get_index("p2", &n), MPI_T_ERR_INVALID_NAME,
		"no category");
	all_ok(n == 77, "results stay as they were");
	is_code(MPI_T_cvar_get_index(NULL, &n), MPI_T_ERR_INVALID,
		"no name at all");
	is_code(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_COUNTER, &n),
		MPI_T_ERR_INVALID, "of a performance variable");
	is_code(MPI_T_category_get_index(NULL, &n), MPI_T_ERR_INVALID,
		"of a category");
	is_code(MPI_T_cvar_get_index("sched_spin_us", NULL), MPI_T_ERR_INVALID,
		"nowhere for the result");
	is_code(MPI_T_pvar_get_index("core_sends", MPI_T_PVAR_CLASS_COUNTER,
				     NULL),
		MPI_T_ERR_INVALID, "of a performance variable");
	is_code(MPI_T_category_get_index("p2p", NULL), MPI_T_ERR_INVALID,
		"of a category");
	all_ok(MPI_T_cvar_get_num(NULL) == MPI_T_ERR_INVALID &&
		       MPI_T_pvar_get_num(NULL) == MPI_T_ERR_INVALID &&
		       MPI_T_category_get_num(NULL) == MPI_T_ERR_INVALID &&
		       MPI_T_category_changed(NULL) == MPI_T_ERR_INVALID &&
		       MPI_T_pvar_session_create(NULL) == MPI_T_ERR_INVALID,
	       "nor of a question");
}

static void enums(void)
{
	MPI_T_enum what;
	char text[8];
	int n;

	MPI_T_cvar_get_index("core_rndv_protocol", &n);
	MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, &what, NULL, NULL, NULL,
			    NULL);
	is_code(MPI_T_enum_get_item(what, -1, &n, text, NULL),
		MPI_T_ERR_INVALID_INDEX, "no item before the first one");
	is_code(MPI_T_enum_get_item(what, 4, &n, text, NULL),
		MPI_T_ERR_INVALID_INDEX, "and none behind the last one");
	is_code(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, text, NULL),
		MPI_T_ERR_INVALID_HANDLE, "no enumeration");
	is_code(MPI_T_enum_get_info(JUNK, &n, text, NULL),
		MPI_T_ERR_INVALID_HANDLE, "nor one that never was");
	is_code(MPI_T_enum_get_item(JUNK, 0, &n, text, NULL),
		MPI_T_ERR_INVALID_HANDLE, "with an item");
	is_code(MPI_T_enum_get_info((MPI_T_enum)((char *)what + 16 * 2 * 4096),
				    &n, text, NULL),
		MPI_T_ERR_INVALID_HANDLE, "nor one of no variable");
}

static void cvar_handles(void)
{
	MPI_T_cvar_handle cvar, freed, null = MPI_T_CVAR_HANDLE_NULL;
	unsigned long long value = 1, old;
	int n, on = 7;

	MPI_T_cvar_get_index("sched_spin_us", &n);
	is_code(MPI_T_cvar_handle_alloc(n, NULL, NULL, NULL), MPI_T_ERR_INVALID,
		"nowhere for the handle");
	MPI_T_cvar_handle_alloc(n, NULL, &cvar, NULL);
	freed = cvar;
	is_code(MPI_T_cvar_read(cvar, NULL), MPI_T_ERR_INVALID,
		"nowhere for the value");
	is_code(MPI_T_cvar_write(cvar, NULL), MPI_T_ERR_INVALID,
		"and nowhere from");
	MPI_T_cvar_read(cvar, &old);
	value = 1ull << 40;
	is_code(MPI_T_cvar_write(cvar, &value), MPI_T_ERR_INVALID,
		"a value out of range");
	MPI_T_cvar_read(cvar, &value);
	all_ok(value == old, "is not taken");
	is_code(MPI_T_cvar_handle_free(&cvar), MPI_SUCCESS, "a handle goes");
	all_ok(cvar == MPI_T_CVAR_HANDLE_NULL, "and is the null handle");
	is_code(MPI_T_cvar_read(freed, &value), MPI_T_ERR_INVALID_HANDLE,
		"a freed handle is known");
	is_code(MPI_T_cvar_write(freed, &value), MPI_T_ERR_INVALID_HANDLE,
		"when written");
	is_code(MPI_T_cvar_handle_free(&freed), MPI_T_ERR_INVALID_HANDLE,
		"when freed");
	is_code(MPI_T_cvar_read(null, &value), MPI_T_ERR_INVALID_HANDLE,
		"the null handle");
	is_code(MPI_T_cvar_read(JUNK, &value), MPI_T_ERR_INVALID_HANDLE,
		"one that never was");
	is_code(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID, "none");
	MPI_T_cvar_get_index("core_collaborative_polling", &n);
	MPI_T_cvar_handle_alloc(n, NULL, &cvar, NULL);
	is_code(MPI_T_cvar_write(cvar, &on), MPI_T_ERR_INVALID,
		"what is on or off is not 7");
	MPI_T_cvar_handle_free(&cvar);
	MPI_T_cvar_get_index("sched_workers", &n);
	MPI_T_cvar_handle_alloc(n, NULL, &cvar, NULL);
	value = 1;
	is_code(MPI_T_cvar_write(cvar, &value), MPI_T_ERR_CVAR_SET_NEVER,
		"too late for what the runtime starts with");
	MPI_T_cvar_handle_free(&cvar);
	MPI_T_cvar_get_index("fabric_provider", &n);
	MPI_T_cvar_handle_alloc(n, NULL, &cvar, NULL);
	is_code(MPI_T_cvar_write(cvar, "tcp"), MPI_T_ERR_CVAR_SET_NEVER,
		"a string too");
	MPI_T_cvar_handle_free(&cvar);
}

static void sessions(void)
{
	MPI_T_pvar_session other, freed, null = MPI_T_PVAR_SESSION_NULL;
	MPI_T_pvar_handle pvar;
	unsigned long long value;

	MPI_T_pvar_session_create(&session);
	MPI_T_pvar_session_create(&other);
	handle = tool_handle(session, "core_sends");
	is_code(MPI_T_pvar_read(other, handle, &value),
		MPI_T_ERR_INVALID_HANDLE, "a handle of another session");
	is_code(MPI_T_pvar_handle_free(other, &handle),
		MPI_T_ERR_INVALID_HANDLE, "is not freed");
	freed = other;
	is_code(MPI_T_pvar_session_free(&other), MPI_SUCCESS, "a session goes");
	all_ok(other == MPI_T_PVAR_SESSION_NULL, "and is the null session");
	is_code(MPI_T_pvar_session_free(&freed), MPI_T_ERR_INVALID_SESSION,
		"once");
	is_code(MPI_T_pvar_session_free(&null), MPI_T_ERR_INVALID_SESSION,
		"the null session does not");
	is_code(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID, "nor none");
#define SESSION(call) is_code(call, MPI_T_ERR_INVALID_SESSION, #call)
	SESSION(MPI_T_pvar_handle_alloc(freed, 0, NULL, &pvar, NULL));
	SESSION(MPI_T_pvar_handle_free(freed, &handle));
	SESSION(MPI_T_pvar_read(freed, handle, &value));
	SESSION(MPI_T_pvar_write(null, handle, &value));
	SESSION(MPI_T_pvar_readreset(JUNK, handle, &value));
	SESSION(MPI_T_pvar_reset(freed, handle));
	SESSION(MPI_T_pvar_reset(freed, MPI_T_PVAR_ALL_HANDLES));
	SESSION(MPI_T_pvar_start(freed, handle));
	SESSION(MPI_T_pvar_start(freed, MPI_T_PVAR_ALL_HANDLES));
	SESSION(MPI_T_pvar_stop(freed, handle));
	SESSION(MPI_T_pvar_stop(freed, MPI_T_PVAR_ALL_HANDLES));
}

static void pvar_handles(void)
{
	MPI_T_pvar_handle freed, wrong[3] = { MPI_T_PVAR_HANDLE_NULL, JUNK };
	unsigned long long value;
	int bad = 0;

	freed = tool_handle(session, "core_sends");
	wrong[2] = freed;
	is_code(MPI_T_pvar_handle_free(session, &freed), MPI_SUCCESS,
		"a handle goes");
	all_ok(freed == MPI_T_PVAR_HANDLE_NULL, "and is the null handle");
	for (int i = 0; i < 3; i++) {
#define HANDLE(call) bad += (call) != MPI_T_ERR_INVALID_HANDLE
		HANDLE(MPI_T_pvar_handle_free(session, &wrong[i]));
		HANDLE(MPI_T_pvar_read(session, wrong[i], &value));
		HANDLE(MPI_T_pvar_write(session, wrong[i], &value));
		HANDLE(MPI_T_pvar_readreset(session, wrong[i], &value));
		HANDLE(MPI_T_pvar_reset(session, wrong[i]));
		HANDLE(MPI_T_pvar_start(session, wrong[i]));
		HANDLE(MPI_T_pvar_stop(session, wrong[i]));
	}
	HANDLE(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value));
	HANDLE(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value));
	HANDLE(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value));
	all_ok(bad == 0, "handles that are null, never were, or are freed");
	is_code(MPI_T_pvar_handle_alloc(session, 0, NULL, NULL, NULL),
		MPI_T_ERR_INVALID, "nowhere for a handle");
	is_code(MPI_T_pvar_handle_free(session, NULL), MPI_T_ERR_INVALID,
		"none to free");
	is_code(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID,
		"nowhere for a value");
	is_code(MPI_T_pvar_readreset(session, handle, NULL), MPI_T_ERR_INVALID,
		"nor when it is reset");
	is_code(MPI_T_pvar_write(session, handle, NULL), MPI_T_ERR_INVALID,
		"nor from");
	is_code(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP,
		"what is continuous is not started");
	is_code(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP,
		"nor stopped");
	is_code(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS,
		"but left out where all are meant");
	MPI_T_pvar_handle_free(session, &handle);
	handle = tool_handle(session, "core_balance_waste");
	is_code(MPI_T_pvar_write(session, handle, &value),
		MPI_T_ERR_PVAR_NO_WRITE, "a level is not written");
	is_code(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE,
		"nor reset");
	is_code(MPI_T_pvar_readreset(session, handle, &value),
		MPI_T_ERR_PVAR_NO_WRITE, "nor read and reset");
	is_code(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS,
		"but left out where all are meant");
	MPI_T_pvar_handle_free(session, &handle);
	handle = tool_handle(session, "core_unexpected_max");
	is_code(MPI_T_pvar_readreset(session, handle, &value),
		MPI_T_ERR_PVAR_NO_ATOMIC,
		"a watermark is not read and reset in one step");
	MPI_T_pvar_session_free(&session);
	is_code(MPI_T_pvar_read(session, handle, &value),
		MPI_T_ERR_INVALID_SESSION, "a session takes its handles along");
}

int main(int argc, char **argv)
{
	int provided = -1;

	mtap_init(&argc, &argv);
	not_initialized("between MPI_Init and MPI_Finalize");
	is_code(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS,
		"MPI_T_init_thread");
	all_ok(provided == MPI_THREAD_MULTIPLE,
	       "threads may do what they want");
	is_code(MPI_T_category_get_cvars(0, -1, &number), MPI_T_ERR_INVALID,
		"a negative length");
	is_code(MPI_T_category_get_cvars(0, 1, NULL), MPI_T_ERR_INVALID,
		"nowhere for indices");
	is_code(MPI_T_category_get_cvars(0, 0, NULL), MPI_SUCCESS,
		"which is right for none of them");
	indices();
	names();
	enums();
	cvar_handles();
	sessions();
	pvar_handles();
	is_code(MPI_T_init_thread(MPI_THREAD_MULTIPLE, NULL), MPI_SUCCESS,
		"it may be initialised twice");
	is_code(MPI_T_finalize(), MPI_SUCCESS, "finalised");
	is_code(MPI_T_cvar_get_num(&number), MPI_SUCCESS, "it is still there");
	is_code(MPI_T_finalize(), MPI_SUCCESS, "finalised as often");
	not_initialized("after MPI_T_finalize");
	return mtap_end();
}
