/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mdoc: what is always the same stands in one text, the rest comes from the
 * registries.
 */
#include "manual.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"
#include "variables.h"

static const char head[] =
	".\\\" Written by vmpi_info --man; do not edit.\n"
	".Dd November 20, 2026\n"
	".Dt VMPI-VARIABLES 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm vmpi-variables\n"
	".Nd control and performance variables of vmpi\n"
	".Sh DESCRIPTION\n"
	"Control variables configure the runtime; performance variables count "
	"what it\n"
	"does.\n"
	".Xr vmpi_info 1\n"
	"shows those of this installation and where their values come from.\n"
	".Pp\n"
	"The value of a control variable is that of the last of these which sets it:\n"
	".Bl -enum -compact\n"
	".It\n"
	"its default;\n"
	".It\n"
	"the system file\n"
	".Pa " VM_SYSCONFDIR "/vmpi.conf ;\n"
	".It\n"
	"the user file\n"
	".Pa ~/.config/vmpi.conf ,\n"
	"or\n"
	".Pa vmpi.conf\n"
	"in\n"
	".Ev XDG_CONFIG_HOME ;\n"
	".It\n"
	"the file that\n"
	".Ev VMPI_CONFIG\n"
	"names;\n"
	".It\n"
	"the environment: the prefix\n"
	".Ev VMPI_\n"
	"and the name in capitals; an empty value means not set;\n"
	".It\n"
	".Nm vmpirun Fl -set Ar name Ns = Ns Ar value ;\n"
	".It\n"
	"the program itself, by\n"
	".Fn vmpi_set .\n"
	".El\n"
	".Pp\n"
	"Variables marked\n"
	".Em startup\n"
	"must be set before the runtime starts; those marked\n"
	".Em anytime\n"
	"can be set at any time.\n"
	"Those marked\n"
	".Em alike\n"
	"must have the same value in all processes of a job, and must not "
	"change during\n"
	"a call that they concern.\n"
	"Those marked\n"
	".Em rank\n"
	"can have a different value in each rank.\n"
	".Pp\n"
	"Next come the category of the variable and its level: for whom it "
	"is\n"
	".Pq Em user , tuner , develop\n"
	"and in which detail\n"
	".Pq Em basic , detail , all .\n"
	"An unknown name or an invalid value is reported with its place, and "
	"the program\n"
	"exits with status 2; an unknown name in the environment only causes a "
	"warning.\n"
	".Ss Files\n"
	"A file consists of lines\n"
	".Ar name No = Ar value .\n"
	"Blank lines are ignored, and so are comments, which begin with a\n"
	".Ql #\n"
	"at the beginning of a line or after a blank.\n"
	"Blanks around names and values are removed.\n"
	".Ss Values\n"
	".Bl -tag -width string -compact\n"
	".It Em int\n"
	"a whole number, decimal or hexadecimal with\n"
	".Ql 0x .\n"
	".It Em size\n"
	"the same, and\n"
	".Ql K ,\n"
	".Ql M ,\n"
	".Ql G\n"
	"or\n"
	".Ql T\n"
	"after it for powers of 1024, also written\n"
	".Ql KiB\n"
	"and so on.\n"
	".It Em switch\n"
	".Ql on ,\n"
	".Ql yes ,\n"
	".Ql true ,\n"
	".Ql 1 ,\n"
	"or\n"
	".Ql off ,\n"
	".Ql no ,\n"
	".Ql false ,\n"
	".Ql 0 .\n"
	".It Em choice\n"
	"one of the words, or its number, counted from 0.\n"
	".It Em string\n"
	"any text without control characters.\n"
	".El\n";

static const char tail[] =
	".Sh ENVIRONMENT\n"
	".Bl -tag -width Ds\n"
	".It Ev VMPI_CONFIG\n"
	"A file of control variables; it must exist.\n"
	".It Ev XDG_CONFIG_HOME\n"
	"The directory of the user file.\n"
	".El\n"
	".Sh FILES\n"
	".Bl -tag -width Ds -compact\n"
	".It Pa " VM_SYSCONFDIR "/vmpi.conf\n"
	"the system file\n"
	".It Pa ~/.config/vmpi.conf\n"
	"the user file\n"
	".El\n"
	".Sh EXAMPLES\n"
	"Three ways to give ranks stacks of 256 KiB:\n"
	".Bd -literal -offset indent\n"
	"vmpirun -n 64 --set sched_stack_bytes=256K ./prog\n"
	"VMPI_SCHED_STACK_BYTES=256K vmpirun -n 64 ./prog\n"
	"echo 'sched_stack_bytes = 256K' >>~/.config/vmpi.conf\n"
	".Ed\n"
	".Sh SEE ALSO\n"
	".Xr vmpi_info 1 ,\n"
	".Xr vmpirun 1 ,\n"
	".Xr vmpi 7\n";

/* One word, roff's own signs made harmless. */
static int word_print(const char *word, int length, bool first)
{
	int column = 0;

	if (first && (word[0] == '.' || word[0] == '\''))
		column += printf("\\&");
	for (int i = 0; i < length; i++) {
		if (word[i] == '\\')
			column += printf("\\e");
		else
			column += printf("%c", word[i]);
	}
	return column;
}

/* Text of a row: each sentence begins a line, none is too long. */
static void sentence_print(const char *text)
{
	bool ended = false; /* the word before ended a sentence */
	int column = 0;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (column && (ended || column + 1 + length > 76)) {
			putchar('\n');
			column = 0;
		}
		if (column)
			column += printf(" ");
		column += word_print(text, length, column == 0);
		ended = length && text[length - 1] == '.';
		text += length;
		text += strspn(text, " ");
	}
	printf("%s\n", ended ? "" : ".");
}

/* Begins a list per layer; layer is where the last one is remembered. */
static void layer_begin(const char **layer, const char *name)
{
	static char shown[NAME_BYTES];

	if (*layer && strcmp(*layer, name) == 0)
		return;
	if (*layer)
		puts(".El");
	snprintf(shown, sizeof(shown), "%s", name);
	*layer = shown;
	printf(".Ss Layer %s\n.Bl -tag -width Ds\n", name);
}

static int cvar_print(const struct vm_cvar_view *view, void *arg)
{
	char preset[VALUE_BYTES], range[VALUE_BYTES], env[NAME_BYTES + 8];
	const struct vm_cvar *row = view->row;

	layer_begin(arg, view->layer);
	value_show(preset, row, view->preset);
	range_show(range, row);
	env_name(env, view->name);
	printf(".It Va %s Pq Em %s , %s , %s , %s\n", view->name,
	       vm_var_type_name(row->type), vm_var_when_name(row->when),
	       category_name(row->category), vm_level_name(row->level));
	sentence_print(row->text);
	if (range[0])
		printf("From %s.\n", range);
	printf("The default is %s.\n.Pq Ev %s\n", preset, env);
	return 0;
}

/* A list of words, a|b|c, may break behind each of them. */
static void facts_print(const char *facts)
{
	for (; *facts; facts++)
		printf(*facts == '|' ? "|\\:" : "%c", *facts);
}

static int pvar_print(const struct vm_pvar_view *view, void *arg)
{
	const struct vm_pvar *row = view->row;
	char layer[NAME_BYTES], facts[VALUE_BYTES];

	snprintf(layer, sizeof(layer), "%.*s", (int)strcspn(view->name, "_"),
		 view->name);
	layer_begin(arg, layer);
	pvar_facts(facts, row);
	printf(".It Va %s Pq ", view->name);
	facts_print(facts);
	putchar('\n');
	sentence_print(row->text);
	return 0;
}

static void categories_print(void)
{
	struct vm_category_view view;

	puts(".Sh CATEGORIES\n"
	     "Variables of both kinds belong to categories, which\n"
	     ".Nm vmpi_info Fl -categories\n"
	     "lists with their variables.\n"
	     ".Bl -tag -width overlap -compact");
	for (int i = 0; vm_category_info(i, &view); i++) {
		printf(".It Em %s\n", view.name);
		sentence_print(view.text);
		if (view.parent != VM_CATEGORY_none)
			printf("Part of\n.Em %s .\n",
			       category_name(view.parent));
	}
	puts(".El");
}

void manual_print(void)
{
	const char *layer = NULL;

	fputs(head, stdout);
	puts(".Sh CONTROL VARIABLES");
	vm_cvar_each(cvar_print, &layer);
	puts(layer ? ".El" : "None.");
	layer = NULL;
	puts(".Sh PERFORMANCE VARIABLES");
	puts("All are unsigned 64-bit numbers that count from the start of the "
	     "runtime, or\n"
	     "arrays of them.\n"
	     "Percentages are in millionths; a state is the number, counted from "
	     "0, of one of\n"
	     "the words given as its unit; a low-water mark without a level "
	     "yet is 2^64 - 1.");
	vm_pvar_each(pvar_print, &layer);
	if (layer)
		puts(".El");
	categories_print();
	fputs(tail, stdout);
}
