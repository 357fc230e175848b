/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An endpoint of the network with all that it needs, each a domain of its own.
 */
#ifndef FABRIC_OFI_ENDPOINT_H
#define FABRIC_OFI_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "fabric/ofi/fi.h"

struct vm_endpoint {
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int wait_fd; /* to wait for events; -1: the provider has none, or ... */
	bool listed; /* ... several, which vm_fi.cq_fds tells */
};

/* Opens all, for so many events at a time; 0, or an error of libfabric in *what;
 * what has been opened by then is in *end. */
int vm_endpoint_open(struct vm_endpoint *end, const struct vm_fi *fi,
		     struct fid_fabric *fabric, struct fi_info *info,
		     size_t events, const char **what);

#endif
