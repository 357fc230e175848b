/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults in the table of libfabric's calls, for a node program in which it
 * stands before the real one (the linker's --wrap).
 *
 * FAULT=SITE:NTH:KIND in the environment of process FAULT_PROCESS (by PMI-1; 1)
 * makes the NTH call of that function fail; the file FAULT_DONE then exists.
 */
#include "fabric/ofi/fi.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Kinds: `error`, `nomem` and `again` (AGAIN_CALLS times) are results; `late`:
 * the call, or what it begins, takes LATE_MS longer; `failed`: what it begins
 * ends with an error; `twice`: and that is reported once more; `lost`: all connections are cut; `die`: SIGKILL; `few`: the
 * provider has room for few operations only (getinfo).
 */
#define KINDS(X) \
	X(error) \
	X(nomem) X(again) X(late) X(failed) X(twice) X(lost) X(die) X(few)
#define AGAIN_CALLS 500
#define LATE_MS 200
#define FEW 4
#define HELD_MAX 64

enum kind {
#define KIND(name) KIND_##name,
	KINDS(KIND)
#undef KIND
		KIND_COUNT
};

static const char *const kind_names[] = {
#define KIND(name) #name,
	KINDS(KIND)
#undef KIND
};

/* The table, without its name: "vm_fi_real" is ours. */
extern const struct vm_fi __real_vm_fi_real;
#define REAL __real_vm_fi_real

static struct {
	char site[32];
	unsigned nth;
	enum kind kind;
	_Atomic unsigned calls; /* of the site */
} fault;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What is wanted of completions; under the lock. */
static struct {
	void *context; /* of the operation; NULL: none */
	bool fails;    /* else it is late */
} wanted;

static struct {
	struct fi_cq_data_entry entry;
	uint64_t due_ns;
	struct fid_cq *cq;
} held;

static struct {
	struct fid_cq *cq;
	void *context;
	uint64_t flags;
	unsigned due;
} failure;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Before the process forgets its place in the job. */
static __attribute__((constructor)) void fault_read(void)
{
	const char *text = getenv("FAULT"), *rank = getenv("PMI_RANK");
	const char *process = getenv("FAULT_PROCESS");
	char kind[32];

	if (!text || !rank || strcmp(rank, process ? process : "1"))
		return;
	if (sscanf(text, "%31[a-z_]:%u:%31[a-z]", fault.site, &fault.nth,
		   kind) != 3) {
		fprintf(stderr, "FAULT=%s: SITE:NTH:KIND is needed\n", text);
		_exit(2);
	}
	while (fault.kind < KIND_COUNT && strcmp(kind_names[fault.kind], kind))
		fault.kind++;
	if (fault.kind == KIND_COUNT) {
		fprintf(stderr, "FAULT=%s: there is no such kind\n", text);
		_exit(2);
	}
}

static void done(void)
{
	const char *path = getenv("FAULT_DONE");
	int fd = path ? open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
}

/* Cuts all connections of TCP, which are the network's. */
static void connections_cut(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		struct sockaddr_storage peer;
		socklen_t bytes = sizeof(peer);

		if (getpeername(fd, (struct sockaddr *)&peer, &bytes) == 0 &&
		    (peer.ss_family == AF_INET || peer.ss_family == AF_INET6))
			shutdown(fd, SHUT_RDWR);
	}
}

/*
 * Counts a call of the site; true: it is to fail, by the kind.  What concerns
 * no result is done here.
 */
static bool strikes(const char *site)
{
	const struct timespec moment = { .tv_nsec = LATE_MS * 1000000L };
	unsigned call;

	if (strcmp(site, fault.site))
		return false;
	call = atomic_fetch_add(&fault.calls, 1) + 1;
	if (call < fault.nth ||
	    call >= fault.nth + (fault.kind == KIND_again ? AGAIN_CALLS : 1))
		return false;
	if (call == fault.nth)
		done();
	switch (fault.kind) {
	case KIND_lost:
		connections_cut();
		return false;
	case KIND_die:
		kill(getpid(), SIGKILL);
		pause();
		return false;
	case KIND_late:
		/* The node program's own one would switch to another rank. */
		syscall(SYS_nanosleep, &moment, NULL);
		return false;
	default:
		return true;
	}
}

/* The result of a call that fails. */
static int result(void)
{
	return fault.kind == KIND_nomem ? -FI_ENOMEM :
	       fault.kind == KIND_again ? -FI_EAGAIN :
					  -FI_EIO;
}

static void want(void *context, bool fails)
{
	pthread_mutex_lock(&lock);
	wanted.context = context;
	wanted.fails = fails;
	pthread_mutex_unlock(&lock);
}

/*
 * An operation that is to begin: 0: let it, else the result.  It may be made to
 * end late or with an error, instead of delaying the call.
 */
static ssize_t begins(const char *site, void *context, bool *skip)
{
	static _Atomic bool provoked;

	*skip = false;
	/* That is called after a failure only. */
	if (!strcmp(fault.site, "cq_readerr") && strcmp(site, "recv") &&
	    !atomic_exchange(&provoked, true)) {
		want(context, true);
		return 0;
	}
	if (!strcmp(site, fault.site) &&
	    (fault.kind == KIND_late || fault.kind == KIND_failed ||
	     fault.kind == KIND_twice)) {
		if (atomic_fetch_add(&fault.calls, 1) + 1 == fault.nth)
			want(context, fault.kind != KIND_late);
		return 0;
	}
	*skip = strikes(site);
	return *skip ? result() : 0;
}

/* Whether an event is held back, or becomes an error; under the lock. */
static bool event_takes(struct fid_cq *cq, const struct fi_cq_data_entry *entry)
{
	if (!wanted.context || entry->op_context != wanted.context)
		return false;
	wanted.context = NULL;
	if (strcmp(fault.site, "cq_readerr"))
		done();
	if (wanted.fails) {
		failure.cq = cq;
		failure.context = entry->op_context;
		failure.flags = entry->flags;
		failure.due = fault.kind == KIND_twice ? 2 : 1;
	} else {
		held.cq = cq;
		held.entry = *entry;
		held.due_ns = now_ns() + LATE_MS * UINT64_C(1000000);
	}
	return true;
}

/* What is due by itself: 0: nothing, else the result of a read. */
static ssize_t due_take(struct fid_cq *cq, struct fi_cq_data_entry *entries)
{
	if (failure.due && failure.cq == cq)
		return -FI_EAVAIL;
	if (held.cq != cq)
		return 0;
	/* Arrivals stay in order. */
	if (now_ns() < held.due_ns)
		return held.entry.flags & FI_RECV ? -FI_EAGAIN : 0;
	held.cq = NULL;
	entries[0] = held.entry;
	return 1;
}

static ssize_t events_filter(struct fid_cq *cq,
			     struct fi_cq_data_entry *entries, ssize_t n)
{
	ssize_t kept = 0;

	for (ssize_t i = 0; i < n; i++)
		if (!event_takes(cq, &entries[i]))
			entries[kept++] = entries[i];
	if (kept || n <= 0)
		return n <= 0 ? n : kept;
	return failure.due && failure.cq == cq ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t f_cq_read(struct fid_cq *cq, struct fi_cq_data_entry *entries,
			 size_t count)
{
	ssize_t n;

	if (strikes("cq_read"))
		return result();
	pthread_mutex_lock(&lock);
	n = due_take(cq, entries);
	if (!n)
		n = events_filter(cq, entries,
				  REAL.cq_read(cq, entries,
					       wanted.context ? 1 : count));
	pthread_mutex_unlock(&lock);
	return n;
}

static ssize_t f_cq_sread(struct fid_cq *cq, struct fi_cq_data_entry *entry,
			  int timeout_ms)
{
	ssize_t n;

	if (strikes("cq_sread"))
		return result();
	pthread_mutex_lock(&lock);
	n = due_take(cq, entry);
	if (!n && held.cq == cq && timeout_ms > 1)
		timeout_ms = 1;
	pthread_mutex_unlock(&lock);
	if (n)
		return n;
	n = REAL.cq_sread(cq, entry, timeout_ms);
	pthread_mutex_lock(&lock);
	n = events_filter(cq, entry, n);
	pthread_mutex_unlock(&lock);
	return n;
}

static ssize_t f_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry)
{
	bool ours;

	if (strikes("cq_readerr"))
		return result();
	pthread_mutex_lock(&lock);
	ours = failure.due && failure.cq == cq;
	if (ours) {
		entry->op_context = failure.context;
		entry->flags = failure.flags;
		entry->err = FI_EIO;
		failure.due--;
	}
	pthread_mutex_unlock(&lock);
	return ours ? 1 : REAL.cq_readerr(cq, entry);
}

/* Somebody who sleeps on the descriptor would not see what is held here. */
static int f_trywait(struct fid_fabric *fabric, struct fid_cq *cq)
{
	bool due;

	if (strikes("trywait"))
		return result();
	pthread_mutex_lock(&lock);
	due = held.cq == cq || (failure.due && failure.cq == cq);
	pthread_mutex_unlock(&lock);
	return due ? -FI_EAGAIN : REAL.trywait(fabric, cq);
}

static ssize_t f_recv(struct fid_ep *ep, void *buffer, size_t bytes, void *desc,
		      void *context)
{
	bool skip;
	ssize_t rc = begins("recv", context, &skip);

	return skip ? rc : REAL.recv(ep, buffer, bytes, desc, context);
}

static ssize_t f_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
		       size_t count, fi_addr_t to, void *context)
{
	bool skip;
	ssize_t rc = begins("sendv", context, &skip);

	return skip ? rc : REAL.sendv(ep, iov, desc, count, to, context);
}

static ssize_t f_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			 uint64_t flags)
{
	bool skip;
	ssize_t rc = begins("readmsg", msg->context, &skip);

	return skip ? rc : REAL.readmsg(ep, msg, flags);
}

static ssize_t f_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			  uint64_t flags)
{
	bool skip;
	ssize_t rc = begins("writemsg", msg->context, &skip);

	return skip ? rc : REAL.writemsg(ep, msg, flags);
}

static int f_getinfo(const char *node, uint64_t flags,
		     const struct fi_info *hints, struct fi_info **info)
{
	bool struck = strikes("getinfo");
	int rc;

	if (struck && fault.kind != KIND_few)
		return result();
	rc = REAL.getinfo(node, flags, hints, info);
	for (struct fi_info *i = *info; !rc && fault.kind == KIND_few && i;
	     i = i->next) {
		i->tx_attr->size = FEW;
		i->rx_attr->size = FEW;
	}
	return rc;
}

static struct fi_info *f_dupinfo(const struct fi_info *info)
{
	return strikes("dupinfo") ? NULL : REAL.dupinfo(info);
}

static void f_freeinfo(struct fi_info *info)
{
	strikes("freeinfo");
	REAL.freeinfo(info);
}

static uint64_t f_mr_key(struct fid_mr *mr)
{
	return strikes("mr_key") ? FI_KEY_NOTAVAIL : REAL.mr_key(mr);
}

static void *f_mr_desc(struct fid_mr *mr)
{
	strikes("mr_desc");
	return REAL.mr_desc(mr);
}

/* Those that only return a result. */
#define PLAIN(X)                                                               \
	X(int, fabric, (struct fi_fabric_attr * a, struct fid_fabric * *b),    \
	  (a, b))                                                              \
	X(int, domain,                                                         \
	  (struct fid_fabric * a, struct fi_info * b, struct fid_domain * *c), \
	  (a, b, c))                                                           \
	X(int, av_open,                                                        \
	  (struct fid_domain * a, struct fi_av_attr * b, struct fid_av * *c),  \
	  (a, b, c))                                                           \
	X(int, cq_open,                                                        \
	  (struct fid_domain * a, struct fi_cq_attr * b, struct fid_cq * *c),  \
	  (a, b, c))                                                           \
	X(int, endpoint,                                                       \
	  (struct fid_domain * a, struct fi_info * b, struct fid_ep * *c),     \
	  (a, b, c))                                                           \
	X(int, ep_bind, (struct fid_ep * a, struct fid * b, uint64_t c),       \
	  (a, b, c))                                                           \
	X(int, enable, (struct fid_ep * a), (a))                               \
	X(int, getname, (struct fid_ep * a, void *b, size_t *c), (a, b, c))    \
	X(int, av_insert, (struct fid_av * a, const void *b, fi_addr_t *c),    \
	  (a, b, c))                                                           \
	X(int, close, (struct fid * a), (a))                                   \
	X(ssize_t, inject,                                                     \
	  (struct fid_ep * a, const void *b, size_t c, fi_addr_t d),           \
	  (a, b, c, d))                                                        \
	X(int, mr_reg,                                                         \
	  (struct fid_domain * a, const void *b, size_t c, uint64_t d,         \
	   uint64_t e, struct fid_mr **f),                                     \
	  (a, b, c, d, e, f))                                                  \
	X(int, mr_enable, (struct fid_mr * a, struct fid_ep * b), (a, b))      \
	X(int, cq_fd, (struct fid_cq * a, int *b), (a, b))                     \
	X(int, cq_fds, (struct fid_cq * a, struct fi_wait_pollfd * b), (a, b))

#define FUNCTION(type, name, parameters, arguments) \
	static type f_##name parameters             \
	{                                           \
		if (strikes(#name))                 \
			return result();            \
		return REAL.name arguments;         \
	}
PLAIN(FUNCTION)

#define ROW(type, name, parameters, arguments) .name = f_##name,
extern const struct vm_fi __wrap_vm_fi_real;
const struct vm_fi __wrap_vm_fi_real = {
	PLAIN(ROW).getinfo = f_getinfo,
	.freeinfo = f_freeinfo,
	.dupinfo = f_dupinfo,
	.recv = f_recv,
	.sendv = f_sendv,
	.mr_key = f_mr_key,
	.mr_desc = f_mr_desc,
	.readmsg = f_readmsg,
	.writemsg = f_writemsg,
	.cq_read = f_cq_read,
	.cq_readerr = f_cq_readerr,
	.cq_sread = f_cq_sread,
	.trywait = f_trywait,
};
