/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conversion of handles to integers and of statuses to Fortran's, and back.
 */
#include "mtap.h"

#define MANY 300

/* Predefined handles keep the numbers of the ABI in both directions. */
static void predefined(void)
{
	all_ok(MPI_Comm_c2f(MPI_COMM_WORLD) == 0x101 &&
		       MPI_Comm_toint(MPI_COMM_SELF) == 0x102 &&
		       MPI_Comm_f2c(0x101) == MPI_COMM_WORLD &&
		       MPI_Comm_fromint(0x100) == MPI_COMM_NULL,
	       "communicators");
	all_ok(MPI_Type_c2f(MPI_INT) == 0x209 &&
		       MPI_Type_f2c(0x21a) == MPI_REAL &&
		       MPI_Type_toint(MPI_DATATYPE_NULL) == 0x200,
	       "datatypes");
	all_ok(MPI_Op_c2f(MPI_SUM) == 0x21 && MPI_Op_f2c(0x23) == MPI_MAX,
	       "operations");
	all_ok(MPI_Group_c2f(MPI_GROUP_EMPTY) == 0x109 &&
		       MPI_Group_f2c(0x108) == MPI_GROUP_NULL,
	       "groups");
	all_ok(MPI_Info_toint(MPI_INFO_ENV) == 0x131 &&
		       MPI_Info_fromint(0x130) == MPI_INFO_NULL,
	       "info objects");
	all_ok(MPI_Errhandler_c2f(MPI_ERRORS_RETURN) == 0x143 &&
		       MPI_Errhandler_f2c(0x141) == MPI_ERRORS_ARE_FATAL,
	       "error handlers");
	all_ok(MPI_Request_c2f(MPI_REQUEST_NULL) == 0x180 &&
		       MPI_Message_c2f(MPI_MESSAGE_NO_PROC) == 0x129 &&
		       MPI_Message_f2c(0x128) == MPI_MESSAGE_NULL,
	       "requests and messages");
	all_ok(MPI_Win_c2f(MPI_WIN_NULL) == 0x110 &&
		       MPI_Win_toint(MPI_WIN_NULL) == 0x110 &&
		       MPI_Win_f2c(0x110) == MPI_WIN_NULL &&
		       MPI_Win_fromint(0x110) == MPI_WIN_NULL,
	       "windows");
	all_ok(MPI_File_c2f(MPI_FILE_NULL) == 0x118 &&
		       MPI_File_toint(MPI_FILE_NULL) == 0x118 &&
		       MPI_File_f2c(0x118) == MPI_FILE_NULL &&
		       MPI_File_fromint(0x118) == MPI_FILE_NULL,
	       "files");
	all_ok(MPI_Session_c2f(MPI_SESSION_NULL) == 0x120 &&
		       MPI_Session_toint(MPI_SESSION_NULL) == 0x120 &&
		       MPI_Session_f2c(0x120) == MPI_SESSION_NULL &&
		       MPI_Session_fromint(0x120) == MPI_SESSION_NULL,
	       "sessions");
}

/* One of each kind: there and back, the number twice the same, both names. */
#define ROUND(kind, type, handle)                                        \
	do {                                                             \
		type handle_ = (handle);                                 \
		MPI_Fint number_ = MPI_##kind##_c2f(handle_);            \
                                                                         \
		all_ok(number_ >= 4096 &&                                \
			       number_ == MPI_##kind##_c2f(handle_) &&   \
			       number_ == MPI_##kind##_toint(handle_),   \
		       #kind ": one number for a handle");               \
		all_ok(MPI_##kind##_f2c(number_) == handle_ &&           \
			       MPI_##kind##_fromint(number_) == handle_, \
		       #kind ": and back");                              \
	} while (0)

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	(void)code;
}

static void objects(void)
{
	MPI_Comm comm;
	MPI_Datatype type;
	MPI_Op op;
	MPI_Group group;
	MPI_Info info;
	MPI_Errhandler errh;
	int value = rank, sum = -1;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Type_vector(2, 1, 2, MPI_INT, &type);
	MPI_Op_create(add, 1, &op);
	MPI_Comm_group(comm, &group);
	MPI_Info_create(&info);
	MPI_Comm_create_errhandler(on_error, &errh);
	ROUND(Comm, MPI_Comm, comm);
	ROUND(Type, MPI_Datatype, type);
	ROUND(Op, MPI_Op, op);
	ROUND(Group, MPI_Group, group);
	ROUND(Info, MPI_Info, info);
	ROUND(Errhandler, MPI_Errhandler, errh);
	all_ok(MPI_Type_f2c(MPI_Comm_c2f(comm)) != (MPI_Datatype)comm,
	       "a number is of one kind");
	/* A call as made by a Fortran program. */
	MPI_Allreduce(&value, &sum, 1, MPI_Type_f2c(0x209),
		      MPI_Op_f2c(MPI_Op_c2f(op)),
		      MPI_Comm_f2c(MPI_Comm_c2f(comm)));
	all_ok(sum == size * (size - 1) / 2, "the handle that came back works");
	MPI_Comm_free(&comm);
	MPI_Type_free(&type);
	MPI_Op_free(&op);
	MPI_Group_free(&group);
	MPI_Info_free(&info);
	MPI_Errhandler_free(&errh);
}

static void operations(void)
{
	int value = 7, got = 0, flag = 0;
	MPI_Request request;
	MPI_Message message;

	MPI_Irecv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
	ROUND(Request, MPI_Request, request);
	request = MPI_Request_f2c(MPI_Request_c2f(request));
	MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(got == 7 && MPI_Request_c2f(request) == 0x180,
	       "a request that came back completes");
	MPI_Isend(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request);
	ROUND(Request, MPI_Request, request);
	while (!flag)
		MPI_Improbe(rank, 2, MPI_COMM_WORLD, &flag, &message,
			    MPI_STATUS_IGNORE);
	ROUND(Message, MPI_Message, message);
	message = MPI_Message_f2c(MPI_Message_c2f(message));
	got = 0;
	MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(got == 7, "a message that came back is received");
}

/* Numbers are used again: many rounds need no more of them than one. */
static void reuse(void)
{
	MPI_Datatype types[MANY];
	int number[MANY], highest = 0, later = 0;
	bool distinct = true, right = true;

	for (int i = 0; i < MANY; i++) {
		MPI_Type_contiguous(i + 1, MPI_INT, &types[i]);
		number[i] = MPI_Type_c2f(types[i]);
		if (number[i] > highest)
			highest = number[i];
		for (int j = 0; j < i; j++)
			distinct = distinct && number[i] != number[j];
	}
	for (int i = 0; i < MANY; i++) {
		int bytes = 0;

		MPI_Type_size(MPI_Type_f2c(number[i]), &bytes);
		right = right && bytes == 4 * (i + 1);
	}
	all_ok(distinct && right, "many handles at once");
	for (int i = 0; i < MANY; i++)
		MPI_Type_free(&types[i]);
	for (int round = 0; round < 3 * MANY; round++) {
		MPI_Type_contiguous(2, MPI_INT, &types[0]);
		later = MPI_Type_c2f(types[0]);
		right = right && later <= highest &&
			MPI_Type_f2c(later) == types[0];
		MPI_Type_free(&types[0]);
	}
	all_ok(right, "the numbers of freed handles are used again");
}

static void wrong(void)
{
	int n;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_class(MPI_Comm_size(MPI_Comm_f2c(123456789), &n), MPI_ERR_COMM,
		  "a number of no communicator");
	all_class(MPI_Comm_size(MPI_Comm_f2c(-1), &n), MPI_ERR_COMM,
		  "a negative one");
	all_class(MPI_Type_size(MPI_Type_f2c(0x101), &n), MPI_ERR_TYPE,
		  "the number of a predefined handle of another kind");
}

static void statuses(void)
{
	MPI_Status status, back;
	MPI_F08_status f08;
	MPI_Fint f[MPI_F_STATUS_SIZE], g[MPI_F_STATUS_SIZE];
	int value[3] = { 0 }, count = 0, cancelled = -1;

	MPI_Send(value, 3, MPI_INT, rank, 5, MPI_COMM_WORLD);
	MPI_Recv(value, 3, MPI_INT, rank, 5, MPI_COMM_WORLD, &status);
	status.MPI_ERROR = MPI_ERR_TRUNCATE;
	MPI_Status_c2f(&status, f);
	all_ok(f[MPI_F_SOURCE] == rank && f[MPI_F_TAG] == 5 &&
		       f[MPI_F_ERROR] == MPI_ERR_TRUNCATE,
	       "the fields lie where the ABI says");
	MPI_Status_f2c(f, &back);
	MPI_Get_count(&back, MPI_INT, &count);
	MPI_Test_cancelled(&back, &cancelled);
	all_ok(count == 3 && !cancelled && back.MPI_TAG == 5,
	       "count and cancelled come back too");
	MPI_Status_f2f08(f, &f08);
	MPI_Status_f082f(&f08, g);
	all_ok(f08.MPI_TAG == 5 && memcmp(f, g, sizeof(f)) == 0,
	       "an array to mpi_f08 and back");
	MPI_Status_c2f08(&status, &f08);
	memset(&back, 0, sizeof(back));
	MPI_Status_f082c(&f08, &back);
	MPI_Get_count(&back, MPI_INT, &count);
	all_ok(count == 3 && back.MPI_SOURCE == rank,
	       "a status to mpi_f08 and back");
	all_class(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG,
		  "MPI_STATUS_IGNORE is none");
}

int main(int argc, char **argv)
{
	MPI_Info early;
	MPI_Fint number;

	MPI_Info_create(&early);
	number = MPI_Info_c2f(early);
	mtap_init(&argc, &argv);
	all_ok(MPI_Info_f2c(number) == early,
	       "a number of before MPI_Init holds");
	predefined();
	objects();
	operations();
	reuse();
	wrong();
	statuses();
	MPI_Info_free(&early);
	return mtap_end();
}
