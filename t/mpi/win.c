/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows: how they are made, what is known about them, and how accesses are
 * synchronised.
 */
#include <unistd.h>

#include "mtap.h"

static MPI_Win win;
static int right, left;

/* Fences separate the puts of a round from what is read after it. */
static void fences(void)
{
	int *mine, held = 1;

	MPI_Win_allocate((MPI_Aint)sizeof(int) * size, sizeof(int),
			 MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
	for (int round = 0; round < 20; round++) {
		int value = 1000 * round + rank;

		MPI_Win_fence(0, win);
		for (int to = 0; to < size; to++)
			MPI_Put(&value, 1, MPI_INT, to, rank, 1, MPI_INT, win);
		MPI_Win_fence(0, win);
		for (int from = 0; from < size; from++)
			held &= mine[from] == 1000 * round + from;
	}
	all_ok(held, "a fence ends the puts of all ranks");
	mine[0] = rank + 7;
	MPI_Win_fence(MPI_MODE_NOPUT, win);
	MPI_Get(&held, 1, MPI_INT, right, 0, 1, MPI_INT, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_ok(held == right + 7, "a get sees what its target stored before");
	MPI_Win_free(&win);
	all_ok(win == MPI_WIN_NULL, "a window that is freed has no handle");
}

/* Whether the right neighbour's memory is reached that another process has. */
static bool shares_with_right(void)
{
	int pid = getpid(), his = 0, unit;
	MPI_Aint bytes;
	void *base;

	MPI_Sendrecv(&pid, 1, MPI_INT, left, 0, &his, 1, MPI_INT, right, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Win_shared_query(win, right, &bytes, &unit, &base);
	return pid != his && bytes > 0;
}

/* Memory of several sizes: each member's is its own to the last byte, and what
 * processes share does not begin where the programs' large buffers do. */
static void sizes(void)
{
	static const int all[] = { 1, 4095, 4096, 20000, 8192, 100 };
	enum { KINDS = sizeof(all) / sizeof(all[0]), MOST = 20000 };
	static char out[MOST];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int first = 0; first < KINDS; first++) {
		int mine = all[(first + rank) % KINDS], held = 1;
		int his = all[(first + right) % KINDS];
		char *base;

		MPI_Win_allocate(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
				 &win);
		memset(out, rank + 1, sizeof(out));
		MPI_Win_fence(0, win);
		MPI_Put(out, his, MPI_CHAR, right, 0, his, MPI_CHAR, win);
		MPI_Win_fence(0, win);
		for (int i = 0; i < mine; i++)
			held &= base[i] == (char)(left + 1);
		all_ok(held, "memory of %d bytes beside others is whole",
		       all[first]);
		if (shares_with_right() && (size_t)mine >= page)
			held = (uintptr_t)base % page > 256;
		all_ok(held, "and does not begin with a page");
		MPI_Win_free(&win);
	}
}

/* As mpi_minimum_memory_alignment asks, beside memory of others. */
static void alignments(void)
{
	static const struct {
		const char *asked;
		const char *had; /* NULL: it is ignored */
	} rows[] = {
		{ "256", "256" },   { "3000", "4096" },
		{ "4096", "4096" }, { "0", NULL },
		{ "page", NULL },   { "1152921504606846976", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uintptr_t unit = rows[i].had ? (uintptr_t)atol(rows[i].had) : 1;
		char value[MPI_MAX_INFO_VAL + 1] = "";
		MPI_Info info, used;
		char *base;
		int found;

		MPI_Info_create(&info);
		MPI_Info_set(info, "mpi_minimum_memory_alignment",
			     rows[i].asked);
		for (int bytes = 100; bytes < 100000; bytes *= 30) {
			MPI_Win_allocate(bytes + rank, 1, info, MPI_COMM_WORLD,
					 &base, &win);
			memset(base, rank, (size_t)(bytes + rank));
			all_ok((uintptr_t)base % unit == 0,
			       "%d bytes are aligned to %s", bytes,
			       rows[i].asked);
			MPI_Win_get_info(win, &used);
			MPI_Info_get(used, "mpi_minimum_memory_alignment",
				     MPI_MAX_INFO_VAL, value, &found);
			all_ok(found == !!rows[i].had &&
				       (!found || !strcmp(value, rows[i].had)),
			       "and the window says so");
			MPI_Info_free(&used);
			MPI_Win_free(&win);
		}
		MPI_Info_free(&info);
	}
}

static MPI_Group group_of(int first, int second)
{
	int ranks[] = { first, second };
	MPI_Group all, group;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, first == second ? 1 : 2, ranks, &group);
	MPI_Group_free(&all);
	return group;
}

/* Each rank lets its left neighbour write, and writes to its right one. */
static void posts(bool allocated)
{
	MPI_Group to = group_of(right, right), from = group_of(left, left);
	int own[2], *mine = own, held = 1;

	if (allocated)
		MPI_Win_allocate(sizeof(own), sizeof(int), MPI_INFO_NULL,
				 MPI_COMM_WORLD, &mine, &win);
	else
		MPI_Win_create_c(own, sizeof(own), sizeof(int), MPI_INFO_NULL,
				 MPI_COMM_WORLD, &win);
	mine[0] = mine[1] = -1;
	for (int round = 0; round < 20; round++) {
		int value = 100 * round + rank, flag = 0;

		MPI_Win_post(from, 0, win);
		MPI_Win_start(to, 0, win);
		MPI_Put(&value, 1, MPI_INT, right, round & 1, 1, MPI_INT, win);
		MPI_Win_complete(win);
		if (round % 3)
			MPI_Win_wait(win);
		else
			while (!flag)
				MPI_Win_test(win, &flag);
		held &= mine[round & 1] == 100 * round + left;
	}
	all_ok(held, "what was put is there when the exposure has ended%s",
	       allocated ? ", in memory of the window's own" : "");
	MPI_Win_post(MPI_GROUP_EMPTY, 0, win);
	MPI_Win_start(MPI_GROUP_EMPTY, 0, win);
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
	MPI_Win_free(&win);
}

/* A counter is read and written by everyone under an exclusive lock. */
static void locks(bool allocated)
{
	enum { TURNS = 50 };
	int own = 0, *counter = &own, value;
	MPI_Aint bytes = rank ? 0 : sizeof(own);

	if (allocated)
		MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL,
				 MPI_COMM_WORLD, &counter, &win);
	else
		MPI_Win_create(&own, bytes, sizeof(int), MPI_INFO_NULL,
			       MPI_COMM_WORLD, &win);
	if (rank == 0)
		*counter = 0;
	everybody();
	for (int i = 0; i < TURNS; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		value++;
		MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		MPI_Win_unlock(0, win);
	}
	everybody();
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock(0, win);
	all_ok(value == TURNS * size, "an exclusive lock excludes all others%s",
	       allocated ? ", in memory of the window's own" : "");
	everybody();
	MPI_Win_free(&win);
}

/*
 * What was put before a fence is seen behind it by long gets, which take another
 * way, of the rank that has put it and of a third one; also in memory of a
 * window that is used in other epochs.
 */
static void fences_in_order(void)
{
	enum { MANY = 16384 };
	int *mine = calloc(MANY, sizeof(*mine)),
	    *got = malloc(MANY * sizeof(*got)), held = 1;
	MPI_Group to = group_of(right, right), from = group_of(left, left);
	int across = (rank + 2) % size;

	MPI_Win_create(mine, MANY * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL,
		       MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	for (int round = 1; round <= 100; round++) {
		int value = 1000 * round + rank;

		MPI_Put(&value, 1, MPI_INT, right, round, 1, MPI_INT, win);
		MPI_Win_fence(0, win);
		MPI_Get(got, MANY, MPI_INT, round & 1 ? right : across, 0, MANY,
			MPI_INT, win);
		MPI_Win_fence(round % 10 ? 0 : MPI_MODE_NOSUCCEED, win);
		held &= got[round] == 1000 * round + (round & 1 ? rank : right);
		if (round % 10)
			continue;
		MPI_Win_post(from, 0, win);
		MPI_Win_start(to, 0, win);
		MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
		held &= mine[0] == 1000 * round + left;
		MPI_Win_fence(0, win);
		MPI_Get(got, MANY, MPI_INT, right, 0, MANY, MPI_INT, win);
		MPI_Win_fence(0, win);
		held &= got[0] == value;
	}
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_ok(held, "long gets see what was put before the last fence");
	MPI_Group_free(&to);
	MPI_Group_free(&from);
	MPI_Win_free(&win);
	free(mine);
	free(got);
}

/* Long puts and gets of memory that the program has given to the window; also of
 * each second element. */
static void long_ones(void)
{
	enum { MANY = 40000 };
	int *mine = malloc(2 * MANY * sizeof(*mine)),
	    *from = malloc(2 * MANY * sizeof(*from)), held = 1;
	MPI_Datatype second;

	MPI_Type_vector(MANY, 1, 2, MPI_INT, &second);
	MPI_Type_commit(&second);
	for (int i = 0; i < 2 * MANY; i++) {
		mine[i] = -1;
		from[i] = rank * 1000 + i;
	}
	MPI_Win_create(mine, 2 * MANY * sizeof(*mine), sizeof(*mine),
		       MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(from, MANY, MPI_INT, right, 1, MANY, MPI_INT, win);
	MPI_Win_fence(0, win);
	held &= mine[0] == -1 && mine[MANY + 1] == -1;
	for (int i = 0; i < MANY; i++)
		held &= mine[1 + i] == left * 1000 + i;
	MPI_Win_fence(0, win);
	MPI_Put(from, 1, second, right, MANY, MANY, MPI_INT, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < MANY; i++)
		held &= mine[MANY + i] == left * 1000 + 2 * i;
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Get(from, MANY, MPI_INT, right, MANY, MANY, MPI_INT, win);
	MPI_Win_unlock(right, win);
	for (int i = 0; i < MANY; i++)
		held &= from[i] == rank * 1000 + 2 * i;
	all_ok(held, "long puts and gets move all their bytes, and no others");
	MPI_Win_free(&win);
	MPI_Type_free(&second);
	free(from);
	free(mine);
}

/* How often all ranks together lock exclusively in queue(). */
static int exclusive_turns(int turns)
{
	int n = 0;

	for (int i = 0; i < size; i++)
		for (int turn = 0; turn < turns; turn++)
			n += (i + turn) % 3 != 0;
	return n;
}

/* Locks of both kinds, taken in turn by all ranks. */
static void queue(void)
{
	enum { TURNS = 20 };
	int *at, none = -1, value = 0, was;
	bool half = false;

	MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &at, &win);
	at[0] = at[1] = 0;
	everybody();
	for (int turn = 0; turn < TURNS; turn++) {
		int type = (rank + turn) % 3 ? MPI_LOCK_EXCLUSIVE :
					       MPI_LOCK_SHARED;

		MPI_Win_lock(type, 0, 0, win);
		if (type == MPI_LOCK_EXCLUSIVE) {
			MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_flush(0, win);
			MPI_Put(&none, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_flush(0, win);
			value++;
			MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
		} else {
			MPI_Get(&was, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_flush(0, win);
			half |= was < 0;
		}
		MPI_Win_unlock(0, win);
	}
	all_ok(!half, "those who share a lock see nothing half done");
	everybody();
	MPI_Win_lock_all(0, win);
	MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
	MPI_Win_unlock_all(win);
	all_ok(value == exclusive_turns(TURNS),
	       "and none of those who do not is forgotten");
	everybody();
	MPI_Win_free(&win);
}

/* The token goes round by stores that others wait for in MPI calls only. */
static void waits_for_a_store(void)
{
	int *mine, seen = 0, token = 1, none = 0;

	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, &win);
	*mine = rank == 0;
	everybody();
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	while (!seen) {
		MPI_Fetch_and_op(&none, &seen, MPI_INT, rank, 0, MPI_NO_OP,
				 win);
		MPI_Win_flush(rank, win);
	}
	MPI_Accumulate(&token, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_REPLACE,
		       win);
	MPI_Win_flush_all(win);
	MPI_Win_flush_local(right, win);
	MPI_Win_flush_local_all(win);
	MPI_Win_unlock_all(win);
	all_ok(seen == 1, "a rank that looks again and again lets others run");
	everybody();
	MPI_Win_free(&win);
}

/* Accesses and loads see the same memory, which has an int of `next`. */
static bool shared_updates(int next, int me, int n, int *mine, int *theirs)
{
	int one = 1, old = -1, compare = me + 2, value = me + 100, got = -1;
	bool held;

	MPI_Win_fence(0, win);
	MPI_Put(&me, 1, MPI_INT, next, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	held = *mine == (me + n - 1) % n;
	MPI_Win_fence(0, win);
	MPI_Accumulate(&one, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	held = held && *mine == (me + n - 1) % n + 1;
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win);
	MPI_Fetch_and_op(&one, &old, MPI_INT, next, 0, MPI_SUM, win);
	MPI_Win_flush(next, win);
	held = held && old == me + 1 && *theirs == me + 2;
	MPI_Compare_and_swap(&value, &compare, &old, MPI_INT, next, 0, win);
	MPI_Win_flush(next, win);
	held = held && old == me + 2 && *theirs == value;
	MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win);
	MPI_Win_unlock(next, win);
	return held && got == value;
}

/* The ranks of one host store into each other's memory. */
static void shared(bool noncontig)
{
	MPI_Aint bytes = 0, mine_bytes, wide_unit = 0;
	MPI_Comm comm;
	MPI_Info info;
	int me, n, unit, held = 1, *mine, *other, *before = NULL, *next = NULL;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
			    MPI_INFO_NULL, &comm);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	MPI_Info_create(&info);
	MPI_Info_set(info, "alloc_shared_noncontig",
		     noncontig ? "true" : "false");
	mine_bytes = (MPI_Aint)sizeof(int) * (me + 1);
	if (noncontig)
		MPI_Win_allocate_shared_c(mine_bytes, sizeof(int), info, comm,
					  &mine, &win);
	else
		MPI_Win_allocate_shared(mine_bytes, sizeof(int), info, comm,
					&mine, &win);
	MPI_Info_free(&info);
	MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
	for (int i = 0; i < n; i++) {
		MPI_Win_shared_query(win, i, &bytes, &unit, &other);
		held &= bytes == (MPI_Aint)sizeof(int) * (i + 1) &&
			unit == sizeof(int);
		if (!noncontig && before)
			held &= other == before + i;
		before = other;
		if (i == (me + 1) % n)
			next = other;
	}
	*next = me;
	MPI_Win_sync(win);
	MPI_Barrier(comm);
	MPI_Win_sync(win);
	held &= *mine == (me + n - 1) % n;
	MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
	MPI_Win_shared_query_c(win, 0, &mine_bytes, &wide_unit, &before);
	held &= other == before && bytes == mine_bytes &&
		wide_unit == sizeof(int);
	MPI_Win_unlock_all(win);
	all_ok(held, "ranks store into each other's memory, in %s",
	       noncontig ? "several pieces" : "one block");
	MPI_Barrier(comm);
	all_ok(shared_updates((me + 1) % n, me, n, mine, next),
	       "accesses meet loads there");
	MPI_Win_free(&win);
	MPI_Comm_free(&comm);
}

/* Of a window of the program's own memory what is not shared has no size, and of
 * nobody in particular the first member that has some is asked for. */
static void query_created(void)
{
	MPI_Aint bytes = -1, mine_bytes = (MPI_Aint)sizeof(int) * (rank + 1);
	MPI_Aint first_bytes = -1;
	int *mine = malloc((size_t)mine_bytes), *other = NULL, unit = 0;
	int held = 1;

	MPI_Win_create(mine, mine_bytes, sizeof(int), MPI_INFO_NULL,
		       MPI_COMM_WORLD, &win);
	for (int i = 0; i < size; i++) {
		MPI_Win_shared_query(win, i, &bytes, &unit, &other);
		held &= !bytes || bytes == (MPI_Aint)sizeof(int) * (i + 1);
		held &= i != rank || (bytes == mine_bytes && other == mine);
		if (i == 0)
			first_bytes = bytes;
	}
	MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &other);
	all_ok(held && bytes == first_bytes, "shared memory is asked for");
	MPI_Win_free(&win);
	free(mine);
}

/* A shared window without any bytes has its unit everywhere. */
static void query_nothing(void)
{
	MPI_Aint bytes = -1;
	void *mine;
	int unit = 0, held = 1;

	MPI_Win_allocate_shared(0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
				&win);
	for (int i = -1; i < size; i++) {
		MPI_Win_shared_query(win, i < 0 ? MPI_PROC_NULL : i, &bytes,
				     &unit, &mine);
		held &= bytes == 0 && unit == 8;
	}
	all_ok(held, "a shared window without bytes has a unit");
	MPI_Win_free(&win);
}

static void dynamic(void)
{
	MPI_Aint *addresses = malloc((size_t)size * sizeof(*addresses)), mine;
	int first[4] = { 0 }, second[4] = { 0 }, value = 100 + rank;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_attach(win, first, sizeof(first));
	MPI_Win_attach(win, second, sizeof(second));
	MPI_Get_address(&second[2], &mine);
	MPI_Allgather(&mine, 1, MPI_AINT, addresses, 1, MPI_AINT,
		      MPI_COMM_WORLD);
	MPI_Win_fence(0, win);
	MPI_Put(&value, 1, MPI_INT, right, addresses[right], 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	all_ok(second[2] == 100 + left && first[2] == 0,
	       "memory that was attached is reached by its address");
	MPI_Win_detach(win, first);
	MPI_Win_detach(win, second);
	MPI_Win_free(&win);
	free(addresses);
}

static int copies, deletes;

static int copy_it(MPI_Win old, int key, void *extra, void *in, void *out,
		   int *flag)
{
	(void)old, (void)key, (void)extra, (void)in, (void)out;
	copies++;
	*flag = 0;
	return MPI_SUCCESS;
}

static int delete_it(MPI_Win old, int key, void *value, void *extra)
{
	(void)old, (void)key;
	deletes += value == extra;
	return MPI_SUCCESS;
}

static void attributes(void)
{
	int memory[6], key, flag, *unit, *flavor, *model, mark;
	MPI_Aint *bytes;
	void *base, *value;

	MPI_Win_create(memory, sizeof(memory), 2, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
	MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
	MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
	MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
	MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
	all_ok(base == (void *)memory && *bytes == sizeof(memory) &&
		       *unit == 2 && *flavor == MPI_WIN_FLAVOR_CREATE &&
		       *model == MPI_WIN_UNIFIED && flag,
	       "a window has the attributes that MPI names");
	MPI_Win_create_keyval(copy_it, delete_it, &key, &mark);
	MPI_Win_get_attr(win, key, &value, &flag);
	all_ok(!flag, "a key without a value has none");
	MPI_Win_set_attr(win, key, &mark);
	MPI_Win_get_attr(win, key, &value, &flag);
	all_ok(flag && value == &mark, "a value is found under its key");
	MPI_Win_delete_attr(win, key);
	all_ok(deletes == 1, "a value that is deleted has its callback called");
	MPI_Win_set_attr(win, key, &mark);
	MPI_Win_free_keyval(&key);
	MPI_Win_free(&win);
	all_ok(deletes == 2 && copies == 0, "and so has one of a freed window");
}

static void names(void)
{
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Group group, all;
	MPI_Info info;
	int length, result, flag;

	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", "true");
	MPI_Info_set(info, "accumulate_ordering", "rar,waw");
	MPI_Info_set(info, "nonsense", "1");
	MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Win_get_info(win, &info);
	MPI_Info_get(info, "no_locks", MPI_MAX_OBJECT_NAME - 1, name, &flag);
	all_ok(flag && !strcmp(name, "true"), "a hint is in force");
	MPI_Info_get(info, "accumulate_ordering", MPI_MAX_OBJECT_NAME - 1, name,
		     &flag);
	all_ok(flag && !strcmp(name, "rar,waw"), "and one with a list");
	MPI_Info_get(info, "nonsense", MPI_MAX_OBJECT_NAME - 1, name, &flag);
	all_ok(!flag, "an unknown hint is not");
	/* Programs give it by mistake, and other implementations look away. */
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	all_ok(!MPI_Win_lock_all(0, win) && !MPI_Win_unlock_all(win) &&
		       !MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win) &&
		       !MPI_Win_unlock(rank, win),
	       "no_locks=true does not forbid locks");
	MPI_Info_set(info, "no_locks", "false");
	MPI_Win_set_info(win, info);
	MPI_Info_free(&info);
	MPI_Win_get_name(win, name, &length);
	all_ok(length == 0, "a window has no name at first");
	MPI_Win_set_name(win, "halo");
	MPI_Win_get_name(win, name, &length);
	all_ok(length == 4 && !strcmp(name, "halo"), "a name can be set");
	MPI_Win_get_group(win, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_compare(group, all, &result);
	all_ok(result == MPI_IDENT, "its group is that of the communicator");
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	MPI_Win_unlock(rank, win);
	MPI_Win_free(&win);
}

static void nobody(void)
{
	int value = 5;
	MPI_Request request;

	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
	MPI_Win_unlock(MPI_PROC_NULL, win);
	MPI_Win_lock_all(0, win);
	MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Get(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Rget(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win,
		 &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Fetch_and_op(&value, &value, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM,
			 win);
	MPI_Win_flush(MPI_PROC_NULL, win);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	all_ok(value == 5, "MPI_PROC_NULL is no target");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	fences();
	sizes();
	alignments();
	posts(false);
	posts(true);
	fences_in_order();
	locks(false);
	locks(true);
	queue();
	long_ones();
	waits_for_a_store();
	shared(false);
	shared(true);
	query_created();
	query_nothing();
	dynamic();
	attributes();
	names();
	nobody();
	return mtap_end();
}
