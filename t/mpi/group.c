/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups and their algebra (MPI 4.1, 7.3).
 */
#include "mtap.h"

static MPI_Group world;

/* Tells whether the group's members are these ranks of the world. */
static bool holds(MPI_Group group, int n, const int *want)
{
	int count = -1, *ranks = calloc((size_t)n + 1, sizeof(*ranks));
	int *got = calloc((size_t)n + 1, sizeof(*got));
	bool held;

	MPI_Group_size(group, &count);
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	held = count == n;
	if (held) {
		MPI_Group_translate_ranks(group, n, ranks, world, got);
		held = memcmp(got, want, (size_t)n * sizeof(*got)) == 0;
	}
	free(ranks);
	free(got);
	return held;
}

static MPI_Group of(int n, const int *ranks)
{
	MPI_Group group;

	MPI_Group_incl(world, n, ranks, &group);
	return group;
}

static void basics(void)
{
	int n = -1, r = -1;

	MPI_Group_size(world, &n);
	MPI_Group_rank(world, &r);
	all_ok(n == size && r == rank, "the group of the world");
	MPI_Group_size(MPI_GROUP_EMPTY, &n);
	MPI_Group_rank(MPI_GROUP_EMPTY, &r);
	all_ok(n == 0 && r == MPI_UNDEFINED, "MPI_GROUP_EMPTY has no members");
}

static void include_exclude(void)
{
	const int some[] = { 4, 0, 3 }, rest[] = { 1, 2, 5 };
	MPI_Group in = of(3, some), out, none;
	int r = -1;

	all_ok(holds(in, 3, some), "incl keeps the given order");
	MPI_Group_rank(in, &r);
	all_ok(r == (rank == 4 ? 0 :
		     rank == 0 ? 1 :
		     rank == 3 ? 2 :
				 MPI_UNDEFINED),
	       "and knows whether the caller is in it");
	MPI_Group_excl(world, 3, some, &out);
	if (size == 6)
		all_ok(holds(out, 3, rest), "excl keeps the old order");
	MPI_Group_incl(world, 0, NULL, &none);
	all_ok(none == MPI_GROUP_EMPTY, "no members are MPI_GROUP_EMPTY");
	MPI_Group_free(&in);
	MPI_Group_free(&out);
	all_ok(in == MPI_GROUP_NULL, "a freed group is MPI_GROUP_NULL");
}

static void ranges(void)
{
	int triplets[2][3] = { { 0, 4, 2 }, { 5, 1, -2 } };
	const int want[] = { 0, 2, 4, 5, 3, 1 }, rest[] = { 1, 3, 5 };
	MPI_Group group;

	MPI_Group_range_incl(world, 2, triplets, &group);
	all_ok(holds(group, 6, want), "range_incl goes both ways");
	MPI_Group_free(&group);
	MPI_Group_range_excl(world, 1, triplets, &group);
	all_ok(holds(group, 3, rest), "range_excl");
	MPI_Group_free(&group);
}

static void algebra(void)
{
	const int left[] = { 3, 1, 5 }, right[] = { 0, 5, 1 };
	const int both[] = { 3, 1, 5, 0 }, common[] = { 1, 5 }, only[] = { 3 };
	MPI_Group a = of(3, left), b = of(3, right), c;

	MPI_Group_union(a, b, &c);
	all_ok(holds(c, 4, both), "union: the first, then what is new");
	MPI_Group_free(&c);
	MPI_Group_intersection(a, b, &c);
	all_ok(holds(c, 2, common), "intersection in the order of the first");
	MPI_Group_free(&c);
	MPI_Group_difference(a, b, &c);
	all_ok(holds(c, 1, only), "difference");
	MPI_Group_free(&c);
	MPI_Group_difference(a, a, &c);
	all_ok(c == MPI_GROUP_EMPTY, "nothing is left of a minus a");
	MPI_Group_union(MPI_GROUP_EMPTY, a, &c);
	all_ok(holds(c, 3, left), "the empty group adds nothing");
	MPI_Group_free(&a);
	MPI_Group_free(&b);
	MPI_Group_free(&c);
}

static void compare(void)
{
	const int one[] = { 0, 1, 2 }, other[] = { 2, 1, 0 },
		  third[] = { 0, 3 };
	MPI_Group a = of(3, one), b = of(3, one), c = of(3, other);
	MPI_Group d = of(2, third);
	int result[4] = { 0 };

	MPI_Group_compare(a, b, &result[0]);
	MPI_Group_compare(a, c, &result[1]);
	MPI_Group_compare(a, d, &result[2]);
	MPI_Group_compare(MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, &result[3]);
	all_ok(result[0] == MPI_IDENT && result[1] == MPI_SIMILAR &&
		       result[2] == MPI_UNEQUAL && result[3] == MPI_IDENT,
	       "groups are identical, similar or unequal");
	MPI_Group_free(&a);
	MPI_Group_free(&b);
	MPI_Group_free(&c);
	MPI_Group_free(&d);
}

static void translate(void)
{
	const int some[] = { 5, 2 }, ask[] = { 2, 0, 5, MPI_PROC_NULL };
	MPI_Group group = of(2, some);
	int got[4] = { 0 };

	MPI_Group_translate_ranks(world, 4, ask, group, got);
	all_ok(got[0] == 1 && got[1] == MPI_UNDEFINED && got[2] == 0 &&
		       got[3] == MPI_PROC_NULL,
	       "translate_ranks finds members, others are MPI_UNDEFINED");
	MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	basics();
	if (size >= 6) {
		include_exclude();
		ranges();
		algebra();
		compare();
		translate();
	}
	MPI_Group_free(&world);
	return mtap_end();
}
