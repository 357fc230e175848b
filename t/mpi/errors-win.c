/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong uses of windows: each has its class, and none hangs.
 */
#include "mtap.h"

static int memory[4], value;
static MPI_Win win;

#define PUT(target, disp, count) \
	MPI_Put(memory, count, MPI_INT, target, disp, count, MPI_INT, win)

static void made(void)
{
	MPI_Win other = MPI_WIN_NULL;

	all_class(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &other),
		  MPI_ERR_SIZE, "a negative size");
	all_class(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &other),
		  MPI_ERR_DISP, "a unit of 0");
	all_class(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
				 &other),
		  MPI_ERR_BASE, "no memory");
	all_class(MPI_Win_create(memory, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL,
				 &other),
		  MPI_ERR_COMM, "no communicator");
	all_class(MPI_Win_free(&other), MPI_ERR_WIN, "no window");
	all_class(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL,
				   MPI_COMM_WORLD, &value, &other),
		  MPI_ERR_NO_MEM, "more memory than there is");
	all_class(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_FLAVOR,
		  "memory is attached to a window of another kind");
}

static void accesses(void)
{
	MPI_Datatype mixed, types[] = { MPI_INT, MPI_FLOAT };
	int lengths[] = { 1, 1 };
	MPI_Aint places[] = { 0, 4 };
	MPI_Request request;

	MPI_Type_create_struct(2, lengths, places, types, &mixed);
	MPI_Type_commit(&mixed);
	all_class(PUT(0, 0, 1), MPI_ERR_RMA_SYNC, "a put without an epoch");
	MPI_Win_lock_all(0, win);
	all_class(PUT(size, 0, 1), MPI_ERR_RANK, "a target that is not there");
	all_class(PUT(0, 0, -1), MPI_ERR_COUNT, "a negative count");
	all_class(PUT(0, -1, 1), MPI_ERR_DISP, "a negative displacement");
	all_class(PUT(0, 4, 1), MPI_ERR_RMA_RANGE, "just behind the window");
	all_class(PUT(0, 2, 3), MPI_ERR_RMA_RANGE, "across its end");
	all_class(PUT(0, INTPTR_MAX / 2, 1), MPI_ERR_RMA_RANGE, "far behind");
	all_class(MPI_Put(memory, 2, MPI_INT, 0, 0, 1, MPI_INT, win),
		  MPI_ERR_TRUNCATE, "more data than the target has room for");
	all_class(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win),
		  MPI_ERR_BUFFER, "no buffer");
	all_class(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_DATATYPE_NULL, win),
		  MPI_ERR_TYPE, "no datatype");
	all_class(MPI_Accumulate(memory, 1, MPI_INT, 0, 0, 1, MPI_FLOAT,
				 MPI_SUM, win),
		  MPI_ERR_TYPE, "an integer is added to a float");
	all_class(MPI_Accumulate(memory, 1, mixed, 0, 0, 1, mixed, MPI_SUM,
				 win),
		  MPI_ERR_TYPE, "a type of several predefined ones");
	all_class(MPI_Accumulate(memory, 1, MPI_INT, 0, 0, 1, MPI_INT,
				 MPI_MAXLOC, win),
		  MPI_ERR_OP, "an operation that the type does not have");
	all_class(MPI_Accumulate(memory, 1, MPI_INT, 0, 0, 1, MPI_INT,
				 MPI_OP_NULL, win),
		  MPI_ERR_OP, "no operation");
	all_class(MPI_Compare_and_swap(memory, memory, memory, MPI_FLOAT, 0, 0,
				       win),
		  MPI_ERR_TYPE, "a swap of a float");
	all_class(MPI_Fetch_and_op(memory, memory, MPI_INT, 0, 4, MPI_SUM, win),
		  MPI_ERR_RMA_RANGE, "a fetch behind the window");
	all_class(MPI_Rput(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win, NULL),
		  MPI_ERR_ARG, "no place for the request");
	MPI_Win_unlock_all(win);
	all_class(MPI_Rput(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request),
		  MPI_ERR_RMA_SYNC, "a request outside of an epoch");
	MPI_Win_fence(0, win);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_class(PUT(0, 0, 1), MPI_ERR_RMA_SYNC, "a put after the last fence");
	MPI_Type_free(&mixed);
}

static void locks(void)
{
	all_class(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC,
		  "what is not locked is unlocked");
	all_class(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC, "and so are all");
	all_class(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC,
		  "a flush without a lock");
	all_class(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC, "of all");
	all_class(MPI_Win_lock(7, 0, 0, win), MPI_ERR_LOCKTYPE,
		  "neither shared nor exclusive");
	all_class(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK,
		  "a rank that is not there");
	all_class(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win),
		  MPI_ERR_ASSERT, "an assertion of another call");
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	all_class(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC,
		  "the same rank twice");
	all_class(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC, "then all");
	all_class(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC, "then a fence");
	all_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "then the end");
	all_class(size > 1 ? PUT(1, 0, 1) : MPI_ERR_RMA_SYNC, MPI_ERR_RMA_SYNC,
		  "a put to another rank than the one that is locked");
	MPI_Win_unlock(0, win);
}

static void posts(void)
{
	MPI_Group self;

	MPI_Comm_group(MPI_COMM_SELF, &self);
	all_class(MPI_Win_complete(win), MPI_ERR_RMA_SYNC,
		  "MPI_Win_complete without MPI_Win_start");
	all_class(MPI_Win_wait(win), MPI_ERR_RMA_SYNC,
		  "MPI_Win_wait without MPI_Win_post");
	all_class(MPI_Win_test(win, &value), MPI_ERR_RMA_SYNC,
		  "and MPI_Win_test");
	MPI_Win_post(self, 0, win);
	all_class(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC, "two posts");
	MPI_Win_start(self, 0, win);
	all_class(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC, "two starts");
	all_class(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "the end within both");
	MPI_Win_complete(win);
	MPI_Win_wait(win);
	MPI_Group_free(&self);
}

static void attached(void)
{
	MPI_Aint place;
	MPI_Win other;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &other);
	MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
	MPI_Get_address(memory, &place);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, other);
	all_class(MPI_Put(&value, 1, MPI_INT, 0, place, 1, MPI_INT, other),
		  MPI_ERR_RMA_RANGE, "memory that is not attached");
	MPI_Win_attach(other, memory, 8);
	all_class(MPI_Put(&value, 1, MPI_INT, 0, place + 8, 1, MPI_INT, other),
		  MPI_ERR_RMA_RANGE, "memory behind what is attached");
	all_class(MPI_Win_attach(other, &memory[1], 8), MPI_ERR_RMA_ATTACH,
		  "memory is attached twice");
	all_class(MPI_Win_detach(other, &memory[1]), MPI_ERR_RMA_ATTACH,
		  "what is detached was never attached");
	all_class(MPI_Put(&value, 1, MPI_INT, 0, place + 4, 1, MPI_INT, other),
		  MPI_SUCCESS, "memory that is attached");
	MPI_Win_detach(other, memory);
	MPI_Win_unlock(0, other);
	MPI_Win_free(&other);
}

static int raised;

static void handler(MPI_Win *w, int *code, ...)
{
	if (*w == win)
		raised = *code;
}

static void ignored(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
}

static void handlers(void)
{
	MPI_Errhandler mine, got, of_comm;

	MPI_Win_create_errhandler(handler, &mine);
	MPI_Comm_create_errhandler(ignored, &of_comm);
	MPI_Win_set_errhandler(win, mine);
	PUT(0, 0, 1);
	all_ok(raised == MPI_ERR_RMA_SYNC, "a handler is called");
	raised = 0;
	MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
	all_ok(raised == MPI_ERR_OTHER, "also by the program");
	MPI_Win_get_errhandler(win, &got);
	all_ok(got == mine, "the handler is found again");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	all_class(MPI_Win_set_errhandler(win, of_comm), MPI_ERR_ERRHANDLER,
		  "a handler of communicators is none of windows");
	MPI_Errhandler_free(&of_comm);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL,
		       MPI_COMM_WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	made();
	accesses();
	locks();
	posts();
	attached();
	handlers();
	MPI_Win_free(&win);
	return mtap_end();
}
