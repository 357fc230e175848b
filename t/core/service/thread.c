/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service thread: it exists only once there is a handler, handlers come and
 * go from any thread and from handlers, and nothing of it is left after the
 * stop.
 */
#include "core/service/thread.h"

#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/rank/state.h"
#include "core/runtime/process.h"
#include "job.h"

static int files_in(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* A thread that was joined may still be listed for a moment. */
static int threads_become(int want)
{
	int count = files_in("/proc/self/task");

	for (int i = 0; i < 10000 && count != want; i++) {
		usleep(1000);
		count = files_in("/proc/self/task");
	}
	return count;
}

/* Waits for as long as it takes: the watchdog of tap.h ends a test that hangs.
 */
static void wait_for(_Atomic int *count, int least)
{
	while (atomic_load(count) < least)
		usleep(1000);
}

static _Atomic int ticks, wrong;

static void count_tick(void *arg, uint64_t now_ns)
{
	static uint64_t before;

	/* No rank's, and no other thread's. */
	if (vmpi_rank() >= 0 || now_ns < before || arg != &ticks)
		atomic_fetch_add(&wrong, 1);
	before = now_ns;
	atomic_fetch_add(&ticks, 1);
}

static void test_none(void)
{
	is_int(vm_service_every(1000, count_tick, &ticks), -VMPI_ESTATE,
	       "while the runtime does not run there are no duties");
	is_int(vm_service_fd(0, POLLIN, NULL, NULL), -VMPI_ESTATE,
	       "of no kind");
	is_int(vm_service_drop(1), -VMPI_ENOENT, "and none to take back");
}

static void test_lazy(void)
{
	vmpi_config config = { .ranks = 2, .workers = 1 };
	int threads, files, id;

	vmpi_start(&config);
	threads = files_in("/proc/self/task");
	files = files_in("/proc/self/fd");
	ok(!vm_node->service->running, "without a duty there is no thread");
	id = vm_service_every(100000, count_tick, &ticks);
	ok(id > 0, "a duty has a number");
	is_int(files_in("/proc/self/task"), threads + 1,
	       "the first one makes the thread");
	wait_for(&ticks, 3);
	ok(true, "it comes again and again");
	is_int(vm_service_every(0, count_tick, &ticks), -VMPI_EINVAL,
	       "a period of 0 is refused");
	is_int(vm_service_fd(-1, POLLIN, NULL, NULL), -VMPI_EINVAL,
	       "and a descriptor that is none");
	vmpi_stop();
	is_int(threads_become(threads - 1), threads - 1,
	       "the thread ends with the runtime, and its worker");
	ok(files_in("/proc/self/fd") <= files, "and leaves no descriptor");
	is_int(atomic_load(&wrong), 0, "it is no rank, and time goes on");
}

/* Drops itself, and then must not come again. */
static _Atomic int once, own_id;

static void tick_once(void *arg, uint64_t now_ns)
{
	(void)arg, (void)now_ns;
	while (!atomic_load(&own_id))
		sched_yield();
	EXPECT(vm_service_drop(atomic_load(&own_id)) == 0);
	EXPECT(vm_service_drop(atomic_load(&own_id)) == -VMPI_ENOENT);
	atomic_fetch_add(&once, 1);
}

/* Takes a while, and says whether it is under way. */
static _Atomic int inside, rounds;

static void tick_long(void *arg, uint64_t now_ns)
{
	(void)arg, (void)now_ns;
	atomic_store(&inside, 1);
	usleep(2000);
	atomic_store(&inside, 0);
	atomic_fetch_add(&rounds, 1);
}

static void test_drop(void)
{
	int id, late = 0;

	vmpi_start(NULL);
	own_id = vm_service_every(1000, tick_once, NULL);
	ticks = 0;
	id = vm_service_every(1000, count_tick, &ticks);
	wait_for(&once, 1);
	wait_for(&ticks, 20);
	is_int(once, 1, "a duty that takes itself back does not come again");
	is_int(vm_service_drop(id), 0, "another thread takes one back");
	is_int(vm_service_period(id, 5), -VMPI_ENOENT, "then it is gone");
	for (int i = 0; i < 50; i++) {
		int seen = atomic_load(&rounds);

		id = vm_service_every(1000, tick_long, NULL);
		if (i % 2)
			wait_for(&rounds, seen + 1);
		vm_service_drop(id);
		late += atomic_load(&inside);
		seen = atomic_load(&rounds);
		usleep(500);
		late += atomic_load(&rounds) != seen;
	}
	is_int(late, 0, "after that it neither runs nor begins");
	vmpi_stop();
	is_int(job_faults_take(), 0, "its own number is known once");
}

/* Every byte that comes goes back, and a closed end is reported. */
static _Atomic int hung_up;
static int echo_id;

static void echo(void *arg, int fd, short revents)
{
	char byte;

	(void)arg;
	if (revents & POLLIN && read(fd, &byte, 1) == 1) {
		byte++;
		EXPECT(write(*(int *)arg, &byte, 1) == 1);
	} else if (revents & POLLHUP) {
		EXPECT(vm_service_drop(echo_id) == 0);
		atomic_store(&hung_up, 1);
	}
}

static void test_descriptor(void)
{
	int to[2], from[2];
	char byte = 41;

	if (pipe(to) || pipe(from))
		bail("no pipe");
	vmpi_start(NULL);
	echo_id = vm_service_fd(to[0], POLLIN, echo, &from[1]);
	ok(echo_id > 0, "a descriptor is a duty too");
	ok(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1 &&
		   byte == 42,
	   "what comes is answered");
	is_int(vm_service_events(echo_id, 0), 0, "it can be deaf for a while");
	is_int(vm_service_period(echo_id, 5), -VMPI_ENOENT, "it has no period");
	is_int(vm_service_events(echo_id, POLLIN), 0, "and hear again");
	ok(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1 &&
		   byte == 43,
	   "what came meanwhile is answered");
	close(to[1]);
	wait_for(&hung_up, 1);
	ok(true, "the end of the other side is told");
	vmpi_stop();
	close(to[0]);
	close(from[0]);
	close(from[1]);
	is_int(job_faults_take(), 0, "as it should be");
}

static void test_period(void)
{
	int id;

	vmpi_start(NULL);
	ticks = 0;
	id = vm_service_every(UINT64_MAX, count_tick, &ticks);
	usleep(2000);
	is_int(ticks, 0, "the longest period does not end at once");
	is_int(vm_service_period(id, 1000), 0, "another period");
	is_int(vm_service_period(id, 0), -VMPI_EINVAL, "not 0");
	is_int(vm_service_events(id, POLLIN), -VMPI_ENOENT,
	       "a tick has no descriptor");
	wait_for(&ticks, 2);
	ok(true, "ends the sleep that was under way");
	vmpi_stop();
}

static void test_limit(void)
{
	int taken = 0, refused;

	vmpi_start(NULL);
	while ((refused = vm_service_every(1000000, count_tick, &ticks)) > 0)
		taken++;
	is_int(taken, VM_SERVICE_HANDLERS_MAX, "there is room for so many");
	is_int(refused, -VMPI_ELIMIT, "and no more");
	vmpi_stop();
}

/* Ranks and threads that add and drop handlers while ticks come. */
static void duties(int rank, int size)
{
	(void)size;
	for (int i = 0; i < 200; i++) {
		int id = vm_service_every(1000 + (unsigned)rank, count_tick,
					  &ticks);

		EXPECT(id > 0);
		vmpi_yield();
		EXPECT(vm_service_period(id, 2000) == 0);
		EXPECT(vm_service_drop(id) == 0);
	}
	/* Some are left for the stop. */
	EXPECT(vm_service_every(1000, count_tick, &ticks) > 0);
}

static void test_ranks(void)
{
	for (int i = 0; i < 10; i++)
		job(4, 2, duties, "ranks give duties and take them back");
}

/* A process that is a rank. */
static void test_process(void)
{
	int threads;

	is_int(vm_process_join(), 0, "an ordinary process is a rank");
	threads = files_in("/proc/self/task");
	ticks = 0;
	ok(vm_service_every(1000, count_tick, &ticks) > 0,
	   "a service is there too");
	wait_for(&ticks, 2);
	vm_process_leave();
	is_int(threads_become(threads), threads,
	       "it ends when the process leaves its job");
	is_int(vm_service_every(1000, count_tick, &ticks), -VMPI_ESTATE,
	       "and takes no duties any more");
}

int main(void)
{
	/* It would have a handler. */
	setenv("VMPI_CORE_DEADLOCK", "off", 1);
	test_none();
	test_lazy();
	test_drop();
	test_descriptor();
	test_period();
	test_limit();
	test_ranks();
	test_process();
	return done_testing();
}
