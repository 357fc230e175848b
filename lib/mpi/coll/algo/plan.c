/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A row per family of collectives: its control variable, the meaning of its
 * words, and the choice of auto.
 *
 * Partial results are combined in the tree over the ranks (piece.h).  Some
 * algorithms need one piece per process; linear, reduce_scatter and pairwise
 * can do with any number.  Scans have no tree: each process must have
 * consecutive ranks, or the ordered algorithm is used.  So it is, with
 * mpi_coll_reduce_order=rank, for operations that do not commute.
 */
#include "mpi/coll/algo/plan.h"

#include "core/meeting/leaders.h"
#include "core/rank/state.h"
#include "mpi/coll/algo/posted.h"
#include "mpi/op/piece.h"
#include "sched/worker.h"

static const char *const names[VM_COLL_ALGORITHMS] = {
	[VM_ALGORITHM_AUTO] = "auto",
#define NAME(name, word) [VM_ALGORITHM_##name] = #word,
	VM_COLL_ALGORITHMS(NAME)
#undef NAME
};

const char *vm_coll_algorithm_name(uint32_t algorithm)
{
	return algorithm < VM_COLL_ALGORITHMS ? names[algorithm] :
						"something unknown";
}

void vm_coll_count(uint32_t algorithm)
{
	/* Several leaders may count at once. */
	switch (algorithm) {
#define COUNT(name, word)                                                      \
	case VM_ALGORITHM_##name:                                              \
		__atomic_fetch_add(&vm_node->pvars.coll_##word##_internode, 1, \
				   __ATOMIC_RELAXED);                          \
		break;
		VM_COLL_ALGORITHMS(COUNT)
#undef COUNT
	default:
		break;
	}
}

/* Input of a plan. */
struct facts {
	const struct vm_leaders *leaders;
	const struct vm_coll *any;
	size_t bytes; /* that go to a member, or that it reduces */
	bool in_turn; /* mpi_coll_reduce_order is rank */
	bool even;    /* combining processes is combining ranks */
};

static bool is_short(const struct facts *facts)
{
	return facts->bytes <= (size_t)mpi_cvar.coll_short_bytes;
}

static bool is_long(const struct facts *facts)
{
	return facts->bytes >= (size_t)mpi_cvar.coll_long_bytes;
}

static bool are_near(const struct vm_leaders *leaders)
{
	for (int p = 0; p < leaders->count; p++)
		if (p != leaders->self && !vm_leaders_near(leaders, p))
			return false;
	return true;
}

/* So many times a long broadcast do the caches not hold for those who copy it. */
#define LINEAR_TIMES 4

/*
 * Whether all others copy a long one from the root's memory, a few at a time: where
 * processes share cores whoever waits for another one to pass it on waits for its
 * turn.  With a core each they would be in each other's way in the kernel.
 */
static bool is_fetched(const struct facts *facts)
{
	return vm_sched.shared &&
	       facts->bytes / LINEAR_TIMES < (size_t)mpi_cvar.coll_long_bytes &&
	       are_near(facts->leaders);
}

/* Whether data of so many bytes of each process go by the boards of all (posted.h);
 * with a core each, more processes than two would be in each other's way. */
static bool is_posted(const struct facts *facts, size_t bytes)
{
	return bytes > VM_LEADERS_CARD_DATA && bytes <= VM_COLL_POSTED_MOST &&
	       facts->even &&
	       (facts->leaders->count == 2 ?
			are_near(facts->leaders) :
			vm_leaders_crowded(facts->leaders));
}

/* So many bytes of vectors of all processes a root combines by itself. */
#define GIVEN_MOST ((size_t)1 << 20)

/*
 * Whether all other processes give the root their vectors, which each of them puts
 * there itself (core/meeting/leaders_place.h): where they share cores each level of
 * a tree has to wait for a turn of all others.
 */
static bool is_given(const struct facts *facts)
{
	return is_posted(facts, facts->bytes) &&
	       facts->bytes <= GIVEN_MOST / (size_t)facts->leaders->count;
}

/* From so many processes on it is quicker that one has the sum and all others fetch
 * it. */
#define SPREAD_FROM 8

static bool is_spread(const struct facts *facts)
{
	return facts->even && facts->leaders->count >= SPREAD_FROM &&
	       facts->bytes / LINEAR_TIMES < (size_t)mpi_cvar.coll_long_bytes &&
	       vm_leaders_crowded(facts->leaders);
}

static enum vm_coll_algorithm bcast_best(const struct facts *facts)
{
	if (facts->leaders->count == 2 || is_short(facts) || is_fetched(facts))
		return VM_ALGORITHM_LINEAR;
	return is_long(facts) ? VM_ALGORITHM_SCATTER_ALLGATHER :
				VM_ALGORITHM_BINOMIAL;
}

static enum vm_coll_algorithm allgather_best(const struct facts *facts)
{
	return facts->leaders->count > 2 && is_long(facts) &&
			       (facts->any->recv.counts.array ||
				!is_posted(facts,
					   facts->bytes / (size_t)facts->leaders
								  ->count)) ?
		       VM_ALGORITHM_RING :
		       VM_ALGORITHM_LINEAR;
}

/* Chooses linear for two processes, which have a single step, else pairwise. */
static enum vm_coll_algorithm alltoall_best(const struct facts *facts)
{
	return facts->leaders->count == 2 ? VM_ALGORITHM_LINEAR :
					    VM_ALGORITHM_PAIRWISE;
}

static enum vm_coll_algorithm reduce_best(const struct facts *facts)
{
	if (is_short(facts) || is_given(facts))
		return VM_ALGORITHM_LINEAR;
	return is_long(facts) || !facts->even ||
			       is_posted(facts, facts->bytes) ?
		       VM_ALGORITHM_REDUCE_SCATTER :
		       VM_ALGORITHM_BINOMIAL;
}

/* Longer ones two processes move more quickly than they post them. */
#define PAIR_MOST 32768

static enum vm_coll_algorithm allreduce_best(const struct facts *facts)
{
	if (is_posted(facts, facts->bytes) &&
	    (facts->leaders->count > 2 || facts->bytes <= PAIR_MOST))
		return VM_ALGORITHM_REDUCE_SCATTER;
	if (is_short(facts))
		return VM_ALGORITHM_LINEAR;
	if (is_spread(facts))
		return VM_ALGORITHM_BINOMIAL;
	return is_long(facts) || !facts->even ? VM_ALGORITHM_REDUCE_SCATTER :
						VM_ALGORITHM_RECURSIVE_DOUBLING;
}

static enum vm_coll_algorithm reduce_scatter_best(const struct facts *facts)
{
	return is_short(facts) && !is_posted(facts, facts->bytes) ?
		       VM_ALGORITHM_LINEAR :
		       VM_ALGORITHM_PAIRWISE;
}

/* From the first rank to the last goes: a chain of processes, of which two are
 * linear, or all operands in one step. */
static enum vm_coll_algorithm scan_best(const struct facts *facts)
{
	size_t all = facts->bytes * (size_t)facts->any->size;

	if (facts->in_turn)
		return is_short(facts) ? VM_ALGORITHM_LINEAR :
					 VM_ALGORITHM_RECURSIVE_DOUBLING;
	if (facts->leaders->count == 2 && is_short(facts))
		return VM_ALGORITHM_LINEAR;
	return all <= (size_t)mpi_cvar.coll_short_bytes ? VM_ALGORITHM_ORDERED :
							  VM_ALGORITHM_CHAIN;
}

#define WORDS_MAX 5

static const struct {
	const int64_t *asked;
	enum vm_coll_algorithm (*best)(const struct facts *facts);
	uint8_t algorithms[WORDS_MAX]; /* by word */
} families[VM_FAMILIES] = {
	[VM_FAMILY_BCAST] = { &mpi_cvar.coll_bcast_algorithm,
			      bcast_best,
			      { VM_ALGORITHM_AUTO, VM_ALGORITHM_LINEAR,
				VM_ALGORITHM_BINOMIAL,
				VM_ALGORITHM_SCATTER_ALLGATHER } },
	[VM_FAMILY_ALLGATHER] = { &mpi_cvar.coll_allgather_algorithm,
				  allgather_best,
				  { VM_ALGORITHM_AUTO, VM_ALGORITHM_LINEAR,
				    VM_ALGORITHM_RING } },
	[VM_FAMILY_ALLTOALL] = { &mpi_cvar.coll_alltoall_algorithm,
				 alltoall_best,
				 { VM_ALGORITHM_AUTO, VM_ALGORITHM_LINEAR,
				   VM_ALGORITHM_PAIRWISE } },
	[VM_FAMILY_REDUCE] = { &mpi_cvar.coll_reduce_algorithm,
			       reduce_best,
			       { VM_ALGORITHM_AUTO, VM_ALGORITHM_ORDERED,
				 VM_ALGORITHM_LINEAR, VM_ALGORITHM_BINOMIAL,
				 VM_ALGORITHM_REDUCE_SCATTER } },
	[VM_FAMILY_ALLREDUCE] = { &mpi_cvar.coll_allreduce_algorithm,
				  allreduce_best,
				  { VM_ALGORITHM_AUTO, VM_ALGORITHM_ORDERED,
				    VM_ALGORITHM_LINEAR,
				    VM_ALGORITHM_RECURSIVE_DOUBLING,
				    VM_ALGORITHM_REDUCE_SCATTER } },
	[VM_FAMILY_REDUCE_SCATTER] = { &mpi_cvar.coll_reduce_scatter_algorithm,
				       reduce_scatter_best,
				       { VM_ALGORITHM_AUTO,
					 VM_ALGORITHM_ORDERED,
					 VM_ALGORITHM_LINEAR,
					 VM_ALGORITHM_PAIRWISE } },
	[VM_FAMILY_SCAN] = { &mpi_cvar.coll_scan_algorithm,
			     scan_best,
			     { VM_ALGORITHM_AUTO, VM_ALGORITHM_ORDERED,
			       VM_ALGORITHM_LINEAR,
			       VM_ALGORITHM_RECURSIVE_DOUBLING,
			       VM_ALGORITHM_CHAIN } },
};

size_t vm_coll_slice(const struct vm_coll *coll)
{
	size_t limit = (size_t)mpi_cvar.coll_operand_bytes, row;

	/* Parts of others need all elements. */
	if (!coll->kind->reduces || !coll->kind->slices || coll->first_size)
		return 0;
	row = coll->recv.type->size * (size_t)coll->size;
	if (row == 0 || coll->recv.count <= 1 ||
	    coll->recv.count <= limit / row)
		return 0;
	return limit / row ? limit / row : 1;
}

/* Tells whether the local members agree: only then one stands for all. */
static bool agree_here(const struct vm_meet *meet)
{
	const struct vm_leaders_process *here =
		&meet->leaders->processes[meet->leaders->self];
	const struct vm_coll *first = vm_coll_of(meet, here->members[0]);
	char what[sizeof(first->what)];

	for (uint32_t i = 1; i < here->count; i++)
		if (vm_coll_differs(first, vm_coll_of(meet, here->members[i]),
				    what, sizeof(what)))
			return false;
	return true;
}

static size_t bytes_of(const struct vm_coll *any)
{
	size_t bytes = 0;

	switch (any->kind->family) {
	case VM_FAMILY_BCAST:
		return vm_blocks_data(&any->recv, 0).bytes;
	case VM_FAMILY_ALLGATHER:
		for (size_t i = 0; i < (size_t)any->size; i++)
			bytes += vm_blocks_data(&any->recv, i).bytes;
		return bytes;
	case VM_FAMILY_ALLTOALL:
		return 0;
	default:
		return any->recv.count * any->recv.type->size;
	}
}

static bool can_combine(const struct facts *facts)
{
	const struct vm_coll *any = facts->any;

	if (facts->leaders->blocks || !any->kind->reduces)
		return true;
	return any->kind->family != VM_FAMILY_SCAN &&
	       (any->op->commutes || !facts->in_turn);
}

/* Tells whether an algorithm that was asked for works here. */
static bool is_possible(const struct facts *facts, uint32_t asked)
{
	return asked != VM_ALGORITHM_AUTO &&
	       (facts->even || (asked != VM_ALGORITHM_BINOMIAL &&
				asked != VM_ALGORITHM_RECURSIVE_DOUBLING));
}

static struct facts facts_of(const struct vm_leaders *leaders,
			     const struct vm_coll *any)
{
	struct facts facts = { .leaders = leaders, .any = any, .even = true };

	if (!any->kind->reduces)
		return facts;
	facts.in_turn = mpi_cvar.coll_reduce_order == VM_ORDER_RANK;
	facts.even = facts.in_turn || any->kind->family == VM_FAMILY_SCAN ||
		     vm_coll_pieces_even(leaders);
	return facts;
}

static enum vm_coll_algorithm best(struct facts *facts)
{
	uint32_t processes = (uint32_t)facts->leaders->count;

	facts->bytes = bytes_of(facts->any);
	/* A process sends the vectors of all its pieces. */
	if (!facts->even)
		facts->bytes *=
			(vm_coll_pieces_count(facts->leaders,
					      (uint32_t)facts->any->size) +
			 processes - 1) /
			processes;
	return families[facts->any->kind->family].best(facts);
}

/* The algorithm that is asked for. */
static uint32_t asked(const struct vm_coll *any)
{
	enum vm_coll_family family = any->kind->family;
	int64_t word = any->asked == VM_CHAN_STATS_UNSET ?
			       *families[family].asked :
			       any->asked;

	return families[family].algorithms[word];
}

bool vm_coll_plan_is_small(const struct vm_coll *any, size_t *most_bytes)
{
	int64_t most = mpi_cvar.coll_short_bytes < mpi_cvar.coll_packed_bytes ?
			       mpi_cvar.coll_short_bytes :
			       mpi_cvar.coll_packed_bytes;

	*most_bytes = (size_t)most;
	if (any->first_size ||
	    (any->kind->reduces && mpi_cvar.coll_reduce_order == VM_ORDER_RANK))
		return false;
	return !any->kind->family || asked(any) == VM_ALGORITHM_AUTO;
}

struct vm_coll_plan vm_coll_plan(const struct vm_meet *meet)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any =
		vm_coll_of(meet, leaders->processes[leaders->self].members[0]);
	enum vm_coll_family family = any->kind->family;
	struct vm_coll_plan plan = { .algorithm = VM_ALGORITHM_LINEAR,
				     .packs = true };
	bool reduces = family == VM_FAMILY_REDUCE;
	struct facts facts = facts_of(leaders, any);

	if (any->kind->reduces)
		plan.algorithm = VM_ALGORITHM_ORDERED;
	if (!family || any->first_size)
		return plan;
	plan.in_turn = facts.in_turn;
	plan.asked = asked(any);
	if (agree_here(meet) && can_combine(&facts))
		plan.algorithm = is_possible(&facts, plan.asked) ? plan.asked :
								   best(&facts);
	if (plan.algorithm == VM_ALGORITHM_ORDERED)
		plan.packs = !vm_coll_slice(any);
	else
		plan.packs = (plan.algorithm == VM_ALGORITHM_LINEAR &&
			      !(reduces && is_given(&facts))) ||
			     family == VM_FAMILY_ALLTOALL;
	return plan;
}
