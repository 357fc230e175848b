/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strtoll() is not used: it takes 010 for 8, and leading blanks and signs where
 * none belong.
 */
#include "introspect/vars/value.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

enum outcome { NUMBER_GOOD, NUMBER_BAD, NUMBER_OVERFLOW };

/* A part of a text that is not 0-terminated at its end. */
struct span {
	const char *begin, *end;
};

static struct span trim(const char *text)
{
	struct span span = { text, text + strlen(text) };

	while (span.begin < span.end && isspace((unsigned char)*span.begin))
		span.begin++;
	while (span.end > span.begin && isspace((unsigned char)span.end[-1]))
		span.end--;
	return span;
}

static bool span_is(struct span span, const char *word)
{
	size_t length = (size_t)(span.end - span.begin);

	return strlen(word) == length &&
	       strncasecmp(span.begin, word, length) == 0;
}

/* The value of a digit in base 10 or 16, or -1. */
static int digit(char c, int base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	if (base == 16 && c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Takes digits from the front of span. */
static enum outcome take_digits(struct span *span, uint64_t *magnitude)
{
	enum outcome outcome = NUMBER_BAD;
	uint64_t sum = 0;
	int base = 10;

	if (span->end - span->begin > 2 && span->begin[0] == '0' &&
	    (span->begin[1] == 'x' || span->begin[1] == 'X')) {
		base = 16;
		span->begin += 2;
	}
	for (; span->begin < span->end; span->begin++) {
		int d = digit(*span->begin, base);

		if (d < 0)
			break;
		if (outcome == NUMBER_BAD)
			outcome = NUMBER_GOOD;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)d, &sum))
			outcome = NUMBER_OVERFLOW;
	}
	*magnitude = sum;
	return outcome;
}

/* How far a size's suffix shifts its number, or -1 if it is none. */
static int suffix_shift(struct span suffix)
{
	static const char letters[] = "KMGT";
	char word[] = "KiB";

	if (span_is(suffix, "") || span_is(suffix, "B"))
		return 0;
	for (int i = 0; letters[i]; i++) {
		word[0] = letters[i];
		if (span_is(suffix, word))
			return 10 * (i + 1);
		if (suffix.end - suffix.begin == 1 &&
		    toupper((unsigned char)*suffix.begin) == letters[i])
			return 10 * (i + 1);
	}
	return -1;
}

static enum outcome number_parse(struct span span, bool size, int64_t *number)
{
	bool negative = span.begin < span.end && *span.begin == '-';
	enum outcome outcome;
	uint64_t magnitude, limit;
	int shift;

	span.begin += negative;
	outcome = take_digits(&span, &magnitude);
	if (outcome == NUMBER_BAD)
		return NUMBER_BAD;
	while (size && span.begin < span.end && *span.begin == ' ')
		span.begin++;
	shift = size || span.begin == span.end ? suffix_shift(span) : -1;
	if (shift < 0)
		return NUMBER_BAD;
	limit = ((uint64_t)INT64_MAX + negative) >> shift;
	if (outcome == NUMBER_OVERFLOW || magnitude > limit)
		return NUMBER_OVERFLOW;
	magnitude <<= shift;
	*number = (int64_t)(negative ? 0 - magnitude : magnitude);
	return NUMBER_GOOD;
}

static int bool_parse(struct span span, int64_t *number)
{
	static const char *const words[2][4] = {
		{ "0", "no", "false", "off" },
		{ "1", "yes", "true", "on" },
	};

	for (int value = 0; value < 2; value++) {
		for (int i = 0; i < 4; i++) {
			if (span_is(span, words[value][i])) {
				*number = value;
				return 0;
			}
		}
	}
	return -VMPI_EINVAL;
}

unsigned vm_words_count(const char *words)
{
	unsigned count = 1;

	while ((words = strchr(words, '|'))) {
		words++;
		count++;
	}
	return count;
}

const char *vm_words_item(const char *words, unsigned i, size_t *length)
{
	for (; i > 0; i--)
		words += strcspn(words, "|") + 1;
	*length = strcspn(words, "|");
	return words;
}

static int choice_parse(const struct vm_cvar *row, struct span span,
			int64_t *number, char why[VM_VALUE_WHY_MAX])
{
	for (int64_t i = row->min; i <= row->max; i++) {
		char word[VM_NUMBER_MAX], digits[VM_NUMBER_MAX];

		vm_value_pretty(row, word, i);
		vm_value_format(digits, i);
		if (span_is(span, word) || span_is(span, digits)) {
			*number = i;
			return 0;
		}
	}
	snprintf(why, VM_VALUE_WHY_MAX, "not a choice; write one of %s",
		 row->unit);
	return -VMPI_EINVAL;
}

static int string_check(const char *text, char why[VM_VALUE_WHY_MAX])
{
	size_t length = strlen(text);

	if (length >= VM_VAR_TEXT_MAX) {
		snprintf(why, VM_VALUE_WHY_MAX,
			 "the text has %zu bytes; at most %d are allowed",
			 length, VM_VAR_TEXT_MAX - 1);
		return -VMPI_EINVAL;
	}
	for (size_t i = 0; i < length; i++) {
		if (iscntrl((unsigned char)text[i])) {
			snprintf(why, VM_VALUE_WHY_MAX,
				 "byte %zu of the text is a control character; "
				 "leave it out",
				 i + 1);
			return -VMPI_EINVAL;
		}
	}
	return 0;
}

static int range_check(const struct vm_cvar *row, enum outcome outcome,
		       int64_t number, char why[VM_VALUE_WHY_MAX])
{
	char min[VM_NUMBER_MAX], max[VM_NUMBER_MAX];

	if (outcome == NUMBER_GOOD && number >= row->min && number <= row->max)
		return 0;
	vm_value_pretty(row, min, row->min);
	vm_value_pretty(row, max, row->max);
	snprintf(why, VM_VALUE_WHY_MAX, "out of range; it may be %s to %s %s",
		 min, max, row->unit);
	return -VMPI_EINVAL;
}

int vm_value_parse(const struct vm_cvar *row, int64_t *number,
		   char why[VM_VALUE_WHY_MAX], const char *text)
{
	bool size = row->type == VM_VAR_SIZE;
	struct span span = trim(text);
	enum outcome outcome;
	int64_t value = 0;
	int rc;

	if (row->type == VM_VAR_STRING)
		return string_check(text, why);
	if (row->type == VM_VAR_CHOICE)
		return choice_parse(row, span, number, why);
	if (row->type == VM_VAR_BOOL) {
		rc = bool_parse(span, &value);
		if (rc < 0)
			snprintf(why, VM_VALUE_WHY_MAX,
				 "not a switch; write on or off");
	} else {
		outcome = number_parse(span, size, &value);
		if (outcome == NUMBER_BAD) {
			snprintf(why, VM_VALUE_WHY_MAX, "%s",
				 size ? "not a size; write a whole number, "
					"with K, M, G or T for powers of 1024" :
					"not a whole number");
			return -VMPI_EINVAL;
		}
		rc = range_check(row, outcome, value, why);
	}
	if (rc == 0)
		*number = value;
	return rc;
}

void vm_value_format(char text[VM_NUMBER_MAX], int64_t number)
{
	snprintf(text, VM_NUMBER_MAX, "%" PRId64, number);
}

void vm_value_pretty(const struct vm_cvar *row, char text[VM_NUMBER_MAX],
		     int64_t number)
{
	static const char letters[] = " KMGT";
	int i = 0;

	if (row->type == VM_VAR_CHOICE) {
		size_t length;
		const char *word =
			vm_words_item(row->unit, (unsigned)number, &length);

		snprintf(text, VM_NUMBER_MAX, "%.*s", (int)length, word);
		return;
	}
	if (row->type != VM_VAR_SIZE || number <= 0) {
		vm_value_format(text, number);
		return;
	}
	while (number % 1024 == 0 && i < 4) {
		number /= 1024;
		i++;
	}
	if (i == 0)
		vm_value_format(text, number);
	else
		snprintf(text, VM_NUMBER_MAX, "%" PRId64 "%c", number,
			 letters[i]);
}
