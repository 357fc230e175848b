/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers and calls that ranks report, by protocol: counts and orders, no
 * times.
 */
#include "core/instrument/overlap_events.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/instrument/intercept.h"
#include "core/instrument/calls.h"
#include "core/rank/state.h"
#include "introspect/vars/pvar.h"
#include "tap.h"
#include "vmpi.h"

#define MESSAGES 10

static char table[] = "/tmp/vmpi-event-XXXXXX";

/* The measures of a run, per rank. */
struct seen {
	struct vm_overlap_row side[VM_SIDES];
	struct vm_overlap_call calls[VM_OVERLAP_CALLS];
	uint64_t user, call, section_user;
	uint64_t section_transfers;
	struct overlap_rank_pvars pvars;
};

static struct seen seen[2];
static size_t bytes;
static bool inverse; /* the receive is late */

static void look(int rank)
{
	struct vm_overlap *overlap = vm_rank_self()->overlap;
	struct seen *mine = &seen[rank];

	vm_overlap_events_counters(vm_rank_self(), &mine->pvars);
	memcpy(mine->calls, overlap->by_call, sizeof(mine->calls));
	mine->user = overlap->list[0].user;
	mine->call = overlap->list[0].call;
	mine->section_user = overlap->list[1].user;
	for (unsigned s = 0; s < overlap->sections; s++)
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0; bin < overlap->setup->bins;
			     bin++) {
				struct vm_overlap_row *row =
					&overlap->rows[s][side][bin];

				vm_overlap_row_add(&mine->side[side], row);
				if (s == 1)
					mine->section_transfers +=
						row->transfers;
			}
}

static void exchange(int rank, char *buffer)
{
	vmpi_chan *world = vmpi_world();
	vmpi_req *req;

	for (int i = 0; i < MESSAGES; i++) {
		if (rank == 0)
			vmpi_isend(world, &req, buffer, bytes, 1, 5);
		else if (!inverse)
			vmpi_irecv(world, &req, buffer, bytes, 0, 5);
		vmpi_yield();
		if (rank == 1 && inverse)
			vmpi_irecv(world, &req, buffer, bytes, 0, 5);
		vmpi_wait(&req, NULL);
	}
}

static int body(void *arg)
{
	int rank = vmpi_rank();
	char *buffer = calloc(1, bytes + 1);

	vmpi_overlap_switch(1);
	/* What arrives before a rank has switched it on is not counted. */
	vmpi_barrier(vmpi_world());
	vmpi_section_begin("exchange");
	exchange(rank, buffer);
	vmpi_section_end("exchange");
	vmpi_overlap_switch(0);
	look(rank);
	vmpi_barrier(vmpi_world());
	free(buffer);
	(void)arg;
	return 0;
}

static void run(int workers, size_t size, bool late)
{
	memset(seen, 0, sizeof(seen));
	bytes = size;
	inverse = late;
	if (vmpi_run(&(vmpi_config){ .ranks = 2, .workers = workers }, body,
		     NULL))
		bail("the runtime does not run");
}

/* The values that others read of rank 0: as many transfers as it has counted
 * itself. */
static void shown(void)
{
	uint64_t all = 0, bins[VM_OVERLAP_BINS] = { 0 }, sum = 0;

	vm_pvar_value(&all, vm_pvar_find("overlap_transfers"), 0);
	vm_pvar_value(bins, vm_pvar_find("overlap_bin_transfers"), 0);
	for (int i = 0; i < VM_OVERLAP_BINS; i++)
		sum += bins[i];
	is_int((intmax_t)all, (intmax_t)seen[0].pvars.transfers,
	       "others see the transfers of a rank");
	is_int((intmax_t)sum, (intmax_t)all, "and in which bins they are");
}

static bool sane(const struct vm_overlap_row *row)
{
	return row->min <= row->max && row->max <= row->data &&
	       row->core_min <= row->core_max && row->core_max <= row->data;
}

/* pieces: of each message, at least; 1: exactly. */
static void check(const char *what, uint64_t pieces)
{
	const struct vm_overlap_row *sent = &seen[0].side[VM_SIDE_SEND];
	const struct vm_overlap_row *received = &seen[1].side[VM_SIDE_RECEIVE];
	uint64_t want = MESSAGES * pieces;

	ok(pieces == 1 ? sent->transfers == want : sent->transfers >= want,
	   "%s: the sender tells of its transfers (%ld)", what,
	   (long)sent->transfers);
	ok(pieces == 1 ? received->transfers == want :
			 received->transfers >= want,
	   "%s: the receiver too (%ld)", what, (long)received->transfers);
	ok(sent->bytes == MESSAGES * bytes &&
		   received->bytes == MESSAGES * bytes,
	   "%s: no byte is forgotten or counted twice", what);
	ok(sent->open == 0 && received->open == 0, "%s: none stays open", what);
	ok(sane(sent) && sane(received) && sent->data && received->data,
	   "%s: minimum, maximum and transfer time are in order", what);
	ok(seen[0].side[VM_SIDE_RECEIVE].transfers == 0 &&
		   seen[1].side[VM_SIDE_SEND].transfers == 0,
	   "%s: and there is nothing else", what);
	is_int((long)seen[0].section_transfers, (long)sent->transfers,
	       "%s: all of that in the section", what);
}

static void test_local(void)
{
	for (int workers = 1; workers <= 2; workers++) {
		char what[64];

		for (int late = 0; late < 2; late++) {
			static const size_t sizes[] = { 8, 1000, 5000, 100000 };

			for (int i = 0; i < 4; i++) {
				snprintf(what, sizeof(what),
					 "%zu bytes, %d worker(s), %s receives",
					 sizes[i], workers,
					 late ? "late" : "early");
				run(workers, sizes[i], late);
				check(what, 1);
			}
		}
	}
}

/* By the loop of the fabric; read and write need a network
 * (t/run/70-overlap.t). */
static void test_fabric(void)
{
	vmpi_set("core_loopback", "1");
	vmpi_set("core_rndv_window", "200K");
	run(1, 1000, false);
	check("eager", 1);
	ok(seen[1].side[VM_SIDE_RECEIVE].half == MESSAGES,
	   "eager: the receiver knows the end only");
	vmpi_set("core_rndv_protocol", "pipeline");
	for (int late = 0; late < 2; late++) {
		run(1, 500000, late);
		check(late ? "pipeline, late" : "pipeline", 2);
	}
	vmpi_set("core_loopback", "0");
}

static void test_calls(void)
{
	const struct vm_overlap_call *calls = seen[0].calls;

	run(1, 100, false);
	is_int((long)calls[VM_API_CALL_isend].count, MESSAGES,
	       "each call is counted by its function");
	is_int((long)calls[VM_API_CALL_wait].count, MESSAGES, "also a wait");
	is_int((long)calls[VM_API_CALL_irecv].count, 0, "the other rank's not");
	ok(seen[0].section_user > 0 && seen[0].call + seen[0].user > 0,
	   "computing and calling take time");
	is_int((long)seen[0].pvars.transfers, MESSAGES,
	       "the counters of a rank have the sums");
	is_string(vm_intercept_call_name(VM_API_CALL_wait), "vmpi_wait",
		  "calls have names");
}

static volatile double sink;

/* Rank 0 offers a message, rank 2 computes, then rank 1 takes it. */
static int views_body(void *arg)
{
	char *buffer = calloc(1, bytes);
	int rank = vmpi_rank();

	vmpi_overlap_switch(1);
	if (rank == 0)
		vmpi_send(vmpi_world(), buffer, bytes, 1, 5);
	if (rank == 1) {
		vmpi_yield();
		vmpi_recv(vmpi_world(), buffer, bytes, 0, 5, NULL);
	}
	for (int i = 0; rank == 2 && i < 1000000; i++)
		sink += i * 0.5;
	vmpi_overlap_switch(0);
	if (rank < 2)
		look(rank);
	free(buffer);
	(void)arg;
	return 0;
}

static void test_views(void)
{
	const struct vm_overlap_row *sent = &seen[0].side[VM_SIDE_SEND];

	memset(seen, 0, sizeof(seen));
	bytes = 100000;
	vmpi_run(&(vmpi_config){ .ranks = 3, .workers = 1 }, views_body, NULL);
	ok(sent->data > 0 && sent->max == 0,
	   "a rank that waits in one call overlaps nothing");
	ok(sent->core_max == sent->data,
	   "its core, which ran another rank, may have overlapped all");
}

static jmp_buf jump;

static int jump_body(void *arg)
{
	vmpi_overlap_switch(1);
	if (!setjmp(jump)) {
		/* As a callback would: the call has not ended. */
		vm_intercept_enter(
			VM_API_CALL_wait,
			(const void *)((uintptr_t)__builtin_frame_address(0) -
				       4096));
		longjmp(jump, 1);
	}
	vmpi_yield();
	vmpi_yield();
	vmpi_overlap_switch(0);
	look(0);
	(void)arg;
	return 0;
}

static void test_jumps(void)
{
	memset(seen, 0, sizeof(seen));
	vmpi_run(&(vmpi_config){ .ranks = 1 }, jump_body, NULL);
	is_int((long)seen[0].calls[VM_API_CALL_wait].count, 1,
	       "a call that is left by a jump ends");
	is_int((long)seen[0].calls[VM_API_CALL_yield].count, 2,
	       "and later calls are calls again");
}

static int again_body(void *arg)
{
	char out[100] = "", in[100];
	vmpi_req *req;

	vmpi_overlap_switch(1);
	vmpi_yield();
	vmpi_isend(vmpi_world(), &req, out, sizeof(out), 0, 5);
	vmpi_recv(vmpi_world(), in, sizeof(in), 0, 5, NULL);
	vmpi_wait(&req, NULL);
	vmpi_overlap_switch(0);
	memset(seen, 0, sizeof(seen));
	look(0);
	(void)arg;
	return 0;
}

static void test_again(void)
{
	vmpi_start(&(vmpi_config){ .ranks = 1 });
	vmpi_run(NULL, again_body, NULL);
	vmpi_run(NULL, again_body, NULL);
	is_int((long)seen[0].calls[VM_API_CALL_yield].count, 2,
	       "a rank with a second body is watched on");
	is_int((intmax_t)seen[0].pvars.transfers, 4, "each message is two");
	shown();
	vmpi_stop();
}

/* Packets may arrive as soon as the workers run, before any rank does. */
static void test_early(void)
{
	bool there = true;

	vmpi_start(&(vmpi_config){ .ranks = 3 });
	for (int i = 0; i < 3; i++)
		there &= vm_node->own[i]->overlap &&
			 vm_node->own[i]->overlap->rank == i;
	ok(there, "ranks that do not run yet are watched");
	vmpi_stop();
}

static void test_mistakes(void)
{
	FILE *file = fopen(table, "w");

	fputs("worker 1 1\nnode 1\n", file);
	fclose(file);
	is_int(vmpi_run(&(vmpi_config){ .ranks = 2 }, body, NULL), -VMPI_EINVAL,
	       "with a malformed table the runtime does not start");
	unlink(table);
	is_int(vmpi_run(&(vmpi_config){ .ranks = 2 }, body, NULL), -VMPI_ENOENT,
	       "without one neither");
	vmpi_set("overlap_bins", "1,0");
	is_int(vmpi_run(&(vmpi_config){ .ranks = 2 }, body, NULL), -VMPI_EINVAL,
	       "with bins that do not ascend neither");
}

int main(void)
{
	int fd = mkstemp(table);
	const char text[] = "worker 1 20\nworker 1000000 100000\n"
			    "node 1 50\nnode 1000000 100000\n"
			    "fabric 1 500\nfabric 1000000 200000\n";

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		bail("no table");
	close(fd);
	vmpi_set("overlap_measure", "1");
	vmpi_set("overlap_begin_on", "0");
	vmpi_set("overlap_table", table);
	test_local();
	test_fabric();
	test_calls();
	test_views();
	test_jumps();
	test_again();
	test_early();
	test_mistakes();
	return done_testing();
}
