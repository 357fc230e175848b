/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A command line: what is taken, and what is said of words that are no options.
 */
#include "report/cli.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "introspect/captured.h"
#include "tap.h"

const char vm_cli_program[] = "prog";

struct options {
	const char *ranks, *dir, *first;
	char **command;
	int operands;
	bool report, reports;
};

VM_CLI_TEXT(ranks, ranks)
VM_CLI_FLAG(report, report)

static int reports_take(struct options *options, const char *value)
{
	options->reports = true;
	options->dir = value;
	return 0;
}

static int refuse_take(struct options *options, const char *value)
{
	vm_cli_say("--refuse %s:\nnever", value);
	return -VMPI_ERANK;
}

static const struct vm_cli_row rows[] = {
	{ 0, 0, 0, 0, "Group:", 1, 0 },
	{ "ranks", 'n', "N", 0, "Ranks", 1, ranks_take },
	{ "np", 0, 0, OPTION_ALIAS, 0, 1, 0 },
	{ "report", 0, 0, 0, "Report", 1, report_take },
	{ "reports", 0, "DIR", OPTION_ARG_OPTIONAL, "Reports", 1,
	  reports_take },
	{ "rehash", 0, 0, OPTION_HIDDEN, "Hidden", 1, report_take },
	{ "fuse", 0, "X", 0, "Refused", 1, refuse_take },
	{ "help", '?', 0, 0, "Print this text", -1, vm_cli_help },
	{ "version", 'V', 0, 0, "Print the version", -1, vm_cli_version },
};

static int operand_take(struct options *options, char **words)
{
	if (!options->operands++)
		options->first = words[0];
	return 0;
}

static int command_take(struct options *options, char **words)
{
	options->command = words;
	return 0;
}

static struct vm_cli cli = { VM_CLI_ROWS(rows), .operands = "[JOB]",
			     .doc = "Do.", .operand = operand_take };

/* Reads up to six words; what was said is in captured_end(). */
static int parse(struct options *options, const char *one, const char *two,
		 const char *three, const char *four)
{
	static char *words[6];

	words[0] = (char *)"prog";
	words[1] = (char *)one;
	words[2] = (char *)two;
	words[3] = (char *)three;
	words[4] = (char *)four;
	*options = (struct options){ 0 };
	captured_begin();
	return vm_cli_parse(&cli, options,
			    words[4] ? 5 :
			    words[3] ? 4 :
			    words[2] ? 3 :
			    words[1] ? 2 :
				       1,
			    words);
}

static void test_taken(void)
{
	struct options o;

	is_int(parse(&o, NULL, NULL, NULL, NULL), 0, "there need be no words");
	is_int(parse(&o, "-n", "3", "job", "--reports=d"), 0,
	       "words are taken");
	is_string(captured_end(), "", "... without a word");
	is_string(o.ranks, "3", "... a value behind a letter");
	is_string(o.dir, "d", "... one behind =");
	is_string(o.first, "job", "... an operand between");
	parse(&o, "--np", "4", "--reports", "a");
	captured_end();
	is_string(o.ranks, "4", "an alias is the option before it");
	ok(o.reports && !o.dir && !strcmp(o.first, "a"),
	   "a value that may be missing stands behind = only");
	parse(&o, "--ran=5", "--", "--report", NULL);
	captured_end();
	ok(o.ranks && !strcmp(o.ranks, "5") && !o.report && o.operands == 1,
	   "an abbreviation, and -- before operands");
	cli.operand = command_take;
	cli.command = cli.one_dash = true;
	is_int(parse(&o, "-np", "6", "run", "--report"), 0,
	       "one dash is as good as two");
	captured_end();
	ok(!o.report && o.command && !strcmp(o.command[1], "--report") &&
		   !o.command[2],
	   "the options of a command are its own");
	cli.operand = operand_take;
	cli.command = cli.one_dash = false;
}

static void test_refused(void)
{
	struct options o;

	is_int(parse(&o, "--fuse", "x", "--nosuch", NULL), -VMPI_ERANK,
	       "what an option refuses is the result");
	is_string(captured_end(), "prog: --refuse x: never\n",
		  "... after its one line");
	is_int(parse(&o, "--report", "--nosuch", NULL, NULL), -VMPI_EINVAL,
	       "a word that is no option is a mistake");
	is_string(captured_end(),
		  "prog: --nosuch: no such option; prog --help lists them\n",
		  "... after one line");
	is_int(parse(&o, "job", "-n", NULL, NULL), -VMPI_EINVAL,
	       "so is a missing value");
	is_string(captured_end(), "prog: -n: a value is needed: -n N\n",
		  "... of the right word");
}

/* What a program prints with this word, which ends it; its exit status. */
static int printed(char *text, size_t bytes, const char *word,
		   const char *to_file)
{
	struct options o;
	int ends[2], status;
	ssize_t length;

	fflush(stdout);
	if (pipe(ends))
		bail("pipe");
	if (fork() == 0) {
		dup2(to_file ? open(to_file, O_WRONLY) : ends[1], 1);
		close(2);
		parse(&o, word, NULL, NULL, NULL);
		_exit(99);
	}
	close(ends[1]);
	wait(&status);
	length = read(ends[0], text, bytes - 1);
	text[length > 0 ? length : 0] = '\0';
	close(ends[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_printed(void)
{
	char text[4000];

	is_int(printed(text, sizeof(text), "--version", NULL), 0,
	       "--version ends the program");
	is_string(text, "prog (vmpi) " VM_VERSION "\n", "... and prints it");
	is_int(printed(text, sizeof(text), "-?", NULL), 0, "so does --help");
	ok(strstr(text, "Usage: prog [OPTION...] [JOB]\nDo.\n") &&
		   strstr(text, "--np=N") && strstr(text, " Group:") &&
		   !strstr(text, "rehash"),
	   "... with all options but hidden ones");
	is_int(printed(text, sizeof(text), "--help", "/dev/full"), 1,
	       "a full disk is an error");
}

int main(void)
{
	static const struct {
		const char *word, *said, *why;
	} cases[] = {
		{ "--ranks", "--ranks: a value is needed: --ranks N",
		  "a value is missing" },
		{ "-n", "-n: a value is needed: -n N", "... of a letter" },
		{ "--np", "--np: a value is needed: --np N",
		  "... of another name for it" },
		{ "--report=x", "--report=x: this option takes no value",
		  "a value is too much" },
		{ "--rep", "--rep: which option is meant: --report, --reports?",
		  "the beginning of several" },
		{ "--rnaks=3",
		  "--rnaks=3: no such option; did you mean --ranks?",
		  "the nearest name" },
		{ "--rehahs",
		  "--rehahs: no such option; prog --help lists them",
		  "hidden ones are not meant" },
		{ "--elephant",
		  "--elephant: no such option; prog --help lists "
		  "them",
		  "nothing near" },
		{ "-", "-: no such option; prog --help lists them", "no name" },
		{ "", ": no such option; prog --help lists them", "nothing" },
	};
	char text[VM_CLI_MISTAKE_MAX], longest[1000];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		vm_cli_mistake(text, &cli, cases[i].word);
		is_string(text, cases[i].said, "%s", cases[i].why);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	vm_cli_mistake(text, &cli, longest);
	ok(strlen(text) < 120, "a long word is cut");
	test_taken();
	test_refused();
	test_printed();
	return done_testing();
}
