/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for people: one value per line, aligned, zeros too, so that two outputs
 * can be compared line by line.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print.h"
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

void list_text(const struct vm_live_jobs *jobs)
{
	char age[32];

	printf("%-12s %7s %5s %12s %-8s %s\n", "JOB", "RANKS", "NODES", "AGE",
	       "STATE", "PROGRAM");
	for (unsigned i = 0; i < jobs->count; i++) {
		const struct vm_live_job *job = &jobs->list[i];
		const struct vm_export_head *head = vm_live_job_head(job);

		age_format(age, vm_live_job_age(job));
		printf("%-12s %7u %5u %12s %-8s %s\n", job->name, head->ranks,
		       head->nodes, age, vm_live_job_state(job), head->program);
	}
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

static void value_text(const struct pvar *pvar, const char *whose,
		       unsigned word, uint64_t value, double rate)
{
	bool state = strcmp(pvar->view.class_, "state") == 0;
	char name[160], text[32], is[32];

	snprintf(name, sizeof(name), "%.100s", pvar->view.name);
	if (pvar->view.words > 1)
		snprintf(name, sizeof(name), "%.100s[%u]", pvar->view.name,
			 word);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (state && vm_live_word(is, pvar->view.unit, value))
		snprintf(text, sizeof(text), "%s", is);
	if (strcmp(pvar->view.class_, "low-water mark") == 0 &&
	    value == UINT64_MAX)
		snprintf(text, sizeof(text), "-");
	printf("%-32s %-10s %18s", name, whose, text);
	if (rate >= 0)
		printf(" %14.1f/s", rate);
	printf(" %s\n", state ? "" : pvar->view.unit);
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
			printf("%-32s %-10s %18u ranks\n", pvar->view.name,
			       whose, count);
	}
}

static void each_text(const struct sample *sample, const struct pvar *pvar,
		      const char *kind, long only)
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
					value_text(pvar, whose, w, value, -1);
		}
	}
}

static void total_text(const struct sample *sample, unsigned i)
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
		value_text(pvar, "", w, now, rate);
	}
}

static void cvars_text(const struct vm_live_job *job, struct choice *choice)
{
	const struct vm_live_file *file = job->files[0];
	char text[VM_EXPORT_STRING_BYTES], number[32];

	for (unsigned i = 0; i < vm_live_cvar_count(file); i++) {
		struct vm_live_cvar_view view;
		const char *value = number;

		vm_live_cvar_info(file, &view, i);
		if (!choice_fits(choice, view.name))
			continue;
		snprintf(number, sizeof(number), "%" PRId64,
			 vm_live_cvar_value(file, i));
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
			each_text(sample, pvar, "rank", choice->rank);
		else if (worker && choice->workers)
			each_text(sample, pvar, "worker", choice->worker);
		else if (!choice->ranks && !choice->workers)
			total_text(sample, i);
	}
	if (!choice->ranks && !choice->workers)
		cvars_text(sample->job, choice);
}
