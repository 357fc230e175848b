/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever is in any respect unusual is left to the usual way before anything has
 * been sent: data that are not in one piece, sizes that do not fit, and who has to
 * wait.
 */
#include "mpi/coll/algo/quick.h"

#include <stddef.h>
#include <string.h>

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

/* A block as vm_coll_show_span() shows it: its size, where it is, and what it
 * has, in whole words. */
struct quick_block {
	int size, at;
	char data[VM_LEADERS_CARD_SHORT];
};

static size_t block_bytes(size_t bytes)
{
	return offsetof(struct quick_block, data) +
	       ((bytes + sizeof(int) - 1) & ~(sizeof(int) - 1));
}

static bool block_fits(const struct quick_call *call,
		       const struct vm_data *data)
{
	return !data->layout && data->bytes <= call->most &&
	       block_bytes(data->bytes) <= call->most;
}

static int scatterv_leaf(struct quick_call *call, const struct vm_data *to)
{
	struct vm_leaders_quick_card card;
	struct quick_block block;
	int rc;

	if (!block_fits(call, to) || !begin(call, VM_LEADERS_DEALT))
		return VM_PENDING;
	rc = vm_leaders_quick_hear(&call->quick, 0, &card,
				   block_bytes(to->bytes));
	if (rc != VM_DONE)
		return rc;
	memcpy(&block, vm_leaders_quick_data(&call->quick, &card),
	       block_bytes(to->bytes));
	if (VM_UNLIKELY(block.at || (size_t)block.size != to->bytes)) {
		rc = vm_leaders_quick_keep(&call->quick, 0, &card);
		return rc ? rc : VM_PENDING;
	}
	vm_copy(to->addr, block.data, to->bytes);
	return vm_leaders_quick_end(&call->quick, false);
}

static int scatterv(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data own, to = { 0 };
	int rc = 0;

	if (call->leaders->self || !coll->in_place)
		to = vm_blocks_data(&coll->recv, 0);
	if (call->leaders->self)
		return scatterv_leaf(call, &to);
	own = vm_blocks_data(&coll->send, 0);
	if (!own_fits(coll, &own, &to))
		return VM_PENDING;
	for (int p = 1; p < call->leaders->count; p++) {
		struct vm_data data = vm_blocks_data(&coll->send, (size_t)p);

		if (!block_fits(call, &data))
			return VM_PENDING;
	}
	if (!begin(call, VM_LEADERS_DEALT))
		return VM_PENDING;
	for (int p = 1; p < call->leaders->count && !rc; p++) {
		struct vm_data data = vm_blocks_data(&coll->send, (size_t)p);
		struct quick_block block = { .size = (int)data.bytes };

		vm_copy(block.data, data.addr, data.bytes);
		rc = vm_leaders_quick_tell(&call->quick, p, &block,
					   block_bytes(data.bytes));
	}
	own_copy(coll, &own, &to);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

static int scatter(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data own, to = { 0 };
	int rc = 0;

	if (coll->uneven)
		return scatterv(call);
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

/* The blocks of a gather, and how many bytes they have; whether all fit. */
static bool blocks_fit(const struct quick_call *call, struct vm_data *blocks,
		       size_t *bytes)
{
	for (int p = 0; p < call->leaders->count; p++) {
		blocks[p] = vm_blocks_data(&call->coll->recv, (size_t)p);
		bytes[p] = blocks[p].bytes;
		if (p && !fits(call, &blocks[p]))
			return false;
	}
	return true;
}

static int gather_root(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_leaders_quick_card cards[VM_LEADERS_STAR_MOST];
	struct vm_data own = { 0 }, blocks[VM_LEADERS_STAR_MOST];
	size_t bytes[VM_LEADERS_STAR_MOST];
	int rc;

	if (!coll->in_place)
		own = vm_blocks_data(&coll->send, 0);
	if (!blocks_fit(call, blocks, bytes) ||
	    !own_fits(coll, &own, &blocks[0]) || !begin(call, VM_LEADERS_UP))
		return VM_PENDING;
	rc = vm_leaders_quick_hear_all(&call->quick, cards, bytes);
	if (rc != VM_DONE)
		return rc;
	own_copy(coll, &own, &blocks[0]);
	for (int p = 1; p < call->leaders->count; p++)
		vm_copy(blocks[p].addr,
			vm_leaders_quick_data(&call->quick, &cards[p]),
			bytes[p]);
	return vm_leaders_quick_end(&call->quick, true);
}

static int gather(struct quick_call *call)
{
	struct vm_data own;

	if (!call->leaders->self)
		return gather_root(call);
	own = vm_blocks_data(&call->coll->send, 0);
	return leaf_tell(call, &own);
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
	size_t bytes[VM_LEADERS_STAR_MOST];
	struct vm_fold fold;
	int rc;

	if (!is_plain(coll))
		return VM_PENDING;
	if (call->leaders->self)
		return leaf_tell(call, &own);
	if (!fits(call, &own) || !begin(call, VM_LEADERS_UP) ||
	    !vm_fold_open(&fold, coll->op, type, (size_t)coll->size, false, n))
		return VM_PENDING;
	for (int p = 1; p < coll->size; p++)
		bytes[p] = own.bytes;
	rc = vm_leaders_quick_hear_all(&call->quick, cards, bytes);
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

/* Adds what the members before give to what is here, and passes it on. */
static int scan_add(struct quick_call *call, void *before)
{
	const struct vm_coll *coll = call->coll;
	const struct vm_type *type = coll->recv.type;
	char sum[VM_LEADERS_CARD_SHORT] VM_ALIGNED(16);
	size_t bytes = coll->recv.count * type->size;
	int next = call->leaders->self + 1, rc = 0;

	memcpy(sum, coll->send.buf, bytes);
	vm_op_apply(coll->op, type, before, sum, coll->recv.count);
	if (next < call->leaders->count)
		rc = vm_leaders_quick_tell(&call->quick, next, sum, bytes);
	memcpy((void *)(uintptr_t)coll->recv.buf,
	       coll->kind == &vm_coll_exscan ? before : sum, bytes);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

/* The first process tells all others the call, and the next one its operand. */
static int scan_first(struct quick_call *call, const struct vm_data *own)
{
	const struct vm_coll *coll = call->coll;
	int rc = vm_leaders_quick_tell(&call->quick, 1, own->addr, own->bytes);

	for (int p = 2; p < call->leaders->count && !rc; p++)
		rc = vm_leaders_quick_tell(&call->quick, p, NULL, 0);
	if (coll->kind != &vm_coll_exscan)
		vm_copy((void *)(uintptr_t)coll->recv.buf, own->addr,
			own->bytes);
	return rc ? rc : vm_leaders_quick_end(&call->quick, false);
}

static int scan(struct quick_call *call)
{
	const struct vm_coll *coll = call->coll;
	struct vm_data own = vm_data_bytes(
		coll->send.buf, coll->recv.count * coll->recv.type->size);
	struct vm_leaders_quick_card told, card;
	uint64_t key[VM_MEET_KEY_WORDS];
	int self = call->leaders->self, rc;

	if (!is_plain(coll) || !fits(call, &own) ||
	    !begin(call, VM_LEADERS_CHAIN))
		return VM_PENDING;
	if (!self)
		return scan_first(call, &own);
	rc = vm_leaders_quick_hear(&call->quick, 0, &told,
				   self == 1 ? own.bytes : 0);
	if (rc != VM_DONE)
		return rc;
	vm_coll_key(key, coll);
	vm_leaders_quick_as(&call->quick, key, VM_LEADERS_SHORT);
	if (self == 1)
		return scan_add(call,
				vm_leaders_quick_data(&call->quick, &told));
	rc = vm_leaders_quick_hear(&call->quick, self - 1, &card, own.bytes);
	if (rc == VM_DONE)
		return scan_add(call,
				vm_leaders_quick_data(&call->quick, &card));
	if (rc == VM_PENDING && vm_leaders_quick_keep(&call->quick, 0, &told))
		rc = -VMPI_ENOMEM;
	return rc;
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
	if (kind == &vm_coll_reduce)
		return reduce(call);
	return kind->family == VM_FAMILY_SCAN ? scan(call) : VM_PENDING;
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
