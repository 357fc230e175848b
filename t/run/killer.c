/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends signals to node processes, or to vmpirun, at random moments of what
 * ranks can do:
 *
 *	killer VMPIRUN DOOMED COUNT SEED PROVIDER...
 */
#include "killer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "programs/doomed.h"

/*
 * DOOMED is programs/doomed.c.  Each round draws how many nodes there are, who
 * is hit by what, and when, from SEED + its number, so that `killer ... 1 SEED`
 * repeats a round.  A job must end, with the right code and words (or go on if
 * it was only stopped), and nothing of it may be left: all its processes hold
 * the writing end of a pipe, TMPDIR is empty again, and so is its part of
 * /dev/shm.  In the environment PHASE, BLOW and TARGET narrow it, LIMIT_MS is
 * how long a job may live on (none: as long as it is no hang), LOGS a directory
 * for what jobs have printed that went wrong, and VERBOSE shows all rounds.
 * Prints one line for each round that went wrong, and at the end, or after
 * SIGTERM, a table; exits with 1 if a round went wrong.
 */
#define HANG_S 60 /* what takes longer is one */

/* KILL comes more often. */
static const struct blow blows[] = {
	{ "KILL", false, SIGKILL },	{ "TERM", false, SIGTERM },
	{ "INT", false, SIGINT },	{ "HUP", false, SIGHUP },
	{ "QUIT", false, SIGQUIT },	{ "SEGV", false, SIGSEGV },
	{ "ABRT", false, SIGABRT },	{ "STOP+KILL", true, SIGKILL },
	{ "STOP+CONT", true, SIGCONT },
};

#define BLOWS (sizeof(blows) / sizeof(*blows))
#define KILL_MORE 3

static const char *const target_names[TARGETS] = { "node", "vmpirun" };
static const char *const phase_names[] = {
#define PHASE(name, run, argument) #name,
	DOOMED_PHASES(PHASE)
#undef PHASE
};

#define PHASES (sizeof(phase_names) / sizeof(*phase_names))

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

/* Where somebody looks closer. */
static void round_narrow(struct round *round)
{
	const char *blow = getenv("BLOW"), *target = getenv("TARGET");

	if (getenv("PHASE"))
		round->phase = getenv("PHASE");
	for (size_t i = 0; blow && i < BLOWS; i++)
		if (!strcmp(blow, blows[i].name))
			round->blow = &blows[i];
	for (int i = 0; target && i < TARGETS; i++)
		if (!strcmp(target, target_names[i]))
			round->target = (enum target)i;
}

static void round_draw(struct round *round, uint64_t seed, char **providers,
		       int provider_count)
{
	static const char *const protocols[] = { "auto", "read", "write",
						 "pipeline" };
	unsigned blow;

	memset(round, 0, sizeof(*round));
	round->seed = round->random = seed;
	blow = below(round, BLOWS + KILL_MORE);
	round->blow = &blows[blow < BLOWS ? blow : 0];
	round->target = below(round, 4) ? TARGET_NODE : TARGET_LAUNCHER;
	round->keep_going = below(round, 2);
	round->returns = below(round, 2);
	round->control = below(round, 4) == 0;
	round->phase = phase_names[below(round, PHASES)];
	round->provider = providers[below(round, (unsigned)provider_count)];
	round->protocol = protocols[below(round, 4)];
	round->nodes = 1 + (int)below(round, NODES_MAX);
	if (round->nodes == 1 && below(round, 2))
		round->nodes = 2;
	round->per_node = 1 + (int)below(round, 2);
	if (round->nodes == 1)
		round->per_node = 2;
	round->processes = below(round, 5) == 0;
	if (round->processes) {
		round->nodes *= round->per_node;
		if (round->nodes > NODES_MAX)
			round->nodes = NODES_MAX;
		round->per_node = 1;
	}
	round->victims = 1u << below(round, (unsigned)round->nodes);
	/* Two at once, if a third remains. */
	if (round->nodes > 2 && below(round, 4) == 0)
		round->victims |= 1u << below(round, (unsigned)round->nodes);
	round_narrow(round);
	round->early = below(round, 4) == 0 && !is_harmless(round);
	round->delay_us = (int)below(round, 4 * (round->early ? 150000 : 7500));
}

/* The words of the command that begin with a blank in a text. */
struct words {
	const char *list[40];
	char text[10][64];
	int count, texts;
};

static void word(struct words *words, const char *text)
{
	words->list[words->count++] = text;
}

static void number(struct words *words, const char *option, int value)
{
	char *text = words->text[words->texts++];

	snprintf(text, sizeof(words->text[0]), "%d", value);
	if (option)
		word(words, option);
	word(words, text);
}

static void set(struct words *words, const char *name, const char *value)
{
	char *text = words->text[words->texts++];

	snprintf(text, sizeof(words->text[0]), "%s=%s", name, value);
	word(words, "--set");
	word(words, text);
}

static void command(struct words *words, const struct round *round)
{
	bool lives = is_harmless(round);

	word(words, vmpirun);
	number(words, "--workers", 1);
	if (!round->processes)
		number(words, "--nodes", round->nodes);
	number(words, "-n", round->nodes * round->per_node);
	/* Ranks that only wait are to be hit, not found. */
	word(words, "--deadlock=off");
	/* "shm" is none: they share memory. */
	if (strcmp(round->provider, "shm") != 0) {
		set(words, "fabric_provider", round->provider);
		set(words, "fabric_shm", "off");
	}
	set(words, "core_rndv_protocol", round->protocol);
	if (round->keep_going)
		word(words, "--keep-going");
	if (round->control)
		word(words, "--control");
	if (round->processes)
		word(words, "--processes");
	word(words, doomed);
	word(words, round->phase);
	number(words, NULL, lives ? 0 : (int)round->victims);
	number(words, NULL, round->per_node);
	number(words, NULL, lives ? 40 : 0);
}

/* In the child: the job. */
static _Noreturn void job_exec(const struct round *round, int ready,
			       const int *output, const sigset_t *term)
{
	struct words words = { .count = 0 };
	char fd[16];

	/* A test that runs out of time leaves nothing behind either. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Under nohup(1) the job would ignore a blow, and wait for its own
	 * death. */
	for (size_t i = 0; i < BLOWS; i++)
		signal(blows[i].signal, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, term, NULL);
	snprintf(fd, sizeof(fd), "%d", ready);
	setenv("READY_FD", fd, 1);
	if (round->returns)
		setenv("RETURN", "1", 1);
	command(&words, round);
	dup2(output[1], STDOUT_FILENO);
	dup2(output[1], STDERR_FILENO);
	close(output[0]);
	close(output[1]);
	execv(vmpirun, (char **)(uintptr_t)words.list);
	_exit(2);
}

static void job_start(struct round *round)
{
	int ready[2], output[2], null = open("/dev/null", O_RDONLY);
	sigset_t term;

	if (pipe(ready) || pipe(output) || null < 0) {
		perror("killer: pipe");
		exit(3);
	}
	/* A signal must not be taken by the killer's own handler there. */
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	round->launcher = fork();
	if (round->launcher > 0)
		sigprocmask(SIG_UNBLOCK, &term, NULL);
	if (round->launcher == 0) {
		dup2(null, STDIN_FILENO);
		close(ready[0]);
		job_exec(round, ready[1], output, &term);
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

/* Whether a child of vmpirun is a process of the job: it may not be one yet, or
 * be the node program that is only asked about the C library. */
static bool is_process(int pid)
{
	char path[64], line[4096] = "";
	const char *name, *next;
	size_t got = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		got = fread(line, 1, sizeof(line) - 1, file);
		fclose(file);
	}
	name = strrchr(line, '/');
	next = line + strlen(line) + 1;
	return got && strcmp(line, vmpirun) != 0 && name &&
	       strcmp(name, "/vmpirun") != 0 && strcmp(next, "--probe") != 0;
}

/* Processes in the order of their start, as far as vmpirun has got. */
static void children_find(struct round *round)
{
	char path[64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		 (int)round->launcher, (int)round->launcher);
	file = fopen(path, "re");
	for (int i = 0; file && i < NODES_MAX &&
			fscanf(file, "%d", &pid) == 1 && is_process(pid);
	     i++)
		round->pids[i] = pid;
	if (file)
		fclose(file);
}

/* Vmpirun is always there. */
static bool victims_found(const struct round *round)
{
	for (int i = 0; i < round->nodes && round->target == TARGET_NODE; i++)
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
	if (round->target == TARGET_LAUNCHER) {
		kill(round->launcher, signal);
		return;
	}
	for (int i = 0; i < round->nodes; i++)
		if (round->victims >> i & 1 && round->pids[i])
			kill(round->pids[i], signal);
}

static void strike(struct round *round)
{
	if (round->blow->stops) {
		victims_signal(round, SIGSTOP);
		usleep(50000 + below(round, 200000));
	}
	round->killed_ns = now_ns();
	victims_signal(round, round->blow->signal);
}

/* The end of vmpirun, then that of everything. */
static void end_wait(struct round *round)
{
	uint64_t limit = now_ns() + HANG_S * UINT64_C(1000000000);

	while (!job_ended(round) && now_ns() < limit)
		moment(round, 5);
	if (!round->ended_ns) {
		wrong(round, "vmpirun has not ended");
		/* What do they do? */
		kill(round->launcher, SIGUSR1);
		moment(round, 2000);
	}
	while (ready_read(round) && now_ns() < limit)
		moment(round, 5);
	if (ready_read(round))
		wrong(round, "a process is left");
	round->gone_ns = now_ns();
	output_read(round);
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

/* A file for what went wrong, or standard output. */
static FILE *log_open(const struct round *round)
{
	const char *logs = getenv("LOGS");
	char path[512];
	FILE *file = NULL;

	if (logs) {
		snprintf(path, sizeof(path), "%s/%llu.log", logs,
			 (unsigned long long)round->seed);
		file = fopen(path, "w");
	}
	return file ? file : stdout;
}

static void round_print(const struct round *round)
{
	FILE *file;

	printf("seed %llu: %s to %s, %s%s%s%s%s %s %s, %d nodes of %d, "
	       "victims %#x, %s %d us",
	       (unsigned long long)round->seed, round->blow->name,
	       target_names[round->target], round->phase,
	       round->keep_going ? " --keep-going" : "",
	       round->returns ? " errors-return" : "",
	       round->processes ? " --processes" : "",
	       round->control ? " --control" : "", round->provider,
	       round->protocol, round->nodes, round->per_node, round->victims,
	       round->early ? "from the start" : "after", round->delay_us);
	if (round->wrong[0]) {
		printf(": WRONG: %s\n", round->wrong);
		file = log_open(round);
		fprintf(file, "%s\n%s\n", round->wrong, round->output);
		if (file != stdout)
			fclose(file);
	} else {
		printf(": %.0f ms\n", life_ms(round));
	}
	fflush(stdout);
}

static bool round_run(struct round *round, uint64_t seed, char **providers,
		      int provider_count)
{
	const char *limit = getenv("LIMIT_MS");

	round_draw(round, seed, providers, provider_count);
	job_start(round);
	if (kill_wait(round))
		strike(round);
	end_wait(round);
	round_judge(round, limit ? atoi(limit) : 0);
	table_add(round);
	round_clean(round);
	if (round->wrong[0] || getenv("VERBOSE"))
		round_print(round);
	return !round->wrong[0];
}

int main(int argc, char **argv)
{
	int count, done = 0, bad = 0;
	static struct round round;
	uint64_t seed;

	if (argc < 6) {
		fprintf(stderr, "usage: killer VMPIRUN DOOMED COUNT SEED "
				"PROVIDER...\n");
		return 2;
	}
	vmpirun = argv[1];
	doomed = argv[2];
	count = atoi(argv[3]);
	seed = strtoull(argv[4], NULL, 0);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, stop);
	for (int i = 0; i < count && !stopping; i++) {
		bad += !round_run(&round, seed + (uint64_t)i, argv + 5,
				  argc - 5);
		done++;
	}
	printf("%d jobs from seed %llu, %d wrong\n", done,
	       (unsigned long long)seed, bad);
	table_print();
	return bad > 0;
}
