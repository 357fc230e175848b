/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handles: several tasks of one rank take messages whose size and kind are
 * unknown beforehand.
 *
 * Matching takes a message out of the mailbox, so that a task owns the message
 * that it has found: no lock, and no other task gets it in between.  Then it is
 * received, read in place, or dropped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

enum { TEXT = 1, NUMBERS, NOISE, LAST }; /* tags */
enum { TASKS = 4, MESSAGES = 600 };

/* Counts of the tasks of rank 0; they share one worker, so no lock is
 * needed. */
static struct {
	long texts, numbers, noise, wrong;
} seen;

/* A text is copied into memory of just its size. */
static void take_text(vmpi_msg *msg)
{
	size_t bytes = vmpi_msg_size(msg);
	char *text = malloc(bytes);

	if (!text || vmpi_msg_recv(&msg, text, bytes, NULL) != 0 ||
	    strlen(text) + 1 != bytes)
		seen.wrong++;
	seen.texts++;
	free(text);
}

/* Numbers are read where they lie, maybe in the sender's own buffer. */
static void take_numbers(vmpi_msg *msg)
{
	size_t count = vmpi_msg_size(msg) / sizeof(int);
	const void *data;
	const int *numbers;

	if (vmpi_msg_borrow(msg, &data) != 0) {
		seen.wrong++;
	} else {
		numbers = data;
		for (size_t i = 0; i < count; i++)
			seen.wrong += numbers[i] != (int)count;
	}
	seen.numbers++;
	vmpi_msg_drop(&msg);
}

static int take(void *arg)
{
	vmpi_chan *world = vmpi_world();
	vmpi_msg *msg;

	(void)arg;
	for (;;) {
		if (vmpi_match(world, &msg, VMPI_ANY, VMPI_ANY) != 0)
			return 1;
		switch (vmpi_msg_tag(msg)) {
		case TEXT:
			take_text(msg);
			break;
		case NUMBERS:
			take_numbers(msg);
			break;
		case NOISE:
			seen.noise++;
			vmpi_msg_drop(&msg);
			break;
		default:
			vmpi_msg_drop(&msg);
			return 0;
		}
	}
}

/* Rank 1: messages of growing size, of each kind in turn. */
static int bring(vmpi_chan *world)
{
	static char text[MESSAGES + 1];
	static int numbers[MESSAGES * 10];
	int rc = 0;

	for (int i = 1; i <= MESSAGES && !rc; i++) {
		size_t count = (size_t)i * 10;

		text[i - 1] = 'x';
		rc = vmpi_send(world, text, (size_t)i + 1, 0, TEXT);
		for (size_t k = 0; k < count; k++)
			numbers[k] = (int)count;
		if (!rc)
			rc = vmpi_send(world, numbers, count * sizeof(int), 0,
				       NUMBERS);
		if (!rc)
			rc = vmpi_send(world, numbers, sizeof(int), 0, NOISE);
	}
	for (int i = 0; i < TASKS && !rc; i++)
		rc = vmpi_send(world, NULL, 0, 0, LAST);
	return rc;
}

static int body(void *arg)
{
	vmpi_task *tasks[TASKS];
	int count = 0, rc = 0;

	(void)arg;
	if (vmpi_rank() == 1)
		return bring(vmpi_world());
	while (count < TASKS && !rc)
		rc = vmpi_spawn(&tasks[count++], take, NULL);
	for (int i = 0; i < count && !rc; i++)
		rc = vmpi_join(&tasks[i], NULL);
	printf("%ld texts, %ld rows of numbers, %ld dropped, %ld wrong\n",
	       seen.texts, seen.numbers, seen.noise, seen.wrong);
	if (seen.texts != MESSAGES || seen.numbers != MESSAGES ||
	    seen.noise != MESSAGES || seen.wrong)
		return 1;
	return rc;
}

int main(void)
{
	int rc = vmpi_run(&(vmpi_config){ .ranks = 2 }, body, NULL);

	if (rc < 0)
		fprintf(stderr, "handles: %s\n", vmpi_strerror(rc));
	return rc != 0;
}
