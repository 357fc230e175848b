/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of public functions, with functions of ours behind them: all
 * arguments and results go through, watched or not, whatever the events do with
 * registers.  Needs nothing of the library but the entries, so that it runs on
 * other machines too (t/sched/aarch64.t).
 */
#include "core/instrument/entry.h"

#include <stdbool.h>
#include <stdint.h>

#include "core/instrument/calls.h"
#include "tap.h"

#define ARGUMENTS 14 /* 6 of them or 8 in registers */

/* The word that entries read, and the function they call. */
uint64_t vm_intercept;
bool vm_intercept_enter(uint32_t call, const void *frame);
void vm_intercept_exit(void);

static uint32_t entered[8];
static const char *frames[8];
static unsigned enters, exits;
static bool tell; /* what vm_intercept_enter() says */

/* All registers that a function may change. */
static void registers_spoil(void)
{
#if defined(__x86_64__)
	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n\t"
			 "movq $-1, %%rdi\n\tmovq $-1, %%rsi\n\t"
			 "movq $-1, %%rdx\n\tmovq $-1, %%rcx\n\t"
			 "movq $-1, %%r8\n\tmovq $-1, %%r9\n\t"
			 "movq $-1, %%r10\n\tmovq $-1, %%r11\n\t"
			 "movq $-1, %%rax" ::
				 : "rdi", "rsi", "rdx", "rcx", "r8", "r9",
				   "r10", "r11", "rax", "xmm0", "memory");
#elif defined(__aarch64__)
	__asm__ volatile("movi v0.2d, #0xffffffffffffffff\n\t"
			 "mov x0, #-1\n\tmov x1, #-1\n\tmov x2, #-1\n\t"
			 "mov x3, #-1\n\tmov x4, #-1\n\tmov x5, #-1\n\t"
			 "mov x6, #-1\n\tmov x7, #-1\n\tmov x8, #-1\n\t"
			 "mov x9, #-1\n\tmov x10, #-1\n\tmov x16, #-1\n\t"
			 "mov x17, #-1" ::
				 : "x0", "x1", "x2", "x3", "x4", "x5", "x6",
				   "x7", "x8", "x9", "x10", "x16", "x17", "v0",
				   "memory");
#endif
}

bool vm_intercept_enter(uint32_t call, const void *frame)
{
	entered[enters % 8] = call;
	frames[enters % 8] = frame;
	enters++;
	registers_spoil();
	return tell;
}

void vm_intercept_exit(void)
{
	exits++;
	registers_spoil();
}

/* Behind every entry of vmpi.h is a function of this test: those of OURS below,
 * behind the others nothing. */
#define OURS_send ,
#define OURS_recv ,
#define OURS_wait ,
#define THIRD(a, b, c, ...) c
#define CHOOSE(...) THIRD(__VA_ARGS__)
#define OURS(name)
#define NOTHING(name)                                              \
	void name##_nothing(void) __asm__("vm_entry_vmpi_" #name); \
	void name##_nothing(void)                                  \
	{                                                          \
	}
#define BEHIND(name) CHOOSE(OURS_##name, OURS, NOTHING, 0)(name)
VM_API_CALLS(BEHIND)

/* vmpi_send: many arguments. */
long many(long a, long b, long c, long d, long e, long f, long g, long h,
	  long i, long j, long k, long l, long m, long n) __asm__("vmpi_send");
long many_real(long a, long b, long c, long d, long e, long f, long g, long h,
	       long i, long j, long k, long l, long m,
	       long n) __asm__("vm_entry_vmpi_send");

static unsigned wrong;

long many_real(long a, long b, long c, long d, long e, long f, long g, long h,
	       long i, long j, long k, long l, long m, long n)
{
	const long all[ARGUMENTS] = {
		a, b, c, d, e, f, g, h, i, j, k, l, m, n
	};

	for (int at = 0; at < ARGUMENTS; at++)
		wrong += all[at] != 1000 + at;
	return -7;
}

/* vmpi_recv: a number that is not whole; vmpi_wait: calls another one. */
double real(void) __asm__("vmpi_recv");
double real_real(void) __asm__("vm_entry_vmpi_recv");
int outer(int depth) __asm__("vmpi_wait");
int outer_real(int depth) __asm__("vm_entry_vmpi_wait");

double real_real(void)
{
	return 0.375;
}

int outer_real(int depth)
{
	return depth ? outer(depth - 1) + 1 : 40;
}

static void test_calls(const char *how, unsigned enter, unsigned exit)
{
	enters = exits = wrong = 0;
	is_int(many(1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009,
		    1010, 1011, 1012, 1013),
	       -7, "%s: a result", how);
	is_int(wrong, 0, "%s: all arguments", how);
	ok(real() == 0.375, "%s: a result that is no integer", how);
	is_int(outer(2), 42, "%s: calls in calls", how);
	is_int(enters, enter, "%s: begins are told", how);
	is_int(exits, exit, "%s: ends are told", how);
}

static void test_direct(void)
{
	char none;

	ok(vm_entry_direct((uintptr_t)many) == (uintptr_t)many_real &&
		   vm_entry_direct((uintptr_t)outer) == (uintptr_t)outer_real,
	   "an entry leads to its function");
	ok(vm_entry_direct((uintptr_t)many_real) == (uintptr_t)many_real &&
		   vm_entry_direct((uintptr_t)&none) == (uintptr_t)&none &&
		   !vm_entry_direct(0),
	   "what is none stays");
}

int main(void)
{
	test_calls("off", 0, 0);
	vm_intercept = 1;
	test_calls("kept, nobody watches", 0, 0);
	vm_intercept = 2;
	test_calls("watched, ends not wanted", 5, 0);
	tell = true;
	test_calls("watched", 5, 5);
	is_int(entered[0], VM_API_CALL_send, "the call's number");
	is_int(entered[1], VM_API_CALL_recv, "another one's");
	is_int(entered[4], VM_API_CALL_wait, "a third one's");
	ok(frames[2] > frames[3] && frames[3] > frames[4],
	   "calls in calls have frames below");
	test_direct();
	return done_testing();
}
