/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The master of a team is the rank's main thread, in all that it can see of
 * itself: before, in, and after a region.
 */
#include <cerrno>
#include <cfenv>
#include <cstdio>
#include <exception>
#include <list>
#include <mpi.h>
#include <omp.h>
#include <stdexcept>
#include <string>

static int rank, size;
static int kept;
#pragma omp threadprivate(kept)
static thread_local std::list<int> numbers;
static thread_local std::string name = "short";
static thread_local int plain = 7;

static void check(bool held, const char *what)
{
	if (!held)
		std::printf("rank %d: not so: %s\n", rank, what);
}

/* Ranks of one worker take turns here. */
static void elsewhere()
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static void variables()
{
	int *here = &plain, seen = 0, others = 0;

	numbers.push_back(rank);
	plain = 10 + rank;
	kept = rank;
	elsewhere();
#pragma omp parallel num_threads(2) reduction(+ : seen, others)
	{
		if (omp_get_thread_num() == 0) {
			seen += here == &plain && plain == 10 + rank &&
				kept == rank && numbers.size() == 1;
			numbers.push_back(rank + 1);
			name += " and too long to be kept in the string itself";
			plain++;
		} else {
			kept = 100 + rank;
			others += here != &plain && plain == 7 &&
				  numbers.empty();
		}
	}
	check(seen == 1, "the master has the variables of the serial part");
	check(others == 1, "other threads have their own");
	check(plain == 11 + rank && numbers.size() == 2 &&
		      numbers.back() == rank + 1 && name.size() > 40,
	      "the serial part has what the master wrote");
	elsewhere();
	seen = 0;
#pragma omp parallel num_threads(2) reduction(+ : seen)
	seen += kept == (omp_get_thread_num() ? 100 + rank : rank);
	check(seen == 2, "threadprivate variables persist between regions");
}

static void surroundings()
{
	int error = -1, rounding = -1, main_thread = -1, count = 0;

	omp_set_num_threads(2 + rank % 2);
	std::fesetround(FE_DOWNWARD);
	errno = 1000 + rank;
	elsewhere();
	errno = 1000 + rank;
#pragma omp parallel reduction(+ : count)
	{
		count++;
#pragma omp master
		{
			error = errno;
			rounding = std::fegetround();
			MPI_Is_thread_main(&main_thread);
			elsewhere();
			errno = 2000 + rank;
		}
	}
	check(errno == 2000 + rank, "errno is carried out of a region");
	check(error == 1000 + rank, "errno is carried into a region");
	check(rounding == FE_DOWNWARD && std::fegetround() == FE_DOWNWARD,
	      "and so is the rounding mode");
	std::fesetround(FE_TONEAREST);
	check(main_thread == 1, "MPI takes the master for the main thread");
	check(count == 2 + rank % 2 && omp_get_max_threads() == count &&
		      !omp_in_parallel() && omp_get_level() == 0,
	      "the number of threads is a rank's own");
}

static void exceptions()
{
	int caught = 0, current = 0;

	try {
		throw std::runtime_error("outside");
	} catch (...) {
		elsewhere();
#pragma omp parallel num_threads(2) reduction(+ : caught, current)
		{
			if (omp_get_thread_num() == 0)
				current += std::current_exception() != nullptr;
			try {
				throw rank;
			} catch (int number) {
				caught += number == rank;
			}
		}
		try {
			throw;
		} catch (const std::runtime_error &error) {
			caught += error.what() == std::string("outside");
		}
	}
	check(caught == 3 && current == 1, "exceptions are the rank's");
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	variables();
	surroundings();
	exceptions();
	MPI_Finalize();
	std::printf("rank %d: done\n", rank);
	return 0;
}
