/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of vmpi.h that are calls: they move messages, wait, or let
 * others run.  Those that only look something up are none.
 */
#ifndef CORE_INSTRUMENT_CALLS_H
#define CORE_INSTRUMENT_CALLS_H

#include "core/instrument/entry.h"

#define VM_API_CALLS(X) VM_API_CALLS_BASIC(X) VM_API_CALLS_NATIVE(X)

/* Defined in core/runtime/api.c; */
#define VM_API_CALLS_BASIC(X)                                           \
	X(spawn)                                                        \
	X(spawn_with)                                                   \
	X(join)                                                         \
	X(yield)                                                        \
	X(sleep)                                                        \
	X(chan_dup)                                                     \
	X(chan_split) X(barrier) X(chan_free) X(send) X(ssend) X(recv)  \
		X(isend) X(issend) X(irecv) X(wait) X(test) X(wait_all) \
			X(wait_any) X(test_any) X(cancel) X(match)      \
				X(try_match) X(msg_recv) X(msg_irecv)   \
					X(msg_borrow) X(msg_drop)
/* in core/native, in the file of this name. */
#define VM_API_CALLS_NATIVE(X)                                           \
	VM_API_CALLS_UNTIL(X)                                            \
	VM_API_CALLS_MUTEX(X)                                            \
	VM_API_CALLS_COND(X)                                             \
	VM_API_CALLS_EVENT(X) VM_API_CALLS_FD(X) VM_API_CALLS_OFFLOAD(X) \
		VM_API_CALLS_SELECT(X) VM_API_CALLS_COLL(X)
#define VM_API_CALLS_UNTIL(X) \
	X(sleep_until)        \
	X(recv_until)         \
	X(match_until)        \
	X(wait_until) X(wait_all_until) X(wait_any_until) X(join_until)
#define VM_API_CALLS_MUTEX(X) X(mutex_lock) X(mutex_lock_until)
#define VM_API_CALLS_COND(X) X(cond_wait) X(cond_wait_until)
#define VM_API_CALLS_COLL(X) \
	X(bcast)             \
	X(gather) X(scatter) X(allgather) X(alltoall) X(reduce) X(allreduce)
#define VM_API_CALLS_FD(X) X(fd_wait) X(fd_wait_until)
#define VM_API_CALLS_OFFLOAD(X) X(offload)
#define VM_API_CALLS_SELECT(X) X(select)
#define VM_API_CALLS_EVENT(X) X(event_wait) X(event_wait_until)

#ifndef __ASSEMBLER__
enum vm_api_call_id {
	VM_API_CALL_BEFORE_ = VM_CALL_NATIVE_FIRST - 1,
#define VM_API_CALL_ID_(name) VM_API_CALL_##name,
	VM_API_CALLS(VM_API_CALL_ID_)
#undef VM_API_CALL_ID_
		VM_API_CALLS_END
};
#endif
#endif
