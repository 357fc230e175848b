/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints, queues and memory of the network in memory.  One mutex for all.
 */
#include "fake_fabric.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/err.h"

#define ENDPOINTS FAKE_ENDPOINTS
#define INJECT FAKE_INJECT

/* Something on its way: a message, a remote operation, a completion. */
struct event {
	struct vm_list link;
	unsigned delay;
	/* A message. */
	size_t bytes;
	char *data;
	/* A remote operation. */
	bool rma, write;
	void *local;
	uint64_t address, key;
	unsigned target;
	bool tells; /* the owner of the memory, of `notice` */
	uint64_t notice;
	/* Reported to the owner. */
	void *context;
	uint64_t flags;
	int error;
};

struct fake_cq {
	struct fid_cq fid;
	struct vm_list done, failed; /* events to be read */
};

struct fake_domain {
	struct fid_domain fid;
};

struct fake_av {
	struct fid_av fid;
};

struct fake_ep {
	struct fid_ep fid;
	unsigned number;
	bool dead, closed;
	struct fake_cq *cq;
	struct fake_domain *domain;
	struct vm_list posted;		    /* receives */
	struct vm_list from[ENDPOINTS + 1]; /* messages, last: strangers' */
	struct vm_list working;		    /* remote operations */
	struct vm_list sent;		    /* completions to come */
	unsigned outstanding;
};

struct fake_faults fake_faults;

static struct {
	pthread_mutex_t mutex;
	unsigned random, objects, endpoints;
	struct fake_ep *ep[ENDPOINTS];
} net = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
	pthread_mutex_lock(&net.mutex);
}

static void unlock(void)
{
	pthread_mutex_unlock(&net.mutex);
}

static unsigned dice(unsigned sides)
{
	net.random = net.random * 1103515245 + 12345;
	return sides ? (net.random >> 12) % sides : 0;
}

static bool happens(unsigned percent)
{
	return percent && dice(100) < percent;
}

static bool again(void)
{
	return dice(100) < fake_faults.again_percent;
}

static struct event *event_new(void *context, uint64_t flags)
{
	struct event *event = calloc(1, sizeof(*event));

	if (!event)
		abort();
	event->context = context;
	event->flags = flags;
	event->delay = dice(fake_faults.delay_max + 1);
	return event;
}

static void event_free(struct event *event)
{
	free(event->data);
	free(event);
}

static struct event *event_pop(struct vm_list *list)
{
	struct vm_list *link = vm_list_pop(list);

	return link ? vm_container_of(link, struct event, link) : NULL;
}

static void events_free(struct vm_list *list)
{
	struct event *event;

	while ((event = event_pop(list)))
		event_free(event);
}

void fake_seed(unsigned seed)
{
	memset(&fake_faults, 0, sizeof(fake_faults));
	net.random = seed;
	net.endpoints = 0;
}

void fake_objects_add(int count)
{
	net.objects += (unsigned)count;
}

unsigned fake_open_objects(void)
{
	return net.objects;
}

/* Objects. */
static int fake_domain_open(struct fid_fabric *fabric, struct fi_info *info,
			    struct fid_domain **domain)
{
	struct fake_domain *new = calloc(1, sizeof(*new));

	new->fid.fid.fclass = FI_CLASS_DOMAIN;
	*domain = &new->fid;
	net.objects++;
	return 0;
}

static int fake_av_open(struct fid_domain *domain, struct fi_av_attr *attr,
			struct fid_av **av)
{
	struct fake_av *new = calloc(1, sizeof(*new));

	new->fid.fid.fclass = FI_CLASS_AV;
	*av = &new->fid;
	net.objects++;
	return 0;
}

static int fake_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
			struct fid_cq **cq)
{
	struct fake_cq *new;

	if (attr->wait_obj != FI_WAIT_NONE)
		return -FI_ENOSYS;
	new = calloc(1, sizeof(*new));
	new->fid.fid.fclass = FI_CLASS_CQ;
	vm_list_init(&new->done);
	vm_list_init(&new->failed);
	*cq = &new->fid;
	net.objects++;
	return 0;
}

static int fake_endpoint(struct fid_domain *domain, struct fi_info *info,
			 struct fid_ep **ep)
{
	struct fake_ep *new = calloc(1, sizeof(*new));

	new->fid.fid.fclass = FI_CLASS_EP;
	new->domain = (struct fake_domain *)domain;
	vm_list_init(&new->posted);
	vm_list_init(&new->working);
	vm_list_init(&new->sent);
	for (int i = 0; i <= ENDPOINTS; i++)
		vm_list_init(&new->from[i]);
	lock();
	new->number = net.endpoints++;
	net.ep[new->number] = new;
	net.objects++;
	unlock();
	*ep = &new->fid;
	return 0;
}

static int fake_ep_bind(struct fid_ep *ep, struct fid *fid, uint64_t flags)
{
	if (fid->fclass == FI_CLASS_CQ)
		((struct fake_ep *)ep)->cq = (struct fake_cq *)fid;
	return 0;
}

static int fake_enable(struct fid_ep *ep)
{
	return ((struct fake_ep *)ep)->cq ? 0 : -FI_ENOCQ;
}

static int fake_getname(struct fid_ep *ep, void *address, size_t *bytes)
{
	uint32_t number = ((struct fake_ep *)ep)->number;

	memcpy(address, &number, sizeof(number));
	*bytes = sizeof(number);
	return 0;
}

static int fake_av_insert(struct fid_av *av, const void *address,
			  fi_addr_t *handle)
{
	uint32_t number;

	memcpy(&number, address, sizeof(number));
	if (number >= net.endpoints)
		return -FI_EINVAL;
	*handle = number;
	return 1;
}

static void ep_close(struct fake_ep *ep)
{
	net.ep[ep->number] = NULL;
	events_free(&ep->posted);
	events_free(&ep->working);
	events_free(&ep->sent);
	for (int i = 0; i <= ENDPOINTS; i++)
		events_free(&ep->from[i]);
}

static int fake_close(struct fid *fid)
{
	lock();
	if (fid->fclass == FI_CLASS_EP)
		ep_close((struct fake_ep *)fid);
	if (fid->fclass == FI_CLASS_MR)
		fake_mr_remove(fid);
	if (fid->fclass == FI_CLASS_CQ) {
		events_free(&((struct fake_cq *)fid)->done);
		events_free(&((struct fake_cq *)fid)->failed);
	}
	net.objects--;
	unlock();
	free(fid);
	return 0;
}

/* Messages. */
static ssize_t fake_recv(struct fid_ep *fid, void *buffer, size_t bytes,
			 void *desc, void *context)
{
	struct fake_ep *ep = (struct fake_ep *)fid;
	struct event *event;

	lock();
	if (fake_faults.local_mr && !desc) {
		unlock();
		return -FI_EINVAL;
	}
	event = event_new(context, FI_RECV | FI_MSG);
	event->local = buffer;
	event->bytes = bytes;
	vm_list_append(&ep->posted, &event->link);
	unlock();
	return 0;
}

/* Puts a message on its way; where to is known to live. */
static void message_put(struct fake_ep *to, unsigned from, struct event *event)
{
	if (fake_faults.lose_next || happens(fake_faults.lose_percent)) {
		fake_faults.lose_next = false;
		event_free(event);
		return;
	}
	if (fake_faults.flip_next) {
		int bit = fake_faults.flip_next;

		event->data[bit / 8] ^= (char)(1 << bit % 8);
		fake_faults.flip_next = 0;
	}
	if (fake_faults.double_next || happens(fake_faults.double_percent)) {
		struct event *twin = event_new(NULL, 0);

		fake_faults.double_next = false;
		twin->bytes = event->bytes;
		twin->data = malloc(event->bytes);
		memcpy(twin->data, event->data, event->bytes);
		vm_list_append(&to->from[from], &twin->link);
	}
	vm_list_append(&to->from[from], &event->link);
}

static struct fake_ep *reachable(fi_addr_t to)
{
	struct fake_ep *ep = to < ENDPOINTS ? net.ep[to] : NULL;

	return ep && !ep->dead ? ep : NULL;
}

static bool refused(const struct fake_ep *ep, fi_addr_t to)
{
	return ep->dead || again() || !reachable(to) ||
	       ep->outstanding >= (fake_faults.small ? 8 : 256);
}

static ssize_t fake_sendv(struct fid_ep *fid, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t to,
			  void *context)
{
	struct fake_ep *ep = (struct fake_ep *)fid;
	struct event *event, *end;
	size_t at = 0;

	lock();
	if (refused(ep, to)) {
		unlock();
		return -FI_EAGAIN;
	}
	if (fake_faults.local_mr && (count > 1 || !desc[0])) {
		unlock();
		return -FI_EINVAL;
	}
	event = event_new(NULL, 0);
	for (size_t i = 0; i < count; i++)
		event->bytes += iov[i].iov_len;
	event->data = malloc(event->bytes + 1);
	for (size_t i = 0; i < count; at += iov[i++].iov_len)
		memcpy(event->data + at, iov[i].iov_base, iov[i].iov_len);
	end = event_new(context, FI_SEND | FI_MSG);
	end->target = (unsigned)to;
	if (fake_faults.fail_next || happens(fake_faults.fail_percent)) {
		fake_faults.fail_next = false;
		end->error = FI_ECANCELED;
	}
	if (end->error && dice(2))
		event_free(event);
	else
		message_put(net.ep[to], ep->number, event);
	if (happens(fake_faults.send_stuck_percent)) {
		event_free(end);
	} else {
		vm_list_append(&ep->sent, &end->link);
		ep->outstanding++;
	}
	unlock();
	return 0;
}

static ssize_t fake_inject_send(struct fid_ep *fid, const void *buffer,
				size_t bytes, fi_addr_t to)
{
	struct fake_ep *ep = (struct fake_ep *)fid;
	struct event *event;

	lock();
	if (bytes > INJECT || refused(ep, to)) {
		unlock();
		return bytes > INJECT ? -FI_EINVAL : -FI_EAGAIN;
	}
	event = event_new(NULL, 0);
	event->bytes = bytes;
	event->data = malloc(bytes + 1);
	memcpy(event->data, buffer, bytes);
	message_put(net.ep[to], ep->number, event);
	unlock();
	return 0;
}

void fake_inject(unsigned endpoint, const void *bytes, size_t count)
{
	struct event *event;

	lock();
	event = event_new(NULL, 0);
	event->bytes = count;
	event->data = malloc(count + 1);
	memcpy(event->data, bytes, count);
	vm_list_append(&net.ep[endpoint]->from[ENDPOINTS], &event->link);
	unlock();
}

void fake_kill(unsigned endpoint)
{
	struct fake_ep *ep = net.ep[endpoint];

	lock();
	ep->dead = true;
	for (int i = 0; i <= ENDPOINTS; i++)
		events_free(&ep->from[i]);
	for (unsigned i = 0; i < net.endpoints; i++)
		if (net.ep[i])
			events_free(&net.ep[i]->from[endpoint]);
	unlock();
}

/* Memory. */
static int fake_mr_reg(struct fid_domain *domain, const void *base,
		       size_t bytes, uint64_t access, uint64_t key,
		       struct fid_mr **mr)
{
	lock();
	*mr = fake_mr_add(domain, base, bytes, access, key);
	net.objects++;
	unlock();
	return 0;
}

static ssize_t rma_post(struct fid_ep *fid, const struct fi_msg_rma *msg,
			bool write, bool tells)
{
	struct fake_ep *ep = (struct fake_ep *)fid;
	struct event *event;

	lock();
	if (refused(ep, msg->addr)) {
		unlock();
		return -FI_EAGAIN;
	}
	if (fake_faults.local_mr && !(msg->desc && msg->desc[0])) {
		unlock();
		return -FI_EINVAL;
	}
	event = event_new(msg->context, (write ? FI_WRITE : FI_READ) | FI_RMA);
	event->rma = true;
	event->write = write;
	event->tells = tells;
	event->notice = msg->data;
	event->local = msg->msg_iov->iov_base;
	event->bytes = msg->msg_iov->iov_len;
	event->address = msg->rma_iov->addr;
	event->key = msg->rma_iov->key;
	event->target = (unsigned)msg->addr;
	vm_list_append(&ep->working, &event->link);
	ep->outstanding++;
	unlock();
	return 0;
}

static ssize_t fake_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return rma_post(ep, msg, false, false);
}

static ssize_t fake_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg,
			     uint64_t flags)
{
	return flags & FI_DELIVERY_COMPLETE ?
		       rma_post(ep, msg, true, flags & FI_REMOTE_CQ_DATA) :
		       -FI_EINVAL;
}

/* The destination of a remote operation, or NULL. */
static char *mr_find(const struct fake_ep *target, const struct event *event)
{
	return fake_mr_find(&target->domain->fid, event->key, event->address,
			    event->bytes,
			    event->write ? FI_REMOTE_WRITE : FI_REMOTE_READ);
}

/* Progress. */
static bool ripe(struct event *event)
{
	if (event->delay == 0)
		return true;
	event->delay--;
	return false;
}

/* The oldest message of a source, if its time has come. */
static void message_move(struct fake_ep *ep, unsigned from)
{
	struct vm_list *list = &ep->from[from];
	struct event *event, *receive;

	if (vm_list_empty(list) || vm_list_empty(&ep->posted))
		return;
	event = vm_container_of(list->next, struct event, link);
	if (!ripe(event))
		return;
	vm_list_remove(&event->link);
	receive = event_pop(&ep->posted);
	if (event->bytes > receive->bytes) {
		receive->error = FI_ETRUNC;
		vm_list_append(&ep->cq->failed, &receive->link);
	} else {
		memcpy(receive->local, event->data, event->bytes);
		receive->bytes = event->bytes;
		vm_list_append(&ep->cq->done, &receive->link);
	}
	event_free(event);
}

/* The data of a write are there, and what it tells. */
static void rma_wrote(const struct fake_ep *target, char *there,
		      const struct event *event)
{
	struct event *told;

	memcpy(there, event->local, event->bytes);
	if (!event->tells)
		return;
	told = event_new(NULL, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	told->notice = event->notice;
	vm_list_append(&target->cq->done, &told->link);
}

static void rma_move(struct fake_ep *ep, struct event *event)
{
	struct fake_ep *target = reachable(event->target);
	char *there = target ? mr_find(target, event) : NULL;

	if (happens(fake_faults.rma_stuck_percent)) {
		event_free(event);
		return;
	}
	if (there && happens(fake_faults.rma_fail_percent)) {
		if (event->write && dice(2))
			rma_wrote(target, there, event);
		event->error = FI_ECANCELED;
		vm_list_append(&ep->cq->failed, &event->link);
		return;
	}
	if (!there) {
		event->error = target ? FI_EACCES : FI_ECANCELED;
		vm_list_append(&ep->cq->failed, &event->link);
		return;
	}
	if (event->write)
		rma_wrote(target, there, event);
	else
		memcpy(event->local, there, event->bytes);
	vm_list_append(&ep->cq->done, &event->link);
}

/* Whether a write that tells would come before others to the same place. */
static bool overtakes(const struct fake_ep *ep, const struct event *event)
{
	struct vm_list *link;

	if (!event->tells)
		return false;
	for (link = event->link.prev; link != &ep->working; link = link->prev)
		if (vm_container_of(link, struct event, link)->target ==
		    event->target)
			return true;
	return false;
}

static void ep_move(struct fake_ep *ep)
{
	unsigned first = dice(ENDPOINTS + 1);
	struct vm_list *link;

	for (unsigned i = 0; i <= ENDPOINTS; i++)
		message_move(ep, (first + i) % (ENDPOINTS + 1));
	for (link = ep->working.next; link != &ep->working;) {
		struct event *event = vm_container_of(link, struct event, link);

		link = link->next;
		if (!ripe(event) || overtakes(ep, event))
			continue;
		vm_list_remove(&event->link);
		ep->outstanding--;
		/* Operations with a dead peer never end, every other time. */
		if (!reachable(event->target) && dice(2))
			event_free(event);
		else
			rma_move(ep, event);
	}
	for (link = ep->sent.next; link != &ep->sent;) {
		struct event *event = vm_container_of(link, struct event, link);

		link = link->next;
		if (!ripe(event))
			continue;
		vm_list_remove(&event->link);
		ep->outstanding--;
		if (event->error)
			vm_list_append(&ep->cq->failed, &event->link);
		else if (!reachable(event->target))
			event_free(event);
		else
			vm_list_append(&ep->cq->done, &event->link);
	}
}

static ssize_t fake_cq_read(struct fid_cq *fid,
			    struct fi_cq_data_entry *entries, size_t count)
{
	struct fake_cq *cq = (struct fake_cq *)fid;
	struct event *event;
	size_t n = 0;

	lock();
	for (unsigned i = 0; i < net.endpoints; i++)
		if (net.ep[i] && net.ep[i]->cq == cq && !net.ep[i]->dead)
			ep_move(net.ep[i]);
	if (!vm_list_empty(&cq->failed) || again()) {
		unlock();
		return vm_list_empty(&cq->failed) ? -FI_EAGAIN : -FI_EAVAIL;
	}
	while (n < count && (event = event_pop(&cq->done))) {
		entries[n++] = (struct fi_cq_data_entry){
			.op_context = event->context,
			.flags = event->flags,
			.len = event->bytes,
			.data = event->notice,
		};
		event_free(event);
	}
	unlock();
	return n ? (ssize_t)n : -FI_EAGAIN;
}

static ssize_t fake_cq_readerr(struct fid_cq *fid,
			       struct fi_cq_err_entry *entry)
{
	struct fake_cq *cq = (struct fake_cq *)fid;
	struct event *event;

	lock();
	event = event_pop(&cq->failed);
	unlock();
	if (!event)
		return -FI_EAGAIN;
	entry->op_context = event->context;
	entry->flags = event->flags;
	entry->err = event->error;
	event_free(event);
	return 1;
}

/* Nothing can be waited for. */
static ssize_t fake_cq_sread(struct fid_cq *cq, struct fi_cq_data_entry *entry,
			     int timeout_ms)
{
	return fake_cq_read(cq, entry, 1);
}

static int fake_cq_fd(struct fid_cq *cq, int *fd)
{
	return -FI_ENOSYS;
}

static int fake_trywait(struct fid_fabric *fabric, struct fid_cq *cq)
{
	return -FI_ENOSYS;
}

const struct vm_fi fake_fabric = {
	.getinfo = fake_getinfo,
	.freeinfo = fake_freeinfo,
	.dupinfo = fake_dupinfo,
	.fabric = fake_fabric_open,
	.domain = fake_domain_open,
	.av_open = fake_av_open,
	.cq_open = fake_cq_open,
	.endpoint = fake_endpoint,
	.ep_bind = fake_ep_bind,
	.enable = fake_enable,
	.getname = fake_getname,
	.av_insert = fake_av_insert,
	.close = fake_close,
	.recv = fake_recv,
	.sendv = fake_sendv,
	.inject = fake_inject_send,
	.mr_reg = fake_mr_reg,
	.mr_enable = fake_mr_enable,
	.mr_key = fake_mr_key,
	.mr_desc = fake_mr_desc,
	.readmsg = fake_readmsg,
	.writemsg = fake_writemsg,
	.cq_read = fake_cq_read,
	.cq_readerr = fake_cq_readerr,
	.cq_sread = fake_cq_sread,
	.cq_fd = fake_cq_fd,
	.trywait = fake_trywait,
};
