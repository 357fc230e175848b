/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failures and what ranks do about them: ulfm CASE COUNT.  So many ranks die, the
 * last ones, of SIGKILL or by exit($ULFM_EXIT); each other one prints "right" at the end, or what was wrong.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, dying; /* so many ranks die: the last ones */
static bool right = true;

static int class_of(int rc)
{
	int class = -1;

	MPI_Error_class(rc, &class);
	return class;
}

static void want(bool held, const char *sentence)
{
	if (!held)
		printf("rank %d: not so: %s\n", rank, sentence);
	right = right && held;
}

static void want_class(int rc, int class, const char *sentence)
{
	if (class_of(rc) != class)
		printf("rank %d: class %d, not %d\n", rank, class_of(rc),
		       class);
	want(class_of(rc) == class, sentence);
}

static bool dies(void)
{
	return rank >= size - dying;
}

static void die(void)
{
	const char *status = getenv("ULFM_EXIT");

	if (status)
		exit(atoi(status));
	kill(getpid(), SIGKILL);
	pause();
}

static void survivors_count(MPI_Comm comm, int count)
{
	int one = 1, sum = 0, n;

	MPI_Comm_size(comm, &n);
	want(n == count, "the new communicator has the survivors");
	want_class(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm),
		   MPI_SUCCESS, "and works");
	want(sum == count, "with all of them");
}

/* What needs the dead fails, all else goes on. */
static void p2p(void)
{
	int value = rank, got = -1, known = 0, acked = -1, flag = 0;
	int left = rank > 0 ? rank - 1 : size - dying - 1;
	int next = rank + 1 < size - dying ? rank + 1 : 0;
	MPI_Group failed, group, early;
	MPI_Comm comm;
	MPI_Request request;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	/* Who dies waits until all others have it, too. */
	for (int i = 0; i < size - dying && dies(); i++)
		MPI_Recv(&got, 1, MPI_INT, i, 8, comm, MPI_STATUS_IGNORE);
	if (dies())
		die();
	for (int i = size - dying; i < size; i++)
		MPI_Send(&value, 1, MPI_INT, i, 8, comm);
	want_class(MPI_Recv(&got, 1, MPI_INT, size - 1, 1, comm,
			    MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED, "a receive from the dead fails");
	want_class(MPI_Probe(size - 1, 1, comm, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED, "so does a probe");
	want_class(MPI_Ssend(&value, 1, MPI_INT, size - 1, 1, comm),
		   MPIX_ERR_PROC_FAILED, "and a synchronous send");
	MPI_Irecv(&got, 1, MPI_INT, size - 1, 1, comm, &request);
	want_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED,
		   "and one that is waited for");
	want_class(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm,
			    MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED, "and one from any");
	MPIX_Comm_failure_get_acked(comm, &early);
	MPI_Group_size(early, &known);
	want(known == 0, "nothing is acknowledged at first");
	MPIX_Comm_get_failed(comm, &failed);
	MPI_Group_size(failed, &known);
	want(known == dying, "all failures are known");
	MPI_Comm_group(comm, &group);
	if (known) {
		int first = 0, there = -1;

		MPI_Group_translate_ranks(failed, 1, &first, group, &there);
		want(there == size - dying, "and whose they are");
	}
	want_class(MPIX_Comm_ack_failed(comm, -1, &acked), MPI_ERR_ARG,
		   "their number is not negative");
	MPIX_Comm_ack_failed(comm, 0, &acked);
	want(acked == 0, "no failure may be acknowledged");
	MPIX_Comm_ack_failed(comm, known, &acked);
	want(acked == dying, "or all");
	/* Now messages from any can be waited for. */
	MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &request);
	want_class(MPI_Send(&value, 1, MPI_INT, next, 4, comm), MPI_SUCCESS,
		   "the others can be sent to");
	want_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS,
		   "and received from, by a receive from any");
	want(got == left, "what they have sent");
	want_class(MPIX_Comm_is_revoked(comm, &flag), MPI_SUCCESS,
		   "that is asked");
	want(!flag, "nobody has revoked it");
	want(class_of(MPI_Barrier(comm)) != MPI_SUCCESS,
	     "a collective call fails");
	MPIX_Comm_agree(comm, &flag); /* nobody leaves before */
	MPI_Group_free(&group);
	MPI_Group_free(&failed);
	MPI_Comm_free(&comm);
}

/* Every call that waits for it or tests it says that the receive is pending. */
static void pending_everywhere(MPI_Request *request)
{
	MPI_Request both[2] = { MPI_REQUEST_NULL, *request };
	MPI_Status statuses[2];
	int flag = -1, index = -1, count = -1, indices[2];

	want_class(MPI_Wait(request, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED_PENDING, "it is pending");
	want(*request == both[1], "and stays");
	want_class(MPI_Test(request, &flag, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED_PENDING, "a test says the same");
	want(!flag && *request == both[1], "and that it is not complete");
	want_class(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED_PENDING, "so does a look");
	want_class(MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED_PENDING, "and a wait for any");
	want(index == 1 && both[1] == *request, "which says where it is");
	want_class(MPI_Waitall(2, both, statuses), MPI_ERR_IN_STATUS,
		   "and a wait for all");
	want(class_of(statuses[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING,
	     "in its status");
	want_class(MPI_Testall(2, both, &flag, statuses), MPI_ERR_IN_STATUS,
		   "and a test of all");
	want_class(MPI_Waitsome(2, both, &count, indices, statuses),
		   MPI_ERR_IN_STATUS, "and a wait for some");
	want(count == 1 && indices[0] == 1 && both[1] == *request,
	     "which says the same");
}

/* A nonblocking receive from any source waits on after a failure. */
static void pending(void)
{
	int value = rank, got[4] = { -1, -1, -1, -1 }, known, acked, flag;
	int left = rank > 0 ? rank - 1 : size - dying - 1;
	int next = rank + 1 < size - dying ? rank + 1 : 0;
	MPI_Request requests[4];
	MPI_Status status;
	MPI_Group failed;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (int i = 0; i < 3; i++)
		MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, 4, comm,
			  &requests[i]);
	MPI_Barrier(comm);
	if (dies())
		die();
	/* The first, while it is waited for. */
	pending_everywhere(&requests[0]);
	pending_everywhere(&requests[1]);
	MPI_Recv_init(&got[3], 1, MPI_INT, MPI_ANY_SOURCE, 5, comm,
		      &requests[3]);
	MPI_Start(&requests[3]);
	pending_everywhere(&requests[3]);
	want_class(MPI_Sendrecv(&value, 1, MPI_INT, rank, 6, &value, 1, MPI_INT,
				MPI_ANY_SOURCE, 7, comm, MPI_STATUS_IGNORE),
		   MPIX_ERR_PROC_FAILED, "what has no request fails");
	MPI_Cancel(&requests[1]);
	want_class(MPI_Wait(&requests[1], &status), MPI_SUCCESS,
		   "one can be cancelled");
	MPI_Test_cancelled(&status, &flag);
	want(flag, "and is then");
	MPIX_Comm_agree(comm, &flag); /* nobody has sent before */
	MPI_Send(&value, 1, MPI_INT, next, 4, comm);
	/* Whether the message has come or not. */
	while (MPI_Wait(&requests[0], &status) != MPI_SUCCESS)
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag,
			   MPI_STATUS_IGNORE);
	want(got[0] == left && status.MPI_SOURCE == left,
	     "a message that comes all the same is received, in order");
	MPIX_Comm_get_failed(comm, &failed);
	MPI_Group_size(failed, &known);
	MPI_Group_free(&failed);
	MPIX_Comm_ack_failed(comm, known, &acked);
	want_class(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE),
		   MPI_SUCCESS, "after the acknowledgement others wait on");
	want(!flag, "for a message");
	MPIX_Comm_agree(comm, &flag);
	value += 100;
	MPI_Send(&value, 1, MPI_INT, next, 4, comm);
	MPI_Send(&value, 1, MPI_INT, next, 5, comm);
	want_class(MPI_Waitall(2, &requests[2], MPI_STATUSES_IGNORE),
		   MPI_SUCCESS, "and get it");
	want(got[2] == left + 100 && got[3] == left + 100, "as it was sent");
	MPI_Request_free(&requests[3]);
	flag = 1;
	MPIX_Comm_agree(comm, &flag); /* nobody leaves before */
	MPI_Comm_free(&comm);
}

/* Agreement about a flag, and about who has failed. */
static void agree(void)
{
	int flag = 0xff & ~(1 << rank), all = 0xff, rc;
	MPI_Request request;

	for (int i = 0; i < size; i++)
		all &= ~(1 << i);
	want_class(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS,
		   "without failures all agree");
	want(flag == all, "on what all have in common");
	if (dies())
		die();
	flag = 0xff & ~(1 << rank);
	all = 0xff;
	for (int i = 0; i < size - dying; i++)
		all &= ~(1 << i);
	rc = MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
	want_class(rc, dying ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS,
		   "a failure is told");
	want(flag == all, "and the survivors agree");
	MPIX_Comm_failure_ack(MPI_COMM_WORLD);
	flag = rank == 0 ? 6 : 3;
	want_class(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS,
		   "all have acknowledged it");
	want(flag == (size - dying > 1 ? 2 : 6), "and agree again");
	flag = rank == 0 ? 12 : 5;
	MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
	want_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS,
		   "also later");
	want(flag == (size - dying > 1 ? 4 : 12), "with the same result");
	want_class(MPIX_Comm_agree(MPI_COMM_WORLD, NULL), MPI_ERR_ARG,
		   "a flag is needed");
}

static void shrink(void)
{
	MPI_Comm comm, again;
	MPI_Request request;

	if (dies())
		die();
	want_class(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm), MPI_SUCCESS,
		   "the survivors have a communicator");
	survivors_count(comm, size - dying);
	want_class(MPIX_Comm_ishrink(comm, &again, &request), MPI_SUCCESS,
		   "and begin to make another one");
	want_class(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS,
		   "which is complete");
	survivors_count(again, size - dying);
	MPI_Comm_free(&again);
	MPI_Comm_free(&comm);
}

/* One revokes while the others wait, each in another call. */
static void revocation(void)
{
	int value = 1, got = 0, flag = 0, rc = MPI_SUCCESS;
	MPI_Comm comm, fresh;
	MPI_Request requests[2];

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	if (rank == 0) {
		usleep(100000);
		want_class(MPIX_Comm_revoke(comm), MPI_SUCCESS,
			   "a communicator is revoked");
		want_class(MPIX_Comm_revoke(comm), MPI_SUCCESS,
			   "also a second time");
		rc = MPIX_ERR_REVOKED;
	} else if (rank == 1) {
		rc = MPI_Recv(&got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
	} else if (rank == 2) {
		rc = MPI_Barrier(comm);
	} else if (rank == 3) {
		rc = MPI_Probe(MPI_ANY_SOURCE, 7, comm, MPI_STATUS_IGNORE);
	} else {
		/* On a busy machine it may be revoked by now. */
		requests[0] = requests[1] = MPI_REQUEST_NULL;
		rc = MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm,
			       requests);
		MPI_Issend(&value, 1, MPI_INT, 0, 9, comm, requests + 1);
		if (!rc)
			rc = MPI_Wait(requests, MPI_STATUS_IGNORE);
		MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
	}
	want_class(rc, MPIX_ERR_REVOKED, "who waits there waits no more");
	MPIX_Comm_is_revoked(comm, &flag);
	want(flag, "all know it");
	want_class(MPI_Send(&value, 1, MPI_INT, 0, 1, comm), MPIX_ERR_REVOKED,
		   "nobody sends there");
	want_class(MPI_Isend(&value, 1, MPI_INT, 0, 1, comm, requests),
		   MPIX_ERR_REVOKED, "or begins to");
	want_class(MPI_Irecv(&got, 1, MPI_INT, 0, 1, comm, requests),
		   MPIX_ERR_REVOKED, "or receives");
	want_class(MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM, comm),
		   MPIX_ERR_REVOKED, "or makes a collective call");
	want_class(MPI_Ibarrier(comm, requests), MPIX_ERR_REVOKED,
		   "or begins one");
	want_class(MPI_Comm_dup(comm, &fresh), MPIX_ERR_REVOKED,
		   "or makes a communicator of it");
	got = 3;
	want_class(MPIX_Comm_agree(comm, &got), MPI_SUCCESS,
		   "but its members agree");
	want_class(MPIX_Comm_shrink(comm, &fresh), MPI_SUCCESS,
		   "and make a new one of those that live");
	survivors_count(fresh, size);
	MPI_Comm_free(&fresh);
	MPI_Comm_free(&comm);
	want_class(MPI_Allreduce(&value, &got, 1, MPI_INT, MPI_SUM,
				 MPI_COMM_WORLD),
		   MPI_SUCCESS, "other communicators are not concerned");
}

/* Whenever a call fails all repair the communicator and go on. */
static void repair(void)
{
	MPI_Comm comm, fresh;
	int done = 0, repairs = 0, sum, flag, one = 1, n;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	while (done < 30) {
		int rc = MPI_SUCCESS;

		if (rank >= size - dying && done == 7)
			die();
		if (rank == 1 && size - dying > 2 && done == 19)
			die();
		rc = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		flag = rc == MPI_SUCCESS;
		if (!flag)
			MPIX_Comm_revoke(comm);
		MPIX_Comm_agree(comm, &flag);
		if (flag) {
			done++;
			continue;
		}
		MPIX_Comm_revoke(comm);
		if (MPIX_Comm_shrink(comm, &fresh) != MPI_SUCCESS)
			break;
		MPI_Comm_free(&comm);
		comm = fresh;
		MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
		repairs++;
	}
	MPI_Comm_size(comm, &n);
	want(done == 30 && repairs >= 1, "the survivors come to the end");
	survivors_count(comm, n);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{ "p2p", p2p },		  { "pending", pending },
		{ "agree", agree },	  { "shrink", shrink },
		{ "revoke", revocation }, { "repair", repair },
	};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	dying = argc > 2 ? atoi(argv[2]) : 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name))
			cases[i].run();
	want_class(MPI_Finalize(), MPI_SUCCESS, "the end is no error");
	if (right)
		printf("right\n");
	return 0;
}
