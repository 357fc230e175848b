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
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/flush.h"
#include "base/log.h"
#include "base/standard.h"
#include "boot/job.h"
#include "node.h"
#include "real.h"
#include "report/cli.h"

#define GATHER_BYTES 65536
#define LINE_BYTES_MAX (16 << 20) /* longer lines leave in pieces */
#define NOBODY (-1)

/* One stream of one rank. */
struct line {
	char *text;
	size_t used, room;
	int fd;	       /* a file of this rank, or -1 */
	bool redirect; /* by the program itself */
};

struct output_rank {
	struct line line[2];
};

static struct {
	pthread_mutex_t lock; /* guards all below and every line */
	bool active, label;
	char *directory;
	int digits; /* of the largest rank's number */
	int files, files_max;
	FILE *stream[2];
	/* Whose line without an end was written last to what all ranks share;
	 * both streams may go to one place. */
	int unended[2];
	bool one_place;
	bool failed; /* something could not be written, which was said */
	/* Other processes write to the same pipes: what leaves at once is what
	 * a pipe takes at once. */
	bool pieces;
	size_t used;
	char gathered[GATHER_BYTES];
} out = { .lock = PTHREAD_MUTEX_INITIALIZER, .unended = { NOBODY, NOBODY } };

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

static void fork_child(void)
{
	lock_give();
	if (node.image)
		vm_image_fork_end(node.image, true);
}

static void path_make(char path[PATH_MAX], int rank, int stream)
{
	snprintf(path, PATH_MAX, "%s/rank.%0*d.%s", out.directory, out.digits,
		 rank, stream ? "err" : "out");
}

/* The destination of a stream; *close_it: close it after this write.  -1 with
 * errno. */
static int line_fd(struct vm_image_copy *copy, struct line *line, int stream,
		   bool *close_it)
{
	char path[PATH_MAX];
	int fd;

	*close_it = false;
	if (line->fd >= 0)
		return line->fd;
	if (!out.directory)
		return stream + 1;
	path_make(path, copy->number, stream);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return -1;
	*close_it = out.files >= out.files_max;
	if (!*close_it) {
		line->fd = fd;
		out.files++;
	}
	return fd;
}

/* How much of the bytes leaves at once: whole lines.  A line that a pipe does not
 * take at once leaves alone. */
static size_t piece(const char *bytes, size_t count)
{
	const char *newline;

	if (!out.pieces || count <= PIPE_BUF)
		return count;
	newline = memrchr(bytes, '\n', PIPE_BUF);
	if (!newline)
		newline = memchr(bytes + PIPE_BUF, '\n', count - PIPE_BUF);
	return newline ? (size_t)(newline - bytes) + 1 : count;
}

static int pieces_flush(int fd, const char *bytes, size_t count)
{
	while (count) {
		size_t n = piece(bytes, count);

		if (vm_flush_bytes(fd, bytes, n))
			return -1;
		bytes += n;
		count -= n;
	}
	return 0;
}

static int gather_flush(int fd)
{
	int rc = pieces_flush(fd, out.gathered, out.used);

	out.used = 0;
	return rc;
}

/* All that is gathered but the beginning of a line, if there are whole lines. */
static int gather_flush_lines(int fd)
{
	const char *newline = memrchr(out.gathered, '\n', out.used);
	size_t whole = newline ? (size_t)(newline - out.gathered) + 1 :
				 out.used;
	int rc = pieces_flush(fd, out.gathered, whole);

	out.used -= whole;
	memmove(out.gathered, out.gathered + whole, out.used);
	return rc;
}

static int gather(int fd, const char *bytes, size_t count)
{
	int rc = 0;

	while (count && !rc) {
		size_t n = sizeof(out.gathered) - out.used;

		if (n > count)
			n = count;
		memcpy(out.gathered + out.used, bytes, n);
		out.used += n;
		bytes += n;
		count -= n;
		if (out.used == sizeof(out.gathered))
			rc = gather_flush_lines(fd);
	}
	return rc;
}

/* Whether the ranks share what this line is written to. */
static bool is_shared(const struct line *line)
{
	return !out.directory && !line->redirect;
}

static int *unended(int stream)
{
	return &out.unended[out.one_place ? 0 : stream];
}

/* Gathers what the line holds and then `count` bytes, line by line, with labels
 * if they are to have any. */
static int lines_gather(int fd, struct line *line, const char *bytes,
			size_t count, const char *label, bool begun)
{
	int rc = 0;

	while ((count || line->used) && !rc) {
		const char *newline = memchr(bytes, '\n', count);
		size_t n = newline ? (size_t)(newline - bytes) + 1 : count;

		if (!begun)
			rc = gather(fd, label, strlen(label));
		if (!rc)
			rc = gather(fd, line->text, line->used);
		if (!rc)
			rc = gather(fd, bytes, n);
		begun = false;
		line->used = 0;
		bytes += n;
		count -= n;
	}
	return rc;
}

/* As lines_gather(), in what all ranks share: on a line of its own, unless it is
 * the rank's line that has begun there. */
static int shared_gather(int fd, struct line *line, int rank, int stream,
			 const char *bytes, size_t count)
{
	int *last = unended(stream), rc = 0;
	bool begun = *last == rank;
	char label[32] = "";

	if (*last != NOBODY && !begun)
		rc = gather(fd, "\n", 1);
	if (out.label)
		snprintf(label, sizeof(label), "[%d] ", rank);
	*last = count && bytes[count - 1] == '\n' ? NOBODY : rank;
	return rc ? rc : lines_gather(fd, line, bytes, count, label, begun);
}

/* Says once that output is lost: the rank that is told may not care, or have
 * ended.  What it has closed itself it does not miss. */
static void failure_say(struct vm_image_copy *copy, const struct line *line,
			int stream)
{
	char path[PATH_MAX];
	int error = errno;

	if (out.failed || line->redirect || error == EBADF)
		return;
	out.failed = true;
	if (out.directory)
		path_make(path, copy->number, stream);
	else
		vm_standard_name(path, stream + 1);
	vm_cli_say("%s: %s; output of the job is lost", path, strerror(error));
	errno = error;
}

/* Writes what the line holds and then `count` bytes. */
static int lines_write(struct vm_image_copy *copy, struct line *line,
		       int stream, const char *bytes, size_t count)
{
	bool close_it = false;
	int fd = line_fd(copy, line, stream, &close_it), rc = -1;

	if (fd >= 0 && is_shared(line))
		rc = shared_gather(fd, line, copy->number, stream, bytes,
				   count);
	else if (fd >= 0)
		rc = lines_gather(fd, line, bytes, count, "", false);
	if (fd >= 0 && gather_flush(fd))
		rc = -1;
	if (rc)
		failure_say(copy, line, stream);
	if (close_it)
		close(fd);
	return rc;
}

static void line_free(struct line *line)
{
	free(line->text);
	line->text = NULL;
	line->room = 0;
}

/* Keeps the beginning of a line.  False: out of memory. */
static bool line_keep(struct line *line, const char *bytes, size_t count)
{
	if (line->used + count > line->room) {
		size_t more = line->room > 4096 ? line->room : 256;
		size_t room = (line->used + count + more - 1) / more * more;
		char *text = realloc(line->text, room);

		if (!text)
			return false;
		line->text = text;
		line->room = room;
	}
	if (count)
		memcpy(line->text + line->used, bytes, count);
	line->used += count;
	return true;
}

static struct output_rank *output_rank(struct vm_image_copy *copy)
{
	struct output_rank *mine = copy->out;

	if (mine)
		return mine;
	mine = calloc(1, sizeof(*mine));
	if (mine)
		mine->line[0].fd = mine->line[1].fd = -1;
	copy->out = mine;
	return mine;
}

static ssize_t locked_write(struct vm_image_copy *copy, int stream,
			    const char *bytes, size_t count)
{
	struct output_rank *mine = output_rank(copy);
	const char *newline = memrchr(bytes, '\n', count);
	size_t whole = newline ? (size_t)(newline - bytes) + 1 : 0;
	struct line *line;

	if (!mine) {
		errno = ENOMEM;
		return -1;
	}
	line = &mine->line[stream];
	if (whole && lines_write(copy, line, stream, bytes, whole))
		return -1;
	if (whole && line->room > GATHER_BYTES)
		line_free(line);
	if (line->used + (count - whole) >= LINE_BYTES_MAX ||
	    !line_keep(line, bytes + whole, count - whole)) {
		if (lines_write(copy, line, stream, bytes + whole,
				count - whole))
			return -1;
	}
	return (ssize_t)count;
}

ssize_t output_write(struct vm_image_copy *copy, int fd, const char *bytes,
		     size_t count)
{
	ssize_t n;

	lock_take();
	n = locked_write(copy, fd - 1, bytes, count);
	lock_give();
	return n;
}

/* What is left when a rank ends: a line with a label gets its end. */
static void line_end(struct vm_image_copy *copy, struct line *line, int stream)
{
	bool begun = is_shared(line) && *unended(stream) == copy->number;

	if (is_shared(line) && out.label && (line->used || begun))
		lines_write(copy, line, stream, "\n", 1);
	else if (line->used)
		lines_write(copy, line, stream, "", 0);
}

void output_flush(struct vm_image_copy *copy)
{
	struct output_rank *mine;

	lock_take();
	mine = copy->out;
	for (int i = 0; mine && i < 2; i++) {
		struct line *line = &mine->line[i];

		line_end(copy, line, i);
		line_free(line);
		if (line->fd >= 0) {
			close(line->fd);
			out.files--;
		}
		line->fd = -1;
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
		out.files++;
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
		return output_write(copy, fd, bytes, count);
	return vm_flush_bytes(fd, bytes, count) ? 0 : (ssize_t)count;
}

/* Nobody may read any more, and the end of the process waits for nobody. */
static bool goes_at_once(const struct line *line, int stream)
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
				line_end(copy, &mine->line[s], s);
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

/* All files exist from the start, and what an earlier job left in them does
 * not stay. */
static int files_make(int ranks)
{
	char path[PATH_MAX];
	struct rlimit limit;

	if (mkdir(out.directory, 0777) && errno != EEXIST) {
		vm_log(VM_ERROR, "%s: %s", out.directory, strerror(errno));
		return -VMPI_EIO;
	}
	for (int rank = 0; rank < ranks; rank++)
		for (int stream = 0; stream < 2; stream++) {
			int fd;

			path_make(path, rank, stream);
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
			if (fd < 0) {
				vm_log(VM_ERROR, "%s: %s", path,
				       strerror(errno));
				return -VMPI_EIO;
			}
			close(fd);
		}
	/* Leave half of what is allowed to the program. */
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		out.files_max = limit.rlim_max > 131072 ?
					65536 :
					(int)(limit.rlim_max / 2);
	}
	return 0;
}

/* A rank may change the directory of the process: the path becomes absolute. */
static int directory_take(const char *directory)
{
	char *here = directory[0] == '/' ? strdup("") : getcwd(NULL, 0);

	if (!here || asprintf(&out.directory, "%s%s%s", here, *here ? "/" : "",
			      directory) < 0) {
		vm_log(VM_ERROR, "%s: %s", directory, strerror(errno));
		free(here);
		return -VMPI_EIO;
	}
	free(here);
	return 0;
}

static bool is_pipe(int fd)
{
	struct stat about;

	return !fstat(fd, &about) && S_ISFIFO(about.st_mode);
}

/* Whether standard output and error are one file. */
static bool is_one_place(void)
{
	struct stat output, error;

	return !fstat(STDOUT_FILENO, &output) &&
	       !fstat(STDERR_FILENO, &error) && output.st_dev == error.st_dev &&
	       output.st_ino == error.st_ino;
}

int output_start(const struct vm_job *job)
{
	cookie_io_functions_t functions = { .write = stream_write };
	int rc = 0;

	if (job->ranks == 1 && !job->label && !job->output_dir)
		return 0;
	out.label = job->label;
	for (int rest = job->ranks - 1; rest || !out.digits; rest /= 10)
		out.digits++;
	if (job->output_dir) {
		rc = directory_take(job->output_dir);
		if (!rc)
			rc = files_make(job->ranks);
	}
	if (!rc)
		rc = pthread_atfork(fork_begin, fork_parent, fork_child);
	if (rc)
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
	out.one_place = is_one_place();
	out.pieces = job->nodes > 1 &&
		     (is_pipe(STDOUT_FILENO) || is_pipe(STDERR_FILENO));
	out.active = true;
	return 0;
}

void output_end(struct vm_image_copy *copy)
{
	struct output_rank *mine = copy->out;

	output_flush(copy);
	lock_take();
	for (int i = 0; mine && i < 2; i++) {
		if (mine->line[i].fd >= 0) {
			close(mine->line[i].fd);
			out.files--;
		}
		free(mine->line[i].text);
	}
	copy->out = NULL;
	lock_give();
	free(mine);
}

void output_stop(void)
{
	for (int i = 0; out.active && i < node.ranks; i++)
		free(vm_image_copy(node.image, i)->out);
	free(out.directory);
	out.directory = NULL;
}
