/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One offer of libfabric beside another: which is better, and why.
 *
 * The table of providers is here; all else is comparison of data.
 */
#ifndef FABRIC_OFI_OFFER_H
#define FABRIC_OFI_OFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/ofi/select.h"

/* The row of a provider, or one past the last. */
unsigned vm_offer_row(const char *provider);
/* Whether an offer is on what fabric_interface names. */
bool vm_offer_wanted(const struct vm_choice *choice,
		     const struct vm_wish *wish);

/* Whether an offer may be chosen at all; else its `why` says why not, and is ""
 * if it may. */
bool vm_offer_fits(struct vm_choice *choice, const struct vm_wish *wish);

/* Whether an offer is better than another one.  If so, and why is not NULL, it
 * gets the reason, which is told about the other one. */
bool vm_offer_better(const struct vm_choice *choice,
		     const struct vm_choice *than, const struct vm_wish *wish,
		     char why[112]);

/* Whether another offer is as good as the best one, and the ports of both reach
 * each other. */
bool vm_offer_twins(const struct vm_choice *best, const struct vm_choice *other,
		    const struct vm_wish *wish);

/* Writes why it was taken, as one of so many. */
void vm_offer_praise(struct vm_choice *choice, const struct vm_wish *wish,
		     unsigned rails);

#endif
