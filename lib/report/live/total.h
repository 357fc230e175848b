/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals of performance variables over the blocks of a process and the
 * processes of a job, and values as words.
 */
#ifndef REPORT_LIVE_TOTAL_H
#define REPORT_LIVE_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/export/format.h"

/* Two values made one. */
uint64_t vm_live_fold(enum vm_export_fold how, uint64_t one, uint64_t other);

/* Whether values of a class, "counter", only grow, so that they have a rate. */
bool vm_live_grows(const char *class_);

#define VM_LIVE_WORD_MAX 32

/* Word i of those of a state or a choice, "auto|read|write"; false: there is no
 * such word. */
bool vm_live_word(char word[VM_LIVE_WORD_MAX], const char *words, uint64_t i);

#endif
