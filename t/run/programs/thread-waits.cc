/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As thread-waits.c, with the library of C++: a main thread waits for another
 * thread, which first sends a number around all ranks.
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <mpi.h>
#include <mutex>
#include <shared_mutex>
#include <thread>
#if __cplusplus >= 202002L
#include <barrier>
#include <latch>
#include <semaphore>
#endif

using namespace std::chrono_literals;

static int rank, size;
static std::atomic<bool> held;

static int ring()
{
	int number = rank;

	held = true;
	std::this_thread::sleep_for(5ms); /* the main thread waits, by now */
	MPI_Sendrecv_replace(&number, 1, MPI_INT, (rank + 1) % size, 0,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	return number;
}

/* One way: the thread, and the main thread while it runs. */
static void way(const char *name, std::function<void()> thread,
		std::function<bool()> wait)
{
	held = false;
	std::thread other(thread);
	while (!held)
		std::this_thread::yield();
	if (!wait())
		std::printf("rank %d: %s fails\n", rank, name);
	other.join();
}

static void futures()
{
	int left = (rank + size - 1) % size;
	auto plain = std::async(std::launch::async, ring);
	std::promise<int> promise;

	if (plain.get() != left)
		std::printf("rank %d: async fails\n", rank);
	way(
		"promise", [&] { promise.set_value(ring()); },
		[&] { return promise.get_future().get() == left; });
	auto limited = std::async(std::launch::async, ring);
	if (limited.wait_for(60s) != std::future_status::ready)
		std::printf("rank %d: wait_for fails\n", rank);
}

static void locks()
{
	std::mutex mutex;
	std::condition_variable condition;
	std::shared_mutex shared;
	std::timed_mutex timed;
	bool done = false;

	way(
		"condition_variable",
		[&] {
			ring();
			std::lock_guard lock(mutex);
			done = true;
			condition.notify_all();
		},
		[&] {
			std::unique_lock lock(mutex);
			return condition.wait_for(lock, 60s,
						  [&] { return done; });
		});
	way(
		"shared_mutex",
		[&] {
			std::unique_lock lock(shared);
			ring();
		},
		[&] { return std::shared_lock(shared).owns_lock(); });
	way(
		"timed_mutex",
		[&] {
			std::unique_lock lock(timed);
			ring();
		},
		[&] { return std::unique_lock(timed, 60s).owns_lock(); });
}

struct slow {
	slow()
	{
		ring();
	}
};

static void statics()
{
	auto get = [] {
		static slow once;
	};

	way("static", get, [&] {
		get();
		return true;
	});
}

#if __cplusplus >= 202002L
static void cxx20()
{
	std::atomic<int> word = 0;
	std::latch latch(2);
	std::counting_semaphore<4> semaphore(0);
	std::barrier barrier(2);

	way(
		"atomic",
		[&] {
			ring();
			word = 1;
			word.notify_one();
		},
		[&] {
			word.wait(0);
			return word == 1;
		});
	way(
		"latch",
		[&] {
			ring();
			latch.count_down();
		},
		[&] {
			latch.arrive_and_wait();
			return true;
		});
	way(
		"counting_semaphore",
		[&] {
			ring();
			semaphore.release();
		},
		[&] {
			semaphore.acquire();
			return true;
		});
	way(
		"barrier",
		[&] {
			ring();
			barrier.arrive_and_wait();
		},
		[&] {
			barrier.arrive_and_wait();
			return true;
		});
}
#else
static void cxx20()
{
}
#endif

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	futures();
	locks();
	statics();
	cxx20();
	MPI_Finalize();
	std::printf("rank %d: done\n", rank);
	return 0;
}
