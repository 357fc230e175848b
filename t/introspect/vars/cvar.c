/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of control variables: rows, names, writes, refusals.
 */
#include "introspect/vars/cvar.h"

#include <pthread.h>
#include <string.h>

#include "base/err.h"
#include "captured.h"
#include "farm.h"
#include "base/nearest.h"
#include "tap.h"

/* Sets at run time; the result and what was said. */
static void refuses(const char *name, const char *text, int error,
		    const char *message)
{
	const char *said;
	int rc;

	captured_begin();
	rc = vm_cvar_set(name, text, VM_SOURCE_RUNTIME);
	said = captured_end();
	is_int(rc, error, "%s = %.30s is refused", name, text);
	is_string(said, message, "with one clear line");
}

static void rows(void)
{
	char text[64];

	is_int(vm_vars_add(&farm_cvar_table), 0, "a table is added");
	is_int(vm_vars_add(&farm_cvar_table), 0, "adding it again is no error");
	is_int(farm_cvar.cows, 4, "an int has its default before any load");
	is_string(farm_cvar.dog, "Rex", "a string has its default");
	ok(vm_cvar_known("farm_milk_bytes"), "names are layer_field");
	ok(!vm_cvar_known("milk_bytes") && !vm_cvar_known("farm_") &&
		   !vm_cvar_known(""),
	   "and nothing else");
	is_int(vm_cvar_get("farm_milk_bytes", text, sizeof(text)), 0,
	       "a value can be asked for");
	is_string(text, "8192", "as text");
	is_int(vm_cvar_get("farm_milk_bytes", text, 5), 0, "that fits exactly");
	is_int(vm_cvar_get("farm_milk_bytes", text, 4), -VMPI_EINVAL,
	       "but not into less");
	is_int(vm_cvar_get("farm_pigs", text, sizeof(text)), -VMPI_ENOENT,
	       "an unknown name is no variable");
}

static void writes(void)
{
	const char *before = farm_cvar.dog, *first;
	char text[64];

	is_int(vm_cvar_set("farm_cows", "-1", VM_SOURCE_RUNTIME), 0,
	       "an int is set");
	is_int(farm_cvar.cows, -1, "and its field has the value");
	is_int(vm_cvar_set("farm_milk_bytes", "64K", VM_SOURCE_RUNTIME), 0,
	       "a size is set");
	is_int(farm_cvar.milk_bytes, 65536, "and its field has the value");
	is_int(vm_cvar_set("farm_open", "off", VM_SOURCE_RUNTIME), 0,
	       "a switch is set");
	is_int(farm_cvar.open, 0, "and its field has the value");
	is_int(vm_cvar_set("farm_dog", "Bello", VM_SOURCE_RUNTIME), 0,
	       "a string is set");
	is_string(farm_cvar.dog, "Bello", "and its field has the value");
	is_string(before, "Rex", "who had the old string may still read it");
	first = farm_cvar.dog;
	vm_cvar_set("farm_dog", "Hasso", VM_SOURCE_RUNTIME);
	vm_cvar_set("farm_dog", "Bello", VM_SOURCE_RUNTIME);
	ok(farm_cvar.dog == first, "equal strings are kept once");
	vm_cvar_get("farm_dog", text, sizeof(text));
	is_string(text, "Bello", "a string can be asked for");
}

static void refusals(void)
{
	refuses("farm_cow", "1", -VMPI_ENOENT,
		"vmpi: no control variable is called 'farm_cow'; did you mean "
		"farm_cows?\n");
	refuses("milk_bytes", "1", -VMPI_ENOENT,
		"vmpi: no control variable is called 'milk_bytes'; did you "
		"mean farm_milk_bytes?\n");
	refuses("elephants\n", "1", -VMPI_ENOENT,
		"vmpi: no control variable is called 'elephants?'; "
		"vmpi_info --cvars lists them\n");
	refuses("farm_cows", "101", -VMPI_EINVAL,
		"vmpi: farm_cows = 101: out of range; it may be -1 to 100 "
		"cows\n");
	refuses("farm_milk_bytes", "2M", -VMPI_EINVAL,
		"vmpi: farm_milk_bytes = 2M: out of range; it may be 1K to 1M "
		"bytes\n");
	refuses("farm_open", "ajar", -VMPI_EINVAL,
		"vmpi: farm_open = ajar: not a switch; write on or off\n");
	refuses("farm_cows",
		"a very long text that does not end until it has more letters "
		"than a message should have",
		-VMPI_EINVAL,
		"vmpi: farm_cows = a very long text that does not end until it "
		"has more letters...: not a whole number\n");
	is_int(farm_cvar.cows, -1, "a refused write changes nothing");
}

static void frozen(void)
{
	vm_vars_freeze(true);
	refuses("farm_milk_bytes", "2K", -VMPI_ESTATE,
		"vmpi: farm_milk_bytes = 2K: can only be set before the "
		"runtime starts\n");
	is_int(farm_cvar.milk_bytes, 65536, "the value stays");
	is_int(vm_cvar_set("farm_cows", "7", VM_SOURCE_RUNTIME), 0,
	       "other variables can be set after the start");
	captured_begin();
	is_int(vm_vars_reset(), -VMPI_ESTATE, "nothing is reset meanwhile");
	captured_end();
	vm_vars_freeze(false);
	is_int(vm_cvar_set("farm_milk_bytes", "2K", VM_SOURCE_RUNTIME), 0,
	       "after the runtime has stopped all can be set");
}

static void sources(void)
{
	is_int(vm_cvar_set("farm_cows", "9", VM_SOURCE_COMMAND), 0,
	       "a lower source is no error");
	is_int(farm_cvar.cows, 7, "but the higher one's value stays");
	captured_begin();
	is_int(vm_cvar_set("farm_cows", "x", VM_SOURCE_COMMAND), -VMPI_EINVAL,
	       "a lower source's text is still checked");
	captured_end();
}

static int collect(const struct vm_cvar_view *view, void *arg)
{
	char *list = arg, line[256];

	snprintf(line, sizeof(line), "%u %s %s %s=%s (%s) %s%s;", view->index,
		 vm_var_type_name(view->row->type),
		 vm_var_when_name(view->row->when), view->name, view->value,
		 view->preset, vm_var_source_name(view->source), view->place);
	strncat(list, line, 1000 - strlen(list));
	return 0;
}

static void tour(void)
{
	char list[1024] = "";

	is_int(vm_cvar_each(collect, list), 0, "all variables are visited");
	is_string(list,
		  "0 int anytime farm_cows=7 (4) run time;"
		  "1 size startup farm_milk_bytes=2048 (8192) run time;"
		  "2 switch anytime farm_open=0 (1) run time;"
		  "3 string anytime farm_dog=Bello (Rex) run time;"
		  "4 string startup farm_cat= () default;",
		  "in order, with value, default and source");
}

static void numbers(void)
{
	struct vm_cvar_view view;
	char name[VM_NAME_MAX];
	int64_t value = 77;
	int dog, milk;

	is_int(vm_cvar_count(), 5, "five variables");
	milk = vm_cvar_find("farm_milk_bytes");
	dog = vm_cvar_find("farm_dog");
	is_int(milk, 1, "a number for a name");
	is_int(vm_cvar_find("farm_pigs"), -1, "none for an unknown one");
	ok(vm_cvar_info(milk, &view, name) && strcmp(view.name, name) == 0 &&
		   strcmp(name, "farm_milk_bytes") == 0 &&
		   view.source == VM_SOURCE_RUNTIME,
	   "a name for the number");
	ok(view.row->category == VM_CATEGORY_pool &&
		   view.row->level == VM_LEVEL_TD,
	   "with category and level");
	ok(!vm_cvar_info(-1, &view, name) && !vm_cvar_info(5, &view, name),
	   "nothing about numbers that there are not");
	is_int(vm_cvar_load(&value, dog), -VMPI_EINVAL, "a text is no number");
	is_int(vm_cvar_load(&value, 5), -VMPI_ENOENT, "no such number");
	is_int(value, 77, "failures leave the value alone");
	is_int(vm_cvar_load(&value, milk), 0, "a value is loaded");
	is_int(value, 2048, "as a number");
	is_int(vm_cvar_store(milk, 4096, VM_SOURCE_RUNTIME), 0, "and stored");
	is_int(farm_cvar.milk_bytes, 4096, "into the field");
	is_int(vm_cvar_store(milk, 1023, VM_SOURCE_RUNTIME), -VMPI_EINVAL,
	       "not out of its range");
	is_int(vm_cvar_store(dog, 1, VM_SOURCE_RUNTIME), -VMPI_EINVAL,
	       "not into a text");
	is_int(vm_cvar_store(-1, 1, VM_SOURCE_RUNTIME), -VMPI_ENOENT,
	       "not nowhere");
	vm_vars_freeze(true);
	is_int(vm_cvar_store(milk, 1024, VM_SOURCE_RUNTIME), -VMPI_ESTATE,
	       "not after the start");
	vm_vars_freeze(false);
	is_int(farm_cvar.milk_bytes, 4096, "a refused store changes nothing");
}

static void *write_many(void *arg)
{
	static const char *const dogs[] = { "Bello", "Hasso", "Rex" };
	intptr_t failed = 0;

	for (int i = 0; i < 3000; i++) {
		failed += vm_cvar_set("farm_dog", dogs[i % 3],
				      VM_SOURCE_RUNTIME) != 0;
		failed += vm_cvar_set("farm_cows", i % 2 ? "1" : "100",
				      VM_SOURCE_RUNTIME) != 0;
	}
	return (void *)failed;
}

/* Two writers, and a reader that uses the plain fields as all code does. */
static void threads(void)
{
	pthread_t writers[2];
	intptr_t failed = 0;
	int wrong = 0;
	void *result;

	vm_cvar_set("farm_cows", "1", VM_SOURCE_RUNTIME);
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&writers[i], NULL, write_many, NULL) != 0)
			bail("no thread");
	}
	for (int i = 0; i < 3000; i++) {
		const char *dog = *(const char *volatile *)&farm_cvar.dog;
		int64_t cows = *(volatile int64_t *)&farm_cvar.cows;

		wrong += strcmp(dog, "Bello") && strcmp(dog, "Hasso") &&
			 strcmp(dog, "Rex");
		wrong += cows != 1 && cows != 100;
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(writers[i], &result);
		failed += (intptr_t)result;
	}
	is_int(failed, 0, "several threads set variables at once");
	is_int(wrong, 0, "readers see whole values only");
}

/* The bound on replaced strings; last, for it uses them up. */
static void bound(void)
{
	char text[32];
	int rc = 0, i;

	captured_begin();
	for (i = 0; rc == 0 && i < 2 * VM_VAR_STRINGS_MAX; i++) {
		snprintf(text, sizeof(text), "dog %d", i);
		rc = vm_cvar_set("farm_dog", text, VM_SOURCE_RUNTIME);
	}
	captured_end();
	is_int(rc, -VMPI_ELIMIT, "the number of replaced strings is bounded");
	ok(i <= VM_VAR_STRINGS_MAX, "by VM_VAR_STRINGS_MAX (%d)", i);
	is_int(vm_cvar_set("farm_dog", "Bello", VM_SOURCE_RUNTIME), 0,
	       "a string that was there before is still taken");
}

int main(void)
{
	rows();
	writes();
	refusals();
	frozen();
	sources();
	tour();
	numbers();
	threads();
	bound();
	return done_testing();
}
