/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals and words of variables.
 */
#include "report/live/total.h"

#include "tap.h"

int main(void)
{
	char word[VM_LIVE_WORD_MAX] = "as before";

	is_int((intmax_t)vm_live_fold(VM_EXPORT_SUM, 3, 4), 7, "a sum");
	is_int((intmax_t)vm_live_fold(VM_EXPORT_HIGHEST, 3, 4), 4,
	       "the highest");
	is_int((intmax_t)vm_live_fold(VM_EXPORT_HIGHEST, 4, 3), 4,
	       "... wherever it is");
	is_int((intmax_t)vm_live_fold(VM_EXPORT_LOWEST, UINT64_MAX, 4), 4,
	       "the lowest, of which there may be none yet");
	is_int((intmax_t)vm_live_fold(VM_EXPORT_LOWEST, 3, 4), 3,
	       "... wherever it is");

	ok(vm_live_grows("counter") && vm_live_grows("timer") &&
		   vm_live_grows("aggregate"),
	   "counters, timers and aggregates only grow");
	ok(!vm_live_grows("level") && !vm_live_grows("state") &&
		   !vm_live_grows(""),
	   "others do not");

	ok(!vm_live_word(word, "auto|read", 2), "there is no third word");
	ok(!vm_live_word(word, "", 0), "nothing is no word");
	ok(!vm_live_word(word, "a||b", 1), "nor is one in the middle");
	ok(!vm_live_word(word, "a|b", UINT64_MAX), "nor the last number");
	is_string(word, "as before", "without a word nothing is written");
	ok(vm_live_word(word, "auto|read|write", 0), "the first word");
	is_string(word, "auto", "... without the others");
	ok(vm_live_word(word, "auto|read|write", 2), "the last word");
	is_string(word, "write", "... as well");
	ok(vm_live_word(word, "0123456789012345678901234567890123456789", 0),
	   "a long word");
	is_string(word, "0123456789012345678901234567890", "... is cut");
	return done_testing();
}
