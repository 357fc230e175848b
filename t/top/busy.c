/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy ranks are: shares, groups, and their map, for few ranks and many.
 */
#include "vmpitop/heat.h"

#include "page.h"

static struct model model;
static struct busy busy;

/* So many ranks on two nodes, in turn; half of the looks saw them run. */
static void make(int ranks)
{
	model_fini(&model);
	busy_fini(&busy);
	model.ranks = ranks;
	model.node_count = 1;
	model.nodes = calloc(1, sizeof(*model.nodes));
	model.blocks[GROUP_RANK] = calloc((size_t)ranks, sizeof(struct block));
	model.block_count[GROUP_RANK] = ranks;
	for (int i = 0; i < ranks; i++)
		model.blocks[GROUP_RANK][i] = (struct block){
			.index = i, .node = i % 2, .looks = 10, .runs = 5
		};
}

static void runs(int rank, unsigned times)
{
	model.blocks[GROUP_RANK][rank].runs = times;
}

static void spread_check(void)
{
	double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	struct spread spread = spread_of(odd, 3);

	is_double(spread.least, 1, 1e-9, "the least of three");
	is_double(spread.median, 3, 1e-9, "the one in the middle");
	is_double(spread.most, 5, 1e-9, "the most");
	is_double(spread_of(even, 4).median, 2.5, 1e-9,
		  "of four the mean of two");
	spread = spread_of(one, 1);
	ok(spread.least == 7 && spread.median == 7 && spread.most == 7,
	   "of one number it is all three");
}

static void share_check(void)
{
	struct busy_summary summary;

	make(4);
	ok(!busy_summarize(&summary, &busy, -1), "without samples: unknown");
	is_double(busy_of(&busy, 3), -1, 1e-9, "of a rank, too");
	runs(0, 0);
	runs(3, 10);
	for (int i = 0; i < 3; i++)
		is_int(busy_add(&busy, &model), 0, "a sample");
	runs(3, 1);
	busy_add(&busy, &model);
	is_double(busy_of(&busy, 3), 77.5, 1e-9, "a share is over the samples");
	ok(busy_summarize(&summary, &busy, -1), "there is a summary");
	is_int(summary.least, 0, "with the rank that is least busy");
	is_int(summary.most, 3, "and the one that is most");
	is_double(summary.spread.median, 50, 1e-9, "and the median");
	busy_summarize(&summary, &busy, 0);
	is_int(summary.most, 2, "of a node only its ranks count");
	for (int i = 0; i < BUSY_WINDOW; i++)
		busy_add(&busy, &model);
	is_double(busy_of(&busy, 3), 10, 1e-9, "what is long ago does not");
	model.blocks[GROUP_RANK][3].looks = 0;
	for (int i = 0; i < BUSY_WINDOW; i++)
		busy_add(&busy, &model);
	is_double(busy_of(&busy, 3), -1, 1e-9,
		  "one without a process is unknown");
	model.nodes[0].life = LIFE_ENDED;
	busy_clear(&busy);
	busy_add(&busy, &model);
	is_int(busy.count, 0, "a job that is over has no more samples");
}

/* Every rank is in one group, and the groups fit. */
static bool groups_fit(int ranks, int node, int lines)
{
	int size, from = 0, groups = 0, next = node < 0 ? 0 : node;
	struct busy_group group;

	make(ranks);
	busy_add(&busy, &model);
	size = busy_group_size(&busy, node, lines);
	while (busy_group_next(&group, &busy, node, from, size)) {
		if (group.first != next)
			return false;
		next = group.last + (node < 0 ? 1 : 2);
		from = group.last + 1;
		groups++;
	}
	return next >= ranks && groups <= lines;
}

static void group_check(void)
{
	struct busy_group group;
	bool fit = true;

	for (int ranks = 1; ranks < 200; ranks += 7)
		for (int lines = 1; lines < 40; lines++)
			fit &= groups_fit(ranks, -1, lines) &&
			       groups_fit(ranks, ranks > 1, lines);
	ok(fit, "groups have all ranks and fit into the lines");
	make(4);
	runs(1, 10);
	busy_add(&busy, &model);
	is_int(busy_group_size(&busy, -1, 4), 1, "few ranks have a row each");
	is_int(busy_group_size(&busy, -1, 3), 2, "else two share one");
	busy_group_next(&group, &busy, -1, 0, 2);
	is_double(busy_group_at(&busy, &group, 0), 75, 1e-9,
		  "which shows their mean");
	is_double(busy_group_of(&busy, &group), 75, 1e-9, "over time, too");
	is_double(busy_group_at(&busy, &group, 1), -1, 1e-9,
		  "before the first sample there is none");
}

static void mark_check(void)
{
	char text[12] = "";

	for (int i = 0; i <= 10; i++)
		text[i] = heat_mark(i * 10);
	is_string(text, " .:-=+*#%@@", "a mark is for ten percent");
	is_int(heat_mark(-1), ' ', "what is unknown is blank");
	is_int(heat_mark(9.9), ' ', "under ten percent, too");
}

/* The lines of the map of so many ranks at 80 by 21. */
static int map_lines(struct canvas *canvas, int ranks)
{
	int lines = 0;
	char *text;

	make(ranks);
	for (int i = 0; i < 300; i++)
		busy_add(&busy, &model);
	canvas_clear(canvas);
	heat_draw(canvas, (struct box){ 0, 0, 20, 80 }, &busy, -1, 1);
	text = page_text(canvas);
	for (char *at = text; (at = strchr(at, '|')); at++)
		lines += strspn(at + 1, "+") == 61;
	free(text);
	return lines;
}

static void map_check(void)
{
	struct canvas canvas;

	canvas_init(&canvas, 24, 80);
	is_int(map_lines(&canvas, 4), 4, "four ranks have four lines");
	is_int(map_lines(&canvas, 64), 16, "of 64 four share one");
	ok(page_has(&canvas, "      60-63 50.0% |++"), "up to the last");
	is_int(map_lines(&canvas, 4096), 19, "4096 fit, too");
	ok(page_has(&canvas, "  3888-4095 50.0% |++"), "with the last");
	ok(page_has(&canvas, "61.0 s ago   10% each: ' .:-=+*#%@'"),
	   "the axis says how long it goes back");
	make(2);
	busy_add(&busy, &model);
	runs(0, 10);
	busy_add(&busy, &model);
	canvas_clear(&canvas);
	heat_draw(&canvas, (struct box){ 0, 0, 5, 30 }, &busy, -1, 1);
	ok(page_has(&canvas, "0 75.0% |         +@\n"),
	   "the newest sample is at the right");
	ok(!page_has(&canvas, "ago"), "what has no room is left out");
	heat_draw(&canvas, (struct box){ 0, 0, 1, 80 }, &busy, -1, 1);
	heat_draw(&canvas, (struct box){ 0, 0, 5, 20 }, &busy, -1, 1);
	heat_summary(&canvas, (struct box){ 0, 0, 0, 80 }, &busy, -1);
	ok(!page_has(&canvas, "busy:"), "without room there is no summary");
	heat_summary(&canvas, (struct box){ 0, 0, 1, 80 }, &busy, -1);
	ok(page_has(&canvas, "busy: least 50.0% (rank 1), median 62.5%, most "
			     "75.0% (rank 0)"),
	   "else it has the ranks");
	canvas_fini(&canvas);
}

int main(void)
{
	spread_check();
	share_check();
	group_check();
	mark_check();
	map_check();
	busy_fini(&busy);
	model_fini(&model);
	return done_testing();
}
