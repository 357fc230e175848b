/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activities of ranks when a node process dies: the phases of doomed.c, of
 * which killer.c chooses.
 */
#ifndef T_RUN_DOOMED_H
#define T_RUN_DOOMED_H

/*	name, function, argument */
#define DOOMED_PHASES(X)              \
	X(begin, begin, 0)            \
	X(eager, pump, 8)             \
	X(eager_4k, pump, 4096)       \
	X(large, pump, 300000)        \
	X(huge, pump, 3000000)        \
	X(sync, pump_sync, 4096)      \
	X(some, pump_some, 20000)     \
	X(test, pump_test, 20000)     \
	X(persist, pump_persist, 20)  \
	X(any, from_any, 2000)        \
	X(any_large, from_any, 20000) \
	X(probed, probed, 2000)       \
	X(iprobed, iprobed, 20000)    \
	X(mprobed, mprobed, 200000)   \
	X(flood, flood, 4096)         \
	X(flood_large, flood, 20000)  \
	X(drained, drained, 4096)     \
	X(idle, idle, 1)              \
	X(idle_all, idle, 8)          \
	X(busy, busy, 0)              \
	X(barrier, loop, 0)           \
	X(bcast, loop, 1)             \
	X(reduce, loop, 2)            \
	X(allreduce, loop, 3)         \
	X(allreduce_big, loop, 4)     \
	X(gather, loop, 5)            \
	X(scatter, loop, 6)           \
	X(allgather, loop, 7)         \
	X(alltoall, loop, 8)          \
	X(scan, loop, 9)              \
	X(reduce_scatter, loop, 10)   \
	X(ibarrier, loop, 11)         \
	X(iallreduce, loop, 12)       \
	X(ibcast_big, loop, 13)       \
	X(dup, loop, 14)              \
	X(split, loop, 15)            \
	X(idup, loop, 16)             \
	X(group, loop, 17)            \
	X(inter, loop, 18)            \
	X(finalize, finalize, 0)      \
	X(after, after, 0)

#endif
