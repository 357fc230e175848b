/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real libfabric behind the table.
 *
 * Most of its calls are inline functions of its headers; these are their
 * addresses.  The few symbols that the library itself has are looked up when it
 * is loaded, in the version that the headers describe (VM_FI_VERSION).
 */
#include "fabric/ofi/fi.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "fabric/ofi/kernel_symbols.h"

#define LIBRARY "libfabric.so.1"

static struct {
	int (*getinfo)(uint32_t version, const char *node, const char *service,
		       uint64_t flags, const struct fi_info *hints,
		       struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		      void *context);
	const char *(*strerror)(int error);
} library;

static int look_up(void *handle, void *function, const char *name,
		   const char *version)
{
	void *symbol = dlvsym(handle, name, version);

	if (!symbol) {
		vm_log(VM_ERROR,
		       LIBRARY " is not the one vmpi was built with: "
			       "%s",
		       dlerror());
		return -VMPI_ENOTSUP;
	}
	memcpy(function, &symbol, sizeof(symbol));
	return 0;
}

/*
 * Some of the libraries behind libfabric catch SIGSEGV, SIGTERM and the like
 * when they are loaded or queried; the process keeps the handlers it had.  What
 * is sent to it meanwhile waits, since their handlers would end it without a
 * word.
 */
#define SIGNALS 32

struct signals {
	struct sigaction actions[SIGNALS];
	sigset_t mask;
};

static void signals_save(struct signals *saved)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved->mask);
	for (int i = 1; i < SIGNALS; i++)
		if (sigaction(i, NULL, &saved->actions[i]))
			saved->actions[i].sa_handler = SIG_ERR;
}

static void signals_restore(const struct signals *saved)
{
	for (int i = 1; i < SIGNALS; i++)
		if (i != SIGKILL && i != SIGSTOP &&
		    saved->actions[i].sa_handler != SIG_ERR)
			sigaction(i, &saved->actions[i], NULL);
	pthread_sigmask(SIG_SETMASK, &saved->mask, NULL);
}

int vm_fi_load(void)
{
	struct signals saved;
	void *handle;

	if (library.getinfo)
		return 0;
	signals_save(&saved);
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	signals_restore(&saved);
	if (!handle) {
		vm_log(VM_ERROR,
		       "processes that share no memory need libfabric: %s",
		       dlerror());
		return -VMPI_ENOTSUP;
	}
	vm_kernel_symbols_hide(handle);
	if (look_up(handle, &library.freeinfo, "fi_freeinfo", VM_FI_VERSION) <
		    0 ||
	    look_up(handle, &library.dupinfo, "fi_dupinfo", VM_FI_VERSION) <
		    0 ||
	    look_up(handle, &library.fabric, "fi_fabric", "FABRIC_1.1") < 0 ||
	    look_up(handle, &library.strerror, "fi_strerror", "FABRIC_1.0") < 0)
		return -VMPI_ENOTSUP;
	return look_up(handle, &library.getinfo, "fi_getinfo", VM_FI_VERSION);
}

bool vm_fi_lost(int error)
{
	static const int lost[] = {
		FI_ECANCELED, FI_ECONNABORTED, FI_ECONNREFUSED, FI_ECONNRESET,
		FI_EHOSTDOWN, FI_EHOSTUNREACH, FI_ENETUNREACH,	FI_ENOTCONN,
		FI_ESHUTDOWN, FI_ETIMEDOUT,    EPIPE,		ENETRESET,
	};

	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		if (error == lost[i])
			return true;
	return false;
}

const char *vm_fi_text(int error)
{
	if (error < 0)
		error = -error;
	return library.strerror ? library.strerror(error) : strerror(error);
}

static void real_freeinfo(struct fi_info *info)
{
	library.freeinfo(info);
}

static struct fi_info *real_dupinfo(const struct fi_info *info)
{
	return library.dupinfo(info);
}

static int real_getinfo(const char *node, uint64_t flags,
			const struct fi_info *hints, struct fi_info **info)
{
	struct signals saved;
	int rc;

	signals_save(&saved);
	rc = library.getinfo(VM_FI_API, node, NULL, flags, hints, info);
	signals_restore(&saved);
	return rc;
}

static int real_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric)
{
	return library.fabric(attr, fabric, NULL);
}

static int real_domain(struct fid_fabric *fabric, struct fi_info *info,
		       struct fid_domain **domain)
{
	return fi_domain(fabric, info, domain, NULL);
}

static int real_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av)
{
	return fi_av_open(domain, attr, av, NULL);
}

static int real_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
			struct fid_cq **cq)
{
	return fi_cq_open(domain, attr, cq, NULL);
}

static int real_endpoint(struct fid_domain *domain, struct fi_info *info,
			 struct fid_ep **ep)
{
	return fi_endpoint(domain, info, ep, NULL);
}

static int real_ep_bind(struct fid_ep *ep, struct fid *fid, uint64_t flags)
{
	return fi_ep_bind(ep, fid, flags);
}

static int real_enable(struct fid_ep *ep)
{
	return fi_enable(ep);
}

static int real_getname(struct fid_ep *ep, void *address, size_t *bytes)
{
	return fi_getname(&ep->fid, address, bytes);
}

static int real_av_insert(struct fid_av *av, const void *address,
			  fi_addr_t *handle)
{
	return fi_av_insert(av, address, 1, handle, 0, NULL);
}

static int real_close(struct fid *fid)
{
	return fi_close(fid);
}

static ssize_t real_recv(struct fid_ep *ep, void *buffer, size_t bytes,
			 void *desc, void *context)
{
	return fi_recv(ep, buffer, bytes, desc, FI_ADDR_UNSPEC, context);
}

static ssize_t real_sendv(struct fid_ep *ep, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t to,
			  void *context)
{
	if (count == 1)
		return fi_send(ep, iov->iov_base, iov->iov_len,
			       desc ? desc[0] : NULL, to, context);
	return fi_sendv(ep, iov, desc, count, to, context);
}

static ssize_t real_inject(struct fid_ep *ep, const void *buffer, size_t bytes,
			   fi_addr_t to)
{
	return fi_inject(ep, buffer, bytes, to);
}

static int real_mr_reg(struct fid_domain *domain, const void *base,
		       size_t bytes, uint64_t access, uint64_t key,
		       struct fid_mr **mr)
{
	return fi_mr_reg(domain, base, bytes, access, 0, key, 0, mr, NULL);
}

static int real_mr_enable(struct fid_mr *mr, struct fid_ep *ep)
{
	int rc = fi_mr_bind(mr, &ep->fid, 0);

	return rc ? rc : fi_mr_enable(mr);
}

static uint64_t real_mr_key(struct fid_mr *mr)
{
	return fi_mr_key(mr);
}

static void *real_mr_desc(struct fid_mr *mr)
{
	return fi_mr_desc(mr);
}

static ssize_t real_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return fi_readmsg(ep, msg, flags);
}

static ssize_t real_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			     uint64_t flags)
{
	return fi_writemsg(ep, msg, flags);
}

static ssize_t real_cq_read(struct fid_cq *cq, struct fi_cq_data_entry *entries,
			    size_t count)
{
	return fi_cq_read(cq, entries, count);
}

static ssize_t real_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry)
{
	return fi_cq_readerr(cq, entry, 0);
}

static ssize_t real_cq_sread(struct fid_cq *cq, struct fi_cq_data_entry *entry,
			     int timeout_ms)
{
	return fi_cq_sread(cq, entry, 1, NULL, timeout_ms);
}

static int real_cq_fd(struct fid_cq *cq, int *fd)
{
	return fi_control(&cq->fid, FI_GETWAIT, fd);
}

static int real_cq_fds(struct fid_cq *cq, struct fi_wait_pollfd *fds)
{
	return fi_control(&cq->fid, FI_GETWAIT, fds);
}

static int real_trywait(struct fid_fabric *fabric, struct fid_cq *cq)
{
	struct fid *fid = &cq->fid;

	return fi_trywait(fabric, &fid, 1);
}

const struct vm_fi vm_fi_real = {
	.getinfo = real_getinfo,
	.freeinfo = real_freeinfo,
	.dupinfo = real_dupinfo,
	.fabric = real_fabric,
	.domain = real_domain,
	.av_open = real_av_open,
	.cq_open = real_cq_open,
	.endpoint = real_endpoint,
	.ep_bind = real_ep_bind,
	.enable = real_enable,
	.getname = real_getname,
	.av_insert = real_av_insert,
	.close = real_close,
	.recv = real_recv,
	.sendv = real_sendv,
	.inject = real_inject,
	.mr_reg = real_mr_reg,
	.mr_enable = real_mr_enable,
	.mr_key = real_mr_key,
	.mr_desc = real_mr_desc,
	.readmsg = real_readmsg,
	.writemsg = real_writemsg,
	.cq_read = real_cq_read,
	.cq_readerr = real_cq_readerr,
	.cq_sread = real_cq_sread,
	.cq_fd = real_cq_fd,
	.cq_fds = real_cq_fds,
	.trywait = real_trywait,
};
