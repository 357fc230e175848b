/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words may come from the file of a foreign process: any text will do.
 */
#include "report/live/total.h"

#include <stdio.h>
#include <string.h>

uint64_t vm_live_fold(enum vm_export_fold how, uint64_t one, uint64_t other)
{
	if (how == VM_EXPORT_HIGHEST)
		return other > one ? other : one;
	if (how == VM_EXPORT_LOWEST)
		return other < one ? other : one;
	return one + other;
}

bool vm_live_grows(const char *class_)
{
	return strcmp(class_, "counter") == 0 || strcmp(class_, "timer") == 0 ||
	       strcmp(class_, "aggregate") == 0;
}

bool vm_live_word(char word[VM_LIVE_WORD_MAX], const char *words, uint64_t i)
{
	for (; i && words; i--) {
		words = strchr(words, '|');
		if (words)
			words++;
	}
	if (!words || strcspn(words, "|") == 0)
		return false;
	snprintf(word, VM_LIVE_WORD_MAX, "%.*s", (int)strcspn(words, "|"),
		 words);
	return true;
}
