/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is said of words that are no options.
 */
#include "report/cli.h"

#include <string.h>

#include "tap.h"

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Group:", 1 },
	{ "ranks", 'n', "N", 0, "Ranks", 1 },
	{ "np", 0, 0, OPTION_ALIAS, 0, 1 },
	{ "report", 0x100, 0, 0, "Report", 1 },
	{ "reports", 0x101, "DIR", OPTION_ARG_OPTIONAL, "Reports", 1 },
	{ "rehash", 0x102, 0, OPTION_HIDDEN, "Hidden", 1 },
	{ 0 },
};

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
		vm_cli_mistake(text, "prog", cases[i].word, options);
		is_string(text, cases[i].said, "%s", cases[i].why);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	vm_cli_mistake(text, "prog", longest, options);
	ok(strlen(text) < 120, "a long word is cut");
	return done_testing();
}
