/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever is in any respect unusual is left to the usual way before anything has
 * been sent: data that are not in one piece, sizes that do not fit, and who has to
 * wait.
 */
#include "mpi/coll/algo/quick.h"

#include "base/copy.h"
#include "core/meeting/leaders_quick.h"
#include "mpi/coll/algo/plan.h"
#include "mpi/coll/algo/shown.h"
#include "mpi/op/fold.h"

/* A call here; processes are members. */
struct quick_call {
	const struct vm_coll *coll;
	const struct vm_chan *chan;
	const struct vm_leaders *leaders;
	size_t most; /* bytes of data */
	struct vm_leaders_quick quick;
};

static bool begin(struct quick_call *call, enum vm_leaders_need need)
{
	uint64_t key[VM_MEET_KEY_WORDS];

	vm_coll_key(key, call->coll);
	return vm_leaders_quick_begin(&call->quick, call->chan, key, need);
}

static inline bool fits(const struct quick_call *call,
			const struct vm_data *data)
{
	return VM_LIKELY(!data->layout && data->bytes &&
			 data->bytes <= call->most);
}

/* Whether the root may copy its own block. */
static inline bool own_fits(const struct vm_coll *coll,
			    const struct vm_data *from,
			    const struct vm_data *to)
{
	return coll->in_place ||
	       (from->bytes == to->bytes && !from->layout && !to->layout);
}

static inline void own_copy(const struct vm_coll *coll,
			    const struct vm_data *from,
			    const struct vm_data *to)
{
	if (!coll->in_place)
		vm_copy(to->addr, from->addr, to->bytes);
}

/* Gets data from the first process. */
static int leaf_hear(struct quick_call *call, const struct vm_data *data,
		     enum vm_leaders_need need)
{
	struct vm_leaders_quick_card card;
	int rc;

	if (!fits(call, data) || !begin(call, need))
		return VM_PENDING;
	rc = vm_leaders_quick_hear(&call->quick, 0, &card, data->bytes);
	if (rc != VM_DONE)
		return rc;
	vm_copy(data->addr, vm_leaders_quick_data(&call->quick, &card),
		data->bytes);
	return vm_leaders_quick_end(&call->quick, false);
}

static int bcast(struct quick_call *call)
{
	struct vm_data data = vm_blocks_data(&call->coll->recv, 0);
	int rc = 0;

	if (call->leaders->self)
		return leaf_hear(call, &data, VM_LEADERS_DOWN);
	if (!fits(call, &data) || !begin(call, VM_LEADERS_DOWN))
		return VM_PENDING;
	for (int p = 1; p < call->leaders->count && !rc; p++)
		rc = vm_leaders_quick_tell(&call->quick, p, data.addr,
					   data.bytes);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

static int scatter(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data own, to = { 0 };
	int rc = 0;

	if (coll->uneven)
		return VM_PENDING;
	if (call->leaders->self || !coll->in_place)
		to = vm_blocks_data(&coll->recv, 0);
	if (call->leaders->self)
		return leaf_hear(call, &to, VM_LEADERS_DEALT);
	own = vm_blocks_data(&coll->send, 0);
	if (!fits(call, &own) || !own_fits(coll, &own, &to) ||
	    !begin(call, VM_LEADERS_DEALT))
		return VM_PENDING;
	for (int p = 1; p < call->leaders->count && !rc; p++) {
		struct vm_data block = vm_blocks_data(&coll->send, (size_t)p);

		rc = vm_leaders_quick_tell(&call->quick, p, block.addr,
					   block.bytes);
	}
	own_copy(coll, &own, &to);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

/* Leaves data to the first process. */
static int leaf_tell(struct quick_call *call, const struct vm_data *data)
{
	int rc;

	if (!fits(call, data) || !begin(call, VM_LEADERS_UP))
		return VM_PENDING;
	rc = vm_leaders_quick_tell(&call->quick, 0, data->addr, data->bytes);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

static int gather(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_leaders_quick_card cards[VM_LEADERS_STAR_MOST];
	struct vm_data own = { 0 }, to;
	int rc;

	if (coll->as == VM_CALL_Gatherv || coll->as == VM_CALL_Gatherv_c)
		return VM_PENDING;
	if (call->leaders->self || !coll->in_place)
		own = vm_blocks_data(&coll->send, 0);
	if (call->leaders->self)
		return leaf_tell(call, &own);
	to = vm_blocks_data(&coll->recv, 0);
	if (!fits(call, &to) || !own_fits(coll, &own, &to) ||
	    !begin(call, VM_LEADERS_UP))
		return VM_PENDING;
	rc = vm_leaders_quick_hear_all(&call->quick, cards, to.bytes);
	if (rc != VM_DONE)
		return rc;
	own_copy(coll, &own, &to);
	for (int p = 1; p < call->leaders->count; p++) {
		struct vm_data block = vm_blocks_data(&coll->recv, (size_t)p);

		vm_copy(block.addr,
			vm_leaders_quick_data(&call->quick, &cards[p]),
			block.bytes);
	}
	return vm_leaders_quick_end(&call->quick, true);
}

/* Whether operands are bytes in a row, and what is done with them. */
static bool is_plain(const struct vm_coll *coll)
{
	const struct vm_type *type = coll->recv.type;

	return VM_LIKELY(coll->op->loops && type->dense &&
			 !type->dense_offset &&
			 type->extent == (MPI_Count)type->size);
}

static int reduce(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	const struct vm_type *type = coll->recv.type;
	size_t n = coll->recv.count;
	struct vm_leaders_quick_card cards[VM_LEADERS_STAR_MOST];
	struct vm_data own = vm_data_bytes(coll->send.buf, n * type->size);
	struct vm_fold fold;
	int rc;

	if (!is_plain(coll))
		return VM_PENDING;
	if (call->leaders->self)
		return leaf_tell(call, &own);
	if (!fits(call, &own) || !begin(call, VM_LEADERS_UP) ||
	    !vm_fold_open(&fold, coll->op, type, (size_t)coll->size, false, n))
		return VM_PENDING;
	rc = vm_leaders_quick_hear_all(&call->quick, cards, own.bytes);
	if (rc == VM_DONE) {
		fold.operands[0] = coll->send.buf;
		for (int p = 1; p < coll->size; p++)
			fold.operands[p] =
				vm_leaders_quick_data(&call->quick, &cards[p]);
		vm_fold_copy(type, (void *)(uintptr_t)coll->recv.buf,
			     vm_fold_part(&fold, 0, (size_t)coll->size, 0, n,
					  NULL),
			     n);
	}
	vm_fold_close(&fold);
	return rc ? rc : vm_leaders_quick_end(&call->quick, true);
}

static int any(struct quick_call *call)
{
	const struct vm_coll_kind *kind = call->coll->kind;

	if (kind == &vm_coll_bcast)
		return bcast(call);
	if (kind == &vm_coll_scatter)
		return scatter(call);
	if (kind == &vm_coll_gather)
		return gather(call);
	return kind == &vm_coll_reduce ? reduce(call) : VM_PENDING;
}

int vm_coll_quick(struct vm_coll *coll, const struct vm_chan *chan)
{
	struct quick_call call;
	int rc;

	call.leaders = chan->meet->leaders;
	if (!call.leaders || !call.leaders->ones || coll->root ||
	    !coll->kind->part || VM_UNLIKELY(mpi_cvar.check_types) ||
	    !vm_coll_plan_is_small(coll, &call.most))
		return VM_PENDING;
	call.coll = coll;
	call.chan = chan;
	if (call.most > VM_LEADERS_CARD_SHORT)
		call.most = VM_LEADERS_CARD_SHORT;
	rc = any(&call);
	/* The next one has another number. */
	if (rc != VM_PENDING)
		chan->meet->meetings++;
	if (rc == VM_DONE) {
		vm_meet_counts(coll->kind->calls);
		vm_coll_count(VM_ALGORITHM_LINEAR);
		coll->algorithm = VM_ALGORITHM_LINEAR;
	}
	return rc;
}
