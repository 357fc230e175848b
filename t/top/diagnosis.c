/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdicts on jobs that end, die and hang.
 */
#include "vmpitop/diagnosis.h"

#include "job.h"
#include "tap.h"

static struct model model;
static struct diagnosis diagnosis;

static bool said(const char *text)
{
	for (int i = 0; i < diagnosis.line_count; i++)
		if (strstr(diagnosis.lines[i], text))
			return true;
	for (int i = 0; i < diagnosis.line_count; i++)
		diag("it says: %s", diagnosis.lines[i]);
	return false;
}

static void ends_check(void)
{
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_FINE, "a job that runs is fine");
	is_int(diagnosis.line_count, 0, "and nothing is said of it");
	model.nodes[0].life = LIFE_ENDED;
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_FINE,
	       "one node may end before the other");
	model.nodes[1].life = LIFE_ENDED;
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_ENDED,
	       "a job ends with its last node");
	model.nodes[1].life = LIFE_DIED;
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_DIED, "a node that died is told of");
	ok(said("node 1 (process 101 on host1) died"), "... by name");
	model.nodes[0].life = model.nodes[1].life = LIFE_RUNS;
}

static void hang_check(void)
{
	model.still_s = 12.7;
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_FINE,
	       "ranks that compute do not hang");
	for (int i = 0; i < 6; i++)
		job_wait(&model, i, i == 5 ? 2 : i + 1);
	diagnosis_find(&diagnosis, &model, 20);
	is_int(diagnosis.kind, DIAGNOSIS_FINE, "it takes its time to hang");
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_HANGS, "all wait for long: it hangs");
	ok(said("6 ranks wait, and nothing has moved for 12.0s"),
	   "it says how many, and for how long");
	ok(said("circular wait: rank 2 for 3 for 4 for 5 for 2"),
	   "it names the circle, without those that only lead to it");
	is_int(diagnosis.line_count, DIAGNOSIS_LINES, "... and who waits");
	ok(said("rank 2 waits: 3"), "... for whom");
	model.blocks[GROUP_RANK][5].state = RANK_DONE;
	model.blocks[GROUP_RANK][5].doing.state = VM_EXPORT_DONE;
	diagnosis_find(&diagnosis, &model, 5);
	ok(said("5 ranks wait"), "who has ended hangs no more");
	ok(!strstr(diagnosis.lines[1], "circular"),
	   "who waits for one that has ended is in no circle");
	job_wait(&model, 5, 5);
	diagnosis_find(&diagnosis, &model, 5);
	ok(said("circular wait: rank 5 for 5"), "a rank may wait for itself");
	job_wait(&model, 5, 99);
	job_wait(&model, 0, -1);
	diagnosis_find(&diagnosis, &model, 5);
	ok(said("6 ranks wait"), "a peer that is none does no harm");
	model.blocks[GROUP_RANK][3].state = RANK_NEW;
	diagnosis_find(&diagnosis, &model, 5);
	is_int(diagnosis.kind, DIAGNOSIS_FINE,
	       "while one can run it does not hang");
}

/* Circles of any length, and long ways to them. */
static void circles_check(void)
{
	unsigned seed = 3;
	bool found = true;

	for (int round = 0; round < 500; round++) {
		for (int i = 0; i < 6; i++)
			job_wait(&model, i, (int)(rand_r(&seed) % 6));
		diagnosis_find(&diagnosis, &model, 5);
		found &= diagnosis.kind == DIAGNOSIS_HANGS &&
			 strstr(diagnosis.lines[1], "circular") != NULL;
	}
	ok(found, "when all wait for somebody there is a circle");
}

int main(void)
{
	plan(19);
	job_make(&model);
	ends_check();
	hang_check();
	circles_check();
	model_fini(&model);
	return done_testing();
}
