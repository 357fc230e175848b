/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The language of the control socket: each request, each mistake, any bytes.
 */
#include "introspect/export/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "captured.h"
#include "farm.h"
#include "tap.h"

static int64_t rank_cows = 7;

static int rank_load(int64_t *value, int rank, int number)
{
	if (rank != 3)
		return -VMPI_ERANK;
	*value = rank_cows;
	return number == vm_cvar_find("farm_cows") ? 0 : -VMPI_EINVAL;
}

static int rank_store(int rank, int number, int64_t value)
{
	if (rank != 3)
		return -VMPI_ERANK;
	if (number != vm_cvar_find("farm_cows"))
		return -VMPI_EINVAL;
	rank_cows = value;
	return 0;
}

static const struct vm_control_ranks ranks = { rank_load, rank_store };

static const struct {
	const char *line, *answer;
} rows[] = {
	{ "get farm_cows", "ok 4" },
	{ "set farm_cows 12", "ok" },
	{ "get farm_cows", "ok 12" },
	{ " \tget  farm_cows \r\n", "ok 12" },
	{ "set farm_open off", "ok" },
	{ "get farm_open", "ok 0" },
	{ "set farm_dog Old Yeller", "ok" },
	{ "get farm_dog", "ok Old Yeller" },
	{ "set farm_dog", "ok" },
	{ "get farm_dog", "ok " },
	{ "rank 3 get farm_cows", "ok 7" },
	{ "rank 3 set farm_cows 9", "ok" },
	{ "rank 3 get farm_cows", "ok 9" },
	{ "get farm_cows", "ok 12" },
	{ "rank 4 get farm_cows", "error rank 4 is not in this process" },
	{ "rank 4 set farm_cows 9", "error rank 4 is not in this process" },
	{ "rank 3 set farm_open on",
	  "error farm_open has one value for all ranks of a process; set it "
	  "without a rank" },
	{ "rank 3 set farm_dog Rex",
	  "error farm_dog has one value for all ranks of a process; set it "
	  "without a rank" },
	{ "rank x get farm_cows",
	  "error rank 'x': the number of a rank is needed" },
	{ "rank", "error rank '': the number of a rank is needed" },
	{ "rank 1234567890 get farm_cows",
	  "error rank '1234567890': the number of a rank is needed" },
	{ "set farm_cows", "error the value of farm_cows is missing" },
	{ "set farm_cows many", "error farm_cows = many: not a whole number" },
	{ "set farm_cows 101",
	  "error farm_cows = 101: out of range; it may be -1 to 100 cows" },
	{ "set farm_milk_bytes 2048",
	  "error farm_milk_bytes can only be set before the runtime starts" },
	{ "set farm_cat Tom",
	  "error farm_cat can only be set before the runtime starts" },
	{ "get farm_cow",
	  "error no control variable is called 'farm_cow'; did you mean "
	  "farm_cows?" },
	{ "set quite_different 1",
	  "error no control variable is called 'quite_different'; vmpi_info "
	  "--cvars lists them" },
	{ "get", "error the name of a control variable is missing; vmpi_info "
		 "--cvars lists them" },
	{ "get farm_cows now", "error the request has too many arguments" },
	{ "ping me", "error the request has too many arguments" },
	{ "",
	  "error '' is not a request; requests are ping, get NAME, set NAME "
	  "VALUE, and rank R before get and set" },
	{ "GET \033[2J / HTTP/1.1",
	  "error 'GET' is not a request; requests are ping, get NAME, set NAME "
	  "VALUE, and rank R before get and set" },
	{ "\033[2J",
	  "error '?[2J' is not a request; requests are ping, get NAME, set NAME "
	  "VALUE, and rank R before get and set" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static char answer[VM_CONTROL_LINE_MAX];

static void ask(const char *line, const char *want, const char *name)
{
	const char *said;

	captured_begin();
	vm_control_answer(answer, line, &ranks);
	said = captured_end();
	is_string(answer, want, "%s", name);
	if (said[0])
		ok(false, "nothing is logged, but: %s", said);
}

/* Lines made of words that mean something, and of any bytes. */
static void random_lines(void)
{
	static const char *const words[] = {
		"rank",	     "3",    "get", "set", "ping", "farm_cows",
		"farm_open", "64K ", "-1",  "\t",  "%s%n", "farm_dog",
	};
	char line[2 * VM_CONTROL_LINE_MAX];
	unsigned seed = 17;
	bool good = true;

	for (int i = 0; i < 20000; i++) {
		size_t length = 0;
		int count = rand_r(&seed) % 8;

		for (int k = 0; k < count; k++)
			length += (size_t)snprintf(
				line + length, sizeof(line) - length, "%s%s",
				words[rand_r(&seed) % 12],
				rand_r(&seed) % 5 ? " " : "");
		if (length && rand_r(&seed) % 3 == 0)
			line[(size_t)rand_r(&seed) % length] =
				(char)(1 + rand_r(&seed) % 255);
		line[length] = '\0';
		vm_control_answer(answer, line, &ranks);
		good &= !strcmp(answer, "ok") || !strncmp(answer, "ok ", 3) ||
			!strncmp(answer, "error ", 6);
	}
	ok(good, "whatever is asked, there is an answer");
}

int main(void)
{
	char line[2 * VM_CONTROL_LINE_MAX], want[128];

	vm_vars_add(&farm_cvar_table);
	snprintf(want, sizeof(want), "ok vmpi %s", vmpi_version());
	ask("ping", want, "ping says who is there");
	for (size_t i = 0; i < ROWS; i++)
		ask(rows[i].line, rows[i].answer,
		    rows[i].line[0] > ' ' ? rows[i].line : "another line");
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	ask(line, "error a request has at most 4351 bytes",
	    "a line that is too long is refused");
	memcpy(line, "set farm_dog ", 13);
	line[13 + VM_VAR_TEXT_MAX] = '\0';
	ask(line,
	    "error farm_dog = "
	    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	    "...: the text has 4096 bytes; at most 4095 are allowed",
	    "and so is a value");
	vm_control_answer(answer, "rank 3 get farm_cows", NULL);
	is_string(answer,
		  "error single ranks have no values of their own in this "
		  "process",
		  "where no rank can be asked that is said");
	random_lines();
	return done_testing();
}
