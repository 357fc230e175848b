/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of libc that wait for other threads: joins, conditions, semaphores,
 * barriers, and the system call below them.  A task has its deputy wait, and
 * its worker goes on.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "blocking.h"
#include "core/instrument/overlap_events.h"
#include "core/rank/wait.h"
#include "deputy.h"
#include "real.h"

/* The arguments of one of these functions, of which none has all. */
struct wait {
	pthread_t thread;
	void **ended_with;
	void *object;
	pthread_mutex_t *mutex;
	clockid_t clock;
	const struct timespec *until;
	int result;
};

/* Has the deputy wait; without one, the caller waits. */
static void wait_elsewhere(void (*run)(void *wait), void *wait)
{
	struct vm_rank *rank = vm_wait_begin(VM_EXPORT_OTHER);

	vm_overlap_events_block_begin();
	if (!deputy_run(run, wait))
		run(wait);
	vm_overlap_events_block_end();
	vm_wait_end(rank);
}

/* A join: it succeeds soon, often. */
static bool joined(struct wait *wait)
{
	for (unsigned tries = 0; tries < TRIES_EAGER; tries++) {
		wait->result =
			pthread_tryjoin_np(wait->thread, wait->ended_with);
		if (wait->result != EBUSY)
			return true;
		task_pause(tries);
	}
	return false;
}

static void join_run(void *arg)
{
	struct wait *wait = arg;

	wait->result = REAL(pthread_join)(wait->thread, wait->ended_with);
}

NODE_EXPORT int pthread_join(pthread_t thread, void **result)
{
	struct wait wait = { .thread = thread, .ended_with = result };

	if (!node_on_task())
		return REAL(pthread_join)(thread, result);
	if (!joined(&wait))
		wait_elsewhere(join_run, &wait);
	return wait.result;
}

static void clockjoin_run(void *arg)
{
	struct wait *wait = arg;

	wait->result = REAL(pthread_clockjoin_np)(
		wait->thread, wait->ended_with, wait->clock, wait->until);
}

NODE_EXPORT int pthread_clockjoin_np(pthread_t thread, void **result,
				     clockid_t clock,
				     const struct timespec *until)
{
	struct wait wait = { .thread = thread,
			     .ended_with = result,
			     .clock = clock,
			     .until = until };

	if (!node_on_task())
		return REAL(pthread_clockjoin_np)(thread, result, clock, until);
	if (!joined(&wait))
		wait_elsewhere(clockjoin_run, &wait);
	return wait.result;
}

NODE_EXPORT int pthread_timedjoin_np(pthread_t thread, void **result,
				     const struct timespec *until)
{
	return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

/* 0, or -1 and errno; as the functions of semaphores. */
static bool sem_taken(struct wait *wait)
{
	for (unsigned tries = 0; tries < TRIES_EAGER; tries++) {
		wait->result = sem_trywait(wait->object);
		if (!wait->result || errno != EAGAIN)
			return true;
		task_pause(tries);
	}
	return false;
}

static void sem_run(void *arg)
{
	struct wait *wait = arg;

	wait->result = wait->until ?
			       REAL(sem_clockwait)(wait->object, wait->clock,
						   wait->until) :
			       REAL(sem_wait)(wait->object);
}

NODE_EXPORT int sem_wait(sem_t *semaphore)
{
	struct wait wait = { .object = semaphore };

	if (!node_on_task())
		return REAL(sem_wait)(semaphore);
	if (!sem_taken(&wait))
		wait_elsewhere(sem_run, &wait);
	return wait.result;
}

NODE_EXPORT int sem_clockwait(sem_t *semaphore, clockid_t clock,
			      const struct timespec *until)
{
	struct wait wait = { .object = semaphore,
			     .clock = clock,
			     .until = until };

	if (!node_on_task())
		return REAL(sem_clockwait)(semaphore, clock, until);
	if (!sem_taken(&wait))
		wait_elsewhere(sem_run, &wait);
	return wait.result;
}

NODE_EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}

/* Conditions have had two layouts; a plain dlsym() finds the older one of libc,
 * and the function of the thread sanitizer, which has no version. */
#if defined(__SANITIZE_THREAD__)
#define CONDITION_FIND(name) NULL
#else
#define CONDITION_FIND(name) dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")
#endif
#define REAL_CONDITION(name)                                                \
	({                                                                  \
		static _Atomic(__typeof__(&name)) real;                     \
		__typeof__(&name) found = real;                             \
                                                                            \
		if (!found)                                                 \
			found = (__typeof__(&name))CONDITION_FIND(#name);   \
		if (!found)                                                 \
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
		real = found;                                               \
		found;                                                      \
	})

#define CONDITION_MONOTONIC 2 /* a bit of glibc's */

/* Whether the thread that unlocks the mutex need not have locked it. */
static bool is_anybodys(const pthread_mutex_t *mutex)
{
	int kind = mutex->__data.__kind & 127;

#if defined(__SANITIZE_THREAD__)
	return false; /* the thread sanitizer thinks it must */
#endif
	return kind == PTHREAD_MUTEX_TIMED_NP ||
	       kind == PTHREAD_MUTEX_ADAPTIVE_NP;
}

static void condition_run(void *arg)
{
	struct wait *wait = arg;

	if (!wait->until)
		wait->result = REAL_CONDITION(pthread_cond_wait)(wait->object,
								 wait->mutex);
	else if (wait->clock < 0)
		wait->result = REAL_CONDITION(pthread_cond_timedwait)(
			wait->object, wait->mutex, wait->until);
	else
		wait->result = REAL(pthread_cond_clockwait)(
			wait->object, wait->mutex, wait->clock, wait->until);
}

/* POSIX lets a wait end for no reason, and its callers look again.  clock: -1
 * for the condition's own. */
static int condition_wait(struct wait *wait)
{
	const pthread_cond_t *condition = wait->object;
	clockid_t clock = wait->clock;
	int error;

	if (clock < 0)
		clock = condition->__data.__wrefs & CONDITION_MONOTONIC ?
				CLOCK_MONOTONIC :
				CLOCK_REALTIME;

	if (is_anybodys(wait->mutex)) {
		wait_elsewhere(condition_run, wait);
		return wait->result;
	}
	error = pthread_mutex_unlock(wait->mutex);
	if (error)
		return error;
	task_pause(TRIES_EAGER + 3);
	error = pthread_mutex_lock(wait->mutex);
	if (!error && wait->until && time_is_over(clock, wait->until))
		return ETIMEDOUT;
	return error;
}

NODE_EXPORT int pthread_cond_wait(pthread_cond_t *condition,
				  pthread_mutex_t *mutex)
{
	struct wait wait = { .object = condition, .mutex = mutex };

	if (!node_on_task())
		return REAL_CONDITION(pthread_cond_wait)(condition, mutex);
	return condition_wait(&wait);
}

NODE_EXPORT int pthread_cond_timedwait(pthread_cond_t *condition,
				       pthread_mutex_t *mutex,
				       const struct timespec *until)
{
	struct wait wait = {
		.object = condition, .mutex = mutex, .clock = -1, .until = until
	};

	if (!node_on_task())
		return REAL_CONDITION(pthread_cond_timedwait)(condition, mutex,
							      until);
	return condition_wait(&wait);
}

NODE_EXPORT int pthread_cond_clockwait(pthread_cond_t *condition,
				       pthread_mutex_t *mutex, clockid_t clock,
				       const struct timespec *until)
{
	struct wait wait = { .object = condition,
			     .mutex = mutex,
			     .clock = clock,
			     .until = until };

	if (!node_on_task() || clock < 0)
		return REAL(pthread_cond_clockwait)(condition, mutex, clock,
						    until);
	return condition_wait(&wait);
}

static void barrier_run(void *arg)
{
	struct wait *wait = arg;

	wait->result = REAL(pthread_barrier_wait)(wait->object);
}

NODE_EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct wait wait = { .object = barrier };

	if (!node_on_task())
		return REAL(pthread_barrier_wait)(barrier);
	wait_elsewhere(barrier_run, &wait);
	return wait.result;
}

/*
 * Programs and libstdc++ make futex calls themselves: std::future, std::atomic
 * and what C++20 builds on it, the guards of static variables.
 */
struct system_call {
	long number, arguments[6], result;
};

/* Not libc's function, which would have to be looked for: signal handlers make
 * system calls too. */
static void system_run(void *arg)
{
	struct system_call *call = arg;
	/* Read before a register is chosen for any: a sanitizer makes a call of
	 * each read, which would change the registers. */
	long a0 = call->arguments[0], a1 = call->arguments[1];
	long a2 = call->arguments[2], a3 = call->arguments[3];
	long a4 = call->arguments[4], a5 = call->arguments[5];
	long number = call->number, result;

#if defined(__x86_64__)
	register long r10 __asm__("r10") = a3;
	register long r8 __asm__("r8") = a4;
	register long r9 __asm__("r9") = a5;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a0), "S"(a1), "d"(a2), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a0;
	register long x1 __asm__("x1") = a1;
	register long x2 __asm__("x2") = a2;
	register long x3 __asm__("x3") = a3;
	register long x4 __asm__("x4") = a4;
	register long x5 __asm__("x5") = a5;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	result = x0;
#endif
	call->result = result;
	if (result < 0 && result > -4096) {
		call->result = -1;
		errno = (int)-result;
	}
}

static bool waits_long(const struct system_call *call)
{
	if (call->number != SYS_futex)
		return false;
	switch (call->arguments[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return true;
	default:
		return false;
	}
}

/* The library and this program mean the thread. */
extern const char __executable_start[], etext[];

NODE_EXPORT long syscall(long number, ...)
{
	struct system_call call = { .number = number };
	const char *from = __builtin_return_address(0);
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		call.arguments[i] = va_arg(arguments, long);
	va_end(arguments);
	if ((from < __executable_start || from >= etext) && waits_long(&call) &&
	    node_on_task())
		wait_elsewhere(system_run, &call);
	else
		system_run(&call);
	return call.result;
}
