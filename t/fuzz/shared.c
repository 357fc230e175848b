/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: the shared files of a job's processes as vmpistat, vmpitop and
 * vmpirun read them.
 *
 *	make fuzz TARGET=shared SECONDS=60
 *
 * Two processes; the first byte says which of their files the rest changes
 * (input.h), or both, and how they are shown: in one of the ways, which is
 * several times as fast, or, of 0 to 2, in all of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed_node.h"
#include "input.h"
#include "introspect/export/export.h"
#include "introspect/farm.h"
#include "print.h"
#include "report/live/file.h"
#include "report/live/job.h"
#include "report/live/states.h"
#include "sample.h"
#include "states.h"

#define NODES 2
#define RANKS 6
#define WORKERS 2
#define CALLS 3
#define RANKS_MAX 1000 /* more are nothing new, and take time */

/* Of each kind that is shown in another way; few, so that inputs are fast. */
#define FARM_RANK_PVARS(X)                                    \
	X(COUNTER, laid, "eggs", RANK, UB, p2p, "Eggs")       \
	X(STATE, mood, "sad|glad", RANK, UB, p2p, "Its mood") \
	X(TIMER, brooding_ns[3], "ns", RANK, UB, p2p, "Time for each brood")
#define FARM_WORKER_PVARS(X)                                        \
	X(HIGHWATERMARK, top, "eggs", WORKER, UB, p2p, "Most eggs") \
	X(COUNTER, sleeps, "times", WORKER, UB, p2p, "When it slept")

struct farm_rank_pvars {
	FARM_RANK_PVARS(VM_PVAR_FIELD)
};
struct farm_worker_pvars {
	FARM_WORKER_PVARS(VM_PVAR_FIELD)
};

VM_PVARS_DEFINE(farm_rank, FARM_RANK_PVARS)
VM_PVARS_DEFINE(farm_worker, FARM_WORKER_PVARS)

/* A rank and a worker as they lie in the file. */
struct rank {
	struct vm_export_wait wait;
	uint64_t state;
	struct farm_rank_pvars pvars;
};

struct worker {
	struct farm_worker_pvars pvars;
	uint32_t asleep;
};

static struct good {
	char *data;
	size_t bytes;
} good[NODES];

static FILE *nothing; /* where what is shown goes */

static const char *call_name(uint32_t call)
{
	static const char *const names[CALLS] = { "", "MPI_Barrier",
						  "MPI_Recv" };

	return names[call];
}

/* Ranks of each kind of wait, among them some that wait for each other. */
static void ranks_fill(struct rank *ranks)
{
	static const struct vm_export_wait waits[RANKS] = {
		{ .call = 2, .peer = 1, .tag = 7, .bytes = 8 },
		{ .call = 2, .peer = 0, .tag = -1, .bytes = 8 },
		{ .call = 1, .peer = VM_EXPORT_NOBODY, .flags = VM_EXPORT_ALL },
		{ .call = 1, .context = 4, .peer = 4, .flags = VM_EXPORT_ALL },
		{ .call = 1, .context = 4, .peer = 3, .flags = VM_EXPORT_ALL },
		{ .call = 2, .peer = -1, .flags = VM_EXPORT_STARTED },
	};
	static const enum vm_export_state states[RANKS] = {
		VM_EXPORT_RECEIVE,    VM_EXPORT_PROBE,
		VM_EXPORT_COLLECTIVE, VM_EXPORT_COLLECTIVE,
		VM_EXPORT_COLLECTIVE, VM_EXPORT_WAIT,
	};

	for (int r = 0; r < RANKS; r++) {
		ranks[r].wait = waits[r];
		ranks[r].state = states[r];
	}
}

/* The file of a process of this node, which is written and gone. */
static void file_take(struct good *file, const char *dir, unsigned node)
{
	char path[VM_EXPORT_PATH_MAX + 16];
	struct vm_export_head head;
	FILE *in;

	vm_export_path(path, sizeof(path), dir, "job", node);
	in = fopen(path, "re");
	file->data = malloc(FUZZ_GOOD_MAX);
	if (!in || !file->data)
		abort();
	file->bytes = fread(file->data, 1, FUZZ_GOOD_MAX, in);
	fclose(in);
	/* Of nobody who lives: whoever shows it need not look twice. */
	memcpy(&head, file->data, sizeof(head));
	head.pid = 0;
	memcpy(file->data, &head, sizeof(head));
}

static void publish(struct rank *ranks, struct worker *workers, uint32_t *where,
		    unsigned node)
{
	struct vm_pvar_place of_ranks = { .base = (const char *)&ranks->pvars,
					  .stride = sizeof(*ranks),
					  .count = RANKS };
	struct vm_pvar_place of_workers = { .base = (const char *)workers,
					    .stride = sizeof(*workers),
					    .count = WORKERS };
	struct vm_export_facts facts = {
		.node = node,
		.nodes = NODES,
		.ranks = RANKS,
		.ranks_here = RANKS / NODES,
		.workers = WORKERS,
		.where = where,
		.waits = { .base = (const char *)ranks,
			   .stride = sizeof(*ranks),
			   .count = RANKS },
		.asleep = { .base = (const char *)&workers->asleep,
			    .stride = sizeof(*workers),
			    .count = WORKERS },
		.call_name = call_name,
		.call_count = CALLS,
		.tables = { { &farm_rank_pvar_table, &of_ranks },
			    { &farm_worker_pvar_table, &of_workers } },
		.table_count = 2,
	};

	if (vm_export_publish(&facts))
		abort();
}

static void good_make(const char *dir, unsigned node)
{
	const char *why = "";
	struct worker *workers;
	struct rank *ranks;
	uint32_t *where;

	if (vm_export_open(dir, "job", node, &why))
		abort();
	ranks = vm_export_alloc(RANKS * sizeof(*ranks), 64);
	where = vm_export_alloc(RANKS * sizeof(*where), 64);
	workers = vm_export_alloc(WORKERS * sizeof(*workers), 64);
	if (!ranks || !where || !workers)
		abort();
	ranks_fill(ranks);
	for (unsigned r = 0; r < RANKS; r++)
		where[r] = r / (RANKS / NODES);
	for (unsigned w = 0; w < WORKERS; w++)
		workers[w].asleep = 1;
	publish(ranks, workers, where, node);
	file_take(&good[node], dir, node);
	vm_export_free(ranks);
	vm_export_free(where);
	vm_export_free(workers);
	vm_export_close(false);
}

static void all_make(void)
{
	char dir[] = "/tmp/vmpi-fuzz-XXXXXX";

	vm_vars_add(&farm_cvar_table);
	vm_pvars_add(&farm_rank_pvar_table);
	vm_pvars_add(&farm_worker_pvar_table);
	nothing = fopen("/dev/null", "we");
	if (!nothing || !mkdtemp(dir))
		abort();
	for (unsigned node = 0; node < NODES; node++)
		good_make(dir, node);
	rmdir(dir);
}

/* vmpistat. */
static void list_show(const struct vm_live_job *job)
{
	const struct vm_live_jobs jobs = {
		.list = (struct vm_live_job *)(uintptr_t)job, .count = 1
	};

	list_text(&jobs);
	list_json(&jobs);
}

static void states_show(const struct vm_live_job *job)
{
	states_text(job, true);
	states_json(job);
}

static void sample_show(const struct vm_live_job *job,
			void (*show)(const struct sample *sample,
				     struct choice *choice))
{
	struct choice choice = {
		.ranks = true, .workers = true, .rank = -1, .worker = -1
	};
	struct sample sample;

	if (sample_init(&sample, job, &choice))
		return;
	sample_take(&sample);
	sample_take(&sample);
	show(&sample, &choice);
	sample_fini(&sample);
}

static void text_show(const struct vm_live_job *job)
{
	sample_show(job, sample_text);
}

static void json_show(const struct vm_live_job *job)
{
	sample_show(job, sample_json);
}

static void prometheus(const struct sample *sample, struct choice *choice)
{
	sample_prometheus(sample, choice);
}

static void prometheus_show(const struct vm_live_job *job)
{
	sample_show(job, prometheus);
}

/* NULL: vmpitop. */
static void (*const ways[])(const struct vm_live_job *job) = {
	NULL, list_show, states_show, text_show, json_show, prometheus_show,
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))
#define EACH_WAY (-1)

/* vmpitop. */
static void node_feed(struct model *model, const char *path, bool first)
{
	struct node shown = { .number = -1 };
	struct feed_node node;

	if (feed_node_open(&node, path))
		return;
	if (node.head->ranks_here <= RANKS_MAX &&
	    node.head->ranks <= RANKS_MAX && node.head->workers <= RANKS_MAX) {
		feed_node_fill(&node, &shown);
		for (int group = 0; group < GROUPS; group++) {
			int count = feed_node_blocks(&node, (enum group)group);
			struct block *blocks =
				calloc((size_t)count + 1, sizeof(*blocks));

			if (blocks)
				feed_node_group(&node, blocks,
						(enum group)group);
			free(blocks);
		}
		if (!feed_node_rows(&node, model))
			feed_node_add(&node, model, first);
	}
	feed_node_close(&node);
}

static void path_make(char path[32], int node)
{
	snprintf(path, 32, FUZZ_DIR "job.%d", node);
}

/* Shows both files in one of the ways, or in each; how many could be read. */
static unsigned files_show(int way)
{
	struct vm_live_file *files[NODES];
	struct vm_live_job job = { .name = "job", .files = files };
	struct model model = { .now_s = 1 };
	char why[VM_LIVE_WHY_MAX], path[32];
	FILE *before = stdout;
	bool many = false;

	stdout = nothing;
	for (int i = 0; i < NODES; i++) {
		path_make(path, i);
		if (way == EACH_WAY || !ways[way])
			node_feed(&model, path, i == 0);
		why[0] = '\0';
		if (!vm_export_map(&files[job.count], path, why))
			many |= vm_export_head(files[job.count++])->ranks >
				RANKS_MAX;
		else if (!why[0])
			abort();
	}
	for (int i = 0; i < (int)WAYS && job.count && !many; i++)
		if (ways[i] && (way == EACH_WAY || way == i))
			ways[i](&job);
	for (unsigned i = 0; i < job.count; i++)
		vm_live_unmap(files[i]);
	model_fini(&model);
	stdout = before;
	return job.count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const uint8_t as_it_is[] = { 1 };
	int way = EACH_WAY;

	if (!bytes || bytes > FUZZ_GOOD_MAX)
		return 0;
	if (!nothing)
		all_make();
	for (int i = 0; i < NODES; i++) {
		bool changed = (data[0] % 3) != i;
		char path[32];

		path_make(path, i);
		fuzz_changed(path + strlen(FUZZ_DIR), good[i].data,
			     good[i].bytes, changed ? data + 1 : as_it_is,
			     changed ? bytes - 1 : sizeof(as_it_is));
	}
	if (data[0] >= 3)
		way = (int)(data[0] / 3u % WAYS);
	if (files_show(way) < NODES && fuzz_unchanged(data + 1, bytes - 1))
		abort();
	return 0;
}
