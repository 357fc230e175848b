/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses functions of libc of which the program may have some itself: those named
 * in own_names, each of which counts its calls in own_calls.  Prints "ok" if
 * the others do what libc's do, without calling one of those.
 *
 * Built with -fno-builtin, so that each name here is a call.
 */
#include <fcntl.h>
#include <getopt.h>
#include <mpi.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

extern const char own_names[]; /* " rand srand " */
extern int own_calls;
static int failed;

/* Whether the program has one of the functions itself. */
static bool own(const char *names)
{
	char word[64];
	int length;

	for (; sscanf(names, " %60s%n", word + 1, &length) == 1;
	     names += length) {
		word[0] = ' ';
		strcat(word, " ");
		if (strstr(own_names, word))
			return true;
	}
	return false;
}

/* One check, unless the program has a function that it calls. */
#define CHECK(names, good)                                                \
	do {                                                              \
		if (!own(names) && !(good)) {                             \
			printf("wrong beside%s: %s\n", own_names, #good); \
			failed = 1;                                       \
		}                                                         \
	} while (0)

static void numbers(void)
{
	unsigned short seed[3] = { 1, 2, 3 };
	char state[64];

	CHECK("rand", rand() == 1804289383);
	CHECK("rand random", random() == 846930886);
	CHECK("srand rand", (srand(7), rand()) == 1045618677);
	CHECK("srandom random", (srandom(7), random()) == 1045618677);
	CHECK("initstate random setstate",
	      setstate(initstate(7, state, sizeof(state))) == state);
	CHECK("erand48", erand48(seed) > 0);
	CHECK("nrand48", nrand48(seed) > 0);
	CHECK("jrand48", jrand48(seed) != 0);
	CHECK("srand48 lrand48", (srand48(1), lrand48()) == 89400484);
	CHECK("srand48 mrand48", (srand48(1), mrand48()) == 178800969);
	CHECK("srand48 drand48", (srand48(1), drand48()) > 0.0416);
	CHECK("seed48", seed48(seed) != NULL);
	CHECK("lcong48", (lcong48((unsigned short[7]){ 1 }), true));
}

static void environment(void)
{
	static char text[] = "VMPI_B=2";

	CHECK("setenv getenv",
	      !setenv("VMPI_A", "1", 1) && !strcmp(getenv("VMPI_A"), "1"));
	CHECK("putenv getenv", !putenv(text) && !strcmp(getenv("VMPI_B"), "2"));
	CHECK("setenv secure_getenv",
	      !setenv("VMPI_A", "1", 1) &&
		      !strcmp(secure_getenv("VMPI_A"), "1"));
	CHECK("setenv unsetenv getenv", !setenv("VMPI_A", "1", 1) &&
						!unsetenv("VMPI_A") &&
						!getenv("VMPI_A"));
	CHECK("setenv system",
	      !setenv("VMPI_C", "3", 1) && !system("test \"$VMPI_C\" = 3"));
	CHECK("clearenv getenv", !clearenv() && !getenv("PATH"));
}

static void options(void)
{
	char *words[] = { (char *)"x", (char *)"-a", (char *)"-b3", NULL };
	static const struct option all[] = { { "all", 0, NULL, 'a' }, { 0 } };

	CHECK("getopt", getopt(3, words, "ab:") == 'a' && optind == 2);
	CHECK("getopt", getopt(3, words, "ab:") == 'b' &&
				!strcmp(optarg, "3") && optind == 3);
	optind = 0;
	CHECK("getopt_long",
	      getopt_long(3, words, "ab:", all, NULL) == 'a' && optind == 2);
	optind = 0;
	CHECK("getopt_long_only",
	      getopt_long_only(3, words, "b:", all, NULL) == 'a');
}

static void tables(void)
{
	ENTRY entry = { (char *)"key", (char *)"value" };
	time_t zero = 0;

	CHECK("hcreate hsearch hdestroy",
	      hcreate(10) && hsearch(entry, ENTER) &&
		      hsearch(entry, FIND)->data == entry.data &&
		      (hdestroy(), true));
	CHECK("gmtime", gmtime(&zero)->tm_year == 70);
	CHECK("gmtime asctime",
	      !strcmp(asctime(gmtime(&zero)), "Thu Jan  1 00:00:00 1970\n"));
	CHECK("localtime", localtime(&zero)->tm_year == 70);
	CHECK("ctime", !strcmp(ctime(&zero), "Thu Jan  1 00:00:00 1970\n"));
	CHECK("getchar", getchar() == EOF);
	CHECK("getchar_unlocked", getchar_unlocked() == EOF);
	CHECK("__isoc99_scanf __isoc23_scanf", scanf("%*d") == EOF);
}

static void caught(int signal)
{
	(void)signal;
}

static void files(void)
{
	char word[] = "a b", path[4096];
	int ends[2];
	FILE *file;

	CHECK("strtok", !strcmp(strtok(word, " "), "a"));
	CHECK("realpath", realpath("/", path) && !strcmp(path, "/"));
	CHECK("readlink", readlink("/proc/self/exe", path, sizeof(path)) > 0);
	CHECK("setvbuf", !setvbuf(stdout, NULL, _IOLBF, 0));
	CHECK("fileno", fileno(stdout) == 1);
	CHECK("pipe write close fcntl dup2",
	      !pipe(ends) && write(ends[1], "xy", 2) == 2 &&
		      writev(ends[1], &(struct iovec){ word, 1 }, 1) == 1 &&
		      fcntl(ends[0], F_GETFD) >= 0 &&
		      dup2(ends[0], ends[0]) == ends[0] && !close(ends[0]) &&
		      !close(ends[1]));
	CHECK("popen pclose fclose",
	      (file = popen("exit 3", "r")) && pclose(file) == 3 << 8);
	CHECK("fopen fclose",
	      (file = fopen("/dev/null", "r")) && !fclose(file));
	CHECK("signal raise",
	      signal(SIGUSR1, caught) == SIG_DFL && !raise(SIGUSR1));
	CHECK("sigaction", !sigaction(SIGUSR2, NULL, &(struct sigaction){ 0 }));
	CHECK("kill", !kill(getpid(), 0));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *arg)
{
	return arg;
}

static void threads(void)
{
	pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
	pthread_t id;
	sem_t sem;

	CHECK("pthread_create pthread_join",
	      !pthread_create(&id, NULL, thread, NULL) &&
		      !pthread_join(id, NULL));
	CHECK("pthread_mutex_lock",
	      !pthread_mutex_lock(&lock) && !pthread_mutex_unlock(&lock));
	CHECK("pthread_rwlock_rdlock",
	      !pthread_rwlock_rdlock(&both) && !pthread_rwlock_unlock(&both));
	CHECK("sem_wait", !sem_init(&sem, 0, 1) && !sem_wait(&sem));
	CHECK("sched_yield", !sched_yield());
	CHECK("usleep", !usleep(1));
	CHECK("sleep", !sleep(0));
	CHECK("nanosleep", !nanosleep(&(struct timespec){ 0, 1 }, NULL));
	CHECK("clock_nanosleep",
	      !clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 1 },
			       NULL));
}

int main(int argc, char **argv)
{
	int all, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	numbers();
	options();
	tables();
	files();
	threads();
	environment();
	failed |= own_calls;
	if (own_calls)
		printf("%d calls of%s\n", own_calls, own_names);
	MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	if (!rank && !all)
		printf("ok\n");
	return all;
}
