/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion scripts for bash and zsh, made from the table of options.
 *
 * A value is completed by what the help calls it: DIR and FILE by files,
 * NAME=VALUE by the variables that vmpi_info lists; or by its row in
 * cli->words.
 */
#include "report/complete.h"

#include <stdio.h>
#include <string.h>

#include "report/option.h"
#include "vmpi.h"

#define VARIABLES "vmpi_info --names --cvars 2>/dev/null"

static bool is_shown(const struct vm_cli_row *row)
{
	return row->name && !(row->flags & OPTION_HIDDEN);
}

/* Whether the value may be the next word of the line. */
static bool is_followed(const struct vm_cli_row *row)
{
	return row->value && !(row->flags & OPTION_ARG_OPTIONAL);
}

static bool value_is(const struct vm_cli_row *row, const char *kind)
{
	return !strncmp(row->value, kind, strlen(kind));
}

static const char *row_words(const struct vm_cli *cli,
			     const struct vm_cli_row *row)
{
	const struct vm_cli_words *words = cli->words;

	while (words && words->name && strcmp(words->name, row->name) != 0)
		words++;
	return words ? words->words : NULL;
}

/* Both spellings of an option, each with what comes before and behind it. */
static void bash_names(const struct vm_cli_row *row, const char *before,
		       const char *behind)
{
	printf("%s--%s%s", before, row->name, behind);
	if (row->letter)
		printf("%s-%c%s", before, row->letter, behind);
}

static void bash_options(const struct vm_cli *cli)
{
	printf("\tlocal options='");
	for (size_t i = 0; i < cli->count; i++)
		if (is_shown(&cli->rows[i]))
			bash_names(&cli->rows[i], "", " ");
	printf("'\n\tlocal followed=' ");
	for (size_t i = 0; i < cli->count; i++)
		if (is_shown(&cli->rows[i]) && is_followed(&cli->rows[i]))
			bash_names(&cli->rows[i], "", " ");
	printf("'\n");
}

static void bash_value(const struct vm_cli *cli, const struct vm_cli_row *row)
{
	const char *words = row_words(cli, row);

	printf("\t--%s%s", row->name, is_followed(row) ? "" : "=");
	if (row->letter)
		printf(" | -%c", row->letter);
	printf(")\n");
	if (words)
		printf("\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n",
		       words);
	else if (value_is(row, "DIR"))
		printf("\t\tCOMPREPLY=($(compgen -d -- \"$cur\"))\n");
	else if (value_is(row, "NAME=VALUE"))
		printf("\t\tcompopt -o nospace\n"
		       "\t\tCOMPREPLY=($(compgen -S = -W "
		       "\"$(" VARIABLES ")\" -- \"$cur\"))\n");
	/* Else what bash does by default: files. */
	printf("\t\treturn\n\t\t;;\n");
}

/* The first operand is a command, whose words are completed as its own. */
static void bash_command(void)
{
	printf("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	       "\t\tword=${COMP_WORDS[i]}\n"
	       "\t\tcase $word in\n"
	       "\t\t=) ((i++)) ;;\n"
	       "\t\t-*)\n"
	       "\t\t\t[[ $word != -[!-]?* ]] || word=-$word\n"
	       "\t\t\t[[ $followed != *\" $word \"* ||\n"
	       "\t\t\t\t${COMP_WORDS[i + 1]} == = ]] || ((i++))\n"
	       "\t\t\t;;\n"
	       "\t\t*)\n"
	       "\t\t\t! declare -F _command_offset >/dev/null ||\n"
	       "\t\t\t\t_command_offset $i\n"
	       "\t\t\treturn\n"
	       "\t\t\t;;\n"
	       "\t\tesac\n"
	       "\tdone\n");
}

static void bash_print(const struct vm_cli *cli)
{
	const char *program = vm_cli_program;

	printf("# bash completion for %s, made from its table of options\n"
	       "_%s()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} i word\n"
	       "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n",
	       program, program);
	bash_options(cli);
	printf("\n\tCOMPREPLY=()\n");
	if (cli->command)
		bash_command();
	if (cli->one_dash)
		printf("\t[[ $prev != -[!-]?* ]] || prev=-$prev\n");
	printf("\t# An option, = and its value are three words.\n"
	       "\tif [[ $cur == = ]]; then\n"
	       "\t\tcur= word==\n"
	       "\telif [[ $prev == = ]]; then\n"
	       "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]} word==\n"
	       "\telse\n"
	       "\t\tword=\n"
	       "\tfi\n"
	       "\t[[ $followed == *\" $prev \"* ]] || prev=$prev$word\n");
	printf("\tcase $prev in\n");
	for (size_t i = 0; i < cli->count; i++)
		if (is_shown(&cli->rows[i]) && cli->rows[i].value)
			bash_value(cli, &cli->rows[i]);
	printf("\tesac\n"
	       "\tif [[ $cur == -* ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n");
	if (cli->command)
		printf("\telse\n\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n");
	printf("\tfi\n}\n"
	       "complete -o bashdefault -o default -F _%s %s\n",
	       program, program);
}

/* A text within quotes and brackets. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\'");
		else if (strchr("[]:\\", *text))
			printf("\\");
		putchar(*text);
	}
}

static void zsh_value(const struct vm_cli *cli, const struct vm_cli_row *row)
{
	const char *words = row_words(cli, row);

	printf("%s", row->flags & OPTION_ARG_OPTIONAL ? "::" : ":");
	zsh_text(row->value);
	printf(":");
	if (words)
		printf("(%s)", words);
	else if (value_is(row, "DIR"))
		printf("_files -/");
	else if (value_is(row, "FILE"))
		printf("_files");
	else if (value_is(row, "NAME=VALUE"))
		printf("_vmpi_variables");
}

static void zsh_option(const struct vm_cli *cli, const struct vm_cli_row *row)
{
	const char *long_end = !row->value ? "" : is_followed(row) ? "=" : "=-";

	printf("\t'");
	if (strstr(row->doc, "may be repeated"))
		printf("*'");
	else if (row->letter)
		printf("(-%c --%s)'", row->letter, row->name);
	else
		printf("'");
	if (row->letter)
		printf("{'-%c%s',--%s%s}", row->letter, row->value ? "+" : "",
		       row->name, long_end);
	else
		printf("--%s%s", row->name, long_end);
	printf("'[");
	zsh_text(row->doc);
	printf("]");
	if (row->value)
		zsh_value(cli, row);
	printf("' \\\n");
}

static void zsh_print(const struct vm_cli *cli)
{
	printf("#compdef %s\n"
	       "# zsh completion for %s, made from its table of options\n"
	       "_vmpi_variables()\n{\n"
	       "\tlocal -a names\n"
	       "\tnames=(${(f)\"$(" VARIABLES ")\"})\n"
	       "\tcompadd -S = -a names\n}\n\n"
	       "_arguments -S \\\n",
	       vm_cli_program, vm_cli_program);
	for (size_t i = 0; i < cli->count; i++)
		if (is_shown(&cli->rows[i]))
			zsh_option(cli, &cli->rows[i]);
	if (cli->command)
		printf("\t'(-)1:program:{ _command_names -e; _files }' \\\n"
		       "\t'*::argument:_normal'\n");
	else
		printf("\t'*:operand:_default'\n");
}

int vm_complete_print(const struct vm_cli *cli, const char *shell)
{
	if (!strcmp(shell, "bash"))
		bash_print(cli);
	else if (!strcmp(shell, "zsh"))
		zsh_print(cli);
	else
		return vm_option_refuse("--completion", shell,
					"bash or zsh is needed");
	return 0;
}
