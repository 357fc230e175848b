// SPDX-License-Identifier: BSD-3-Clause
//
// What sanitizers look at: memory, exceptions, threads and messages of each rank,
// all in order; or, with an argument, one mistake: "heap", "stack" and "null" by
// rank 1, "leak" and "race" by every rank, "overflow" of an integer, or "deep",
// too many calls.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static int counted;
static bool race;

static void count()
{
	for (int i = 0; i < 1000; i++) {
		if (!race)
			mutex.lock();
		counted++; // counts
		if (!race)
			mutex.unlock();
	}
}

static void deep(int levels)
{
	std::vector<int> here(levels % 16 + 1);
	char block[256];

	block[levels % 256] = 1;
	if (!levels) {
		MPI_Barrier(MPI_COMM_WORLD);
		throw std::runtime_error("at the bottom");
	}
	deep(levels - 1);
	std::printf("%d\n", block[levels % 256]);
}

static void leave(int levels)
{
	char block[512];

	block[levels] = 1;
	if (!levels) {
		MPI_Finalize();
		std::exit(0);
	}
	leave(levels - 1);
	std::printf("%d\n", block[levels]);
}

// Not inlined: an exception unmarks the frames that it passes through.
__attribute__((noinline)) static int err(const std::string &what, int rank)
{
	volatile char block[16];
	volatile int at = 17, big = 0x7fffffff;
	volatile char *bytes = new char[10 + rank]; // leaks
	volatile char *volatile nothing = nullptr;

	block[1] = 0;
	bytes[0] = 0;
	if (what == "heap" && rank == 1)
		bytes[11] = 1; // heap
	if (what == "stack" && rank == 1)
		block[at] = 1; // stack
	if (what == "null" && rank == 1)
		*nothing = 1; // null
	if (what == "deep" && rank == 1)
		deep(1 << 20);
	if (what == "overflow")
		big += 1 + rank; // overflows
	if (what == "leak")
		bytes = nullptr;
	delete[] bytes;
	return block[1] + big;
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "";
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	race = what == "race";
	std::thread thread(count);
	count();
	thread.join();
	for (int i = 0; i < 5; i++) {
		std::vector<int> out(20000, rank), in(20000);

		MPI_Sendrecv(out.data(), 20000, MPI_INT, (rank + 1) % size, 0,
			     in.data(), 20000, MPI_INT,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
		out[3] += in[5];
		try {
			deep(20);
		} catch (const std::exception &) {
			sum += out[3];
		}
		MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_MAX,
			      MPI_COMM_WORLD);
	}
	sum += err(what, rank) == 0;
	if (rank == 0)
		std::printf("counted %d\n", counted);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank % 2)
		leave(20);
	MPI_Finalize();
	return 0;
}
