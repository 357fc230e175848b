/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE: OS threads of a rank call MPI at the same time.
 */
#include "file.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define THREADS 4
#define MESSAGES 500

static int next, before;

struct job {
	pthread_t thread;
	int number;
	bool held;
};

static bool run(void *(*body)(void *), struct job *jobs)
{
	bool held = true;

	for (int i = 0; i < THREADS; i++) {
		jobs[i].number = i;
		jobs[i].held = true;
		pthread_create(&jobs[i].thread, NULL, body, &jobs[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(jobs[i].thread, NULL);
		held = held && jobs[i].held;
	}
	return held;
}

/* Each thread has its own tag. */
static void *ring(void *arg)
{
	struct job *job = arg;
	int main_thread = 1, r = -1;

	MPI_Is_thread_main(&main_thread);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	job->held = !main_thread && r == rank;
	for (int i = 0; i < MESSAGES; i++) {
		int out = 1000 * rank + i, in = -1;

		MPI_Sendrecv(&out, 1, MPI_INT, next, job->number, &in, 1,
			     MPI_INT, before, job->number, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		job->held = job->held && in == 1000 * before + i;
	}
	return NULL;
}

/* Messages of unknown source and size: matched probe gives each to one
 * thread. */
static _Atomic int received, bytes;

static void *take(void *arg)
{
	struct job *job = arg;
	char buffer[256];

	for (int i = 0; i < MESSAGES; i++) {
		MPI_Message message;
		MPI_Status status;
		int count = -1, got = -1;

		MPI_Mprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &message,
			   &status);
		MPI_Get_count(&status, MPI_CHAR, &count);
		MPI_Mrecv(buffer, count, MPI_CHAR, &message, &status);
		MPI_Get_count(&status, MPI_CHAR, &got);
		job->held = job->held && got == count && count > 0 &&
			    buffer[count - 1] == (char)count;
		received++;
		bytes += count;
	}
	return NULL;
}

static void *give(void *arg)
{
	struct job *job = arg;
	char buffer[256];

	for (int i = 0; i < MESSAGES; i++) {
		int count = 1 + (i * 13 + job->number) % 250;

		buffer[count - 1] = (char)count;
		MPI_Send(buffer, count, MPI_CHAR, next, 77, MPI_COMM_WORLD);
		job->held = job->held && count > 0;
	}
	return NULL;
}

static void *both(void *arg)
{
	struct job *job = arg;

	return job->number % 2 ? give(arg) : take(arg);
}

static void *requests(void *arg)
{
	struct job *job = arg;
	static char data[THREADS][2][40000];
	MPI_Request request[2];

	for (int i = 0; i < 20; i++) {
		int n = job->number;

		memset(data[n][0], rank + i, sizeof(data[n][0]));
		MPI_Irecv(data[n][1], 40000, MPI_CHAR, before, 100 + n,
			  MPI_COMM_WORLD, &request[0]);
		MPI_Isend(data[n][0], 40000, MPI_CHAR, next, 100 + n,
			  MPI_COMM_WORLD, &request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		job->held = job->held &&
			    data[n][1][39999] == (char)(before + i);
	}
	return NULL;
}

/* Objects are made and freed by all threads. */
static void *objects(void *arg)
{
	struct job *job = arg;

	for (int i = 0; i < 200; i++) {
		MPI_Group group, part;
		MPI_Info info;
		int n = -1;

		MPI_Comm_group(MPI_COMM_WORLD, &group);
		MPI_Group_incl(group, 1, &rank, &part);
		MPI_Group_size(part, &n);
		MPI_Info_create(&info);
		MPI_Info_set(info, "key", "value");
		MPI_Info_free(&info);
		MPI_Group_free(&part);
		MPI_Group_free(&group);
		job->held = job->held && n == 1;
	}
	return NULL;
}

/* A communicator per thread. */
static MPI_Comm comms[THREADS];

static void *dups(void *arg)
{
	struct job *job = arg;

	for (int i = 0; i < 20; i++) {
		int out = i, in = -1;
		MPI_Comm copy;

		MPI_Comm_dup(comms[job->number], &copy);
		MPI_Sendrecv(&out, 1, MPI_INT, next, 0, &in, 1, MPI_INT, before,
			     0, copy, MPI_STATUS_IGNORE);
		MPI_Comm_free(&copy);
		job->held = job->held && in == i;
	}
	return NULL;
}

/* Threads begin where their rank is; now they are really at once. */
static void anywhere(void)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	sched_setaffinity(0, sizeof(all), &all);
}

/* All on MPI_COMM_SELF at once, as PnetCDF's threads do. */
static void *alone(void *arg)
{
	struct job *job = arg;

	anywhere();
	for (int i = 0; i < 10000; i++) {
		int out = THREADS * i + job->number, in = -1, later = -1;
		MPI_Request request;
		MPI_Comm copy;

		MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		MPI_Iallreduce(&out, &later, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF,
			       &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Comm_dup(MPI_COMM_SELF, &copy);
		MPI_Bcast(&in, 1, MPI_INT, 0, copy);
		MPI_Comm_free(&copy);
		job->held = job->held && in == out && later == out;
	}
	return NULL;
}

static void *files(void *arg)
{
	struct job *job = arg;
	char path[300];

	anywhere();
	snprintf(path, sizeof(path), "%s.%d.%d", file_at("alone"), rank,
		 job->number);
	for (int i = 0; i < 200; i++) {
		int out = THREADS * i + job->number, in = -1;
		MPI_File file;

		MPI_File_open(MPI_COMM_SELF, path, RW | MODE_DELETE,
			      MPI_INFO_NULL, &file);
		MPI_File_write_at_all(file, 0, &out, 1, MPI_INT,
				      MPI_STATUS_IGNORE);
		MPI_File_read_at_all(file, 0, &in, 1, MPI_INT,
				     MPI_STATUS_IGNORE);
		MPI_File_close(&file);
		job->held = job->held && in == out;
	}
	return NULL;
}

static _Atomic bool found;

static void *late_send(void *arg)
{
	(void)arg;
	usleep(50000);
	MPI_Send(&next, 1, MPI_INT, next, 77, MPI_COMM_WORLD);
	return NULL;
}

static void *look(void *arg)
{
	int flag = 0, got;

	(void)arg;
	while (!flag)
		MPI_Iprobe(before, 77, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
	MPI_Recv(&got, 1, MPI_INT, before, 77, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
	found = got == rank;
	return NULL;
}

/* The rank itself computes until its thread has got a message. */
static void thread_looks(void)
{
	pthread_t sender, looker;

	found = false;
	pthread_create(&sender, NULL, late_send, NULL);
	pthread_create(&looker, NULL, look, NULL);
	everybody();
	while (!found)
		; /* no call that yields */
	pthread_join(sender, NULL);
	pthread_join(looker, NULL);
	all_ok(found, "a thread that probes gets what comes meanwhile");
}

int main(int argc, char **argv)
{
	struct job jobs[THREADS];
	bool held;

	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	all_ok(run(ring, jobs), "threads of a rank talk on tags of their own");
	held = run(both, jobs);
	all_ok(held && received == 2 * MESSAGES,
	       "matched probe gives each message to one thread");
	all_ok(run(requests, jobs), "threads wait for requests");
	all_ok(run(objects, jobs), "threads make and free objects");
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	all_ok(run(dups, jobs), "threads are in collectives, one on each comm");
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	all_ok(run(alone, jobs), "threads are in collectives on MPI_COMM_SELF");
	thread_looks();
	files_begin();
	all_ok(run(files, jobs), "and open files there");
	files_end();
	return mtap_end();
}
