/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of vmpi.h: every root, blocks of all sizes, operations that do not
 * commute, channels whose members lie anywhere; mistakes.
 */
#include <stdint.h>
#include <vmpi.h>

#include "mtap.h"

static const size_t sizes[] = { 0, 1, 24, 3000, 70000 };
#define SIZES (sizeof(sizes) / sizeof(*sizes))

/* The block that i sends to j. */
static void fill(unsigned char *block, size_t bytes, int i, int j)
{
	for (size_t b = 0; b < bytes; b++)
		block[b] =
			(unsigned char)(b * 7 + (size_t)i * 31 + (size_t)j * 3);
}

static bool filled(const unsigned char *block, size_t bytes, int i, int j)
{
	for (size_t b = 0; b < bytes; b++)
		if (block[b] !=
		    (unsigned char)(b * 7 + (size_t)i * 31 + (size_t)j * 3))
			return false;
	return true;
}

struct buffers {
	unsigned char *out, *in;
	size_t bytes;
	int me, n;
};

static bool bcast(vmpi_chan *chan, struct buffers *b, int root)
{
	memset(b->in, 0, b->bytes);
	if (b->me == root)
		fill(b->in, b->bytes, root, 0);
	return vmpi_bcast(chan, b->in, b->bytes, root) == 0 &&
	       filled(b->in, b->bytes, root, 0);
}

static bool gather(vmpi_chan *chan, struct buffers *b, int root)
{
	bool right = true;

	fill(b->in, b->bytes, b->me, root);
	right = vmpi_gather(chan, b->me == root ? b->out : NULL, b->in,
			    b->bytes, root) == 0;
	for (int i = 0; b->me == root && i < b->n; i++)
		right = right && filled(b->out + (size_t)i * b->bytes, b->bytes,
					i, root);
	return right;
}

static bool scatter(vmpi_chan *chan, struct buffers *b, int root)
{
	for (int j = 0; b->me == root && j < b->n; j++)
		fill(b->in + (size_t)j * b->bytes, b->bytes, root, j);
	return vmpi_scatter(chan, b->out, b->me == root ? b->in : NULL,
			    b->bytes, root) == 0 &&
	       filled(b->out, b->bytes, root, b->me);
}

static bool allgather(vmpi_chan *chan, struct buffers *b)
{
	bool right;

	fill(b->in, b->bytes, b->me, 5);
	right = vmpi_allgather(chan, b->out, b->in, b->bytes) == 0;
	for (int i = 0; i < b->n; i++)
		right = right &&
			filled(b->out + (size_t)i * b->bytes, b->bytes, i, 5);
	return right;
}

static bool alltoall(vmpi_chan *chan, struct buffers *b)
{
	bool right;

	for (int j = 0; j < b->n; j++)
		fill(b->in + (size_t)j * b->bytes, b->bytes, b->me, j);
	right = vmpi_alltoall(chan, b->out, b->in, b->bytes) == 0;
	for (int i = 0; i < b->n; i++)
		right = right && filled(b->out + (size_t)i * b->bytes, b->bytes,
					i, b->me);
	return right;
}

static void moves(vmpi_chan *chan, const char *where)
{
	struct buffers b = { .me = vmpi_chan_rank(chan),
			     .n = vmpi_chan_size(chan) };

	b.out = malloc((size_t)b.n * 70000);
	b.in = malloc((size_t)b.n * 70000);
	for (size_t s = 0; s < SIZES; s++) {
		bool right = true;

		b.bytes = sizes[s];
		for (int root = 0; root < b.n; root++)
			right = bcast(chan, &b, root) && right;
		all_ok(right, "%s: broadcasts of %zu bytes", where, b.bytes);
		right = true;
		for (int root = 0; root < b.n; root++)
			right = gather(chan, &b, root) && right;
		all_ok(right, "%s: gathers of %zu bytes", where, b.bytes);
		right = true;
		for (int root = 0; root < b.n; root++)
			right = scatter(chan, &b, root) && right;
		all_ok(right, "%s: scatters of %zu bytes", where, b.bytes);
		all_ok(allgather(chan, &b), "%s: allgather of %zu bytes", where,
		       b.bytes);
		all_ok(alltoall(chan, &b), "%s: alltoall of %zu bytes", where,
		       b.bytes);
	}
	free(b.out);
	free(b.in);
}

/* x -> a x + b: to do one after the other is associative, and in no other
 * order. */
struct line {
	uint32_t a, b;
};

static void compose(void *sum, const void *more, size_t count, void *arg)
{
	struct line *first = sum;
	const struct line *then = more;

	for (size_t i = 0; i < count; i++) {
		first[i].b = then[i].a * first[i].b + then[i].b;
		first[i].a *= then[i].a;
	}
	(void)arg;
}

static struct line line_of(int i, size_t k)
{
	return (struct line){ (uint32_t)(2 * i + 3),
			      (uint32_t)((size_t)i * 5 + k) };
}

static bool is_composed(const struct line *lines, size_t count, int n)
{
	for (size_t k = 0; k < count; k++) {
		struct line want = line_of(0, k), next;

		for (int i = 1; i < n; i++) {
			next = line_of(i, k);
			compose(&want, &next, 1, NULL);
		}
		if (lines[k].a != want.a || lines[k].b != want.b)
			return false;
	}
	return true;
}

static void reductions(vmpi_chan *chan, const char *where)
{
	static const size_t counts[] = { 0, 1, 100, 9000 };
	int me = vmpi_chan_rank(chan), n = vmpi_chan_size(chan);
	struct line *in = malloc(9000 * sizeof(*in));
	struct line *out = malloc(9000 * sizeof(*out));

	for (size_t c = 0; c < 4; c++) {
		bool right = true;

		for (size_t k = 0; k < counts[c]; k++)
			in[k] = line_of(me, k);
		for (int root = 0; root < n; root++) {
			memset(out, 0, 9000 * sizeof(*out));
			right = vmpi_reduce(chan, me == root ? out : NULL, in,
					    sizeof(*in), counts[c], compose,
					    NULL, root) == 0 &&
				(me != root ||
				 is_composed(out, counts[c], n)) &&
				right;
		}
		all_ok(right, "%s: %zu elements are combined in order", where,
		       counts[c]);
		memset(out, 0, 9000 * sizeof(*out));
		all_ok(vmpi_allreduce(chan, out, in, sizeof(*in), counts[c],
				      compose, NULL) == 0 &&
			       is_composed(out, counts[c], n),
		       "%s: for all ranks", where);
	}
	free(in);
	free(out);
}

static void mistakes(vmpi_chan *world)
{
	int value = 0, others[2] = { 0, 0 };

	all_ok(vmpi_bcast(world, NULL, 4, 0) == -VMPI_EINVAL &&
		       vmpi_bcast(NULL, &value, 4, 0) == -VMPI_EINVAL &&
		       vmpi_bcast(world, &value, 4, size) == -VMPI_ERANK &&
		       vmpi_bcast(world, &value, 4, -1) == -VMPI_ERANK &&
		       vmpi_gather(world, NULL, &value, 4, rank) ==
			       -VMPI_EINVAL &&
		       vmpi_scatter(world, &value, NULL, 4, rank) ==
			       -VMPI_EINVAL &&
		       vmpi_allgather(world, others, NULL, 4) == -VMPI_EINVAL &&
		       vmpi_alltoall(world, NULL, others, 4) == -VMPI_EINVAL &&
		       vmpi_reduce(world, NULL, &value, 4, 1, compose, NULL,
				   rank) == -VMPI_EINVAL &&
		       vmpi_allreduce(world, others, &value, 4, 1, NULL,
				      NULL) == -VMPI_EINVAL &&
		       vmpi_allreduce(world, others, &value, SIZE_MAX / 2, 4,
				      compose, NULL) == -VMPI_EINVAL,
	       "mistakes in arguments");
	if (size == 1)
		return;
	all_ok(vmpi_bcast(world, others, rank ? 4 : 8, 0) == -VMPI_EMISMATCH,
	       "different sizes are an error of all");
	all_ok((rank ? vmpi_bcast(world, others, 4, 0) :
		       vmpi_gather(world, others, &value, 0, 0)) ==
		       -VMPI_EMISMATCH,
	       "so are different calls");
	all_ok(vmpi_bcast(world, &value, 4, 0) == 0, "then all is well again");
}

int main(int argc, char **argv)
{
	vmpi_chan *world, *turned, *half;

	mtap_init(&argc, &argv);
	world = vmpi_world();
	moves(world, "world");
	reductions(world, "world");
	/* Neighbours are far apart. */
	vmpi_chan_split(world, &turned, 0, (rank * 7) % (size | 1));
	moves(turned, "turned");
	reductions(turned, "turned");
	vmpi_chan_split(world, &half, rank % 2, -rank);
	moves(half, "half");
	reductions(half, "half");
	vmpi_chan_free(&half);
	vmpi_chan_free(&turned);
	mistakes(world);
	return mtap_end();
}
