/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A socket is looked at more and more rarely while others run: who connects two
 * jobs has time.
 */
#include "mpi/comm/talk.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "core/comm/p2p.h"
#include "core/local/req.h"
#include "core/rank/rank.h"
#include "core/rank/wait.h"

#define WAIT_NS_MIN 10000u
#define WAIT_NS_MAX 2000000u
#define YIELDS 16
#define BLOB_MAX ((uint64_t)1 << 32)

void vm_blob_put(struct vm_blob *blob, const void *data, size_t bytes)
{
	if (blob->bytes + bytes > blob->room && !blob->failed) {
		size_t room = 2 * (blob->bytes + bytes);
		char *more = realloc(blob->data, room);

		blob->failed = !more;
		if (more) {
			blob->data = more;
			blob->room = room;
		}
	}
	if (blob->failed)
		return;
	memcpy(blob->data + blob->bytes, data, bytes);
	blob->bytes += bytes;
}

void vm_blob_free(struct vm_blob *blob)
{
	free(blob->data);
	*blob = (struct vm_blob){ 0 };
}

bool vm_blob_get(const struct vm_blob *blob, size_t *at, void *data,
		 size_t bytes)
{
	if (blob->failed || bytes > blob->bytes - *at)
		return false;
	memcpy(data, blob->data + *at, bytes);
	*at += bytes;
	return true;
}

/* Makes it so long; what is in it is overwritten next. */
static bool blob_size(struct vm_blob *blob, uint64_t bytes)
{
	vm_blob_free(blob);
	if (bytes <= BLOB_MAX)
		blob->data = malloc(bytes ? (size_t)bytes : 1);
	blob->failed = !blob->data;
	blob->bytes = blob->room = blob->failed ? 0 : (size_t)bytes;
	return !blob->failed;
}

int vm_blob_send(struct vm_rank *to, struct vm_env env,
		 const struct vm_blob *blob)
{
	uint64_t bytes = blob->bytes;
	struct vm_data head = vm_data_bytes(&bytes, sizeof(bytes));
	struct vm_data data = vm_data_bytes(blob->data, blob->bytes);
	int rc = blob->failed ? -VMPI_ENOMEM : 0;

	if (!rc)
		rc = vm_send(to, env, &head, VM_SEND_STANDARD);
	return rc ? rc : vm_send(to, env, &data, VM_SEND_STANDARD);
}

int vm_blob_recv(struct vm_env env, struct vm_blob *blob)
{
	uint64_t bytes = 0;
	struct vm_data head = vm_data_bytes(&bytes, sizeof(bytes));
	struct vm_data data;
	int rc = vm_recv(env, &head, NULL);

	if (rc)
		return rc;
	if (!blob_size(blob, bytes))
		return -VMPI_ENOMEM;
	data = vm_data_bytes(blob->data, blob->bytes);
	return vm_recv(env, &data, NULL);
}

void vm_look_wait(unsigned looks, uint64_t *ns)
{
	struct vm_rank *rank = vm_wait_begin(VM_EXPORT_OTHER);

	if (!*ns)
		*ns = WAIT_NS_MIN;
	if (looks < YIELDS)
		vm_ult_yield();
	else
		vm_ult_sleep(*ns);
	vm_wait_end(rank);
	if (looks >= YIELDS && *ns < WAIT_NS_MAX)
		*ns *= 2;
}

/* Lets others run until the descriptor is ready, or the time `until_ns` has come
 * (0: never): 1, 0: it has come, or -1: it is no open descriptor. */
static int fd_wait(int fd, short events, uint64_t until_ns)
{
	struct pollfd ready = { .fd = fd, .events = events };
	uint64_t ns = 0;

	/* poll() waits for ever for a negative one. */
	for (unsigned looks = 0; fd >= 0; looks++) {
		int n = poll(&ready, 1, 0);

		if (n > 0)
			return ready.revents & POLLNVAL ? -1 : 1;
		if (n < 0 && errno != EINTR)
			return -1;
		if (until_ns && vm_clock_ns() >= until_ns)
			return 0;
		vm_look_wait(looks, &ns);
	}
	return -1;
}

/* Bytes that go one way. */
struct way {
	char *at;
	size_t left;
};

/* Moves what can be moved now; false: the other end is closed. */
static bool way_move(int fd, struct way *way, bool out)
{
	ssize_t n = out ? send(fd, way->at, way->left,
			       MSG_DONTWAIT | MSG_NOSIGNAL) :
			  recv(fd, way->at, way->left, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	way->at += n;
	way->left -= (size_t)n;
	return true;
}

/* Both ways at a time: neither side may wait for the other one to read. */
static bool ways_pass(int fd, struct way *out, struct way *in)
{
	while (out->left || in->left) {
		short events = (short)((out->left ? POLLOUT : 0) |
				       (in->left ? POLLIN : 0));

		if (fd_wait(fd, events, 0) < 0 ||
		    (out->left && !way_move(fd, out, true)) ||
		    (in->left && !way_move(fd, in, false)))
			return false;
	}
	return true;
}

bool vm_fd_pass(int fd, void *data, size_t bytes, bool out, uint64_t until_ns)
{
	struct way way = { data, bytes };

	while (way.left)
		if (fd_wait(fd, out ? POLLOUT : POLLIN, until_ns) <= 0 ||
		    !way_move(fd, &way, out))
			return false;
	return true;
}

static int socket_talk(int fd, const struct vm_blob *mine,
		       struct vm_blob *theirs)
{
	uint64_t bytes[2] = { mine->bytes, 0 };
	struct way out = { (char *)&bytes[0], sizeof(bytes[0]) };
	struct way in = { (char *)&bytes[1], sizeof(bytes[1]) };

	if (!ways_pass(fd, &out, &in))
		return -VMPI_EPEER;
	if (!blob_size(theirs, bytes[1]))
		return -VMPI_ENOMEM;
	out = (struct way){ mine->data, mine->bytes };
	in = (struct way){ theirs->data, theirs->bytes };
	return ways_pass(fd, &out, &in) ? 0 : -VMPI_EPEER;
}

static int messages_talk(const struct vm_talk *talk, const struct vm_blob *mine,
			 struct vm_blob *theirs)
{
	uint64_t bytes = mine->bytes;
	struct vm_data head = vm_data_bytes(&bytes, sizeof(bytes));
	struct vm_data data = vm_data_bytes(mine->data, mine->bytes);
	struct vm_req *reqs[2] = { NULL, NULL };
	vmpi_status status;
	int rc, sent = 0;

	rc = vm_isend(talk->other, talk->to, &head, VM_SEND_STANDARD, &reqs[0]);
	if (!rc)
		rc = vm_isend(talk->other, talk->to, &data, VM_SEND_STANDARD,
			      &reqs[1]);
	if (!rc)
		rc = vm_blob_recv(talk->from, theirs);
	for (int i = 0; i < 2; i++) {
		if (!reqs[i])
			continue;
		vm_req_await(&reqs[i], 1, 1);
		sent = vm_req_finish(reqs[i], &status);
		rc = rc ? rc : sent;
	}
	return rc;
}

int vm_talk(const struct vm_talk *talk, const struct vm_blob *mine,
	    struct vm_blob *theirs)
{
	if (mine->failed)
		return -VMPI_ENOMEM;
	return talk->fd >= 0 ? socket_talk(talk->fd, mine, theirs) :
			       messages_talk(talk, mine, theirs);
}
