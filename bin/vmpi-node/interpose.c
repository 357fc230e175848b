/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of libc that mean the process, and here mean the rank.
 *
 * They are exported by the executable, which the dynamic linker searches first;
 * programs and their libraries get these.  Whoever is no rank, and a child made
 * by fork() or vfork(), gets libc's behaviour.
 */
/* Else the headers would rename what is defined here. */
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/exit.h"
#include "core/image/exe_tls.h"
#include "core/instrument/overlap_events.h"
#include "core/local/engine.h"
#include "core/rank/rank.h"
#include "core/rank/wait.h"
#include "core/local/threads.h"
#include "fatal.h"
#include "handler.h"
#include "leave.h"
#include "node.h"
#include "output.h"
#include "rank.h"
#include "real.h"
#include "sched/topo.h"
#include "sched/worker.h"

NODE_EXPORT _Noreturn void exit(int status)
{
	rank_end(status, true);
	REAL(exit)(status);
	__builtin_unreachable();
}

static _Noreturn void end_now(int status)
{
	rank_end(status, false);
	vm_exit_now(status);
}

NODE_EXPORT _Noreturn void _exit(int status)
{
	end_now(status);
}

NODE_EXPORT _Noreturn void _Exit(int status)
{
	end_now(status);
}

/* What at_quick_exit() calls, which is a part of each program. */
extern int __cxa_at_quick_exit(void (*run)(void *), void *dso_handle);

NODE_EXPORT int __cxa_at_quick_exit(void (*run)(void *), void *dso_handle)
{
	struct vm_image_copy *copy = node_copy();

	if (copy)
		return vm_image_at_quick_end(copy, run, NULL);
	return REAL(__cxa_at_quick_exit)(run, dso_handle);
}

NODE_EXPORT _Noreturn void quick_exit(int status)
{
	if (node_copy())
		vm_image_quick_end(node_copy());
	end_now(status);
}

/* A destructor of a C++ thread_local variable runs when the rank ends, not when
 * the worker does. */
extern int __cxa_thread_atexit_impl(void (*run)(void *), void *object,
				    void *dso_handle);

NODE_EXPORT int __cxa_thread_atexit_impl(void (*run)(void *), void *object,
					 void *dso_handle)
{
	struct vm_image_copy *copy = node_copy();

	if (copy && (node.child || node_on_main()))
		return vm_image_at_end(copy, run, object);
	return REAL(__cxa_thread_atexit_impl)(run, object, dso_handle);
}

/* Also for libraries that all ranks share. */
NODE_EXPORT char *strtok(char *restrict text, const char *restrict separators)
{
	static char *token;
	struct vm_image_copy *copy = node_copy();

	return strtok_r(text, separators, copy ? &copy->token : &token);
}

/* A thread of a rank acts for the rank. */
struct thread_start {
	struct vm_image_copy *copy;
	struct vm_rank *rank; /* NULL: of a child made by fork() */
	bool unbind;	      /* its creator is bound to a core, as a worker */
	void *(*run)(void *);
	void *arg;
	void *signals; /* its stack for them */
};

static void thread_end(void *arg)
{
	const struct thread_start *start = arg;

	handler_task_end();
	fatal_thread_end(start->signals);
	leave_ended(start->copy);
	/* Without one it has forked, and this is the child. */
	if (vm_self)
		vm_thread_release();
}

static void *thread_main(void *arg)
{
	struct thread_start start = *(struct thread_start *)arg;
	void *result;

	free(arg);
	if (start.unbind)
		vm_topo_unbind();
	if (start.rank && vm_thread_adopt(start.rank))
		vm_node_abort(1, "rank %d: out of memory for a thread",
			      start.rank->index);
	vm_exe_tls_fresh(start.copy);
	start.signals = fatal_thread_start();
	if (vm_self)
		vm_stack_of_thread(&vm_self->stack);
	pthread_cleanup_push(thread_end, &start);
	result = start.run(start.arg);
	pthread_cleanup_pop(1);
	/* The only thread of a child that it made ends with the child; libc
	 * would run the handlers of all ranks. */
	if (start.rank && node.child)
		exit(0);
	return result;
}

/* Whether the attributes say on which processors the thread is to run. */
static bool binds(const pthread_attr_t *attr)
{
	cpu_set_t set;

	/* Without a choice all are set, also those that do not exist. */
	return attr && !pthread_attr_getaffinity_np(attr, sizeof(set), &set) &&
	       CPU_COUNT(&set) < CPU_SETSIZE;
}

/* What libc takes off the stack of a thread; it tells those who know the name
 * of the function. */
static size_t stack_least(void)
{
	static _Atomic(size_t(*)(const pthread_attr_t *)) least;
	size_t (*ask)(const pthread_attr_t *) = least;
	pthread_attr_t attr;
	size_t bytes = 0;

	if (!ask)
		least = ask = (size_t(*)(const pthread_attr_t *))dlsym(
			RTLD_DEFAULT, "__pthread_get_minstack");
	if (!ask || pthread_attr_init(&attr))
		return vm_image_static_tls(node.image);
	bytes = ask(&attr);
	pthread_attr_destroy(&attr);
	return bytes;
}

/*
 * Attributes with a size of the stack that suffices: libc takes the
 * thread-local variables off it, and this process has more of them than the
 * program knows.  A copy as it is made here must not be destroyed.
 */
static const pthread_attr_t *roomy(pthread_attr_t *copy,
				   const pthread_attr_t *attr)
{
	size_t bytes = 0;
	void *base;

	/* Without a stack of the program's the top is 0, and the size as well
	 * if it is not set: what libc would take says only getstacksize(). */
	if (!attr || pthread_attr_getstack(attr, &base, &bytes) ||
	    (uintptr_t)base + bytes != 0 ||
	    pthread_attr_getstacksize(attr, &bytes))
		return attr;
	*copy = *attr;
	bytes += stack_least();
	return pthread_attr_setstacksize(copy, bytes) ? attr : copy;
}

int node_thread_new(pthread_t *thread, void *(*run)(void *), void *arg)
{
	return REAL(pthread_create)(thread, NULL, run, arg);
}

NODE_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			       void *(*run)(void *), void *arg)
{
	struct thread_start *start;
	pthread_attr_t larger;
	int error;

	if (!node_copy())
		return REAL(pthread_create)(thread, attr, run, arg);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct thread_start){ node_copy(),
					vm_rank_self(),
					node_on_task() && !binds(attr),
					run,
					arg,
					NULL };
	leave_created(start->copy);
	error = REAL(pthread_create)(thread, roomy(&larger, attr), thread_main,
				     start);
	if (error) {
		leave_ended(start->copy);
		free(start);
	}
	return error;
}

/*
 * Sleeping lets the other ranks of the worker run; of one rank it is libc's,
 * which signals interrupt.
 */
static bool sleeps_as_task(void)
{
	return node.ranks > 1 && node_on_task();
}

static void sleep_ns(uint64_t ns)
{
	struct vm_rank *rank = vm_wait_begin(VM_EXPORT_SLEEP);

	vm_overlap_events_block_begin();
	vm_ult_sleep(ns);
	vm_overlap_events_block_end();
	vm_wait_end(rank);
}

NODE_EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
	if (!sleeps_as_task() || time->tv_sec < 0 || time->tv_nsec < 0 ||
	    time->tv_nsec > 999999999)
		return REAL(nanosleep)(time, left);
	sleep_ns((uint64_t)time->tv_sec * 1000000000u +
		 (uint64_t)time->tv_nsec);
	return 0;
}

/* Nanoseconds from now to the time; 0: it is over. */
static uint64_t left_ns(clockid_t clock, const struct timespec *until)
{
	struct timespec now;
	int64_t seconds;

	if (clock_gettime(clock, &now))
		return 0;
	seconds = until->tv_sec - now.tv_sec;
	if (seconds < 0 || (seconds == 0 && until->tv_nsec <= now.tv_nsec))
		return 0;
	return (uint64_t)(seconds * 1000000000 + until->tv_nsec - now.tv_nsec);
}

NODE_EXPORT int clock_nanosleep(clockid_t clock, int flags,
				const struct timespec *time,
				struct timespec *left)
{
	if (!sleeps_as_task() || time->tv_sec < 0 || time->tv_nsec < 0 ||
	    time->tv_nsec > 999999999 ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return REAL(clock_nanosleep)(clock, flags, time, left);
	if (!(flags & TIMER_ABSTIME))
		return nanosleep(time, left) ? errno : 0;
	sleep_ns(left_ns(clock, time));
	return 0;
}

NODE_EXPORT int usleep(useconds_t us)
{
	if (!sleeps_as_task())
		return REAL(usleep)(us);
	sleep_ns((uint64_t)us * 1000u);
	return 0;
}

NODE_EXPORT unsigned sleep(unsigned seconds)
{
	if (!sleeps_as_task())
		return REAL(sleep)(seconds);
	sleep_ns((uint64_t)seconds * 1000000000u);
	return 0;
}

NODE_EXPORT int sched_yield(void)
{
	if (!node_on_task()) {
		syscall(SYS_sched_yield);
		return 0;
	}
	vm_overlap_events_block_begin();
	vm_rank_yield();
	vm_overlap_events_block_end();
	return 0;
}

/*
 * Output.  The library and this program write to the process's streams; their
 * calls are recognized by the address of the caller.
 */
extern const char __executable_start[], etext[];

static struct vm_image_copy *writer(int fd, const void *caller)
{
	const char *from = caller;

	if (!output_active() || fd < 1 || fd > 2)
		return NULL;
	if (from >= __executable_start && from < etext)
		return NULL;
	return node_copy();
}

NODE_EXPORT ssize_t write(int fd, const void *bytes, size_t count)
{
	struct vm_image_copy *copy = writer(fd, __builtin_return_address(0));

	if (copy)
		return output_write(copy, fd, bytes, count, true);
	return REAL(write)(fd, bytes, count);
}

NODE_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct vm_image_copy *copy = writer(fd, __builtin_return_address(0));
	ssize_t all = 0;

	if (!copy)
		return REAL(writev)(fd, parts, count);
	for (int i = 0; i < count; i++) {
		ssize_t n = output_write(copy, fd, parts[i].iov_base,
					 parts[i].iov_len, i + 1 == count);

		if (n < 0)
			return all ? all : n;
		all += n;
	}
	return all;
}

/* A buffer in a stream that all ranks share would mix their lines; what counts
 * is whether the rank wants one. */
static bool buffer_set(FILE *file, int mode)
{
	int fd = output_stream(file);
	struct vm_image_copy *copy = fd ? node_copy() : NULL;

	if (copy)
		output_eager(copy, fd, mode == _IONBF);
	return fd != 0;
}

NODE_EXPORT int setvbuf(FILE *file, char *buffer, int mode, size_t bytes)
{
	return buffer_set(file, mode) ?
		       0 :
		       REAL(setvbuf)(file, buffer, mode, bytes);
}

NODE_EXPORT void setbuf(FILE *file, char *buffer)
{
	if (!buffer_set(file, buffer ? _IOFBF : _IONBF))
		REAL(setbuf)(file, buffer);
}

NODE_EXPORT void setbuffer(FILE *file, char *buffer, size_t bytes)
{
	if (!buffer_set(file, buffer ? _IOFBF : _IONBF))
		REAL(setbuffer)(file, buffer, bytes);
}

NODE_EXPORT void setlinebuf(FILE *file)
{
	if (!buffer_set(file, _IOLBF))
		REAL(setlinebuf)(file);
}

/* NULL: all streams. */
NODE_EXPORT int fflush(FILE *file)
{
	struct vm_image_copy *copy = output_active() ? node_copy() : NULL;
	int fd = output_stream(file);

	for (int i = 1; copy && i <= 2; i++)
		if (!file || fd == i)
			output_show(copy, i);
	return copy && fd ? 0 : REAL(fflush)(file);
}

NODE_EXPORT int fflush_unlocked(FILE *file)
{
	return fflush(file);
}

NODE_EXPORT int fileno(FILE *file)
{
	int fd = output_stream(file);

	return fd ? fd : REAL(fileno)(file);
}

NODE_EXPORT int fileno_unlocked(FILE *file)
{
	return fileno(file);
}

NODE_EXPORT int fclose(FILE *file)
{
	struct vm_image_copy *copy = output_stream(file) ? node_copy() : NULL;

	if (!copy)
		return REAL(fclose)(file);
	output_flush(copy);
	return 0;
}

NODE_EXPORT FILE *freopen(const char *path, const char *mode, FILE *file)
{
	int fd = output_stream(file);
	struct vm_image_copy *copy = fd ? node_copy() : NULL;

	if (!copy || !path)
		return REAL(freopen)(path, mode, file);
	return output_redirect(copy, fd, path, mode) ? NULL : file;
}

/* Programs with 64-bit file offsets call it so; here they always are. */
NODE_EXPORT FILE *freopen64(const char *path, const char *mode, FILE *file)
{
	return freopen(path, mode, file);
}

/* C++ streams that do not go through stdio would buffer in memory that all
 * ranks share: std::ios_base::sync_with_stdio(bool) changes nothing. */
NODE_EXPORT bool
cout_stays(bool sync) __asm__("_ZNSt8ios_base15sync_with_stdioEb");
NODE_EXPORT bool cout_stays(bool sync)
{
	(void)sync;
	return true;
}
