/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * select: a server that waits for everything at once.
 *
 * Rank 0 takes requests of other ranks as messages, lines of text from a pipe
 * that a function writes which blocks (offloaded by another rank), results of
 * computations that run as tasks with large stacks, and an event that says when
 * to end; it counts how often nothing came for a while.
 */
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
#include <vmpi.h>

enum { RANKS = 4, REQUESTS = 20, LINES = 5, TABLE = 30000 };
enum { MESSAGE, TEXT, COMPUTED, END, CHOICES };

static int pipe_ends[2];
static vmpi_event end = VMPI_EVENT_INIT;

/* What the server has seen. */
static struct {
	int messages, lines, computed, quiet;
	long sum;
} seen;

/* Needs more stack than a task usually has. */
static int compute(void *arg)
{
	int n = *(const int *)arg;
	double table[TABLE];
	double sum = 0;

	for (int i = 0; i < TABLE; i++)
		table[i] = (i + n) % 2;
	for (int i = 0; i < TABLE; i++)
		sum += table[i];
	return (int)sum;
}

/* Blocks as it likes, on a thread of its own. */
static int write_lines(void *arg)
{
	(void)arg;
	for (int i = 0; i < LINES; i++) {
		usleep(500);
		if (write(pipe_ends[1], "line\n", 5) != 5)
			return -1;
	}
	return LINES;
}

/* The requests of one rank; the last rank also has the lines written, and says
 * when all is over. */
static int ask(int rank)
{
	int written = LINES, rc = 0;

	for (int i = 0; i < REQUESTS && rc == 0; i++)
		rc = vmpi_send(vmpi_world(), &i, sizeof(i), 0, rank);
	if (rc == 0 && rank == RANKS - 1)
		rc = vmpi_offload(&written, write_lines, NULL);
	if (rc == 0)
		rc = vmpi_barrier(vmpi_world());
	return rc || written != LINES;
}

/* Waits for the other ranks, as a task, and tells the server. */
static int watch_others(void *arg)
{
	(void)arg;
	vmpi_barrier(vmpi_world());
	return vmpi_event_set(&end);
}

static int take_message(vmpi_msg *msg, vmpi_task **task, int *number)
{
	vmpi_task_config config = { .stack_bytes = 2 * TABLE * sizeof(double) };
	int rc = vmpi_msg_recv(&msg, number, sizeof(*number), NULL);

	seen.messages++;
	/* One computation at a time. */
	if (rc == 0 && !*task)
		rc = vmpi_spawn_with(task, &config, compute, number);
	return rc;
}

static void take_text(void)
{
	char text[100];
	ssize_t n = read(pipe_ends[0], text, sizeof(text));

	for (ssize_t i = 0; i < n; i++)
		seen.lines += text[i] == '\n';
}

static int serve(void)
{
	vmpi_task *task = NULL, *watcher;
	vmpi_msg *msg;
	int result, number, index = MESSAGE, rc;
	const vmpi_choice choices[CHOICES] = {
		[MESSAGE] =
			VMPI_ON_MATCH(vmpi_world(), &msg, VMPI_ANY, VMPI_ANY),
		[TEXT] = VMPI_ON_FD(pipe_ends[0], NULL, POLLIN),
		[COMPUTED] = VMPI_ON_TASK(&task, &result),
		[END] = VMPI_ON_EVENT(&end), /* when there is nothing else */
	};

	rc = vmpi_spawn(&watcher, watch_others, NULL);
	while (rc == 0 && index != END) {
		rc = vmpi_select(choices, &index, CHOICES,
				 vmpi_time_ns() + 200000);
		if (rc == -VMPI_ETIMEDOUT) {
			seen.quiet++;
			rc = 0;
		} else if (rc == 0 && index == MESSAGE) {
			rc = take_message(msg, &task, &number);
		} else if (rc == 0 && index == TEXT) {
			take_text();
		} else if (rc == 0 && index == COMPUTED) {
			seen.computed++;
			seen.sum += result;
		}
	}
	vmpi_join(&watcher, NULL);
	if (task && vmpi_join(&task, &result) == 0) {
		seen.computed++;
		seen.sum += result;
	}
	return rc;
}

static int body(void *arg)
{
	(void)arg;
	return vmpi_rank() == 0 ? serve() : ask(vmpi_rank());
}

int main(void)
{
	int rc =
		pipe(pipe_ends) ?
			-VMPI_EIO :
			vmpi_run(&(vmpi_config){ .ranks = RANKS, .workers = 2 },
				 body, NULL);

	if (rc < 0)
		fprintf(stderr, "select: %s\n", vmpi_strerror(rc));
	printf("%d messages, %d lines, %d computations, quiet %d times\n",
	       seen.messages, seen.lines, seen.computed, seen.quiet);
	return rc != 0 || seen.messages != REQUESTS * (RANKS - 1) ||
	       seen.lines != LINES ||
	       seen.sum != (long)seen.computed * TABLE / 2;
}
