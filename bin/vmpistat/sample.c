/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals of a job are sums of those of its files, or their highest or lowest.
 */
#include "sample.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "report/live/total.h"

bool choice_fits(struct choice *choice, const char *name)
{
	bool fits = choice->name_count == 0;

	for (unsigned i = 0; i < choice->name_count; i++) {
		if (fnmatch(choice->names[i], name, 0) != 0)
			continue;
		choice->used[i] = true;
		fits = true;
	}
	return fits;
}

int sample_init(struct sample *sample, const struct vm_live_job *job,
		struct choice *choice)
{
	const struct vm_live_file *file = job->files[0];
	unsigned count = vm_live_pvar_count(file), words = 0;

	*sample = (struct sample){ .job = job };
	sample->pvars = calloc(count + 1, sizeof(*sample->pvars));
	sample->first = calloc(count + 1, sizeof(*sample->first));
	if (!sample->pvars || !sample->first) {
		sample_fini(sample);
		return -VMPI_ENOMEM;
	}
	for (unsigned i = 0; i < count; i++) {
		struct pvar *pvar = &sample->pvars[sample->count];

		vm_live_pvar_info(file, &pvar->view, i);
		if (!choice_fits(choice, pvar->view.name))
			continue;
		pvar->number = i;
		pvar->grows = vm_live_grows(pvar->view.class_);
		sample->first[sample->count++] = words;
		words += pvar->view.words;
	}
	sample->totals = calloc(words + 1, sizeof(uint64_t));
	sample->before = calloc(words + 1, sizeof(uint64_t));
	if (sample->totals && sample->before)
		return 0;
	sample_fini(sample);
	return -VMPI_ENOMEM;
}

void sample_fini(struct sample *sample)
{
	free(sample->pvars);
	free(sample->first);
	free(sample->totals);
	free(sample->before);
	*sample = (struct sample){ .job = NULL };
}

/* The variable's number in a file; -1: it has none of this name and size. */
static int number_in(const struct sample *sample, const struct pvar *pvar,
		     const struct vm_live_file *file)
{
	struct vm_live_pvar_view view;

	/* A damaged file may say so of other rows. */
	if (vm_export_head(file)->layout ==
		    vm_live_job_head(sample->job)->layout &&
	    pvar->number < vm_live_pvar_count(file))
		return (int)pvar->number;
	for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
		vm_live_pvar_info(file, &view, i);
		if (strcmp(view.name, pvar->view.name) == 0)
			return view.words == pvar->view.words ? (int)i : -1;
	}
	return -1;
}

unsigned pvar_blocks(const struct sample *sample, const struct pvar *pvar,
		     const struct vm_live_file *file)
{
	int number = number_in(sample, pvar, file);

	return number < 0 ? 0 : vm_live_blocks(file, (unsigned)number);
}

int pvar_value(const struct sample *sample, const struct pvar *pvar,
	       const struct vm_live_file *file, uint64_t *value, unsigned block,
	       unsigned word)
{
	int number = number_in(sample, pvar, file);

	return number < 0 ? -VMPI_ERANK :
			    vm_live_value(file, value, (unsigned)number, block,
					  word);
}

int pvar_total(const struct sample *sample, const struct pvar *pvar,
	       const struct vm_live_file *file, uint64_t *value, unsigned word)
{
	int number = number_in(sample, pvar, file);

	return number < 0 ? -VMPI_ERANK :
			    vm_live_total(file, value, (unsigned)number, word);
}

static uint64_t job_total(const struct sample *sample, const struct pvar *pvar,
			  unsigned word)
{
	uint64_t sum = 0, one;
	bool any = false;

	for (unsigned f = 0; f < sample->job->count; f++) {
		if (pvar_total(sample, pvar, sample->job->files[f], &one, word))
			continue;
		sum = any ? vm_live_fold(pvar->view.fold, sum, one) : one;
		any = true;
	}
	return sum;
}

void sample_take(struct sample *sample)
{
	uint64_t *totals = sample->before;
	double last_s = sample->time_s;
	struct timespec now;

	sample->before = sample->totals;
	sample->totals = totals;
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->time_s = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	sample->passed_s = last_s > 0 ? sample->time_s - last_s : 0;
	sample->looked = sample->time_s - sample->looked_s >= SAMPLE_LOOK_S;
	if (sample->looked) {
		sample->lives = vm_live_job_lives(sample->job);
		sample->state = vm_live_job_state(sample->job);
		sample->looked_s = sample->time_s;
	}
	for (unsigned i = 0; i < sample->count; i++) {
		const struct pvar *pvar = &sample->pvars[i];

		for (unsigned w = 0; w < pvar->view.words; w++)
			totals[sample->first[i] + w] =
				job_total(sample, pvar, w);
	}
}
