/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What made-up ranks do, in words: a process exports them, a job reads them
 * back from its file.  Each kind of wait, those who do the same, and deadlocks.
 */
#include "report/live/states.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "introspect/export/export.h"
#include "sched/vars.h"
#include "tap.h"

#define RANKS 24
#define WORKERS 2
#define BARRIER 1
#define RECV 2
#define CALLS 3

/* A rank as it lies in the file. */
struct rank {
	struct vm_export_wait wait;
	uint64_t state;
};

struct worker {
	struct sched_worker_pvars pvars;
	uint32_t asleep;
};

static char dir[] = "/tmp/vmpi-states-XXXXXX";
static struct rank *ranks;
static uint32_t *where;
static struct worker *workers;

static const char *call_name(uint32_t call)
{
	static const char *const names[CALLS] = { "", "MPI_Barrier",
						  "MPI_Recv" };

	return names[call];
}

/* The process with so many ranks, whose workers sleep; those from `here` on are
 * of another host. */
static void process_begin(unsigned count, unsigned here)
{
	struct vm_pvar_place place = { .stride = sizeof(*workers),
				       .count = WORKERS };
	struct vm_export_facts facts = {
		.nodes = 2,
		.ranks = count,
		.ranks_here = here,
		.workers = WORKERS,
		.waits = { .stride = sizeof(*ranks), .count = count },
		.asleep = { .stride = sizeof(*workers), .count = WORKERS },
		.call_name = call_name,
		.call_count = CALLS,
		.table_count = 1,
	};
	const char *why = "";

	if (vm_export_open(dir, "job", 0, &why))
		bail("no file in %s: %s", dir, why);
	ranks = vm_export_alloc(RANKS * sizeof(*ranks), 64);
	where = vm_export_alloc(RANKS * sizeof(*where), 64);
	workers = vm_export_alloc(WORKERS * sizeof(*workers), 64);
	for (unsigned r = here; r < count; r++)
		where[r] = 1;
	for (unsigned w = 0; w < WORKERS; w++)
		workers[w].asleep = 1;
	workers[0].pvars.sleeps = 40;
	workers[1].pvars.sleeps = 2;
	place.base = (const char *)workers;
	facts.where = where;
	facts.waits.base = (const char *)ranks;
	facts.asleep.base = (const char *)&workers[0].asleep;
	facts.tables[0].table = &sched_worker_pvar_table;
	facts.tables[0].place = &place;
	if (vm_export_publish(&facts))
		bail("the file cannot be published");
}

static void process_end(void)
{
	vm_export_free(ranks);
	vm_export_free(where);
	vm_export_free(workers);
	vm_export_close(false);
}

static void refused(const char *path, const char *why)
{
	diag("%s: %s", path, why);
}

/* The job, and what its ranks do now. */
static void look(struct vm_live_jobs *jobs, struct vm_states *states)
{
	if (vm_live_jobs_find(jobs, dir, "job", refused) || jobs->count != 1)
		bail("the job is not found");
	if (vm_states_init(states, &jobs->list[0]))
		bail("out of memory");
}

static void look_end(struct vm_live_jobs *jobs, struct vm_states *states)
{
	vm_states_fini(states);
	vm_live_jobs_free(jobs);
}

static void said(const char *line, void *arg)
{
	char *text = arg;

	strcat(strcat(text, line), "\n");
}

/* A receive of a message from peer. */
static struct rank receives(int32_t peer)
{
	return (struct rank){
		.wait = { .call = RECV, .peer = peer, .tag = 7, .bytes = 8 },
		.state = VM_EXPORT_RECEIVE
	};
}

/* Each kind of wait, and its words. */
static const struct {
	struct rank rank;
	const char *text;
} kinds[] = {
	{ { .state = VM_EXPORT_NEW }, "not started" },
	{ { .state = VM_EXPORT_RUNNING }, "running or ready" },
	{ { { .call = RECV, .peer = 3, .tag = 7, .bytes = 8 },
	    VM_EXPORT_RECEIVE },
	  "in MPI_Recv: receiving from rank 3, tag 7, up to 8 bytes" },
	{ { { .peer = 4, .bytes = 100, .flags = VM_EXPORT_SENDS },
	    VM_EXPORT_SEND },
	  "sending to rank 4, tag 0, 100 bytes" },
	{ { { .peer = -1, .tag = -1 }, VM_EXPORT_PROBE },
	  "waiting for a message from any rank, any tag (probe)" },
	{ { { .context = 4,
	      .peer = 2,
	      .tag = 3,
	      .bytes = 16,
	      .flags = VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD },
	    VM_EXPORT_WAIT },
	  "waiting for its send to rank 2, tag 3, communicator 4, 16 bytes" },
	{ { { .context = 6, .peer = 1, .tag = 2, .bytes = 4 }, VM_EXPORT_WAIT },
	  "waiting for its receive from rank 1 of communicator 6, tag 2, up to 4 bytes" },
	{ { { .call = RECV, .peer = VM_EXPORT_NOBODY }, VM_EXPORT_WAIT },
	  "in MPI_Recv: waiting for one of several operations" },
	{ { { .call = BARRIER, .flags = VM_EXPORT_ALL }, VM_EXPORT_COLLECTIVE },
	  "in MPI_Barrier of all ranks" },
	{ { { .context = 8, .flags = VM_EXPORT_ALL }, VM_EXPORT_COLLECTIVE },
	  "in a collective operation of communicator 8" },
	{ { .state = VM_EXPORT_SLEEP }, "sleeping" },
	{ { .state = VM_EXPORT_OTHER },
	  "waiting for a lock, a thread or a task" },
	{ { .state = VM_EXPORT_DONE }, "finished" },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void words(void)
{
	char text[VM_STATES_TEXT_MAX];
	struct vm_live_jobs jobs;
	struct vm_states states;
	unsigned length = 9, ended;

	process_begin(KINDS + 2, KINDS + 1);
	for (unsigned i = 0; i < KINDS; i++)
		ranks[i] = kinds[i].rank;
	ranks[KINDS].state = VM_EXPORT_STATE_COUNT;
	workers[1].asleep = 0;
	look(&jobs, &states);
	is_int(states.count, KINDS + 2, "all ranks of the job are there");
	for (unsigned i = 0; i < KINDS; i++) {
		vm_states_rank(&states, text, i);
		is_string(text, kinds[i].text, "%s", kinds[i].text);
	}
	ok(!states.known[KINDS], "a state that is none is not believed");
	vm_states_rank(&states, text, KINDS + 1);
	is_string(text, "not on this host", "one is not on this host");
	is_string(vm_states_call(&states, 2), "MPI_Recv",
		  "the call of one who waits is known");
	ok(!vm_states_call(&states, 3), "... or it is in none that is");
	ok(!vm_states_call(&states, 1) && !vm_states_call(&states, KINDS + 1),
	   "who does not wait, or is elsewhere, is in none");
	ok(!states.idle, "a worker is awake");
	is_int((intmax_t)states.sleeps, 42, "workers began to sleep before");
	is_int(states.stuck, 0, "so nobody is said to be stuck");
	ok(!vm_states_circle(&states, &length, &ended) && length == 0,
	   "there is no circle then");
	look_end(&jobs, &states);
	process_end();
}

static void says(const struct vm_states *states, unsigned most,
		 const char *want, const char *name)
{
	char text[4096] = "";

	is_int(vm_states_say(states, most, said, text), 0, "%s", name);
	is_string(text, want, "... in these lines");
}

/* Ranks that do the same stand in one line. */
static void lines(void)
{
	struct vm_live_jobs jobs;
	struct vm_states states;

	process_begin(8, 7);
	for (unsigned r = 0; r < 7; r++)
		ranks[r].state = VM_EXPORT_RUNNING;
	ranks[1] = ranks[2] = ranks[4] = receives(3);
	ranks[5] = receives(6);
	ranks[6].state = VM_EXPORT_DONE;
	look(&jobs, &states);
	says(&states, 0,
	     "ranks 0, 3       are running or ready\n"
	     "ranks 1-2, 4     are in MPI_Recv: receiving from rank 3, tag 7, up to 8 bytes\n"
	     "rank 5           is in MPI_Recv: receiving from rank 6, tag 7, up to 8 bytes\n"
	     "rank 6           is finished\n"
	     "rank 7           is not on this host\n"
	     "hang: rank 5 waits, directly or indirectly, for rank 6, which has ended (1 of 8 ranks can never proceed)\n",
	     "all ranks are told");
	says(&states, 2,
	     "ranks 0, 3       are running or ready\n"
	     "ranks 1-2, 4     are in MPI_Recv: receiving from rank 3, tag 7, up to 8 bytes\n"
	     "and 3 more ranks: 1 receive, 1 done, 1 not on this host (vmpistat --states --all job shows all)\n"
	     "hang: rank 5 waits, directly or indirectly, for rank 6, which has ended (1 of 8 ranks can never proceed)\n",
	     "two lines are told, and what is left out");
	look_end(&jobs, &states);
	process_end();
}

/* Many single ranks in a line are cut. */
static void long_line(void)
{
	struct vm_live_job job = { .name = "made-up" };
	struct vm_live_doing doing[200] = { 0 };
	struct vm_deadlock_rank needs[200] = { 0 };
	bool known[200];
	struct vm_states states = {
		.job = &job,
		.count = 200,
		.doing = doing,
		.known = known,
		.needs = needs,
	};

	for (unsigned r = 0; r < 200; r++) {
		known[r] = true;
		doing[r].state = r % 2 ? VM_EXPORT_SLEEP : VM_EXPORT_RUNNING;
	}
	says(&states, 1,
	     "ranks 0, 2, ..., 198 are running or ready\n"
	     "and 100 more ranks: 100 sleep (vmpistat --states --all made-up shows all)\n",
	     "ranks that are evenly apart");
	for (unsigned r = 0; r < 200; r++)
		doing[r].state = r % 10 == 0 || r % 10 == 3 ? VM_EXPORT_SLEEP :
							      VM_EXPORT_RUNNING;
	says(&states, 1,
	     "ranks 0, 3, 10, 13, 20, 23, 30, 33, 40, 43, 50, 53, 60, 63, 70, 73, 80, 83, ... (40) are sleeping\n"
	     "and 160 more ranks: 160 running (vmpistat --states --all made-up shows all)\n",
	     "a long list of ranks is cut");
	known[199] = false;
	for (unsigned r = 0; r < 199; r++)
		doing[r].state = VM_EXPORT_RUNNING;
	says(&states, 1,
	     "ranks 0-198      are running or ready\n"
	     "and 1 more rank: 1 not on this host (vmpistat --states --all made-up shows all)\n",
	     "one rank is one rank");
}

/* Each rank r of so many waits for the partner that the function says, with its
 * tag and bytes; -1: it runs. */
#define FOLDED 64
static void folded(int32_t (*partner)(int32_t), bool differ, const char *want,
		   const char *name)
{
	struct vm_live_job job = { .name = "made-up" };
	struct vm_live_doing doing[FOLDED] = { 0 };
	struct vm_deadlock_rank needs[FOLDED] = { 0 };
	bool known[FOLDED];
	struct vm_states states = {
		.job = &job,
		.count = FOLDED,
		.doing = doing,
		.known = known,
		.needs = needs,
	};

	for (int32_t r = 0; r < FOLDED; r++) {
		known[r] = true;
		doing[r].state = VM_EXPORT_SLEEP;
		if (partner(r) < 0)
			continue;
		doing[r].state = VM_EXPORT_RECEIVE;
		doing[r].wait.peer = partner(r);
		doing[r].wait.tag = differ ? r : 7;
		doing[r].wait.bytes = differ ? 8 * (uint64_t)r : 8;
	}
	says(&states, 8, want, name);
}

static int32_t left(int32_t r)
{
	return r - 1;
}

static int32_t right_round(int32_t r)
{
	return (r + 1) % FOLDED;
}

static int32_t grid(int32_t r)
{
	return r % 2 ? r - 8 : r + 8 < FOLDED ? r + 8 : -1;
}

static int32_t butterfly(int32_t r)
{
	return r ^ 4;
}

static int32_t tree(int32_t r)
{
	return r ? (r - 1) / 2 : -1;
}

static int32_t tree_from_1(int32_t r)
{
	return r > 1 ? r / 2 : -1;
}

static int32_t binomial(int32_t r)
{
	return r ? r & (r - 1) : -1;
}

static int32_t groups_of_8(int32_t r)
{
	return r % 8 ? r - r % 8 : -1;
}

static int32_t random_like(int32_t r)
{
	return (r * r * 5 + 7 * r + 3) % 61;
}

static void folds(void)
{
	folded(left, false,
	       "rank 0           is sleeping\n"
	       "ranks 1-63       are receiving from rank - 1, tag 7, up to 8 bytes\n",
	       "a chain is one line");
	folded(right_round, false,
	       "ranks 0-63       are receiving from rank + 1 (mod 64), tag 7, up to 8 bytes\n",
	       "so is a ring");
	folded(grid, false,
	       "ranks 0, 2, ..., 54 are receiving from rank + 8, tag 7, up to 8 bytes\n"
	       "ranks 1, 3, ..., 7, 56, 58, ..., 62 are sleeping\n"
	       "ranks 9, 11, ..., 63 are receiving from rank - 8, tag 7, up to 8 bytes\n",
	       "two ways in a grid are two lines");
	folded(butterfly, false,
	       "ranks 0-63       are receiving from rank ^ 4, tag 7, up to 8 bytes\n",
	       "a butterfly is one");
	folded(tree, false,
	       "rank 0           is sleeping\n"
	       "ranks 1-63       are receiving from (rank - 1) / 2, tag 7, up to 8 bytes\n",
	       "a tree is one");
	folded(tree_from_1, false,
	       "ranks 0-1        are sleeping\n"
	       "ranks 2-63       are receiving from rank / 2, tag 7, up to 8 bytes\n",
	       "also one that is counted from 1");
	folded(binomial, false,
	       "rank 0           is sleeping\n"
	       "ranks 1-63       are receiving from rank & (rank - 1), tag 7, up to 8 bytes\n",
	       "and a binomial one");
	folded(left, true,
	       "rank 0           is sleeping\n"
	       "ranks 1-63       are receiving from rank - 1, tags 1-63, up to 8-504 bytes\n",
	       "tags and lengths may differ where there is no room");
	folded(groups_of_8, false,
	       "ranks 0, 8, ..., 56 are sleeping\n"
	       "ranks 1, 9, ..., 57 are receiving from rank - 1, tag 7, up to 8 bytes\n"
	       "ranks 2, 10, ..., 58 are receiving from rank - 2, tag 7, up to 8 bytes\n"
	       "ranks 3, 11, ..., 59 are receiving from rank - 3, tag 7, up to 8 bytes\n"
	       "ranks 4, 12, ..., 60 are receiving from rank - 4, tag 7, up to 8 bytes\n"
	       "ranks 5, 13, ..., 61 are receiving from rank - 5, tag 7, up to 8 bytes\n"
	       "ranks 6, 14, ..., 62 are receiving from rank - 6, tag 7, up to 8 bytes\n"
	       "ranks 7, 15, ..., 63 are receiving from rank - 7, tag 7, up to 8 bytes\n",
	       "several partners, each of the same for several");
	folded(random_like, true,
	       "ranks 0-63       are receiving from ranks 1, 3, 6, 8-9, 12-16, 19, 23-25, 27-29, 31-33, 37, 40-44, 47-48, 50, 53, ... (31), tags 0-63, up to 0-504 bytes\n",
	       "what has no rule is one line");
}

static void circle(void)
{
	struct vm_live_jobs jobs;
	struct vm_states states;
	unsigned length, ended, *members;

	process_begin(6, 6);
	for (unsigned r = 0; r < 6; r++)
		ranks[r].state = VM_EXPORT_RUNNING;
	ranks[2] = receives(4);
	ranks[4] = receives(5);
	ranks[5] = receives(2);
	ranks[3] = receives(5);
	look(&jobs, &states);
	is_int(states.stuck, 4, "three wait in a circle, one for them");
	members = vm_states_circle(&states, &length, &ended);
	ok(members && length == 3 && members[0] == 2 && members[1] == 4 &&
		   members[2] == 5,
	   "the circle is found");
	free(members);
	says(&states, 2,
	     "rank 2           is in MPI_Recv: receiving from rank 4, tag 7, up to 8 bytes\n"
	     "ranks 3-4        are in MPI_Recv: receiving from rank 5, tag 7, up to 8 bytes\n"
	     "and 3 more ranks: 2 running, 1 receive (vmpistat --states --all job shows all)\n"
	     "deadlock: rank 2 waits for rank 4, which waits for rank 5, which waits for rank 2 (4 of 6 ranks can never proceed)\n",
	     "those in the circle are told first");
	look_end(&jobs, &states);
	process_end();
}

/* Of a circle of 20 the last ones are counted. */
static void long_circle(void)
{
	struct vm_live_jobs jobs;
	struct vm_states states;
	char text[8192] = "", want[2048] = "deadlock: rank 0";
	const char *at;

	process_begin(20, 20);
	for (unsigned r = 0; r < 20; r++)
		ranks[r] = receives((int32_t)(r + 1) % 20);
	look(&jobs, &states);
	is_int(vm_states_say(&states, 1, said, text), 0, "a long circle");
	for (unsigned r = 1; r < 4; r++)
		snprintf(want + strlen(want), sizeof(want) - strlen(want),
			 " waits for rank %u, which", r);
	strcat(want,
	       " waits for 16 more, the last of which waits for rank 0 (20 of 20 ranks can never proceed)\n");
	at = strstr(text, "deadlock");
	is_string(at ? at : text, want, "... is told in part");
	look_end(&jobs, &states);
	process_end();
}

static atomic_bool stop;

/* A worker that wakes up and sleeps again. */
static void *sleep_often(void *arg)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	while (!atomic_load(&stop)) {
		__atomic_add_fetch(&workers[1].pvars.sleeps, 1,
				   __ATOMIC_RELAXED);
		nanosleep(&moment, NULL);
	}
	return arg;
}

/* Whoever moves between two looks may go on. */
static void moving(void)
{
	struct vm_live_jobs jobs;
	struct vm_states states;
	unsigned stuck = 1;
	pthread_t thread;

	process_begin(2, 2);
	ranks[0] = receives(1);
	ranks[1] = receives(0);
	if (pthread_create(&thread, NULL, sleep_often, NULL))
		bail("no thread");
	/* On a busy machine the thread may not run between two looks. */
	for (int i = 0; i < 20 && stuck; i++) {
		look(&jobs, &states);
		stuck = states.stuck;
		look_end(&jobs, &states);
	}
	is_int(stuck, 0, "nobody is stuck while workers wake up");
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	look(&jobs, &states);
	is_int(states.stuck, 2, "then they are");
	look_end(&jobs, &states);
	process_end();
}

/* What a killed process waited for is still there. */
static void killed(void)
{
	struct vm_live_jobs jobs;
	struct vm_states states;
	char path[VM_EXPORT_PATH_MAX];
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen("/dev/null", "w", stdout)) /* checks are ours */
			_exit(1);
		process_begin(2, 2);
		ranks[0] = receives(1);
		ranks[1] = receives(0);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, &status, 0);
	look(&jobs, &states);
	ok(!vm_live_job_lives(states.job), "the process is dead");
	is_int(states.stuck, 2, "its deadlock can be seen");
	look_end(&jobs, &states);
	vm_export_path(path, sizeof(path), dir, "job", 0);
	unlink(path);
}

#define MEMBERS 6

/* How many of up to six ranks are stuck; needs are what they need. */
static unsigned judged(const struct rank *list, unsigned count, unsigned known)
{
	struct vm_live_doing doing[MEMBERS] = { 0 };
	struct vm_deadlock_rank needs[MEMBERS] = { 0 };
	bool here[MEMBERS];

	for (unsigned r = 0; r < count; r++) {
		doing[r].state = (enum vm_export_state)list[r].state;
		doing[r].wait = list[r].wait;
		here[r] = r < known;
	}
	return vm_states_judge(needs, doing, here, count);
}

/* A member of channel 4, in its barrier; next is the one after it. */
#define MEETS(next)                                                       \
	{                                                                 \
		{ .context = 4, .peer = (next), .flags = VM_EXPORT_ALL }, \
			VM_EXPORT_COLLECTIVE                              \
	}
#define GETS(from)                                    \
	{                                             \
		{ .peer = (from) }, VM_EXPORT_RECEIVE \
	}
#define ENDS                          \
	{                             \
		{ 0 }, VM_EXPORT_DONE \
	}
#define GOES                             \
	{                                \
		{ 0 }, VM_EXPORT_RUNNING \
	}
#define ALL_MEET                                                 \
	{                                                        \
		{ .flags = VM_EXPORT_ALL }, VM_EXPORT_COLLECTIVE \
	}

#define JUDGED(want, known, name, ...)                                        \
	do {                                                                  \
		const struct rank list[] = { __VA_ARGS__ };                   \
		is_int(judged(list, sizeof(list) / sizeof(list[0]), (known)), \
		       want, "%s", name);                                     \
	} while (0)

static void judge(void)
{
	JUDGED(3, 9, "a barrier of part of the ranks waits for a member",
	       MEETS(1), MEETS(2), GETS(0));
	JUDGED(0, 9, "the member can come", MEETS(1), MEETS(2), GETS(3), GOES);
	JUDGED(2, 9, "the member has ended", MEETS(1), MEETS(2), ENDS);
	JUDGED(0, 9, "all members have come", MEETS(1), MEETS(2), MEETS(0));
	JUDGED(0, 9, "nobody knows who is next", MEETS(1), MEETS(-2), ENDS);
	JUDGED(2, 9, "who comes to a barrier late waits for the same member",
	       MEETS(2), ENDS, MEETS(1));
	JUDGED(2, 9, "all but one are in a barrier of all", ALL_MEET, ALL_MEET,
	       ENDS);
	JUDGED(2, 9, "nobody is left who could send", GETS(-1), GETS(0), ENDS);
	JUDGED(0, 9, "any rank may send", GETS(-1), GETS(0), GOES);
	JUDGED(0, 1, "nobody knows about ranks of another host", GETS(1),
	       GETS(0));
	JUDGED(0, 9, "there is no such rank", GETS(9), GOES);
	JUDGED(0, 9, "a rank of a communicator may be any",
	       { { .context = 6, .peer = 1 }, VM_EXPORT_RECEIVE }, ENDS);
	JUDGED(1, 9, "... unless it is one of the job",
	       { { .context = 6, .peer = 1, .flags = VM_EXPORT_OF_WORLD },
		 VM_EXPORT_RECEIVE },
	       ENDS);
	JUDGED(0, 9, "another task of the rank may do more",
	       { { .peer = 1, .others = 1 }, VM_EXPORT_RECEIVE }, ENDS);
	JUDGED(0, 9, "another task of a member may do more",
	       { { .context = 4,
		   .peer = 1,
		   .flags = VM_EXPORT_ALL,
		   .others = 1 },
		 VM_EXPORT_COLLECTIVE },
	       ENDS);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail("no directory");
	vm_pvars_add(&sched_worker_pvar_table);
	words();
	lines();
	long_line();
	folds();
	circle();
	long_circle();
	moving();
	killed();
	judge();
	ok(rmdir(dir) == 0, "nothing is left behind");
	return done_testing();
}
