/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prometheus's text format 0.0.4, as its node_exporter reads it from files.
 * Names follow OpenMetrics: what only grows ends in _total, times are seconds,
 * units end the names.  By default values are totals of each process; labels of
 * ranks and workers would multiply the series.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "print.h"
#include "report/live/total.h"

/* A unit of vmpi, that of the metric, and what to multiply with. */
static const struct unit {
	const char *unit, *ending, *name;
	double factor;
} units[] = {
	{ "ns", "_ns", "_seconds", 1e-9 },
	{ "us", "_us", "_seconds", 1e-6 },
	{ "ms", "_ms", "_seconds", 1e-3 },
	{ "bytes", "_bytes", "_bytes", 1 },
};

static const struct unit *unit_find(const struct pvar *pvar)
{
	static const struct unit none = { "", "", "", 1 };
	static const struct unit ratio = { "", "", "_ratio", 1e-6 };

	if (strcmp(pvar->view.class_, "percentage") == 0)
		return &ratio;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, pvar->view.unit) == 0)
			return &units[i];
	return &none;
}

static void metric_name(char name[192], const struct pvar *pvar)
{
	const struct unit *unit = unit_find(pvar);
	size_t length = strlen(pvar->view.name);
	size_t ending = strlen(unit->ending);

	/* "hist[16]" is a name of words; brackets are none of a metric. */
	length = strcspn(pvar->view.name, "[") < length ?
			 strcspn(pvar->view.name, "[") :
			 length;
	if (ending && length > ending &&
	    strncmp(pvar->view.name + length - ending, unit->ending, ending) ==
		    0)
		length -= ending;
	if (length > 100)
		length = 100;
	snprintf(name, 192, "vmpi_%.*s%s%s", (int)length, pvar->view.name,
		 unit->name, pvar->grows ? "_total" : "");
	for (char *c = name; *c; c++)
		if (!(*c == '_' || (*c >= 'a' && *c <= 'z') ||
		      (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
			*c = '_';
}

static void escaped_print(const char *text, bool quotes)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\\\", stdout);
		else if (*text == '\n')
			fputs("\\n", stdout);
		else if (*text == '"' && quotes)
			fputs("\\\"", stdout);
		else
			putchar(*text);
	}
}

static void head_print(const char *name, const struct pvar *pvar)
{
	printf("# HELP %s ", name);
	escaped_print(pvar->view.text, false);
	printf("\n# TYPE %s %s\n", name, pvar->grows ? "counter" : "gauge");
}

/* The labels that all values of a process have. */
static void labels_print(const char *name, const struct sample *sample,
			 const struct vm_live_file *file)
{
	printf("%s{job=\"", name);
	escaped_print(sample->job->name, true);
	printf("\",node=\"%u\"", vm_export_head(file)->node);
}

static void number_print(const struct pvar *pvar, uint64_t value)
{
	double factor = unit_find(pvar)->factor;

	if (factor == 1)
		printf("} %" PRIu64 "\n", value);
	else
		printf("} %.9g\n", (double)value * factor);
}

/* Low-water marks of nothing are no values. */
static bool is_none(const struct pvar *pvar, uint64_t value)
{
	return value == UINT64_MAX && pvar->view.fold == VM_EXPORT_LOWEST;
}

static void totals_print(const char *name, const struct sample *sample,
			 const struct pvar *pvar)
{
	for (unsigned f = 0; f < sample->job->count; f++) {
		const struct vm_live_file *file = sample->job->files[f];
		uint64_t value;

		for (unsigned w = 0; w < pvar->view.words; w++) {
			if (pvar_total(sample, pvar, file, &value, w) ||
			    is_none(pvar, value))
				continue;
			labels_print(name, sample, file);
			if (pvar->view.words > 1)
				printf(",index=\"%u\"", w);
			number_print(pvar, value);
		}
	}
}

static void each_print(const char *name, const struct sample *sample,
		       const struct pvar *pvar, long only)
{
	for (unsigned f = 0; f < sample->job->count; f++) {
		const struct vm_live_file *file = sample->job->files[f];
		unsigned blocks = pvar_blocks(sample, pvar, file);
		uint64_t value;

		for (unsigned i = 0; i < blocks * pvar->view.words; i++) {
			unsigned b = i / pvar->view.words;
			unsigned w = i % pvar->view.words;

			if ((only >= 0 && b != (unsigned long)only) ||
			    pvar_value(sample, pvar, file, &value, b, w) ||
			    is_none(pvar, value))
				continue;
			labels_print(name, sample, file);
			printf(",%s=\"%u\"", pvar->view.of, b);
			if (pvar->view.words > 1)
				printf(",index=\"%u\"", w);
			number_print(pvar, value);
		}
	}
}

/* Prints how many ranks of each process are in each state. */
static void states_print(const char *name, const struct sample *sample,
			 const struct pvar *pvar)
{
	char word[32];

	for (unsigned f = 0; f < sample->job->count; f++) {
		const struct vm_live_file *file = sample->job->files[f];
		unsigned ranks = pvar_blocks(sample, pvar, file);

		for (uint64_t s = 0; vm_live_word(word, pvar->view.unit, s);
		     s++) {
			unsigned count = 0;
			uint64_t value;

			for (unsigned r = 0; r < ranks; r++)
				count += !pvar_value(sample, pvar, file, &value,
						     r, 0) &&
					 value == s;
			labels_print(name, sample, file);
			printf(",state=\"%s\"} %u\n", word, count);
		}
	}
}

void sample_prometheus(const struct sample *sample, const struct choice *choice)
{
	char name[192];

	for (unsigned i = 0; i < sample->count; i++) {
		const struct pvar *pvar = &sample->pvars[i];
		bool rank = strcmp(pvar->view.of, "rank") == 0;
		bool worker = strcmp(pvar->view.of, "worker") == 0;

		metric_name(name, pvar);
		head_print(name, pvar);
		if (strcmp(pvar->view.class_, "state") == 0 && rank)
			states_print(name, sample, pvar);
		else if (rank && choice->ranks)
			each_print(name, sample, pvar, choice->rank);
		else if (worker && choice->workers)
			each_print(name, sample, pvar, choice->worker);
		else
			totals_print(name, sample, pvar);
	}
}
