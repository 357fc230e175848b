/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening the network's objects, each needed by the next.
 */
#include "fabric/ofi/endpoint.h"

/* Opens the queue of events, with a descriptor to wait for if the provider
 * can. */
static int cq_open(struct vm_endpoint *end, const struct vm_fi *fi,
		   size_t events)
{
	struct fi_cq_attr attr = { .size = events,
				   .format = FI_CQ_FORMAT_DATA,
				   .wait_obj = FI_WAIT_FD };
	int rc = fi->cq_open(end->domain, &attr, &end->cq);

	if (rc) {
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
		rc = cq_open(end, fi, events);
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
