/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: creation, inquiries, duplicates, splits, merges; messages
 * and collectives between their groups.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "ranks.h"

static _Atomic int wrong;

/* The division of the world; ranks of the second group run backwards. */
struct sides {
	int rank, size;	   /* in the world */
	int local, remote; /* sizes */
	int mine;	   /* rank in the own group */
	bool second;
	MPI_Comm own, inter;
};

/* The rank in the world of member i of a group. */
static int world_of(const struct sides *s, bool second, int i)
{
	int first = s->second ? s->remote : s->local;

	return second ? s->size - 1 - i : first - 1 - i;
}

/* The leaders are the last members of both groups. */
static void sides_open(struct sides *s, int rank, int size, int first)
{
	s->rank = rank;
	s->size = size;
	s->second = rank >= first;
	s->local = s->second ? size - first : first;
	s->remote = size - s->local;
	MPI_Comm_split(MPI_COMM_WORLD, s->second, -rank, &s->own);
	MPI_Comm_rank(s->own, &s->mine);
	wrong += MPI_Intercomm_create(s->own, s->local - 1, MPI_COMM_WORLD,
				      world_of(s, !s->second, s->remote - 1), 7,
				      &s->inter) != 0;
}

static void sides_close(struct sides *s)
{
	wrong += MPI_Comm_free(&s->inter) != 0;
	wrong += s->inter != MPI_COMM_NULL;
	MPI_Comm_free(&s->own);
}

static void compare_groups(const struct sides *s, MPI_Comm inter)
{
	MPI_Group world, local, remote, same;
	int result, zero = 0, at;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_group(inter, &local);
	MPI_Comm_group(s->own, &same);
	MPI_Comm_remote_group(inter, &remote);
	MPI_Group_compare(local, same, &result);
	wrong += result != MPI_IDENT;
	MPI_Group_size(remote, &result);
	wrong += result != s->remote;
	MPI_Group_translate_ranks(remote, 1, &zero, world, &at);
	wrong += at != world_of(s, !s->second, 0);
	MPI_Group_rank(remote, &result);
	wrong += result != MPI_UNDEFINED;
	MPI_Group_free(&world);
	MPI_Group_free(&local);
	MPI_Group_free(&remote);
	MPI_Group_free(&same);
}

static void ask(const struct sides *s)
{
	int n = -1;

	MPI_Comm_test_inter(s->inter, &n);
	wrong += n != 1;
	MPI_Comm_size(s->inter, &n);
	wrong += n != s->local;
	MPI_Comm_remote_size(s->inter, &n);
	wrong += n != s->remote;
	MPI_Comm_rank(s->inter, &n);
	wrong += n != s->mine;
	MPI_Comm_compare(s->inter, s->inter, &n);
	wrong += n != MPI_IDENT;
	MPI_Comm_compare(s->inter, s->own, &n);
	wrong += n != MPI_UNEQUAL;
	compare_groups(s, s->inter);
}

/* All to all by messages, from named sources and from any source. */
static void messages(const struct sides *s, MPI_Comm inter)
{
	MPI_Request *requests = malloc((size_t)s->remote * sizeof(MPI_Request));

	for (int i = 0; i < s->remote; i++)
		MPI_Isend(&s->rank, 1, MPI_INT, i, 3, inter, &requests[i]);
	for (int i = 0; i < s->remote; i++) {
		MPI_Status status;
		int got = -1;

		MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status);
		wrong += got != world_of(s, !s->second, status.MPI_SOURCE);
	}
	MPI_Waitall(s->remote, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < s->local && i < s->remote; i++) {
		int got = -1;

		if (i != s->mine)
			continue;
		MPI_Sendrecv(&s->rank, 1, MPI_INT, i, 4, &got, 1, MPI_INT, i, 4,
			     inter, MPI_STATUS_IGNORE);
		wrong += got != world_of(s, !s->second, i);
	}
	wrong += MPI_Send(&s->rank, 1, MPI_INT, s->remote, 0, inter) !=
		 MPI_ERR_RANK;
	free(requests);
}

static void copy(const struct sides *s)
{
	MPI_Comm other;
	int n;

	wrong += MPI_Comm_dup(s->inter, &other) != 0;
	MPI_Comm_compare(s->inter, other, &n);
	wrong += n != MPI_CONGRUENT;
	MPI_Comm_test_inter(other, &n);
	wrong += n != 1;
	compare_groups(s, other);
	messages(s, other);
	MPI_Comm_free(&other);
}

/* Even members with even ones, in reverse; the odd ones alone. */
static void split(const struct sides *s)
{
	int odd = s->mine % 2, n = -1, partners = (s->remote + !odd) / 2;
	MPI_Comm other = MPI_COMM_SELF;

	wrong += MPI_Comm_split(s->inter, odd, -s->mine, &other) != 0;
	wrong += (other == MPI_COMM_NULL) != (partners == 0);
	if (other != MPI_COMM_NULL) {
		MPI_Comm_remote_size(other, &n);
		wrong += n != partners;
		MPI_Comm_size(other, &n);
		wrong += n != (s->local + !odd) / 2;
		MPI_Comm_rank(other, &n);
		wrong += n != (s->local + !odd) / 2 - 1 - s->mine / 2;
		MPI_Comm_free(&other);
	}
	MPI_Comm_split(s->inter, s->mine ? MPI_UNDEFINED : 3, 0, &other);
	wrong += (other == MPI_COMM_NULL) != (s->mine != 0);
	if (other == MPI_COMM_NULL)
		return;
	MPI_Sendrecv(&s->rank, 1, MPI_INT, 0, 0, &n, 1, MPI_INT, 0, 0, other,
		     MPI_STATUS_IGNORE);
	wrong += n != world_of(s, !s->second, 0);
	MPI_Comm_free(&other);
}

/* A communicator of members 0 of both groups; then of one side only. */
static void create(const struct sides *s)
{
	MPI_Group local, group;
	MPI_Comm other;
	int n = 0;

	MPI_Comm_group(s->inter, &local);
	MPI_Group_incl(local, 1, &n, &group);
	wrong += MPI_Comm_create(s->inter, group, &other) != 0;
	wrong += (other == MPI_COMM_NULL) != (s->mine != 0);
	if (other != MPI_COMM_NULL) {
		MPI_Comm_remote_size(other, &n);
		wrong += n != 1;
		MPI_Comm_free(&other);
	}
	MPI_Comm_create(s->inter, s->second ? MPI_GROUP_EMPTY : group, &other);
	wrong += other != MPI_COMM_NULL;
	MPI_Group_free(&group);
	MPI_Group_free(&local);
}

static void merge(const struct sides *s)
{
	for (int high = 0; high < 2; high++) {
		bool behind = s->second == (high == 1);
		MPI_Comm all;
		int n = -1, sum = 0;

		wrong += MPI_Intercomm_merge(s->inter, behind, &all) != 0;
		MPI_Comm_size(all, &n);
		wrong += n != s->size;
		MPI_Comm_rank(all, &n);
		wrong += n != (behind ? s->remote : 0) + s->mine;
		MPI_Allreduce(&s->rank, &sum, 1, MPI_INT, MPI_SUM, all);
		wrong += sum != s->size * (s->size - 1) / 2;
		MPI_Comm_test_inter(all, &n);
		wrong += n != 0;
		MPI_Comm_free(&all);
	}
}

static int remote_sum(const struct sides *s)
{
	int sum = 0;

	for (int i = 0; i < s->remote; i++)
		sum += world_of(s, !s->second, i);
	return sum;
}

/* The root argument of a rank in the root's group, and in the other one. */
static int root_of(const struct sides *s, bool second, int root)
{
	if (s->second != second)
		return root;
	return s->mine == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(const struct sides *s, bool second)
{
	int in[64], out[64], root,
		n = s->second == second ? s->local : s->remote;

	for (int r = 0; r < n; r += 1 + n / 3) {
		root = root_of(s, second, r);
		out[0] = root == MPI_ROOT ? 77 : -1;
		MPI_Bcast(root == MPI_PROC_NULL ? NULL : out, 1, MPI_INT, root,
			  s->inter);
		wrong += out[0] != (root == MPI_PROC_NULL ? -1 : 77);

		out[0] = -1;
		MPI_Gather(&s->rank, 1, MPI_INT, out, 1, MPI_INT, root,
			   s->inter);
		for (int i = 0; root == MPI_ROOT && i < s->remote; i++)
			wrong += out[i] != world_of(s, !s->second, i);
		wrong += root != MPI_ROOT && out[0] != -1;

		for (int i = 0; i < s->remote; i++)
			in[i] = 1000 * s->rank + i;
		MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, s->inter);
		wrong += root >= 0 &&
			 out[0] != 1000 * world_of(s, !s->second, r) + s->mine;

		out[0] = -1;
		MPI_Reduce(&s->rank, out, 1, MPI_INT, MPI_SUM, root, s->inter);
		wrong += out[0] != (root == MPI_ROOT ? remote_sum(s) : -1);
	}
}

static void all(const struct sides *s)
{
	int in[64], out[64], counts[64], displs[64], sum = -1;

	MPI_Barrier(s->inter);
	MPI_Allreduce(&s->rank, &sum, 1, MPI_INT, MPI_SUM, s->inter);
	wrong += sum != remote_sum(s);
	MPI_Allgather(&s->rank, 1, MPI_INT, out, 1, MPI_INT, s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[i] != world_of(s, !s->second, i);
	for (int i = 0; i < s->remote; i++) {
		in[i] = 1000 * s->rank + i;
		counts[i] = 1;
		displs[i] = s->remote - 1 - i;
		out[i] = -1;
	}
	MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[i] != 1000 * world_of(s, !s->second, i) + s->mine;
	MPI_Allgatherv(&s->rank, 1, MPI_INT, out, counts, displs, MPI_INT,
		       s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[s->remote - 1 - i] != world_of(s, !s->second, i);
	MPI_Alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT,
		      s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[s->remote - 1 - i] !=
			 1000 * world_of(s, !s->second, i) + s->local - 1 -
				 s->mine;
}

/* The same number of elements on both sides, distributed on each. */
static void reduce_scatter(const struct sides *s)
{
	int total = s->local * s->remote, begin = s->mine * s->remote;
	int *in = malloc((size_t)total * sizeof(int));
	int counts[64], out[64];

	for (int i = 0; i < total; i++)
		in[i] = s->rank + i;
	for (int i = 0; i < s->local; i++)
		counts[i] = s->remote;
	MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[i] != remote_sum(s) + s->remote * (begin + i);
	MPI_Reduce_scatter_block(in, out, s->remote, MPI_INT, MPI_SUM,
				 s->inter);
	for (int i = 0; i < s->remote; i++)
		wrong += out[i] != remote_sum(s) + s->remote * (begin + i);
	free(in);
}

/* Maps x -> a x + b, in halves of a number: first right, then left.  That does
 * not commute. */
static unsigned compose(unsigned left, unsigned right)
{
	unsigned a = (left >> 16) * (right >> 16);
	unsigned b = (left >> 16) * (right & 0xffff) + (left & 0xffff);

	return a << 16 | (b & 0xffff);
}

static void compose_all(void *in, void *inout, int *n, MPI_Datatype *type)
{
	unsigned *left = in, *right = inout;

	for (int i = 0; i < *n; i++)
		right[i] = compose(left[i], right[i]);
}

static unsigned map_of(int rank)
{
	return (2u * (unsigned)rank + 3) << 16 | (unsigned)(rank + 7);
}

static void user_op(const struct sides *s)
{
	MPI_Request request;
	unsigned in = map_of(s->rank), out = 0, want;
	MPI_Op op;

	MPI_Op_create(compose_all, 0, &op);
	MPI_Iallreduce(&in, &out, 1, MPI_UNSIGNED, op, s->inter, &request);
	MPI_Op_free(&op);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	want = map_of(world_of(s, !s->second, 0));
	for (int i = 1; i < s->remote; i++)
		want = compose(want, map_of(world_of(s, !s->second, i)));
	wrong += out != want;
}

static void nonblocking(const struct sides *s)
{
	int sum = -1, got = s->rank, root = root_of(s, true, 0);
	MPI_Request requests[3];

	MPI_Iallreduce(&s->rank, &sum, 1, MPI_INT, MPI_SUM, s->inter,
		       &requests[0]);
	MPI_Ibarrier(s->inter, &requests[1]);
	MPI_Ibcast(&got, 1, MPI_INT, root, s->inter, &requests[2]);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	wrong += sum != remote_sum(s);
	wrong += got != (root >= 0 ? world_of(s, true, 0) : s->rank);
}

static void errors(const struct sides *s)
{
	int x = 0, y = 0;
	MPI_Comm other;

	wrong += MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, s->inter) !=
		 MPI_ERR_COMM;
	wrong += MPI_Allreduce(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM,
			       s->inter) != MPI_ERR_BUFFER;
	wrong += MPI_Bcast(&x, 1, MPI_INT, s->remote, s->inter) != MPI_ERR_ROOT;
	wrong += MPI_Intercomm_merge(s->own, 0, &other) != MPI_ERR_COMM;
	wrong += MPI_Comm_remote_size(s->own, &x) != MPI_ERR_COMM;
	wrong += MPI_Cart_create(s->inter, 1, &x, &x, 0, &other) !=
		 MPI_ERR_COMM;
	/* No root, two roots, another root. */
	wrong += MPI_Bcast(&x, 1, MPI_INT, s->second ? 0 : MPI_PROC_NULL,
			   s->inter) != MPI_ERR_OTHER;
	wrong += MPI_Bcast(&x, 1, MPI_INT, MPI_ROOT, s->inter) != MPI_ERR_OTHER;
	wrong += MPI_Allreduce(&x, &y, 1, s->second ? MPI_INT : MPI_FLOAT,
			       MPI_SUM, s->inter) != MPI_ERR_OTHER;
}

static void rooted_first(const struct sides *s)
{
	rooted(s, false);
}

static void rooted_second(const struct sides *s)
{
	rooted(s, true);
}

static void messages_inter(const struct sides *s)
{
	messages(s, s->inter);
}

static const struct {
	void (*check)(const struct sides *s);
	const char *sentence;
} checks[] = {
	{ ask, "knows its two groups" },
	{ messages_inter, "carries messages from group to group" },
	{ copy, "is duplicated" },
	{ split, "is split, where both sides have members" },
	{ create, "is made from one group on each side" },
	{ merge, "is merged in the order that was asked for" },
	{ rooted_first, "has collectives with a root in the first group" },
	{ rooted_second, "has collectives with a root in the second group" },
	{ all, "has collectives from all to all" },
	{ reduce_scatter, "shares out what the other side reduces" },
	{ user_op, "reduces in order with functions of the user" },
	{ nonblocking, "has nonblocking collectives" },
	{ errors, "tells its errors" },
};
#define CHECKS ((int)(sizeof(checks) / sizeof(checks[0])))

static int which, first_size;

static void body(int rank, int size)
{
	struct sides s;

	sides_open(&s, rank, size, first_size);
	checks[which].check(&s);
	MPI_Barrier(MPI_COMM_WORLD);
	sides_close(&s);
}

int main(void)
{
	static const int sizes[] = { 2, 3, 5, 8, 17 };

	plan(2 * CHECKS);
	for (int workers = 1; workers <= 2; workers++) {
		for (which = 0; which < CHECKS; which++) {
			wrong = 0;
			for (int i = 0; i < 5; i++) {
				first_size = 1;
				ranks_run(sizes[i], workers, body);
				first_size = sizes[i] / 2;
				ranks_run(sizes[i], workers, body);
				first_size = sizes[i] - 1;
				ranks_run(sizes[i], workers, body);
			}
			is_int(wrong, 0,
			       "an intercommunicator %s, on %d workers",
			       checks[which].sentence, workers);
		}
	}
	return done_testing();
}
