/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to windows: all operations and kinds of types, derived ones on both
 * sides, and updates of one element by all ranks at a time.
 */
#include <unistd.h>

#include "mtap.h"

enum { ROOM = 4096 };

static MPI_Win win;
static char *mine;

static void fence(void)
{
	MPI_Win_fence(0, win);
}

/* A column of the caller's becomes a row of its right neighbour, and back. */
static void columns(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int matrix[4][5], back[4][5], *row = (int *)(void *)mine;
	MPI_Datatype column;
	bool held = true;

	for (int i = 0; i < 20; i++) {
		matrix[i / 5][i % 5] = 100 * rank + i;
		back[i / 5][i % 5] = -1;
	}
	MPI_Type_vector(4, 1, 5, MPI_INT, &column);
	MPI_Type_commit(&column);
	memset(mine, 0, ROOM);
	fence();
	MPI_Put(&matrix[0][1], 1, column, right, 8, 4, MPI_INT, win);
	fence();
	for (int i = 0; i < 4; i++)
		held &= row[2 + i] == 100 * left + 5 * i + 1;
	all_ok(held, "a column is put into a row");
	MPI_Get(&back[0][3], 1, column, right, 8, 4, MPI_INT, win);
	fence();
	for (int i = 0; i < 20; i++)
		held &= back[i / 5][i % 5] ==
			(i % 5 == 3 ? 100 * rank + i - 2 : -1);
	all_ok(held, "a row is got into a column");
	MPI_Accumulate(&matrix[0][0], 1, column, right, 8, 1, column, MPI_SUM,
		       win);
	fence();
	held &= row[2] == 100 * left + 1 + 100 * left &&
		row[7] == 100 * left + 5 && row[3] == 100 * left + 6;
	all_ok(held, "a column is added to a column");
	MPI_Type_free(&column);
}

/* All ranks add to the elements of rank 0 at once; a type is a name, a C type
 * and an operation whose result is the number of updates. */
#define UPDATES 200
#define COUNTED(c_type, mpi_type)                                            \
	do {                                                                 \
		c_type one[3] = { 1, 1, 1 }, *all = (c_type *)(void *)mine;  \
		c_type before[3];                                            \
                                                                             \
		memset(mine, 0, ROOM);                                       \
		fence();                                                     \
		for (int i = 0; i < UPDATES; i++)                            \
			if (i & 1)                                           \
				MPI_Accumulate(one, 3, mpi_type, 0, 0, 3,    \
					       mpi_type, MPI_SUM, win);      \
			else                                                 \
				MPI_Get_accumulate(one, 3, mpi_type, before, \
						   3, mpi_type, 0, 0, 3,     \
						   mpi_type, MPI_SUM, win);  \
		fence();                                                     \
		all_ok(rank || (all[0] == (c_type)(UPDATES * size) &&        \
				all[2] == (c_type)(UPDATES * size)),         \
		       "no addition to " #mpi_type " is lost");              \
	} while (0)

static void counted(void)
{
	COUNTED(signed char, MPI_SIGNED_CHAR);
	COUNTED(short, MPI_SHORT);
	COUNTED(int, MPI_INT);
	COUNTED(long, MPI_LONG);
	COUNTED(unsigned, MPI_UNSIGNED);
	COUNTED(float, MPI_FLOAT);
	COUNTED(double, MPI_DOUBLE);
	COUNTED(long double, MPI_LONG_DOUBLE);
	COUNTED(MPI_Aint, MPI_AINT);
	COUNTED(double _Complex, MPI_C_DOUBLE_COMPLEX);
}

/* Each rank draws numbers from a counter; nobody draws one twice. */
static void fetched(void)
{
	long one = 1, drawn, last = -1, sum = 0, all = 0;
	long n = (long)size * UPDATES;

	memset(mine, 0, ROOM);
	everybody();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < UPDATES; i++) {
		MPI_Fetch_and_op(&one, &drawn, MPI_LONG, 0, 16, MPI_SUM, win);
		MPI_Win_flush(0, win);
		sum += drawn > last ? drawn : -1000000;
		last = drawn;
	}
	MPI_Win_unlock_all(win);
	MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	all_ok(all == n * (n - 1) / 2, "each number is drawn once, in order");
}

#define SWAPPED(c_type, mpi_type)                                          \
	do {                                                               \
		c_type old, new, seen = 0, *all = (c_type *)(void *)mine;  \
                                                                           \
		memset(mine, 0, ROOM);                                     \
		everybody();                                               \
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);                  \
		for (int i = 0; i < 20; i++)                               \
			do {                                               \
				old = seen;                                \
				new = (c_type)(old + 1);                   \
				MPI_Compare_and_swap(&new, &old, &seen,    \
						     mpi_type, 0, 0, win); \
				MPI_Win_flush(0, win);                     \
			} while (seen != old);                             \
		MPI_Win_unlock(0, win);                                    \
		everybody();                                               \
		all_ok(rank || *all == (c_type)(20 * size),                \
		       "one swap of " #mpi_type " wins at a time");        \
		everybody();                                               \
	} while (0)

static void swapped(void)
{
	SWAPPED(unsigned char, MPI_BYTE);
	SWAPPED(short, MPI_SHORT);
	SWAPPED(int, MPI_INT);
	SWAPPED(long long, MPI_LONG_LONG);
}

/* Ranks that add to many elements at once, and ranks that add to each. */
static void many(void)
{
	enum { MANY = ROOM / sizeof(long) };
	long ones[MANY], *all = (long *)(void *)mine;
	bool held = true;

	for (int i = 0; i < MANY; i++)
		ones[i] = 1;
	memset(mine, 0, ROOM);
	fence();
	for (int turn = 0; turn < 10; turn++) {
		if (rank & 1)
			MPI_Accumulate(ones, MANY, MPI_LONG, 0, 0, MANY,
				       MPI_LONG, MPI_SUM, win);
		for (int i = 0; !(rank & 1) && i < MANY; i++)
			MPI_Accumulate(ones, 1, MPI_LONG, 0,
				       i * (MPI_Aint)sizeof(long), 1, MPI_LONG,
				       MPI_SUM, win);
	}
	fence();
	for (int i = 0; rank == 0 && i < MANY; i++)
		held &= all[i] == 10L * size;
	all_ok(held, "updates of many elements and of one agree");
}

/* The best offer of all wins, in types with padding too. */
#define BEST(c_type, mpi_type)                                          \
	do {                                                            \
		struct {                                                \
			c_type value;                                   \
			int index;                                      \
		} offer[2], *best = (void *)mine;                       \
                                                                        \
		memset(mine, 0, ROOM);                                  \
		memset(offer, 0, sizeof(offer));                        \
		for (int i = 0; i < 2; i++) {                           \
			offer[i].value = (c_type)(rank + 1);            \
			offer[i].index = 10 * rank + i;                 \
		}                                                       \
		fence();                                                \
		MPI_Accumulate(offer, 2, mpi_type, 0, 0, 2, mpi_type,   \
			       MPI_MAXLOC, win);                        \
		fence();                                                \
		all_ok(rank || (best[1].value == (c_type)size &&        \
				best[1].index == 10 * (size - 1) + 1 && \
				best[0].index == 10 * (size - 1)),      \
		       "the largest " #mpi_type " is found");           \
	} while (0)

static void best(void)
{
	BEST(float, MPI_FLOAT_INT);
	BEST(double, MPI_DOUBLE_INT);
	BEST(long, MPI_LONG_INT);
	BEST(short, MPI_SHORT_INT);
	BEST(long double, MPI_LONG_DOUBLE_INT);
	BEST(int, MPI_2INT);
}

/* Every predefined operation, of two operands. */
static void operations(void)
{
	static const struct {
		MPI_Op op;
		int result; /* of 12 op 10 */
	} rows[] = {
		{ MPI_SUM, 22 }, { MPI_PROD, 120 },   { MPI_MAX, 12 },
		{ MPI_MIN, 10 }, { MPI_BAND, 8 },     { MPI_BOR, 14 },
		{ MPI_BXOR, 6 }, { MPI_LAND, 1 },     { MPI_LOR, 1 },
		{ MPI_LXOR, 0 }, { MPI_REPLACE, 10 }, { MPI_NO_OP, 12 },
	};
	int operand = 10, was = 0, *value = (int *)(void *)mine;
	bool held = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		value[0] = value[1] = value[2] = 12;
		everybody();
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
		MPI_Get_accumulate(&operand, 1, MPI_INT, &was, 1, MPI_INT, rank,
				   0, 1, MPI_INT, rows[i].op, win);
		held &= was == 12 && value[0] == rows[i].result;
		MPI_Fetch_and_op(&operand, &was, MPI_INT, rank, 4, rows[i].op,
				 win);
		held &= was == 12 && value[1] == rows[i].result;
		MPI_Accumulate(&operand, 1, MPI_INT, rank, 8, 1, MPI_INT,
			       rows[i].op, win);
		held &= value[2] == rows[i].result;
		MPI_Win_unlock(rank, win);
	}
	all_ok(held, "each operation does what it does in reductions");
}

static void requests(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int value = rank, got = -1, was = -1, *at = (int *)(void *)mine;
	MPI_Request request[4];

	memset(mine, 0, ROOM);
	everybody();
	MPI_Win_lock_all(0, win);
	MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request[0]);
	MPI_Raccumulate(&value, 1, MPI_INT, right, 4, 1, MPI_INT, MPI_SUM, win,
			&request[1]);
	MPI_Rget_accumulate(&value, 1, MPI_INT, &was, 1, MPI_INT, right, 8, 1,
			    MPI_INT, MPI_REPLACE, win, &request[2]);
	MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
	MPI_Win_flush_all(win);
	MPI_Rget(&got, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request[3]);
	MPI_Wait(&request[3], MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	everybody();
	all_ok(was == 0 && got == rank && at[0] == left && at[1] == left &&
		       at[2] == left,
	       "accesses with requests are done after the wait");
	memset(mine, 0, ROOM);
	fence();
	MPI_Rput(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request[0]);
	MPI_Rget(&got, 1, MPI_INT, left, 4, 1, MPI_INT, win, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	fence();
	all_ok(at[0] == left && got == 0, "programs use them between fences");
}

/* An element that its size does not divide the address of. */
static void crooked(void)
{
	int one = 1, sum;

	memset(mine, 0, ROOM);
	fence();
	for (int i = 0; i < UPDATES; i++)
		MPI_Accumulate(&one, 1, MPI_INT, 0, 3, 1, MPI_INT, MPI_SUM,
			       win);
	fence();
	memcpy(&sum, mine + 3, sizeof(sum));
	all_ok(rank || sum == UPDATES * size,
	       "an element may lie at any address");
}

/* Accesses whose results are there after a flush, more than are under way at a
 * time; what describes their buffers is freed before. */
static void flushed_later(void)
{
	enum { MANY = 150 };
	int right = (rank + 1) % size, one = 1, columns[MANY][2];
	int before[MANY], *row = (int *)(void *)mine, old = -1, zero = 0;
	MPI_Datatype column;
	bool held = true;

	for (int i = 0; i < MANY; i++)
		row[i] = 1000 * rank + i;
	memset(columns, -1, sizeof(columns));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	MPI_Type_vector(MANY / 10, 1, 2, MPI_INT, &column);
	MPI_Type_commit(&column);
	for (int i = 0; i < MANY; i += MANY / 10)
		MPI_Get(columns[i], 1, column, right, i * (int)sizeof(int),
			MANY / 10, MPI_INT, win);
	MPI_Type_free(&column);
	MPI_Win_flush_local(right, win);
	for (int i = 0; i < MANY; i++)
		held &= columns[i][0] == 1000 * right + i &&
			columns[i][1] == -1;
	all_ok(held, "what was got is there after a local flush");
	for (int i = 0; i < MANY; i++)
		MPI_Fetch_and_op(&one, &before[i], MPI_INT, right,
				 MANY * (int)sizeof(int), MPI_SUM, win);
	MPI_Compare_and_swap(&zero, &one, &old, MPI_INT, right, 0, win);
	MPI_Win_flush(right, win);
	for (int i = 1; i < MANY; i++)
		held &= before[i] == before[0] + i;
	held &= old == 1000 * right;
	MPI_Get(&old, 1, MPI_INT, right, MANY * (int)sizeof(int), 1, MPI_INT,
		win);
	MPI_Win_unlock_all(win);
	all_ok(held && old == before[0] + MANY,
	       "many updates return what was there, in order");
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
	MPI_Get(&old, 1, MPI_INT, right, sizeof(int), 1, MPI_INT, win);
	MPI_Win_unlock(right, win);
	all_ok(old == 1000 * right + 1, "an unlock waits for what was got");
}

static void large_counts(void)
{
	double data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, got[8], was[8];
	bool held = true;

	memset(mine, 0, ROOM);
	fence();
	MPI_Put_c(data, 8, MPI_DOUBLE, rank, 0, 8, MPI_DOUBLE, win);
	MPI_Accumulate_c(data, 8, MPI_DOUBLE, rank, 0, 8, MPI_DOUBLE, MPI_SUM,
			 win);
	MPI_Get_accumulate_c(data, 8, MPI_DOUBLE, was, 8, MPI_DOUBLE, rank, 0,
			     8, MPI_DOUBLE, MPI_SUM, win);
	fence();
	MPI_Get_c(got, 8, MPI_DOUBLE, rank, 0, 8, MPI_DOUBLE, win);
	fence();
	for (int i = 0; i < 8; i++)
		held &= got[i] == 3 * data[i] && was[i] == 2 * data[i];
	all_ok(held, "the twins for large counts do the same");
}

static void large_requests(void)
{
	double data = 3, got = 0, was = 0;
	MPI_Request request[2];

	memset(mine, 0, ROOM);
	everybody();
	MPI_Win_lock_all(0, win);
	MPI_Rput_c(&data, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, win,
		   &request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Win_flush(rank, win);
	MPI_Raccumulate_c(&data, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, MPI_SUM,
			  win, &request[0]);
	MPI_Rget_accumulate_c(&data, 1, MPI_DOUBLE, &was, 1, MPI_DOUBLE, rank,
			      0, 1, MPI_DOUBLE, MPI_SUM, win, &request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Win_flush(rank, win);
	MPI_Rget_c(&got, 1, MPI_DOUBLE, rank, 0, 1, MPI_DOUBLE, win,
		   &request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	all_ok(was == 6 && got == 9, "those with requests too");
}

/* More data are under way than there are places for, of sizes on each side of
 * what a place holds, from two members at a time. */
enum { GETS = 200 };

static void many_got(void)
{
	static const int sizes[] = { 1, 8, 56, 1024, 1025, 3000 };
	static char got[GETS][3000];
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	bool held = true;

	for (int i = 0; i < ROOM; i++)
		mine[i] = (char)(rank + i);
	everybody();
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < GETS; i++)
		MPI_Get(got[i], sizes[i % 6], MPI_BYTE, i % 3 ? right : left, i,
			sizes[i % 6], MPI_BYTE, win);
	MPI_Win_flush(left, win);
	for (int i = 0; i < GETS; i += 3)
		held &= got[i][sizes[i % 6] - 1] ==
			(char)(left + i + sizes[i % 6] - 1);
	all_ok(held, "a flush waits for the data of one member");
	MPI_Win_flush_local_all(win);
	for (int i = 0; i < GETS; i++)
		for (int k = 0; k < sizes[i % 6]; k++)
			held &= got[i][k] ==
				(char)((i % 3 ? right : left) + i + k);
	all_ok(held, "a local one for those of all members");
	MPI_Win_unlock_all(win);
	everybody();
}

/* The last of so many bytes that the origin has asked about them is there when
 * the fence is. */
static void asked_along(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	char data[1024];
	bool held = true;

	MPI_Win_fence(0, win);
	for (int n = 255; n <= 258; n++) {
		for (int i = 0; i < n; i++) {
			memset(data, rank + n + i, sizeof(data));
			MPI_Put(data, sizeof(data), MPI_BYTE, right, 0,
				sizeof(data), MPI_BYTE, win);
		}
		MPI_Win_fence(0, win);
		held &= mine[0] == (char)(left + n + n - 1) &&
			mine[1023] == mine[0];
		MPI_Win_fence(0, win);
	}
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_ok(held, "a fence waits for what was asked about before it");
}

/* Puts alone and behind others, short and long, are done when the flush is; who
 * got word of that sees them. */
static void alone(void)
{
	static const int sizes[] = { 1, 300, 600, 1024, 2000, 4000 };
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	char data[ROOM];
	bool held = true;

	for (int i = 0; i < 60; i++) {
		int bytes = sizes[i % 6], row = i % 4 ? 1 : 3;

		memset(data, rank + i, sizeof(data));
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
		for (int k = 0; k < row; k++)
			MPI_Put(data, bytes, MPI_BYTE, right, k, bytes,
				MPI_BYTE, win);
		MPI_Win_flush(right, win);
		everybody();
		held &= mine[0] == (char)(left + i) &&
			mine[bytes + row - 2] == mine[0];
		MPI_Win_unlock(right, win);
		everybody();
	}
	all_ok(held, "puts alone and in rows are there after a flush");
}

/* Those who are reached sleep meanwhile: all the same each access is done when
 * its flush is. */
static void absent(void)
{
	int right = (rank + 1) % size;
	long data, got, one = 1;
	bool held = true;

	memset(mine, 0, ROOM);
	for (int i = 0; i < 10; i++) {
		everybody();
		if (rank % 2) {
			usleep(1000);
			continue;
		}
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
		for (int k = 0; k < 100; k++) {
			data = 1000 * i + k;
			MPI_Put(&data, 1, MPI_LONG, right, 8 * k, 1, MPI_LONG,
				win);
			if (k % 3 == 0)
				MPI_Win_flush(right, win);
		}
		MPI_Win_flush(right, win);
		MPI_Accumulate(&one, 1, MPI_LONG, right, 8 * i, 1, MPI_LONG,
			       MPI_SUM, win);
		MPI_Win_flush(right, win);
		for (int k = 0; k < 100; k++) {
			MPI_Get(&got, 1, MPI_LONG, right, 8 * k, 1, MPI_LONG,
				win);
			MPI_Win_flush_local(right, win);
			held &= got == 1000 * i + k + (k == i);
		}
		MPI_Win_unlock(right, win);
	}
	everybody();
	all_ok(held, "who sleeps is reached as well");
}

/* All of it, in memory that the window has made or that it was given. */
static void everything(void)
{
	memset(mine, 0, ROOM);
	columns();
	counted();
	many();
	best();
	crooked();
	large_counts();
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	fetched();
	swapped();
	operations();
	requests();
	flushed_later();
	large_requests();
	many_got();
	asked_along();
	alone();
	absent();
	MPI_Win_free(&win);
}

static char pattern(int of, int round, size_t at)
{
	return (char)(of * 31 + round * 7 + at % 251);
}

/* All put to their right neighbours and get from their left ones at a time what
 * two processes may move together; who waits in a receive takes part. */
static void long_ones(void)
{
	static const size_t sizes[] = { 20000,	32768,	 65537,
					100001, 1 << 20, (5 << 20) + 3 };
	enum { LONGEST = (5 << 20) + 3 };
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	char *memory = malloc(2 * LONGEST), *data = malloc(2 * LONGEST);
	bool held = true;
	MPI_Win longs;

	MPI_Win_create(memory, 2 * LONGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &longs);
	for (int i = 0; i < 6; i++) {
		for (size_t k = 0; k < sizes[i]; k++) {
			data[k] = pattern(rank, i, k);
			memory[LONGEST + k] = pattern(rank, i + 100, k);
		}
		everybody();
		MPI_Win_lock_all(0, longs);
		/* Every other time half of them wait meanwhile. */
		if (i % 2 == 0 || rank % 2 == 0) {
			MPI_Put(data, (int)sizes[i], MPI_BYTE, right, 0,
				(int)sizes[i], MPI_BYTE, longs);
			MPI_Get(data + LONGEST, (int)sizes[i], MPI_BYTE, left,
				LONGEST, (int)sizes[i], MPI_BYTE, longs);
		}
		MPI_Win_unlock_all(longs);
		everybody();
		for (size_t k = 0; k < sizes[i]; k++) {
			if (i % 2 == 0 || rank % 2 == 0)
				held &= data[LONGEST + k] ==
					pattern(left, i + 100, k);
			if (i % 2 == 0 || left % 2 == 0)
				held &= memory[k] == pattern(left, i, k);
		}
	}
	all_ok(held, "long puts and gets move all bytes");
	MPI_Win_free(&longs);
	free(memory);
	free(data);
}

int main(int argc, char **argv)
{
	char *memory;

	mtap_init(&argc, &argv);
	MPI_Win_allocate_c(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	everything();
	memory = mine = malloc(ROOM);
	MPI_Win_create(mine, ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	everything();
	free(memory);
	long_ones();
	return mtap_end();
}
