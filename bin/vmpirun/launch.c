/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of --dry-run and the actual start come from one walk over one
 * table each, so that they cannot differ.
 *
 * Process groups: each process leads its own, so that vmpirun decides what
 * Ctrl-C does and can reach every process that the ranks have started.  Only
 * when standard input is a terminal does it stay in ours: a terminal stops a
 * process that reads from it in another group than the foreground's.
 */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/last_word.h"
#include "base/own.h"
#include "base/standard.h"
#include "boot/boot.h"
#include "check.h"
#include "core/instrument/image_main.h"
#include "exports.h"
#include "program.h"
#include "report/cli.h"
#include "report/outlet.h"
#include "ssh.h"
#include "vmpi.h"

void launch_fini(struct launch *launch)
{
	relay_fini(&launch->relay);
	hang_fini(&launch->hang);
	if (launch->serves)
		vm_pmi_server_fini(&launch->server);
	if (launch->last_word >= 0)
		close(launch->last_word);
	if (launch->outlet >= 0)
		close(launch->outlet);
	free(launch->children);
	plan_fini(&launch->plan);
	free(launch->output_dir);
	free(launch->node);
}

/* Whether vmpirun joins several node processes. */
static bool is_serving(const struct launch *launch)
{
	return !launch->plan.engine && launch->plan.nodes > 1;
}

/* gdb, and what makes it load the commands beside the node program. */
static void gdb_words(const struct launch *launch, struct command *words)
{
	const char *slash = launch->node ? strrchr(launch->node, '/') : NULL;
	char *safe = NULL;

	command_add(words, "gdb");
	command_add(words, "-q");
	if (slash && asprintf(&safe, "add-auto-load-safe-path %.*s",
			      (int)(slash - launch->node), launch->node) > 0) {
		command_add(words, "-iex");
		command_add(words, safe);
		free(safe);
	}
	/* Of functions in files that are not loaded yet. */
	command_add(words, "-iex");
	command_add(words, "set breakpoint pending on");
	command_add(words, "--args");
}

/* The program that child `number` runs. */
static const struct part *part_of(const struct launch *launch, int number)
{
	const struct parts *parts = &launch->options->parts;

	return &parts->list[parts_of(parts, launch->plan.first[number])];
}

/* The command line of child `number`.  0, or -VMPI_E... after one line. */
static int command_make(const struct launch *launch, struct command *words,
			int number)
{
	const struct options *options = launch->options;
	const struct part *part;
	int rc = 0;

	*words = (struct command){ 0 };
	if (launch->plan.engine)
		engine_words(words, &(struct engine_job){
					    .plan = &launch->plan,
					    .options = options,
					    .label = launch->label,
				    });
	else if (launch->plan.ssh)
		ssh_words(words, options,
			  plan_host(&launch->plan, options, number));
	else if (options->agent)
		rc = command_add_text(words, "--agent", options->agent,
				      plan_host(&launch->plan, options, number),
				      number);
	if (options->gdb)
		gdb_words(launch, words);
	if (launch->node)
		command_add(words, launch->node);
	part = part_of(launch, number);
	command_add(words, part->path);
	for (char **word = part->words + 1; *word; word++)
		command_add(words, *word);
	if (words->failed)
		rc = -VMPI_ENOMEM;
	if (rc)
		command_fini(words);
	return rc;
}

static int unset_print(const char *name, const char *value, void *arg)
{
	if (!value && getenv(name))
		printf(" -u %s", name);
	return 0;
}

static int assignment_print(const char *name, const char *value, void *arg)
{
	if (value) {
		printf(" %s=", name);
		command_word_print(value);
	}
	return 0;
}

static void exports_print(const struct command *exports)
{
	for (size_t i = 0; i < exports->count; i++) {
		putchar(' ');
		command_word_print(exports->list[i]);
	}
}

static int line_print(const struct launch *launch, int number)
{
	const struct options *options = launch->options;
	const struct part *part = part_of(launch, number);
	const char *wdir = part->wdir ? part->wdir : options->wdir;
	struct command words;
	int rc = command_make(launch, &words, number);

	if (rc)
		return rc;
	if (wdir) {
		fputs("cd ", stdout);
		command_word_print(wdir);
		fputs(" && ", stdout);
	}
	fputs("env", stdout);
	rc = vm_job_each(&options->job, unset_print, NULL);
	for (int i = 0; !launch->plan.engine && vm_boot_variables[i]; i++)
		unset_print(vm_boot_variables[i], NULL, NULL);
	exports_print(&options->exports);
	exports_print(&part->exports);
	if (options->job.processes)
		assignment_print(LIBRARY_PATH, getenv(LIBRARY_PATH), NULL);
	if (!rc)
		rc = vm_job_each(&options->job, assignment_print, NULL);
	if (launch->options->parts.count > 1)
		printf(" " VM_JOB_PREFIX "APPNUM=%d",
		       (int)(part - options->parts.list));
	if (is_serving(launch))
		printf(" PMI_RANK=%d PMI_SIZE=%d", number, launch->plan.nodes);
	for (size_t i = 0; i < words.count; i++) {
		putchar(' ');
		command_word_print(words.list[i]);
	}
	putchar('\n');
	command_fini(&words);
	return rc;
}

int launch_print(const struct launch *launch)
{
	int lines = is_serving(launch) ? launch->plan.nodes : 1;
	int rc = 0;

	if (!launch->node)
		printf("# each rank is a process: %s\n", launch->options->why);
	if (is_serving(launch))
		printf("# %d processes; vmpirun adds PMI_FD, a socket to itself, "
		       "and VMPI_JOB_KEY\n",
		       lines);
	for (int i = 0; !rc && i < lines; i++)
		rc = line_print(launch, i);
	if (fflush(stdout) || ferror(stdout)) {
		vm_cli_say("standard output: %s", strerror(errno));
		return -VMPI_EIO;
	}
	return rc;
}

/* A random key for the job: a process that has it belongs to it. */
static int key_make(struct vm_job *job)
{
	unsigned char bytes[VM_BOOT_KEY_BYTES];
	char text[2 * VM_BOOT_KEY_BYTES + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		vm_cli_say("getrandom: %s", strerror(errno));
		return -VMPI_EIO;
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return vm_job_text(&job->key, text);
}

/* Profiles of gprof, which libc names after the process, have the rank too if
 * vmpirun knows it; without a name all would be gmon.out. */
static int profile_name(const struct launch *launch, int number)
{
	char text[32] = "gmon.out";

	if (!launch->options->job.processes || launch->plan.nodes == 1)
		return 0;
	if (!launch->plan.engine)
		snprintf(text, sizeof(text), "gmon.out.%d", number);
	return setenv("GMON_OUT_PREFIX", text, 0);
}

/*
 * libgfortran keeps what is written to standard output, if that is a file, until
 * the process ends as usual; where ranks are processes, MPI_Abort and a crash lose
 * it.  To a pipe, which the ranks of other MPIs write to, it writes each record.
 */
static int fortran_unbuffer(void)
{
	return setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "y", 0);
}

/* mpi4py takes whatever MPI it finds first, if it is not told. */
static int python_tell(void)
{
	return setenv(PYTHON_ABI, "mpiabi", 0);
}

/*
 * The thread sanitizer sees libc's functions copy in our library, and not the order
 * that our atomic variables make.  What the user says comes last and wins.
 */
static int sanitizer_prepare(void)
{
	const char *given = getenv("TSAN_OPTIONS");
	char *all;
	int rc;

	if (asprintf(&all, "ignore_noninstrumented_modules=1%s%s",
		     given ? ":" : "", given ? given : "") < 0)
		return -1;
	rc = setenv("TSAN_OPTIONS", all, 1);
	free(all);
	return rc;
}

/* In the child: its environment.  fd is its end of the socket to the server,
 * or -1. */
static int environment_make(const struct launch *launch, int number, int fd)
{
	const struct part *part = part_of(launch, number);
	char text[VM_STANDARD_HANDED_MAX];
	int rc = vm_job_to_env(&launch->options->job);

	rc |= exports_set(&part->exports);
	rc |= profile_name(launch, number);
	rc |= fortran_unbuffer();
	rc |= python_tell();
	if (!launch->node)
		rc |= sanitizer_prepare();
	if (launch->plan.engine)
		return rc;
	vm_boot_clear_env();
	if (launch->options->parts.count > 1) {
		snprintf(text, sizeof(text), "%d",
			 (int)(part - launch->options->parts.list));
		rc |= setenv(VM_JOB_PREFIX "APPNUM", text, 1);
	}
	if (hang_describe(&launch->hang, text))
		rc |= setenv(VM_JOB_PREFIX "HANG", text, 1);
	if (launch->outlet >= 0 && vm_standard_hand(text, launch->outlet))
		rc |= setenv(VM_JOB_PREFIX "OUTLET", text, 1);
	if (fd < 0)
		return rc;
	/* Copies without FD_CLOEXEC. */
	fd = vm_standard_beyond(fd, true);
	if (fd < 0)
		return -VMPI_ELIMIT;
	snprintf(text, sizeof(text), "%d", fd);
	rc |= setenv("PMI_FD", text, 1);
	fd = launch->last_word < 0 ?
		     -1 :
		     vm_standard_beyond(launch->last_word, true);
	if (launch->last_word >= 0 && fd < 0)
		return -VMPI_ELIMIT;
	snprintf(text, sizeof(text), "%d", fd);
	if (fd >= 0)
		rc |= setenv(VM_JOB_PREFIX "LAST_WORD", text, 1);
	snprintf(text, sizeof(text), "%d", number);
	rc |= setenv("PMI_RANK", text, 1);
	snprintf(text, sizeof(text), "%d", launch->plan.nodes);
	rc |= setenv("PMI_SIZE", text, 1);
	return rc;
}

/* In the child that is not the first: there is nothing to read. */
static int input_close(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO ? 0 : -1;
}

/* What the process is started with. */
static int surroundings_make(const struct launch *launch, int number, int fd,
			     const int output[2])
{
	const char *wdir = part_of(launch, number)->wdir;
	int rc = environment_make(launch, number, fd);

	if (!rc && wdir)
		rc = check_wdir(wdir);
	if (!rc && number > 0)
		rc = input_close();
	for (int i = 0; i < 2 && !rc; i++)
		if (output[i] >= 0 && dup2(output[i], i + 1) < 0)
			rc = -1;
	return rc;
}

/* The kernel leaves out the first word of one. */
static bool is_script(const char *path)
{
	FILE *file = fopen(path, "re");
	char begin[2] = "";
	bool script = file && fread(begin, 1, 2, file) == 2 &&
		      !memcmp(begin, "#!", 2);

	if (file)
		fclose(file);
	return script;
}

/* Executes the words; returns if that fails.  The node program has the command
 * line of the program, by which users and the program itself know it. */
static void words_exec(const struct launch *launch, char **words)
{
	if (launch->node && !strcmp(words[0], launch->node) &&
	    !is_script(words[0]) && !setenv(VM_IMAGE_VARIABLE, words[1], 1))
		execv(words[0], words + 1);
	else
		execvp(words[0], words);
}

static _Noreturn void child_exec(const struct launch *launch, int number,
				 pid_t parent, int fd, const int output[2],
				 char **words, const sigset_t *signals)
{
	pid_t now;

	if (launch->children[number].group)
		setpgid(0, 0);
	else
		signal(SIGINT, SIG_IGN); /* the terminal's; vmpirun decides */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Had vmpirun died before that call, we would not be told.  A filter of
	 * system calls may refuse to say. */
	now = getppid();
	if (now != parent && now > 0 && parent > 0)
		_exit(EXIT_FAILURE);
	if (surroundings_make(launch, number, fd, output)) {
		vm_cli_say("process %d cannot be started: %s", number,
			   strerror(errno));
		_exit(EXIT_FAILURE);
	}
	sigprocmask(SIG_SETMASK, signals, NULL);
	words_exec(launch, words);
	vm_cli_say("%s: %s cannot be started: %s", words[0],
		   launch->plan.engine	  ? "the launcher" :
		   launch->options->agent ? "the agent" :
		   launch->node		  ? "the node program" :
					    "the program",
		   strerror(errno));
	_exit(VM_EXIT_MISTAKE);
}

/* The destination of a process's output in the directory of --output. */
static int files_add(struct launch *launch, int output[2], int number)
{
	int digits = 1, rc;
	char *stem;

	for (int rest = launch->plan.nodes - 1; rest > 9; rest /= 10)
		digits++;
	if (asprintf(&stem, "%s/rank.%0*d", launch->output_dir, digits,
		     number) < 0)
		return vm_cli_no_memory();
	rc = relay_add(&launch->relay, output, number, stem);
	free(stem);
	return rc;
}

/* The destination of a process's output; -1: our own. */
static int output_open(struct launch *launch, int output[2], int number)
{
	if (launch->output_dir)
		return files_add(launch, output, number);
	if (launch->label && !launch->plan.engine)
		return relay_add(&launch->relay, output, number, NULL);
	return 0;
}

static void output_close(const int output[2])
{
	for (int i = 0; i < 2; i++)
		if (output[i] >= 0)
			close(output[i]);
}

static int child_start(struct launch *launch, int number,
		       const sigset_t *signals)
{
	struct child *child = &launch->children[number];
	pid_t parent = getpid();
	int ends[2] = { -1, -1 }, output[2] = { -1, -1 };
	struct command words;
	int rc;

	if (launch->serves &&
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		vm_cli_say("a socket for node %d: %s", number, strerror(errno));
		return -VMPI_ELIMIT;
	}
	rc = command_make(launch, &words, number);
	if (!rc)
		rc = output_open(launch, output, number);
	if (!rc)
		child->pid = fork();
	if (!rc && child->pid == 0)
		child_exec(launch, number, parent, ends[1], output, words.list,
			   signals);
	if (!rc && child->pid < 0) {
		vm_cli_say("process %d cannot be started: fork: %s", number,
			   vm_own_why(errno));
		rc = -VMPI_ELIMIT;
	}
	output_close(output);
	command_fini(&words);
	if (launch->serves) {
		vm_pmi_server_attach(&launch->server, number, ends[0]);
		close(ends[1]);
	}
	if (rc)
		return rc;
	/* Here too, so that it is true when launch_start() returns; after the
	 * child's exec it fails, and then the child has done it. */
	if (child->group)
		setpgid(child->pid, child->pid);
	launch->count = number + 1;
	return 0;
}

int launch_replace(const struct launch *launch)
{
	struct command words;
	int rc = command_make(launch, &words, 0);

	if (rc)
		return rc;
	if (!environment_make(launch, 0, -1)) {
		words_exec(launch, words.list);
		vm_cli_say("%s cannot be started: %s", words.list[0],
			   strerror(errno));
	}
	command_fini(&words);
	return -VMPI_ENOENT;
}

int launch_start(struct launch *launch, const sigset_t *signals)
{
	int count = launch->plan.engine ? 1 : launch->plan.nodes;
	bool group = !isatty(STDIN_FILENO);
	int rc = 0;

	launch->children = calloc((size_t)count, sizeof(*launch->children));
	if (!launch->children) {
		return vm_cli_no_memory();
	}
	if (is_serving(launch)) {
		rc = key_make(&launch->options->job);
		if (!rc)
			rc = vm_pmi_server_init(&launch->server, count);
		launch->serves = !rc;
		/* With --keep-going several processes may report why they
		 * ended. */
		if (!launch->options->job.keep_going)
			launch->last_word = vm_last_word_new();
		vm_last_word_set(launch->last_word);
		/* Without it, lines may mix. */
		launch->outlet = launch->node ? vm_outlet_new() : -1;
	}
	if (!launch->plan.engine)
		hang_init(&launch->hang);
	if (!rc && (launch->label || launch->output_dir) &&
	    !launch->plan.engine)
		rc = relay_init(&launch->relay, count);
	for (int i = 0; !rc && i < count; i++) {
		launch->children[i].group = group;
		rc = child_start(launch, i, signals);
	}
	return rc ? rc : relay_start(&launch->relay);
}
