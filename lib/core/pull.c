/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three ways, as a table in the order of preference.
 */
#include "core/pull.h"

#include <string.h>

#include "core/engine.h"
#include "core/node.h"
#include "core/opid.h"
#include "core/req.h"

static int step_send(const struct vm_pull *pull, enum vm_packet_kind kind,
		     const struct vm_wire_step *step,
		     const struct vm_remote *memory)
{
	struct vm_send send = { .upper = step,
				.data = memory,
				.bytes = memory ? sizeof(*memory) : 0,
				.kind = (uint8_t)kind,
				.control = true };
	int rc = vm_port_send(pull->port, pull->origin.from, &send, NULL);

	return rc < 0 ? rc : 0;
}

/* Ends a pull that is in no table any more. */
static void pull_end(struct vm_pull *pull, int error)
{
	struct vm_req *req = pull->req;

	vm_pool_put(&vm_lane_self()->pull, pull);
	if (error)
		req->status.error = error;
	vm_req_complete(req);
}

/* The payload is here, or never will be: the sender may go on. */
static void pull_finish(struct vm_pull *pull, int error)
{
	vm_origin_end(&pull->origin, pull->port, error);
	pull_end(pull, error);
}

static bool wanted(enum vm_rndv rndv)
{
	int64_t choice = core_cvar.rndv_protocol;

	return choice == VM_RNDV_AUTO || choice == (int64_t)rndv;
}

static bool read_fits(const struct vm_pull *pull)
{
	return wanted(VM_RNDV_READ) && pull->origin.memory.key &&
	       !pull->req->data.layout;
}

static void read_done(struct vm_rma *rma, int error)
{
	pull_finish(vm_container_of(rma, struct vm_pull, rma), error);
}

static int read_start(struct vm_pull *pull)
{
	pull->rma = (struct vm_rma){ .done = read_done,
				     .to = pull->origin.from,
				     .remote = pull->origin.memory,
				     .local = pull->req->data.addr,
				     .bytes = pull->wanted };
	return vm_rma_read(pull->port, &pull->rma);
}

static bool write_fits(const struct vm_pull *pull)
{
	return wanted(VM_RNDV_WRITE) && pull->origin.memory.key &&
	       !pull->req->data.layout;
}

static int write_start(struct vm_pull *pull)
{
	struct vm_wire_step step = { .to = pull->origin.sender,
				     .bytes = pull->wanted };
	int rc = vm_mr_open(pull->port, &pull->mr, pull->req->data.addr,
			    pull->wanted, VM_MR_WRITE);

	if (rc)
		return rc;
	pull->id = vm_opid_new(&vm_node->pulls, pull);
	step.from = pull->id;
	rc = pull->id ?
		     step_send(pull, VM_PACKET_CTS, &step, &pull->mr.remote) :
		     -VMPI_ENOMEM;
	if (rc) {
		vm_opid_take(&vm_node->pulls, pull->id);
		vm_mr_close(&pull->mr);
		pull->mr.base = NULL;
	}
	return rc;
}

static bool always_fits(const struct vm_pull *pull)
{
	(void)pull;
	return true;
}

/* Lets the sender send up to a window beyond what is here. */
static int pipeline_grant(struct vm_pull *pull)
{
	struct vm_wire_step step = { .to = pull->origin.sender,
				     .from = pull->id };

	pull->granted = pull->received + (size_t)core_cvar.rndv_window;
	if (pull->granted > pull->wanted)
		pull->granted = pull->wanted;
	step.bytes = pull->granted;
	return step_send(pull, VM_PACKET_CTS, &step, NULL);
}

static int pipeline_start(struct vm_pull *pull)
{
	int rc;

	vm_cursor_init(&pull->cursor, &pull->req->data);
	pull->id = vm_opid_new(&vm_node->pulls, pull);
	if (!pull->id)
		return -VMPI_ENOMEM;
	rc = pipeline_grant(pull);
	if (rc)
		vm_opid_take(&vm_node->pulls, pull->id);
	return rc;
}

static const struct vm_protocol protocols[] = {
	{ "read", read_fits, read_start },
	{ "write", write_fits, write_start },
	{ "pipeline", always_fits, pipeline_start },
};

static void pull_begin(struct vm_pull *pull)
{
	const size_t count = sizeof(protocols) / sizeof(*protocols);
	int rc = -VMPI_ENOTSUP;

	for (size_t i = 0; i < count && rc; i++)
		if (protocols[i].fits(pull))
			rc = protocols[i].start(pull);
	if (rc)
		pull_finish(pull, rc);
}

void vm_pull_start(struct vm_req *req, const struct vm_env *env,
		   const struct vm_origin *origin, struct vm_port *port,
		   size_t bytes)
{
	struct vm_pull *pull = vm_pool_get(&vm_lane_self()->pull);

	req->status.source = env->source;
	req->status.tag = env->tag;
	req->status.bytes = bytes < req->data.bytes ? bytes : req->data.bytes;
	req->status.error = bytes > req->data.bytes ? -VMPI_ETRUNC : 0;
	if (!pull) {
		vm_origin_end(origin, port, -VMPI_ENOMEM);
		req->status.error = -VMPI_ENOMEM;
		vm_req_complete(req);
		return;
	}
	pull->req = req;
	pull->origin = *origin;
	pull->port = port;
	pull->wanted = req->status.bytes;
	pull->received = 0;
	pull->id = 0;
	pull->mr.base = NULL;
	if (pull->wanted)
		pull_begin(pull);
	else
		pull_finish(pull, 0);
}

static struct vm_pull *pull_find(const struct vm_pkt *pkt, uint64_t id)
{
	struct vm_pull *pull = vm_opid_find(&vm_node->pulls, id);

	return pull && pull->origin.from.process == pkt->process ? pull : NULL;
}

/* Puts a piece in its place; its bytes are not more than are missing. */
static void piece_land(struct vm_pull *pull, const char *bytes, size_t count)
{
	size_t n;
	char *to;

	pull->received += count;
	for (; count; bytes += n, count -= n) {
		n = vm_cursor_piece(&pull->cursor, &to, count);
		memcpy(to, bytes, n);
	}
}

void vm_pull_fragment(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_pull *pull = pull_find(pkt, step->to);
	int rc = 0;

	(void)port;
	if (!pull || pull->mr.base || step->bytes != pull->received ||
	    pkt->bytes > pull->granted - pull->received)
		return;
	piece_land(pull, pkt->data, pkt->bytes);
	if (pull->received < pull->wanted &&
	    (pull->granted == pull->wanted ||
	     pull->granted - pull->received >
		     (size_t)core_cvar.rndv_window / 2))
		return;
	if (pull->received < pull->wanted)
		rc = pipeline_grant(pull);
	if (rc || pull->received == pull->wanted)
		if (vm_opid_take(&vm_node->pulls, pull->id))
			pull_finish(pull, rc);
}

void vm_pull_written(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_pull *pull = pull_find(pkt, step->to);

	(void)port;
	if (!pull || !pull->mr.base)
		return;
	if (vm_opid_take(&vm_node->pulls, pull->id)) {
		vm_mr_close(&pull->mr);
		pull_end(pull, step->error);
	}
}

struct search {
	const struct vm_port *port;
	uint32_t process;
};

static uint64_t pull_comes_from(uint64_t id, void *op, void *arg)
{
	const struct vm_pull *pull = op;
	const struct search *search = arg;

	return pull->port == search->port &&
			       pull->origin.from.process == search->process ?
		       id :
		       0;
}

void vm_pull_down(struct vm_port *port, uint32_t process, int error)
{
	struct search search = { port, process };
	struct vm_pull *pull;
	uint64_t id;

	while ((id = vm_opid_each(&vm_node->pulls, pull_comes_from, &search))) {
		pull = vm_opid_take(&vm_node->pulls, id);
		if (!pull)
			continue;
		if (pull->mr.base)
			vm_mr_close(&pull->mr);
		pull_end(pull, error);
	}
}
