/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bad arguments, and good ones at the wrong time, give the documented code and
 * leave outputs as they were.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

#define IS(call, code) is_int((call), (code), "%s", #call)

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* While no runtime runs. */
static void without_runtime(void)
{
	vmpi_task *task = NULL, *other = (vmpi_task *)&task;
	vmpi_chan *chan = (vmpi_chan *)&task;
	vmpi_req *req = NULL;
	int index = 5;

	IS(vmpi_stop(), -VMPI_ESTATE);
	IS(vmpi_attach(0), -VMPI_ESTATE);
	IS(vmpi_detach(), -VMPI_ESTATE);
	IS(vmpi_spawn(&task, nothing, NULL), -VMPI_ESTATE);
	ok(!task, "and the handle is what it was");
	IS(vmpi_join(&task, NULL), -VMPI_EINVAL);
	IS(vmpi_join(NULL, NULL), -VMPI_EINVAL);
	IS(vmpi_join(&other, NULL), -VMPI_ESTATE);
	ok(other == (vmpi_task *)&task, "and the handle is what it was");
	IS(vmpi_rank(), -VMPI_ENORANK);
	IS(vmpi_size(), -VMPI_ESTATE);
	ok(!vmpi_world(), "there is no world");
	IS(vmpi_barrier(chan), -VMPI_ENORANK);
	IS(vmpi_send(chan, "", 1, 0, 0), -VMPI_ENORANK);
	IS(vmpi_wait(&req, NULL), -VMPI_ENORANK);
	IS(vmpi_test_any(&req, &index, NULL, 1), -VMPI_ENORANK);
	vmpi_yield();
	vmpi_sleep(1000);
	ok(true, "one may yield and sleep");
}

/* The log, which has the mistakes too, goes to /dev/null. */
static void configurations(void)
{
	vmpi_config bad[] = {
		{ .ranks = -1 },
		{ .workers = -1 },
		{ .workers = 1025 },
		{ .stack_bytes = 100 },
		{ .ranks = INT_MIN, .workers = 1 },
	};
	vmpi_config huge = { .ranks = 1,
			     .workers = 1,
			     .stack_bytes = (size_t)1 << 50 };
	int keep = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	if (keep < 0 || null < 0)
		bail("no /dev/null");
	dup2(null, STDERR_FILENO);
	close(null);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is_int(vmpi_start(&bad[i]), -VMPI_EINVAL,
		       "a bad configuration (%zu) does not start", i);
		is_int(vmpi_run(&bad[i], nothing, NULL), -VMPI_EINVAL,
		       "nor run");
		IS(vmpi_size(), -VMPI_ESTATE);
	}
	IS(vmpi_run(&huge, nothing, NULL), -VMPI_ELIMIT);
	IS(vmpi_size(), -VMPI_ESTATE);
	IS(vmpi_run(NULL, NULL, NULL), -VMPI_EINVAL);
	dup2(keep, STDERR_FILENO);
	close(keep);
}

/* Calls by a thread that acts for no rank. */
static void stranger(vmpi_chan *chan)
{
	static const vmpi_config config = { .ranks = 2 };
	vmpi_msg *msg = NULL;
	vmpi_req *req = NULL, *none[2] = { NULL, NULL };
	int index = 5;

	IS(vmpi_start(NULL), -VMPI_ESTATE);
	IS(vmpi_run(&config, nothing, NULL), -VMPI_EINVAL);
	IS(vmpi_attach(-1), -VMPI_ERANK);
	IS(vmpi_attach(3), -VMPI_ERANK);
	IS(vmpi_detach(), -VMPI_ESTATE);
	IS(vmpi_rank(), -VMPI_ENORANK);
	IS(vmpi_size(), 3);
	ok(!vmpi_world(), "a stranger has no world");
	IS(vmpi_send(chan, "", 1, 0, 0), -VMPI_ENORANK);
	IS(vmpi_recv(chan, &index, 1, 0, 0, NULL), -VMPI_ENORANK);
	IS(vmpi_isend(chan, &req, "", 1, 0, 0), -VMPI_ENORANK);
	IS(vmpi_irecv(chan, &req, &index, 1, 0, 0), -VMPI_ENORANK);
	IS(vmpi_match(chan, &msg, 0, 0), -VMPI_ENORANK);
	IS(vmpi_try_match(chan, &msg, 0, 0), -VMPI_ENORANK);
	IS(vmpi_barrier(chan), -VMPI_ENORANK);
	IS(vmpi_wait(&req, NULL), -VMPI_ENORANK);
	IS(vmpi_test(&req, NULL), -VMPI_ENORANK);
	IS(vmpi_wait_all(none, NULL, 2), -VMPI_ENORANK);
	IS(vmpi_wait_any(none, &index, NULL, 2), -VMPI_ENORANK);
	IS(vmpi_test_any(none, &index, NULL, 2), -VMPI_ENORANK);
	ok(!req && !msg && index == 5, "outputs are what they were");
	IS(vmpi_spawn(NULL, NULL, NULL), -VMPI_EINVAL);
}

static void channels(vmpi_chan *world)
{
	vmpi_chan *out = NULL, *none = NULL;

	IS(vmpi_chan_rank(NULL), -VMPI_EINVAL);
	IS(vmpi_chan_size(NULL), -VMPI_EINVAL);
	IS(vmpi_chan_dup(NULL, &out), -VMPI_EINVAL);
	IS(vmpi_chan_dup(world, NULL), -VMPI_EINVAL);
	IS(vmpi_chan_split(NULL, &out, 0, 0), -VMPI_EINVAL);
	IS(vmpi_chan_split(world, NULL, 0, 0), -VMPI_EINVAL);
	IS(vmpi_chan_split(world, &out, -1, 0), -VMPI_EINVAL);
	IS(vmpi_chan_split(world, &out, -3, 0), -VMPI_EINVAL);
	IS(vmpi_barrier(NULL), -VMPI_EINVAL);
	IS(vmpi_chan_free(NULL), -VMPI_EINVAL);
	IS(vmpi_chan_free(&none), -VMPI_EINVAL);
	IS(vmpi_chan_free(&world), -VMPI_EINVAL);
	ok(!out && world, "outputs are what they were");
}

/* All calls that send or name a receiver. */
static void sends(vmpi_chan *world)
{
	vmpi_req *req = NULL;
	char data[4] = "";

	IS(vmpi_send(NULL, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_send(world, NULL, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_send(world, data, 4, -1, 0), -VMPI_ERANK);
	IS(vmpi_send(world, data, 4, 3, 0), -VMPI_ERANK);
	IS(vmpi_send(world, data, 4, 0, -1), -VMPI_ETAG);
	IS(vmpi_send(world, data, 4, 0, INT_MIN), -VMPI_ETAG);
	IS(vmpi_ssend(NULL, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_ssend(world, data, 4, INT_MAX, 0), -VMPI_ERANK);
	IS(vmpi_ssend(world, data, 4, 0, -2), -VMPI_ETAG);
	IS(vmpi_isend(NULL, &req, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_isend(world, NULL, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_isend(world, &req, NULL, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_isend(world, &req, data, 4, 7, 0), -VMPI_ERANK);
	IS(vmpi_isend(world, &req, data, 4, 0, -7), -VMPI_ETAG);
	IS(vmpi_issend(NULL, &req, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_issend(world, NULL, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_issend(world, &req, data, 4, VMPI_ANY, 0), -VMPI_ERANK);
	IS(vmpi_issend(world, &req, data, 4, 0, VMPI_ANY), -VMPI_ETAG);
	ok(!req, "outputs are what they were");
}

static void receives(vmpi_chan *world)
{
	vmpi_msg *msg = NULL;
	vmpi_req *req = NULL;
	char data[4] = "";

	IS(vmpi_recv(NULL, data, 4, 0, 0, NULL), -VMPI_EINVAL);
	IS(vmpi_recv(world, NULL, 4, 0, 0, NULL), -VMPI_EINVAL);
	IS(vmpi_recv(world, data, 4, -2, 0, NULL), -VMPI_ERANK);
	IS(vmpi_recv(world, data, 4, 3, 0, NULL), -VMPI_ERANK);
	IS(vmpi_recv(world, data, 4, 0, -2, NULL), -VMPI_ETAG);
	IS(vmpi_irecv(NULL, &req, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_irecv(world, NULL, data, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_irecv(world, &req, NULL, 4, 0, 0), -VMPI_EINVAL);
	IS(vmpi_irecv(world, &req, data, 4, 3, 0), -VMPI_ERANK);
	IS(vmpi_irecv(world, &req, data, 4, 0, -2), -VMPI_ETAG);
	IS(vmpi_match(NULL, &msg, 0, 0), -VMPI_EINVAL);
	IS(vmpi_match(world, NULL, 0, 0), -VMPI_EINVAL);
	IS(vmpi_match(world, &msg, 3, 0), -VMPI_ERANK);
	IS(vmpi_match(world, &msg, 0, -2), -VMPI_ETAG);
	IS(vmpi_try_match(NULL, &msg, 0, 0), -VMPI_EINVAL);
	IS(vmpi_try_match(world, NULL, 0, 0), -VMPI_EINVAL);
	IS(vmpi_try_match(world, &msg, -5, 0), -VMPI_ERANK);
	IS(vmpi_try_match(world, &msg, 0, -5), -VMPI_ETAG);
	IS(vmpi_try_match(world, &msg, 0, 0), -VMPI_EAGAIN);
	ok(!req && !msg, "outputs are what they were");
}

static void handles(vmpi_chan *world)
{
	vmpi_msg *none = NULL, *msg = NULL;
	vmpi_req *req = NULL, *list[2] = { NULL, NULL };
	const void *data = NULL;
	int value = 5;

	IS(vmpi_wait(NULL, NULL), -VMPI_EINVAL);
	IS(vmpi_test(NULL, NULL), -VMPI_EINVAL);
	IS(vmpi_wait_all(NULL, NULL, 1), -VMPI_EINVAL);
	IS(vmpi_wait_all(list, NULL, -1), -VMPI_EINVAL);
	IS(vmpi_wait_any(NULL, &value, NULL, 1), -VMPI_EINVAL);
	IS(vmpi_wait_any(list, NULL, NULL, 2), -VMPI_EINVAL);
	IS(vmpi_wait_any(list, &value, NULL, -1), -VMPI_EINVAL);
	IS(vmpi_test_any(NULL, &value, NULL, 1), -VMPI_EINVAL);
	IS(vmpi_test_any(list, NULL, NULL, 2), -VMPI_EINVAL);
	IS(vmpi_test_any(list, &value, NULL, -1), -VMPI_EINVAL);
	IS(vmpi_cancel(NULL), -VMPI_EINVAL);
	IS(vmpi_msg_recv(NULL, &value, 4, NULL), -VMPI_EINVAL);
	IS(vmpi_msg_recv(&none, &value, 4, NULL), -VMPI_EINVAL);
	IS(vmpi_msg_irecv(NULL, &req, &value, 4), -VMPI_EINVAL);
	IS(vmpi_msg_irecv(&none, &req, &value, 4), -VMPI_EINVAL);
	IS(vmpi_msg_borrow(NULL, &data), -VMPI_EINVAL);
	IS(vmpi_msg_source(NULL), -VMPI_EINVAL);
	IS(vmpi_msg_drop(NULL), -VMPI_EINVAL);
	IS(vmpi_msg_drop(&none), -VMPI_EINVAL);
	ok(!req && !data && value == 5, "outputs are what they were");
	vmpi_send(world, &value, sizeof(value), vmpi_rank(), 0);
	vmpi_match(world, &msg, vmpi_rank(), 0);
	IS(vmpi_msg_recv(&msg, NULL, 4, NULL), -VMPI_EINVAL);
	IS(vmpi_msg_irecv(&msg, NULL, &value, 4), -VMPI_EINVAL);
	IS(vmpi_msg_irecv(&msg, &req, NULL, 4), -VMPI_EINVAL);
	IS(vmpi_msg_borrow(msg, NULL), -VMPI_EINVAL);
	value = 6;
	IS(vmpi_msg_recv(&msg, &value, sizeof(value), NULL), 0);
	is_int(value, 5, "after all that the message is still there");
}

/* Another rank's handle is not ours. */
static vmpi_chan *worlds[3];

static int rank_body(void *arg)
{
	vmpi_chan *world = vmpi_world();

	(void)arg;
	worlds[vmpi_rank()] = world;
	vmpi_barrier(world);
	if (vmpi_rank() == 1) {
		IS(vmpi_send(worlds[2], "", 1, 0, 0), -VMPI_EINVAL);
		IS(vmpi_barrier(worlds[0]), -VMPI_EINVAL);
		IS(vmpi_attach(0), -VMPI_ESTATE);
		IS(vmpi_detach(), -VMPI_ESTATE);
		IS(vmpi_stop(), -VMPI_ESTATE);
		IS(vmpi_start(NULL), -VMPI_ESTATE);
		IS(vmpi_run(NULL, nothing, NULL), -VMPI_ESTATE);
		channels(world);
		sends(world);
		receives(world);
		handles(world);
	}
	vmpi_barrier(world);
	return 0;
}

static void *attached(void *arg)
{
	IS(vmpi_attach(0), 0);
	IS(vmpi_attach(1), -VMPI_ESTATE);
	IS(vmpi_stop(), -VMPI_ESTATE);
	IS(vmpi_run(NULL, nothing, NULL), -VMPI_ESTATE);
	handles(vmpi_world());
	IS(vmpi_detach(), 0);
	IS(vmpi_detach(), -VMPI_ESTATE);
	return arg;
}

static void values(void)
{
	char text[64] = "kept";

	IS(vmpi_set(NULL, "1"), -VMPI_EINVAL);
	IS(vmpi_set("core_copy_limit", NULL), -VMPI_EINVAL);
	IS(vmpi_set("core_no_such_name", "1"), -VMPI_ENOENT);
	IS(vmpi_set("core_copy_limit", "many"), -VMPI_EINVAL);
	IS(vmpi_set("core_copy_limit", "17K"), -VMPI_EINVAL);
	IS(vmpi_get(NULL, text, 64), -VMPI_EINVAL);
	IS(vmpi_get("core_copy_limit", NULL, 64), -VMPI_EINVAL);
	IS(vmpi_get("core_copy_limit", text, 0), -VMPI_EINVAL);
	IS(vmpi_get("core_no_such_name", text, 64), -VMPI_ENOENT);
	is_string(text, "kept", "outputs are what they were");
	IS(vmpi_set("core_copy_limit", "4K"), 0);
	IS(vmpi_get("core_copy_limit", text, 64), 0);
	is_string(text, "4096", "what was set is there");
	IS(vmpi_set("core_copy_limit", "8K"), 0);
}

int main(void)
{
	vmpi_config config = { .ranks = 3, .workers = 2 };
	pthread_t thread;

	plan(191);
	without_runtime();
	configurations();
	values();
	if (vmpi_start(&config))
		bail("no start");
	IS(vmpi_set("sched_workers", "3"), -VMPI_ESTATE);
	if (vmpi_run(NULL, rank_body, NULL))
		bail("no run");
	stranger(worlds[0]);
	if (pthread_create(&thread, NULL, attached, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	IS(vmpi_stop(), 0);
	IS(vmpi_set("sched_workers", "0"), 0);
	return done_testing();
}
