/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three ways, as a table in the order of preference.
 */
#include "core/remote/rndv_recv.h"

#include <string.h>

#include "core/local/engine.h"
#include "core/local/observe.h"
#include "core/instrument/overlap_events.h"
#include "core/rank/state.h"
#include "base/id_table.h"
#include "core/remote/agent.h"
#include "core/remote/peer_stats.h"
#include "core/remote/remote.h"
#include "core/local/req.h"

/* Ends a pull that is in no table any more. */
static void pull_end(struct vm_rndv_recv *pull, int error)
{
	struct vm_req *req = pull->req;

	if (error)
		vm_overlap_events_forget(&pull->xfer);
	else
		vm_overlap_events_end(&pull->xfer);
	vm_pool_put(&vm_thread_cache_self()->pull, pull);
	vm_peer_stats_inflight(-1);
	vm_agent_end();
	if (req->rank)
		vm_observe_fetched(req);
	if (error)
		req->status.error = error;
	vm_req_complete(req);
}

/* The payload is here, or never will be: the sender may go on. */
static void pull_finish(struct vm_rndv_recv *pull, int error)
{
	vm_origin_end(&pull->origin, pull->port, error);
	pull_end(pull, error);
}

/* The settings of the receiving rank. */
static const struct core_cvars *cvars_of(const struct vm_rndv_recv *pull)
{
	const struct vm_rank *rank = pull->req->rank;

	return rank ? vm_rank_cvars(rank) : &core_cvar;
}

static bool is_wanted(const struct vm_rndv_recv *pull, enum vm_rndv rndv)
{
	return pull->choice == VM_RNDV_AUTO || pull->choice == rndv;
}

static bool read_fits(const struct vm_rndv_recv *pull)
{
	return is_wanted(pull, VM_RNDV_READ) && pull->origin.memory.key &&
	       !pull->req->data.layout;
}

static void read_done(struct vm_rma *rma, int error)
{
	pull_finish(vm_container_of(rma, struct vm_rndv_recv, rma), error);
}

/* The one transfer of the whole payload begins. */
static void pull_event_begin(struct vm_rndv_recv *pull)
{
	vm_overlap_events_begin(&pull->xfer, pull->req->rank, VM_SIDE_RECEIVE,
				VM_PATH_FABRIC, pull->wanted);
}

/* All pieces are there: VM_PENDING, and the pull has ended; or -VMPI_ENOTSUP. */
static int share_end(struct vm_rndv_recv *pull)
{
	int rc = vm_share_end(&pull->share);

	pull->shares = false;
	if (rc == -VMPI_ENOTSUP)
		return rc;
	pull_finish(pull, rc);
	return VM_PENDING;
}

/* The sender is late with its pieces: it will say when they are there, unless
 * they are by now.  As share_end(). */
static int share_wait(struct vm_rndv_recv *pull)
{
	struct vm_share share = pull->share;
	uint64_t id;
	bool alive;

	pull->shares = true;
	id = vm_id_table_new(&vm_node->rndv_recvs, pull, &pull->id);
	if (!id) {
		while (vm_fabric_peer_alive(vm_node->fabric, share.process) &&
		       !vm_share_wait(&share))
			vm_cpu_yield();
		return share_end(pull);
	}
	/* From here on others may end it. */
	alive = vm_fabric_peer_alive(vm_node->fabric, share.process);
	if (!vm_share_await(&share, id) && alive)
		return VM_PENDING;
	if (!vm_id_table_take(&vm_node->rndv_recvs, id))
		return VM_PENDING;
	if (!alive)
		pull->share.error = -VMPI_EPEER;
	return share_end(pull);
}

/* Has the sender take part: as share_end(). */
static int share_move(struct vm_rndv_recv *pull)
{
	struct vm_wire_step step = { .to = pull->origin.sender,
				     .bytes = pull->wanted,
				     .number = pull->share.number };
	struct vm_remote place = {
		.address = (uint64_t)(uintptr_t)pull->here.iov_base
	};

	pull_event_begin(pull);
	/* One that does not hear of it takes nothing. */
	vm_remote_step(pull->port, pull->origin.from, VM_PACKET_SHARE, &step,
		       &place, sizeof(place));
	return vm_share_move(&pull->share) ? share_end(pull) : share_wait(pull);
}

/* Whether the sender is to take part: not if it may need this core. */
static bool share_begin(struct vm_rndv_recv *pull)
{
	pull->here = (struct iovec){ pull->req->data.addr, pull->wanted };
	pull->there =
		(struct iovec){ (void *)(uintptr_t)pull->origin.memory.address,
				pull->wanted };
	pull->share = (struct vm_share){
		.port = pull->port,
		.process = pull->origin.from.process,
		.load = vm_load_one(&pull->here, &pull->there),
	};
	return !vm_sched_contended() &&
	       vm_share_begin(&pull->share, pull->origin.from.port);
}

static int read_start(struct vm_rndv_recv *pull)
{
	int rc;

	if (share_begin(pull))
		return share_move(pull);
	pull_event_begin(pull);
	rc = vm_share_read(&pull->share);
	if (rc != -VMPI_ENOTSUP) {
		pull_finish(pull, rc);
		return VM_PENDING;
	}
	pull->rma = (struct vm_rma){ .done = read_done,
				     .to = pull->origin.from,
				     .remote = pull->origin.memory,
				     .local = pull->req->data.addr,
				     .bytes = pull->wanted };
	return vm_rma_read(pull->port, &pull->rma);
}

static bool write_fits(const struct vm_rndv_recv *pull)
{
	return is_wanted(pull, VM_RNDV_WRITE) && pull->origin.memory.key &&
	       !pull->req->data.layout &&
	       vm_fabric_moves(vm_node->fabric, pull->origin.from.process);
}

/*
 * Gives the pull a number and asks for the payload.  From the number on others
 * may end it with its request: VM_PENDING, also when somebody has; or an error,
 * and it is the caller's again.
 */
static int pull_ask(struct vm_rndv_recv *pull, const struct vm_remote *place)
{
	struct vm_wire_step step = { .to = pull->origin.sender,
				     .bytes = pull->granted };
	struct vm_port *port = pull->port;
	struct vm_to to = pull->origin.from;
	int rc;

	step.from = vm_id_table_new(&vm_node->rndv_recvs, pull, &pull->id);
	if (!step.from)
		return -VMPI_ENOMEM;
	rc = vm_remote_step(port, to, VM_PACKET_CTS, &step, place,
			    place ? sizeof(*place) : 0);
	return rc && vm_id_table_take(&vm_node->rndv_recvs, step.from) ?
		       rc :
		       VM_PENDING;
}

static int write_start(struct vm_rndv_recv *pull)
{
	struct vm_remote place;
	int rc = vm_mr_open(pull->port, &pull->mr, pull->origin.from.process,
			    pull->req->data.addr, pull->wanted, VM_MR_WRITE);

	if (rc)
		return rc;
	pull->writes = true;
	pull->granted = pull->wanted;
	place = pull->mr.remote;
	pull_event_begin(pull);
	rc = pull_ask(pull, &place);
	if (rc < 0) {
		vm_mr_close(&pull->mr);
		pull->writes = false;
	}
	return rc;
}

static bool always_fits(const struct vm_rndv_recv *pull)
{
	(void)pull;
	return true;
}

/* The limit for the sender: a window beyond the bytes that have come, and never
 * less than it was told before. */
static size_t pipeline_limit(const struct vm_rndv_recv *pull)
{
	size_t window = (size_t)cvars_of(pull)->rndv_window;

	if (window > pull->wanted - pull->received)
		window = pull->wanted - pull->received;
	window += pull->received;
	return window > pull->granted ? window : pull->granted;
}

/*
 * Pieces from `from` on are asked for now.  Two such moments are kept; with
 * more under way the newer pieces are taken to have been asked for earlier,
 * which makes the bounds wider, not wrong.
 */
static void pull_event_granted(struct vm_rndv_recv *pull, size_t from)
{
	const struct vm_rank *rank = pull->req->rank;

	if (!vm_overlap_events_on() || !rank || !rank->overlap ||
	    pull->next_from)
		return;
	vm_overlap_mark(rank->overlap, from ? &pull->xfer_next : &pull->xfer,
			vm_clock_ticks(), VM_SIDE_RECEIVE, VM_PATH_FABRIC);
	pull->next_from = from;
}

/* A piece is here. */
static void pull_event_piece(struct vm_rndv_recv *pull, size_t bytes)
{
	if (!vm_overlap_events_on())
		return;
	if (pull->next_from && pull->received >= pull->next_from) {
		pull->xfer = pull->xfer_next;
		pull->next_from = 0;
	}
	vm_overlap_part(&pull->xfer, vm_clock_ticks(), bytes);
}

static int pipeline_start(struct vm_rndv_recv *pull)
{
	vm_cursor_init(&pull->cursor, &pull->req->data);
	pull->granted = pipeline_limit(pull);
	pull_event_granted(pull, 0);
	return pull_ask(pull, NULL);
}

/* Under way: 0 or -VMPI_EPEER. */
static int pipeline_grant(struct vm_rndv_recv *pull)
{
	struct vm_wire_step step = { .to = pull->origin.sender,
				     .from = pull->id };

	pull_event_granted(pull, pull->granted);
	pull->granted = step.bytes = pipeline_limit(pull);
	return vm_remote_step(pull->port, pull->origin.from, VM_PACKET_CTS,
			      &step, NULL, 0);
}

static const struct vm_protocol protocols[] = {
	{ VM_RNDV_READ, read_fits, read_start },
	{ VM_RNDV_WRITE, write_fits, write_start },
	{ VM_RNDV_PIPELINE, always_fits, pipeline_start },
};

static void pull_begin(struct vm_rndv_recv *pull)
{
	const size_t count = sizeof(protocols) / sizeof(*protocols);
	/* A message that could not be fetched before is fetched no more. */
	int rc = pull->origin.sender ? -VMPI_ENOTSUP : -VMPI_EPEER;
	uint64_t wanted = pull->wanted;

	for (size_t i = 0; i < count && rc < 0 && pull->origin.sender; i++)
		if (protocols[i].fits(pull)) {
			vm_overlap_events_forget(&pull->xfer);
			rc = protocols[i].start(pull);
			if (rc == VM_PENDING) /* the pull may be gone */
				vm_peer_stats_asked(protocols[i].rndv, wanted);
		}
	if (rc < 0)
		pull_finish(pull, rc);
}

/* NULL: there is no memory, and it has ended. */
static struct vm_rndv_recv *pull_new(struct vm_req *req,
				     const struct vm_origin *origin,
				     struct vm_port *port)
{
	struct vm_rndv_recv *pull = vm_pool_get(&vm_thread_cache_self()->pull);

	if (!pull) {
		vm_origin_end(origin, port, -VMPI_ENOMEM);
		req->status.error = -VMPI_ENOMEM;
		vm_req_complete(req);
		return NULL;
	}
	vm_peer_stats_inflight(1);
	vm_agent_begin();
	pull->req = req;
	pull->origin = *origin;
	pull->port = port;
	pull->choice =
		vm_peer_stats_protocol(cvars_of(pull), origin->from.process);
	pull->wanted = req->status.bytes;
	pull->received = pull->granted = 0;
	pull->writes = pull->shares = false;
	pull->xfer.overlap = NULL;
	pull->next_from = 0;
	return pull;
}

static void pull_go(struct vm_rndv_recv *pull)
{
	if (pull->wanted)
		pull_begin(pull);
	else
		pull_finish(pull, 0);
}

void vm_rndv_recv_start(struct vm_req *req, const struct vm_origin *origin,
			struct vm_port *port)
{
	struct vm_rndv_recv *pull = pull_new(req, origin, port);

	if (pull)
		pull_go(pull);
}

/* Of messages that are read together: how long each may be, how many there may be
 * and how many bytes of all. */
#define TOGETHER_EACH 32768
#define TOGETHER 16
#define TOGETHER_BYTES 262144

/* Whether it may be read together with others. */
static bool together_fits(const struct vm_rndv_recv *pull)
{
	return pull->wanted && pull->wanted <= TOGETHER_EACH &&
	       pull->origin.sender && read_fits(pull) &&
	       vm_fabric_near(vm_node->fabric, pull->origin.from.process);
}

/* Reads the payloads of all: 0, or an error. */
static int together_read(struct vm_rndv_recv *const *pulls, unsigned count,
			 size_t bytes)
{
	struct iovec here[TOGETHER], there[TOGETHER];
	struct vm_share share = {
		.port = pulls[0]->port,
		.process = pulls[0]->origin.from.process,
		.load = { here, there, count, count, bytes },
	};

	for (unsigned i = 0; i < count; i++) {
		const struct vm_rndv_recv *pull = pulls[i];

		here[i] = (struct iovec){ pull->req->data.addr, pull->wanted };
		there[i] = (struct iovec){
			(void *)(uintptr_t)pull->origin.memory.address,
			pull->wanted
		};
		pull_event_begin(pulls[i]);
	}
	return vm_share_read(&share);
}

void vm_rndv_recv_held(void *held)
{
	struct vm_rndv_recv *pull = held, *pulls[TOGETHER];
	unsigned count = pull->held_count;
	size_t bytes = pull->held_bytes;
	int rc;

	for (unsigned i = count; i; pull = pull->held)
		pulls[--i] = pull;
	rc = count > 1 ? together_read(pulls, count, bytes) : -VMPI_EAGAIN;
	for (unsigned i = 0; i < count; i++)
		if (rc) { /* each finds out about itself */
			pull_begin(pulls[i]);
		} else {
			vm_peer_stats_asked(VM_RNDV_READ, pulls[i]->wanted);
			pull_finish(pulls[i], 0);
		}
}

void vm_rndv_recv_announced(struct vm_req *req, const struct vm_origin *origin,
			    struct vm_port *port, struct vm_pkt *pkt)
{
	struct vm_rndv_recv *pull = pull_new(req, origin, port);
	struct vm_rndv_recv *held = pkt->held;

	if (!pull)
		return;
	if (!together_fits(pull) || (!held && !vm_pkt_followed(port, pkt))) {
		pull_go(pull);
		return;
	}
	pull->held = held;
	pull->held_count = held ? held->held_count + 1 : 1;
	pull->held_bytes = pull->wanted + (held ? held->held_bytes : 0);
	pkt->held = pull;
	if (pull->held_count < TOGETHER && pull->held_bytes < TOGETHER_BYTES)
		return;
	pkt->held = NULL;
	vm_rndv_recv_held(pull);
}

static struct vm_rndv_recv *pull_find(const struct vm_pkt *pkt, uint64_t id)
{
	struct vm_rndv_recv *pull = vm_id_table_find(&vm_node->rndv_recvs, id);

	return pull && pull->origin.from.process == pkt->process ? pull : NULL;
}

/* Puts a piece in its place; its bytes are not more than are missing. */
static void piece_land(struct vm_rndv_recv *pull, const char *bytes,
		       size_t count)
{
	size_t n;
	char *to;

	pull->received += count;
	for (; count; bytes += n, count -= n) {
		n = vm_cursor_piece(&pull->cursor, &to, count);
		memcpy(to, bytes, n);
	}
}

void vm_rndv_recv_fragment(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_rndv_recv *pull = pull_find(pkt, step->to);
	int rc = 0;

	(void)port;
	if (!pull || pull->writes || pull->shares ||
	    step->bytes != pull->received ||
	    pkt->bytes > pull->granted - pull->received)
		return;
	pull_event_piece(pull, pkt->bytes);
	piece_land(pull, pkt->data, pkt->bytes);
	if (pull->received < pull->wanted &&
	    (pull->granted == pull->wanted ||
	     pull->granted - pull->received >
		     (size_t)cvars_of(pull)->rndv_window / 2))
		return;
	if (pull->received < pull->wanted)
		rc = pipeline_grant(pull);
	if (rc || pull->received == pull->wanted)
		if (vm_id_table_take(&vm_node->rndv_recvs, pull->id))
			pull_finish(pull, rc);
}

/* One of us may not move it any more, since it has given up the right to: then
 * the sender sends pieces. */
static void move_refused(struct vm_rndv_recv *pull)
{
	int rc;

	pull->writes = false;
	vm_overlap_events_forget(&pull->xfer);
	rc = pipeline_start(pull);
	if (rc < 0)
		pull_finish(pull, rc);
}

/* Takes a pull for which the sender was to write; false: it is not there. */
static bool written_take(struct vm_rndv_recv *pull)
{
	if (!pull || !pull->writes ||
	    !vm_id_table_take(&vm_node->rndv_recvs, pull->id))
		return false;
	vm_mr_close(&pull->mr);
	return true;
}

/* The sender does not know how its writing has ended: well. */
static void written_confirm(struct vm_port *port, const struct vm_pkt *pkt)
{
	const struct vm_wire_step *asked = pkt->upper;
	struct vm_wire_step step = { .to = asked->from };
	struct vm_to to = { pkt->process, pkt->port };

	/* A sender that is gone needs no answer. */
	vm_remote_step(port, to, VM_PACKET_FIN, &step, NULL, 0);
}

void vm_rndv_recv_noticed(void *arg, struct vm_port *port, uint32_t notice)
{
	struct vm_id_table *table = &vm_node->rndv_recvs;
	struct vm_rndv_recv *pull =
		vm_id_table_find(table, vm_id_table_long(table, notice));

	(void)arg;
	(void)port;
	if (written_take(pull))
		pull_end(pull, 0);
}

void vm_rndv_recv_written(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_rndv_recv *pull = pull_find(pkt, step->to);

	if (!written_take(pull)) {
		if (!pull && step->error == -VMPI_ENOTSUP)
			written_confirm(port, pkt);
		return;
	}
	if (step->error == -VMPI_ENOTSUP)
		move_refused(pull);
	else
		pull_end(pull, step->error);
}

void vm_rndv_recv_shared(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_rndv_recv *pull = pull_find(pkt, step->to);

	(void)port;
	if (!pull || !pull->shares ||
	    !vm_id_table_take(&vm_node->rndv_recvs, pull->id))
		return;
	if (share_end(pull) == -VMPI_ENOTSUP)
		move_refused(pull);
}

struct recv_search {
	const struct vm_port *port;
	uint32_t process;
};

static uint64_t pull_comes_from(uint64_t id, void *op, void *arg)
{
	const struct vm_rndv_recv *pull = op;
	const struct recv_search *search = arg;

	return pull->port == search->port &&
			       pull->origin.from.process == search->process ?
		       id :
		       0;
}

void vm_rndv_recv_down(struct vm_port *port, uint32_t process, int error)
{
	struct recv_search search = { port, process };
	struct vm_rndv_recv *pull;
	uint64_t id;

	while ((id = vm_id_table_each(&vm_node->rndv_recvs, pull_comes_from,
				      &search))) {
		pull = vm_id_table_take(&vm_node->rndv_recvs, id);
		if (!pull)
			continue;
		if (pull->writes)
			vm_mr_close(&pull->mr);
		if (pull->shares)
			vm_share_end(&pull->share);
		pull_end(pull, error);
	}
}
