/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context switch: what a call preserves survives, what is private is private.
 *
 * Needs nothing but ctx.c and its assembly, so that t/sched/aarch64.t can run
 * it under an emulator.
 */
#include "sched/ctx.h"

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>

#include "tap.h"

#define STACK_BYTES 65536
#define ROUNDS 1000

static _Alignas(64) char stack[2][STACK_BYTES];
static void *home;     /* the context of main */
static void *there[2]; /* those on stack[] */
static int runs[2];
static volatile double one = 1.0, three = 3.0;

/* The findings of the body, for main to report. */
static struct {
	void *arg;
	uintptr_t frame;
	int round_at_start;
	int frames;
	double third[2];
	bool kept[2];
} seen;

static _Unwind_Reason_Code frame_count(struct _Unwind_Context *context,
				       void *count)
{
	(void)context;
	return ++*(int *)count < 100 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

#if defined(__aarch64__)
#define FLOAT_REGISTER "w"
#else
#define FLOAT_REGISTER "x"
#endif

#define TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
/* A copy of which the compiler does not know that it is one. */
#define HOLD(n)                            \
	uint64_t i##n = i[n];              \
	double d##n = d[n];                \
	__asm__ volatile("" : "+r"(i##n)); \
	__asm__ volatile("" : "+" FLOAT_REGISTER(d##n));
#define SAME(n) kept = kept && i##n == i[n] && d##n == d[n];

/*
 * Keeps more values over a switch than there are registers that a call
 * preserves, integers and floating point numbers, and compares.
 */
__attribute__((noinline)) static bool values_kept(void **from, void *to,
						  uint64_t seed)
{
	uint64_t i[12];
	double d[12];
	bool kept = true;

	for (int n = 0; n < 12; n++) {
		i[n] = seed * (uint64_t)(n + 1);
		d[n] = (double)seed / (n + 1);
	}
	TWELVE(HOLD)
	vm_ctx_switch(from, to);
	TWELVE(SAME)
	return kept;
}

/* Runs on stack[0]: each return to main is one step of the test. */
static void body(void *arg)
{
	seen.arg = arg;
	seen.frame = (uintptr_t)__builtin_frame_address(0);
	seen.round_at_start = fegetround();
	_Unwind_Backtrace(frame_count, &seen.frames);
	seen.kept[0] = values_kept(&there[0], home, 7919);
	fesetround(FE_UPWARD);
	seen.third[0] = one / three;
	vm_ctx_switch(&there[0], home);
	seen.third[1] = one / three;
	for (;;)
		vm_ctx_switch(&there[0], home);
}

/* Two of these hand over to each other until both have had their rounds. */
static void turns(void *arg)
{
	int me = arg == &runs[1];

	while (runs[me] < ROUNDS) {
		runs[me]++;
		vm_ctx_switch(&there[me], there[!me]);
	}
	for (;;)
		vm_ctx_switch(&there[me], home);
}

static void single(void)
{
	there[0] = vm_ctx_make(stack[0], STACK_BYTES, body, runs);
	seen.kept[1] = values_kept(&home, there[0], 104729);
	ok(seen.arg == runs, "a fresh context gets its argument");
	ok(seen.frame > (uintptr_t)stack[0] &&
		   seen.frame < (uintptr_t)stack[0] + STACK_BYTES,
	   "it runs on its own stack");
	is_int((intmax_t)(seen.frame % 16), 0, "whose frames are aligned");
	ok(seen.frames > 0 && seen.frames < 10,
	   "a backtrace ends where the context began");
	is_int(seen.round_at_start, fegetround(),
	       "it begins with the rounding of who made it");
	vm_ctx_switch(&home, there[0]);
	ok(seen.kept[0], "registers of the context survive a switch");
	ok(seen.kept[1], "so do those of main");
	is_int(fegetround(), FE_TONEAREST, "its rounding is its own");
	ok(one / three < seen.third[0], "main rounds as before");
	vm_ctx_switch(&home, there[0]);
	ok(seen.third[1] == seen.third[0], "and so does the context");
}

int main(void)
{
#if defined(__SANITIZE_THREAD__)
	skip_all("bare switches are not known to the thread sanitizer");
#endif
	single();
	there[0] = vm_ctx_make(stack[0], STACK_BYTES, turns, &runs[0]);
	there[1] = vm_ctx_make(stack[1], STACK_BYTES, turns, &runs[1]);
	vm_ctx_switch(&home, there[0]);
	is_int(runs[0], ROUNDS, "two contexts take turns without main");
	is_int(runs[1], ROUNDS, "and neither misses one");
	return done_testing();
}
