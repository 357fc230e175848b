/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening the network's objects, each needed by the next.
 */
#include "fabric/ofi/endpoint.h"

#include <string.h>

/* Whether there is no other provider below, whose descriptors come and go. */
static bool is_flat(const struct fi_info *info)
{
	const char *provider = info->fabric_attr->prov_name;

	return !strcmp(provider, "tcp") || !strcmp(provider, "net");
}

/*
 * Opens the queue of events, with descriptors to wait for if the provider can.
 * A single one would be an epoll of the network's epoll: each packet then costs
 * its sender a look at who waits for the outer one, also while nobody does.
 */
static int cq_open(struct vm_endpoint *end, const struct vm_fi *fi, bool flat,
		   size_t events)
{
	struct fi_cq_attr attr = { .size = events,
				   .format = FI_CQ_FORMAT_DATA,
				   .wait_obj = FI_WAIT_POLLFD };

	end->listed = flat && fi->cq_open(end->domain, &attr, &end->cq) == 0;
	if (end->listed)
		return 0;
	attr.wait_obj = FI_WAIT_FD;
	if (fi->cq_open(end->domain, &attr, &end->cq)) {
		attr.wait_obj = FI_WAIT_NONE;
		return fi->cq_open(end->domain, &attr, &end->cq);
	}
	if (fi->cq_fd(end->cq, &end->wait_fd))
		end->wait_fd = -1;
	return 0;
}

/* Binds the endpoint to its table and its queue.  libfabric's net faults when it
 * closes an endpoint that is not: such a one is left to the end of the process. */
static int endpoint_bind(struct vm_endpoint *end, const struct vm_fi *fi)
{
	int rc = fi->ep_bind(end->ep, &end->av->fid, 0);

	if (rc == 0)
		rc = fi->ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
	if (rc)
		end->ep = NULL;
	return rc;
}

int vm_endpoint_open(struct vm_endpoint *end, const struct vm_fi *fi,
		     struct fid_fabric *fabric, struct fi_info *info,
		     size_t events, const char **what)
{
	struct fi_av_attr av = { .type = info->domain_attr->av_type };
	int rc;

	if (av.type == FI_AV_UNSPEC)
		av.type = FI_AV_TABLE;
	*end = (struct vm_endpoint){ .wait_fd = -1 };
	*what = "domain";
	rc = fi->domain(fabric, info, &end->domain);
	if (rc == 0) {
		*what = "address table";
		rc = fi->av_open(end->domain, &av, &end->av);
	}
	if (rc == 0) {
		*what = "event queue";
		rc = cq_open(end, fi, is_flat(info), events);
	}
	if (rc == 0) {
		*what = "endpoint";
		rc = fi->endpoint(end->domain, info, &end->ep);
	}
	if (rc == 0)
		rc = endpoint_bind(end, fi);
	if (rc == 0)
		rc = fi->enable(end->ep);
	return rc;
}
