/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node process that does what its words say: vmpirun (VMPI_NODE) and other
 * launchers start it where vmpi-node would be.
 *
 *	who            print what boot says of this process
 *	exchange       put blobs of many sizes, fence, check everybody's
 *	key            check that all have the same key, and that it is one
 *	fence          pass a fence (fails=fence: it must fail)
 *	watch          report the deaths of others, and print them
 *	events=N       wait until N deaths were reported
 *	abort=CODE     tell the launcher, then end with the code
 *	exit=CODE      end without leaving
 *	signal=NAME    KILL or SEGV this process
 *	sleep=MS       sleep; ready=FILE: make FILE.<process> with our pid in it
 *	stdin          print what standard input has
 *	ignore=TERM    ignore SIGTERM
 *	spawn          start a process that keeps our descriptors, and forget it
 *
 * "1:word" is for process 1 alone.  A first word with a slash is the program
 * vmpirun was given, and is skipped.  At the end the job is left.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "boot/boot.h"
#include "vmpi.h"

#define SECONDS_MAX 40 /* a watchdog for all of it */

static const size_t sizes[] = { 0,   1,	   2,	 63,   311,   312,
				313, 1000, 1024, 4096, 20000, 65536 };

#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static struct vm_boot *boot;
static _Atomic int event_count;

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One write per line: several processes print. */
static void line(const char *format, ...)
{
	char text[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	text[length++] = '\n';
	if (write(STDOUT_FILENO, text, (size_t)length) != length)
		_exit(90);
}

static _Noreturn void failed(const char *what)
{
	line("process %d: %s failed", boot ? boot->process : -1, what);
	_exit(91);
}

static void who_do(const char *value)
{
	line("process %d of %d: ranks %d-%d of %d, hosts %d, share %d of %d, "
	     "%s%s",
	     boot->process, boot->processes, boot->rank_first,
	     boot->rank_first + boot->rank_count - 1, boot->ranks, boot->hosts,
	     boot->share, boot->shares, boot->backend,
	     boot->launcher_kills ? ", launcher kills" : "");
}

static unsigned char byte_of(int process, int size, size_t at)
{
	return (unsigned char)(process * 31 + size * 7 + (int)(at % 251));
}

static void exchange_do(const char *value)
{
	static unsigned char bytes[VM_BOOT_BLOB_MAX];
	char name[16];
	size_t length;

	for (int i = 0; i < SIZES; i++) {
		for (size_t at = 0; at < sizes[i]; at++)
			bytes[at] = byte_of(boot->process, i, at);
		snprintf(name, sizeof(name), "blob-%d", i);
		if (vm_boot_put(boot, name, bytes, sizes[i]))
			failed("put");
	}
	if (vm_boot_fence(boot))
		failed("fence");
	for (int p = 0; p < boot->processes; p++)
		for (int i = 0; i < SIZES; i++) {
			snprintf(name, sizeof(name), "blob-%d", i);
			if (vm_boot_get(boot, bytes, &length, sizeof(bytes), p,
					name) ||
			    length != sizes[i])
				failed("get");
			for (size_t at = 0; at < length; at++)
				if (bytes[at] != byte_of(p, i, at))
					failed("the right bytes");
		}
	if (vm_boot_get(boot, bytes, &length, 10, 0, "blob-4") !=
		    -VMPI_ELIMIT ||
	    length != sizes[4])
		failed("refusing a small room");
	if (vm_boot_get(boot, bytes, &length, 10, 0, "nosuch") != -VMPI_ENOENT)
		failed("missing what is not there");
	line("process %d: exchanged", boot->process);
}

static void key_do(const char *value)
{
	uint8_t zero[VM_BOOT_KEY_BYTES] = { 0 }, key[VM_BOOT_KEY_BYTES];
	size_t length;

	if (vm_boot_put(boot, "key", boot->key, sizeof(boot->key)) ||
	    vm_boot_fence(boot) ||
	    vm_boot_get(boot, key, &length, sizeof(key), 0, "key"))
		failed("exchanging keys");
	line("process %d: key %s", boot->process,
	     !memcmp(key, zero, sizeof(key))	 ? "is zero" :
	     memcmp(key, boot->key, sizeof(key)) ? "differs" :
						   "is the same");
}

static void fence_do(const char *value)
{
	line("process %d: fence %s", boot->process,
	     vm_boot_fence(boot) ? "failed" : "passed");
}

static void peer_event_take(const struct vm_boot_peer_event *event, void *arg)
{
	if (event->process < 0)
		_exit(92);
	line("process %d: death of %d, status %d", boot->process,
	     event->process, event->status);
	atomic_fetch_add(&event_count, 1);
}

static void watch_do(const char *value)
{
	if (vm_boot_watch(boot, peer_event_take, NULL))
		failed("watch");
}

static void sleep_ms(long ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

static void events_do(const char *value)
{
	while (atomic_load(&event_count) < (int)strtol(value, NULL, 10))
		sleep_ms(2);
}

static void abort_do(const char *value)
{
	int code = (int)strtol(value, NULL, 10);

	vm_boot_abort(boot, code, "the test says so", false);
	_exit(code);
}

static void exit_do(const char *value)
{
	_exit((int)strtol(value, NULL, 10));
}

static void signal_do(const char *value)
{
	signal(SIGSEGV, SIG_DFL);
	kill(getpid(), strcmp(value, "KILL") ? SIGSEGV : SIGKILL);
	pause();
}

static void sleep_do(const char *value)
{
	sleep_ms(strtol(value, NULL, 10));
}

static void ready_do(const char *value)
{
	char path[256], other[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d", value, boot->process);
	snprintf(other, sizeof(other), "%s.new", path);
	file = fopen(other, "w");
	if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) ||
	    rename(other, path))
		failed("ready");
}

static void stdin_do(const char *value)
{
	char text[100];
	ssize_t got = read(STDIN_FILENO, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	line("process %d: stdin '%s'", boot->process, text);
}

static void ignore_do(const char *value)
{
	signal(SIGTERM, SIG_IGN);
}

static void spawn_do(const char *value)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("sleep", "sleep", "30", (char *)NULL);
		_exit(1);
	}
	line("process %d: child %d", boot->process, (int)pid);
}

static const struct {
	const char *word;
	void (*act)(const char *value);
} acts[] = {
	{ "who", who_do },	 { "exchange", exchange_do },
	{ "key", key_do },	 { "fence", fence_do },
	{ "watch", watch_do },	 { "events", events_do },
	{ "abort", abort_do },	 { "exit", exit_do },
	{ "signal", signal_do }, { "sleep", sleep_do },
	{ "ready", ready_do },	 { "stdin", stdin_do },
	{ "ignore", ignore_do }, { "spawn", spawn_do },
};

static void word_do(const char *word)
{
	const char *colon = strchr(word, ':');
	const char *name = colon ? colon + 1 : word;
	size_t length = strcspn(name, "=");

	if (colon && strtol(word, NULL, 10) != boot->process)
		return;
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strlen(acts[i].word) != length ||
		    strncmp(acts[i].word, name, length) != 0)
			continue;
		acts[i].act(name[length] ? name + length + 1 : "");
		return;
	}
	failed(word);
}

int main(int argc, char **argv)
{
	int first = argc > 1 && strchr(argv[1], '/') ? 2 : 1;
	struct vm_job job;
	int here, rc;

	alarm(SECONDS_MAX);
	if (vm_job_from_env(&job))
		return 2;
	here = vm_boot_ranks_here(&job);
	rc = here < 0 ? here : vm_boot_open(&boot, &job);
	vm_job_fini(&job);
	if (rc)
		return 2;
	if (here != boot->rank_count)
		failed("knowing the number of ranks before");
	for (int i = 0; i < boot->ranks; i++) {
		int p = vm_boot_process_of(boot, i);

		if (i < boot->peers[p].rank_first ||
		    i >= boot->peers[p].rank_first + boot->peers[p].rank_count)
			failed("finding the process of a rank");
	}
	for (int i = first; i < argc; i++)
		word_do(argv[i]);
	vm_boot_close(boot);
	return 0;
}
