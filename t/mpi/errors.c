/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments: the right class, through the right error handler.
 */
#include "mtap.h"

static int value;

static void send_arguments(void)
{
	MPI_Request request;
	MPI_Datatype type;
	const MPI_Comm world = MPI_COMM_WORLD;

	all_class(MPI_Send(&value, 1, MPI_INT, size, 0, world), MPI_ERR_RANK,
		  "a destination beyond the last rank");
	all_class(MPI_Send(&value, 1, MPI_INT, -7, 0, world), MPI_ERR_RANK,
		  "a negative destination");
	all_class(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, world),
		  MPI_ERR_RANK, "MPI_ANY_SOURCE as destination");
	all_class(MPI_Send(&value, 1, MPI_INT, 0, -5, world), MPI_ERR_TAG,
		  "a negative tag");
	all_class(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, world),
		  MPI_ERR_TAG, "MPI_ANY_TAG in a send");
	all_class(MPI_Send(&value, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT,
		  "a negative count");
	all_class(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER,
		  "no buffer");
	all_class(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, world),
		  MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
	MPI_Type_contiguous(2, MPI_INT, &type);
	all_class(MPI_Send(&value, 1, type, 0, 0, world), MPI_ERR_TYPE,
		  "a datatype that is not committed");
	MPI_Type_free(&type);
	all_class(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL),
		  MPI_ERR_COMM, "MPI_COMM_NULL");
	all_class(MPI_Isend(&value, 1, MPI_INT, size, 0, world, &request),
		  MPI_ERR_RANK, "MPI_Isend checks too");
	all_class(MPI_Isend(&value, 1, MPI_INT, 0, 0, world, NULL), MPI_ERR_ARG,
		  "no place for the request");
	all_class(MPI_Send_init(&value, 1, MPI_INT, size, 0, world, &request),
		  MPI_ERR_RANK, "MPI_Send_init checks too");
}

static void receive_arguments(void)
{
	MPI_Message message = MPI_MESSAGE_NULL;
	MPI_Request request;
	MPI_Status status;
	const MPI_Comm world = MPI_COMM_WORLD;
	int flag;

	all_class(MPI_Recv(&value, 1, MPI_INT, size, 0, world, &status),
		  MPI_ERR_RANK, "a source beyond the last rank");
	all_class(MPI_Recv(&value, 1, MPI_INT, 0, -5, world, &status),
		  MPI_ERR_TAG, "a negative tag in a receive");
	all_class(MPI_Recv(&value, -2, MPI_INT, 0, 0, world, &status),
		  MPI_ERR_COUNT, "a negative count in a receive");
	all_class(MPI_Irecv(NULL, 4, MPI_INT, 0, 0, world, &request),
		  MPI_ERR_BUFFER, "no buffer in MPI_Irecv");
	all_class(MPI_Probe(size, 0, world, &status), MPI_ERR_RANK,
		  "MPI_Probe checks too");
	all_class(MPI_Iprobe(0, -9, world, &flag, &status), MPI_ERR_TAG,
		  "MPI_Iprobe checks too");
	all_class(MPI_Mrecv(&value, 1, MPI_INT, &message, &status), MPI_ERR_ARG,
		  "MPI_MESSAGE_NULL in MPI_Mrecv");
	all_class(MPI_Get_count(&status, MPI_DATATYPE_NULL, &flag),
		  MPI_ERR_TYPE, "MPI_Get_count checks its type");
}

static void request_arguments(void)
{
	MPI_Request request = MPI_REQUEST_NULL, stale, persistent;
	int flag;

	all_class(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG,
		  "no request at all");
	all_class(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT,
		  "a negative number of requests");
	all_class(MPI_Start(&request), MPI_ERR_REQUEST,
		  "MPI_Start of MPI_REQUEST_NULL");
	all_class(MPI_Cancel(&request), MPI_ERR_REQUEST,
		  "MPI_Cancel of MPI_REQUEST_NULL");
	all_class(MPI_Request_free(&request), MPI_ERR_REQUEST,
		  "MPI_Request_free of MPI_REQUEST_NULL");
	MPI_Irecv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &request);
	all_class(MPI_Start(&request), MPI_ERR_REQUEST,
		  "MPI_Start of what is not persistent");
	MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	stale = request;
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_class(MPI_Test(&stale, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST,
		  "a copy of a request that is complete");
	MPI_Recv_init(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &persistent);
	MPI_Start(&persistent);
	all_class(MPI_Start(&persistent), MPI_ERR_REQUEST,
		  "MPI_Start of an active request");
	MPI_Cancel(&persistent);
	MPI_Wait(&persistent, MPI_STATUS_IGNORE);
	MPI_Request_free(&persistent);
}

/* Handles that were freed, used through a copy. */
static void freed_handles(void)
{
	MPI_Comm comm, old_comm;
	MPI_Group group, old_group;
	MPI_Datatype type, old_type;
	MPI_Info info, old_info;
	MPI_Errhandler handler, old_handler;
	int n;

	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	old_comm = comm;
	MPI_Comm_free(&comm);
	all_class(MPI_Send(&value, 1, MPI_INT, 0, 0, old_comm), MPI_ERR_COMM,
		  "a freed communicator in MPI_Send");
	all_class(MPI_Comm_size(old_comm, &n), MPI_ERR_COMM,
		  "a freed communicator in MPI_Comm_size");
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	old_group = group;
	MPI_Group_free(&group);
	all_class(MPI_Group_size(old_group, &n), MPI_ERR_GROUP,
		  "a freed group");
	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_commit(&type);
	old_type = type;
	MPI_Type_free(&type);
	all_class(MPI_Type_size(old_type, &n), MPI_ERR_TYPE,
		  "a freed datatype");
	MPI_Info_create(&info);
	old_info = info;
	MPI_Info_free(&info);
	all_class(MPI_Info_get_nkeys(old_info, &n), MPI_ERR_INFO,
		  "a freed info object");
	MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)abort,
				   &handler);
	old_handler = handler;
	MPI_Errhandler_free(&handler);
	all_class(MPI_Comm_set_errhandler(MPI_COMM_WORLD, old_handler),
		  MPI_ERR_ERRHANDLER, "a freed error handler");
}

static void object_arguments(void)
{
	MPI_Comm comm = MPI_COMM_WORLD, out;
	MPI_Group group, outer;
	int n, twice[2] = { 0, 0 }, far = size;

	all_class(MPI_Comm_free(&comm), MPI_ERR_COMM,
		  "MPI_COMM_WORLD cannot be freed");
	all_class(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG,
		  "no place for the rank");
	all_class(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &out), MPI_ERR_ARG,
		  "a negative colour");
	all_class(MPI_Comm_remote_size(MPI_COMM_WORLD, &n), MPI_ERR_COMM,
		  "an intracommunicator has no remote group");
	MPI_Comm_group(MPI_COMM_WORLD, &outer);
	all_class(MPI_Group_incl(outer, 2, twice, &group), MPI_ERR_RANK,
		  "a rank that comes twice");
	all_class(MPI_Group_incl(outer, 1, &far, &group), MPI_ERR_RANK,
		  "a rank that is no member");
	MPI_Group_free(&outer);
	all_class(MPI_Group_size(MPI_GROUP_NULL, &n), MPI_ERR_GROUP,
		  "MPI_GROUP_NULL");
	all_class(MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL,
				      &out),
		  MPI_ERR_ARG, "an unknown split type");
}

static int handled, handled_class;
static MPI_Comm handled_comm;

static void handler(MPI_Comm *comm, int *code, ...)
{
	handled++;
	handled_comm = *comm;
	MPI_Error_class(*code, &handled_class);
}

static void handlers(void)
{
	MPI_Errhandler mine, got;
	MPI_Comm copy, second;
	int in, rc;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_get_errhandler(copy, &got);
	all_ok(got == MPI_ERRORS_RETURN,
	       "a duplicate has its parent's error handler");
	MPI_Comm_create_errhandler(handler, &mine);
	MPI_Comm_set_errhandler(copy, mine);
	MPI_Comm_get_errhandler(copy, &got);
	all_ok(got == mine, "MPI_Comm_get_errhandler");
	MPI_Errhandler_free(&got);
	MPI_Errhandler_free(&mine);
	rc = MPI_Send(&value, 1, MPI_INT, size, 0, copy);
	all_ok(handled == 1 && handled_class == MPI_ERR_RANK &&
		       handled_comm == copy && rc != MPI_SUCCESS,
	       "a user's handler is called, even after its handle was freed");
	MPI_Comm_dup(copy, &second);
	rc = MPI_Recv(&in, 1, MPI_INT, 0, -7, second, MPI_STATUS_IGNORE);
	all_ok(handled == 2 && handled_comm == second &&
		       handled_class == MPI_ERR_TAG,
	       "on a duplicate it is called with that");
	MPI_Comm_call_errhandler(second, MPI_ERR_OTHER);
	all_ok(handled == 3 && handled_class == MPI_ERR_OTHER,
	       "MPI_Comm_call_errhandler");
	MPI_Send(&value, 1, MPI_INT, rank, 3, copy);
	rc = MPI_Recv(&in, 0, MPI_INT, rank, 3, copy, MPI_STATUS_IGNORE);
	all_ok(handled == 4 && handled_class == MPI_ERR_TRUNCATE &&
		       handled_comm == copy,
	       "truncation goes to the handler of its communicator");
	MPI_Comm_free(&copy);
	MPI_Comm_free(&second);
}

static void strings(void)
{
	char text[MPI_MAX_ERROR_STRING];
	int length = 0, class = -1;
	bool held = true;

	for (int i = 0; i <= MPI_ERR_ABI; i++) {
		text[0] = '\0';
		MPI_Error_string(i, text, &length);
		MPI_Error_class(i, &class);
		held = held && class == i && length == (int)strlen(text) &&
		       strncmp(text, "MPI_", 4) == 0;
	}
	all_ok(held, "every class has a string and is its own class");
	MPI_Error_string(MPI_ERR_RANK, text, &length);
	all_ok(strcmp(text, "MPI_ERR_RANK: invalid rank") == 0,
	       "the string names the class");
}

/* Classes, codes and strings of the program. */
static void own_codes(void)
{
	int class, code, bare, got = -1, length, *last, flag;
	char text[MPI_MAX_ERROR_STRING];

	MPI_Add_error_class(&class);
	MPI_Add_error_code(class, &code);
	MPI_Add_error_code(MPI_ERR_TAG, &bare);
	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
	all_ok(class > MPI_ERR_LASTCODE && code != class && flag &&
		       *last >= class && *last >= code && *last >= bare,
	       "MPI_LASTUSEDCODE covers classes and codes that were added");
	MPI_Error_class(code, &got);
	all_ok(got == class, "a code has the class it was added to");
	MPI_Error_class(bare, &got);
	all_ok(got == MPI_ERR_TAG, "which may be a predefined one");
	MPI_Error_string(code, text, &length);
	all_ok(length == 0 && text[0] == '\0', "a new code has no string");
	MPI_Add_error_string(code, "the soup is cold");
	MPI_Error_string(code, text, &length);
	all_ok(length == 16 && strcmp(text, "the soup is cold") == 0,
	       "until one is added");
	all_class(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code), MPI_SUCCESS,
		  "a code of the program can be raised");
	all_class(MPI_Remove_error_code(code), MPI_ERR_OTHER,
		  "a code with a string cannot be removed");
	all_class(MPI_Remove_error_class(class), MPI_ERR_OTHER,
		  "a class with codes cannot be removed");
	MPI_Remove_error_string(code);
	MPI_Remove_error_code(code);
	MPI_Remove_error_code(bare);
	all_class(MPI_Remove_error_class(class), MPI_SUCCESS,
		  "all of it can be removed in order");
	MPI_Error_class(class, &got);
	all_ok(got == MPI_ERR_UNKNOWN, "then the class is unknown");
	all_class(MPI_Add_error_string(MPI_ERR_TAG, "x"), MPI_ERR_ARG,
		  "predefined classes keep their strings");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	send_arguments();
	receive_arguments();
	request_arguments();
	freed_handles();
	object_arguments();
	handlers();
	strings();
	own_codes();
	return mtap_end();
}
