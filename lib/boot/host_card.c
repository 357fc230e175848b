/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Host names do not identify machines: fake clusters give one machine many
 * names, and container images give many machines one.  The boot number
 * identifies a machine; and where processes have network namespaces of their
 * own, loopback is not shared.
 */
#include "boot/host_card.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

#define MAGIC 0x564d5043u /* "VMPC" */
#define VERSION 1

/* FNV-1a; never 0. */
static uint64_t hash(const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t sum = UINT64_C(14695981039346656037);

	while (length--)
		sum = (sum ^ *at++) * UINT64_C(1099511628211);
	return sum ? sum : 1;
}

static uint64_t machine_read(void)
{
	char text[64];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof(text));
	close(fd);
	return got > 0 ? hash(text, (size_t)got) : 0;
}

static uint64_t network_read(void)
{
	struct stat status;

	if (stat("/proc/self/ns/net", &status))
		return 0;
	return hash(&status.st_ino, sizeof(status.st_ino));
}

static uint64_t cores_read(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	/* There are more processors than fit: then launchers bind, as a
	 * rule. */
	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	return hash(&set, sizeof(set));
}

void vm_host_card_fill(struct vm_host_card *card, int processes, int ranks,
		       const char *blocks, const char *map)
{
	memset(card, 0, sizeof(*card));
	card->magic = MAGIC;
	card->version = VERSION;
	card->ranks = ranks;
	card->processes = processes;
	card->blocks = blocks ? hash(blocks, strlen(blocks)) : 0;
	card->blocks ^= map ? 2 * hash(map, strlen(map)) : 0;
	card->machine = machine_read();
	card->network = network_read();
	card->cores = cores_read();
	if (gethostname(card->host_name, sizeof(card->host_name) - 1))
		snprintf(card->host_name, sizeof(card->host_name), "unknown");
}

const char *vm_host_card_wrong(const struct vm_host_card *card,
			       const struct vm_host_card *own)
{
	if (card->magic != MAGIC)
		return card->magic == __builtin_bswap32(MAGIC) ?
			       "has another byte order" :
			       "is not from this version of vmpi";
	if (card->version != VERSION)
		return "has another version of vmpi";
	if (card->processes != own->processes || card->ranks != own->ranks ||
	    card->blocks != own->blocks)
		return "was started with another number of ranks or nodes";
	if (!memchr(card->host_name, '\0', sizeof(card->host_name)))
		return "has no valid host name";
	return NULL;
}

bool vm_host_card_same_host(const struct vm_host_card *a,
			    const struct vm_host_card *b)
{
	return a->machine && a->machine == b->machine && a->network &&
	       a->network == b->network;
}

bool vm_host_card_same_cores(const struct vm_host_card *a,
			     const struct vm_host_card *b)
{
	return a->machine && a->machine == b->machine && a->cores &&
	       a->cores == b->cores;
}
