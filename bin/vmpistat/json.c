/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON: one line per list or sample, so that samples in a row can be read line
 * by line.  Values of arrays are arrays; those of ranks and workers are objects
 * by number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print.h"
#include "report/json.h"
#include "report/live/total.h"

static void name_json(const char *key, const char *text)
{
	printf("\"%s\":", key);
	vm_json_string(stdout, text);
}

static void job_json(const struct vm_live_job *job, const char *state)
{
	const struct vm_export_head *head = vm_live_job_head(job);

	name_json("job", job->name);
	putchar(',');
	name_json("program", head->program);
	printf(",\"state\":\"%s\",\"age_seconds\":%.3f,\"ranks\":%u,"
	       "\"node_count\":%u,\"nodes\":[",
	       state, vm_live_job_age(job), head->ranks, head->nodes);
	for (unsigned f = 0; f < job->count; f++) {
		head = vm_export_head(job->files[f]);
		printf("%s{\"node\":%u,", f ? "," : "", head->node);
		name_json("host", head->host);
		printf(",\"pid\":%u,\"state\":\"%s\",\"ranks\":%u,"
		       "\"workers\":%u}",
		       head->pid, vm_live_file_state(job->files[f]),
		       head->ranks_here, head->workers);
	}
	putchar(']');
}

void list_json(const struct vm_live_jobs *jobs)
{
	fputs("{\"jobs\":[", stdout);
	for (unsigned i = 0; i < jobs->count; i++) {
		fputs(i ? ",{" : "{", stdout);
		job_json(&jobs->list[i], vm_live_job_state(&jobs->list[i]));
		putchar('}');
	}
	puts("]}");
}

/* A value, or the array of them. */
static void words_json(const struct pvar *pvar, const uint64_t *words)
{
	char word[32];

	if (strcmp(pvar->view.class_, "state") == 0 &&
	    vm_live_word(word, pvar->view.unit, words[0])) {
		vm_json_string(stdout, word);
		return;
	}
	if (pvar->view.words > 1)
		putchar('[');
	for (unsigned w = 0; w < pvar->view.words; w++)
		printf("%s%" PRIu64, w ? "," : "", words[w]);
	if (pvar->view.words > 1)
		putchar(']');
}

#define WORDS_MAX 4096

/* All words of a block; false: it is not in this file. */
static bool block_read(const struct sample *sample, const struct pvar *pvar,
		       const struct vm_live_file *file, unsigned block,
		       uint64_t words[WORDS_MAX])
{
	for (unsigned w = 0; w < pvar->view.words && w < WORDS_MAX; w++)
		if (pvar_value(sample, pvar, file, &words[w], block, w))
			return false;
	return true;
}

static void each_json(const struct sample *sample, const struct pvar *pvar,
		      const char *kind, long only)
{
	uint64_t words[WORDS_MAX];
	bool first = true;

	printf(",\"%s\":{", kind);
	for (unsigned f = 0; f < sample->job->count; f++) {
		const struct vm_live_file *file = sample->job->files[f];
		const struct vm_export_head *head = vm_export_head(file);
		unsigned blocks = pvar_blocks(sample, pvar, file);

		for (unsigned b = 0; b < blocks; b++) {
			if ((only >= 0 && b != (unsigned long)only) ||
			    !block_read(sample, pvar, file, b, words))
				continue;
			if (pvar->view.ranked)
				printf("%s\"%u\":", first ? "" : ",", b);
			else
				printf("%s\"%u:%u\":", first ? "" : ",",
				       head->node, b);
			first = false;
			words_json(pvar, words);
		}
	}
	putchar('}');
}

static void pvar_json(const struct sample *sample, unsigned i,
		      const struct choice *choice)
{
	const struct pvar *pvar = &sample->pvars[i];
	const uint64_t *totals = &sample->totals[sample->first[i]];
	const uint64_t *before = &sample->before[sample->first[i]];

	vm_json_string(stdout, pvar->view.name);
	fputs(":{\"class\":", stdout);
	vm_json_string(stdout, pvar->view.class_);
	fputs(",\"of\":", stdout);
	vm_json_string(stdout, pvar->view.of);
	fputs(",\"unit\":", stdout);
	vm_json_string(stdout, pvar->view.unit);
	fputs(",\"total\":", stdout);
	words_json(pvar, totals);
	if (pvar->grows && sample->passed_s > 0 && pvar->view.words == 1 &&
	    totals[0] >= before[0])
		printf(",\"per_second\":%.3f",
		       (double)(totals[0] - before[0]) / sample->passed_s);
	if (strcmp(pvar->view.of, "rank") == 0 && choice->ranks)
		each_json(sample, pvar, "ranks", choice->rank);
	if (strcmp(pvar->view.of, "worker") == 0 && choice->workers)
		each_json(sample, pvar, "workers", choice->worker);
	putchar('}');
}

static void cvars_json(const struct vm_live_job *job, struct choice *choice)
{
	const struct vm_live_file *file = job->files[0];
	char text[VM_EXPORT_STRING_BYTES];
	bool first = true;

	for (unsigned i = 0; i < vm_live_cvar_count(file); i++) {
		struct vm_live_cvar_view view;

		vm_live_cvar_info(file, &view, i);
		if (!choice_fits(choice, view.name))
			continue;
		if (!first)
			putchar(',');
		first = false;
		if (view.string) {
			vm_live_cvar_text(file, text, i);
			name_json(view.name, text);
		} else {
			printf("\"%s\":%" PRId64, view.name,
			       vm_live_cvar_value(file, i));
		}
	}
}

void sample_json(const struct sample *sample, struct choice *choice)
{
	putchar('{');
	job_json(sample->job, sample->state);
	fputs(",\"pvars\":{", stdout);
	for (unsigned i = 0; i < sample->count; i++) {
		if (i)
			putchar(',');
		pvar_json(sample, i, choice);
	}
	fputs("},\"cvars\":{", stdout);
	cvars_json(sample->job, choice);
	puts("}}");
}
