/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random datatypes compared with a reference implementation of the standard's
 * definition: the type map as a plain list, including bound markers (MPI 4.1,
 * 5.1).  One thing is added, as Open MPI and MPICH have it: the padding of a
 * part belongs to the whole.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranks.h"

#define ENTRIES_MAX 3000
#define AREA (1 << 18)
#define ORIGIN (1 << 17)

/* As align: a marker; PADDED is where a part with its padding ends. */
enum kind { LOWER = -1, UPPER = -2, PADDED = -3 };

struct entry {
	long at;
	int size, align;
};

struct map {
	int n;
	struct entry entries[ENTRIES_MAX];
};

static uint64_t state;

static int below(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (unsigned)n);
}

static bool has(const struct map *map, int marker)
{
	for (int i = 0; i < map->n; i++)
		if (map->entries[i].align == marker)
			return true;
	return false;
}

/* The bounds by the definition; real leaves markers out. */
static void bounds(const struct map *map, bool real, long *lb, long *ub)
{
	bool lower = !real && has(map, LOWER), upper = !real && has(map, UPPER);
	bool low_any = false, high_any = false;
	int align = 1;

	*lb = *ub = 0;
	for (int i = 0; i < map->n; i++) {
		const struct entry *e = &map->entries[i];

		if (lower ? e->align == LOWER : e->align > 0) {
			if (!low_any || e->at < *lb)
				*lb = e->at;
			low_any = true;
		}
		if (upper ? e->align == UPPER :
			    e->align > 0 || (!real && e->align == PADDED)) {
			if (!high_any || e->at + e->size > *ub)
				*ub = e->at + e->size;
			high_any = true;
		}
		if (e->align > align)
			align = e->align;
	}
	if (!upper && !real && (*ub - *lb) % align)
		*ub += align - (*ub - *lb) % align;
}

static long extent(const struct map *map)
{
	long lb, ub;

	bounds(map, false, &lb, &ub);
	return ub - lb;
}

/* Appends a map, moved; false when there is no room. */
static bool append(struct map *to, const struct map *from, long at)
{
	if (to->n + from->n > ENTRIES_MAX)
		return false;
	for (int i = 0; i < from->n; i++) {
		to->entries[to->n] = from->entries[i];
		to->entries[to->n++].at += at;
	}
	return true;
}

/* `length` elements behind each other. */
static bool block(struct map *to, const struct map *old, long at, int length)
{
	long lb, ub, step;

	bounds(old, false, &lb, &ub);
	step = ub - lb;
	for (int i = 0; i < length; i++)
		if (!append(to, old, at + i * step))
			return false;
	if (length == 0 || old->n == 0 || has(old, UPPER))
		return true;
	if (to->n == ENTRIES_MAX)
		return false;
	at += (length - 1) * step + ub;
	to->entries[to->n++] = (struct entry){ at, 0, PADDED };
	return true;
}

static MPI_Datatype basic(struct map *map)
{
	static const struct {
		MPI_Datatype type;
		int size;
	} types[] = { { MPI_CHAR, 1 },
		      { MPI_SHORT, 2 },
		      { MPI_INT, 4 },
		      { MPI_DOUBLE, 8 },
		      { MPI_INT64_T, 8 } };
	int i = below(5);
	MPI_Datatype dup;

	map->n = 1;
	map->entries[0] = (struct entry){ 0, types[i].size, types[i].size };
	/* Always a handle of our own, to be freed. */
	MPI_Type_dup(types[i].type, &dup);
	return dup;
}

/* Makes a new type from old and the map that belongs to it.  The maps are
 * static: they are too large for a rank's stack. */
static bool contiguous(MPI_Datatype old, const struct map *from,
		       MPI_Datatype *type, struct map *map)
{
	int n = below(4);

	MPI_Type_contiguous(n, old, type);
	return block(map, from, 0, n);
}

static bool vector(MPI_Datatype old, const struct map *from, MPI_Datatype *type,
		   struct map *map)
{
	int n = below(4), length = below(4), stride = below(8) - 3;
	long bytes = stride * extent(from);

	if (below(2)) {
		bytes = below(80) - 20;
		MPI_Type_create_hvector(n, length, bytes, old, type);
	} else {
		MPI_Type_vector(n, length, stride, old, type);
	}
	for (int i = 0; i < n; i++)
		if (!block(map, from, i * bytes, length))
			return false;
	return true;
}

static bool indexed(MPI_Datatype old, const struct map *from,
		    MPI_Datatype *type, struct map *map)
{
	int n = below(4), kind = below(4), lengths[4] = { 0 }, at[4] = { 0 };
	MPI_Aint aints[4] = { 0 };

	for (int i = 0; i < n; i++) {
		lengths[i] = kind < 2 ? below(4) : i ? lengths[0] : below(4);
		at[i] = below(8) - 3;
		aints[i] = at[i] * (kind % 2 ? 1 : extent(from));
		if (kind % 2)
			aints[i] = at[i] * 3 + below(3);
	}
	if (kind == 0)
		MPI_Type_indexed(n, lengths, at, old, type);
	else if (kind == 1)
		MPI_Type_create_hindexed(n, lengths, aints, old, type);
	else if (kind == 2)
		MPI_Type_create_indexed_block(n, n ? lengths[0] : 0, at, old,
					      type);
	else
		MPI_Type_create_hindexed_block(n, n ? lengths[0] : 0, aints,
					       old, type);
	for (int i = 0; i < n; i++)
		if (!block(map, from, aints[i], lengths[i]))
			return false;
	return true;
}

static bool resized(MPI_Datatype old, const struct map *from,
		    MPI_Datatype *type, struct map *map)
{
	long lb = below(20) - 10, size = below(60) - 6;

	MPI_Type_create_resized(old, lb, size, type);
	for (int i = 0; i < from->n; i++)
		if (from->entries[i].align > 0)
			map->entries[map->n++] = from->entries[i];
	if (map->n + 2 > ENTRIES_MAX)
		return false;
	map->entries[map->n++] = (struct entry){ lb, 0, LOWER };
	map->entries[map->n++] = (struct entry){ lb + size, 0, UPPER };
	return true;
}

static bool structure(MPI_Datatype old, const struct map *from,
		      MPI_Datatype *type, struct map *map)
{
	static struct map maps[3];
	int n = below(4), lengths[3] = { 0 };
	MPI_Datatype types[3] = { 0 };
	MPI_Aint aints[3] = { 0 };
	bool fits = true;

	for (int i = 0; i < n; i++) {
		lengths[i] = below(3);
		aints[i] = below(100) - 30;
		if (i) {
			types[i] = basic(&maps[i]);
			continue;
		}
		maps[0] = *from;
		MPI_Type_dup(old, &types[0]);
	}
	MPI_Type_create_struct(n, lengths, aints, types, type);
	for (int i = 0; i < n; i++) {
		fits = fits && block(map, &maps[i], aints[i], lengths[i]);
		MPI_Type_free(&types[i]);
	}
	return fits;
}

static bool subarray(MPI_Datatype old, const struct map *from,
		     MPI_Datatype *type, struct map *map)
{
	int n = 1 + below(4), sizes[4], subsizes[4], starts[4], at[4] = { 0 };
	int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	long step = extent(from), all = 1;
	static struct map plain;

	for (int i = 0; i < n; i++) {
		sizes[i] = 1 + below(4);
		subsizes[i] = 1 + below(sizes[i]);
		starts[i] = below(sizes[i] - subsizes[i] + 1);
		all *= sizes[i];
	}
	MPI_Type_create_subarray(n, sizes, subsizes, starts, order, old, type);
	plain.n = 0;
	for (;;) {
		long place = 0;
		int d;

		/* Row-major place of the index at[] in the whole array. */
		for (int i = 0; i < n; i++) {
			int k = order == MPI_ORDER_C ? i : n - 1 - i;

			place = place * sizes[k] + starts[k] + at[k];
		}
		if (!block(&plain, from, place * step, 1))
			return false;
		/* The next index; the fastest dimension first. */
		for (d = 0; d < n; d++) {
			int k = order == MPI_ORDER_C ? n - 1 - d : d;

			if (++at[k] < subsizes[k])
				break;
			at[k] = 0;
		}
		if (d == n)
			break;
	}
	/* Bounds of its own instead of those of the parts. */
	for (int i = 0; i < plain.n; i++)
		if (plain.entries[i].align > 0)
			map->entries[map->n++] = plain.entries[i];
	if (map->n + 2 > ENTRIES_MAX)
		return false;
	map->entries[map->n++] = (struct entry){ 0, 0, LOWER };
	map->entries[map->n++] = (struct entry){ all * step, 0, UPPER };
	return true;
}

static bool (*const constructors[])(MPI_Datatype old, const struct map *from,
				    MPI_Datatype *type, struct map *map) = {
	contiguous, vector,    vector,	  indexed,  indexed,
	resized,    structure, structure, subarray,
};

/* A random type and its map; false when it got too large. */
static bool make(MPI_Datatype *type, struct map *map)
{
	static struct map maps[2];
	int depth = below(4), now = 0;
	MPI_Datatype old = basic(&maps[0]);
	bool fits = true;

	for (int i = 0; i < depth && fits; i++, now = !now) {
		maps[!now].n = 0;
		fits = constructors[below(9)](old, &maps[now], type,
					      &maps[!now]);
		MPI_Type_free(&old);
		old = *type;
	}
	*type = old;
	*map = maps[now];
	return fits;
}

/* The data bytes of count elements as offsets, in order. */
static int list(const struct map *map, int count, int *at)
{
	long step = extent(map);
	int n = 0;

	for (int i = 0; i < count; i++) {
		for (int e = 0; e < map->n; e++) {
			for (int b = 0; b < map->entries[e].size; b++) {
				long place = ORIGIN + i * step +
					     map->entries[e].at + b;

				if (place < 0 || place >= AREA || n >= AREA)
					return -1;
				at[n++] = (int)place;
			}
		}
	}
	return n;
}

static int wrong_bounds(MPI_Datatype type, const struct map *map)
{
	MPI_Aint lb, size, true_lb, true_size;
	long want_lb, want_ub, real_lb, real_ub;
	int bytes, want = 0;

	MPI_Type_get_extent(type, &lb, &size);
	MPI_Type_get_true_extent(type, &true_lb, &true_size);
	MPI_Type_size(type, &bytes);
	bounds(map, false, &want_lb, &want_ub);
	bounds(map, true, &real_lb, &real_ub);
	for (int i = 0; i < map->n; i++)
		want += map->entries[i].size;
	return lb != want_lb || size != want_ub - want_lb ||
	       true_lb != real_lb || true_size != real_ub - real_lb ||
	       bytes != want;
}

static int wrong_data(MPI_Datatype type, const struct map *map)
{
	static char area[AREA], packed[AREA], want[AREA];
	static int at[AREA];
	int count = below(3), n = list(map, count, at), position = 0, size;
	int wrong = 0;

	if (n < 0)
		return 0;
	for (int i = 0; i < AREA; i++)
		area[i] = (char)(i * 7 + i / 256 * 3 + i / 65536);
	MPI_Type_commit(&type);
	MPI_Pack_size(count, type, MPI_COMM_SELF, &size);
	wrong |= size != n;
	MPI_Pack(area + ORIGIN, count, type, packed, AREA, &position,
		 MPI_COMM_SELF);
	wrong |= position != n;
	for (int i = 0; i < n; i++)
		wrong |= packed[i] != area[at[i]];
	memset(area, 0, sizeof(area));
	memset(want, 0, sizeof(want));
	for (int i = 0; i < n; i++) {
		packed[i] = (char)(i * 5 + 1);
		want[at[i]] = packed[i];
	}
	position = 0;
	MPI_Unpack(packed, n, &position, area + ORIGIN, count, type,
		   MPI_COMM_SELF);
	wrong |= position != n || memcmp(area, want, AREA) != 0;
	return wrong;
}

static void random_types(int rank, int size)
{
	static struct map map;
	int bad_bounds = 0, bad_data = 0, tried = 0;

	for (int i = 0; i < 3000; i++) {
		uint64_t before = state;
		MPI_Datatype type;

		if (make(&type, &map)) {
			int bad = wrong_bounds(type, &map);
			int worse = wrong_data(type, &map);

			if ((bad || worse) && bad_bounds + bad_data < 3)
				diag("SEED=%llu is wrong at once",
				     (unsigned long long)before);
			bad_bounds += bad;
			bad_data += worse;
			tried++;
		}
		MPI_Type_free(&type);
	}
	ok(tried > 2000, "most random types are small enough");
	is_int(bad_bounds, 0, "sizes and bounds of random types are right");
	is_int(bad_data, 0, "random types pack and unpack what they should");
}

int main(void)
{
	const char *given = getenv("SEED");

	state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	plan(3);
	diag("seed %llu (SEED=... repeats it)", (unsigned long long)state);
	ranks_run(1, 1, random_types);
	return done_testing();
}
