/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h: variables by number, and sessions.  Arguments are checked here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "core/rank/cvar.h"
#include "core/rank/vars.h"
#include "introspect/vars/bulk.h"
#include "introspect/vars/category.h"
#include "base/nearest.h"
#include "introspect/vars/session.h"
#include "sched/worker.h"
#include "vmpi.h"

VM_STATIC_ASSERT((int)VMPI_OF_RANK == (int)VM_PVAR_RANK &&
			 (int)VMPI_OF_WORKER == (int)VM_PVAR_WORKER &&
			 (int)VMPI_OF_NODE == (int)VM_PVAR_NODE &&
			 (int)VMPI_OF_CHAN == (int)VM_PVAR_CHAN,
		 "owners are numbered alike");

static bool is_control(int number)
{
	return number >= VMPI_CONTROL;
}

int vmpi_var_count(int kind)
{
	vm_core_vars_add();
	if (kind == VMPI_CONTROL)
		return vm_cvar_count();
	return kind == VMPI_PERFORMANCE ? vm_pvar_count() : -VMPI_EINVAL;
}

int vmpi_var_find(const char *name)
{
	int number;

	if (!name)
		return -VMPI_EINVAL;
	vm_core_vars_add();
	number = vm_pvar_find(name);
	if (number >= 0)
		return number;
	number = vm_cvar_find(name);
	return number < 0 ? -VMPI_ENOENT : VMPI_CONTROL + number;
}

static const char *category_name(enum vm_category category)
{
	struct vm_category_view view;

	return vm_category_info((int)category, &view) ? view.name : "";
}

static bool performance_info(int number, vmpi_var *info)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;

	if (!vm_pvar_info(number, &view, name))
		return false;
	*info = (vmpi_var){
		.number = number,
		.kind = VMPI_PERFORMANCE,
		.of = (int)view.row->of,
		.words = (int)view.row->words,
		.what = vm_pvar_class_name(view.row->class_),
		.unit = view.row->unit,
		.category = category_name(view.row->category),
		.text = view.row->text,
	};
	memcpy(info->name, name, sizeof(name));
	return true;
}

static bool control_info(int number, vmpi_var *info)
{
	char name[VM_NAME_MAX];
	struct vm_cvar_view view;

	if (!vm_cvar_info(number - VMPI_CONTROL, &view, name))
		return false;
	*info = (vmpi_var){
		.number = number,
		.kind = VMPI_CONTROL,
		.of = VMPI_OF_NODE,
		.words = view.row->type != VM_VAR_STRING,
		.settable = view.row->when != VM_VAR_STARTUP || !vm_node,
		.min = view.row->min,
		.max = view.row->max,
		.what = vm_var_type_name(view.row->type),
		.unit = view.row->unit,
		.category = category_name(view.row->category),
		.text = view.row->text,
	};
	memcpy(info->name, name, sizeof(name));
	return true;
}

VM_STATIC_ASSERT(sizeof(((vmpi_var *)0)->name) == VM_NAME_MAX,
		 "every name fits");

int vmpi_var_info(int number, vmpi_var *info)
{
	bool found;

	if (!info)
		return -VMPI_EINVAL;
	vm_core_vars_add();
	found = is_control(number) ? control_info(number, info) :
				     performance_info(number, info);
	return found ? 0 : -VMPI_ENOENT;
}

/* The value of a control variable for that rank; -1: of the process. */
static int control_read(int number, uint64_t *values, int rank)
{
	int64_t value;
	int rc = vm_cvar_load_rank(&value, number - VMPI_CONTROL, rank);

	if (!rc)
		*values = (uint64_t)value;
	return rc;
}

/* Reads block i, if blocks of that kind are of `of`. */
static int block_read(int number, uint64_t *values, enum vm_pvar_of of, int i)
{
	enum vm_pvar_of is;
	int rc = vm_pvar_owner(&is, number);

	if (rc)
		return rc;
	if (is != of)
		return -VMPI_EINVAL;
	if (!vm_node)
		return -VMPI_ESTATE;
	return i < 0 ? -VMPI_ERANK : vm_pvar_value(values, number, (unsigned)i);
}

int vmpi_var_read(int number, uint64_t *values)
{
	const struct vm_rank *rank = vm_rank_self();
	enum vm_pvar_of of;
	int rc;

	if (!values)
		return -VMPI_EINVAL;
	if (is_control(number))
		return control_read(number, values, rank ? rank->index : -1);
	rc = vm_pvar_owner(&of, number);
	if (rc)
		return rc;
	if (of == VM_PVAR_NODE)
		return block_read(number, values, of, 0);
	if (of == VM_PVAR_RANK)
		return rank ? block_read(number, values, of, rank->index) :
			      -VMPI_ENORANK;
	if (of == VM_PVAR_CHAN)
		return -VMPI_EINVAL;
	if (!vm_self || vm_self->worker->index < 0)
		return -VMPI_ENORANK;
	return block_read(number, values, of, vm_self->worker->index);
}

int vmpi_var_read_rank(int number, uint64_t *values, int rank)
{
	if (!values)
		return -VMPI_EINVAL;
	if (!is_control(number))
		return block_read(number, values, VM_PVAR_RANK, rank);
	if (!vm_node)
		return -VMPI_ESTATE;
	return rank < 0 ? -VMPI_ERANK : control_read(number, values, rank);
}

int vmpi_var_read_worker(int number, uint64_t *values, int worker)
{
	return values ? block_read(number, values, VM_PVAR_WORKER, worker) :
			-VMPI_EINVAL;
}

int vmpi_var_total(int number, uint64_t *values)
{
	enum vm_pvar_of of;

	if (!values)
		return -VMPI_EINVAL;
	if (is_control(number))
		return control_read(number, values, -1);
	if (!vm_pvar_owner(&of, number) && of == VM_PVAR_CHAN)
		return -VMPI_EINVAL;
	return vm_pvar_total(values, number);
}

int vmpi_var_write(int number, int64_t value)
{
	enum vm_pvar_of of;

	vm_core_vars_add();
	if (is_control(number))
		return vm_cvar_store(number - VMPI_CONTROL, value,
				     VM_SOURCE_RUNTIME);
	return vm_pvar_owner(&of, number) ? -VMPI_ENOENT : -VMPI_ESTATE;
}

int vmpi_var_write_rank(int number, int64_t value, int rank)
{
	enum vm_pvar_of of;

	if (!is_control(number))
		return vm_pvar_owner(&of, number) ? -VMPI_ENOENT : -VMPI_ESTATE;
	if (!vm_node)
		return -VMPI_ESTATE;
	return vm_cvar_store_rank(number - VMPI_CONTROL, rank, value);
}

struct vmpi_session {
	struct vm_bulk bulk;
	int rank;
	bool *grows;	/* by word: deltas are differences */
	uint64_t *base; /* what was at the last delta */
	uint64_t *now;
	/* Watermarks that begin with the session; by their first word. */
	struct vm_session *marks;
	struct mark {
		struct vm_handle *handle;
		unsigned word;
	} * mark;
	unsigned mark_count;
};

/* Puts those in the place of what they are since the process began. */
static void marks_read(const vmpi_session *session, uint64_t *values)
{
	for (unsigned i = 0; i < session->mark_count; i++)
		vm_handle_read(session->mark[i].handle,
			       values + session->mark[i].word);
}

static bool is_mark(int number)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;

	return vm_pvar_info(number, &view, name) &&
	       (view.row->class_ == VM_PVAR_HIGHWATERMARK ||
		view.row->class_ == VM_PVAR_LOWWATERMARK) &&
	       vm_pvar_resets(number);
}

/* Of a session that is filled but for them: 0 or -VMPI_ENOMEM. */
static int marks_make(vmpi_session *session)
{
	const int *numbers = session->bulk.numbers;
	int rc =
		vm_session_new(&session->marks, session->rank == VM_BULK_TOTAL ?
							VM_VIEW_PROCESS :
							session->rank);

	session->mark = calloc(session->bulk.words + 1, sizeof(*session->mark));
	if (!session->mark)
		return -VMPI_ENOMEM;
	for (unsigned w = 0; w < session->bulk.words && !rc; w++) {
		struct vm_handle_want want = { .number = numbers[w] };
		struct mark *mark = &session->mark[session->mark_count];

		if ((w && numbers[w - 1] == numbers[w]) || !is_mark(numbers[w]))
			continue;
		mark->word = w;
		rc = vm_handle_new(&mark->handle, session->marks, &want);
		session->mark_count += !rc;
	}
	return rc;
}

static int names_check(const char *const *names, int n)
{
	if (n < 0 || (n && !names))
		return -VMPI_EINVAL;
	for (int i = 0; i < n; i++)
		if (!names[i])
			return -VMPI_EINVAL;
	return 0;
}

static int session_fill(vmpi_session *session)
{
	size_t words = session->bulk.words + 1;
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;
	int rc;

	session->grows = calloc(words, sizeof(*session->grows));
	session->base = calloc(words, sizeof(*session->base));
	session->now = calloc(words, sizeof(*session->now));
	if (!session->grows || !session->base || !session->now)
		return -VMPI_ENOMEM;
	for (unsigned w = 0; w < session->bulk.words; w++)
		session->grows[w] =
			vm_pvar_info(session->bulk.numbers[w], &view, name) &&
			vm_pvar_grows(view.row);
	rc = vm_bulk_read(&session->bulk, session->base, session->rank);
	return rc ? rc : marks_make(session);
}

int vmpi_session_new(vmpi_session **out, int rank, const char *const *names,
		     int n)
{
	vmpi_session *session;
	const char *bad;
	int rc = out && (rank >= 0 || rank == VMPI_ANY) ?
			 names_check(names, n) :
			 -VMPI_EINVAL;

	if (rc)
		return rc;
	vm_core_vars_add();
	session = calloc(1, sizeof(*session));
	if (!session)
		return -VMPI_ENOMEM;
	session->rank = rank == VMPI_ANY ? VM_BULK_TOTAL : rank;
	rc = vm_bulk_init(&session->bulk, names, (unsigned)n, NULL, &bad);
	if (!rc)
		rc = session_fill(session);
	if (rc)
		vmpi_session_free(&session);
	else
		*out = session;
	return rc;
}

void vmpi_session_free(vmpi_session **session)
{
	if (!session || !*session)
		return;
	if ((*session)->marks)
		vm_session_free((*session)->marks);
	free((*session)->mark);
	vm_bulk_fini(&(*session)->bulk);
	free((*session)->grows);
	free((*session)->base);
	free((*session)->now);
	free(*session);
	*session = NULL;
}

int vmpi_session_words(const vmpi_session *session)
{
	return session ? (int)session->bulk.words : -VMPI_EINVAL;
}

int vmpi_session_var(const vmpi_session *session, int i)
{
	if (!session || i < 0 || i >= (int)session->bulk.words)
		return -VMPI_EINVAL;
	return session->bulk.numbers[i];
}

/* As the session sees them. */
static int session_read(const vmpi_session *session, uint64_t *values)
{
	int rc = vm_bulk_read(&session->bulk, values, session->rank);

	if (!rc)
		marks_read(session, values);
	return rc;
}

int vmpi_session_read(const vmpi_session *session, uint64_t *values)
{
	return session && values ? session_read(session, values) : -VMPI_EINVAL;
}

int vmpi_session_read_rank(const vmpi_session *session, uint64_t *values,
			   int rank)
{
	if (!session || !values || (rank < 0 && rank != VMPI_ANY))
		return -VMPI_EINVAL;
	return vm_bulk_read(&session->bulk, values, rank);
}

int vmpi_session_delta(vmpi_session *session, uint64_t *values)
{
	int rc;

	if (!session || !values)
		return -VMPI_EINVAL;
	rc = session_read(session, session->now);
	if (rc)
		return rc;
	for (unsigned w = 0; w < session->bulk.words; w++)
		values[w] = session->now[w] -
			    (session->grows[w] ? session->base[w] : 0);
	memcpy(session->base, session->now,
	       session->bulk.words * sizeof(*session->base));
	return 0;
}
