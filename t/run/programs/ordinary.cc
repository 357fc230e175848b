// SPDX-License-Identifier: BSD-3-Clause
// As ordinary.c, in C++.
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <thread>

static int rank, wrong;

#define CHECK(what)                                            \
	do {                                                   \
		if (!(what)) {                                 \
			printf("rank %d: not %s\n", rank, #what); \
			wrong++;                               \
		}                                              \
	} while (0)

struct noisy {
	int number = 4242;
	~noisy()
	{
		std::cout << "rank " + std::to_string(number) + " ends\n";
	}
};

static noisy object;
inline int inline_variable = 4;
template <class T> struct of_type {
	static int number;
};
template <class T> int of_type<T>::number = 9;
static std::map<int, int> table{ { 1, 2 } };
static thread_local std::string who = "nobody";
static thread_local noisy quiet;
static thread_local int calls;

static int counter()
{
	static int count = 100;
	return ++count;
}

static void variables()
{
	CHECK(object.number == 4242 && who == "nobody");
	object.number = rank;
	inline_variable += rank;
	of_type<int>::number += rank;
	table[7] = rank;
	who = "rank " + std::to_string(rank);
	CHECK(counter() == 101);
	std::cout << std::setprecision(rank % 8 + 1);
	MPI_Barrier(MPI_COMM_WORLD);
	CHECK(inline_variable == 4 + rank && of_type<int>::number == 9 + rank);
	CHECK(table[7] == rank && table[1] == 2);
	CHECK(who == "rank " + std::to_string(rank));
	CHECK(std::cout.precision() == rank % 8 + 1);
}

static void exceptions()
{
	try {
		throw std::runtime_error(who);
	} catch (const std::exception &first) {
		MPI_Barrier(MPI_COMM_WORLD);
		CHECK(who == first.what());
		try {
			throw;
		} catch (const std::runtime_error &again) {
			MPI_Barrier(MPI_COMM_WORLD);
			CHECK(who == again.what());
		}
	}
}

static void threads()
{
	auto shared = std::make_shared<int>(3);
#ifdef _OPENMP
	const std::string *mine = &who;
	int others = 0, own = 0;

	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(3) reduction(+ : others, own)
		{
			own += &who == mine &&
			       who == "rank " + std::to_string(rank);
			others += &who != mine && *shared == 3 &&
				  who == (i ? "thread" : "nobody");
			if (&who != mine)
				who = "thread";
			calls++;
#pragma omp critical
			MPI_Barrier(MPI_COMM_SELF);
#pragma omp master
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	CHECK(own == 3 && others == 6 && calls == 3);
	CHECK(who == "rank " + std::to_string(rank));
#else
	std::string seen;

	std::thread([&seen, shared] {
		seen = who + std::to_string(*shared);
		who = "thread";
	}).join();
	CHECK(seen == "nobody3" && shared.use_count() == 1);
	CHECK(who == "rank " + std::to_string(rank));
#endif
}

int main(int argc, char **argv)
{
	int size;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	quiet.number = rank + 1000;
	variables();
	exceptions();
	threads();
	std::cout << "rank " + std::to_string(rank) + " of " +
			     std::to_string(size) + ": "
		  << wrong << " faults" << std::endl;
	MPI_Finalize();
	return wrong;
}
