/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mistakes in calls of vmpi.h: the answer of each function, in every state and
 * from every kind of caller, as the pages in section 3 specify.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmpi.h"

static int nothing(void *arg)
{
	return (int)(intptr_t)arg;
}

static void check_stopped(void)
{
	char text[64];

	is_int(vmpi_rank(), -VMPI_ENORANK, "without a runtime I am no rank");
	is_int(vmpi_size(), -VMPI_ESTATE, "... and there are none");
	ok(!vmpi_world(), "... nor is there a world");
	is_int(vmpi_stop(), -VMPI_ESTATE, "... nothing to stop");
	is_int(vmpi_attach(0), -VMPI_ESTATE, "... nothing to attach to");
	is_int(vmpi_detach(), -VMPI_ESTATE, "... or to detach from");
	is_int(vmpi_spawn(NULL, nothing, NULL), -VMPI_ESTATE, "... no tasks");
	is_int(vmpi_get("sched_workers", text, sizeof(text)), 0,
	       "variables can be read");
	is_string(text, "2", "... and have their value of the environment");
	is_int(vmpi_set("sched_workers", "1"), 0, "variables can be set");
	is_int(vmpi_set("sched_workers", "2"), 0, "... again");
	is_int(vmpi_get("nothing", text, sizeof(text)), -VMPI_ENOENT,
	       "an unknown variable has no value");
	is_int(vmpi_get("sched_stack_bytes", text, 2), -VMPI_EINVAL,
	       "a value does not fit everywhere");
	is_int(vmpi_run(NULL, NULL, NULL), -VMPI_EINVAL, "a body is needed");
	is_int(vmpi_run(&(vmpi_config){ .ranks = -1 }, nothing, NULL),
	       -VMPI_EINVAL, "there are no negative counts of ranks");
	is_int(vmpi_start(&(vmpi_config){ .stack_bytes = 100 }), -VMPI_EINVAL,
	       "a stack has 16384 bytes at least");
}

static int by_rank(void *arg)
{
	int me = vmpi_rank();

	return me == 2 ? 7 : me == 3 ? 9 : 0;
}

static int disagree(void *arg)
{
	vmpi_chan *copy;

	if (vmpi_rank() == 0)
		return vmpi_chan_dup(vmpi_world(), &copy);
	return vmpi_barrier(vmpi_world());
}

static void check_run(void)
{
	is_int(vmpi_run(&(vmpi_config){ .ranks = 5 }, by_rank, NULL), 7,
	       "the lowest rank with a result is the result");
	is_int(vmpi_run(&(vmpi_config){ .ranks = 3 }, disagree, NULL),
	       -VMPI_EMISMATCH, "ranks that disagree are told");
	is_int(vmpi_start(&(vmpi_config){ .ranks = 3 }), 0, "a start");
	is_int(vmpi_start(NULL), -VMPI_ESTATE, "... and no second one");
	is_int(vmpi_run(&(vmpi_config){ .ranks = 3 }, nothing, NULL),
	       -VMPI_EINVAL, "what runs takes no other configuration");
	is_int(vmpi_run(NULL, nothing, NULL), 0, "but bodies");
	is_int(vmpi_set("sched_workers", "3"), -VMPI_ESTATE,
	       "what shapes the runtime is fixed now");
}

/* An OS thread before, while and after it acts for a rank. */
static void *stranger(void *arg)
{
	vmpi_req *none[2] = { NULL, NULL }, *req = NULL;
	vmpi_status status;
	vmpi_task *task;
	int index, result = 0;

	is_int(vmpi_size(), 3, "a thread knows how many ranks there are");
	ok(!vmpi_world(), "... but has no world");
	is_int(vmpi_wait(&req, NULL), -VMPI_ENORANK, "... cannot wait");
	is_int(vmpi_test(&req, NULL), -VMPI_ENORANK, "... nor test");
	is_int(vmpi_test_any(none, &index, NULL, 2), -VMPI_ENORANK,
	       "... any of several");
	is_int(vmpi_wait_any(none, &index, NULL, 2), -VMPI_ENORANK,
	       "... nor wait for them");
	is_int(vmpi_wait_all(none, NULL, 2), -VMPI_ENORANK, "... at all");
	is_int(vmpi_attach(3), -VMPI_ERANK, "there is no rank 3 of 3");
	is_int(vmpi_attach(1), 0, "a thread acts for rank 1");
	is_int(vmpi_attach(2), -VMPI_ESTATE, "... and for no other");
	is_int(vmpi_rank(), 1, "... is it");
	is_int(vmpi_stop(), -VMPI_ESTATE, "... must not stop the runtime");
	is_int(vmpi_wait(&req, &status), 0, "no request is complete");
	is_int(status.source, VMPI_ANY, "... and came from anywhere");
	is_int(vmpi_detach(), 0, "the thread lets go");
	is_int(vmpi_spawn(&task, nothing, (void *)6), 0, "it starts a task");
	is_int(vmpi_join(&task, &result), 0, "... joins it");
	is_int(result, 6, "... has its result");
	is_int(vmpi_join(&task, NULL), -VMPI_EINVAL, "... once");
	return NULL;
}

static void check_task_state(vmpi_chan *world)
{
	is_int(vmpi_stop(), -VMPI_ESTATE, "a task cannot stop the runtime");
	is_int(vmpi_start(NULL), -VMPI_ESTATE, "... or start it");
	is_int(vmpi_run(NULL, nothing, NULL), -VMPI_ESTATE, "... or run ranks");
	is_int(vmpi_attach(0), -VMPI_ESTATE, "... or act for another rank");
	is_int(vmpi_detach(), -VMPI_ESTATE, "... or for none");
	is_int(vmpi_chan_free(&world), -VMPI_EINVAL, "nobody frees the world");
	is_int(vmpi_chan_split(world, NULL, 0, 0), -VMPI_EINVAL,
	       "a split has to go somewhere");
	is_int(vmpi_chan_split(world, &world, -5, 0), -VMPI_EINVAL,
	       "colours are not negative");
}

static void check_arguments(vmpi_chan *world)
{
	char byte = 0;
	vmpi_msg *msg = NULL;

	is_int(vmpi_send(world, &byte, 1, 3, 0), -VMPI_ERANK, "no rank 3");
	is_int(vmpi_send(world, &byte, 1, -1, 0), -VMPI_ERANK, "no rank -1");
	is_int(vmpi_send(world, &byte, 1, 1, -1), -VMPI_ETAG, "no tag -1");
	is_int(vmpi_send(NULL, &byte, 1, 1, 0), -VMPI_EINVAL, "no channel");
	is_int(vmpi_send(world, NULL, 1, 1, 0), -VMPI_EINVAL, "no buffer");
	is_int(vmpi_isend(world, NULL, &byte, 1, 1, 0), -VMPI_EINVAL,
	       "no request");
	is_int(vmpi_recv(world, &byte, 1, 5, 0, NULL), -VMPI_ERANK,
	       "nothing comes from rank 5");
	is_int(vmpi_recv(world, &byte, 1, 0, -7, NULL), -VMPI_ETAG,
	       "... or with tag -7");
	is_int(vmpi_try_match(world, &msg, VMPI_ANY, VMPI_ANY), -VMPI_EAGAIN,
	       "there is no message");
	is_int(vmpi_match(world, NULL, 0, 0), -VMPI_EINVAL, "no handle");
	is_int(vmpi_msg_drop(&msg), -VMPI_EINVAL, "no message can be dropped");
	is_int(vmpi_msg_recv(&msg, &byte, 1, NULL), -VMPI_EINVAL, "... had");
	is_int(vmpi_msg_tag(NULL), -VMPI_EINVAL, "... or has a tag");
	is_int(vmpi_msg_source(NULL), -VMPI_EINVAL, "... or a sender");
	is_int((intmax_t)vmpi_msg_size(NULL), 0, "... or a size");
	is_int(vmpi_cancel(NULL), -VMPI_EINVAL, "nothing cannot be withdrawn");
	is_int(vmpi_wait_all(NULL, NULL, -1), -VMPI_EINVAL, "-1 requests");
}

static void check_results(vmpi_chan *world)
{
	vmpi_status status;
	char text[8] = "";
	vmpi_req *req;

	vmpi_send(world, "hello", 6, 0, 3);
	is_int(vmpi_recv(world, text, 3, 0, 3, &status), -VMPI_ETRUNC,
	       "a long message is cut");
	ok(!strcmp(text, "hel") && status.bytes == 3 && status.tag == 3 &&
		   status.error == -VMPI_ETRUNC && status.lost == 3,
	   "... and its beginning and status are there");
	vmpi_irecv(world, &req, text, 8, VMPI_ANY, 8);
	is_int(vmpi_test(&req, &status), -VMPI_EAGAIN, "nothing came yet");
	is_int(vmpi_cancel(req), 0, "the receive is withdrawn");
	is_int(vmpi_wait(&req, &status), -VMPI_ECANCELED, "... and says so");
	ok(!req && status.error == -VMPI_ECANCELED, "... in its status too");
	vmpi_issend(world, &req, "x", 1, 0, 4);
	vmpi_recv(world, text, 8, 0, 4, NULL);
	is_int(vmpi_cancel(req), 0, "a send can be withdrawn");
	is_int(vmpi_wait(&req, NULL), 0, "... unless it has arrived");
}

static int as_rank(void *arg)
{
	vmpi_chan *world = vmpi_world();

	if (vmpi_rank() == 0) {
		check_task_state(world);
		check_arguments(world);
		check_results(world);
	}
	return vmpi_barrier(world);
}

int main(void)
{
	pthread_t thread;

	setenv("VMPI_SCHED_WORKERS", "2", 1);
	check_stopped();
	check_run();
	if (pthread_create(&thread, NULL, stranger, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	is_int(vmpi_run(NULL, as_rank, NULL), 0, "the ranks end well");
	is_int(vmpi_stop(), 0, "the runtime stops");
	is_string(vmpi_strerror(-VMPI_ETAG), vmpi_strerror(VMPI_ETAG),
		  "an error has a text, with its sign or without");
	is_string(vmpi_strerror(-99), "unknown error", "... if it is one");
	is_string(vmpi_version(), "0.1.0", "the version");
	return done_testing();
}
