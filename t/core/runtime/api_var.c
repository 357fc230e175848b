/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables by number and sessions: what they say of ranks, workers and the
 * node, from ranks, from threads and from a signal handler while ranks move.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tap.h"
#include "vmpi.h"

#define RANKS 4
#define MESSAGES 20
#define BYTES 100

static int var(const char *name)
{
	int number = vmpi_var_find(name);

	if (number < 0)
		bail("there is no variable %s", name);
	return number;
}

static void test_info(void)
{
	int performance = vmpi_var_count(VMPI_PERFORMANCE);
	int control = vmpi_var_count(VMPI_CONTROL), wrong = 0;
	vmpi_var info;

	ok(performance > 20 && control > 20, "there are variables");
	for (int i = 0; i < performance; i++)
		wrong += vmpi_var_info(VMPI_PERFORMANCE + i, &info) ||
			 info.number != i || info.kind != VMPI_PERFORMANCE ||
			 vmpi_var_find(info.name) != i || info.words < 1 ||
			 info.settable || !info.text[0] || !info.what[0];
	for (int i = 0; i < control; i++)
		wrong += vmpi_var_info(VMPI_CONTROL + i, &info) ||
			 info.number != VMPI_CONTROL + i ||
			 vmpi_var_find(info.name) != info.number ||
			 !info.settable || !info.text[0];
	is_int(wrong, 0, "each has a number, a name and a description");
	is_int(vmpi_var_info(performance, &info), -VMPI_ENOENT,
	       "and no number is behind the last");
	is_int(vmpi_var_info(VMPI_CONTROL + control, &info), -VMPI_ENOENT,
	       "of either kind");
	is_int(vmpi_var_find("core_send"), -VMPI_ENOENT, "an unknown name");
	is_int(vmpi_var_count(7), -VMPI_EINVAL, "an unknown kind");
	vmpi_var_info(var("core_sent_bytes"), &info);
	ok(info.of == VMPI_OF_RANK && !strcmp(info.unit, "bytes") &&
		   !strcmp(info.what, "aggregate") +
			   !strcmp(info.what, "counter"),
	   "what is said of core_sent_bytes (%s)", info.what);
}

static void test_control(void)
{
	int limit = var("core_eager_limit"), stack = var("sched_stack_bytes");
	uint64_t value = 0;

	is_int(vmpi_var_read(limit, &value), 0, "a control variable is read");
	is_int((long)value, 8192, "it has its default");
	is_int(vmpi_var_write(limit, 4096), 0, "written");
	vmpi_var_total(limit, &value);
	is_int((long)value, 4096, "and has that value");
	is_int(vmpi_var_write(limit, -1), -VMPI_EINVAL, "not any value");
	is_int(vmpi_var_write(var("overlap_bins"), 1), -VMPI_EINVAL,
	       "text is no number");
	is_int(vmpi_var_write(var("core_sends"), 1), -VMPI_ESTATE,
	       "counters cannot be written");
	is_int(vmpi_var_write(-5, 1), -VMPI_ENOENT, "nor what does not exist");
	vmpi_var_write(limit, 8192);
	is_int(vmpi_start(NULL), 0, "the runtime starts");
	is_int(vmpi_var_write(stack, 65536), -VMPI_ESTATE,
	       "then what is for the start is refused");
	vmpi_stop();
}

static uint64_t limits[RANKS];

static int limit_read(void *arg)
{
	vmpi_var_read(var("core_eager_limit"), &limits[vmpi_rank()]);
	(void)arg;
	return 0;
}

static void test_control_of_ranks(void)
{
	int limit = var("core_eager_limit");
	uint64_t value = 0;

	is_int(vmpi_var_write_rank(limit, 1000, 0), -VMPI_ESTATE,
	       "before the start there is no rank to set it for");
	is_int(vmpi_var_read_rank(limit, &value, 0), -VMPI_ESTATE,
	       "nor one that has it");
	vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });
	is_int(vmpi_var_write_rank(limit, 1000, 1), 0,
	       "a rank gets a value of its own");
	vmpi_run(NULL, limit_read, NULL);
	is_int((long)limits[1], 1000, "which it reads");
	is_int((long)limits[0], 8192, "and no other rank");
	is_int(vmpi_var_read_rank(limit, &value, 1), 0, "others read it");
	is_int((long)value, 1000, "as well");
	vmpi_var_total(limit, &value);
	is_int((long)value, 8192, "that of the process stays");
	is_int(vmpi_var_write_rank(limit, -1, 1), -VMPI_EINVAL,
	       "not any value");
	is_int(vmpi_var_write_rank(var("sched_spin_us"), 1, 1), -VMPI_EINVAL,
	       "nor of what is the same for all ranks");
	is_int(vmpi_var_write_rank(limit, 1000, RANKS), -VMPI_ERANK,
	       "nor for a rank that is not there");
	is_int(vmpi_var_write_rank(limit, 1000, -1), -VMPI_ERANK, "nor for -1");
	is_int(vmpi_var_write_rank(var("core_sends"), 1, 0), -VMPI_ESTATE,
	       "nor a counter");
	is_int(vmpi_var_write_rank(-5, 1, 0), -VMPI_ENOENT,
	       "nor what does not exist");
	is_int(vmpi_var_read_rank(limit, &value, RANKS), -VMPI_ERANK,
	       "who is not there has no value");
	vmpi_stop();
	vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });
	vmpi_var_read_rank(limit, &value, 1);
	is_int((long)value, 8192, "it lasts as long as the runtime");
	vmpi_stop();
}

static uint64_t of_rank[RANKS], others[RANKS], mine[RANKS], total;
static int codes[RANKS][4];

static int send_all(void *arg)
{
	int rank = vmpi_rank(), sends = var("core_sends");
	char buffer[BYTES] = { 0 };
	uint64_t ignored;

	for (int i = 0; i < MESSAGES + rank; i++)
		vmpi_send(vmpi_world(), buffer, BYTES, rank, 1);
	for (int i = 0; i < MESSAGES + rank; i++)
		vmpi_recv(vmpi_world(), buffer, BYTES, rank, 1, NULL);
	codes[rank][0] = vmpi_var_read(sends, &of_rank[rank]);
	vmpi_barrier(vmpi_world());
	codes[rank][1] =
		vmpi_var_read_rank(sends, &others[rank], (rank + 1) % RANKS);
	if (rank == 0)
		vmpi_var_total(sends, &total);
	codes[rank][2] = vmpi_var_read(var("sched_switches"), &mine[rank]);
	codes[rank][3] = vmpi_var_read_worker(sends, &ignored, 0);
	(void)arg;
	return 0;
}

static void test_ranks(void)
{
	uint64_t value;

	vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });
	vmpi_run(NULL, send_all, NULL);
	for (int r = 0; r < RANKS; r++) {
		is_int((long)of_rank[r], MESSAGES + r,
		       "rank %d reads its own value", r);
		is_int((long)others[r], MESSAGES + (r + 1) % RANKS,
		       "and that of another rank");
		ok(!codes[r][0] && !codes[r][1] && !codes[r][2] && mine[r],
		   "and that of its worker");
		is_int(codes[r][3], -VMPI_EINVAL,
		       "workers have no values of ranks");
	}
	is_int((long)total, RANKS * MESSAGES + 6, "the total of all ranks");
	is_int(vmpi_var_read_rank(var("core_sends"), &value, 2), 0,
	       "a thread that is no rank reads that of a rank");
	is_int((long)value, MESSAGES + 2, "it is the same");
	is_int(vmpi_var_read(var("core_sends"), &value), -VMPI_ENORANK,
	       "it has none of its own");
	is_int(vmpi_var_read_rank(var("core_sends"), &value, RANKS),
	       -VMPI_ERANK, "nobody has that of a rank that is not there");
	is_int(vmpi_var_read_rank(var("core_sends"), &value, -1), -VMPI_ERANK,
	       "nor of -1");
	is_int(vmpi_var_read_worker(var("sched_switches"), &value, 1), 0,
	       "nor is a worker's secret");
	is_int(vmpi_var_read_worker(var("sched_switches"), &value, 2),
	       -VMPI_ERANK, "but of workers that are there");
	is_int(vmpi_var_read(-1, &value), -VMPI_ENOENT, "no such number");
	is_int(vmpi_var_read(var("core_sends"), NULL), -VMPI_EINVAL,
	       "nowhere to put it");
	is_int(vmpi_var_read_rank(var("core_comm_sends"), &value, 0),
	       -VMPI_EINVAL, "what is of channels is of no rank,");
	is_int(vmpi_var_total(var("core_comm_sends"), &value), -VMPI_EINVAL,
	       "and has no total");
	vmpi_stop();
	is_int(vmpi_var_read_rank(var("core_sends"), &value, 0), -VMPI_ESTATE,
	       "after the end there are no ranks");
}

static const char *const names[] = { "core_received_bytes", "core_send*",
				     "core_sends" };

static int word_of(const vmpi_session *session, const char *name)
{
	int number = var(name);

	for (int i = 0; i < vmpi_session_words(session); i++)
		if (vmpi_session_var(session, i) == number)
			return i;
	return -1;
}

static int session_body(void *arg)
{
	int rank = vmpi_rank(), sends, bytes;
	_Atomic int *wrong = arg;
	uint64_t values[512];
	vmpi_session *session;

	if (vmpi_session_new(&session, rank, names, 3)) {
		*wrong = 1;
		return 0;
	}
	sends = word_of(session, "core_sends");
	bytes = word_of(session, "core_received_bytes");
	*wrong |= sends < 1 || bytes != 0;
	send_all(NULL);
	vmpi_session_delta(session, values);
	*wrong |= values[sends] != (uint64_t)(MESSAGES + rank) ||
		  values[bytes] != values[sends] * BYTES;
	vmpi_session_delta(session, values);
	*wrong |= values[sends] != 0 || values[bytes] != 0;
	vmpi_session_read(session, values);
	*wrong |= values[sends] != (uint64_t)(MESSAGES + rank);
	vmpi_session_read_rank(session, values, (rank + 1) % RANKS);
	*wrong |= values[sends] != (uint64_t)(MESSAGES + (rank + 1) % RANKS);
	vmpi_session_free(&session);
	*wrong |= session != NULL;
	return 0;
}

static const char *const mark_names[] = { "core_unexpected_max",
					  "core_unexpected_len",
					  "core_unexpected_bytes_max" };

/* n messages to itself that wait until all are there. */
static void pile(int n)
{
	static char data[10];

	for (int i = 0; i < n; i++)
		vmpi_send(vmpi_world(), data, sizeof(data), vmpi_rank(), i);
	for (int i = 0; i < n; i++)
		vmpi_recv(vmpi_world(), data, sizeof(data), vmpi_rank(), i,
			  NULL);
}

static bool reads(vmpi_session *session, uint64_t max, uint64_t bytes)
{
	uint64_t values[3];

	return vmpi_session_read(session, values) == 0 && values[0] == max &&
	       values[1] == 0 && values[2] == bytes;
}

static int marks_body(void *arg)
{
	vmpi_session *old, *new, *all;
	uint64_t values[3];

	(void)arg;
	vmpi_session_new(&old, 0, mark_names, 3);
	pile(7);
	ok(reads(old, 7, 70), "a session has watermarks");
	vmpi_session_new(&new, 0, mark_names, 3);
	ok(reads(new, 0, 0), "which begin with it");
	pile(3);
	ok(reads(new, 3, 30), "and go on from there");
	ok(reads(old, 7, 70), "those of others stay");
	vmpi_session_new(&all, VMPI_ANY, mark_names, 3);
	pile(2);
	ok(reads(all, 2, 20) && reads(new, 3, 30),
	   "so do those of a session of all ranks");
	vmpi_session_delta(new, values);
	ok(values[0] == 3, "a delta has them as they are");
	vmpi_session_read_rank(new, values, 0);
	ok(values[0] == 7 && values[2] == 70,
	   "of any rank they are since the start");
	vmpi_var_read(var("core_unexpected_max"), values);
	ok(values[0] == 7, "as they are without a session");
	vmpi_session_free(&old);
	pile(5);
	ok(reads(new, 5, 50), "a session that ends disturbs nobody");
	vmpi_session_free(&new);
	vmpi_session_free(&all);
	return 0;
}

static void test_marks(void)
{
	vmpi_session *early;
	uint64_t values[3];

	vmpi_session_new(&early, 0, mark_names, 3);
	ok(reads(early, 0, 0), "before the start a watermark is 0");
	vmpi_run(&(vmpi_config){ .ranks = 1 }, marks_body, NULL);
	ok(vmpi_session_read(early, values) == 0,
	   "a session may be older than the runtime");
	vmpi_session_free(&early);
}

static void test_sessions(void)
{
	static const char *const bad[] = { "core_sends", "core_zz*" };
	static const char *const none[] = { NULL };
	static const char *const chan[] = { "core_comm_sends" };
	static const char *const chans[] = { "core_comm_*" };
	vmpi_session *session = NULL, *all;
	uint64_t values[2048];
	_Atomic int wrong = 0;
	int sends;

	vmpi_run(&(vmpi_config){ .ranks = RANKS, .workers = 2 }, session_body,
		 &wrong);
	is_int(wrong, 0, "each rank's session has its values and deltas");
	is_int(vmpi_session_new(&session, 0, bad, 2), -VMPI_ENOENT,
	       "a pattern that fits nothing");
	is_int(vmpi_session_new(&session, 0, none, 1), -VMPI_EINVAL,
	       "a name that is none");
	is_int(vmpi_session_new(&session, 0, chan, 1), -VMPI_EINVAL,
	       "what is of channels");
	is_int(vmpi_session_new(&session, 0, chans, 1), -VMPI_ENOENT,
	       "nor does a pattern fit it");
	is_int(vmpi_session_new(&session, -7, NULL, 0), -VMPI_EINVAL,
	       "a rank that is none");
	ok(!session, "then there is no session");

	is_int(vmpi_session_new(&all, VMPI_ANY, NULL, 0), 0,
	       "a session of all variables before the start");
	ok(vmpi_session_words(all) >= vmpi_var_count(VMPI_PERFORMANCE),
	   "it has them all");
	sends = word_of(all, "core_sends");
	vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });
	vmpi_run(NULL, send_all, NULL);
	is_int(vmpi_session_delta(all, values), 0, "it reads totals");
	is_int((long)values[sends], RANKS * MESSAGES + 6, "of all ranks");
	is_int(vmpi_session_read_rank(all, values, RANKS), -VMPI_ERANK,
	       "but not of a rank that is not there");
	vmpi_stop();
	is_int(vmpi_session_read(all, values), 0, "it reads after the end");
	is_int((long)values[sends], 0, "when nobody counts");
	is_int(vmpi_session_var(all, -1), -VMPI_EINVAL, "words have numbers");
	vmpi_session_free(&all);
	vmpi_session_free(&all);
	ok(!all, "a session is freed once");
}

/* A timer whose handler reads all of a rank, while ranks move. */
static vmpi_session *sampled;
static uint64_t sample[2048];
static _Atomic long samples, backwards;
static int sample_sends;
static uint64_t last_sends;
static _Atomic int busy;

static void sample_take(int signal)
{
	if (atomic_exchange(&busy, 1))
		return; /* two threads may have one each */
	if (vmpi_session_read(sampled, sample))
		atomic_fetch_add(&backwards, 1);
	if (sample[sample_sends] < last_sends)
		atomic_fetch_add(&backwards, 1);
	last_sends = sample[sample_sends];
	atomic_fetch_add(&samples, 1);
	atomic_store(&busy, 0);
	(void)signal;
}

static int chatter(void *arg)
{
	int rank = vmpi_rank(), number = 0;

	for (int i = 0; i < 500; i++) {
		vmpi_req *req;

		vmpi_irecv(vmpi_world(), &req, &number, sizeof(number),
			   (rank + RANKS - 1) % RANKS, 3);
		vmpi_send(vmpi_world(), &i, sizeof(i), (rank + 1) % RANKS, 3);
		vmpi_wait(&req, NULL);
	}
	(void)arg;
	return 0;
}

/* Every 100 us, whatever the threads do; on any that lets it in. */
static timer_t timer_start(void)
{
	struct sigaction action = { .sa_handler = sample_take,
				    .sa_flags = SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGPROF };
	struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	sigaction(SIGPROF, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &often, NULL))
		bail("there is no timer");
	return timer;
}

static void test_signals(void)
{
	sigset_t set;
	timer_t timer;
	int rounds = 0, wrong = 0;

	vmpi_set("core_balance", "force");
	vmpi_set("core_balance_round", "1");
	vmpi_set("core_balance_shuffle", "50");
	is_int(vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 }), 0,
	       "ranks that move");
	vmpi_session_new(&sampled, 0, NULL, 0);
	sample_sends = word_of(sampled, "core_sends");
	/* This thread only waits: the workers are to be interrupted. */
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	timer = timer_start();
	while (!wrong && rounds < 50 &&
	       (rounds < 5 || atomic_load(&samples) < 300)) {
		wrong = vmpi_run(NULL, chatter, NULL);
		rounds++;
	}
	timer_delete(timer);
	is_int(wrong, 0, "they run while a timer looks at them");
	vmpi_stop();
	ok(atomic_load(&samples) > 0, "handlers read the values");
	is_int(backwards, 0, "no sample fails or goes backwards");
	diag("%ld samples in %d rounds", (long)samples, rounds);
	vmpi_session_free(&sampled);
}

int main(void)
{
	test_info();
	test_control();
	test_control_of_ranks();
	test_ranks();
	test_sessions();
	test_marks();
	test_signals();
	return done_testing();
}
