/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests are parsed word by word; the rest of the line is the value.
 */
#include "introspect/export/control.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "introspect/vars/value.h"

#define NODE (-1) /* instead of a rank */

struct request {
	char *answer;
	const char *rest; /* of the line */
	int rank;
	const struct vm_control_ranks *ranks;
	char name[VM_NAME_MAX];
	int number; /* of the variable */
	const struct vm_cvar *row;
};

static void answer(const struct request *request, const char *format, ...)
	VM_PRINTF(2, 3);

static void answer(const struct request *request, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(request->answer, VM_CONTROL_LINE_MAX, format, args);
	va_end(args);
}

/* Shortens text of strangers for an answer: one line of bounded length. */
static void shorten(char out[64], const char *text)
{
	size_t i = 0;

	for (; text[i] && i < 60; i++)
		out[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	snprintf(out + i, 4, "%s", text[i] ? "..." : "");
}

/* The next word of the line, cut off at the end of the array; its real length,
 * 0: there is none. */
static size_t word_take(struct request *request, char word[VM_NAME_MAX])
{
	const char *begin = request->rest + strspn(request->rest, " \t");
	size_t length = strcspn(begin, " \t");

	snprintf(word, VM_NAME_MAX, "%.*s",
		 (int)(length < VM_NAME_MAX ? length : VM_NAME_MAX - 1), begin);
	request->rest = begin + length;
	return length;
}

/* Whether the request names an existing variable; otherwise it is answered. */
static bool name_take(struct request *request)
{
	struct vm_nearest nearest;
	struct vm_cvar_view view;
	char known[VM_NAME_MAX], shown[64];
	const char *meant;

	if (!word_take(request, request->name)) {
		answer(request, "error the name of a control variable is "
				"missing; vmpi_info --cvars lists them");
		return false;
	}
	request->number = vm_cvar_find(request->name);
	if (vm_cvar_info(request->number, &view, known)) {
		request->row = view.row;
		return true;
	}
	vm_nearest_init(&nearest, request->name);
	for (int i = 0; vm_cvar_info(i, &view, known); i++)
		vm_nearest_offer(&nearest, known);
	meant = vm_nearest_name(&nearest);
	shorten(shown, request->name);
	answer(request, "error no control variable is called '%s'; %s%s%s",
	       shown, meant ? "did you mean " : "vmpi_info --cvars lists them",
	       meant ? meant : "", meant ? "?" : "");
	return false;
}

static void failed(const struct request *request, int error)
{
	if (error == -VMPI_ERANK)
		answer(request, "error rank %d is not in this process",
		       request->rank);
	else if (error == -VMPI_EINVAL && request->rank != NODE)
		answer(request,
		       "error %s has one value for all ranks of a process; set "
		       "it without a rank",
		       request->name);
	else
		answer(request, "error %s: %s", request->name,
		       vmpi_strerror(error));
}

static void value_get(const struct request *request)
{
	char text[VM_VAR_TEXT_MAX], number[VM_NUMBER_MAX];
	int64_t value;
	int rc;

	if (request->rank == NODE) {
		rc = vm_cvar_get(request->name, text, sizeof(text));
	} else if (request->row->type == VM_VAR_STRING) {
		rc = -VMPI_EINVAL;
	} else {
		rc = request->ranks->load(&value, request->rank,
					  request->number);
		if (!rc) {
			vm_value_format(number, value);
			snprintf(text, sizeof(text), "%s", number);
		}
	}
	if (rc)
		failed(request, rc);
	else
		answer(request, "ok %s", text);
}

/* Texts are kept by their name: nothing of them is logged, as they have been
 * checked, unless too many have been set. */
static int value_store(const struct request *request, const char *text,
		       int64_t value)
{
	if (request->rank != NODE)
		return request->row->type == VM_VAR_STRING ?
			       -VMPI_EINVAL :
			       request->ranks->store(request->rank,
						     request->number, value);
	if (request->row->type == VM_VAR_STRING)
		return vm_cvar_set(request->name, text, VM_SOURCE_RUNTIME);
	return vm_cvar_store(request->number, value, VM_SOURCE_RUNTIME);
}

static void value_set(const struct request *request)
{
	const char *text = request->rest + strspn(request->rest, " \t");
	char why[VM_VALUE_WHY_MAX], shown[64];
	int64_t value = 0;
	int rc;

	shorten(shown, text);
	if (request->row->when == VM_VAR_STARTUP) {
		answer(request,
		       "error %s can only be set before the runtime starts",
		       request->name);
		return;
	}
	if (!text[0] && request->row->type != VM_VAR_STRING) {
		answer(request, "error the value of %s is missing",
		       request->name);
		return;
	}
	if (vm_value_parse(request->row, &value, why, text)) {
		answer(request, "error %s = %s: %s", request->name, shown, why);
		return;
	}
	rc = value_store(request, text, value);
	if (rc)
		failed(request, rc);
	else
		answer(request, "ok");
}

static void ping(const struct request *request)
{
	answer(request, "ok vmpi %s", vmpi_version());
}

/* Whether "R" of "rank R ..." is a number, and ranks can be asked; otherwise it
 * is answered. */
static bool rank_take(struct request *request)
{
	char word[VM_NAME_MAX], shown[64];
	size_t length = word_take(request, word);

	shorten(shown, word);
	if (!length || length > 9 || strspn(word, "0123456789") != length) {
		answer(request,
		       "error rank '%s': the number of a rank is needed",
		       shown);
		return false;
	}
	request->rank = (int)strtol(word, NULL, 10);
	if (!request->ranks)
		answer(request,
		       "error single ranks have no values of their own in this process");
	return request->ranks != NULL;
}

/* The verbs; all but those without a variable take a name. */
static const struct verb {
	const char *name;
	bool variable, last;
	void (*run)(const struct request *request);
} verbs[] = {
	{ "ping", false, true, ping },
	{ "get", true, true, value_get },
	{ "set", true, false, value_set },
};

static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

static void request_run(struct request *request)
{
	char word[VM_NAME_MAX], shown[64];
	const struct verb *verb;

	word_take(request, word);
	if (!strcmp(word, "rank")) {
		if (!rank_take(request))
			return;
		word_take(request, word);
	}
	verb = verb_find(word);
	shorten(shown, word);
	if (!verb)
		answer(request,
		       "error '%s' is not a request; requests are ping, get "
		       "NAME, set NAME VALUE, and rank R before get and set",
		       shown);
	else if (verb->variable && !name_take(request))
		return;
	else if (verb->last && request->rest[0])
		answer(request, "error the request has too many arguments");
	else
		verb->run(request);
}

void vm_control_answer(char answer_[VM_CONTROL_LINE_MAX], const char *line,
		       const struct vm_control_ranks *ranks)
{
	struct request request = { .answer = answer_,
				   .rank = NODE,
				   .ranks = ranks };
	char copy[VM_CONTROL_LINE_MAX];
	size_t length = strlen(line);

	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	if (length >= sizeof(copy)) {
		answer(&request, "error a request has at most %zu bytes",
		       sizeof(copy) - 1);
		return;
	}
	memcpy(copy, line, length);
	copy[length] = '\0';
	request.rest = copy;
	request_run(&request);
}

void vm_control_path(char *socket_path, size_t bytes, const char *share_path)
{
	snprintf(socket_path, bytes, "%s" VM_CONTROL_SUFFIX, share_path);
}
