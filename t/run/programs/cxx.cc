// SPDX-License-Identifier: BSD-3-Clause
/*
 * What C++ shares between the parts of a process: unique symbols, exceptions,
 * streams.  Prints "rank R: ok" or what was wrong.
 */
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vmpi.h>

inline int inline_variable = 1;

template <class T> struct with_static {
	static T value;
};
template <class T> T with_static<T>::value = T(10);

inline int &counter()
{
	static int count = 0;

	return count;
}

struct speaker {
	std::string text = "constructed";
	~speaker()
	{
		std::cout << "destroyed " << text << std::endl;
	}
};

static speaker global;
static std::map<int, std::string> table{ { 1, "x" } };
static thread_local std::string per_thread = "t";

struct thread_speaker {
	int rank = -1;
	~thread_speaker()
	{
		std::cout << "thread object of " << rank << std::endl;
	}
};
static thread_local thread_speaker thread_object;

struct failure : std::runtime_error {
	int value;
	explicit failure(int v) : std::runtime_error("failure"), value(v)
	{
	}
};

__attribute__((noinline)) static void throw_deep(int depth)
{
	std::string on_the_way(100, 'x');

	if (depth == 0)
		throw failure(vmpi_rank());
	vmpi_yield();
	throw_deep(depth - 1);
}

/* Exceptions that are being handled while other ranks throw theirs. */
static bool exceptions(int rank)
{
	try {
		throw_deep(5);
	} catch (const failure &outer) {
		vmpi_yield();
		if (outer.value != rank || std::uncaught_exceptions())
			return false;
		try {
			throw;
		} catch (const failure &again) {
			vmpi_yield();
			return again.value == rank;
		}
	}
	return false;
}

static const char *check(int rank)
{
	std::string number = std::to_string(rank);

	if (inline_variable != 1 + rank)
		return "inline variable";
	if (with_static<int>::value != 10 + rank)
		return "static member of a template";
	if (counter() != rank)
		return "static variable of an inline function";
	if (global.text != "constructed" + number || table[2] != number)
		return "global object";
	if (per_thread != "t" + number)
		return "thread_local object";
	for (int i = 0; i < 10; i++)
		if (!exceptions(rank))
			return "exception";
	return "ok";
}

int main()
{
	int rank = vmpi_rank();
	const char *result;

	inline_variable += rank;
	with_static<int>::value += rank;
	counter() += rank;
	global.text += std::to_string(rank);
	table[2] = std::to_string(rank);
	per_thread += std::to_string(rank);
	thread_object.rank = rank;
	vmpi_barrier(vmpi_world());
	result = check(rank);
	std::ios_base::sync_with_stdio(false);
	if (rank % 2)
		std::cout << std::hex << std::setfill('*');
	vmpi_barrier(vmpi_world());
	std::cout << "rank " << rank << ": " << result;
	vmpi_yield();
	std::cout << " " << std::setw(4) << 255 << std::endl;
	return 0;
}
