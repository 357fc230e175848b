/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi-node PROGRAM [ARGUMENT...]: runs the program as ranks of a job.
 *
 * Started by vmpirun, which describes the job in the environment; or by another
 * launcher, as one of several; or by a program that was started by itself
 * (core/instrument/image_main.h): then there is no description, one rank,
 * VMPI_IMAGE names the program, and the arguments are the program's alone.  With
 * --probe it answers vm_probe_ask() (core/libc/probe.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "advise.h"
#include "efficiency.h"
#include "base/flush.h"
#include "base/log.h"
#include "base/last_word.h"
#include "base/standard.h"
#include "boot/boot.h"
#include "boot/job.h"
#include "core/instrument/image_main.h"
#include "core/image/keep.h"
#include "core/image/tied.h"
#include "core/image/exe_tls.h"
#include "core/libc/probe.h"
#include "core/remote/remote.h"
#include "core/rank/vars.h"
#include "core/runtime/deadlock.h"
#include "descriptors.h"
#include "fatal.h"
#include "introspect/vars/cvar.h"
#include "mpi/call/vars.h"
#include "later.h"
#include "leases.h"
#include "libc.h"
#include "node.h"
#include "openmp.h"
#include "output.h"
#include "preload.h"
#include "rank.h"
#include "report.h"
#include "sanitizer.h"
#include "report/cli.h"
#include "sched/topo.h"
#include "signals.h"
#include "sockets.h"
#include "real.h"

#ifdef VM_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0 /* which would not follow to a new process */
#endif

struct node node;

/* The end of this program's thread-local block (reserve.S). */
extern _Thread_local char node_tls_reserve[VM_EXE_TLS_BYTES];

/* Who starts a job has called vmpirun: that is the name of its reports. */
const char vm_cli_program[] = "vmpirun";

#define TUNABLES "GLIBC_TUNABLES"
#define STATIC_TLS "glibc.rtld.optional_static_tls="
#define STATIC_TLS_SPARE 4096 /* for the shared libraries */

#define HEAP_BLOCK (8 << 20)

/* The space in the static block for thread-local variables beyond the libraries
 * this process was started with. */
static size_t static_tls_room(const char *tunables)
{
	size_t room = 512;

	/* The last one counts. */
	while (tunables && (tunables = strstr(tunables, STATIC_TLS))) {
		tunables += strlen(STATIC_TLS);
		room = strtoul(tunables, NULL, 0);
	}
	return room;
}

/* Becomes a new process of this program that loads the file at path; returns if
 * that fails.  By its name: under valgrind the link is valgrind's. */
static void start_again(const char *path)
{
	char *self = realpath("/proc/self/exe", NULL);

	if (preload_apply())
		return;
	if (self && !setenv(VM_IMAGE_VARIABLE, path, 1))
		execv(self, node.argv);
	unsetenv(VM_IMAGE_VARIABLE);
	free(self);
}

/* libc reads the size of that block when a process starts, and here the image
 * is known: start again if it is too small. */
static void static_tls_ensure(const char *path)
{
	size_t needed = vm_image_static_tls(node.image);
	const char *tunables = getenv(TUNABLES);
	char *wider;

	if (!needed || node.ranks == 1)
		return;
	needed += STATIC_TLS_SPARE;
	if (static_tls_room(tunables) >= needed)
		return;
	if (asprintf(&wider, "%s%s" STATIC_TLS "%zu", tunables ? tunables : "",
		     tunables ? ":" : "", needed) < 0)
		return;
	if (!setenv(TUNABLES, wider, 1))
		start_again(path);
	free(wider);
}

/* The program's own name for messages of libc and for ps. */
static void name_take(char *name)
{
	char *slash = strrchr(name, '/');

	program_invocation_name = name;
	program_invocation_short_name = slash ? slash + 1 : name;
	prctl(PR_SET_NAME, program_invocation_short_name);
}

/* The last word that vmpirun has made; left open for what this process may
 * still execute.  Not a descriptor: none. */
static int last_word_fd(const struct vm_job *job)
{
	char *end;
	long fd = job->last_word ? strtol(job->last_word, &end, 10) : -1;

	if (fd < 0 || fd > INT_MAX || *end || fcntl((int)fd, F_GETFD) < 0)
		return -1;
	return (int)fd;
}

static int job_read(struct vm_job *job)
{
	int rc;

	node.alone = !vm_job_present();
	node.pid = getpid();
	rc = vm_job_from_env(job);
	if (rc)
		return rc;
	vm_last_word_set(last_word_fd(job));
	vm_last_word_start(true);
	rc = vm_boot_ranks_here(job);
	if (rc < 0)
		return rc;
	node.ranks = rc;
	return 0;
}

/*
 * An agent between vmpirun and this process dies with vmpirun, and this process
 * then with the agent.  With other processes a socket to vmpirun shows its end.
 */
static void parent_heed(const struct vm_job *job)
{
	if (!node.alone && node.ranks == job->ranks)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int vars_read(const struct vm_job *job)
{
	int rc;

	vm_core_vars_add();
	vm_mpi_vars_add();
	rc = vm_vars_load(job->set);
	if (!rc && job->advise)
		rc = advise_prepare();
	return rc || !job->summary ? rc : efficiency_prepare();
}

/*
 * The file to load; the arguments become the program's.  For a single rank the
 * dynamic linker runs the constructors, and hands them the arguments of the
 * process: those must be the program's, so this starts again.
 */
static char *program_take(int argc, char **argv)
{
	const char *given = getenv(VM_IMAGE_VARIABLE);
	char *path = strdup(given ? given : argv[1]);

	node.argc = given ? argc : argc - 1;
	node.argv = given ? argv : argv + 1;
	if (!given && node.ranks == 1 && path && !RUNNING_ON_VALGRIND)
		start_again(path);
	unsetenv(VM_IMAGE_VARIABLE);
	return path;
}

/* After fork(): the child keeps what its rank is for libc, and nothing of the
 * job.  Before that handler of the library's which takes the rank away. */
static void child_begin(void)
{
	node.child = node_copy();
	sockets_fork_child();
	signals_fork_child();
	vm_image_keep_fork_child();
}

/* Workers keep theirs until the process ends. */
static void worker_begin(void)
{
	fatal_thread_start();
}

/* On a thread of boot's. */
static void peer_event_take(const struct vm_boot_peer_event *event, void *arg)
{
	(void)arg;
	if (event->process < 0)
		vm_node_die(EXIT_FAILURE,
			    "the launcher has died; ending this node process");
	vm_lock_take(&node.running_lock);
	if (node.running)
		vm_remote_dead(event->process, event->status);
	vm_lock_give(&node.running_lock);
}

static void running_set(bool running)
{
	vm_lock_take(&node.running_lock);
	node.running = running;
	vm_lock_give(&node.running_lock);
}

/* Rank 0 reads standard input; some launchers leave it to all processes. */
static void input_close(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	close(fd);
}

/* Joins the job; from here on this process must not execute another program. */
static int job_join(const struct vm_job *job)
{
	int rc = vm_boot_open(&node.boot, job);

	if (job->last_word)
		fcntl(last_word_fd(job), F_SETFD, FD_CLOEXEC);
	vm_node_hooks.hang_fd = vm_deadlock_fd(job->hang);
	if (vm_node_hooks.hang_fd)
		fcntl(vm_node_hooks.hang_fd, F_SETFD, FD_CLOEXEC);
	if (rc)
		return rc;
	node.alone &= node.boot->processes == 1;
	vm_node_hooks.boot = node.boot;
	vm_node_hooks.apart = job->apart;
	vm_node_hooks.parent = job->parent;
	vm_node_hooks.appnum =
		job->appnum ? (int)strtol(job->appnum, NULL, 10) : 0;
	vm_node_hooks.keep_going = job->keep_going && node.boot->processes > 1;
	if (node.boot->processes == 1)
		return 0;
	if (node.boot->process > 0)
		input_close();
	rc = vm_topo_init();
	if (rc)
		return rc;
	vm_topo_share(node.boot->share, node.boot->shares);
	return 0;
}

/* The exit code of this process, which the launcher is told too. */
static int job_leave(int status)
{
	if (status && !vm_node_hooks.keep_going)
		vm_boot_abort(node.boot, status, "a node process has failed",
			      false);
	vm_boot_close(node.boot);
	return status;
}

/*
 * malloc() gives memory that is freed back to the kernel from 128 KiB on, by
 * what it calls thresholds of a process.  Programs that allocate their buffers
 * for each exchange would fault all pages each time, and where ranks share the
 * process each return interrupts the other workers.  Both rise when a block
 * beyond them is freed, unless the user has set them (mallopt(3)).
 */
static void heap_prepare(void)
{
	void *volatile block = malloc(HEAP_BLOCK);

	free(block);
}

/* What ranks have printed is not lost when the job ends early. */
static void output_ends(void)
{
	vm_flush_files();
	output_rescue();
}

/* The node is about to be freed. */
static void hook_left(void)
{
	running_set(false);
}

static int job_run(const struct vm_job *job)
{
	vmpi_config config = { .ranks = node.ranks };
	int rc;

	if (core_cvar.balance) {
		node.tied = vm_image_tied(node.image);
		vm_node_hooks.untied = !node.tied ||
				       core_cvar.balance == VM_BALANCE_FORCE;
	}
	if (pthread_atfork(sockets_fork_begin, sockets_fork_parent,
			   child_begin))
		return EXIT_FAILURE;
	vm_node_hooks.thread_start = worker_begin;
	vm_node_hooks.thread_new = node_thread_new;
	vm_node_hooks.end = output_ends;
	vm_node_hooks.left = hook_left;
	later_prepare(job);
	report_prepare(job);
	rc = vm_node_start(&config);
	vm_last_word_start(false);
	if (rc)
		return rc == -VMPI_EINVAL ? VM_EXIT_MISTAKE : EXIT_FAILURE;
	running_set(true);
	/* Earlier deaths have been noticed by the start, or are reported
	 * now. */
	if (node.boot->processes > 1 &&
	    vm_boot_watch(node.boot, peer_event_take, NULL))
		return EXIT_FAILURE;
	report_start(job);
	leases_start();
	descriptors_keep_open();
	rc = vm_node_run(rank_main, NULL);
	report_end(job);
	vm_node_stop();
	return rc < 0 ? EXIT_FAILURE : rc;
}

static int libc_check(const struct vm_job *job)
{
	char why[200];

	if ((node.ranks == 1 && !job->libc) ||
	    libc_loads_many(job, why, sizeof(why)))
		return 0;
	vm_log(VM_ERROR,
	       "ranks cannot share a process on this host, whose C library "
	       "cannot load a program once per rank (%s); start the job with "
	       "--processes",
	       why);
	return -VMPI_ENOTSUP;
}

int main(int argc, char **argv)
{
	struct vm_job job;
	bool mistake;
	char *path;
	int status;

	if (argc == 2 && !strcmp(argv[1], VM_PROBE_ARGUMENT) &&
	    !getenv(VM_IMAGE_VARIABLE))
		_exit(vm_probe_answer(argv[0]));
	vm_standard_open();
	descriptors_reserve();
	if (argc < 2 && !getenv(VM_IMAGE_VARIABLE)) {
		vm_log(VM_ERROR,
		       "usage: vmpi-node PROGRAM [ARGUMENT...]; it is "
		       "started by vmpirun");
		return VM_EXIT_MISTAKE;
	}
	if (job_read(&job))
		return VM_EXIT_MISTAKE;
	parent_heed(&job);
	path = program_take(argc, argv);
	preload_restore();
	vm_exe_tls_reserve(node_tls_reserve);
	mistake = !path || vars_read(&job) || libc_check(&job) ||
		  vm_image_open(
			  &node.image, path, node.argv[0], node.ranks,
			  &(struct vm_image_choice){ .private = job.private,
						     .shared = job.shared });
	if (!mistake) {
		int again = preload_choose();

		if (again > 0)
			start_again(path);
		mistake = again < 0;
	}
	if (!mistake)
		static_tls_ensure(path);
	free(path);
	if (mistake || job_join(&job)) {
		vm_job_fini(&job);
		return VM_EXIT_MISTAKE;
	}
	vm_job_clear_env();
	heap_prepare();
	name_take(node.argv[0]);
	if (output_start(&job))
		return job_leave(EXIT_FAILURE);
	signals_start();
	fatal_thread_start();
	fatal_start();
	sanitizer_start();
	if (openmp_prepare() || vm_image_load(node.image))
		return job_leave(VM_EXIT_MISTAKE);
	status = job_run(&job);
	if (!status && output_failed()) {
		/* It has been said; all ranks have ended. */
		if (vm_last_word_take())
			vm_last_word_give();
		status = EXIT_FAILURE;
	}
	output_stop();
	vm_job_fini(&job);
	return job_leave(status);
}
