/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kills node processes, or vmpirun, at random moments of what ranks can do:
 *
 *	killer VMPIRUN DOOMED COUNT SEED PROVIDER...
 *
 * DOOMED is programs/doomed.c.  Each round draws how many nodes there are, who
 * dies how and when, from SEED + its number, so that `killer ... 1 SEED`
 * repeats a round.  A job must end, with the right code and words, and nothing
 * of it may be left: all its processes hold the writing end of a pipe, and
 * TMPDIR is empty again.  PHASE and MODE in the environment narrow it.  Prints
 * one line for each round that went wrong, and at the end, or after SIGTERM,
 * how long the jobs lived on; exits with 1 if a round went wrong.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/doomed.h"

#define NODES_MAX 4
#define HANG_S 60 /* what takes longer is one */
#define OUTPUT_MAX 65536
#define VICTIM_CODE (128 + SIGKILL)

enum mode { FATAL, RETURN, STOP, LAUNCHER, MODES };

static const char *const mode_names[] = { "fatal", "return", "stop",
					  "launcher" };
static const char *const phase_names[] = {
#define PHASE(name, run, argument) #name,
	DOOMED_PHASES(PHASE)
#undef PHASE
};

#define PHASES (sizeof(phase_names) / sizeof(*phase_names))

struct round {
	uint64_t random;
	enum mode mode;
	const char *phase, *provider, *protocol;
	int nodes, per_node, delay_us;
	bool early; /* not later, even if some are not there yet */
	unsigned victims;

	pid_t launcher;
	pid_t pids[NODES_MAX];
	int ready_fd, output_fd; /* the reading ends */
	int begun;		 /* ranks that are */
	uint64_t killed_ns, ended_ns;
	int status;
	char output[OUTPUT_MAX];
	size_t output_bytes;
	char wrong[256];
};

static const char *vmpirun, *doomed;
static volatile sig_atomic_t stopping;

/* The round that runs is the last one. */
static void stop(int signal)
{
	(void)signal;
	stopping = 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* splitmix64: neighbouring seeds have nothing in common. */
static unsigned below(struct round *round, unsigned n)
{
	uint64_t z = round->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)((z ^ z >> 31) >> 32) % n;
}

/* The first reason counts. */
static void wrong(struct round *round, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void wrong(struct round *round, const char *format, ...)
{
	va_list args;

	if (round->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(round->wrong, sizeof(round->wrong), format, args);
	va_end(args);
}

static void round_draw(struct round *round, uint64_t seed, char **providers,
		       int provider_count)
{
	static const char *const protocols[] = { "auto", "read", "write",
						 "pipeline" };
	static const enum mode modes[] = { FATAL,  FATAL,  FATAL, RETURN,
					   RETURN, RETURN, STOP,  LAUNCHER };

	memset(round, 0, sizeof(*round));
	round->random = seed;
	round->mode = modes[below(round, 8)];
	round->phase = phase_names[below(round, PHASES)];
	round->provider = providers[below(round, (unsigned)provider_count)];
	round->protocol = protocols[below(round, 4)];
	round->nodes = 2 + (int)below(round, NODES_MAX - 1);
	round->per_node = 1 + (int)below(round, 2);
	round->victims = 1u << below(round, (unsigned)round->nodes);
	/* To look closer. */
	if (getenv("PHASE"))
		round->phase = getenv("PHASE");
	for (int i = 0; getenv("MODE") && i < MODES; i++)
		if (!strcmp(getenv("MODE"), mode_names[i]))
			round->mode = (enum mode)i;
	/* Two at once, if a third remains. */
	if (round->nodes > 2 && below(round, 4) == 0)
		round->victims |= 1u << below(round, (unsigned)round->nodes);
	round->early = below(round, 5) == 0 && round->mode != STOP;
	round->delay_us = (int)below(round, 4 * (round->early ? 150000 : 7500));
}

/* In the child: the job. */
static _Noreturn void job_exec(const struct round *round, int ready,
			       const int *output)
{
	char nodes[16], ranks[16], provider[64], protocol[64];
	char mask[16], per_node[16], fd[16];
	const char *words[20] = { vmpirun, "--workers", "1" };
	int n = 3;

	/* A test that runs out of time leaves nothing behind either. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(nodes, sizeof(nodes), "%d", round->nodes);
	snprintf(ranks, sizeof(ranks), "%d", round->nodes * round->per_node);
	snprintf(provider, sizeof(provider), "fabric_provider=%s",
		 round->provider);
	snprintf(protocol, sizeof(protocol), "core_rndv_protocol=%s",
		 round->protocol);
	snprintf(mask, sizeof(mask), "%u",
		 round->mode == STOP ? 0 : round->victims);
	snprintf(per_node, sizeof(per_node), "%d", round->per_node);
	snprintf(fd, sizeof(fd), "%d", ready);
	setenv("READY_FD", fd, 1);
	if (round->mode == RETURN) {
		setenv("RETURN", "1", 1);
		words[n++] = "--keep-going";
	}
	for (int i = 0; i < 4; i++)
		words[n++] =
			(const char *[]){ "--nodes", nodes, "-n", ranks }[i];
	for (int i = 0; i < 4; i++)
		words[n++] = (const char *[]){ "--set", provider, "--set",
					       protocol }[i];
	words[n++] = doomed;
	words[n++] = round->phase;
	words[n++] = mask;
	words[n++] = per_node;
	words[n++] = round->mode == STOP ? "40" : "0";
	dup2(output[1], STDOUT_FILENO);
	dup2(output[1], STDERR_FILENO);
	close(output[0]);
	close(output[1]);
	execv(vmpirun, (char **)(uintptr_t)words);
	_exit(2);
}

static void job_start(struct round *round)
{
	int ready[2], output[2], null = open("/dev/null", O_RDONLY);

	if (pipe(ready) || pipe(output) || null < 0) {
		perror("killer: pipe");
		exit(3);
	}
	round->launcher = fork();
	if (round->launcher == 0) {
		dup2(null, STDIN_FILENO);
		close(ready[0]);
		job_exec(round, ready[1], output);
	}
	close(null);
	close(ready[1]);
	close(output[1]);
	round->ready_fd = ready[0];
	round->output_fd = output[0];
	fcntl(round->ready_fd, F_SETFL, O_NONBLOCK);
	fcntl(round->output_fd, F_SETFL, O_NONBLOCK);
}

/* Reads what has come; false when no process holds the pipe any more. */
static bool ready_read(struct round *round)
{
	int message[2];
	ssize_t got;

	while ((got = read(round->ready_fd, message, sizeof(message))) > 0) {
		round->pids[message[0] / round->per_node] = message[1];
		round->begun++;
	}
	return got != 0;
}

static void output_read(struct round *round)
{
	char rest[4096];
	ssize_t got;

	do {
		size_t left = OUTPUT_MAX - 1 - round->output_bytes;

		got = read(round->output_fd,
			   left ? round->output + round->output_bytes : rest,
			   left ? left : sizeof(rest));
		if (got > 0 && left)
			round->output_bytes += (size_t)got;
	} while (got > 0);
}

/* Waits a moment for something to read. */
static void moment(struct round *round, int ms)
{
	struct pollfd fds[] = { { .fd = round->output_fd, .events = POLLIN },
				{ .fd = round->ready_fd, .events = POLLIN } };

	poll(fds, 2, ms);
	output_read(round);
}

/* Whether vmpirun has ended; then its status is known. */
static bool job_ended(struct round *round)
{
	if (round->ended_ns)
		return true;
	if (waitpid(round->launcher, &round->status, WNOHANG) <= 0)
		return false;
	round->ended_ns = now_ns();
	return true;
}

/* Node processes in the order of their start, as far as vmpirun has got. */
static void children_find(struct round *round)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		 (int)round->launcher, (int)round->launcher);
	file = fopen(path, "re");
	for (int i = 0; file && i < NODES_MAX; i++)
		if (fscanf(file, "%d", &pid) == 1)
			round->pids[i] = pid;
	if (file)
		fclose(file);
}

/* Vmpirun is always there. */
static bool victims_found(const struct round *round)
{
	for (int i = 0; i < round->nodes && round->mode != LAUNCHER; i++)
		if (round->victims >> i & 1 && !round->pids[i])
			return false;
	return true;
}

/* Waits for the moment to kill; false: the job has ended before, or hangs. */
static bool kill_wait(struct round *round)
{
	uint64_t limit = now_ns() + HANG_S * UINT64_C(1000000000);
	int ranks = round->nodes * round->per_node;

	while (!round->early && round->begun < ranks) {
		if (job_ended(round))
			return false;
		if (now_ns() > limit) {
			wrong(round, "%d of %d ranks have begun", round->begun,
			      ranks);
			return false;
		}
		moment(round, 20);
		ready_read(round);
	}
	usleep((useconds_t)round->delay_us);
	/* Victims that are not there yet are killed as soon as they are. */
	while (round->early && !victims_found(round)) {
		if (job_ended(round))
			return false;
		children_find(round);
	}
	return !job_ended(round);
}

static void victims_signal(struct round *round, int signal)
{
	for (int i = 0; i < round->nodes; i++)
		if (round->victims >> i & 1 && round->pids[i])
			kill(round->pids[i], signal);
}

static void strike(struct round *round)
{
	round->killed_ns = now_ns();
	if (round->mode == LAUNCHER) {
		kill(round->launcher, SIGKILL);
	} else if (round->mode == STOP) {
		victims_signal(round, SIGSTOP);
		usleep(50000 + below(round, 200000));
		victims_signal(round, SIGCONT);
	} else {
		victims_signal(round, SIGKILL);
	}
}

/* The end of vmpirun, then that of everything. */
static void end_wait(struct round *round)
{
	uint64_t limit = now_ns() + HANG_S * UINT64_C(1000000000);

	while (!job_ended(round) && now_ns() < limit)
		moment(round, 5);
	if (!round->ended_ns)
		wrong(round, "vmpirun has not ended");
	while (ready_read(round) && now_ns() < limit)
		moment(round, 5);
	if (ready_read(round))
		wrong(round, "a process is left");
	output_read(round);
}

/* Whether vmpirun has reported which node has died, and which ranks it had. */
static bool death_is_said(const struct round *round)
{
	for (int i = 0; i < round->nodes; i++) {
		char text[100], one[24];
		int first = i * round->per_node;

		snprintf(one, sizeof(one), "(rank %d, ", first);
		if (round->per_node > 1)
			snprintf(one, sizeof(one), "(ranks %d-%d, ", first,
				 first + round->per_node - 1);
		snprintf(text, sizeof(text),
			 "vmpirun: node %d %spid %d) died of SIGKILL", i, one,
			 (int)round->pids[i]);
		if (round->victims >> i & 1 && strstr(round->output, text))
			return true;
	}
	return false;
}

/* Whether there was a process to kill. */
static bool was_killed(const struct round *round)
{
	for (int i = 0; i < round->nodes; i++)
		if (round->victims >> i & 1 && round->pids[i])
			return round->killed_ns;
	return false;
}

static void round_judge(struct round *round)
{
	int code = WIFEXITED(round->status) ? WEXITSTATUS(round->status) :
					      128 + WTERMSIG(round->status);
	bool none = !was_killed(round) || round->mode == STOP;

	if (strstr(round->output, "WRONG"))
		wrong(round, "operations have not failed as they should");
	if (round->mode == LAUNCHER)
		return;
	/* A victim at the very end may have ended before. */
	if (none || (code == 0 && !strstr(round->output, "vmpirun: "))) {
		if (code)
			wrong(round, "nobody was killed, and the code is %d",
			      code);
		return;
	}
	if (code != VICTIM_CODE)
		wrong(round, "the code is %d", code);
	if (round->mode == RETURN && strstr(round->output, "vmpirun: rank"))
		wrong(round, "a rank has ended the job");
	if (!death_is_said(round))
		wrong(round, "nobody says who died");
}

/* Ends what is left of a round that went wrong. */
static void round_clean(struct round *round)
{
	if (!round->ended_ns) {
		kill(round->launcher, SIGKILL);
		waitpid(round->launcher, NULL, 0);
	}
	for (int i = 0; i < round->nodes; i++)
		if (round->pids[i] && ready_read(round))
			kill(round->pids[i], SIGKILL);
	close(round->ready_fd);
	close(round->output_fd);
}

/* Files in the directory for temporary ones. */
static int files_count(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static void round_print(const struct round *round, uint64_t seed)
{
	printf("seed %llu: %s, %s %s %s, %d nodes of %d, victims %#x, %s %d us",
	       (unsigned long long)seed, round->phase, mode_names[round->mode],
	       round->provider, round->protocol, round->nodes, round->per_node,
	       round->victims, round->early ? "from the start" : "after",
	       round->delay_us);
	if (round->wrong[0])
		printf(": WRONG: %s\n%s", round->wrong, round->output);
	else
		printf(": %.0f ms",
		       round->killed_ns ?
			       (double)(round->ended_ns - round->killed_ns) /
				       1e6 :
			       0);
	putchar('\n');
	fflush(stdout);
}

static int by_size(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

static bool round_run(struct round *round, uint64_t seed, char **providers,
		      int provider_count)
{
	const char *files = getenv("TMPDIR");

	round_draw(round, seed, providers, provider_count);
	job_start(round);
	if (kill_wait(round))
		strike(round);
	end_wait(round);
	round_judge(round);
	if (files && files_count(files))
		wrong(round, "files are left in %s", files);
	round_clean(round);
	if (round->wrong[0] || getenv("VERBOSE"))
		round_print(round, seed);
	return !round->wrong[0];
}

/* Prints how long jobs have lived on after a death that ends them. */
static void times_print(double *ms, int count)
{
	if (!count)
		return;
	qsort(ms, (size_t)count, sizeof(*ms), by_size);
	printf("%d jobs with fatal errors have ended after %.0f ms (median), "
	       "%.0f ms (most)\n",
	       count, ms[count / 2], ms[count - 1]);
}

int main(int argc, char **argv)
{
	int count, done = 0, bad = 0, timed = 0, by_mode[MODES] = { 0 };
	static struct round round;
	uint64_t seed;
	double *ms;

	if (argc < 6) {
		fprintf(stderr, "usage: killer VMPIRUN DOOMED COUNT SEED "
				"PROVIDER...\n");
		return 2;
	}
	vmpirun = argv[1];
	doomed = argv[2];
	count = atoi(argv[3]);
	seed = strtoull(argv[4], NULL, 0);
	ms = calloc((size_t)count + 1, sizeof(*ms));
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, stop);
	for (int i = 0; i < count && !stopping; i++) {
		bad += !round_run(&round, seed + (uint64_t)i, argv + 5,
				  argc - 5);
		by_mode[round.mode]++;
		done++;
		if (round.mode == FATAL && was_killed(&round) &&
		    round.ended_ns > round.killed_ns)
			ms[timed++] =
				(double)(round.ended_ns - round.killed_ns) /
				1e6;
	}
	printf("%d rounds from seed %llu, %d wrong:", done,
	       (unsigned long long)seed, bad);
	for (int i = 0; i < MODES; i++)
		printf(" %d %s", by_mode[i], mode_names[i]);
	putchar('\n');
	times_print(ms, timed);
	free(ms);
	return bad > 0;
}
