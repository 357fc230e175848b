/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables for people and JSON.  Lines have at most 80 columns: names that are
 * longer than their column lose their end.
 */
#include "report/profile_report.h"

#include <string.h>

#include "base/whole.h"
#include "report/amount.h"
#include "report/json.h"

#define TEXT VM_AMOUNT_MAX
#define LINES_MAX 20 /* functions in the table of times */
#define LINES_VAR 8  /* and of each variable */

/* "12.3 ms" */
static const char *time_text(char text[TEXT], uint64_t ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	int u = 0;

	while (u < 3 && (double)ns < units[u].ns)
		u++;
	snprintf(text, TEXT, u < 3 ? "%.4g %s" : "%.0f %s",
		 (double)ns / units[u].ns, units[u].unit);
	return text;
}

/* "1234567", "12.3 G": at most 10 characters. */
static const char *count_text(char text[TEXT], uint64_t count)
{
	static const char units[] = "MGTPE";
	double value = (double)count / 1e6;
	int u = 0;

	if (count < 1000000000) {
		snprintf(text, TEXT, "%llu", (unsigned long long)count);
		return text;
	}
	for (; value >= 1000 && units[u + 1]; u++)
		value /= 1000;
	snprintf(text, TEXT, "%.4g %c", value, units[u]);
	return text;
}

/* The growth of a variable, in units people read. */
static const char *value_text(char text[TEXT], uint64_t value, const char *unit)
{
	if (!strcmp(unit, "bytes"))
		return vm_amount_bytes(text, (double)value);
	return strcmp(unit, "ns") ? count_text(text, value) :
				    time_text(text, value);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static const char *line_name(const struct vm_profile_job *job, uint32_t call)
{
	return call ? job->call_name(call) : "(outside of calls)";
}

static void times_print(const struct vm_profile_job *job, FILE *out)
{
	char a[TEXT], b[TEXT], c[TEXT], d[TEXT], e[TEXT];

	fprintf(out, "\n%-21s %9s %8s %5s %5s %8s %8s %9s\n", "call", "calls",
		"time", "%", "idle", "min/rank", "avg/rank", "max/rank");
	for (unsigned l = 0; l < job->line_count && l < LINES_MAX; l++) {
		const struct vm_profile_line *line = &job->lines[l];

		fprintf(out, "%-21.21s %9s %8s %5.1f %5.1f %8s %8s %9s\n",
			line_name(job, line->call),
			line->call ? count_text(a, line->count.sum) : "",
			time_text(b, line->time.sum),
			percent(line->time.sum, job->time),
			percent(line->idle, job->time),
			time_text(c, line->time.min),
			time_text(d,
				  line->time.sum / (uint64_t)job->rank_count),
			time_text(e, line->time.max));
	}
	if (job->line_count > LINES_MAX)
		fprintf(out, "and %u more\n", job->line_count - LINES_MAX);
}

/* The line not printed yet with the highest value of variable w; NULL: none has
 * any. */
static const struct vm_profile_line *
most_next(const struct vm_profile_job *job, uint32_t w,
	  const struct vm_profile_line *last)
{
	const struct vm_profile_line *most = NULL;

	for (unsigned l = 0; l < job->line_count; l++) {
		const struct vm_profile_line *line = &job->lines[l];
		uint64_t sum = line->values[w].sum;

		/* Of equal ones the order is that of the list. */
		if (!sum ||
		    (last && (sum > last->values[w].sum ||
			      (sum == last->values[w].sum && line <= last))))
			continue;
		if (!most || sum > most->values[w].sum)
			most = line;
	}
	return most;
}

static void var_print(const struct vm_profile_job *job, uint32_t w, FILE *out)
{
	const struct vm_profile_line *line = most_next(job, w, NULL);
	char title[VM_PROFILE_VAR_NAME + VM_PROFILE_UNIT + 4];
	char a[TEXT], b[TEXT], c[TEXT], d[TEXT];
	const char *unit = job->vars[w].unit;
	bool amount = !strcmp(unit, "bytes") || !strcmp(unit, "ns");
	uint64_t all = 0;

	for (unsigned l = 0; l < job->line_count; l++)
		all += job->lines[l].values[w].sum;
	snprintf(title, sizeof(title), amount ? "%s" : "%s (%s)",
		 job->vars[w].name, unit);
	fprintf(out, "\n%-34.34s %9s %5s %9s %9s %9s\n", title,
		value_text(a, all, unit), "%", "min/rank", "avg/rank",
		"max/rank");
	for (int n = 0; line && n < LINES_VAR; n++) {
		const struct vm_profile_spread *value = &line->values[w];

		fprintf(out, "  %-32.32s %9s %5.1f %9s %9s %9s\n",
			line_name(job, line->call),
			value_text(a, value->sum, unit),
			percent(value->sum, all),
			value_text(b, value->min, unit),
			value_text(c, value->sum / (uint64_t)job->rank_count,
				   unit),
			value_text(d, value->max, unit));
		line = most_next(job, w, line);
	}
	if (line)
		fprintf(out, "  and more\n");
}

static int part_depth(const struct vm_profile_job *job, int index)
{
	int depth = 0;

	while ((index = job->parts[index].parent) >= 0)
		depth++;
	return depth;
}

static void part_print(const struct vm_profile_job *job, int index, FILE *out)
{
	const struct vm_profile_part *part = &job->parts[index];
	char a[TEXT], b[TEXT], c[TEXT], d[TEXT];
	int depth = part_depth(job, index);

	if (depth > 8)
		depth = 8;
	fprintf(out, "%*s%-*.*s %9s %9s %5.1f %9s %9s %5.1f\n", depth, "",
		28 - depth, 28 - depth, index ? part->name : "(all)",
		count_text(a, part->count), time_text(b, part->time),
		percent(part->time, job->time), time_text(c, part->own),
		time_text(d, part->time_calls), percent(part->idle, job->time));
	for (uint32_t w = 0; index && w < job->words; w++)
		if (part->values[w])
			fprintf(out, "%*s  %-*.*s %9s %25s\n", depth, "",
				40 - depth, 40 - depth, job->vars[w].name,
				value_text(a, part->values[w],
					   job->vars[w].unit),
				value_text(b, part->own_values[w],
					   job->vars[w].unit));
}

/* A section, and those within it. */
static void parts_print(const struct vm_profile_job *job, int index, FILE *out)
{
	part_print(job, index, out);
	for (unsigned p = 0; p < job->part_count; p++)
		if (job->parts[p].parent == index)
			parts_print(job, (int)p, out);
}

static void pop_line(const struct vm_profile_job *job, int index, FILE *out)
{
	const struct vm_profile_part *part = &job->parts[index];
	const struct vm_pop *pop = &part->pop;
	char elapsed[TEXT];
	int depth = part_depth(job, index);

	if (!pop->cores)
		return;
	if (depth > 8)
		depth = 8;
	fprintf(out, "%*s%-*.*s %8.1f %7.1f %7.1f %8.1f %5u %9s\n", depth, "",
		30 - depth, 30 - depth, index ? part->name : "(all)",
		100 * pop->parallel, 100 * pop->balance,
		100 * pop->serialisation, 100 * pop->transfer, pop->cores,
		time_text(elapsed, vm_whole(pop->elapsed)));
}

static void pops_print(const struct vm_profile_job *job, int index, FILE *out)
{
	pop_line(job, index, out);
	for (unsigned p = 0; p < job->part_count; p++)
		if (job->parts[p].parent == index)
			pops_print(job, (int)p, out);
}

/* Parallel efficiency, and what it is the product of. */
static void efficiency_print(const struct vm_profile_job *job, FILE *out)
{
	if (!job->part_count || !job->parts[0].pop.cores)
		return;
	fprintf(out, "\n%-30s %8s %7s %7s %8s %5s %9s\n", "efficiency in %",
		"parallel", "balance", "serial.", "transfer", "cores",
		"elapsed");
	pops_print(job, 0, out);
}

/* What is not in the first line is 100 % of it. */
static void parts_of_time_print(const struct vm_profile_job *job, FILE *out)
{
	uint64_t idle = job->idle_calls, work = job->had_calls, others;
	char text[TEXT];

	others = job->time_calls > idle + work ? job->time_calls - idle - work :
						 0;
	fprintf(out, "  %5.1f %%  outside of calls\n",
		percent(job->time - job->time_calls, job->time));
	fprintf(out, "  %5.1f %%  in calls, at work in them\n",
		percent(work, job->time));
	fprintf(out, "  %5.1f %%  in calls, while the core ran other ranks\n",
		percent(others, job->time));
	fprintf(out, "  %5.1f %%  in calls, while the core was idle: %s\n",
		percent(idle, job->time), time_text(text, idle));
}

void vm_profile_job_print(const struct vm_profile_job *job, FILE *out)
{
	char a[TEXT], b[TEXT];

	fprintf(out, "profile of %d ranks: %s in all, %s (%.1f %%) in calls\n",
		job->rank_count, time_text(a, job->time),
		time_text(b, job->time_calls),
		percent(job->time_calls, job->time));
	parts_of_time_print(job, out);
	efficiency_print(job, out);
	times_print(job, out);
	for (uint32_t w = 0; w < job->words; w++)
		var_print(job, w, out);
	if (job->part_count > 1) {
		fprintf(out, "\n%-28s %9s %9s %5s %9s %9s %5s\n", "section",
			"begun", "time", "%", "own time", "in calls", "idle");
		parts_print(job, 0, out);
	}
	if (job->lost)
		fprintf(out,
			"\n%llu times there was no room for another section or "
			"call; those are counted in others\n",
			(unsigned long long)job->lost);
}

static void values_json(const struct vm_profile_job *job,
			const uint64_t *values, FILE *out)
{
	fputc('{', out);
	for (uint32_t w = 0; w < job->words; w++) {
		fputs(w ? ", " : "", out);
		vm_json_string(out, job->vars[w].name);
		fprintf(out, ": %llu", (unsigned long long)values[w]);
	}
	fputc('}', out);
}

static void section_json(const struct vm_profile *rank, uint32_t section,
			 FILE *out)
{
	if (section && rank->list[section].parent > 0) {
		section_json(rank, (uint32_t)rank->list[section].parent, out);
		fputs(", ", out);
	}
	if (section)
		vm_json_string(out, rank->list[section].name);
}

static double own_of(const struct vm_profile_job *job,
		     const struct vm_profile_row *row, unsigned word)
{
	return (double)row->values[job->words + word];
}

static void rank_json(const struct vm_profile_job *job,
		      const struct vm_profile_file *file,
		      const struct vm_profile *rank, FILE *out)
{
	fprintf(out, "{\"rank\": %d, \"process\": %d, \"rows\": [", rank->rank,
		file->process);
	for (uint32_t r = 0; r < rank->rows; r++) {
		const struct vm_profile_row *row = &rank->table[r];

		fprintf(out, "%s\n   {\"section\": [", r ? "," : "");
		section_json(rank, row->section, out);
		fputs("], \"call\": ", out);
		if (row->call)
			vm_json_string(out, job->call_name(row->call));
		else
			fputs("null", out);
		fprintf(out,
			", \"calls\": %llu, \"time_ns\": %.0f, "
			"\"run_ns\": %.0f, \"core_idle_ns\": %.0f, "
			"\"values\": ",
			(unsigned long long)row->count,
			(double)row->time * file->tick_ns,
			own_of(job, row, VM_PROFILE_HAD) * file->tick_ns,
			own_of(job, row, VM_PROFILE_IDLE) * file->tick_ns);
		values_json(job, row->values, out);
		fputc('}', out);
	}
	fputs("]}", out);
}

static void vars_json(const struct vm_profile_job *job, FILE *out)
{
	for (uint32_t w = 0; w < job->words; w++) {
		fprintf(out, "%s\n  {\"name\": ", w ? "," : "");
		vm_json_string(out, job->vars[w].name);
		fputs(", \"unit\": ", out);
		vm_json_string(out, job->vars[w].unit);
		fputc('}', out);
	}
}

static void lines_json(const struct vm_profile_job *job, FILE *out)
{
	for (unsigned l = 0; l < job->line_count; l++) {
		const struct vm_profile_line *line = &job->lines[l];
		uint64_t sums[VM_PROFILE_WORDS];

		for (uint32_t w = 0; w < job->words; w++)
			sums[w] = line->values[w].sum;
		fprintf(out, "%s\n  {\"call\": ", l ? "," : "");
		if (line->call)
			vm_json_string(out, job->call_name(line->call));
		else
			fputs("null", out);
		fprintf(out,
			", \"calls\": %llu, \"time_ns\": %llu, "
			"\"time_ns_min\": %llu, \"time_ns_max\": %llu, "
			"\"run_ns\": %llu, \"core_idle_ns\": %llu, "
			"\"values\": ",
			(unsigned long long)line->count.sum,
			(unsigned long long)line->time.sum,
			(unsigned long long)line->time.min,
			(unsigned long long)line->time.max,
			(unsigned long long)line->had,
			(unsigned long long)line->idle);
		values_json(job, sums, out);
		fputc('}', out);
	}
}

/* The names of its section, the outermost first. */
static void part_path_json(const struct vm_profile_job *job, int index,
			   FILE *out)
{
	if (job->parts[index].parent > 0) {
		part_path_json(job, job->parts[index].parent, out);
		fputs(", ", out);
	}
	if (index)
		vm_json_string(out, job->parts[index].name);
}

/* With the names of TALP, where it has one. */
static void pops_json(const struct vm_profile_job *job, FILE *out)
{
	const char *between = "";

	for (unsigned p = 0; p < job->part_count; p++) {
		const struct vm_profile_part *part = &job->parts[p];
		const struct vm_pop *pop = &part->pop;

		if (!pop->cores)
			continue;
		fprintf(out, "%s\n  {\"name\": ", between);
		vm_json_string(out, p ? part->name : "Global");
		fputs(", \"section\": [", out);
		part_path_json(job, (int)p, out);
		fprintf(out,
			"], \"numCpus\": %u, \"numMpiRanks\": %u, "
			"\"elapsedTime\": %.0f, \"usefulTime\": %.0f, "
			"\"mpiTime\": %.0f, \"parallelEfficiency\": %.6f, "
			"\"mpiCommunicationEfficiency\": %.6f, "
			"\"mpiLoadBalance\": %.6f, "
			"\"mpiSerializationEfficiency\": %.6f, "
			"\"mpiTransferEfficiency\": %.6f}",
			pop->cores, part->ranks, pop->elapsed, pop->useful,
			pop->cores * pop->elapsed - pop->useful, pop->parallel,
			pop->communication, pop->balance, pop->serialisation,
			pop->transfer);
		between = ",";
	}
}

void vm_profile_job_json(const struct vm_profile_job *job, FILE *out)
{
	bool first = true;

	fprintf(out, "{\"ranks\": %d, \"time_ns\": %llu, \"variables\": [",
		job->rank_count, (unsigned long long)job->time);
	vars_json(job, out);
	fputs("],\n \"calls\": [", out);
	lines_json(job, out);
	fputs("],\n \"popMetrics\": [", out);
	pops_json(job, out);
	fputs("],\n \"by_rank\": [", out);
	for (int f = 0; f < job->file_count; f++)
		for (int i = 0; i < job->files[f]->rank_count; i++) {
			fputs(first ? "\n  " : ",\n  ", out);
			rank_json(job, job->files[f], &job->files[f]->rank[i],
				  out);
			first = false;
		}
	fputs("]}\n", out);
}
