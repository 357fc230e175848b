/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables of one rank: its messages go by its own limits, those of
 * the others by the process's.
 */
#include "core/rank/cvar.h"

#include <string.h>
#include <vmpi.h>

#include "base/err.h"
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "introspect/vars/pvar.h"
#include "tap.h"

#define BYTES 32

static int inlines, inline_limit, copy_limit, bind;

/* How many messages of the rank have gone inline. */
static int64_t inline_count(int rank)
{
	uint64_t value = 0;

	vm_pvar_value(&value, inlines, (unsigned)rank);
	return (int64_t)value;
}

/* One message that is not waited for, so that it goes by a protocol. */
static int64_t send_one(int self)
{
	int64_t before = inline_count(self);
	char bytes[BYTES] = { 0 };
	vmpi_req *req;

	vmpi_isend(vmpi_world(), &req, bytes, BYTES, self, 7);
	vmpi_recv(vmpi_world(), bytes, BYTES, self, 7, NULL);
	vmpi_wait(&req, NULL);
	return inline_count(self) - before;
}

static int64_t loaded(int number, int rank)
{
	int64_t value = -77;

	vm_cvar_load_rank(&value, number, rank);
	return value;
}

static void refusals(void)
{
	int64_t value;

	is_int(vm_cvar_store_rank(bind, 0, 1), -VMPI_EINVAL,
	       "a variable of the process cannot be set for a rank");
	is_int(vm_cvar_store_rank(inline_limit, 0, 41), -VMPI_EINVAL,
	       "nor can a value out of range");
	is_int(vm_cvar_store_rank(inline_limit, 2, 1), -VMPI_ERANK,
	       "nor one for a rank that there is not");
	is_int(vm_cvar_store_rank(1000, 0, 1), -VMPI_ENOENT,
	       "nor a variable that there is not");
	is_int(vm_cvar_load_rank(&value, inline_limit, 2), -VMPI_ERANK,
	       "a rank that there is not has no value");
	is_int(vm_cvar_follow_rank(bind, 1), -VMPI_EINVAL,
	       "only variables of ranks follow");
	is_int(vm_cvar_follow_rank(inline_limit, 1), 0,
	       "one that follows may be told to");
	is_int(loaded(bind, 0), loaded(bind, -1),
	       "a variable of the process is the same for each rank");
}

static int body(void *arg)
{
	int self = vmpi_rank();
	int64_t went[3];

	(void)arg;
	went[0] = send_one(self);
	vmpi_barrier(vmpi_world());
	if (self == 0) {
		refusals();
		is_int(vm_cvar_store_rank(inline_limit, 0, 8), 0,
		       "a rank gets a limit of its own");
	}
	vmpi_barrier(vmpi_world());
	went[1] = send_one(self);
	vmpi_barrier(vmpi_world());
	if (self == 0) {
		is_int(loaded(inline_limit, 0), 8, "it is its value");
		is_int(loaded(inline_limit, 1), 40, "not that of others");
		is_int(loaded(inline_limit, -1), 40, "nor of the process");
		vmpi_set("core_copy_limit", "1000");
		is_int(vm_rank_cvars(&vm_node->ranks[0])->copy_limit, 1000,
		       "what it has not of its own follows the process");
		vmpi_set("core_inline_limit", "9");
		is_int(loaded(inline_limit, 0), 8, "what is its own does not");
		is_int(loaded(inline_limit, 1), 9, "others follow");
		vmpi_set("core_inline_limit", "40");
		is_int(vm_cvar_follow_rank(inline_limit, 0), 0,
		       "it may follow again");
	}
	vmpi_barrier(vmpi_world());
	went[2] = send_one(self);
	vmpi_barrier(vmpi_world());
	return went[0] == 1 && went[1] == (self != 0) && went[2] == 1 ? 0 : 1;
}

int main(void)
{
	const vmpi_config config = { .ranks = 2 };

	is_int(vm_cvar_store_rank(0, 0, 1), -VMPI_ERANK,
	       "without a runtime there are no ranks");
	is_int(vmpi_start(&config), 0, "the runtime starts");
	inlines = vm_pvar_find("core_sends_inline");
	inline_limit = vm_cvar_find("core_inline_limit");
	copy_limit = vm_cvar_find("core_copy_limit");
	bind = vm_cvar_find("sched_bind");
	is_int(vmpi_run(NULL, body, NULL), 0,
	       "messages of the rank go by its limit, all others by the "
	       "process's");
	is_int(vmpi_stop(), 0, "it stops");
	is_int(vmpi_start(&config), 0, "and starts again");
	is_int(loaded(copy_limit, 0), 1000, "with the values of the process");
	is_int(vmpi_stop(), 0, "and stops");
	return done_testing();
}
