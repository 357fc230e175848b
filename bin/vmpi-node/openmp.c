/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What gcc and clang call for OpenMP, as far as it concerns ranks.
 *
 * Parallel regions run on a deputy: the task must not block its worker.  Their
 * threads act for the rank whose region it is, as libomp lends them from one
 * master to the other.
 */
#include "openmp.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "deputy.h"
#include "node.h"
#include "real.h"

void *openmp_find(const char *name)
{
	void *found = vm_image_function(node.image, name);

	/* A library that the program has opened itself. */
	if (!found)
		found = dlsym(RTLD_NEXT, name);
	if (!found)
		vm_node_abort(1,
			      "the program calls %s, but none of its "
			      "libraries has it",
			      name);
	return found;
}

/* Not replaced. */
extern int omp_get_max_threads(void);

/* Whether a region with so many threads (0: as many as set) would make a task
 * wait for others. */
static bool waits_for_team(unsigned threads)
{
	if (!node_on_task() || threads == 1)
		return false;
	return threads || OPENMP(omp_get_max_threads)() > 1;
}

/* The outlined body of a region of gcc, and its data. */
typedef void body_fn(void *data);

/* A call of one of gcc's entries: which, and its arguments. */
struct gomp_call {
	body_fn *body;
	void *data;
	struct vm_rank *rank;
	unsigned threads, flags, count, result;
	long start, end, step, chunk;
	union {
		void (*parallel)(body_fn *, void *, unsigned, unsigned);
		unsigned (*reductions)(body_fn *, void *, unsigned, unsigned);
		void (*sections)(body_fn *, void *, unsigned, unsigned,
				 unsigned);
		void (*loop)(body_fn *, void *, unsigned, long, long, long,
			     long, unsigned);
		void (*loop_runtime)(body_fn *, void *, unsigned, long, long,
				     long, unsigned);
	} real;
};

/* On every thread of the team. */
static void gomp_body(void *arg)
{
	const struct gomp_call *call = arg;

	if (call->rank)
		thread_act_for(call->rank);
	call->body(call->data);
}

static void gomp_run(struct gomp_call *call, void (*run)(void *call))
{
	call->rank = vm_rank_self();
	if (!waits_for_team(call->threads) || !deputy_run(run, call))
		run(call);
}

static void parallel_run(void *arg)
{
	struct gomp_call *call = arg;

	call->real.parallel(gomp_body, call, call->threads, call->flags);
}

NODE_EXPORT void GOMP_parallel(body_fn *body, void *data, unsigned threads,
			       unsigned flags);
NODE_EXPORT void GOMP_parallel(body_fn *body, void *data, unsigned threads,
			       unsigned flags)
{
	struct gomp_call call = { .body = body,
				  .data = data,
				  .threads = threads,
				  .flags = flags,
				  .real.parallel = OPENMP(GOMP_parallel) };

	gomp_run(&call, parallel_run);
}

static void reductions_run(void *arg)
{
	struct gomp_call *call = arg;

	call->result = call->real.reductions(gomp_body, call, call->threads,
					     call->flags);
}

NODE_EXPORT unsigned GOMP_parallel_reductions(body_fn *body, void *data,
					      unsigned threads, unsigned flags);
NODE_EXPORT unsigned GOMP_parallel_reductions(body_fn *body, void *data,
					      unsigned threads, unsigned flags)
{
	struct gomp_call call = { .body = body,
				  .data = data,
				  .threads = threads,
				  .flags = flags,
				  .real.reductions =
					  OPENMP(GOMP_parallel_reductions) };

	gomp_run(&call, reductions_run);
	return call.result;
}

static void sections_run(void *arg)
{
	struct gomp_call *call = arg;

	call->real.sections(gomp_body, call, call->threads, call->count,
			    call->flags);
}

NODE_EXPORT void GOMP_parallel_sections(body_fn *body, void *data,
					unsigned threads, unsigned count,
					unsigned flags);
NODE_EXPORT void GOMP_parallel_sections(body_fn *body, void *data,
					unsigned threads, unsigned count,
					unsigned flags)
{
	struct gomp_call call = { .body = body,
				  .data = data,
				  .threads = threads,
				  .count = count,
				  .flags = flags,
				  .real.sections =
					  OPENMP(GOMP_parallel_sections) };

	gomp_run(&call, sections_run);
}

static void loop_run(void *arg)
{
	struct gomp_call *call = arg;

	call->real.loop(gomp_body, call, call->threads, call->start, call->end,
			call->step, call->chunk, call->flags);
}

static void loop_runtime_run(void *arg)
{
	struct gomp_call *call = arg;

	call->real.loop_runtime(gomp_body, call, call->threads, call->start,
				call->end, call->step, call->flags);
}

/* An argument that an entry takes, or does not take. */
#define TAKES(argument) argument,
#define LACKS(argument)

/* A region that is a loop, by its schedule; chunks: whether their size is an
 * argument. */
#define GOMP_LOOP(name, loop, chunks)                                        \
	NODE_EXPORT void name(body_fn *, void *, unsigned, long, long, long, \
			      chunks(long) unsigned);                        \
	NODE_EXPORT void name(body_fn *body, void *data, unsigned threads,   \
			      long start, long end, long step,               \
			      chunks(long chunk) unsigned flags)             \
	{                                                                    \
		struct gomp_call call = { .body = body,                      \
					  .data = data,                      \
					  .threads = threads,                \
					  .start = start,                    \
					  .end = end,                        \
					  .step = step,                      \
					  .flags = flags,                    \
					  .real.loop = OPENMP(name),         \
					  chunks(.chunk = chunk) };          \
                                                                             \
		gomp_run(&call, loop##_run);                                 \
	}

GOMP_LOOP(GOMP_parallel_loop_static, loop, TAKES)
GOMP_LOOP(GOMP_parallel_loop_dynamic, loop, TAKES)
GOMP_LOOP(GOMP_parallel_loop_guided, loop, TAKES)
GOMP_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, loop, TAKES)
GOMP_LOOP(GOMP_parallel_loop_nonmonotonic_guided, loop, TAKES)
GOMP_LOOP(GOMP_parallel_loop_runtime, loop_runtime, LACKS)
GOMP_LOOP(GOMP_parallel_loop_nonmonotonic_runtime, loop_runtime, LACKS)
GOMP_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime, loop_runtime, LACKS)

/*
 * clang's regions.  The body takes its number as a thread, its number in the
 * team, and the addresses of what it shares, one by one; the entry takes those
 * likewise.
 */
typedef void micro_fn(int32_t *global, int32_t *local, ...);

#define SHARES_MAX 256

struct kmpc_call {
	micro_fn *micro;
	struct vm_rank *rank;
	void *where; /* in the source */
	void (*real)(void *where, int32_t count, micro_fn *micro, ...);
	int32_t count;
	void *shares[SHARES_MAX];
};

#define SHARES_4(at) s[at], s[(at) + 1], s[(at) + 2], s[(at) + 3]
#define SHARES_16(at)                                         \
	SHARES_4(at), SHARES_4((at) + 4), SHARES_4((at) + 8), \
		SHARES_4((at) + 12)
#define SHARES_64(at)                                              \
	SHARES_16(at), SHARES_16((at) + 16), SHARES_16((at) + 32), \
		SHARES_16((at) + 48)

/* On every thread of the team.  The calling convention lets a function be
 * passed more than it takes. */
static void kmpc_body(int32_t *global, int32_t *local, struct kmpc_call *call)
{
	void *const *s = call->shares;

	if (call->rank)
		thread_act_for(call->rank);
	if (call->count <= 4)
		call->micro(global, local, SHARES_4(0));
	else if (call->count <= 16)
		call->micro(global, local, SHARES_16(0));
	else if (call->count <= 64)
		call->micro(global, local, SHARES_64(0));
	else
		call->micro(global, local, SHARES_64(0), SHARES_64(64),
			    SHARES_64(128), SHARES_64(192));
}

static void kmpc_run(void *arg)
{
	struct kmpc_call *call = arg;

	call->real(call->where, 1, (micro_fn *)kmpc_body, call);
}

/* Of the region that comes next on this thread; 0: as many as set. */
static _Thread_local int32_t threads_pushed;

static void kmpc_region(struct kmpc_call *call, va_list arguments, bool waits)
{
	call->rank = vm_rank_self();
	if (call->count > SHARES_MAX)
		vm_node_abort(1,
			      "rank %d: a parallel region shares %d variables, "
			      "but at most %d can be passed to its threads",
			      call->rank ? call->rank->index : -1,
			      (int)call->count, SHARES_MAX);
	for (int32_t i = 0; i < call->count; i++)
		call->shares[i] = va_arg(arguments, void *);
	if (!waits || !deputy_run(kmpc_run, call))
		kmpc_run(call);
}

NODE_EXPORT void __kmpc_push_num_threads(void *, int32_t, int32_t);
NODE_EXPORT void __kmpc_push_num_threads(void *where, int32_t global,
					 int32_t threads)
{
	threads_pushed = threads;
	OPENMP(__kmpc_push_num_threads)(where, global, threads);
}

NODE_EXPORT void __kmpc_fork_call(void *, int32_t, micro_fn *, ...);
NODE_EXPORT void __kmpc_fork_call(void *where, int32_t count, micro_fn *micro,
				  ...)
{
	struct kmpc_call call = { .micro = micro,
				  .where = where,
				  .real = OPENMP(__kmpc_fork_call),
				  .count = count };
	int32_t threads = threads_pushed;
	va_list arguments;

	threads_pushed = 0;
	va_start(arguments, micro);
	kmpc_region(&call, arguments,
		    waits_for_team(threads > 0 ? (unsigned)threads : 0));
	va_end(arguments);
}

NODE_EXPORT void __kmpc_fork_teams(void *, int32_t, micro_fn *, ...);
NODE_EXPORT void __kmpc_fork_teams(void *where, int32_t count, micro_fn *micro,
				   ...)
{
	struct kmpc_call call = { .micro = micro,
				  .where = where,
				  .real = OPENMP(__kmpc_fork_teams),
				  .count = count };
	va_list arguments;

	va_start(arguments, micro);
	kmpc_region(&call, arguments, node_on_task());
	va_end(arguments);
}

/* clang's newer entry for a region with a condition has its body's arguments
 * in one place, and passes none if there are none. */
struct kmpc_call_if {
	micro_fn *micro;
	struct vm_rank *rank;
	void *where;
	int32_t condition;
	void *shares;
};

static void kmpc_body_if(int32_t *global, int32_t *local,
			 struct kmpc_call_if *call)
{
	if (call->rank)
		thread_act_for(call->rank);
	call->micro(global, local, call->shares);
}

NODE_EXPORT void __kmpc_fork_call_if(void *, int32_t, void *, int32_t, void *);

static void kmpc_run_if(void *arg)
{
	struct kmpc_call_if *call = arg;

	OPENMP(__kmpc_fork_call_if)
	(call->where, 1, (void *)kmpc_body_if, call->condition, call);
}

NODE_EXPORT void __kmpc_fork_call_if(void *where, int32_t count, void *micro,
				     int32_t condition, void *shares)
{
	struct kmpc_call_if call = { .micro = (micro_fn *)micro,
				     .rank = vm_rank_self(),
				     .where = where,
				     .condition = condition,
				     .shares = shares };
	int32_t threads = threads_pushed;

	(void)count;
	threads_pushed = 0;
	if (!condition ||
	    !waits_for_team(threads > 0 ? (unsigned)threads : 0) ||
	    !deputy_run(kmpc_run_if, &call))
		kmpc_run_if(&call);
}
