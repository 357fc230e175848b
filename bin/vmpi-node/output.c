/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lock for all: it is held for the copying and for one system call, and no
 * task switches while it is held.  Raw system calls, because write() itself
 * comes here (interpose.c).
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/log.h"
#include "base/standard.h"
#include "boot/job.h"
#include "core/rank/vars.h"
#include "node.h"
#include "output_files.h"
#include "output_gather.h"
#include "output_line.h"
#include "real.h"
#include "report/cli.h"
#include "report/outlet.h"

#define LINE_BYTES_MAX (16 << 20) /* longer lines leave in pieces */
#define RESCUE_NS 100000000

struct output_rank {
	struct output_line line[2];
};

static struct {
	pthread_mutex_t lock; /* guards all below and every line */
	bool active, label;
	struct output_files files;
	FILE *stream[2];
	/* Whose lines have begun in what all ranks share; both streams may go
	 * to one place.  Its lock is needed if processes share it. */
	struct vm_outlet own, *outlet;
	bool shared, one_place;
	pid_t pid;
	bool failed;  /* something could not be written, which was said */
	bool ticking; /* a thread looks after what is due */
	struct output_gather gathered;
} out = { .lock = PTHREAD_MUTEX_INITIALIZER, .outlet = &out.own };

/* libc's: ours (blocking.c) would switch to another task, which must not happen
 * inside printf(). */
static void lock_take(void)
{
	REAL(pthread_mutex_lock)(&out.lock);
}

static void lock_give(void)
{
	pthread_mutex_unlock(&out.lock);
}

/* Around fork(): a child must not find a lock held by a thread that it does not
 * have. */
static void fork_begin(void)
{
	/* Before the lock is taken, because a rank that this waits for may
	 * print. */
	if (node.image)
		vm_image_fork_begin(node.image, node_copy());
	lock_take();
}

static void fork_parent(void)
{
	lock_give();
	if (node.image)
		vm_image_fork_end(node.image, false);
}

/* What is due comes from the parent alone. */
static void fork_child(void)
{
	struct vm_image_copy *copy = node_copy();
	struct output_rank *mine = copy ? copy->out : NULL;

	for (int i = 0; mine && i < 2; i++)
		output_line_drop(&mine->line[i], mine->line[i].due);
	out.ticking = false;
	out.pid = getpid();
	lock_give();
	if (node.image)
		vm_image_fork_end(node.image, true);
}

/* The destination of a stream; *close_it: close it after this write.  -1 with
 * errno. */
static int line_fd(struct vm_image_copy *copy, struct output_line *line,
		   int stream, bool *close_it)
{
	bool kept;
	int fd;

	*close_it = false;
	if (line->fd >= 0)
		return line->fd;
	if (!out.files.directory)
		return stream + 1;
	fd = output_files_open(&out.files, copy->number, stream, &kept);
	*close_it = fd >= 0 && !kept;
	if (kept)
		line->fd = fd;
	return fd;
}

/* Whether the ranks share what this line is written to. */
static bool is_shared(const struct output_line *line)
{
	return !out.files.directory && !line->redirect;
}

static struct vm_outlet_line *begun(int stream)
{
	return &out.outlet->begun[out.one_place ? 0 : stream];
}

/* Gathers the first `kept` bytes that the line has, and then `count` more, of
 * which the last one is `end`: in what all ranks share, on a line of its own,
 * unless it is the rank's line that has begun there. */
static int line_gather(int fd, struct output_line *line, int rank, int stream,
		       size_t kept, const char *bytes, size_t count, char end)
{
	struct vm_outlet_line *last = begun(stream);
	bool inside = last->writer == rank + 1;
	char label[32] = "";
	int rc = 0;

	if (is_shared(line)) {
		if (vm_outlet_foreign(last, rank))
			rc = output_gather(&out.gathered, fd, "\n", 1);
		if (out.label)
			snprintf(label, sizeof(label), "[%d] ", rank);
		vm_outlet_note(last, rank, end == '\n');
	}
	if (!rc)
		rc = output_gather_lines(&out.gathered, fd, line->text, kept,
					 label, &inside);
	return rc ? rc :
		    output_gather_lines(&out.gathered, fd, bytes, count, label,
					&inside);
}

/* Says once that output is lost: the rank that is told may not care, or have
 * ended.  What it has closed itself it does not miss, nor a reader who has left
 * what he does not read. */
static void failure_say(struct vm_image_copy *copy,
			const struct output_line *line, int stream)
{
	char path[PATH_MAX];
	int error = errno;

	if (out.failed || line->redirect || error == EBADF || error == EPIPE)
		return;
	out.failed = true;
	if (out.files.directory)
		output_files_path(&out.files, path, copy->number, stream);
	else
		vm_standard_name(path, stream + 1);
	vm_cli_say("%s: %s; output of the job is lost", path, strerror(error));
	errno = error;
}

/* Writes the first `kept` bytes that the line has, and then `count` more. */
static int line_write(struct vm_image_copy *copy, struct output_line *line,
		      int stream, size_t kept, const char *bytes, size_t count)
{
	char end = count ? bytes[count - 1] : kept ? line->text[kept - 1] : 0;
	bool close_it = false;
	int fd, rc = -1;

	if (kept + count == 0)
		return 0;
	fd = line_fd(copy, line, stream, &close_it);
	if (fd >= 0)
		rc = line_gather(fd, line, copy->number, stream, kept, bytes,
				 count, end);
	if (fd >= 0 && output_gather_flush(&out.gathered, fd))
		rc = -1;
	if (rc)
		failure_say(copy, line, stream);
	if (close_it)
		close(fd);
	output_line_drop(line, kept);
	return rc;
}

static void line_close(struct output_line *line)
{
	if (line->fd >= 0) {
		close(line->fd);
		out.files.open--;
	}
	line->fd = -1;
}

static struct output_rank *output_rank(struct vm_image_copy *copy)
{
	struct output_rank *mine = copy->out;

	if (mine)
		return mine;
	mine = calloc(1, sizeof(*mine));
	if (mine) {
		mine->line[0].fd = mine->line[1].fd = -1;
		mine->line[1].eager = true;
	}
	copy->out = mine;
	return mine;
}

/* Whether `used` bytes that may leave, up to `end`, have to wait: while another
 * rank's line has just begun, or because a line that is to have a label may
 * still get its end. */
static bool has_to_wait(const struct vm_image_copy *copy,
			struct output_line *line, int stream, size_t used,
			char end)
{
	const struct vm_outlet_line *last = begun(stream);
	bool foreign = vm_outlet_foreign(last, copy->number);
	bool open = out.label && end != '\n' &&
		    last->writer != copy->number + 1;
	uint64_t most, now;

	if (!foreign && !open)
		return false;
	most = (uint64_t)core_cvar.output_wait * 1000000;
	now = vm_outlet_now();
	if (!line->due_ns)
		line->due_ns = now;
	/* What a pipe takes at once can be rescued. */
	return used < PIPE_BUF && now - line->due_ns < most &&
	       (open || now - last->since_ns < most);
}

static bool outlet_lock(const struct output_line *line, uint64_t ns_max)
{
	return out.shared && is_shared(line) &&
	       vm_outlet_lock(out.outlet, out.pid, ns_max);
}

static void due_look(struct vm_image_copy *copy, struct output_line *line,
		     int stream)
{
	bool locked = outlet_lock(line, UINT64_MAX);

	if (!has_to_wait(copy, line, stream, line->due,
			 line->text[line->due - 1]))
		line_write(copy, line, stream, line->due, NULL, 0);
	if (locked)
		vm_outlet_unlock(out.outlet);
}

/* Writes what has waited long enough; whether more waits. */
static bool due_turn(void)
{
	bool more = false;

	for (int i = 0; i < node.ranks; i++) {
		struct vm_image_copy *copy = vm_image_copy(node.image, i);
		struct output_rank *mine = copy->out;

		for (int s = 0; mine && s < 2; s++) {
			if (mine->line[s].due)
				due_look(copy, &mine->line[s], s);
			more |= mine->line[s].due > 0;
		}
	}
	return more;
}

/* Is there while something waits. */
static void *tick_main(void *arg)
{
	const struct timespec tick = { .tv_nsec = VM_OUTLET_TICK_NS };

	(void)arg;
	do {
		nanosleep(&tick, NULL);
		lock_take();
		out.ticking = due_turn();
		lock_give();
	} while (out.ticking);
	return NULL;
}

/* False: nobody would look after what waits. */
static bool tick_ensure(void)
{
	sigset_t all, before;
	pthread_t thread;

	if (out.ticking)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	out.ticking = !node_thread_new(&thread, tick_main, NULL);
	if (out.ticking)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return out.ticking;
}

/* Writes all that the line has and then `count` bytes, which may leave, or
 * keeps them for the moment. */
static int leave(struct vm_image_copy *copy, struct output_line *line,
		 int stream, const char *bytes, size_t count)
{
	bool locked = outlet_lock(line, UINT64_MAX);
	size_t used = line->used + count;
	int rc = 0;

	if (is_shared(line) &&
	    has_to_wait(copy, line, stream, used,
			count ? bytes[count - 1] : line->text[used - 1]) &&
	    tick_ensure() && output_line_keep(line, bytes, count))
		line->due = line->used;
	else
		rc = line_write(copy, line, stream, line->used, bytes, count);
	if (locked)
		vm_outlet_unlock(out.outlet);
	return rc;
}

static ssize_t locked_write(struct vm_image_copy *copy, int stream,
			    const char *bytes, size_t count, bool flushed)
{
	struct output_rank *mine = output_rank(copy);
	const char *newline = memrchr(bytes, '\n', count);
	size_t whole = newline ? (size_t)(newline - bytes) + 1 : 0;
	size_t rest = count - whole;
	struct output_line *line;

	if (!mine) {
		errno = ENOMEM;
		return -1;
	}
	line = &mine->line[stream];
	if (whole && leave(copy, line, stream, bytes, whole))
		return -1;
	if (whole && !line->used && line->room > OUTPUT_GATHER_BYTES)
		output_line_free(line);
	if (!rest)
		return (ssize_t)count;
	if ((flushed || line->eager || line->used + rest >= LINE_BYTES_MAX ||
	     !output_line_keep(line, bytes + whole, rest)) &&
	    leave(copy, line, stream, bytes + whole, rest))
		return -1;
	return (ssize_t)count;
}

ssize_t output_write(struct vm_image_copy *copy, int fd, const char *bytes,
		     size_t count, bool flushed)
{
	ssize_t n;

	lock_take();
	n = locked_write(copy, fd - 1, bytes, count, flushed);
	lock_give();
	return n;
}

void output_show(struct vm_image_copy *copy, int fd)
{
	struct output_rank *mine;
	struct output_line *line;

	lock_take();
	mine = copy->out;
	line = mine ? &mine->line[fd - 1] : NULL;
	if (line && line->used > line->due)
		leave(copy, line, fd - 1, "", 0);
	lock_give();
}

void output_eager(struct vm_image_copy *copy, int fd, bool eager)
{
	struct output_rank *mine;

	lock_take();
	mine = output_rank(copy);
	if (mine)
		mine->line[fd - 1].eager = eager;
	lock_give();
}

/* What is left when a rank ends: a line with a label gets its end, and nobody
 * waits for that of any other. */
static void line_end(struct vm_image_copy *copy, struct output_line *line,
		     int stream, uint64_t ns_max)
{
	struct vm_outlet_line *last = begun(stream);
	bool locked = outlet_lock(line, ns_max);
	bool mine = is_shared(line) && last->writer == copy->number + 1;
	bool open = line->used ? line->text[line->used - 1] != '\n' : mine;

	line_write(copy, line, stream, line->used, "\n",
		   open && is_shared(line) && out.label);
	if (is_shared(line) && last->writer == copy->number + 1)
		last->since_ns = 0;
	if (locked)
		vm_outlet_unlock(out.outlet);
}

void output_flush(struct vm_image_copy *copy)
{
	struct output_rank *mine;

	lock_take();
	mine = copy->out;
	for (int i = 0; mine && i < 2; i++) {
		line_end(copy, &mine->line[i], i, UINT64_MAX);
		output_line_free(&mine->line[i]);
		line_close(&mine->line[i]);
	}
	lock_give();
}

int output_redirect(struct vm_image_copy *copy, int fd, const char *path,
		    const char *mode)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	int file, error = 0;
	struct output_rank *mine;

	flags |= mode[0] == 'a' ? O_APPEND : O_TRUNC;
	file = open(path, flags, 0666);
	if (file < 0)
		return -1;
	output_flush(copy);
	lock_take();
	mine = output_rank(copy);
	if (mine) {
		mine->line[fd - 1].fd = file;
		mine->line[fd - 1].redirect = true;
		out.files.open++;
	} else {
		error = ENOMEM;
	}
	lock_give();
	if (error) {
		close(file);
		errno = error;
	}
	return error ? -1 : 0;
}

static ssize_t stream_write(void *cookie, const char *bytes, size_t count)
{
	struct vm_image_copy *copy = node_copy();
	int fd = cookie == &out.stream[1] ? 2 : 1;

	if (copy)
		return output_write(copy, fd, bytes, count, false);
	return vm_flush_bytes(fd, bytes, count) ? 0 : (ssize_t)count;
}

/* Nobody may read any more, and the end of the process waits for nobody. */
static bool goes_at_once(const struct output_line *line, int stream)
{
	struct pollfd ready = { .fd = stream + 1, .events = POLLOUT };

	return line->used && line->used < PIPE_BUF &&
	       (!is_shared(line) ||
		(poll(&ready, 1, 0) == 1 && !(ready.revents & POLLERR)));
}

void output_rescue(void)
{
	/* A thread that holds it may be the one that is interrupted. */
	if (!out.active || pthread_mutex_trylock(&out.lock))
		return;
	for (int i = 0; i < node.ranks; i++) {
		struct vm_image_copy *copy = vm_image_copy(node.image, i);
		struct output_rank *mine = copy->out;

		for (int s = 0; mine && s < 2; s++)
			if (goes_at_once(&mine->line[s], s))
				line_end(copy, &mine->line[s], s, RESCUE_NS);
	}
	lock_give();
}

bool output_failed(void)
{
	return out.failed;
}

bool output_active(void)
{
	return out.active;
}

int output_stream(const FILE *file)
{
	if (!out.active || !file)
		return 0;
	return file == out.stream[0] ? 1 : file == out.stream[1] ? 2 : 0;
}

static bool is_pipe(int fd)
{
	struct stat about;

	return !fstat(fd, &about) && S_ISFIFO(about.st_mode);
}

/* What the processes of this host share, if there are several. */
static void outlet_find(const struct vm_job *job)
{
	int fd = vm_standard_handed(job->outlet);
	struct vm_outlet *shared = fd < 0 ? NULL : vm_outlet_open(fd);

	if (fd >= 0)
		close(fd);
	if (shared)
		out.outlet = shared;
	out.shared = shared != NULL;
	out.pid = node.pid;
}

int output_start(const struct vm_job *job)
{
	cookie_io_functions_t functions = { .write = stream_write };

	if (job->ranks == 1 && !job->label && !job->output_dir)
		return 0;
	out.label = job->label;
	if ((job->output_dir &&
	     output_files_make(&out.files, job->output_dir, job->ranks)) ||
	    pthread_atfork(fork_begin, fork_parent, fork_child))
		return -VMPI_EIO;
	for (int i = 0; i < 2; i++) {
		out.stream[i] = fopencookie(&out.stream[i], "w", functions);
		if (!out.stream[i]) {
			vm_log(VM_ERROR, "no memory for the ranks' output");
			return -VMPI_EIO;
		}
		setvbuf(out.stream[i], NULL, _IONBF, 0);
	}
	stdout = out.stream[0];
	stderr = out.stream[1];
	outlet_find(job);
	out.one_place = vm_standard_one_place();
	out.gathered.pieces = job->nodes > 1 && (is_pipe(STDOUT_FILENO) ||
						 is_pipe(STDERR_FILENO));
	out.active = true;
	return 0;
}

void output_end(struct vm_image_copy *copy)
{
	struct output_rank *mine = copy->out;

	output_flush(copy);
	lock_take();
	copy->out = NULL;
	lock_give();
	free(mine);
}

/* The thread that looks after what is due may still be there. */
void output_stop(void)
{
	lock_take();
	for (int i = 0; out.active && i < node.ranks; i++) {
		free(vm_image_copy(node.image, i)->out);
		vm_image_copy(node.image, i)->out = NULL;
	}
	free(out.files.directory);
	out.files.directory = NULL;
	lock_give();
}
