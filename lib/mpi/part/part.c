/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication: its calls, and the count of what is missing.
 */
#include "mpi/part/part.h"

#include <limits.h>
#include <stdlib.h>

#include "core/rank/state.h"
#include "mpi/call/info.h"
#include "mpi/call/status.h"
#include "mpi/p2p/request.h"

struct vm_data vm_part_slice(struct vm_cursor *cursor, void *buf, size_t bytes)
{
	struct vm_cursor ahead = *cursor;
	struct vm_layout *layout;
	size_t runs = 0, n;
	char *piece;

	for (size_t left = bytes; left > 0; left -= n, runs++)
		n = vm_cursor_piece(&ahead, &piece, left);
	layout = vm_layout_new(runs);
	if (!layout)
		return (struct vm_data){ 0 };
	for (size_t i = 0, left = bytes; i < runs; i++, left -= n) {
		n = vm_cursor_piece(cursor, &piece, left);
		layout->runs[i] = (struct vm_run){
			.offset =
				(ptrdiff_t)((uintptr_t)piece - (uintptr_t)buf),
			.bytes = n,
			.count = 1,
		};
	}
	vm_layout_seal(layout, (ptrdiff_t)bytes);
	return (struct vm_data){
		.addr = buf, .bytes = bytes, .layout = layout, .count = 1
	};
}

void vm_part_begin(struct vm_part *part)
{
	struct vm_req *req = part->req;

	atomic_store_explicit(&part->error, 0, memory_order_relaxed);
	/* The request is not active, so nobody else uses it. */
	atomic_store_explicit(&req->state, VM_REQ_PENDING,
			      memory_order_relaxed);
	req->active = true;
}

void vm_part_count(struct vm_part *part, int error)
{
	int none = 0;

	if (error)
		atomic_compare_exchange_strong_explicit(&part->error, &none,
							error,
							memory_order_relaxed,
							memory_order_relaxed);
	/* Acquire-release: the last one sees the errors of all. */
	if (atomic_fetch_sub_explicit(&part->missing, 1,
				      memory_order_acq_rel) != 1)
		return;
	part->req->status.error =
		atomic_load_explicit(&part->error, memory_order_relaxed);
	vm_req_complete(part->req);
}

void vm_part_piece_end(struct vm_part_piece *piece, int error)
{
	/* Pairs with the load in vm_part_arrived(). */
	atomic_store_explicit(&piece->done, true, memory_order_release);
	vm_part_count(piece->part, error);
}

static void piece_over(struct vm_req *req)
{
	vm_part_piece_end(req->user, req->status.error);
}

void vm_part_piece_watch(struct vm_part_piece *piece, struct vm_req *req)
{
	req->user = piece;
	req->on_free = piece_over;
	vm_req_detach(req);
}

struct vm_part_piece *vm_part_pieces_new(struct vm_part *part, int n)
{
	/* One at least, so that NULL says that there is no memory. */
	struct vm_part_piece *pieces = calloc((size_t)n + 1, sizeof(*pieces));

	for (int i = 0; pieces && i < n; i++)
		pieces[i].part = part;
	return pieces;
}

void vm_part_pieces_free(struct vm_part_piece *pieces, int n)
{
	for (int i = 0; pieces && i < n; i++)
		vm_layout_drop(pieces[i].data.layout);
	free(pieces);
}

static void part_free(struct vm_part *part)
{
	vm_part_recv_end(part);
	vm_part_pieces_free(atomic_load_explicit(&part->pieces,
						 memory_order_relaxed),
			    part->intro.partitions);
	vm_type_drop(part->type);
	free(part);
}

static void request_freed(struct vm_req *req)
{
	part_free(req->user);
}

/* From and to MPI_PROC_NULL a round is over when it begins. */
static int nobody_start(struct vm_req *req, struct vm_persist *persist)
{
	vm_request_complete_now(req, &vm_status_proc_null);
	return 0;
}

struct args {
	void *buf;
	int partitions;
	MPI_Count count;
	MPI_Datatype datatype;
	int peer, tag;
	MPI_Comm comm;
	MPI_Info info;
	bool whole; /* count, 1, is that of all partitions together */
};

static int check(struct vm_call *call, const struct args *args,
		 struct vm_comm **comm)
{
	int rc = vm_check_comm(call, args->comm, comm);

	if (rc == 0)
		rc = vm_check_dest(call, *comm, args->peer);
	if (rc == 0)
		rc = vm_check_tag(call, args->tag);
	if (rc == 0)
		rc = vm_check_hints(call, args->info);
	if (rc == 0 &&
	    (args->partitions < 0 || args->partitions > VM_PART_TAG_MASK))
		rc = vm_error(call, MPI_ERR_ARG,
			      "%d partitions; 0 to %d are possible",
			      args->partitions, VM_PART_TAG_MASK);
	if (rc == 0)
		rc = vm_check_buffer(call, args->buf,
				     args->partitions ? args->count : 0,
				     args->datatype);
	return rc;
}

/* The envelope of an introduction that rank `source` of chan sends. */
static struct vm_env intro_env(const struct vm_comm *comm, int source, int tag)
{
	return (struct vm_env){ .context = comm->context + 1,
				.source = source,
				.tag = VM_PART_INTRO_TAG |
				       (tag & VM_PART_TAG_MASK) };
}

static struct vm_req *req_new(struct vm_part *part, const struct args *args,
			      const struct vm_comm *comm, bool send)
{
	struct vm_req *req = vm_req_new(send ? VM_REQ_SEND : VM_REQ_RECV);

	if (!req)
		return NULL;
	req->node.env = (struct vm_env){ comm->context, args->peer, args->tag };
	req->data = vm_data_bytes(NULL, part->bytes * (size_t)part->partitions);
	req->rndv_send = 0;
	req->status = (vmpi_status){ .source = args->peer,
				     .tag = args->tag,
				     .bytes = req->data.bytes };
	if (part->peer)
		req->rank = send ? part->peer : vm_rank_self();
	req->persistent = true;
	req->active = false;
	req->user = part;
	req->on_free = request_freed;
	return req;
}

static struct vm_part *part_new(const struct args *args, struct vm_comm *comm,
				bool send)
{
	/* Where the ranks that messages go to are in the channel, which numbers
	 * the messages of collectives. */
	int first = (int)(comm->ranks - comm->chan->group->ranks);
	int source = send ? comm->chan->rank : first + args->peer;
	struct vm_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->persist.start = send ? vm_part_send_start : vm_part_recv_start;
	if (args->peer == MPI_PROC_NULL)
		part->persist.start = nobody_start;
	else
		part->peer = comm->ranks[args->peer];
	part->env = intro_env(comm, source, args->tag);
	part->type = vm_type_hold(vm_type_of_buffer(args->datatype));
	part->buf = args->buf;
	part->partitions = args->partitions;
	part->count = (size_t)args->count;
	part->bytes = part->type->size * part->count;
	if (!args->whole)
		part->count *= (size_t)args->partitions;
	else if (args->partitions)
		part->bytes /= (size_t)args->partitions;
	part->req = req_new(part, args, comm, send);
	if (!part->req) {
		part_free(part);
		return NULL;
	}
	return part;
}

static int init(struct vm_call *call, const struct args *args, bool send,
		MPI_Request *request)
{
	struct vm_comm *comm;
	struct vm_part *part = NULL;
	int rc = check(call, args, &comm);

	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc != 0)
		return rc;
	part = part_new(args, comm, send);
	if (!part)
		return MPI_ERR_NO_MEM;
	if (part->peer)
		rc = send ? vm_part_send_init(part, comm) :
			    vm_part_recv_init(part);
	if (rc != 0)
		vm_req_detach(part->req);
	else
		*request = (MPI_Request)part->req;
	return rc;
}

static int init_entry(enum vm_call_id id, bool send, const struct args *args,
		      MPI_Request *request)
{
	struct vm_call call = vm_call_enter(id);

	return vm_call_exit(&call, args->comm,
			    init(&call, args, send, request));
}

int vm_part_init_whole(MPI_Request *request, bool send, void *buf,
		       int partitions, MPI_Datatype whole, int peer, int tag,
		       MPI_Comm comm, MPI_Info info)
{
	struct args args = { buf, partitions, 1,    whole, peer,
			     tag, comm,	      info, true };

	return init_entry(send ? VM_CALL_Psend_init : VM_CALL_Precv_init, send,
			  &args, request);
}

#define ARGS(buf, peer)                                                     \
	(&(const struct args){ (void *)(uintptr_t)(buf), partitions, count, \
			       datatype, peer, tag, comm, info, false })

/* The count is an MPI_Count (MPI 4.1, 4.2.1); the functions that end in _c are
 * those of the header of the Forum's ABI. */
int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count,
		    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		    MPI_Info info, MPI_Request *request)
{
	return init_entry(VM_CALL_Psend_init, true, ARGS(buf, dest), request);
}

int PMPI_Psend_init_c(const void *buf, int partitions, MPI_Count count,
		      MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		      MPI_Info info, MPI_Request *request)
{
	return init_entry(VM_CALL_Psend_init_c, true, ARGS(buf, dest), request);
}

int PMPI_Precv_init(void *buf, int partitions, MPI_Count count,
		    MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		    MPI_Info info, MPI_Request *request)
{
	return init_entry(VM_CALL_Precv_init, false, ARGS(buf, source),
			  request);
}

int PMPI_Precv_init_c(void *buf, int partitions, MPI_Count count,
		      MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		      MPI_Info info, MPI_Request *request)
{
	return init_entry(VM_CALL_Precv_init_c, false, ARGS(buf, source),
			  request);
}

/* Checks a request and that it is partitioned, of that side. */
static int check_part(struct vm_call *call, MPI_Request request, bool send,
		      struct vm_part **part)
{
	struct vm_req *req = vm_request(request);
	const struct vm_persist *persist = NULL;
	int rc = vm_check_request(call, req);

	if (rc != 0)
		return rc;
	if (!vm_req_is_null(req) && req->persistent &&
	    req->kind == (send ? VM_REQ_SEND : VM_REQ_RECV))
		persist = req->user;
	if (!persist || (persist->start != nobody_start &&
			 persist->start != (send ? vm_part_send_start :
						   vm_part_recv_start)))
		return vm_error(call, MPI_ERR_REQUEST,
				"the request was not made by %s",
				send ? "MPI_Psend_init" : "MPI_Precv_init");
	*part = req->user;
	return 0;
}

static int check_partition(struct vm_call *call, const struct vm_part *part,
			   int partition)
{
	if (partition >= 0 && partition < part->partitions)
		return 0;
	return vm_error(call, MPI_ERR_ARG,
			"partition %d of a request with %d partitions",
			partition, part->partitions);
}

/* Checks a request whose partitions can become ready. */
static int check_ready(struct vm_call *call, MPI_Request request,
		       struct vm_part **part)
{
	int rc = check_part(call, request, true, part);

	if (rc == 0 && !(*part)->req->active)
		rc = vm_error(call, MPI_ERR_REQUEST,
			      "the request is not started");
	return rc;
}

static int ready(struct vm_call *call, struct vm_part *part, int partition)
{
	struct vm_part_piece *pieces =
		atomic_load_explicit(&part->pieces, memory_order_relaxed);
	int rc = check_partition(call, part, partition);

	if (rc != 0 || !part->peer)
		return rc;
	if (atomic_exchange_explicit(&pieces[partition].ready, true,
				     memory_order_relaxed))
		return vm_error(call, MPI_ERR_ARG,
				"partition %d is ready already", partition);
	vm_part_send_piece(part, partition);
	return 0;
}

int PMPI_Pready(int partition, MPI_Request request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Pready);
	struct vm_part *part = NULL;
	int rc = check_ready(&call, request, &part);

	if (rc == 0)
		rc = ready(&call, part, partition);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Pready_range(int partition_low, int partition_high,
		      MPI_Request request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Pready_range);
	struct vm_part *part = NULL;
	int rc = check_ready(&call, request, &part);

	if (rc == 0 && partition_low > partition_high)
		rc = vm_error(&call, MPI_ERR_ARG,
			      "partition_low %d is above partition_high %d",
			      partition_low, partition_high);
	if (rc == 0)
		rc = check_partition(&call, part, partition_low);
	if (rc == 0)
		rc = check_partition(&call, part, partition_high);
	for (int i = partition_low; i <= partition_high && rc == 0; i++)
		rc = ready(&call, part, i);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Pready_list(int length, const int array_of_partitions[],
		     MPI_Request request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Pready_list);
	struct vm_part *part = NULL;
	int rc = check_ready(&call, request, &part);

	if (rc == 0 && length < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "length %d is negative",
			      length);
	if (rc == 0 && length > 0)
		rc = vm_check_pointer(&call, array_of_partitions,
				      "array_of_partitions");
	for (int i = 0; i < length && rc == 0; i++)
		rc = check_partition(&call, part, array_of_partitions[i]);
	for (int i = 0; i < length && rc == 0; i++)
		rc = ready(&call, part, array_of_partitions[i]);
	return vm_call_exit_self(&call, rc);
}

/* Of a request that is not active everything has arrived. */
static bool arrived(const struct vm_part *part, int partition)
{
	return !part->req->active || vm_req_is_done(part->req) ||
	       vm_part_arrived(part, partition);
}

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Parrived);
	struct vm_part *part = NULL;
	int rc = vm_check_pointer(&call, flag, "flag");

	if (rc == 0 && request == MPI_REQUEST_NULL) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	if (rc == 0)
		rc = check_part(&call, request, false, &part);
	if (rc == 0)
		rc = check_partition(&call, part, partition);
	if (rc == 0) {
		*flag = arrived(part, partition);
		if (!*flag) {
			vm_req_poll();
			*flag = arrived(part, partition);
		}
	}
	return vm_call_exit_self(&call, rc);
}
