/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining a job: what is wrong in the environment is refused, and a launcher
 * that answers wrongly, or anything at all, costs an error and no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/boot.h"
#include "tap.h"
#include "vmpi.h"

#define RANDOM_ROUNDS 3000
#define RANDOM_SEED 815u

/* A launcher: answers each request by the first row that its line begins with;
 * the rows of the case come before those of a good one. */
struct row {
	const char *request, *answer; /* answer NULL: close the socket */
};

static const struct row good[] = {
	{ "cmd=init", "cmd=response_to_init pmi_version=1 rc=0\n" },
	{ "cmd=get_maxes", "cmd=maxes kvsname_max=64 keylen_max=64 "
			   "vallen_max=1024\n" },
	{ "cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1\n" },
	{ "cmd=put", "cmd=put_result rc=0\n" },
	{ "cmd=barrier_in", "cmd=barrier_out\n" },
	{ "cmd=get ", "cmd=get_result rc=-1 value=unknown\n" },
	{ "cmd=vmpi_events", "cmd=vmpi_events_on rc=0\n" },
	{ "cmd=finalize", "cmd=finalize_ack\n" },
	{ "", "cmd=unknown_cmd rc=-1\n" },
};

struct fake {
	const struct row *rows; /* up to a row without request */
	unsigned *random;	/* or answers at random */
	int fd;
};

static unsigned random_next(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static const char *random_answer(unsigned *state)
{
	static const char *const answers[] = {
		"cmd=vmpi_left process=1 status=9\n",
		"cmd=vmpi_left process=-1 status=9\n",
		"cmd=vmpi_left process=99999 status=x\n",
		"cmd=vmpi_left\n",
		"\n",
		"cmd\n",
		"cmd=get_result rc=0 value=3:00zz00\n",
		"cmd=get_result rc=0 value=3:0011\n",
		"cmd=get_result rc=0 value=-3:0011\n",
		"cmd=get_result rc=0 value=99999999999999999999:00\n",
		"cmd=get_result rc=0\n",
		"cmd=maxes keylen_max=64 vallen_max=64\n",
		"cmd=my_kvsname kvsname=\n",
		"cmd=barrier_out rc=-1\n",
		"\x01\x02\x03\n",
	};
	unsigned count = sizeof(answers) / sizeof(answers[0]);
	unsigned which = random_next(state) % (4 * count);

	/* Mostly what is right, so that a job gets anywhere. */
	return which < count ? answers[which] : NULL;
}

static const char *answer_find(const struct row *rows, const char *line)
{
	while (strncmp(line, rows->request, strlen(rows->request)) != 0)
		rows++;
	return rows->answer;
}

static bool answer_send(const struct fake *fake, const char *line)
{
	const char *answer = fake->random ? random_answer(fake->random) : NULL;

	for (const struct row *row = fake->rows; row && row->request; row++)
		if (!strncmp(line, row->request, strlen(row->request))) {
			if (!row->answer)
				return false;
			answer = row->answer;
			break;
		}
	/* Events come besides an answer. */
	if (answer && !strncmp(answer, "cmd=vmpi_left", 13)) {
		send(fake->fd, answer, strlen(answer), MSG_NOSIGNAL);
		answer = NULL;
	}
	if (!answer)
		answer = answer_find(good, line);
	return send(fake->fd, answer, strlen(answer), MSG_NOSIGNAL) >= 0;
}

static void *fake_main(void *arg)
{
	struct fake *fake = arg;
	FILE *in = fdopen(dup(fake->fd), "r");
	char line[8192];

	while (in && fgets(line, sizeof(line), in))
		if (!answer_send(fake, line))
			break;
	if (in)
		fclose(in);
	shutdown(fake->fd, SHUT_RDWR);
	return NULL;
}

static pthread_t fake_start(struct fake *fake)
{
	pthread_t thread;
	char text[16];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		bail("no sockets");
	fake->fd = pair[0];
	snprintf(text, sizeof(text), "%d", pair[1]);
	setenv("PMI_FD", text, 1);
	setenv("PMI_RANK", "0", 1);
	setenv("PMI_SIZE", "2", 1);
	if (pthread_create(&thread, NULL, fake_main, fake))
		bail("no thread");
	return thread;
}

/* The result of joining a job of the launcher. */
static int join(struct fake *fake)
{
	pthread_t thread = fake_start(fake);
	int fd = (int)strtol(getenv("PMI_FD"), NULL, 10);
	struct vm_boot *boot;
	struct vm_job job;
	int rc;

	vm_job_init(&job);
	rc = vm_boot_open(&boot, &job);
	if (!rc)
		vm_boot_close(boot);
	else
		close(fd);
	pthread_join(thread, NULL);
	close(fake->fd);
	vm_boot_clear_env();
	return rc;
}

static void answers_test(void)
{
	static char much[10000];
	static const struct {
		struct row row;
		int rc;
	} cases[] = {
		{ { "cmd=init", NULL }, -VMPI_EIO },
		{ { "cmd=init", "\n" }, -VMPI_EIO },
		{ { "cmd=init", "hello\n" }, -VMPI_EIO },
		{ { "cmd=init", "cmd=maxes\n" }, -VMPI_EIO },
		{ { "cmd=init", "cmd=response_to_init rc=-1\n" }, -VMPI_EIO },
		{ { "cmd=init", "cmd=response_to_init rc=0 vmpi=1\n" },
		  -VMPI_EINVAL },
		{ { "cmd=init", "cmd=response_to_init rc=0\ncmd=again\n" },
		  -VMPI_EIO },
		{ { "cmd=init", much }, -VMPI_EIO },
		{ { "cmd=get_maxes", "cmd=maxes\n" }, -VMPI_ENOTSUP },
		{ { "cmd=get_maxes", "cmd=maxes keylen_max=9 vallen_max=99\n" },
		  -VMPI_ENOTSUP },
		{ { "cmd=get_my", "cmd=my_kvsname\n" }, -VMPI_ENOTSUP },
		{ { "cmd=put", "cmd=put_result rc=-1 msg=no\n" }, -VMPI_EIO },
		{ { "cmd=put", "cmd=put_result rc=0\n\n" }, -VMPI_EIO },
		{ { "cmd=barrier_in", NULL }, -VMPI_EIO },
		{ { "cmd=barrier_in", "cmd=barrier_out rc=-1\n" }, -VMPI_EIO },
		{ { "cmd=get ", "cmd=get_result rc=-1\n" }, -VMPI_EINVAL },
		{ { "cmd=get ", "cmd=get_result rc=0 value=4:0\n" },
		  -VMPI_EIO },
		{ { "cmd=get ", "cmd=get_result rc=0 value=4:00112233\n" },
		  -VMPI_EINVAL },
		{ { "cmd=get ", "cmd=get_result rc=0 value=4:00112233 "
				"found=TRUE\n" },
		  -VMPI_EINVAL },
		{ { "cmd=get ", "cmd=get_result rc=0 value=2:001122\n" },
		  -VMPI_EIO },
		{ { "cmd=get ", "cmd=get_result rc=0 value=-1:00\n" },
		  -VMPI_EIO },
		{ { "cmd=get ", "cmd=get_result rc=0 value=9\n" }, -VMPI_EIO },
		{ { "cmd=get ", "cmd=get_result rc=0 value=60000:00\n" },
		  -VMPI_EINVAL },
		{ { "cmd=get ", "cmd=get_result rc=0 value=0:\n" },
		  -VMPI_EINVAL },
	};

	memset(much, 'x', sizeof(much) - 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct row rows[] = { cases[i].row, { NULL, NULL } };
		struct fake fake = { .rows = rows };

		is_int(join(&fake), cases[i].rc, "case %zu, at %s, is refused",
		       i, rows[0].request);
	}
}

static void random_test(void)
{
	unsigned state = RANDOM_SEED;
	int rounds = 0, joined = 0;

	vm_log_set_level((enum vm_log_level)(VM_ERROR - 1));
	for (; rounds < RANDOM_ROUNDS; rounds++) {
		struct fake fake = { .random = &state };

		joined += join(&fake) == 0;
	}
	vm_log_set_level(VM_WARN);
	is_int(joined, 0, "%d launchers with random answers are left", rounds);
}

static int open_with(struct vm_job *job)
{
	struct vm_boot *boot;
	int rc = vm_boot_open(&boot, job);

	if (!rc)
		vm_boot_close(boot);
	return rc;
}

static void environment_test(void)
{
	static const struct {
		const char *fd, *rank, *size;
	} wrong[] = {
		{ "x", "0", "1" },  { "-1", "0", "1" },	  { "", "0", "1" },
		{ "0", "1", "1" },  { "0", "0", "0" },	  { "0", "-1", "1" },
		{ "0", "0", NULL }, { "9999", "0", "1" }, { "0", "0x0", "1" },
	};
	struct vm_job job;

	vm_job_init(&job);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		setenv("PMI_FD", wrong[i].fd, 1);
		setenv("PMI_RANK", wrong[i].rank, 1);
		if (wrong[i].size)
			setenv("PMI_SIZE", wrong[i].size, 1);
		else
			unsetenv("PMI_SIZE");
		is_int(open_with(&job), -VMPI_EINVAL, "PMI case %zu is refused",
		       i);
	}
	vm_boot_clear_env();
	setenv("PMI_PORT", "host:1", 1);
	is_int(vm_boot_ranks_here(&job), -VMPI_ENOTSUP,
	       "a PMI we cannot speak is refused");
	is_int(open_with(&job), -VMPI_ENOTSUP, "also when joining");
	vm_boot_clear_env();
	setenv("PMIX_NAMESPACE", "x", 1);
	setenv("PMIX_RANK", "-3", 1);
	ok(vm_boot_ranks_here(&job) < 0, "a wrong PMIX_RANK is refused");
	vm_boot_clear_env();
	setenv("VMPI_JOB_RANKS", "8", 1);
	setenv("VMPI_JOB_NODES", "2", 1);
	vm_job_from_env(&job);
	is_int(open_with(&job), -VMPI_EINVAL,
	       "half of a job of two nodes is no job");
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_FD", "0", 1);
	setenv("PMI_SIZE", "2", 1);
	is_int(vm_boot_ranks_here(&job), 4, "one of two nodes has half");
	vm_job_text(&job.blocks, "5,3");
	is_int(vm_boot_ranks_here(&job), 3, "or what the blocks say");
	vm_job_text(&job.blocks, "5,4");
	is_int(vm_boot_ranks_here(&job), -VMPI_EINVAL,
	       "if they fit the number of ranks");
	setenv("PMI_RANK", "2", 1);
	is_int(vm_boot_ranks_here(&job), -VMPI_EINVAL,
	       "there is no third of two");
	vm_job_fini(&job);
	vm_boot_clear_env();
	vm_job_clear_env();
}

static void alone_test(void)
{
	struct vm_boot *boot;
	struct vm_job job;
	size_t length = 7;
	char text[8];

	vm_job_init(&job);
	job.ranks = 5;
	is_int(vm_boot_ranks_here(&job), 5, "alone all ranks are here");
	if (vm_boot_open(&boot, &job))
		bail("a job of one process cannot be opened");
	is_string(boot->backend, "alone", "nobody is asked");
	is_int(boot->processes, 1, "there is one process");
	is_int(boot->rank_count, 5, "with all ranks");
	is_int(vm_boot_process_of(boot, 4), 0, "it has the last one");
	is_int(vm_boot_put(boot, "a", "xyz", 3), 0, "it puts");
	is_int(vm_boot_put(boot, "a", "xyz", 3), -VMPI_EINVAL, "once");
	is_int(vm_boot_fence(boot), 0, "fences");
	is_int(vm_boot_get(boot, text, &length, 8, 0, "a"), 0, "and gets");
	ok(length == 3 && !memcmp(text, "xyz", 3), "the same");
	is_int(vm_boot_get(boot, text, &length, 2, 0, "a"), -VMPI_ELIMIT,
	       "not into a room that is too small");
	is_int(vm_boot_get(boot, text, &length, 8, 0, "b"), -VMPI_ENOENT,
	       "nor what is not there");
	is_int(vm_boot_get(boot, text, &length, 8, 1, "a"), -VMPI_EINVAL,
	       "nor of a process that is not there");
	for (const char *const *name =
		     (const char *const[]){ "", "a b", "a\n", "a=b", "a/b",
					    "abcdefghijklmnopqrstuvwxy", NULL };
	     *name; name++)
		is_int(vm_boot_put(boot, *name, "", 0), -VMPI_EINVAL,
		       "'%s' is no name", *name);
	is_int(vm_boot_put(boot, "big", text, VM_BOOT_BLOB_MAX + 1),
	       -VMPI_EINVAL, "a blob has a limit");
	vm_boot_close(boot);
	vm_boot_close(NULL);
}

int main(void)
{
	vm_boot_clear_env();
	vm_job_clear_env();
	alone_test();
	environment_test();
	answers_test();
	random_test();
	return done_testing();
}
