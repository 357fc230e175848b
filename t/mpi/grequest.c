/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generalized requests: every way to complete one, and the resulting callbacks.
 */
#include <pthread.h>

#include "mtap.h"

/* The arguments of the callbacks, and their results. */
struct operation {
	int queries, frees, cancels, was_complete;
	int elements, cancelled;
	int query_code, free_code;
};

static int query(void *extra, MPI_Status *status)
{
	struct operation *op = extra;

	op->queries++;
	MPI_Status_set_elements(status, MPI_INT, op->elements);
	MPI_Status_set_cancelled(status, op->cancelled);
	status->MPI_SOURCE = 11;
	status->MPI_TAG = 12;
	return op->query_code;
}

static int release(void *extra)
{
	struct operation *op = extra;

	op->frees++;
	return op->free_code;
}

static int cancel(void *extra, int complete)
{
	struct operation *op = extra;

	op->cancels++;
	op->was_complete = complete;
	if (!complete)
		op->cancelled = 1;
	return MPI_SUCCESS;
}

static MPI_Request begin(struct operation *op)
{
	MPI_Request request = MPI_REQUEST_NULL;

	MPI_Grequest_start(query, release, cancel, op, &request);
	return request;
}

static void alone(void)
{
	struct operation op = { .elements = 3 };
	MPI_Request request = begin(&op);
	MPI_Status status;
	int flag = -1, n = -1;

	MPI_Test(&request, &flag, &status);
	all_ok(flag == 0 && request != MPI_REQUEST_NULL && op.queries == 0,
	       "it is not complete before the program says so");
	MPI_Grequest_complete(request);
	MPI_Request_get_status(request, &flag, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	all_ok(flag == 1 && n == 3 && op.queries == 1 && op.frees == 0,
	       "MPI_Request_get_status asks and keeps it");
	MPI_Wait(&request, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	all_ok(n == 3 && status.MPI_SOURCE == 11 && status.MPI_TAG == 12,
	       "the status is the program's");
	all_ok(op.queries == 2 && op.frees == 1 && request == MPI_REQUEST_NULL,
	       "MPI_Wait asks once and frees it");
	request = begin(&op);
	MPI_Grequest_complete(request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	all_ok(flag == 1 && op.queries == 3 && op.frees == 2,
	       "MPI_STATUS_IGNORE: the callbacks are called all the same");
}

static void freed(void)
{
	struct operation op = { 0 };
	MPI_Request request = begin(&op), copy = request;

	MPI_Request_free(&request);
	all_ok(request == MPI_REQUEST_NULL && op.frees == 0,
	       "freed early, it lives until it is complete");
	MPI_Grequest_complete(copy);
	all_ok(op.frees == 1 && op.queries == 0, "and nobody asks");
}

static void cancelled(void)
{
	struct operation op = { 0 };
	MPI_Request request = begin(&op);
	MPI_Status status;
	int flag = 0;

	MPI_Cancel(&request);
	all_ok(op.cancels == 1 && !op.was_complete, "MPI_Cancel calls back");
	MPI_Grequest_complete(request);
	MPI_Cancel(&request);
	all_ok(op.cancels == 2 && op.was_complete,
	       "and says when it is too late");
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &flag);
	all_ok(flag == 1, "the program decides whether it was cancelled");
}

/* Among other requests, in each call for several. */
static void mixed(void)
{
	struct operation op[3] = { { .elements = 1 },
				   { .elements = 2 },
				   { .elements = 3 } };
	MPI_Request r[4];
	MPI_Status s[4];
	int got = -1, value = 6, n = 0, index = -1, count = -1, at[4];

	for (int i = 0; i < 3; i++)
		r[i] = begin(&op[i]);
	MPI_Irecv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &r[3]);
	MPI_Grequest_complete(r[1]);
	MPI_Waitany(4, r, &index, &s[0]);
	MPI_Get_count(&s[0], MPI_INT, &n);
	all_ok(index == 1 && n == 2, "MPI_Waitany");
	MPI_Grequest_complete(r[2]);
	MPI_Waitsome(4, r, &count, at, s);
	MPI_Get_count(&s[0], MPI_INT, &n);
	all_ok(count == 1 && at[0] == 2 && n == 3, "MPI_Waitsome");
	MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	MPI_Grequest_complete(r[0]);
	MPI_Waitall(4, r, s);
	MPI_Get_count(&s[0], MPI_INT, &n);
	all_ok(n == 1 && got == 6 && s[3].MPI_TAG == 1,
	       "MPI_Waitall, beside a receive");
	all_ok(op[0].frees == 1 && op[1].frees == 1 && op[2].frees == 1,
	       "each was freed once");
}

static void *complete(void *arg)
{
	MPI_Grequest_complete(*(MPI_Request *)arg);
	return NULL;
}

/* The usual case: a thread works while the rank waits. */
static void threads(void)
{
	struct operation op = { .elements = 9 };
	MPI_Request request, copy;
	MPI_Status status;
	pthread_t thread;
	int n = 0, good = 0;

	for (int i = 0; i < 20; i++) {
		request = copy = begin(&op);
		if (pthread_create(&thread, NULL, complete, &copy))
			break;
		MPI_Wait(&request, &status);
		MPI_Get_count(&status, MPI_INT, &n);
		good += n == 9;
		pthread_join(thread, NULL);
	}
	all_ok(good == 20 && op.frees == 20, "a thread completes it");
}

static void errors(void)
{
	struct operation op = { .query_code = MPI_ERR_IO };
	MPI_Request request, real;
	int value = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	request = begin(&op);
	MPI_Grequest_complete(request);
	all_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_IO,
		  "what the query callback returns");
	op = (struct operation){ .free_code = MPI_ERR_NO_SPACE };
	request = begin(&op);
	MPI_Grequest_complete(request);
	all_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE,
		  "what the free callback returns");
	MPI_Irecv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &real);
	all_class(MPI_Grequest_complete(real), MPI_ERR_REQUEST,
		  "completing a receive");
	MPI_Cancel(&real);
	MPI_Wait(&real, MPI_STATUS_IGNORE);
	all_class(MPI_Grequest_complete(MPI_REQUEST_NULL), MPI_ERR_REQUEST,
		  "completing MPI_REQUEST_NULL");
	op = (struct operation){ 0 };
	request = begin(&op);
	MPI_Grequest_complete(request);
	all_class(MPI_Grequest_complete(request), MPI_ERR_REQUEST,
		  "completing it twice");
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_class(MPI_Grequest_start(NULL, release, cancel, &op, &request),
		  MPI_ERR_ARG, "no query callback");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	alone();
	freed();
	cancelled();
	mixed();
	threads();
	errors();
	return mtap_end();
}
