/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes of signatures.
 *
 * The hash of a sequence is a polynomial over a prime, so that those of two
 * parts make that of the whole, and n repetitions take log n steps (Langou,
 * Bosilca, Fagg, Dongarra: Hash functions for datatype signatures in MPI, 2005).
 */
#include "mpi/type/signature.h"

#include <stdio.h>

#include "mpi/call/vars.h"
#include "mpi/type/basic.h"
#include "mpi/type/pair.h"
#include "mpi/type/recipe.h"

#define PRIME ((1ull << 61) - 1)
#define BASE 0x9e3779b97f4a7c1ull

/* A sequence of predefined types. */
struct sequence {
	uint64_t hash;
	uint64_t power; /* BASE to the number of types */
	uint8_t first;	/* the first one; 0: there is none */
	uint8_t class;	/* of all of them */
	bool mixed;	/* ... which are not of one class */
	bool wild;	/* one of them fits everything */
	bool torn;	/* it ends within one */
};

static const struct sequence empty = { .power = 1 };

static uint64_t times(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b % PRIME);
}

static struct sequence joined(const struct sequence *a,
			      const struct sequence *b)
{
	struct sequence both = *a;

	if (!a->first)
		return *b;
	both.torn |= b->torn;
	if (!b->first)
		return both;
	both.hash = (times(a->hash, b->power) + b->hash) % PRIME;
	both.power = times(a->power, b->power);
	both.mixed |= b->mixed || a->class != b->class;
	both.wild |= b->wild;
	return both;
}

static struct sequence repeated(struct sequence one, size_t count)
{
	struct sequence all = empty;

	for (; count; count >>= 1) {
		if (count & 1)
			all = joined(&all, &one);
		one = joined(&one, &one);
	}
	return all;
}

/* What types must have in common to be alike. */
static uint8_t class_of(const struct vm_type *type)
{
	if (mpi_cvar.check_types == VM_TYPES_EXACT)
		return type->value;
	switch (type->kind) {
	case VM_KIND_U8:
	case VM_KIND_BOOL:
		return VM_KIND_I8;
	case VM_KIND_U16:
		return VM_KIND_I16;
	case VM_KIND_U32:
		return VM_KIND_I32;
	case VM_KIND_U64:
		return VM_KIND_I64;
	default:
		return type->kind;
	}
}

static bool is_wild(const struct vm_type *type)
{
	MPI_Datatype handle = vm_type_handle(type);

	return handle == MPI_PACKED ||
	       (handle == MPI_BYTE && mpi_cvar.check_types != VM_TYPES_EXACT);
}

static struct sequence of_one(const struct vm_type *type)
{
	uint8_t class = class_of(type);

	return (struct sequence){ .hash = class,
				  .power = BASE,
				  .first = type->value,
				  .class = class,
				  .wild = is_wild(type) };
}

/* The type of both parts of a complex number. */
static MPI_Datatype part_of_complex(const struct vm_type *type)
{
	switch (type->kind) {
	case VM_KIND_C64:
		return MPI_FLOAT;
	case VM_KIND_C128:
		return MPI_DOUBLE;
	case VM_KIND_CLONG:
		return MPI_LONG_DOUBLE;
	case VM_KIND_C256:
		return MPI_REAL16;
	default:
		return MPI_REAL2;
	}
}

/* A predefined type that stands for two others. */
static bool pair_get(const struct vm_type *type, MPI_Datatype parts[2])
{
	if (vm_pair_parts(vm_type_handle(type), parts))
		return true;
	if (type->family != VM_FAMILY_COMPLEX ||
	    mpi_cvar.check_types == VM_TYPES_EXACT)
		return false;
	parts[0] = parts[1] = part_of_complex(type);
	return true;
}

/* The first `bytes` bytes, or fewer, of a predefined type. */
static struct sequence of_basic(const struct vm_type *type, size_t bytes)
{
	struct sequence all = empty, part;
	MPI_Datatype parts[2];

	if (!pair_get(type, parts)) {
		all = of_one(type);
		all.torn = bytes < type->size;
		return all;
	}
	for (int i = 0; i < 2 && bytes; i++) {
		const struct vm_type *one = vm_type_get(parts[i]);

		part = of_one(one);
		part.torn = bytes < one->size;
		all = joined(&all, &part);
		bytes -= bytes < one->size ? bytes : one->size;
	}
	return all;
}

/* The first `bytes` bytes, or fewer, of count elements. */
static struct sequence of_data(const struct vm_type *type, size_t count,
			       size_t bytes);

static struct sequence of_element(const struct vm_type *type, size_t bytes)
{
	struct sequence all = empty, part;
	const struct vm_type *other;
	MPI_Count length;

	if (type->builtin)
		return of_basic(type, bytes);
	if (type->basic)
		return of_data(type->basic, type->size / type->basic->size,
			       bytes);
	for (size_t i = 0;
	     bytes && (other = vm_recipe_part(type->recipe, i, &length)); i++) {
		size_t here = (size_t)length * other->size;

		if (here > bytes)
			here = bytes;
		part = of_data(other, (size_t)length, here);
		all = joined(&all, &part);
		bytes -= here;
	}
	return all;
}

static struct sequence of_data(const struct vm_type *type, size_t count,
			       size_t bytes)
{
	struct sequence all = empty, rest;
	size_t whole;

	if (!type->size || !bytes)
		return empty;
	whole = bytes / type->size;
	if (whole > count)
		whole = count;
	if (whole)
		all = repeated(of_element(type, type->size), whole);
	bytes -= whole * type->size;
	if (whole == count || !bytes)
		return all;
	rest = of_element(type, bytes);
	return joined(&all, &rest);
}

static uint32_t word_of(const struct sequence *sequence)
{
	uint64_t hash = sequence->hash;
	uint32_t low;

	if (sequence->wild || !sequence->first)
		return 0;
	if (!sequence->mixed)
		return (uint32_t)sequence->first << 16;
	hash ^= hash >> 32;
	hash ^= hash >> 16;
	low = hash & 0xffff;
	return (uint32_t)sequence->first << 16 | (low ? low : 1);
}

uint32_t vm_signature(const struct vm_type *type, size_t count)
{
	struct sequence all = of_data(type, count, count * type->size);

	return word_of(&all);
}

static const struct vm_type *first_of(uint32_t word)
{
	return vm_type_builtin[word >> 16 & 0xff];
}

bool vm_signature_fits(uint32_t word, size_t bytes, const struct vm_type *type,
		       size_t count)
{
	const struct vm_type *first = first_of(word);
	struct sequence here;
	uint32_t own;

	if (!word || !first || !bytes)
		return true;
	here = of_data(type, count, bytes);
	own = word_of(&here);
	if (here.wild)
		return true;
	return !here.torn && (own & 0xffff) == (word & 0xffff) &&
	       class_of(first) == class_of(first_of(own));
}

void vm_signature_words(char *text, size_t size, uint32_t word, size_t bytes)
{
	const struct vm_type *first = first_of(word);

	if (!first || !first->size)
		snprintf(text, size, "%zu bytes", bytes);
	else if (word & 0xffff)
		snprintf(text, size, "%zu bytes of %s and others", bytes,
			 vm_type_name(first));
	else
		snprintf(text, size, "%zu %s", bytes / first->size,
			 vm_type_name(first));
}
