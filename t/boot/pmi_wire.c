/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of PMI-1: what others write is read, what is none is refused, and
 * nothing is read or written beyond the line, whatever comes.
 */
#include "boot/pmi_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tap.h"
#include "vmpi.h"

#define RANDOM_LINES 400000
#define RANDOM_SEED 20261120u

/* Parses a copy that ends with the line, so that sanitizers see its end. */
static int parse(struct vm_pmi_message *message, char **copy, const char *line)
{
	free(*copy);
	*copy = strdup(line);
	return *copy ? vm_pmi_parse(message, *copy) : -VMPI_ENOMEM;
}

static void good_test(void)
{
	struct vm_pmi_message message;
	char *copy = NULL;

	is_int(parse(&message, &copy, "cmd=barrier_in"), 0,
	       "a command alone is a line");
	is_string(message.command, "barrier_in", "it is found");
	is_int(parse(&message, &copy,
		     "cmd=put kvsname=k key=a-b.c value=x y=z  w "),
	       0, "a value may have blanks");
	is_string(vm_pmi_text(&message, "key"), "a-b.c", "the key is a word");
	is_string(vm_pmi_text(&message, "value"), "x y=z  w ",
		  "the value is the rest");
	ok(!vm_pmi_text(&message, "y"), "which is not looked into");
	is_int(parse(&message, &copy, "  cmd=maxes   kvsname_max=256 rc= "), 0,
	       "more blanks than needed do no harm");
	is_int(vm_pmi_number(&message, "kvsname_max", -7), 256,
	       "numbers are read");
	is_string(vm_pmi_text(&message, "rc"), "", "a value may be empty");
	is_int(vm_pmi_number(&message, "rc", -7), -7, "then it is no number");
	is_int(vm_pmi_number(&message, "nosuch", 5), 5,
	       "for a key that is not there the caller has one");
	is_int(parse(&message, &copy,
		     "cmd=a n=-1 m=2147483647 o=2147483648 "
		     "p=1x q=-- r=99999999999 s=+1 t=-"),
	       0, "several numbers");
	is_int(vm_pmi_number(&message, "n", 9), -1, "a negative one");
	is_int(vm_pmi_number(&message, "m", 9), 2147483647, "the largest");
	for (const char *key = "opqrst"; *key; key++)
		is_int(vm_pmi_number(&message, (char[]){ *key, 0 }, 9), 9,
		       "%c is none", *key);
	is_int(parse(&message, &copy, "cmd=a a=1 a=2"), 0, "a key twice");
	is_int(vm_pmi_number(&message, "a", 0), 1, "is the first one");
	free(copy);
}

static void bad_test(void)
{
	static const char *const lines[] = {
		"",
		" ",
		"=",
		"cmd",
		"cmd=",
		"cmd= x=1",
		"=x cmd=y",
		"x=1 cmd=y",
		"put cmd=y",
		"cmd=y put",
		"cmd=y =1",
		"cmd=y  ==",
		"mcmd=spawn",
		"cmd=\ta",
		"cmd=a\r",
		"cmd=a \x7f=1",
		"cmd=a\x80",
		"cmd=\xff\xfe",
		"cmd=a\1b",
		"GET / HTTP/1.1",
		"cmd=a 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 9=9 10=10 11=11 12=12 "
		"13=13 14=14 15=15 16=16",
	};
	struct vm_pmi_message message;
	char *copy = NULL;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		is_int(parse(&message, &copy, lines[i]), -VMPI_EINVAL,
		       "line %zu is refused", i);
	is_int(parse(&message, &copy,
		     "cmd=a 1=1 2=2 3=3 4=4 5=5 6=6 7=7 8=8 "
		     "9=9 10=10 11=11 12=12 13=13 14=14 "
		     "15=15"),
	       0, "but %d pairs are allowed", VM_PMI_PAIRS_MAX);
	free(copy);
}

/* All lines of up to five characters of those that matter. */
static void all_test(void)
{
	static const char letters[] = "c= v\1";
	struct vm_pmi_message message;
	unsigned read = 0, wrong = 0, lines = 0;
	char *copy = NULL;

	for (unsigned code = 0; code < 6 * 6 * 6 * 6 * 6; code++) {
		char line[16] = "cmd=";
		unsigned rest = code;

		for (int i = 4; i < 9; i++, rest /= 6)
			line[i] = letters[rest % 6];
		line[9] = '\0';
		lines++;
		if (parse(&message, &copy, line))
			continue;
		read++;
		/* A line that is read has a command and no control letters. */
		wrong += strchr(line, '\1') || line[4] == ' ' || !line[4] ||
			 !message.command[0] || message.count < 1;
	}
	ok(read > 0 && read < lines, "of %u short lines %u are read", lines,
	   read);
	is_int(wrong, 0, "all of them rightly");
	free(copy);
}

static unsigned random_next(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Lines made of pieces of real ones, with bytes changed. */
static void random_test(void)
{
	static const char *const pieces[] = {
		"cmd=",	      "put ",
		"key=",	      "value=",
		" ",	      "=",
		"rc=-1 ",     "x",
		"vmpi=1 ",    "cmd=vmpi_left process=3 status=137",
		"mcmd=spawn", "99999999999999999999",
		"-",	      "endcmd",
	};
	struct vm_pmi_message message;
	unsigned state = RANDOM_SEED, read = 0, outside = 0;
	char *copy = NULL;

	for (int n = 0; n < RANDOM_LINES; n++) {
		char line[512] = "";
		size_t used = 0;

		for (unsigned i = random_next(&state) % 12; i; i--) {
			unsigned piece = random_next(&state) %
					 (sizeof(pieces) / sizeof(pieces[0]));

			used += (size_t)snprintf(line + used,
						 sizeof(line) - used, "%s",
						 pieces[piece]);
		}
		if (used && random_next(&state) % 4 == 0)
			line[random_next(&state) % used] =
				(char)(random_next(&state) % 255 + 1);
		if (parse(&message, &copy, line))
			continue;
		read++;
		for (int i = 0; i < message.count; i++) {
			const char *end = message.pairs[i].value +
					  strlen(message.pairs[i].value);

			outside += message.pairs[i].key < copy ||
				   end > copy + used;
			vm_pmi_number(&message, message.pairs[i].key, 0);
		}
	}
	diag("seed %u: %u of %d lines read", RANDOM_SEED, read, RANDOM_LINES);
	ok(read > 1000, "random lines are read");
	is_int(outside, 0, "and all pairs lie in their line");
	free(copy);
}

static void reader_test(void)
{
	static struct vm_pmi_reader reader;
	static char much[3 * VM_PMI_LINE_MAX];
	int ends[2];
	char *line;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		bail("no sockets");
	vm_pmi_reader_init(&reader);
	is_int(vm_pmi_reader_fill(&reader, ends[0]), -VMPI_EAGAIN,
	       "nothing has come");
	is_int(write(ends[1], "cmd=a\ncm", 8), 8, "a line and a half come");
	is_int(vm_pmi_reader_fill(&reader, ends[0]), 8, "they are read");
	is_string(vm_pmi_reader_line(&reader), "cmd=a", "the line is there");
	ok(!vm_pmi_reader_line(&reader), "the half is none");
	is_int(write(ends[1], "d=b\n\n", 5), 5, "its end comes");
	is_int(vm_pmi_reader_fill(&reader, ends[0]), 5, "it is read");
	is_string(vm_pmi_reader_line(&reader), "cmd=b", "the line is whole");
	is_string(vm_pmi_reader_line(&reader), "", "an empty line is one");
	is_int(write(ends[1], "cmd=a\0b\n", 8), 8, "a zero comes");
	vm_pmi_reader_fill(&reader, ends[0]);
	line = vm_pmi_reader_line(&reader);
	ok(line && strlen(line) == 7, "it does not hide what follows");
	memset(much, 'x', sizeof(much));
	is_int(write(ends[1], much, sizeof(much)), sizeof(much),
	       "more than a line without an end comes");
	while (vm_pmi_reader_fill(&reader, ends[0]) > 0)
		if (vm_pmi_reader_line(&reader))
			break;
	is_int(vm_pmi_reader_fill(&reader, ends[0]), -VMPI_ELIMIT,
	       "that is too long");
	close(ends[1]);
	vm_pmi_reader_init(&reader);
	while (vm_pmi_reader_fill(&reader, ends[0]) > 0)
		vm_pmi_reader_init(&reader);
	is_int(vm_pmi_reader_fill(&reader, ends[0]), 0, "the end is seen");
	close(ends[0]);
	is_int(vm_pmi_reader_fill(&reader, ends[0]), -VMPI_EIO,
	       "a descriptor that is none is an error");
}

int main(void)
{
	good_test();
	bad_test();
	all_test();
	random_test();
	reader_test();
	return done_testing();
}
