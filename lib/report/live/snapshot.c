/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that waits has its registers on its stack, where the last switch has
 * saved them; one that runs has those of the thread whose stack pointer is in
 * its stack.  What is read may be nonsense, as the process may have damaged
 * itself: sizes are bounded, and addresses are only given to the kernel.
 */
#include "report/live/snapshot.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "core/runtime/debug.h"

#define PAGE_BYTES 4096
#define STACK_BYTES_MAX ((uint64_t)64 << 20)
#define RANKS_MAX 1000000
#define THREADS_MAX 4096
#define STOP_TRIES 2000 /* of a thread that does not stop, in 1 ms each */

struct thread {
	pid_t id;
	bool stopped;
	long system_call; /* or -1 */
	uint64_t registers[VM_SNAPSHOT_REGISTERS];
	uint64_t pc, sp;
};

struct threads {
	struct thread *list;
	unsigned count;
};

bool vm_snapshot_read(pid_t pid, void *to, uint64_t address, size_t bytes)
{
	struct iovec local = { .iov_base = to, .iov_len = bytes };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address,
				.iov_len = bytes };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)bytes;
}

size_t vm_snapshot_read_most(pid_t pid, void *to, uint64_t address,
			     size_t bytes)
{
	size_t used = 0;

	while (used < bytes) {
		size_t n = PAGE_BYTES - (address + used) % PAGE_BYTES;

		if (n > bytes - used)
			n = bytes - used;
		if (!vm_snapshot_read(pid, (char *)to + used, address + used,
				      n))
			break;
		used += n;
	}
	return used;
}

#if defined(__x86_64__)
static void registers_take(struct thread *thread,
			   const struct user_regs_struct *from)
{
	const uint64_t all[] = { from->rax, from->rdx, from->rcx, from->rbx,
				 from->rsi, from->rdi, from->rbp, from->rsp,
				 from->r8,  from->r9,  from->r10, from->r11,
				 from->r12, from->r13, from->r14, from->r15,
				 from->rip };

	memcpy(thread->registers, all, sizeof(all));
	thread->pc = from->rip;
	thread->sp = from->rsp;
}
#elif defined(__aarch64__)
static void registers_take(struct thread *thread,
			   const struct user_regs_struct *from)
{
	memcpy(thread->registers, from->regs, sizeof(from->regs));
	thread->registers[31] = from->sp;
	thread->pc = from->pc;
	thread->sp = from->sp;
}
#endif

/* Waits until it has stopped.  Its end is left to those who wait for it. */
static bool thread_await(pid_t id)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < STOP_TRIES; i++) {
		siginfo_t info = { 0 };

		if (waitid(P_PID, (id_t)id, &info, WSTOPPED | WNOHANG | __WALL))
			return false;
		if (info.si_pid == id)
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* The call that the thread is in: read before it is stopped, which may make the
 * call begin again. */
static long system_call_read(pid_t pid, pid_t thread)
{
	long number = -1;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid,
		 (int)thread);
	file = fopen(path, "re");
	if (!file)
		return -1;
	/* "running" is no number. */
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

/* 0 or an errno. */
static int thread_stop(struct thread *thread)
{
	struct user_regs_struct registers;
	struct iovec place = { .iov_base = &registers,
			       .iov_len = sizeof(registers) };

	if (ptrace(PTRACE_SEIZE, thread->id, NULL, NULL))
		return errno;
	thread->stopped = true;
	if (ptrace(PTRACE_INTERRUPT, thread->id, NULL, NULL))
		return errno;
	if (!thread_await(thread->id))
		return ETIMEDOUT;
	if (ptrace(PTRACE_GETREGSET, thread->id, (void *)NT_PRSTATUS, &place))
		return errno;
	registers_take(thread, &registers);
	return 0;
}

static void threads_go(struct threads *threads)
{
	for (unsigned i = 0; i < threads->count; i++)
		if (threads->list[i].stopped)
			ptrace(PTRACE_DETACH, threads->list[i].id, NULL, NULL);
	free(threads->list);
	*threads = (struct threads){ 0 };
}

/* Stops all threads.  0 or an errno. */
static int threads_stop(struct threads *threads, pid_t pid)
{
	char path[64];
	struct dirent *entry;
	int error = 0;
	DIR *tasks;

	*threads = (struct threads){ .list = calloc(THREADS_MAX,
						    sizeof(struct thread)) };
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = threads->list ? opendir(path) : NULL;
	if (!tasks)
		return threads->list ? errno : ENOMEM;
	while (!error && threads->count < THREADS_MAX &&
	       (entry = readdir(tasks))) {
		struct thread *thread = &threads->list[threads->count];

		thread->id = (pid_t)strtol(entry->d_name, NULL, 10);
		if (thread->id <= 0)
			continue;
		threads->count++;
		thread->system_call = system_call_read(pid, thread->id);
		error = thread_stop(thread);
		/* It has ended meanwhile. */
		if (error == ESRCH && thread->id != pid)
			error = 0;
	}
	closedir(tasks);
	return error;
}

/* Where the pieces of the process are. */
struct view {
	pid_t pid;
	struct vm_debug debug;
	const struct threads *threads;
};

static void register_set(struct vm_snapshot_rank *rank, unsigned number,
			 uint64_t value)
{
	if (number >= VM_SNAPSHOT_REGISTERS)
		return;
	rank->registers[number] = value;
	if (number < 32)
		rank->set |= 1u << number;
}

/* Its registers lie on its stack. */
static bool saved_take(struct vm_snapshot_rank *rank, const struct view *view,
		       uint64_t sp)
{
	const struct vm_ctx_layout *layout = &view->debug.context;
	char saved[512];

	if (layout->bytes > sizeof(saved) || layout->count > 12 ||
	    !vm_snapshot_read(view->pid, saved, sp, layout->bytes))
		return false;
	for (unsigned i = 0; i < layout->count; i++) {
		uint64_t value;

		if (layout->registers[i].offset + sizeof(value) > layout->bytes)
			return false;
		memcpy(&value, saved + layout->registers[i].offset,
		       sizeof(value));
		register_set(rank, layout->registers[i].number, value);
		if (layout->registers[i].number == layout->pc)
			rank->pc = value;
	}
	register_set(rank, layout->sp, sp + layout->bytes);
	return true;
}

static void running_take(struct vm_snapshot_rank *rank,
			 const struct thread *thread)
{
	memcpy(rank->registers, thread->registers, sizeof(rank->registers));
	rank->set = UINT32_MAX;
	rank->pc = thread->pc;
	rank->system_call = thread->system_call;
}

/* The thread that runs on the stack; base 0: the process's first one. */
static const struct thread *thread_on(const struct view *view, uint64_t base,
				      uint64_t bytes)
{
	for (unsigned i = 0; i < view->threads->count; i++) {
		const struct thread *thread = &view->threads->list[i];

		if (base ? thread->sp >= base && thread->sp - base < bytes :
			   thread->id == view->pid)
			return thread;
	}
	return NULL;
}

/* Copies the stack from the stack pointer on; a thread's own to where memory
 * ends, within bounds. */
static void stack_take(struct vm_snapshot_rank *rank, const struct view *view,
		       uint64_t end)
{
	uint64_t from = rank->registers[view->debug.context.sp];
	uint64_t bytes = end ? end - from : (uint64_t)256 << 10;

	if ((end && end < from) || bytes > STACK_BYTES_MAX)
		return;
	rank->stack = malloc(bytes);
	rank->from = from;
	if (rank->stack)
		rank->bytes = vm_snapshot_read_most(view->pid, rank->stack,
						    from, bytes);
}

static bool word_read(const struct view *view, void *to, uint64_t address,
		      size_t bytes)
{
	return vm_snapshot_read(view->pid, to, address, bytes);
}

static void rank_take(struct vm_snapshot_rank *rank, const struct view *view,
		      uint64_t address)
{
	const struct vm_debug *debug = &view->debug;
	uint64_t task = 0, sp = 0, base = 0, bytes = 0;
	const struct thread *thread;

	rank->system_call = -1;
	if (!word_read(view, &rank->index, address + debug->rank_index,
		       sizeof(rank->index)) ||
	    !word_read(view, &task, address + debug->rank_main, 8) || !task ||
	    !word_read(view, &sp, task + debug->task_sp, 8) ||
	    !word_read(view, &base, task + debug->task_base, 8) ||
	    !word_read(view, &bytes, task + debug->task_bytes, 8))
		return;
	thread = thread_on(view, base, bytes);
	if (thread) {
		running_take(rank, thread);
		rank->known = true;
	} else if (base && sp >= base && sp - base < bytes) {
		rank->known = saved_take(rank, view, sp);
	}
	if (rank->known)
		stack_take(rank, view, base ? base + bytes : 0);
}

static int refuse(char *why, int rc, const char *text)
{
	snprintf(why, VM_SNAPSHOT_WHY_MAX, "%s", text);
	return rc;
}

/* Copies all ranks of the process, whose threads have been stopped. */
static int ranks_take(struct vm_snapshot *snapshot, const struct view *view,
		      char *why)
{
	const struct vm_debug *debug = &view->debug;
	uint64_t node = 0, own = 0, *ranks;
	int count = 0;

	if (!word_read(view, &node, (uintptr_t)debug->node, 8) || !node ||
	    !word_read(view, &count, node + debug->node_ranks, 4) ||
	    !word_read(view, &own, node + debug->node_own, 8) || count < 1 ||
	    count > RANKS_MAX)
		return refuse(why, -VMPI_ESTATE, "it does not run ranks now");
	ranks = calloc((size_t)count, sizeof(*ranks));
	snapshot->ranks = calloc((size_t)count, sizeof(*snapshot->ranks));
	if (!ranks || !snapshot->ranks ||
	    !word_read(view, ranks, own, (size_t)count * 8)) {
		free(ranks);
		return refuse(why, -VMPI_ENOMEM, "out of memory");
	}
	snapshot->count = (unsigned)count;
	for (int i = 0; i < count; i++)
		rank_take(&snapshot->ranks[i], view, ranks[i]);
	free(ranks);
	return 0;
}

static int stop_refuse(char *why, int error)
{
	snprintf(why, VM_SNAPSHOT_WHY_MAX,
		 "its threads cannot be stopped: %s%s", strerror(error),
		 error == EPERM ?
			 " (a debugger has it, or ptrace(2) is forbidden: see "
			 "kernel.yama.ptrace_scope)" :
			 "");
	return -VMPI_ENOTSUP;
}

int vm_snapshot_take(struct vm_snapshot *snapshot, pid_t pid, uint64_t debug,
		     char why[VM_SNAPSHOT_WHY_MAX])
{
	struct view view = { .pid = pid };
	struct threads threads;
	int rc, error;

	*snapshot = (struct vm_snapshot){ .pid = pid };
	if (!vm_snapshot_read(pid, &view.debug, debug, sizeof(view.debug)))
		return stop_refuse(why, errno);
	if (view.debug.version != VM_DEBUG_VERSION ||
	    view.debug.bytes != sizeof(view.debug))
		return refuse(why, -VMPI_EINVAL,
			      "it runs another version of vmpi");
	snapshot->sp_number = view.debug.context.sp;
	view.threads = &threads;
	error = threads_stop(&threads, pid);
	rc = error ? stop_refuse(why, error) : ranks_take(snapshot, &view, why);
	threads_go(&threads);
	if (rc)
		vm_snapshot_free(snapshot);
	return rc;
}

void vm_snapshot_free(struct vm_snapshot *snapshot)
{
	for (unsigned i = 0; i < snapshot->count; i++)
		free(snapshot->ranks[i].stack);
	free(snapshot->ranks);
	*snapshot = (struct vm_snapshot){ 0 };
}

bool vm_snapshot_word(const struct vm_snapshot *snapshot,
		      const struct vm_snapshot_rank *rank, uint64_t address,
		      uint64_t *word)
{
	if (address >= rank->from && rank->bytes >= sizeof(*word) &&
	    address - rank->from <= rank->bytes - sizeof(*word)) {
		memcpy(word, rank->stack + (address - rank->from),
		       sizeof(*word));
		return true;
	}
	return vm_snapshot_read(snapshot->pid, word, address, sizeof(*word));
}
