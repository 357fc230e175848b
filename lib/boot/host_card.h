/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host card: facts that a process sends to the others when it joins, enough
 * to see whether they are of one job, share a host, or share cores.
 */
#ifndef BOOT_HOST_CARD_H
#define BOOT_HOST_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "boot/boot.h"

/* Sent in its memory format; another byte order shows in `magic`. */
struct vm_host_card {
	uint32_t magic, version;
	int32_t ranks, processes;
	uint64_t blocks; /* hash of the blocks and the placement */
	uint64_t machine, network, cores; /* hashes; 0: unknown */
	uint8_t key[VM_BOOT_KEY_BYTES];
	char host_name[VM_BOOT_HOST_MAX];
};

/* This process's card; the key is left zero. */
void vm_host_card_fill(struct vm_host_card *card, int processes, int ranks,
		       const char *blocks, const char *map);

/* Compares a card from another process with ours: NULL, or what does not
 * fit. */
const char *vm_host_card_wrong(const struct vm_host_card *card,
			       const struct vm_host_card *own);

/* Whether loopback connects the two; whether they may use the same cores. */
bool vm_host_card_same_host(const struct vm_host_card *a,
			    const struct vm_host_card *b);
bool vm_host_card_same_cores(const struct vm_host_card *a,
			     const struct vm_host_card *b);

#endif
