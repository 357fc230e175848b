/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes exchange boot's blobs, because ranks and fabric have ended;
 * only node 0 needs the result.
 */
#include "placement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "boot/boot.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "introspect/measure/balance.h"
#include "node.h"

#define UNIT_SHIFT 16	/* times are sent in 2^16 ns */
#define BLOB_RANKS 8000 /* a blob has at most 64 KiB */

/* The message of a process about some of its ranks. */
struct summary {
	uint32_t engines;
	struct {
		uint32_t time, worker;
	} ranks[];
};

static size_t summary_bytes(int ranks)
{
	return sizeof(struct summary) +
	       (size_t)ranks * sizeof(((struct summary *)0)->ranks[0]);
}

/* All ranks of the job, by number. */
struct all {
	uint64_t *times;
	int *before, *after; /* workers, counted through all nodes */
	int *first;	     /* [processes + 1]: the first worker of each */
};

/* The number of ranks in the blob from rank `at` on. */
static int blob_ranks(int ranks, int at)
{
	return ranks - at < BLOB_RANKS ? ranks - at : BLOB_RANKS;
}

static int summary_put(const uint64_t *ns, struct summary *summary)
{
	int ranks = vm_node->rank_here, rc = 0;
	char name[VM_BOOT_NAME_MAX + 1];

	summary->engines = (uint32_t)vm_node->engine_count;
	for (int at = 0; at < ranks && !rc; at += BLOB_RANKS) {
		int n = blob_ranks(ranks, at);

		for (int i = 0; i < n; i++) {
			uint64_t time = ns[at + i] >> UNIT_SHIFT;

			summary->ranks[i].time =
				time < UINT32_MAX ? (uint32_t)time : UINT32_MAX;
			summary->ranks[i].worker =
				(uint32_t)vm_node->own[at + i]->engine->index;
		}
		snprintf(name, sizeof(name), "times.%d", at);
		rc = vm_boot_put(node.boot, name, summary, summary_bytes(n));
	}
	return rc ? rc : vm_boot_fence(node.boot);
}

/* Takes in what process p has said. */
static int summary_get(struct all *all, int p, struct summary *summary)
{
	const struct vm_boot *boot = node.boot;
	const struct vm_boot_peer *peer = &boot->peers[p];
	char name[VM_BOOT_NAME_MAX + 1];

	for (int at = 0; at < peer->rank_count; at += BLOB_RANKS) {
		int n = blob_ranks(peer->rank_count, at), rc;
		size_t bytes;

		snprintf(name, sizeof(name), "times.%d", at);
		rc = vm_boot_get(node.boot, summary, &bytes,
				 summary_bytes(BLOB_RANKS), p, name);
		if (rc)
			return rc;
		if (bytes != summary_bytes(n)) {
			vm_log(VM_ERROR,
			       "node %d sent run times of ranks that are not its own",
			       p);
			return -VMPI_EINVAL;
		}
		all->first[p + 1] = all->first[p] + (int)summary->engines;
		for (int i = 0; i < n; i++) {
			int slot = peer->rank_first + at + i;
			int rank = boot->numbers ? boot->numbers[slot] : slot;

			all->times[rank] = summary->ranks[i].time;
			all->before[rank] =
				all->first[p] + (int)summary->ranks[i].worker;
		}
	}
	return 0;
}

/* By how much, in percent of its time, the busiest worker is above the mean. */
static double waste_of(const struct all *all, const int *workers, int ranks,
		       int count)
{
	struct vm_balance_load *loads = calloc((size_t)ranks, sizeof(*loads));
	struct vm_balance balance;
	double waste;

	if (!loads || vm_balance_init(&balance, ranks, count, 0)) {
		free(loads);
		return 0;
	}
	for (int i = 0; i < ranks; i++)
		loads[i] = (struct vm_balance_load){ .time = all->times[i],
						     .worker = workers[i] };
	waste = vm_balance_waste(&balance, loads) / 10.0;
	vm_balance_fini(&balance);
	free(loads);
	return waste;
}

/* One line per run of ranks with the same place. */
static void lines_print(FILE *file, const struct all *all, int ranks)
{
	fputs("# Written by vmpirun --balance=learn, for --map: ranks "
	      "node:worker.\n",
	      file);
	for (int i = 0, end; i < ranks; i = end) {
		int p = 0, worker = all->after[i];

		for (end = i + 1; end < ranks && all->after[end] == worker;)
			end++;
		while (all->first[p + 1] <= worker)
			p++;
		if (end - i > 1)
			fprintf(file, "%d-%d", i, end - 1);
		else
			fprintf(file, "%d", i);
		fprintf(file, " %d:%d\n", p, worker - all->first[p]);
	}
}

/* Whoever reads the file sees the old one or the new one. */
static int file_write(const char *path, const struct all *all, int ranks)
{
	char *fresh;
	FILE *file;
	bool failed;

	if (asprintf(&fresh, "%s.new", path) < 0)
		return -VMPI_ENOMEM;
	file = fopen(fresh, "we");
	failed = !file;
	if (file) {
		lines_print(file, all, ranks);
		failed = ferror(file) != 0;
		failed |= fclose(file) != 0;
		failed = failed || rename(fresh, path) != 0;
	}
	if (failed)
		vm_log(VM_ERROR, "--balance=learn: %s: %s", path,
		       strerror(errno));
	free(fresh);
	return failed ? -VMPI_EIO : 0;
}

static int all_write(const char *path, struct all *all, struct summary *summary,
		     double *before, double *after)
{
	const struct vm_boot *boot = node.boot;
	int rc = 0, count;

	for (int p = 0; p < boot->processes && !rc; p++)
		rc = summary_get(all, p, summary);
	if (rc)
		return rc;
	count = all->first[boot->processes];
	rc = vm_balance_place(all->after, all->times, boot->ranks, count);
	if (!rc)
		rc = file_write(path, all, boot->ranks);
	if (rc)
		return rc;
	*before = waste_of(all, all->before, boot->ranks, count);
	*after = waste_of(all, all->after, boot->ranks, count);
	return 1;
}

int placement_write(const char *path, const uint64_t *ns, double *before,
		    double *after)
{
	const struct vm_boot *boot = node.boot;
	size_t ranks = (size_t)boot->ranks;
	struct summary *summary = malloc(summary_bytes(BLOB_RANKS));
	struct all all = { 0 };
	int rc = summary ? summary_put(ns, summary) : -VMPI_ENOMEM;

	if (!rc && boot->process == 0) {
		all.times = calloc(ranks, sizeof(*all.times));
		all.before = calloc(ranks, sizeof(*all.before));
		all.after = calloc(ranks, sizeof(*all.after));
		all.first =
			calloc((size_t)boot->processes + 1, sizeof(*all.first));
		rc = -VMPI_ENOMEM;
		if (all.times && all.before && all.after && all.first)
			rc = all_write(path, &all, summary, before, after);
		free(all.times);
		free(all.before);
		free(all.after);
		free(all.first);
	}
	if (rc == -VMPI_ENOMEM)
		vm_log(VM_ERROR, "--balance=learn: out of memory");
	free(summary);
	return rc;
}
