/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call of libfabric that this layer makes, as one table.
 *
 * The fabric calls through it, so that tests can substitute another network:
 * one in memory that refuses, delays and loses peers, or the real one with
 * injected faults.  Meanings and results are libfabric's own.
 */
#ifndef FABRIC_OFI_FI_H
#define FABRIC_OFI_FI_H

#include <stdbool.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

/* The version of the interface that this is written to; newer libraries keep
 * it. */
#define VM_FI_API FI_VERSION(1, 17)

struct vm_fi {
	/* Setting up. */
	int (*getinfo)(const char *node, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info); /* or NULL */
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric);
	int (*domain)(struct fid_fabric *fabric, struct fi_info *info,
		      struct fid_domain **domain);
	int (*av_open)(struct fid_domain *domain, struct fi_av_attr *attr,
		       struct fid_av **av);
	int (*cq_open)(struct fid_domain *domain, struct fi_cq_attr *attr,
		       struct fid_cq **cq);
	int (*endpoint)(struct fid_domain *domain, struct fi_info *info,
			struct fid_ep **ep);
	int (*ep_bind)(struct fid_ep *ep, struct fid *fid, uint64_t flags);
	int (*enable)(struct fid_ep *ep);
	int (*getname)(struct fid_ep *ep, void *address, size_t *bytes);
	int (*av_insert)(struct fid_av *av, const void *address,
			 fi_addr_t *handle);
	int (*close)(struct fid *fid);
	/* Messages. */
	ssize_t (*recv)(struct fid_ep *ep, void *buffer, size_t bytes,
			void *desc, void *context);
	ssize_t (*sendv)(struct fid_ep *ep, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t to,
			 void *context);
	ssize_t (*inject)(struct fid_ep *ep, const void *buffer, size_t bytes,
			  fi_addr_t to);
	/* Remote memory. */
	int (*mr_reg)(struct fid_domain *domain, const void *base, size_t bytes,
		      uint64_t access, uint64_t key, struct fid_mr **mr);
	int (*mr_enable)(struct fid_mr *mr, struct fid_ep *ep);
	uint64_t (*mr_key)(struct fid_mr *mr);
	void *(*mr_desc)(struct fid_mr *mr);
	ssize_t (*readmsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			   uint64_t flags);
	ssize_t (*writemsg)(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags);
	/* Progress. */
	ssize_t (*cq_read)(struct fid_cq *cq, struct fi_cq_data_entry *entries,
			   size_t count);
	ssize_t (*cq_readerr)(struct fid_cq *cq, struct fi_cq_err_entry *entry);
	ssize_t (*cq_sread)(struct fid_cq *cq, struct fi_cq_data_entry *entry,
			    int timeout_ms);
	/* Of FI_WAIT_FD, and of FI_WAIT_POLLFD. */
	int (*cq_fd)(struct fid_cq *cq, int *fd);
	int (*cq_fds)(struct fid_cq *cq, struct fi_wait_pollfd *fds);
	int (*trywait)(struct fid_fabric *fabric, struct fid_cq *cq);
};

/* The real libfabric, once it is loaded. */
extern const struct vm_fi vm_fi_real;

/* Loads libfabric; idempotent, one thread.  -VMPI_ENOTSUP, logged. */
int vm_fi_load(void);

/* Whether an error (positive) says that a connection was lost, or could not be
 * made, and no more. */
bool vm_fi_lost(int error);

/* The text of an error of libfabric (positive or negative). */
const char *vm_fi_text(int error);

#endif
