/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copies hang on the ranks.  Readers take the pointer once per call, so the
 * copy of a rank stays until the rank is freed.
 */
#include "core/rank/cvar.h"

#include "base/err.h"
#include "core/rank/chan.h"
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "introspect/vars/cvar_copy.h"
#include "base/nearest.h"

void vm_rank_cvars_init(struct vm_rank *rank)
{
	atomic_init(&rank->cvars, &core_cvar);
	atomic_init(&rank->cvar_copy, NULL);
}

void vm_rank_cvars_fini(struct vm_rank *rank)
{
	vm_cvar_copy_free(atomic_load(&rank->cvar_copy));
	vm_rank_cvars_init(rank);
}

static struct vm_rank *rank_find(int rank)
{
	if (!vm_node || rank < 0 || rank >= vm_node->rank_count ||
	    !vm_rank_here(&vm_node->ranks[rank]))
		return NULL;
	return &vm_node->ranks[rank];
}

static bool is_of_ranks(int number, unsigned *row)
{
	struct vm_cvar_view view;
	char name[VM_NAME_MAX];

	if (!vm_cvar_info(number, &view, name) || view.row->when != VM_VAR_RANK)
		return false;
	*row = (unsigned)(view.row - core_cvar_table.rows);
	return *row < core_cvar_table.count;
}

int vm_cvar_load_rank(int64_t *value, int number, int rank)
{
	const struct vm_rank *found = rank_find(rank);
	const int64_t *words;
	unsigned row;

	if (rank != -1 && !found)
		return -VMPI_ERANK;
	if (!found || !is_of_ranks(number, &row))
		return vm_cvar_load(value, number);
	words = (const int64_t *)vm_rank_cvars(found);
	*value = __atomic_load_n(&words[row], __ATOMIC_RELAXED);
	return 0;
}

/* The copy of a rank, made when there is none; NULL: out of memory. */
static struct vm_cvar_copy *copy_of(struct vm_rank *rank)
{
	/* Pairs with the exchange below. */
	struct vm_cvar_copy *copy =
		atomic_load_explicit(&rank->cvar_copy, memory_order_acquire);
	struct vm_cvar_copy *none = NULL;

	if (copy)
		return copy;
	copy = vm_cvar_copy_new(&core_cvar_table);
	if (!copy)
		return NULL;
	if (!atomic_compare_exchange_strong_explicit(&rank->cvar_copy, &none,
						     copy, memory_order_acq_rel,
						     memory_order_acquire)) {
		vm_cvar_copy_free(copy);
		return none;
	}
	return copy;
}

int vm_cvar_store_rank(int number, int rank, int64_t value)
{
	struct vm_rank *found = rank_find(rank);
	struct vm_cvar_copy *copy;
	int rc;

	if (!found)
		return -VMPI_ERANK;
	copy = copy_of(found);
	if (!copy)
		return -VMPI_ENOMEM;
	rc = vm_cvar_copy_store(copy, number, value);
	if (rc)
		return rc;
	/* Pairs with the load in vm_rank_cvars(). */
	atomic_store_explicit(&found->cvars, vm_cvar_copy_values(copy),
			      memory_order_release);
	return 0;
}

int vm_cvar_follow_rank(int number, int rank)
{
	struct vm_rank *found = rank_find(rank);
	struct vm_cvar_copy *copy;
	unsigned row;

	if (!found)
		return -VMPI_ERANK;
	copy = atomic_load_explicit(&found->cvar_copy, memory_order_acquire);
	if (copy)
		return vm_cvar_copy_follow(copy, number);
	if (number < 0 || number >= vm_cvar_count())
		return -VMPI_ENOENT;
	return is_of_ranks(number, &row) ? 0 : -VMPI_EINVAL;
}
