/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * argp reads the words and prints the help.  What it says of mistakes would be
 * two lines and say less, so it is kept quiet.
 *
 * A word that begins several options is no use to argp, but tells what was
 * meant; only then the nearest name is looked for.
 */
#include "report/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "report/complete.h"

#define WORD 60 /* bytes of what was typed that are repeated */
#define PREFIX_MAX 40
#define KEY_BASE 0x100 /* keys of rows without a letter: not printable */
#define FOREIGN_BASE 0x10000

void vm_cli_say(const char *format, ...)
{
	char line[4096], prefix[PREFIX_MAX];
	va_list args;

	snprintf(prefix, sizeof(prefix), "%s: ", vm_cli_program);
	va_start(args, format);
	vm_log_line(line, sizeof(line), prefix, format, args);
	va_end(args);
}

int vm_cli_no_memory(void)
{
	vm_cli_say("out of memory");
	return -VMPI_ENOMEM;
}

int vm_cli_end(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	vm_cli_say("standard output: %s", strerror(errno));
	return EXIT_FAILURE;
}

static bool is_meant(const struct vm_cli_row *row)
{
	return row->name && !(row->flags & OPTION_HIDDEN);
}

/* The row that takes what row i names: of an alias the one before. */
static const struct vm_cli_row *row_real(const struct vm_cli *cli, size_t i)
{
	while (i > 0 && cli->rows[i].flags & OPTION_ALIAS)
		i--;
	return &cli->rows[i];
}

/* The option of this name or letter; NULL: there is none. */
static const struct vm_cli_row *row_find(const struct vm_cli *cli,
					 const char *name)
{
	for (size_t i = 0; i < cli->count; i++) {
		const struct vm_cli_row *row = &cli->rows[i];

		if (row->name &&
		    (strcmp(row->name, name) == 0 ||
		     (name[0] && name[0] == row->letter && !name[1])))
			return row_real(cli, i);
	}
	return NULL;
}

/* Whether name is the beginning of several options; they are put into list. */
static bool rows_begin(char *list, size_t bytes, const char *name,
		       const struct vm_cli *cli)
{
	unsigned found = 0;
	size_t length = 0;

	for (size_t i = 0; name[0] && i < cli->count && length < bytes; i++) {
		const struct vm_cli_row *row = &cli->rows[i];

		if (is_meant(row) && !strncmp(row->name, name, strlen(name)))
			length += (size_t)snprintf(list + length,
						   bytes - length, "%s--%s",
						   found++ ? ", " : "",
						   row->name);
	}
	return found > 1;
}

const char *vm_cli_meant(char text[VM_CLI_MISTAKE_MAX],
			 const struct vm_nearest *nearest, const char *lists)
{
	const char *name = vm_nearest_name(nearest);

	if (name)
		snprintf(text, VM_CLI_MISTAKE_MAX, "did you mean %s?", name);
	else
		snprintf(text, VM_CLI_MISTAKE_MAX, "%s", lists);
	return text;
}

/* No option has this name. */
static void unknown_text(char text[VM_CLI_MISTAKE_MAX],
			 const struct vm_cli *cli, const char *word,
			 const char *name)
{
	struct vm_nearest nearest;
	const char *meant;

	vm_nearest_init(&nearest, name);
	for (size_t i = 0; i < cli->count; i++)
		if (is_meant(&cli->rows[i]))
			vm_nearest_offer(&nearest, cli->rows[i].name);
	meant = vm_nearest_name(&nearest);
	if (meant)
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: no such option; did you mean --%s?", WORD, word,
			 meant);
	else
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: no such option; %s --help lists them", WORD,
			 word, vm_cli_program);
}

void vm_cli_mistake(char text[VM_CLI_MISTAKE_MAX], const struct vm_cli *cli,
		    const char *word)
{
	char name[64], list[256];
	const char *bare = word + strspn(word, "-");
	size_t length = strcspn(bare, "=");
	const struct vm_cli_row *row;

	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name) - 1),
		 bare);
	row = row_find(cli, name);
	for (size_t i = 0; i < cli->foreign_count; i++)
		if (!strcmp(cli->foreign[i].name, name)) {
			snprintf(text, VM_CLI_MISTAKE_MAX,
				 cli->foreign[i].value ?
					 "%.*s: a value is needed" :
					 "%.*s: this option takes no value",
				 WORD, word);
			return;
		}
	if (row && row->value && !bare[length])
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: a value is needed: %.*s %s", WORD, word, WORD,
			 word, row->value);
	else if (row && !row->value && bare[length])
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: this option takes no value", WORD, word);
	else if (rows_begin(list, sizeof(list), name, cli))
		snprintf(text, VM_CLI_MISTAKE_MAX,
			 "%.*s: which option is meant: %s?", WORD, word, list);
	else
		unknown_text(text, cli, word, name);
}

static int row_key(const struct vm_cli *cli, size_t i)
{
	if (!cli->rows[i].name)
		return 0;
	return cli->rows[i].letter ? cli->rows[i].letter : KEY_BASE + (int)i;
}

/* What argp calls back with. */
struct parse {
	const struct vm_cli *cli;
	const struct argp *argp;
	struct options *options;
	int seen; /* words before this one are understood */
	int rc;	  /* of the function that took the last one */
};

/* The functions of two rows; vm_cli_parse() does what they stand for. */
int vm_cli_help(struct options *options, const char *value)
{
	(void)options;
	(void)value;
	return 0;
}

int vm_cli_version(struct options *options, const char *value)
{
	(void)options;
	(void)value;
	printf("%s (vmpi) %s\n", vm_cli_program, VM_VERSION);
	exit(vm_cli_end(EXIT_SUCCESS));
}

static void help_print(const struct argp *argp)
{
	char program[PREFIX_MAX];

	snprintf(program, sizeof(program), "%s", vm_cli_program);
	argp_help(argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK,
		  program);
	exit(vm_cli_end(EXIT_SUCCESS));
}

static int operand_take(struct parse *parse, struct argp_state *state)
{
	const struct vm_cli *cli = parse->cli;
	char **words = state->argv + state->next - 1;

	if (cli->command)
		state->next = state->argc;
	return cli->operand ? cli->operand(parse->options, words) : 0;
}

/* Takes an option; of two values, the second is the next word, or stands behind
 * a '='. */
static int row_take(struct parse *parse, const struct vm_cli_row *row,
		    const char *text, struct argp_state *state)
{
	char *both;
	int rc;

	if (!row->value || !strchr(row->value, ' ') || strchr(text, '='))
		return row->take(parse->options, text);
	if (state->next == state->argc) {
		vm_cli_say("--%s %s: two values are needed: --%s %s", row->name,
			   text, row->name, row->value);
		return -VMPI_EINVAL;
	}
	if (asprintf(&both, "%s=%s", text, state->argv[state->next++]) < 0)
		return vm_cli_no_memory();
	rc = row->take(parse->options, both);
	free(both);
	return rc;
}

/* Whether all that follows the dash are letters of options without a value. */
static bool is_cluster(const struct vm_cli *cli, const char *word)
{
	for (const char *at = word + 1; *at; at++) {
		size_t i = 0;

		while (i < cli->count &&
		       (cli->rows[i].letter != *at || cli->rows[i].value))
			i++;
		if (i == cli->count)
			return false;
	}
	return true;
}

/*
 * "-nolocal" is no "-n olocal": with one dash, small letters and dashes alone
 * behind a letter are a name that we do not know, not its value.
 */
static bool is_misread(const struct vm_cli *cli, const struct argp_state *state,
		       int letter, const char *text)
{
	const char *word = NULL;

	if (!cli->one_dash || letter <= ' ' || letter > '~')
		return false;
	/* Of a letter without a value argp goes on in the same word. */
	if (text && state->next > 0)
		word = state->argv[state->next - 1];
	else if (!text && state->next < state->argc)
		word = state->argv[state->next];
	if (!word || word[0] != '-' || word[1] != letter || !word[2] ||
	    (text && text != word + 2))
		return false;
	return !word[2 + strspn(word + 2, "abcdefghijklmnopqrstuvwxyz-")] &&
	       !is_cluster(cli, word);
}

static error_t word_take(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;
	const struct vm_cli *cli = parse->cli;
	size_t i = 0;

	if (is_misread(cli, state, key, text))
		return EINVAL;
	if (key == ARGP_KEY_ARG) {
		parse->rc = operand_take(parse, state);
	} else if (key >= FOREIGN_BASE &&
		   key < FOREIGN_BASE + (int)cli->foreign_count) {
		parse->rc = cli->foreign_take(parse->options,
					      &cli->foreign[key - FOREIGN_BASE],
					      text);
	} else {
		while (i < cli->count &&
		       (!cli->rows[i].name || row_key(cli, i) != key))
			i++;
		if (i == cli->count)
			return ARGP_ERR_UNKNOWN;
		if (row_real(cli, i)->take == vm_cli_help)
			help_print(parse->argp);
		parse->rc = row_take(parse, row_real(cli, i), text, state);
	}
	parse->seen = state->next;
	return parse->rc ? EINVAL : 0;
}

/* The build asks for what is installed for shells. */
static void completion_print(const struct vm_cli *cli, int argc, char **argv)
{
	static const char option[] = "--completion=";

	if (argc != 2 || strncmp(argv[1], option, sizeof(option) - 1) != 0)
		return;
	if (vm_complete_print(cli, argv[1] + sizeof(option) - 1))
		exit(VM_EXIT_MISTAKE);
	exit(vm_cli_end(EXIT_SUCCESS));
}

static void mistake_say(const struct vm_cli *cli, const char *word)
{
	char text[VM_CLI_MISTAKE_MAX];

	vm_cli_mistake(text, cli, word);
	vm_cli_say("%s", text);
}

int vm_cli_parse(const struct vm_cli *cli, struct options *options, int argc,
		 char **argv)
{
	struct argp_option *rows =
		calloc(cli->count + cli->foreign_count + 1, sizeof(*rows));
	struct argp argp = { .options = rows,
			     .parser = word_take,
			     .args_doc = cli->operands,
			     .doc = cli->doc };
	struct parse parse = { cli, &argp, options, 1, 0 };
	error_t error;

	completion_print(cli, argc, argv);
	for (size_t i = 0; rows && i < cli->count; i++) {
		const struct vm_cli_row *row = &cli->rows[i];

		rows[i] = (struct argp_option){ row->name,  row_key(cli, i),
						row->value, row->flags,
						row->doc,   row->group };
	}
	for (size_t i = 0; rows && i < cli->foreign_count; i++)
		rows[cli->count + i] = (struct argp_option){
			.name = cli->foreign[i].name,
			.key = FOREIGN_BASE + (int)i,
			.arg = cli->foreign[i].value,
			.flags = OPTION_HIDDEN,
		};
	error = rows ? argp_parse(&argp, argc, argv,
				  ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS |
					  (cli->one_dash ? ARGP_LONG_ONLY : 0),
				  NULL, &parse) :
		       ENOMEM;
	free(rows);
	if (parse.rc || !error)
		return parse.rc;
	if (error == ENOMEM)
		return vm_cli_no_memory();
	mistake_say(cli, argv[parse.seen < argc ? parse.seen : argc - 1]);
	return -VMPI_EINVAL;
}
