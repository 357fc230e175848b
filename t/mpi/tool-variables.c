/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: all variables can be listed and read without an error, in the way of
 * common tools (TAU: handles for all variables with a null object, never
 * started, values copied as 64 bits regardless of type; varlist: descriptions
 * first).
 */
#include <limits.h>

#include "tool.h"

#define POISON 0x5a5a5a5a5a5a5a5aull

static int cvars, pvars, categories;

/* MPI's rule for strings, with any buffer that holds the whole one. */
static bool text_rule(int (*ask)(int index, char *text, int *length), int index)
{
	char whole[2048], cut[8] = "#######";
	int length = sizeof(whole), again = 0, none = 5, four = 4;

	if (ask(index, whole, &length) != MPI_SUCCESS ||
	    length != (int)strlen(whole) + 1 || length < 2)
		return false;
	if (ask(index, cut, &again) != MPI_SUCCESS || again != length ||
	    cut[0] != '#')
		return false;
	if (ask(index, NULL, &none) != MPI_SUCCESS || none != length)
		return false;
	if (ask(index, cut, NULL) != MPI_SUCCESS || cut[0] != '#')
		return false;
	return ask(index, cut, &four) == MPI_SUCCESS && four == length &&
	       strncmp(cut, whole, 3) == 0 && strlen(cut) <= 3 && cut[4] == '#';
}

static int cvar_name(int i, char *text, int *length)
{
	return MPI_T_cvar_get_info(i, text, length, NULL, NULL, NULL, NULL,
				   NULL, NULL, NULL);
}

static int cvar_text(int i, char *text, int *length)
{
	return MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, text,
				   length, NULL, NULL);
}

static int pvar_name(int i, char *text, int *length)
{
	return MPI_T_pvar_get_info(i, text, length, NULL, NULL, NULL, NULL,
				   NULL, NULL, NULL, NULL, NULL, NULL);
}

static int pvar_text(int i, char *text, int *length)
{
	return MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, text,
				   length, NULL, NULL, NULL, NULL);
}

static int category_name(int i, char *text, int *length)
{
	return MPI_T_category_get_info(i, text, length, NULL, NULL, NULL, NULL,
				       NULL);
}

static int category_text(int i, char *text, int *length)
{
	return MPI_T_category_get_info(i, NULL, NULL, text, length, NULL, NULL,
				       NULL);
}

static void strings(void)
{
	bool held = true;

	for (int i = 0; i < cvars; i++)
		held = held && text_rule(cvar_name, i) &&
		       text_rule(cvar_text, i);
	all_ok(held, "strings of control variables");
	for (int i = 0; i < pvars; i++)
		held = held && text_rule(pvar_name, i) &&
		       text_rule(pvar_text, i);
	all_ok(held, "strings of performance variables");
	for (int i = 0; i < categories; i++)
		held = held && text_rule(category_name, i) &&
		       text_rule(category_text, i);
	all_ok(held, "strings of categories");
}

static bool verbosity_is(int verbosity)
{
	int whom = verbosity & ~7, much = verbosity & 7;

	return (whom == 8 || whom == 16 || whom == 32) &&
	       (much == 1 || much == 2 || much == 4);
}

/* The words of an enumeration, each with its number. */
static bool enumeration_is(MPI_T_enum what)
{
	char text[TOOL_NAME_MAX];
	int n = -1, length = sizeof(text), value;

	if (MPI_T_enum_get_info(what, &n, text, &length) || n < 2 || !text[0])
		return false;
	for (int i = 0; i < n; i++) {
		value = -1;
		length = sizeof(text);
		if (MPI_T_enum_get_item(what, i, &value, text, &length) ||
		    value != i || length != (int)strlen(text) + 1 ||
		    strchr(text, '|'))
			return false;
	}
	return true;
}

/* Reads a control variable and writes the same value again, as its scope
 * says. */
static bool cvar_access(MPI_T_cvar_handle cvar, MPI_Datatype type, int count,
			int scope)
{
	char text[4096];
	uint64_t value[2] = { POISON, POISON };
	void *buffer = type == MPI_CHAR ? (void *)text : (void *)value;
	int rc, bytes;

	MPI_Type_size(type, &bytes);
	if ((size_t)(count * bytes) > sizeof(text))
		return false;
	if (MPI_T_cvar_read(cvar, buffer))
		return false;
	if (type != MPI_CHAR && (memcmp((char *)value + bytes, &value[1],
					sizeof(value[0]) - (size_t)bytes) ||
				 value[1] != POISON))
		return false;
	rc = MPI_T_cvar_write(cvar, buffer);
	/* A process that is a rank has had a time before the start. */
	if (scope == MPI_T_SCOPE_ALL_EQ)
		return rc == MPI_SUCCESS || rc == MPI_T_ERR_CVAR_SET_NEVER;
	return rc == (scope == MPI_T_SCOPE_READONLY ? MPI_T_ERR_CVAR_SET_NEVER :
						      MPI_SUCCESS);
}

static bool cvar_is(int i)
{
	char name[TOOL_NAME_MAX];
	int length = sizeof(name), verbosity, bind, scope, count = 0, index;
	MPI_Datatype type;
	MPI_T_enum what;
	MPI_T_cvar_handle cvar;
	bool held;

	if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &what,
				NULL, NULL, &bind, &scope))
		return false;
	held = verbosity_is(verbosity) && scope >= MPI_T_SCOPE_CONSTANT &&
	       scope <= MPI_T_SCOPE_ALL_EQ;
	if (type == MPI_INT)
		held = held && enumeration_is(what);
	else
		held = held && what == MPI_T_ENUM_NULL &&
		       (type == MPI_UNSIGNED_LONG_LONG || type == MPI_COUNT ||
			type == MPI_CHAR);
	held = held && MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS &&
	       index == i;
	/* Without the required object there is an error. */
	if (bind == MPI_T_BIND_MPI_COMM)
		return held &&
		       MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count) ==
			       MPI_T_ERR_INVALID_HANDLE;
	if (bind != MPI_T_BIND_NO_OBJECT ||
	    MPI_T_cvar_handle_alloc(i, NULL, &cvar, &count))
		return false;
	held = held && (type == MPI_CHAR || count == 1) &&
	       cvar_access(cvar, type, count, scope);
	return MPI_T_cvar_handle_free(&cvar) == MPI_SUCCESS && held;
}

static void control(void)
{
	int bad = -1;

	for (int i = 0; i < cvars && bad < 0; i++) {
		if (!cvar_is(i))
			bad = i;
	}
	all_ok(bad < 0, "%d control variables are told, read and written",
	       cvars);
	if (bad >= 0)
		diag("rank %d: control variable %d", rank, bad);
}

/* Reads count values and sees that not one byte more is written. */
static bool pvar_access(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
			const struct tool_pvar *pvar, int count)
{
	uint64_t *values = malloc(((size_t)count + 1) * sizeof(*values));
	bool held;
	int bytes;

	MPI_Type_size(pvar->type, &bytes);
	for (int i = 0; i <= count; i++)
		values[i] = POISON;
	held = MPI_T_pvar_read(session, handle, values) == MPI_SUCCESS &&
	       values[count] == POISON &&
	       memcmp((char *)values + count * bytes, &values[count],
		      sizeof(*values)) == 0;
	free(values);
	return held;
}

static bool pvar_is(MPI_T_pvar_session session, int i)
{
	MPI_T_pvar_handle handle;
	struct tool_pvar pvar;
	int count = 0, index;
	bool held;

	if (tool_pvar(&pvar, i))
		return false;
	held = verbosity_is(pvar.verbosity) && pvar.continuous == 1 &&
	       pvar.class >= MPI_T_PVAR_CLASS_STATE &&
	       pvar.class <= MPI_T_PVAR_CLASS_GENERIC &&
	       pvar.type == (pvar.class == MPI_T_PVAR_CLASS_STATE ?
				     MPI_INT :
			     pvar.class == MPI_T_PVAR_CLASS_PERCENTAGE ?
				     MPI_DOUBLE :
				     MPI_UNSIGNED_LONG_LONG);
	if (pvar.enumeration != MPI_T_ENUM_NULL)
		held = held && pvar.type == MPI_INT &&
		       enumeration_is(pvar.enumeration);
	held = held &&
	       MPI_T_pvar_get_index(pvar.name, pvar.class, &index) ==
		       MPI_SUCCESS &&
	       index == i;
	/* Without the required object there is an error. */
	if (pvar.bind != MPI_T_BIND_NO_OBJECT)
		return held && MPI_T_pvar_handle_alloc(session, i, NULL,
						       &handle, &count) ==
				       MPI_T_ERR_INVALID_HANDLE;
	if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count))
		return false;
	held = held && count >= 1 &&
	       pvar_access(session, handle, &pvar, count) &&
	       MPI_T_pvar_reset(session, handle) ==
		       (pvar.readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
	return MPI_T_pvar_handle_free(session, &handle) == MPI_SUCCESS && held;
}

static void performance(void)
{
	MPI_T_pvar_session session;
	struct tool_pvar array, total;
	int bad = -1;

	MPI_T_pvar_session_create(&session);
	for (int i = 0; i < pvars && bad < 0; i++) {
		if (!pvar_is(session, i))
			bad = i;
	}
	all_ok(bad < 0, "%d performance variables are told and read", pvars);
	if (bad >= 0)
		diag("rank %d: performance variable %d", rank, bad);
	tool_pvar(&array, tool_find("sched_switches"));
	tool_pvar(&total, array.index + 1);
	all_ok(strcmp(total.name, "sched_switches_total") == 0 &&
		       total.class == array.class,
	       "behind the array of the workers stands its total");
	MPI_T_pvar_session_free(&session);
}

/* All handles of a session at once, as TAU has them. */
static void all_at_once(void)
{
	MPI_T_pvar_handle *handles = calloc((size_t)pvars, sizeof(*handles));
	int *counts = calloc((size_t)pvars, sizeof(*counts)), most = 0;
	MPI_T_pvar_session session;
	uint64_t *values;
	bool held = true;

	MPI_T_pvar_session_create(&session);
	for (int i = 0; i < pvars; i++) {
		struct tool_pvar pvar;

		tool_pvar(&pvar, i);
		if (MPI_T_pvar_handle_alloc(session, i, NULL, &handles[i],
					    &counts[i]))
			held = held && pvar.bind != MPI_T_BIND_NO_OBJECT &&
			       handles[i] == MPI_T_PVAR_HANDLE_NULL;
		most = counts[i] > most ? counts[i] : most;
	}
	all_ok(held, "a session has handles on all that need no object");
	values = calloc((size_t)most, sizeof(*values));
	for (int round = 0; round < 3; round++) {
		everybody();
		for (int i = 0; i < pvars; i++)
			held = held &&
			       MPI_T_pvar_read(session, handles[i], values) ==
				       (handles[i] ? MPI_SUCCESS :
						     MPI_T_ERR_INVALID_HANDLE);
	}
	all_ok(held, "all are read again and again");
	all_ok(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) ==
			       MPI_SUCCESS &&
		       MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) ==
			       MPI_SUCCESS &&
		       MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES) ==
			       MPI_SUCCESS,
	       "all are reset, started and stopped at once");
	MPI_T_pvar_session_free(&session);
	free(values);
	free(counts);
	free(handles);
}

/* Marks the members of a category; false: one was marked before. */
static bool members_mark(int (*ask)(int, int, int *), int i, int n, char *marks)
{
	int *list = malloc(((size_t)n + 1) * sizeof(*list)), one = INT_MIN;
	bool held = true;

	for (int k = 0; k <= n; k++)
		list[k] = INT_MIN;
	held = ask(i, n + 1, list) == MPI_SUCCESS && list[n] == INT_MIN;
	for (int k = 0; k < n; k++) {
		held = held && list[k] >= 0 && !marks[list[k]];
		marks[list[k]] = 1;
	}
	held = held && ask(i, 0, NULL) == MPI_SUCCESS;
	if (n > 0)
		held = held && ask(i, 1, &one) == MPI_SUCCESS && one == list[0];
	free(list);
	return held;
}

static bool all_marked(const char *marks, int n)
{
	for (int i = 0; i < n; i++) {
		if (!marks[i])
			return false;
	}
	return true;
}

static void tree(void)
{
	char *c = calloc(1, (size_t)cvars), *p = calloc(1, (size_t)pvars);
	char *t = calloc(1, (size_t)categories), name[TOOL_NAME_MAX];
	bool held = true;
	int roots = 0, stamp = -1, again = -2, events = -1;

	for (int i = 0; i < categories; i++) {
		int nc, np, nt, length = sizeof(name), index = -1;

		held = held &&
		       MPI_T_category_get_info(i, name, &length, NULL, NULL,
					       &nc, &np, &nt) == MPI_SUCCESS;
		held = held && members_mark(MPI_T_category_get_cvars, i, nc, c);
		held = held && members_mark(MPI_T_category_get_pvars, i, np, p);
		held = held &&
		       members_mark(MPI_T_category_get_categories, i, nt, t);
		held = held &&
		       MPI_T_category_get_index(name, &index) == MPI_SUCCESS &&
		       index == i;
		held = held &&
		       MPI_T_category_get_num_events(i, &events) ==
			       MPI_SUCCESS &&
		       events >= 0;
	}
	all_ok(held, "%d categories tell their members, each once", categories);
	all_ok(all_marked(c, cvars) && all_marked(p, pvars),
	       "every variable is in one");
	for (int i = 0; i < categories; i++)
		roots += !t[i];
	all_ok(roots > 1 && roots < categories, "some are in others");
	MPI_T_category_changed(&stamp);
	MPI_T_category_changed(&again);
	all_ok(stamp == again, "nothing changes by itself");
	free(c);
	free(p);
	free(t);
}

/* Other ranks of the process read the values that are written. */
static void writes(void)
{
	unsigned long long value = 77, old = 0;
	MPI_T_cvar_handle cvar;
	char text[32] = "";
	int index, length = sizeof(text), number = -1, mode;
	MPI_T_enum what;

	MPI_T_cvar_get_index("sched_spin_us", &index);
	MPI_T_cvar_handle_alloc(index, NULL, &cvar, NULL);
	everybody();
	MPI_T_cvar_read(cvar, &old);
	everybody();
	all_ok(MPI_T_cvar_write(cvar, &value) == MPI_SUCCESS, "a number");
	value = 0;
	MPI_T_cvar_read(cvar, &value);
	all_ok(value == 77, "is what was written");
	all_ok(MPI_T_cvar_write(cvar, &old) == MPI_SUCCESS, "and goes back");
	MPI_T_cvar_handle_free(&cvar);
	MPI_T_cvar_get_index("core_rndv_protocol", &index);
	MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &what, NULL, NULL,
			    NULL, NULL);
	MPI_T_cvar_handle_alloc(index, NULL, &cvar, NULL);
	MPI_T_enum_get_item(what, 2, &number, text, &length);
	all_ok(strcmp(text, "write") == 0, "a word has a number");
	MPI_T_cvar_read(cvar, &mode);
	everybody();
	all_ok(MPI_T_cvar_write(cvar, &number) == MPI_SUCCESS,
	       "which is written");
	MPI_T_cvar_write(cvar, &mode);
	MPI_T_cvar_handle_free(&cvar);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &pvars);
	MPI_T_cvar_get_num(&cvars);
	MPI_T_pvar_get_num(&pvars);
	MPI_T_category_get_num(&categories);
	all_ok(cvars > 50 && pvars > 60 && categories > 10,
	       "there are variables and categories");
	strings();
	control();
	performance();
	all_at_once();
	tree();
	writes();
	MPI_T_finalize();
	return mtap_end();
}
