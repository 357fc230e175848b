/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waits of ranks, as others read them: each kind of wait shows its words in
 * the process's own file, while rank 0 reads and keeps the others waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/export/export.h"
#include "report/live/file.h"
#include "job.h"

static struct vm_live_file *file;

static void file_open(void)
{
	char path[VM_EXPORT_PATH_MAX], why[VM_LIVE_WHY_MAX] = "", pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	vm_export_path(path, sizeof(path), VM_EXPORT_DIR, pid, 0);
	if (vm_export_map(&file, path, why))
		bail("%s: %s", path, why);
}

/* Whether the rank is in that state, in a call of this name (NULL: in any). */
static bool is_in(struct vm_live_doing *doing, int rank,
		  enum vm_export_state state, const char *call)
{
	const char *name;

	if (vm_live_doing(file, doing, (unsigned)rank) || doing->state != state)
		return false;
	name = vm_live_call_name(file, doing->wait.call);
	return !call || (name && strcmp(name, call) == 0);
}

/* Waits for that, and returns what it waits for. */
static struct vm_export_wait await(int rank, enum vm_export_state state,
				   const char *call)
{
	struct vm_live_doing doing;

	while (!is_in(&doing, rank, state, call))
		vmpi_yield();
	return doing.wait;
}

/* Lets a rank that waits for a message of rank 0 go on. */
static void release(int rank, int tag)
{
	EXPECT(vmpi_send(vmpi_world(), NULL, 0, rank, tag) == 0);
}

static void watch(int size)
{
	vmpi_chan *world = vmpi_world();
	struct vm_export_wait wait;
	vmpi_status status;
	char *bytes = malloc(100000);

	wait = await(1, VM_EXPORT_RECEIVE, "vmpi_recv");
	EXPECT(wait.context == 0 && wait.peer == 0 && wait.tag == 11);
	EXPECT(wait.bytes == 40 && wait.flags == 0);
	release(1, 11);
	wait = await(1, VM_EXPORT_PROBE, "vmpi_match");
	EXPECT(wait.peer == -1 && wait.tag == 12);
	release(1, 12);
	wait = await(1, VM_EXPORT_WAIT, "vmpi_wait");
	EXPECT(wait.peer == 0 && wait.tag == 13 && wait.flags == 0);
	release(1, 13);
	wait = await(1, VM_EXPORT_SEND, "vmpi_send");
	EXPECT(wait.peer == 0 && wait.tag == 14 && wait.bytes == 100000);
	EXPECT(wait.flags == (VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD));
	EXPECT(vmpi_recv(world, bytes, 100000, 1, 14, &status) == 0);
	wait = await(1, VM_EXPORT_WAIT, "vmpi_wait");
	EXPECT(wait.peer == 0 && wait.tag == 15 &&
	       wait.flags == (VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD));
	EXPECT(vmpi_recv(world, bytes, 100000, 1, 15, &status) == 0);
	/* It counts as waiting until it runs: something else comes first. */
	await(1, VM_EXPORT_RECEIVE, "vmpi_recv");
	release(1, 19);
	for (int i = 2; i < size; i++) {
		/* It may not have run since the last barrier. */
		do
			wait = await(i, VM_EXPORT_COLLECTIVE, "vmpi_barrier");
		while (wait.context != 0);
		EXPECT(wait.peer == VM_EXPORT_NOBODY &&
		       (wait.flags & VM_EXPORT_ALL));
	}
	wait = await(1, VM_EXPORT_WAIT, "vmpi_wait_any");
	EXPECT(wait.peer == VM_EXPORT_NOBODY);
	release(1, 17);
	await(1, VM_EXPORT_SLEEP, NULL);
	EXPECT(vmpi_send(world, bytes, 1, 1, 18) == 0);
	free(bytes);
}

static void be_watched(void)
{
	vmpi_chan *world = vmpi_world();
	char *bytes = calloc(1, 100000);
	vmpi_req *two[2];
	vmpi_msg *msg;
	vmpi_status status;
	int found = 0;

	EXPECT(vmpi_recv(world, bytes, 40, 0, 11, NULL) == 0);
	EXPECT(vmpi_match(world, &msg, VMPI_ANY, 12) == 0);
	EXPECT(vmpi_msg_recv(&msg, bytes, 40, &status) == 0);
	EXPECT(vmpi_irecv(world, &two[0], bytes, 40, 0, 13) == 0);
	EXPECT(vmpi_wait(&two[0], NULL) == 0);
	EXPECT(vmpi_send(world, bytes, 100000, 0, 14) == 0);
	EXPECT(vmpi_isend(world, &two[0], bytes, 100000, 0, 15) == 0);
	EXPECT(vmpi_wait(&two[0], NULL) == 0);
	EXPECT(vmpi_recv(world, bytes, 40, 0, 19, NULL) == 0);
	EXPECT(vmpi_irecv(world, &two[0], bytes, 40, 0, 16) == 0);
	EXPECT(vmpi_irecv(world, &two[1], bytes, 40, 0, 17) == 0);
	EXPECT(vmpi_wait_any(two, &found, NULL, 2) == 0 && found == 1);
	EXPECT(vmpi_cancel(two[0]) == 0);
	vmpi_wait(&two[0], NULL);
	EXPECT(vmpi_irecv(world, &two[0], bytes, 40, 0, 18) == 0);
	do
		vmpi_sleep(1000000);
	while (vmpi_test(&two[0], NULL) == -VMPI_EAGAIN);
	free(bytes);
}

/* A channel of ranks 0 to 2 in the opposite order: its numbers are others. */
static void turned(int rank, int size)
{
	struct vm_export_wait wait;
	vmpi_chan *chan, *other;
	vmpi_req *req;

	EXPECT(vmpi_chan_split(vmpi_world(), &chan, rank > 2, size - rank) ==
	       0);
	EXPECT(vmpi_chan_dup(chan, &other) == 0);
	if (rank == 0) {
		wait = await(1, VM_EXPORT_RECEIVE, "vmpi_recv");
		EXPECT(wait.peer == 0 && wait.tag == 21 && wait.context > 1 &&
		       wait.flags == VM_EXPORT_OF_WORLD);
		EXPECT(vmpi_send(chan, NULL, 0, 1, 21) == 0);
		wait = await(1, VM_EXPORT_WAIT, "vmpi_wait_all");
		EXPECT(wait.peer == 0 && wait.tag == 22 && wait.context > 1 &&
		       wait.flags == VM_EXPORT_OF_WORLD);
		wait = await(2, VM_EXPORT_COLLECTIVE, "vmpi_barrier");
		EXPECT(wait.peer == 1 && wait.context > 1 &&
		       wait.flags == (VM_EXPORT_ALL | VM_EXPORT_OF_WORLD));
		EXPECT(vmpi_send(other, NULL, 0, 1, 22) == 0);
	} else if (rank == 1) {
		EXPECT(vmpi_recv(chan, NULL, 0, 2, 21, NULL) == 0);
		EXPECT(vmpi_irecv(other, &req, NULL, 0, 2, 22) == 0);
		EXPECT(vmpi_wait_all(&req, NULL, 1) == 0);
	}
	EXPECT(vmpi_barrier(chan) == 0);
	/* What was noted of a channel goes with it. */
	EXPECT(vmpi_chan_free(&other) == 0);
	EXPECT(vmpi_chan_free(&chan) == 0);
}

static void body(int rank, int size)
{
	turned(rank, size);
	if (rank == 0)
		watch(size);
	else if (rank == 1)
		be_watched();
	EXPECT(vmpi_barrier(vmpi_world()) == 0);
}

static int main_body(void *arg)
{
	body(vmpi_rank(), vmpi_size());
	(void)arg;
	return 0;
}

static void watched(int workers)
{
	vmpi_config config = { .ranks = 5, .workers = workers };
	struct vm_live_doing doing;

	if (vmpi_start(&config))
		bail("no runtime");
	file_open();
	ok(vm_live_doing(file, &doing, 1) == 0 && doing.state == VM_EXPORT_NEW,
	   "ranks that have not begun are new");
	is_int(vmpi_run(NULL, main_body, NULL), 0, "the ranks run");
	is_int(job_faults_take(), 0,
	       "each wait shows what it is for (%d workers)", workers);
	ok(vm_live_doing(file, &doing, 1) == 0 && doing.state == VM_EXPORT_DONE,
	   "ranks that have ended are done");
	vmpi_stop();
	vm_live_unmap(file);
}

int main(void)
{
	watched(1);
	watched(2);
	watched(5);
	return done_testing();
}
