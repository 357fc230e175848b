/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages with large counts: MPI_x_c beyond 2^31 elements, and with counts that
 * int has.
 */
#include "large.h"
#include "mtap.h"

#define WORLD MPI_COMM_WORLD

static int to, from; /* the next rank and the one before */

/* What a status says about bytes, by all three widths. */
static bool status_has(const MPI_Status *status, MPI_Count want)
{
	MPI_Count count = -1, elements = -1, old = -1;
	int small = -1, few = -1;
	bool fits = want <= INT32_MAX;

	MPI_Get_count_c(status, MPI_CHAR, &count);
	MPI_Get_elements_c(status, MPI_CHAR, &elements);
	MPI_Get_elements_x(status, MPI_CHAR, &old);
	MPI_Get_count(status, MPI_CHAR, &small);
	MPI_Get_elements(status, MPI_CHAR, &few);
	return count == want && elements == want && old == want &&
	       small == (fits ? (int)want : MPI_UNDEFINED) && few == small;
}

/* From rank 0 to the next one, once whole and once not. */
static void large_message(void)
{
	MPI_Datatype type = far_short_type();
	MPI_Request request;
	MPI_Message message;
	MPI_Status status;
	bool held = true, same = true;
	int rc = MPI_ERR_TRUNCATE;

	if (rank == 0) {
		char *far = far_new();

		far_fill(far, 3);
		MPI_Isend_c(far, FAR_COUNT, MPI_CHAR, 1, 2, WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Send_c(far, FAR_COUNT, MPI_CHAR, 1, 3, WORLD);
		far_free(far);
	} else if (rank == 1) {
		char block[FAR_SHORT];

		MPI_Mprobe(0, 2, WORLD, &message, &status);
		held = status_has(&status, FAR_COUNT);
		MPI_Imrecv_c(block, 1, type, &message, &request);
		MPI_Wait(&request, &status);
		held = held && status_has(&status, FAR_COUNT);
		same = far_short_is(block, 3);
		rc = MPI_Recv_c(block, 9, MPI_CHAR, 0, 3, WORLD, &status);
	}
	all_ok(held, "the status of 2^31 + 5 bytes says so, but for int");
	all_ok(same, "2^31 + 5 bytes arrive, the last ones last");
	all_class(rc, MPI_ERR_TRUNCATE, "they are truncated to 9");
	MPI_Type_free(&type);
}

static void elements_without_bytes(void)
{
	const MPI_Count many = (MPI_Count)3 << 30;
	MPI_Datatype nothing;
	MPI_Status status;
	char sent, got;

	MPI_Type_contiguous(0, MPI_INT, &nothing);
	MPI_Type_commit(&nothing);
	MPI_Sendrecv_c(&sent, many, nothing, to, 4, &got, many + 1, nothing,
		       from, 4, WORLD, &status);
	all_ok(status_has(&status, 0), "elements without bytes are 0 bytes");
	MPI_Type_free(&nothing);
}

/* Every call, with a count that needs no _c. */
static void small_counts(void)
{
	int sent[3] = { rank, rank + 1, rank + 2 }, got[3], way = 0;
	MPI_Request requests[2];
	MPI_Message message;
	bool held = true;

	for (int tag = 10; tag < 18; tag++) {
		MPI_Request *one = &requests[1];

		memset(got, 0xff, sizeof(got));
		MPI_Irecv_c(got, 3, MPI_INT, from, tag, WORLD, &requests[0]);
		*one = MPI_REQUEST_NULL;
		switch (way++) {
		case 0:
			MPI_Send_c(sent, 3, MPI_INT, to, tag, WORLD);
			break;
		case 1:
			MPI_Ssend_c(sent, 3, MPI_INT, to, tag, WORLD);
			break;
		case 2:
			MPI_Rsend_c(sent, 3, MPI_INT, to, tag, WORLD);
			break;
		case 3:
			MPI_Isend_c(sent, 3, MPI_INT, to, tag, WORLD, one);
			break;
		case 4:
			MPI_Issend_c(sent, 3, MPI_INT, to, tag, WORLD, one);
			break;
		case 5:
			MPI_Irsend_c(sent, 3, MPI_INT, to, tag, WORLD, one);
			break;
		case 6:
			MPI_Bsend_c(sent, 3, MPI_INT, to, tag, WORLD);
			break;
		default:
			MPI_Ibsend_c(sent, 3, MPI_INT, to, tag, WORLD, one);
		}
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		held = held && got[0] == from && got[2] == from + 2;
	}
	all_ok(held, "every kind of send has one with MPI_Count");

	MPI_Isend(sent, 3, MPI_INT, to, 20, WORLD, &requests[0]);
	MPI_Mprobe(from, 20, WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv_c(got, 3, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	all_ok(got[1] == from + 1, "so has the receive of a message");

	memset(got, 0xff, sizeof(got));
	MPI_Isendrecv_c(sent, 3, MPI_INT, to, 21, got, 3, MPI_INT, from, 21,
			WORLD, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	held = got[1] == from + 1;
	MPI_Isendrecv_replace_c(got, 3, MPI_INT, to, 22, from, 22, WORLD,
				&requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	held = held && got[1] == (from + size - 1) % size + 1;
	MPI_Sendrecv_replace_c(got, 3, MPI_INT, from, 23, to, 23, WORLD,
			       MPI_STATUS_IGNORE);
	all_ok(held && got[1] == from + 1, "so have exchanges");
}

static void persistent(void)
{
	int sent[3] = { rank, rank + 1, rank + 2 }, got[3];
	MPI_Request requests[2];
	bool held = true;

	for (int way = 0; way < 4; way++) {
		MPI_Recv_init_c(got, 3, MPI_INT, from, way, WORLD,
				&requests[0]);
		(way == 0 ? MPI_Send_init_c :
		 way == 1 ? MPI_Ssend_init_c :
		 way == 2 ? MPI_Rsend_init_c :
			    MPI_Bsend_init_c)(sent, 3, MPI_INT, to, way, WORLD,
					      &requests[1]);
		for (int i = 0; i < 2; i++) {
			memset(got, 0xff, sizeof(got));
			MPI_Startall(2, requests);
			MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
			held = held && got[2] == from + 2;
		}
		MPI_Request_free(&requests[0]);
		MPI_Request_free(&requests[1]);
	}
	all_ok(held, "so has every kind of persistent message");
}

/* The buffer's size is one that int has not. */
static void buffered(void)
{
	const MPI_Count bytes = (MPI_Count)1 << 32;
	char *buffer = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	MPI_Count detached = -1;
	void *addr = NULL;
	int small = -1, rc;

	MPI_Buffer_attach_c(buffer, bytes);
	small_counts();
	persistent();
	rc = MPI_Bsend_c(buffer, bytes, MPI_CHAR, to, 30, WORLD);
	all_class(rc, MPI_ERR_BUFFER, "a message needs room for its overhead");
	MPI_Buffer_detach_c(&addr, &detached);
	all_ok(addr == buffer && detached == bytes,
	       "a buffer of 2^32 bytes is detached");
	MPI_Buffer_attach_c(buffer, bytes);
	MPI_Buffer_detach(&addr, &small);
	all_ok(addr == buffer && small == MPI_UNDEFINED,
	       "int does not have its size");
	munmap(buffer, (size_t)bytes);
}

/* Counts that no message can have are errors, not truncated. */
static void errors(void)
{
	const MPI_Count most = INT64_MAX;
	MPI_Datatype types[3];
	MPI_Request request;
	MPI_Status status;
	MPI_Count count;
	double value = 0;
	int rc;

	rc = MPI_Send_c(&value, -1, MPI_DOUBLE, to, 0, WORLD);
	all_class(rc, MPI_ERR_COUNT, "a negative count is an error");
	rc = MPI_Send_c(&value, most / 8 + 1, MPI_DOUBLE, to, 0, WORLD);
	all_class(rc, MPI_ERR_COUNT, "so is one of more bytes than there are");
	rc = MPI_Isend_c(&value, most, MPI_DOUBLE, to, 0, WORLD, &request);
	all_class(rc, MPI_ERR_COUNT, "also without waiting");
	rc = MPI_Recv_c(&value, most / 4, MPI_DOUBLE, from, 0, WORLD, &status);
	all_class(rc, MPI_ERR_COUNT, "also to receive");
	rc = MPI_Recv_init_c(&value, most, MPI_DOUBLE, from, 0, WORLD,
			     &request);
	all_class(rc, MPI_ERR_COUNT, "also to receive many times");
	memset(&status, 0, sizeof(status));
	rc = MPI_Status_set_elements_c(&status, MPI_DOUBLE, most);
	all_class(rc, MPI_ERR_COUNT, "also in a status");
	MPI_Status_set_elements_c(&status, MPI_DOUBLE, most / 8);
	MPI_Get_count_c(&status, MPI_DOUBLE, &count);
	all_ok(count == most / 8, "a status has the largest count");

	/* A count of int of elements of 2^33 bytes. */
	MPI_Type_contiguous(1 << 30, MPI_CHAR, &types[0]);
	MPI_Type_contiguous(8, types[0], &types[1]);
	MPI_Type_create_resized(types[1], 0, 1, &types[2]);
	MPI_Type_commit(&types[2]);
	rc = MPI_Send(&value, INT32_MAX, types[2], to, 0, WORLD);
	all_class(rc, MPI_ERR_COUNT, "a count of int can be too large, too");
	for (int i = 0; i < 3; i++)
		MPI_Type_free(&types[i]);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	large_message();
	elements_without_bytes();
	buffered();
	errors();
	return mtap_end();
}
