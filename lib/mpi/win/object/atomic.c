/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic updates: one set of loops per size of an element.
 *
 * Additions of integers and operations on bits have instructions; what has none
 * is computed by the loops of collectives and stored if the element is still
 * the same.
 */
#include "mpi/win/object/atomic.h"

#include <string.h>

#include "base/copy.h"
#include "core/window/update.h"
#include "mpi/type/basic.h"

/* What is done to each element. */
enum how { LOAD, STORE, ADD, AND, OR, XOR, COMPUTE };

static const struct vm_op *builtin(MPI_Op handle)
{
	return vm_op_builtin[(uintptr_t)handle - (uintptr_t)MPI_OP_NULL];
}

static enum how how_of(const struct vm_op *op, const struct vm_type *type)
{
	const uint8_t bits = VM_FAMILY_INTEGER | VM_FAMILY_FORTRAN |
			     VM_FAMILY_ADDRESS | VM_FAMILY_BYTE;

	if (op == builtin(MPI_REPLACE))
		return STORE;
	if (op == builtin(MPI_NO_OP))
		return LOAD;
	if (!(type->family & bits))
		return COMPUTE;
	return op == builtin(MPI_SUM)  ? ADD :
	       op == builtin(MPI_BAND) ? AND :
	       op == builtin(MPI_BOR)  ? OR :
	       op == builtin(MPI_BXOR) ? XOR :
					 COMPUTE;
}

/* In the loops: the operand and the old value of element i. */
#define EACH(statement)                                          \
	for (size_t i = 0; i < n; i++) {                         \
		if (how != LOAD)                                 \
			memcpy(&operand, from + i, sizeof(old)); \
		statement;                                       \
		if (result)                                      \
			memcpy(to + i, &old, sizeof(old));       \
	}                                                        \
	break

/* Pairs with the acquiring ones of other members' updates. */
#define ORDER __ATOMIC_ACQ_REL

#define UPDATE(type)                                                           \
	static bool compute_##type(vm_op_loop two, type *target,               \
				   const type *operand, type *old)             \
	{                                                                      \
		type new;                                                      \
                                                                               \
		two(old, operand, &new, 1);                                    \
		return __atomic_compare_exchange_n(target, old, new, true,     \
						   ORDER, __ATOMIC_ACQUIRE);   \
	}                                                                      \
	static void update_##type(enum how how, vm_op_loop two, void *target,  \
				  const void *origin, void *result, size_t n)  \
	{                                                                      \
		const type *from = origin;                                     \
		type *at = target, *to = result;                               \
		type operand = 0, old;                                         \
                                                                               \
		switch (how) {                                                 \
		case LOAD:                                                     \
			EACH(old = __atomic_load_n(at + i, __ATOMIC_ACQUIRE)); \
		case STORE:                                                    \
			EACH(old = store_##type(at + i, operand, result));     \
		case ADD:                                                      \
			EACH(old = __atomic_fetch_add(at + i, operand,         \
						      ORDER));                 \
		case AND:                                                      \
			EACH(old = __atomic_fetch_and(at + i, operand,         \
						      ORDER));                 \
		case OR:                                                       \
			EACH(old = __atomic_fetch_or(at + i, operand, ORDER)); \
		case XOR:                                                      \
			EACH(old = __atomic_fetch_xor(at + i, operand,         \
						      ORDER));                 \
		case COMPUTE:                                                  \
			EACH(old = __atomic_load_n(at + i, __ATOMIC_ACQUIRE);  \
			     while (!compute_##type(two, at + i, &operand,     \
						    &old)));                   \
		}                                                              \
	}

/* Without a result a store is enough. */
#define STORE_(type)                                                    \
	static inline type store_##type(type *at, type operand,         \
					const void *result)             \
	{                                                               \
		if (result)                                             \
			return __atomic_exchange_n(at, operand, ORDER); \
		__atomic_store_n(at, operand, __ATOMIC_RELEASE);        \
		return 0;                                               \
	}

STORE_(uint8_t)
STORE_(uint16_t)
STORE_(uint32_t)
STORE_(uint64_t)
UPDATE(uint8_t)
UPDATE(uint16_t)
UPDATE(uint32_t)
UPDATE(uint64_t)

/* Whether elements may be used where they lie: no type needs more. */
static bool is_straight(size_t bytes, const void *target, const void *origin)
{
	uintptr_t most = bytes & -bytes;

	if (most > 16)
		most = 16;
	return !(((uintptr_t)target | (uintptr_t)origin) & (most - 1));
}

/* target[i] = target[i] op origin[i], at any addresses. */
static void compute(const struct vm_atomic *a, char *target, const char *origin,
		    size_t n)
{
	vm_op_loop two = a->op->loops[a->type->kind].two;
	size_t bytes = (size_t)a->type->extent;
	char left[512] VM_ALIGNED(16), right[512] VM_ALIGNED(16);
	size_t row = sizeof(left) / bytes;

	if (is_straight(bytes, target, origin)) {
		two(target, origin, target, n);
		return;
	}
	for (; n; n -= row, target += row * bytes, origin += row * bytes) {
		if (row > n)
			row = n;
		memcpy(left, target, row * bytes);
		memcpy(right, origin, row * bytes);
		two(left, right, left, row);
		memcpy(target, left, row * bytes);
	}
}

/* Whatever their size and place, by one who is alone. */
static void update_alone(enum how how, const struct vm_atomic *a, void *target,
			 const void *origin, void *result, size_t n)
{
	size_t bytes = n * (size_t)a->type->extent;

	if (result)
		vm_copy(result, target, bytes);
	if (how == STORE)
		memcpy(target, origin, bytes);
	else if (how != LOAD)
		compute(a, target, origin, n);
}

void vm_atomic_update_alone(const struct vm_atomic *a, void *target,
			    const void *origin, void *result, size_t n)
{
	update_alone(how_of(a->op, a->type), a, target, origin, result, n);
}

/* Whether instructions update an element. */
static bool is_native(const struct vm_type *type, const void *target)
{
	size_t bytes = (size_t)type->extent;

	return bytes <= 8 && !(bytes & (bytes - 1)) &&
	       !((uintptr_t)target & (bytes - 1));
}

static void update_native(enum how how, const struct vm_atomic *a, void *target,
			  const void *origin, void *result, size_t n)
{
	vm_op_loop two = how == COMPUTE ? a->op->loops[a->type->kind].two :
					  NULL;

	switch (a->type->extent) {
	case 8:
		update_uint64_t(how, two, target, origin, result, n);
		break;
	case 4:
		update_uint32_t(how, two, target, origin, result, n);
		break;
	case 2:
		update_uint16_t(how, two, target, origin, result, n);
		break;
	default:
		update_uint8_t(how, two, target, origin, result, n);
	}
}

/* From so many elements on it is worth that all take the lock. */
#define ALONE_MIN 16

/* Several elements at once. */
static void update_locked(enum how how, const struct vm_atomic *a, void *target,
			  const void *origin, void *result, size_t n)
{
	struct vm_window_common *common = a->common;

	vm_window_update_take(common);
	if (common->processes || !is_native(a->type, target) ||
	    (n >= ALONE_MIN && vm_window_update_alone(common)))
		update_alone(how, a, target, origin, result, n);
	else
		update_native(how, a, target, origin, result, n);
	vm_window_update_give(common);
}

/* How many elements are updated before others may have the lock. */
#define LOCKED_ROW 65536

void vm_atomic_update(const struct vm_atomic *a, void *target,
		      const void *origin, void *result, size_t n)
{
	size_t bytes = (size_t)a->type->extent;
	enum how how = how_of(a->op, a->type);

	if (n == 1 && is_native(a->type, target) &&
	    VM_LIKELY(vm_window_update_enter(a->common))) {
		update_native(how, a, target, origin, result, 1);
		vm_window_update_leave();
		return;
	}
	for (size_t i = 0; i < n; i += LOCKED_ROW) {
		size_t at = i * bytes;

		update_locked(how, a, (char *)target + at,
			      origin ? (const char *)origin + at : NULL,
			      result ? (char *)result + at : NULL,
			      n - i < LOCKED_ROW ? n - i : LOCKED_ROW);
	}
}

#define SWAP(type)                                                            \
	static void swap_##type(void *target, const void *origin,             \
				const void *compare, void *result)            \
	{                                                                     \
		type new, old;                                                \
                                                                              \
		memcpy(&new, origin, sizeof(new));                            \
		memcpy(&old, compare, sizeof(old));                           \
		__atomic_compare_exchange_n((type *)target, &old, new, false, \
					    ORDER, __ATOMIC_ACQUIRE);         \
		memcpy(result, &old, sizeof(old));                            \
	}

SWAP(uint8_t)
SWAP(uint16_t)
SWAP(uint32_t)
SWAP(uint64_t)

static void swap_native(size_t bytes, void *target, const void *origin,
			const void *compare, void *result)
{
	switch (bytes) {
	case 8:
		swap_uint64_t(target, origin, compare, result);
		break;
	case 4:
		swap_uint32_t(target, origin, compare, result);
		break;
	case 2:
		swap_uint16_t(target, origin, compare, result);
		break;
	default:
		swap_uint8_t(target, origin, compare, result);
	}
}

void vm_atomic_swap(const struct vm_type *type, struct vm_window_common *common,
		    void *target, const void *origin, const void *compare,
		    void *result)
{
	bool native = is_native(type, target);

	if (native && VM_LIKELY(vm_window_update_enter(common))) {
		swap_native(type->size, target, origin, compare, result);
		vm_window_update_leave();
		return;
	}
	vm_window_update_take(common);
	if (native) {
		swap_native(type->size, target, origin, compare, result);
	} else {
		memcpy(result, target, type->size);
		if (!memcmp(result, compare, type->size))
			memcpy(target, origin, type->size);
	}
	vm_window_update_give(common);
}
