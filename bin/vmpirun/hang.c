/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes to a pipe of this length do not mix.
 */
#include "hang.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/cli.h"
#include "states.h"

void hang_init(struct hang *hang)
{
	*hang = (struct hang){ .ends = { -1, -1 } };
	if (pipe2(hang->ends, O_CLOEXEC | O_NONBLOCK))
		hang->ends[0] = hang->ends[1] = -1;
}

void hang_fini(struct hang *hang)
{
	for (int i = 0; i < 2; i++)
		if (hang->ends[i] >= 0)
			close(hang->ends[i]);
	hang->ends[0] = hang->ends[1] = -1;
}

bool hang_describe(const struct hang *hang, char text[VM_STANDARD_HANDED_MAX])
{
	return hang->ends[1] >= 0 && vm_standard_hand(text, hang->ends[1]);
}

static void near_keep(struct hang *hang, unsigned wave, const char *text)
{
	/* Those of earlier waves are out of date. */
	if (hang->near_count && hang->near[0].wave != wave)
		hang->near_count = 0;
	if (hang->near_count == HANG_NEAR_MAX)
		return;
	hang->near[hang->near_count].wave = wave;
	snprintf(hang->near[hang->near_count++].text, HANG_LINE_MAX, "%s",
		 text);
}

static void say(const struct hang *hang, unsigned wave, bool ends,
		const char *job)
{
	vm_cli_say("deadlock: all ranks wait, and nothing can wake them%s",
		   ends ? "; ending the job" : "");
	states_hang_say(job);
	for (unsigned i = 0; i < hang->near_count; i++)
		if (hang->near[i].wave == wave)
			vm_cli_say("%s", hang->near[i].text);
}

static enum hang_found line_take(struct hang *hang, const char *job)
{
	unsigned wave;
	int at = 0;

	if (sscanf(hang->line, "near %u %n", &wave, &at) == 1 && at > 0) {
		near_keep(hang, wave, hang->line + at);
		return HANG_NOTHING;
	}
	if (sscanf(hang->line, "deadlock %u %n", &wave, &at) == 1 && at > 0) {
		bool ends = !strcmp(hang->line + at, "end");

		say(hang, wave, ends, job);
		return ends ? HANG_END : HANG_REPORT;
	}
	return HANG_NOTHING;
}

enum hang_found hang_read(struct hang *hang, const char *job)
{
	enum hang_found found = HANG_NOTHING;
	char c;

	/* A line now and then. */
	while (read(hang->ends[0], &c, 1) == 1) {
		enum hang_found now;

		if (c != '\n') {
			if (hang->used + 1 < sizeof(hang->line))
				hang->line[hang->used++] = c;
			continue;
		}
		hang->line[hang->used] = '\0';
		hang->used = 0;
		now = line_take(hang, job);
		if (now > found)
			found = now;
	}
	return found;
}
