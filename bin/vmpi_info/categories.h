/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Categories: what they are about, and which variables are in them.
 */
#ifndef VMPI_INFO_CATEGORIES_H
#define VMPI_INFO_CATEGORIES_H

#include "introspect/vars/category.h"
#include "text.h"

/* Prints `outer` and those below it; VM_CATEGORY_none: all. */
void categories_print(enum form form, enum vm_category outer);

/* The category that a user has named; -1: none is called so, which is said. */
int category_named(const char *name);

#endif
