/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * power: the greatest eigenvalue of a matrix, by collectives of vmpi.h.
 *
 * Rank 0 makes the matrix and scatters its rows.  In each step every rank
 * multiplies its rows by the vector, the pieces of the result are gathered by
 * all, and its length is the sum of what each rank has of it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

enum { RANKS = 8, ROWS = 16, N = RANKS * ROWS, STEPS = 200 };

/* What a rank has. */
struct part {
	double rows[ROWS][N]; /* of the matrix */
	double vector[N];
	double result[ROWS];
};

/* Two on the diagonal, minus one beside it: the eigenvalues are known. */
static double element(int i, int j)
{
	return i == j ? 2 : abs(i - j) == 1 ? -1 : 0;
}

static void add(void *sum, const void *more, size_t count, void *arg)
{
	double *to = sum;
	const double *from = more;

	(void)arg;
	for (size_t i = 0; i < count; i++)
		to[i] += from[i];
}

static int rows_get(struct part *part)
{
	double(*matrix)[N] = NULL;
	int rc;

	if (vmpi_rank() == 0) {
		matrix = malloc(sizeof(double[N][N]));
		if (!matrix)
			return -VMPI_ENOMEM;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				matrix[i][j] = element(i, j);
	}
	rc = vmpi_scatter(vmpi_world(), part->rows, matrix, sizeof(part->rows),
			  0);
	free(matrix);
	return rc;
}

/* vector = matrix * vector / |vector|; *length is that of the product. */
static int step(struct part *part, double *length)
{
	double own = 0, all;
	int rc;

	for (int i = 0; i < ROWS; i++) {
		part->result[i] = 0;
		for (int j = 0; j < N; j++)
			part->result[i] += part->rows[i][j] * part->vector[j];
		own += part->result[i] * part->result[i];
	}
	rc = vmpi_allreduce(vmpi_world(), &all, &own, sizeof(own), 1, add,
			    NULL);
	if (rc)
		return rc;
	*length = sqrt(all);
	for (int i = 0; i < ROWS; i++)
		part->result[i] /= *length;
	return vmpi_allgather(vmpi_world(), part->vector, part->result,
			      sizeof(part->result));
}

static int body(void *arg)
{
	struct part *part = malloc(sizeof(*part));
	double length = 0, *lengths = arg;
	int rc = part ? rows_get(part) : -VMPI_ENOMEM;

	for (int i = 0; part && i < N; i++)
		part->vector[i] = i % 2 ? -1 : 1;
	for (int i = 0; i < STEPS && rc == 0; i++)
		rc = step(part, &length);
	free(part);
	/* All have come to the same. */
	if (rc == 0)
		rc = vmpi_gather(vmpi_world(), lengths, &length, sizeof(length),
				 0);
	return rc;
}

int main(void)
{
	const double want = 4 * pow(sin(M_PI * N / (2 * (N + 1.))), 2);
	double lengths[RANKS] = { 0 };
	int bad = 0;
	int rc = vmpi_run(&(vmpi_config){ .ranks = RANKS, .workers = 2 }, body,
			  lengths);

	if (rc != 0) {
		fprintf(stderr, "power: %s\n", vmpi_strerror(rc));
		return 1;
	}
	for (int i = 0; i < RANKS; i++)
		bad += lengths[i] != lengths[0];
	printf("the greatest eigenvalue is %.4f, found %.4f\n", want,
	       lengths[0]);
	return bad || fabs(lengths[0] - want) > 0.01;
}
