/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people: one value per line, aligned; with --all all values, so that
 * two outputs can be compared line by line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "introspect/vars/sizes.h"
#include "print.h"
#include "report/amount.h"
#include "report/live/total.h"

void age_format(char text[32], double seconds)
{
	unsigned long s = seconds > 0 ? (unsigned long)seconds : 0;

	if (s < 120)
		snprintf(text, 32, "%lu s", s);
	else if (s < 7200)
		snprintf(text, 32, "%lu min", s / 60);
	else
		snprintf(text, 32, "%lu h %lu min", s / 3600, s / 60 % 60);
}

static void job_line(const struct vm_live_job *job, const char *state)
{
	const struct vm_export_head *head = vm_live_job_head(job);
	char age[32];

	age_format(age, vm_live_job_age(job));
	printf("%-12s %7u %5u %12s %-8s %s\n", job->name, head->ranks,
	       head->nodes, age, state, head->program);
}

void list_text(const struct vm_live_jobs *jobs)
{
	/* The states, in the order in which people ask for them. */
	static const char *const states[] = { "running", "stopped", "dead" };

	printf("%-12s %7s %5s %12s %-8s %s\n", "JOB", "RANKS", "NODES", "AGE",
	       "STATE", "PROGRAM");
	for (size_t s = 0; s < sizeof(states) / sizeof(*states); s++)
		for (unsigned i = 0; i < jobs->count; i++)
			if (!strcmp(vm_live_job_state(&jobs->list[i]),
				    states[s]))
				job_line(&jobs->list[i], states[s]);
}

static void head_text(const struct sample *sample)
{
	const struct vm_live_job *job = sample->job;
	const struct vm_export_head *head = vm_live_job_head(job);
	char age[32];

	age_format(age, vm_live_job_age(job));
	printf("job %s: %s, %u rank%s in %u process%s, %s, %s old\n", job->name,
	       head->program, head->ranks, head->ranks == 1 ? "" : "s",
	       head->nodes, head->nodes == 1 ? "" : "es", sample->state, age);
	if (job->count < head->nodes)
		printf("  of which %u %s on this host\n", job->count,
		       job->count == 1 ? "is" : "are");
}

/* Whether a value says something: of moments, which differences are made of, only
 * --all shows any. */
static bool is_shown(const struct choice *choice, const struct pvar *pvar,
		     uint64_t value)
{
	const char *end = strstr(pvar->view.name, "_since_ns");

	if (choice->all)
		return true;
	/* A pattern asks for many, a name for this one. */
	for (unsigned i = 0; i < choice->name_count; i++)
		if (!strcmp(choice->names[i], pvar->view.name))
			return true;
	if (!strcmp(pvar->view.class_, "low-water mark") && value == UINT64_MAX)
		return false;
	return value && !(end && !strcmp(end, "_since_ns"));
}

/* The value, and its unit if that is not in it. */
static const char *value_words(char text[VM_AMOUNT_MAX],
			       const struct choice *choice,
			       const struct pvar *pvar, uint64_t value)
{
	const char *unit = pvar->view.unit;

	if (!strcmp(pvar->view.class_, "state")) {
		if (!vm_live_word(text, unit, value))
			snprintf(text, VM_AMOUNT_MAX, "%" PRIu64, value);
		return "";
	}
	if (!strcmp(pvar->view.class_, "low-water mark") &&
	    value == UINT64_MAX) {
		snprintf(text, VM_AMOUNT_MAX, "-");
		return unit;
	}
	if (choice->all || (strcmp(unit, "bytes") && strcmp(unit, "ns"))) {
		snprintf(text, VM_AMOUNT_MAX, "%" PRIu64, value);
		return unit;
	}
	vm_amount(text, value, unit);
	return "";
}

/* "12.5/s", "3.4 MiB/s"; of times the part of a second. */
static void rate_text(const struct choice *choice, const struct pvar *pvar,
		      double rate)
{
	char text[VM_AMOUNT_MAX];

	if (choice->all ||
	    (strcmp(pvar->view.unit, "bytes") && strcmp(pvar->view.unit, "ns")))
		snprintf(text, sizeof(text), "%.1f", rate);
	else
		vm_amount(text, (uint64_t)rate, pvar->view.unit);
	printf(" %14s/s", text);
}

/* The name, and which of several values; of counts by size up to which. */
static void name_text(char name[160], const struct choice *choice,
		      const struct pvar *pvar, unsigned word)
{
	char bytes[VM_AMOUNT_MAX];

	if (pvar->view.words <= 1)
		snprintf(name, 160, "%.100s", pvar->view.name);
	else if (choice->all || pvar->view.words != VM_SIZE_BINS)
		snprintf(name, 160, "%.100s[%u]", pvar->view.name, word);
	else if (word + 1 == VM_SIZE_BINS)
		snprintf(name, 160, "%.100s, longer", pvar->view.name);
	else
		snprintf(name, 160, "%.100s, to %s", pvar->view.name,
			 vm_amount_bytes(bytes, (double)vm_size_bound(word)));
}

/* "1 rank": units are plurals. */
static void unit_text(const char *unit, const char *value)
{
	size_t length = strlen(unit);

	if (!strcmp(value, "1") && length > 3 &&
	    !strcmp(unit + length - 3, "hes"))
		length -= 2;
	else if (!strcmp(value, "1") && length > 1 && unit[length - 1] == 's')
		length--;
	printf("%s%.*s", length ? " " : "", (int)length, unit);
}

static void value_text(const struct choice *choice, const struct pvar *pvar,
		       const char *whose, unsigned word, uint64_t value,
		       double rate)
{
	bool mark = !strcmp(pvar->view.class_, "high-water mark") ||
		    !strcmp(pvar->view.class_, "low-water mark");
	char name[160], text[VM_AMOUNT_MAX];
	const char *unit;

	if (!is_shown(choice, pvar, value))
		return;
	name_text(name, choice, pvar, word);
	unit = value_words(text, choice, pvar, value);
	printf("%-32s %-10s %18s", name, whose, text);
	if (rate >= 0)
		rate_text(choice, pvar, rate);
	unit_text(unit, text);
	/* Of marks there is no sum. */
	if (mark && !whose[0] && !choice->all && strcmp(pvar->view.of, "job"))
		printf(", of one %s", pvar->view.of);
	putchar('\n');
}

/* Prints how many ranks are in each state. */
static void states_text(const struct sample *sample, const struct pvar *pvar)
{
	char word[32], whose[48];

	for (uint64_t s = 0; vm_live_word(word, pvar->view.unit, s); s++) {
		uint64_t value;
		unsigned count = 0;

		for (unsigned f = 0; f < sample->job->count; f++) {
			const struct vm_live_file *file = sample->job->files[f];
			unsigned ranks = pvar_blocks(sample, pvar, file);

			for (unsigned r = 0; r < ranks; r++)
				count += !pvar_value(sample, pvar, file, &value,
						     r, 0) &&
					 value == s;
		}
		snprintf(whose, sizeof(whose), "%s", word);
		if (count)
			printf("%-32s %-10s %18u rank%s\n", pvar->view.name,
			       whose, count, count == 1 ? "" : "s");
	}
}

static void each_text(const struct sample *sample, const struct choice *choice,
		      const struct pvar *pvar, const char *kind, long only)
{
	for (unsigned f = 0; f < sample->job->count; f++) {
		const struct vm_live_file *file = sample->job->files[f];
		unsigned blocks = pvar_blocks(sample, pvar, file);
		bool nodes = sample->job->count > 1 && !pvar->view.ranked;
		uint64_t value;
		char whose[48];

		for (unsigned b = 0; b < blocks; b++) {
			if (only >= 0 && b != (unsigned long)only)
				continue;
			if (nodes)
				snprintf(whose, sizeof(whose), "%s %u:%u", kind,
					 vm_export_head(file)->node, b);
			else
				snprintf(whose, sizeof(whose), "%s %u", kind,
					 b);
			for (unsigned w = 0; w < pvar->view.words; w++)
				if (!pvar_value(sample, pvar, file, &value, b,
						w))
					value_text(choice, pvar, whose, w,
						   value, -1);
		}
	}
}

static void total_text(const struct sample *sample, const struct choice *choice,
		       unsigned i)
{
	const struct pvar *pvar = &sample->pvars[i];

	if (strcmp(pvar->view.class_, "state") == 0 && pvar->view.ranked) {
		states_text(sample, pvar);
		return;
	}
	for (unsigned w = 0; w < pvar->view.words; w++) {
		uint64_t now = sample->totals[sample->first[i] + w];
		uint64_t before = sample->before[sample->first[i] + w];
		double rate = -1;

		if (pvar->grows && sample->passed_s > 0 && now >= before)
			rate = (double)(now - before) / sample->passed_s;
		value_text(choice, pvar, "", w, now, rate);
	}
}

static void cvars_text(const struct vm_live_job *job, struct choice *choice)
{
	const struct vm_live_file *file = job->files[0];
	char text[VM_EXPORT_STRING_BYTES], number[32], amount[VM_AMOUNT_MAX];

	for (unsigned i = 0; i < vm_live_cvar_count(file); i++) {
		struct vm_live_cvar_view view;
		const char *value = number;

		vm_live_cvar_info(file, &view, i);
		if (!choice_fits(choice, view.name))
			continue;
		snprintf(number, sizeof(number), "%" PRId64,
			 vm_live_cvar_value(file, i));
		if (!choice->all && !strcmp(view.unit, "bytes") &&
		    vm_live_cvar_value(file, i) > 0)
			value = vm_amount_bytes(
				amount, (double)vm_live_cvar_value(file, i));
		else if (!choice->all && !strcmp(view.unit, "flag"))
			value = vm_live_cvar_value(file, i) ? "on" : "off";
		if (view.string) {
			vm_live_cvar_text(file, text, i);
			value = text;
		} else if (strcmp(view.type, "choice") == 0) {
			vm_live_word(number, view.unit,
				     (uint64_t)vm_live_cvar_value(file, i));
		}
		printf("%-32s %-10s %18s %s\n", view.name, "set to", value,
		       view.string || value != number ||
				       !strcmp(view.type, "choice") ?
			       "" :
			       view.unit);
	}
}

void sample_text(const struct sample *sample, struct choice *choice)
{
	head_text(sample);
	for (unsigned i = 0; i < sample->count; i++) {
		const struct pvar *pvar = &sample->pvars[i];
		bool rank = strcmp(pvar->view.of, "rank") == 0;
		bool worker = strcmp(pvar->view.of, "worker") == 0;

		if (rank && choice->ranks)
			each_text(sample, choice, pvar, "rank", choice->rank);
		else if (worker && choice->workers)
			each_text(sample, choice, pvar, "worker",
				  choice->worker);
		else if (!choice->ranks && !choice->workers)
			total_text(sample, choice, i);
	}
	if (!choice->ranks && !choice->workers &&
	    (choice->all || choice->name_count))
		cvars_text(sample->job, choice);
}
