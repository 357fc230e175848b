/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values as text: what is taken, what is refused and with which words, and a
 * random test against the C library.
 */
#include "introspect/vars/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "tap.h"

static const struct vm_cvar int_row = { .type = VM_VAR_INT,
					.min = INT64_MIN,
					.max = INT64_MAX,
					.unit = "things" };
static const struct vm_cvar size_row = { .type = VM_VAR_SIZE,
					 .min = 0,
					 .max = INT64_MAX,
					 .unit = "bytes" };
static const struct vm_cvar narrow_row = { .type = VM_VAR_SIZE,
					   .min = 16384,
					   .max = 1099511627776,
					   .unit = "bytes" };
static const struct vm_cvar bool_row = { .type = VM_VAR_BOOL,
					 .min = 0,
					 .max = 1,
					 .unit = "flag" };
static const struct vm_cvar choice_row = { .type = VM_VAR_CHOICE,
					   .min = 0,
					   .max = 2,
					   .unit = "auto|read|write" };
static const struct vm_cvar string_row = { .type = VM_VAR_STRING,
					   .unit = "path" };

static void takes(const struct vm_cvar *row, const char *text, int64_t want)
{
	char why[VM_VALUE_WHY_MAX] = "";
	int64_t number = -77;
	int rc = vm_value_parse(row, &number, why, text);

	ok(rc == 0 && number == want, "a %s takes '%s' as %" PRId64,
	   vm_var_type_name(row->type), text, want);
	if (rc < 0)
		diag("%s", why);
}

static void refuses(const struct vm_cvar *row, const char *text,
		    const char *want)
{
	char why[VM_VALUE_WHY_MAX] = "";
	int64_t number = -77;
	int rc = vm_value_parse(row, &number, why, text);

	ok(rc == -VMPI_EINVAL && number == -77 && strstr(why, want),
	   "a %s refuses '%s': %s", vm_var_type_name(row->type), text, want);
	if (!strstr(why, want))
		diag("said: %s", why);
}

static void choices(void)
{
	char text[VM_NUMBER_MAX];

	takes(&choice_row, "auto", 0);
	takes(&choice_row, " Write ", 2);
	takes(&choice_row, "1", 1);
	refuses(&choice_row, "", "one of auto|read|write");
	refuses(&choice_row, "wri", "one of auto|read|write");
	refuses(&choice_row, "read|write", "one of auto|read|write");
	refuses(&choice_row, "3", "one of auto|read|write");
	vm_value_pretty(&choice_row, text, 1);
	is_string(text, "read", "a choice is shown as its word");
}

static void integers(void)
{
	takes(&int_row, "0", 0);
	takes(&int_row, "42", 42);
	takes(&int_row, "-42", -42);
	takes(&int_row, "  7\t", 7);
	takes(&int_row, "010", 10);
	takes(&int_row, "0x10", 16);
	takes(&int_row, "0XfF", 255);
	takes(&int_row, "-0x10", -16);
	takes(&int_row, "9223372036854775807", INT64_MAX);
	takes(&int_row, "-9223372036854775808", INT64_MIN);
	refuses(&int_row, "", "not a whole number");
	refuses(&int_row, "-", "not a whole number");
	refuses(&int_row, "+5", "not a whole number");
	refuses(&int_row, "- 5", "not a whole number");
	refuses(&int_row, "5x", "not a whole number");
	refuses(&int_row, "5K", "not a whole number");
	refuses(&int_row, "1.5", "not a whole number");
	refuses(&int_row, "1e3", "not a whole number");
	refuses(&int_row, "0x", "not a whole number");
	refuses(&int_row, "0xg", "not a whole number");
	refuses(&int_row, "four", "not a whole number");
	refuses(&int_row, "5 6", "not a whole number");
	refuses(&int_row, "9223372036854775808", "out of range");
	refuses(&int_row, "-9223372036854775809", "out of range");
	refuses(&int_row, "99999999999999999999999999", "out of range");
}

static void sizes(void)
{
	takes(&size_row, "0", 0);
	takes(&size_row, "1000", 1000);
	takes(&size_row, "1B", 1);
	takes(&size_row, "1K", 1024);
	takes(&size_row, "1k", 1024);
	takes(&size_row, "1KiB", 1024);
	takes(&size_row, "1kib", 1024);
	takes(&size_row, "3M", 3 << 20);
	takes(&size_row, "3 MiB", 3 << 20);
	takes(&size_row, "2G", INT64_C(2) << 30);
	takes(&size_row, "2GiB", INT64_C(2) << 30);
	takes(&size_row, "1T", INT64_C(1) << 40);
	takes(&size_row, "1TiB", INT64_C(1) << 40);
	takes(&size_row, "0x10K", 16384);
	takes(&size_row, "8388607T", INT64_C(8388607) << 40);
	refuses(&size_row, "", "not a size");
	refuses(&size_row, "K", "not a size");
	refuses(&size_row, "1KB", "not a size");
	refuses(&size_row, "1Q", "not a size; write a whole number");
	refuses(&size_row, "1Ki", "not a size");
	refuses(&size_row, "1.5M", "not a size");
	refuses(&size_row, "-1", "out of range; it may be 0 to");
	refuses(&size_row, "8388608T", "out of range");
	refuses(&size_row, "99999999999999999999G", "out of range");
	refuses(&narrow_row, "16383",
		"out of range; it may be 16K to 1T bytes");
	refuses(&narrow_row, "1025G",
		"out of range; it may be 16K to 1T bytes");
	takes(&narrow_row, "16K", 16384);
	takes(&narrow_row, "1024G", INT64_C(1) << 40);
}

static void switches(void)
{
	static const char *const on[] = { "1", "yes", "true", "on", "ON" };
	static const char *const off[] = { "0", "no", "false", "off", "False" };

	for (int i = 0; i < 5; i++) {
		takes(&bool_row, on[i], 1);
		takes(&bool_row, off[i], 0);
	}
	refuses(&bool_row, "2", "not a switch; write on or off");
	refuses(&bool_row, "", "not a switch");
	refuses(&bool_row, "yess", "not a switch");
	refuses(&bool_row, "y", "not a switch");
}

static void strings(void)
{
	char why[VM_VALUE_WHY_MAX] = "", text[VM_VAR_TEXT_MAX + 1];
	int64_t number = 5;

	memset(text, 'a', sizeof(text));
	text[VM_VAR_TEXT_MAX] = '\0';
	is_int(vm_value_parse(&string_row, &number, why, text), -VMPI_EINVAL,
	       "a string of %d bytes is refused", VM_VAR_TEXT_MAX);
	ok(strstr(why, "at most 4095 are allowed"), "the reason: %s", why);
	text[VM_VAR_TEXT_MAX - 1] = '\0';
	is_int(vm_value_parse(&string_row, &number, why, text), 0,
	       "one byte less is taken");
	is_int(number, 5, "a string leaves the number alone");
	refuses(&string_row, "a\nb", "byte 2 of the text is a control");
	is_int(vm_value_parse(&string_row, &number, why, "gr\xc3\xbcn"), 0,
	       "a string may be UTF-8");
}

static void formats(void)
{
	char text[VM_NUMBER_MAX];

	vm_value_format(text, INT64_MIN);
	is_string(text, "-9223372036854775808", "the least number fits");
	vm_value_pretty(&size_row, text, 0);
	is_string(text, "0", "size 0 stays 0");
	vm_value_pretty(&size_row, text, 1536);
	is_string(text, "1536", "a size stays exact");
	vm_value_pretty(&size_row, text, 1572864);
	is_string(text, "1536K", "a size takes the largest exact unit");
	vm_value_pretty(&size_row, text, INT64_C(1) << 50);
	is_string(text, "1024T", "the largest unit is T");
	vm_value_pretty(&int_row, text, 1024);
	is_string(text, "1024", "an int has no units");
}

/* The reference: strtoull on what is known to be digits. */
static bool model(const char *text, int64_t *number)
{
	static const char units[] = "BKMGT";
	size_t digits = strspn(text, "0123456789");
	__int128 value = 0;
	const char *unit;

	if (digits == 0 || strlen(text) > digits + 1)
		return false;
	for (size_t i = 0; i < digits; i++) {
		value = value * 10 + (text[i] - '0');
		if (value > INT64_MAX)
			return false;
	}
	if (text[digits]) {
		unit = strchr(units, text[digits]);
		if (!unit)
			return false;
		value <<= 10 * (unit - units);
	}
	if (value > INT64_MAX)
		return false;
	*number = (int64_t)value;
	return true;
}

/* Random words of the letters that matter; the seed is printed. */
static void random_words(uint64_t seed)
{
	static const char letters[] = "0123456789999KMGTB-x";
	char why[VM_VALUE_WHY_MAX], text[32], back[VM_NUMBER_MAX];
	uint64_t state = seed, taken = 0, wrong = 0;

	for (int round = 0; round < 200000; round++) {
		int64_t got = 0, want = 0, again = 0;
		size_t length;

		state = state * 6364136223846793005u + 1442695040888963407u;
		length = (state >> 33) % 22;
		for (size_t i = 0; i < length; i++) {
			state = state * 6364136223846793005u + 1;
			text[i] = letters[(state >> 33) %
					  (i + 1 < length ? 13 : 20)];
		}
		text[length] = '\0';
		if (model(text, &want) !=
		    (vm_value_parse(&size_row, &got, why, text) == 0)) {
			diag("differs from the model: '%s'", text);
			wrong++;
			continue;
		}
		vm_value_format(back, got);
		if (got != want ||
		    vm_value_parse(&size_row, &again, why, back) < 0 ||
		    again != got)
			wrong++;
		taken += got > 0;
	}
	is_int((intmax_t)wrong, 0,
	       "200000 random sizes are read as the model reads them "
	       "(seed %" PRIu64 ", %" PRIu64 " taken)",
	       seed, taken);
}

/* Any bytes at all: nothing but a clean answer. */
static void words(void)
{
	size_t length;
	const char *word;

	is_int(vm_words_count("auto|read|write"), 3, "three words");
	is_int(vm_words_count("only"), 1, "one word");
	word = vm_words_item("auto|read|write", 1, &length);
	ok(length == 4 && strncmp(word, "read", 4) == 0, "one in between");
	word = vm_words_item("auto|read|write", 2, &length);
	ok(length == 5 && strncmp(word, "write", 5) == 0, "the last one");
}

static void random_bytes(uint64_t seed)
{
	static const struct vm_cvar *const rows[] = { &int_row, &size_row,
						      &bool_row, &string_row };
	char why[VM_VALUE_WHY_MAX], text[40];
	uint64_t state = seed, wrong = 0;

	for (int round = 0; round < 100000; round++) {
		int64_t number = 0;
		size_t length;
		int rc;

		state = state * 6364136223846793005u + 1442695040888963407u;
		length = (state >> 33) % sizeof(text);
		for (size_t i = 0; i < length; i++) {
			state = state * 6364136223846793005u + 1;
			text[i] = (char)(state >> 40);
		}
		text[length] = '\0';
		why[0] = '\0';
		rc = vm_value_parse(rows[round % 4], &number, why, text);
		wrong += rc < 0 ? rc != -VMPI_EINVAL || !why[0] : why[0];
	}
	is_int((intmax_t)wrong, 0,
	       "100000 random texts get a value or a reason (seed %" PRIu64 ")",
	       seed);
}

int main(void)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	choices();
	integers();
	sizes();
	switches();
	strings();
	formats();
	words();
	random_words(seed);
	random_bytes(seed);
	return done_testing();
}
