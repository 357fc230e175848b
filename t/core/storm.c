/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The storm of storm.h in one process, on 1, 2 and 4 workers.
 *
 * STORM_SECONDS (default 3) is the time for all numbers of workers together,
 * SEED repeats a storm as far as threads allow.
 */
#define BYTES_MAX ((size_t)256 << 10)
#define SENDS_MAX 30000
#include "storm.h"

static void storm(int workers, uint64_t ns)
{
	vmpi_config config = { .ranks = RANKS, .workers = workers };
	void (*body)(int, int) = storm_body;
	pthread_t threads[THREADS];
	int faults;
	long count;

	storm_init(ns);
	if (vmpi_start(&config))
		bail("no start");
	storm_threads(threads, 0, RANKS);
	is_int(vmpi_run(NULL, job_main, &body), 0, "a storm on %d workers",
	       workers);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	is_int(vmpi_stop(), 0, "has an end");
	is_int(job_faults_take(), 0, "every call and every byte was right");
	count = check(&faults, 0, RANKS);
	is_int(faults, 0, "all came, in order and whole");
	/* The number depends on the machine: loop.t makes messages slow. */
	ok(count > 0, "it was a storm (%ld messages)", count);
	for (int i = 0; i < RANKS; i++)
		free(logs[i].entries);
}

int main(void)
{
	const char *given = getenv("SEED"),
		   *time_text = getenv("STORM_SECONDS");
	double seconds = time_text ? strtod(time_text, NULL) : 3;

	plan(15);
	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
	diag("seed %llu (SEED=... repeats it), %g s (STORM_SECONDS=...)",
	     (unsigned long long)seed, seconds);
	storm(1, (uint64_t)(seconds / 3 * 1e9));
	storm(2, (uint64_t)(seconds / 3 * 1e9));
	storm(4, (uint64_t)(seconds / 3 * 1e9));
	return done_testing();
}
