/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric with nothing around it.
 */
#include "raw_end.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "events.h"
#include "fabric/packet/vars.h"

struct end end;

_Noreturn void die(const char *what, int error)
{
	fprintf(stderr, "raw_fabric: %s: %s\n", what, vm_fi_text(error));
	_exit(1);
}

void give(const void *bytes, size_t count)
{
	if (send(end.socket, bytes, count, MSG_NOSIGNAL) != (ssize_t)count)
		die("socket", errno);
}

void take(void *bytes, size_t count)
{
	if (recv(end.socket, bytes, count, MSG_WAITALL) != (ssize_t)count)
		die("socket", errno);
}

void poll_once(void)
{
	int error = events_count(end.cq, &end.received, &end.sent);

	if (error)
		die("events", error);
}

void receive(char *to, size_t bytes)
{
	ssize_t rc;

	while ((rc = vm_fi_real.recv(end.ep, to, bytes, end.desc,
				     &end.in[end.posted % CONTEXTS])) ==
	       -FI_EAGAIN)
		poll_once();
	if (rc)
		die("receive", (int)-rc);
	end.posted++;
}

void post_send(char *from, size_t bytes, uint64_t number)
{
	struct iovec iov = { from, bytes };
	bool inject = bytes <= end.select.info->tx_attr->inject_size;
	ssize_t rc;

	do {
		rc = inject ? vm_fi_real.inject(end.ep, from, bytes, end.peer) :
			      vm_fi_real.sendv(end.ep, &iov, &end.desc, 1,
					       end.peer,
					       &end.out[number % CONTEXTS]);
		if (rc == -FI_EAGAIN)
			poll_once();
	} while (rc == -FI_EAGAIN);
	if (rc)
		die("send", (int)-rc);
	if (inject)
		end.sent++;
}

void sent_wait(uint64_t until)
{
	while (end.sent < until)
		poll_once();
}

ssize_t post_rma(size_t at, size_t bytes, bool write, uint64_t number)
{
	struct iovec iov = { end.memory + at, bytes };
	struct fi_rma_iov remote = { end.address + at, bytes, end.key };
	struct fi_msg_rma msg = { .msg_iov = &iov,
				  .desc = &end.desc,
				  .iov_count = 1,
				  .addr = end.peer,
				  .rma_iov = &remote,
				  .rma_iov_count = 1,
				  .context = &end.out[number % CONTEXTS] };

	/* A plain completion of a write only says that a socket has it. */
	return write ? vm_fi_real.writemsg(end.ep, &msg,
					   FI_COMPLETION |
						   FI_DELIVERY_COMPLETE) :
		       vm_fi_real.readmsg(end.ep, &msg, FI_COMPLETION);
}

/* The queue of events and the endpoint, each on top of the one before. */
static int endpoint_open(const struct vm_fi *fi, struct fid_domain *domain,
			 struct fid_av *av)
{
	struct fi_cq_attr attr = { .size = 1024,
				   .format = FI_CQ_FORMAT_DATA,
				   .wait_obj = end.wait ? FI_WAIT_FD :
							  FI_WAIT_NONE };
	int rc = fi->cq_open(domain, &attr, &end.cq);

	if (rc == 0)
		rc = fi->endpoint(domain, end.select.info, &end.ep);
	if (rc == 0)
		rc = fi->ep_bind(end.ep, &av->fid, 0);
	if (rc == 0)
		rc = fi->ep_bind(end.ep, &end.cq->fid, FI_TRANSMIT | FI_RECV);
	return rc ? rc : fi->enable(end.ep);
}

static int memory_open(const struct vm_fi *fi, struct fid_domain *domain)
{
	size_t bytes = BYTES_MAX + NOTE_BYTES * NOTES;
	int rc = fi->mr_reg(domain, end.memory, bytes,
			    FI_SEND | FI_RECV | FI_READ | FI_WRITE |
				    FI_REMOTE_READ | FI_REMOTE_WRITE,
			    77, &end.mr);

	if (rc)
		return rc;
	end.notes = end.memory + BYTES_MAX;
	end.desc = fi->mr_desc(end.mr);
	return 0;
}

/* Each learns where the other one is, and its memory. */
static void exchange(const struct vm_fi *fi, struct fid_av *av)
{
	unsigned char name[256] = { 0 };
	size_t bytes = sizeof(name);
	uint64_t region[2] = { 0, fi->mr_key(end.mr) };
	int rc = fi->getname(end.ep, name, &bytes);

	if (rc)
		die("address", -rc);
	give(name, bytes);
	take(name, bytes);
	if (fi->av_insert(av, name, &end.peer) != 1)
		die("address", FI_EINVAL);
	if (end.select.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		region[0] = (uint64_t)(uintptr_t)end.memory;
	give(region, sizeof(region));
	take(region, sizeof(region));
	end.address = region[0];
	end.key = region[1];
}

void end_open(void)
{
	const struct vm_fi *fi = &vm_fi_real;
	struct fi_av_attr attr = { .type = FI_AV_TABLE };
	struct fid_fabric *fabric = NULL;
	struct fid_domain *domain = NULL;
	struct fid_av *av = NULL;
	size_t bytes = BYTES_MAX + ((size_t)2 << 20);
	int rc;

	end.memory = aligned_alloc((size_t)2 << 20, bytes);
	if (!end.memory)
		die("memory", ENOMEM);
	madvise(end.memory, bytes, MADV_HUGEPAGE);
	memset(end.memory, 0, bytes);
	if (vm_fi_load() < 0 ||
	    vm_select_init(&end.select, fi,
			   &(struct vm_wish){ .provider = fabric_cvar.provider,
					      .interface =
						      fabric_cvar.interface,
					      .one_host = true }) < 0)
		_exit(1);
	rc = fi->fabric(end.select.info->fabric_attr, &fabric);
	if (rc == 0)
		rc = fi->domain(fabric, end.select.info, &domain);
	if (rc == 0)
		rc = fi->av_open(domain, &attr, &av);
	if (rc == 0)
		rc = endpoint_open(fi, domain, av);
	if (rc == 0)
		rc = memory_open(fi, domain);
	if (rc)
		die("libfabric", -rc);
	exchange(fi, av);
}
