/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the variables, and reading the runs.
 */
#include "introspect/vars/bulk.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"

bool vm_pvar_grows(const struct vm_pvar *row)
{
	return row->class_ == VM_PVAR_COUNTER || row->class_ == VM_PVAR_TIMER ||
	       row->class_ == VM_PVAR_AGGREGATE;
}

/* The variables of the list, in their order. */
struct chosen {
	int *numbers;
	unsigned count;
};

static bool chosen_has(const struct chosen *chosen, int number)
{
	for (unsigned i = 0; i < chosen->count; i++)
		if (chosen->numbers[i] == number)
			return true;
	return false;
}

/* Adds the variables that fit the name: returns how many there are, wanted or
 * not, or -VMPI_EINVAL. */
static int name_choose(struct chosen *chosen, const char *name,
		       vm_bulk_wanted *wanted, int count)
{
	bool pattern = strpbrk(name, "*?[") != NULL;
	char known[VM_NAME_MAX];
	struct vm_pvar_view view;
	int fit = 0;

	for (int i = 0; i < count && vm_pvar_info(i, &view, known); i++) {
		if (pattern ? fnmatch(name, known, 0) : strcmp(name, known))
			continue;
		fit++;
		if (view.row->of == VM_PVAR_CHAN ||
		    (wanted && !wanted(view.row))) {
			if (!pattern)
				return -VMPI_EINVAL;
			fit--;
			continue;
		}
		if (!chosen_has(chosen, i))
			chosen->numbers[chosen->count++] = i;
	}
	return fit;
}

static int names_choose(struct chosen *chosen, const char *const *names,
			unsigned n, vm_bulk_wanted *wanted, const char **bad,
			int count)
{
	static const char *const all[] = { "*" };

	if (!n) {
		names = all;
		n = 1;
	}
	for (unsigned i = 0; i < n; i++) {
		int fit = name_choose(chosen, names[i], wanted, count);

		*bad = names[i];
		if (fit <= 0)
			return fit ? fit : -VMPI_ENOENT;
	}
	return 0;
}

/* Whether the variable goes on where the run ends. */
static bool run_goes_on(const struct vm_bulk_run *run, int number,
			const struct vm_pvar_view *view)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view last;

	return number == run->number + (int)run->count &&
	       vm_pvar_info(number - 1, &last, name) &&
	       last.table == view->table;
}

static void runs_make(struct vm_bulk *bulk, const struct chosen *chosen)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;
	unsigned words = 0;

	for (unsigned i = 0; i < chosen->count; i++) {
		int number = chosen->numbers[i];
		struct vm_bulk_run *run = &bulk->runs[bulk->run_count];

		vm_pvar_info(number, &view, name);
		if (!bulk->run_count || !run_goes_on(run - 1, number, &view)) {
			*run = (struct vm_bulk_run){ .number = number,
						     .of = view.row->of };
			bulk->run_count++;
			run++;
		}
		run[-1].count++;
		run[-1].words += view.row->words;
		for (unsigned w = 0; w < view.row->words; w++)
			bulk->numbers[words++] = number;
	}
	bulk->words = words;
}

static int bulk_make(struct vm_bulk *bulk, const struct chosen *chosen)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;
	size_t words = 0;

	for (unsigned i = 0; i < chosen->count; i++) {
		vm_pvar_info(chosen->numbers[i], &view, name);
		words += view.row->words;
	}
	/* One more: of an empty list there is something too. */
	bulk->runs = calloc(chosen->count + 1, sizeof(*bulk->runs));
	bulk->numbers = calloc(words + 1, sizeof(*bulk->numbers));
	if (!bulk->runs || !bulk->numbers)
		return -VMPI_ENOMEM;
	runs_make(bulk, chosen);
	return 0;
}

int vm_bulk_init(struct vm_bulk *bulk, const char *const *names, unsigned n,
		 vm_bulk_wanted *wanted, const char **bad)
{
	int count = vm_pvar_count(), rc;
	struct chosen chosen = { 0 };

	*bulk = (struct vm_bulk){ 0 };
	chosen.numbers = calloc((size_t)count + 1, sizeof(int));
	if (!chosen.numbers)
		return -VMPI_ENOMEM;
	rc = names_choose(&chosen, names, n, wanted, bad, count);
	if (!rc)
		rc = bulk_make(bulk, &chosen);
	free(chosen.numbers);
	if (rc)
		vm_bulk_fini(bulk);
	return rc;
}

void vm_bulk_fini(struct vm_bulk *bulk)
{
	free(bulk->runs);
	free(bulk->numbers);
	*bulk = (struct vm_bulk){ 0 };
}

/* By the numbers of its words, because signal handlers come here too. */
static void run_total(const struct vm_bulk_run *run, const int *numbers,
		      uint64_t *values)
{
	unsigned w = 0;

	memset(values, 0, run->words * sizeof(*values));
	while (w < run->words) {
		int number = numbers[w];

		vm_pvar_total(&values[w], number);
		while (w < run->words && numbers[w] == number)
			w++;
	}
}

static int run_read(const struct vm_bulk_run *run, uint64_t *values, int rank)
{
	int rc =
		vm_pvar_values(values, run->number, run->count, (unsigned)rank);

	if (rc != -VMPI_ERANK || vm_pvar_blocks(run->number))
		return rc;
	memset(values, 0, run->words * sizeof(*values));
	return 0;
}

int vm_bulk_read(const struct vm_bulk *bulk, uint64_t *values, int rank)
{
	const int *numbers = bulk->numbers;
	int rc = 0;

	for (unsigned i = 0; i < bulk->run_count && !rc; i++) {
		const struct vm_bulk_run *run = &bulk->runs[i];

		if (run->of == VM_PVAR_RANK && rank != VM_BULK_TOTAL)
			rc = run_read(run, values, rank);
		else
			run_total(run, numbers, values);
		values += run->words;
		numbers += run->words;
	}
	return rc;
}
