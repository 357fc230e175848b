/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job must say and leave that was hit: the code and a line that names the
 * process and the signal, and no process, file or socket.
 */
#include "killer.h"

#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void wrong(struct round *round, const char *format, ...)
{
	va_list args;

	if (round->wrong[0])
		return;
	va_start(args, format);
	vsnprintf(round->wrong, sizeof(round->wrong), format, args);
	va_end(args);
}

bool is_harmless(const struct round *round)
{
	return round->blow->signal == SIGCONT;
}

bool was_hit(const struct round *round)
{
	if (round->target == TARGET_LAUNCHER)
		return round->killed_ns;
	for (int i = 0; i < round->nodes; i++)
		if (round->victims >> i & 1 && round->pids[i])
			return round->killed_ns;
	return false;
}

double life_ms(const struct round *round)
{
	if (!round->killed_ns || round->gone_ns < round->killed_ns)
		return 0;
	return (double)(round->gone_ns - round->killed_ns) / 1e6;
}

/* Whether the node process can say itself what has hit it. */
static bool is_caught(int signal)
{
	return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
	       signal == SIGFPE || signal == SIGILL;
}

/* Whether vmpirun reports that this node, with these ranks, has died. */
static bool death_is_said(const struct round *round, int node)
{
	char text[128], ranks[48] = "";
	int first = node * round->per_node;

	if (round->per_node > 1)
		snprintf(ranks, sizeof(ranks), "ranks %d-%d, ", first,
			 first + round->per_node - 1);
	else
		snprintf(ranks, sizeof(ranks), "rank %d, ", first);
	snprintf(text, sizeof(text), "node %d (%s", node, ranks);
	if (round->processes)
		snprintf(text, sizeof(text), "rank %d (", first);
	else if (round->nodes == 1)
		snprintf(text, sizeof(text), "the node process (");
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
		 "pid %d) died of SIG%s", (int)round->pids[node],
		 sigabbrev_np(round->blow->signal));
	return strstr(round->output, text);
}

/* A fault signal that comes from outside is no fault of a rank's. */
static bool fault_is_said(const struct round *round, int node)
{
	char text[128];

	snprintf(text, sizeof(text),
		 "(pid %d) was sent SIG%s from outside, by process %d",
		 (int)round->pids[node], sigabbrev_np(round->blow->signal),
		 (int)getpid());
	return strstr(round->output, text) != NULL;
}

/* Whether this node, or a rank of it, says who has sent the signal. */
static bool blow_is_said(const struct round *round, int node)
{
	char text[128];

	for (int i = -1; i < round->per_node; i++) {
		char who[48];

		if (i >= 0)
			snprintf(who, sizeof(who), "rank %d",
				 node * round->per_node + i);
		else if (round->nodes > 1)
			snprintf(who, sizeof(who), "node %d (pid %d)", node,
				 (int)round->pids[node]);
		else
			snprintf(who, sizeof(who), "the node process");
		snprintf(text, sizeof(text),
			 "vmpirun: %s was sent SIG%s by process %d", who,
			 sigabbrev_np(round->blow->signal), (int)getpid());
		if (strstr(round->output, text))
			return true;
	}
	return false;
}

/* A node that was hit. */
static void node_judge(struct round *round, int code)
{
	int signal = round->blow->signal;

	if (code != 128 + signal)
		wrong(round, "the code is %d", code);
	if (round->keep_going && round->returns &&
	    strstr(round->output, "vmpirun: rank") && !is_caught(signal) &&
	    !round->processes)
		wrong(round, "a rank has ended the job");
	for (int i = 0; i < round->nodes; i++)
		if (round->victims >> i & 1 && round->pids[i] &&
		    (death_is_said(round, i) || fault_is_said(round, i) ||
		     (is_caught(signal) && blow_is_said(round, i))))
			return;
	wrong(round, "nobody says who died");
}

/* Vmpirun itself was hit, which ends the job or kills it on the spot. */
static void launcher_judge(struct round *round, int code)
{
	int signal = round->blow->signal;
	char text[64];

	if (code != 128 + signal)
		wrong(round, "the code is %d", code);
	if (signal == SIGKILL || is_caught(signal) ||
	    WIFSIGNALED(round->status))
		return;
	snprintf(text, sizeof(text), "vmpirun: SIG%s: ending the job",
		 sigabbrev_np(signal));
	if (!strstr(round->output, text))
		wrong(round, "vmpirun does not name the signal");
}

/* Files in a directory whose name begins so. */
static int files_count(const char *path, const char *prefix)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int count = 0;

	while (dir && (entry = readdir(dir)))
		count += entry->d_name[0] != '.' &&
			 !strncmp(entry->d_name, prefix, strlen(prefix));
	if (dir)
		closedir(dir);
	return count;
}

/* The files of a job by which others see its processes. */
static int shared_files(pid_t launcher)
{
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "vmpi.%u.%d.", (unsigned)getuid(),
		 (int)launcher);
	return files_count("/dev/shm", prefix);
}

/* Files are removed by vmpirun or, if that was killed, by the next job. */
static void files_judge(struct round *round)
{
	static pid_t earlier; /* vmpirun that was killed */
	const char *files = getenv("TMPDIR");

	if (files && files_count(files, ""))
		wrong(round, "files are left in %s", files);
	if (earlier && round->begun && shared_files(earlier))
		wrong(round, "files of the job before are left in /dev/shm");
	if (round->begun)
		earlier = 0;
	if (WIFSIGNALED(round->status))
		earlier = round->launcher;
	else if (shared_files(round->launcher))
		wrong(round, "files are left in /dev/shm");
}

void round_judge(struct round *round, int limit_ms)
{
	int code = WIFEXITED(round->status) ? WEXITSTATUS(round->status) :
					      128 + WTERMSIG(round->status);

	if (strstr(round->output, "WRONG"))
		wrong(round, "operations have not failed as they should");
	if (!was_hit(round) || is_harmless(round)) {
		if (code)
			wrong(round, "nobody was killed, and the code is %d",
			      code);
	} else if (code || strstr(round->output, "vmpirun: ")) {
		/* Else the victim had ended before. */
		if (round->target == TARGET_LAUNCHER)
			launcher_judge(round, code);
		else
			node_judge(round, code);
	}
	if (limit_ms && !is_harmless(round) && life_ms(round) > limit_ms)
		wrong(round, "the job has lived on for %.0f ms",
		      life_ms(round));
	files_judge(round);
}
