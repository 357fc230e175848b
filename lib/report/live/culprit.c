/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that waits describes its buffer on its own stack.  Whoever copies may
 * have descriptions of both there: then, and if there is none, it is the rank
 * whose program points nearest to the address.
 */
#include "report/live/culprit.h"

#ifdef VM_HAVE_LIBDW

#include "core/runtime/where.h"
#include "report/live/modules.h"
#include "report/live/target.h"

#define OWN_WORDS 4096	   /* of the thread that copies */
#define SAVED_WORDS 8	   /* that a function saves first */
#define POINTER_RANKS 1000 /* as many stacks are searched for pointers */

/* The stack of the thread, from its stack pointer on. */
static size_t own_read(uint64_t own[OWN_WORDS], const struct vm_where_ask *ask)
{
	uint64_t sp = ask->registers[ask->sp_number] & ~(uint64_t)7;

	return vm_snapshot_read_most(ask->pid, own, sp, OWN_WORDS * 8) / 8;
}

static bool is_other(const struct vm_snapshot_rank *rank,
		     const struct vm_where_ask *ask)
{
	return rank->known && rank->stack && rank->index != ask->rank;
}

/* Whether an address is in the file of the runtime. */
static bool in_runtime(const struct vm_modules *modules,
		       const struct vm_where_ask *ask, uint64_t address)
{
	return vm_modules_below(modules, address) ==
	       vm_modules_below(modules, ask->runtime);
}

static void data_find(struct vm_culprit *culprit,
		      const struct vm_snapshot *snapshot,
		      const struct vm_where_ask *ask)
{
	for (unsigned i = 0; i < snapshot->count; i++) {
		const struct vm_snapshot_rank *rank = &snapshot->ranks[i];

		if (!is_other(rank, ask) ||
		    !vm_buffer_find(&culprit->buffer, ask->pid,
				    (const uint64_t *)rank->stack,
				    rank->bytes / 8, ask->fault))
			continue;
		culprit->rank = rank;
		culprit->found = culprit->owned = true;
	}
}

/* Where the words of a stack begin that functions of the program have, with the
 * registers that their first call of the runtime's has saved. */
static size_t program_words(const struct vm_modules *modules,
			    const uint64_t *words, size_t count,
			    const struct vm_where_ask *ask)
{
	for (size_t i = 0; i < count; i++) {
		const struct vm_module *module =
			vm_modules_below(modules, words[i]);

		if (module && module->wanted && !vm_module_system(module) &&
		    !in_runtime(modules, ask, words[i]) &&
		    vm_target_is_call(modules, words[i]))
			return i > SAVED_WORDS ? i - SAVED_WORDS : 0;
	}
	return count;
}

/* Who points to the buffer, or to what cannot be accessed, nearest to the
 * address. */
static void pointer_find(struct vm_culprit *culprit, struct vm_modules *modules,
			 const struct vm_snapshot *snapshot,
			 const struct vm_where_ask *ask, const uint64_t *own,
			 size_t own_count)
{
	struct vm_buffer hole = vm_buffer_hole(ask->pid, ask->fault);
	size_t from = program_words(modules, own, own_count, ask);
	uint64_t nearest = 0;

	culprit->owned = vm_buffer_near(&nearest, &hole, own + from,
					own_count - from, ask->fault);
	for (unsigned i = 0; i < snapshot->count; i++) {
		const struct vm_snapshot_rank *rank = &snapshot->ranks[i];
		const uint64_t *words = (const uint64_t *)rank->stack;
		size_t count = rank->bytes / 8;

		if (!is_other(rank, ask))
			continue;
		vm_modules_want_stack(modules, rank->from);
		from = program_words(modules, words, count, ask);
		if (!vm_buffer_near(&nearest, &hole, words + from, count - from,
				    ask->fault))
			continue;
		culprit->owned = true;
		culprit->rank = rank;
	}
	if (!culprit->found && culprit->owned)
		culprit->buffer = (struct vm_buffer){ .address = nearest };
	culprit->found |= culprit->owned;
}

void vm_culprit_find(struct vm_culprit *culprit, struct vm_modules *modules,
		     struct vm_snapshot *snapshot,
		     const struct vm_where_ask *ask)
{
	static uint64_t own[OWN_WORDS];
	size_t count = own_read(own, ask);
	char why[VM_SNAPSHOT_WHY_MAX];

	*culprit = (struct vm_culprit){ .found = false };
	if (!ask->fault || !ask->debug ||
	    !(in_runtime(modules, ask, ask->pc) ||
	      vm_modules_system(modules, ask->pc)))
		return;
	vm_snapshot_take(snapshot, ask->pid, ask->debug, why);
	data_find(culprit, snapshot, ask);
	if (culprit->found)
		return;
	culprit->found = vm_buffer_find(&culprit->buffer, ask->pid, own, count,
					ask->fault);
	if (snapshot->count <= POINTER_RANKS)
		pointer_find(culprit, modules, snapshot, ask, own, count);
}

#endif
