/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half the time of an exchange, the shortest of some batches, for each size and
 * path.  Two ranks here are the paths within a process.  For the path between
 * processes vmpirun starts this program twice in the place of the node program;
 * rank 0 prints lines of the table.
 */
#include "calibrate.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "boot/boot.h"
#include "boot/job.h"
#include "core/runtime/node.h"
#include "core/rank/vars.h"
#include "report/amount.h"
#include "report/cli.h"
#include "report/option.h"
#include "report/overlap_report.h"
#include "introspect/measure/vars.h"
#include "introspect/measure/xfer_table.h"
#include "core/instrument/intercept.h"
#include "vmpi.h"

#define NODE_VARIABLE "VM_INFO_CALIBRATES" /* VMPI_ are variables */
#define BATCHES 10
#define BATCH_NS 500000

static const size_t sizes[] = { 1,	64,	 512,	 2048,	4096,
				8192,	8193,	 16384,	 65536, 262144,
				524288, 1048576, 4194304 };
#define SIZES (sizeof(sizes) / sizeof(*sizes))
#define LARGEST ((size_t)4194304)

/* The shared place for measurements: rank 0 writes. */
struct measure {
	struct vm_xfer_table *table;
	enum vm_path path;
};

static void exchange(int me, char *buffer, size_t bytes, int times)
{
	vmpi_chan *world = vmpi_world();

	for (int i = 0; i < times; i++) {
		if (me == 0)
			vmpi_send(world, buffer, bytes, 1, 1);
		vmpi_recv(world, buffer, bytes, 1 - me, 1, NULL);
		if (me == 1)
			vmpi_send(world, buffer, bytes, 0, 1);
	}
}

/* The number of exchanges in a batch, as rank 0 determines it. */
static int batch_length(int me, char *buffer, size_t bytes)
{
	uint64_t begin;
	int times = 1;

	exchange(me, buffer, bytes, 3);
	begin = vm_clock_ns();
	exchange(me, buffer, bytes, 3);
	if (me == 0) {
		times = (int)(BATCH_NS * 3 / (vm_clock_ns() - begin + 1)) + 1;
		vmpi_send(vmpi_world(), &times, sizeof(times), 1, 2);
	} else {
		vmpi_recv(vmpi_world(), &times, sizeof(times), 0, 2, NULL);
	}
	return times;
}

static double way_time(int me, char *buffer, size_t bytes)
{
	int times = batch_length(me, buffer, bytes);
	double least = 0;

	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = vm_clock_ns();
		double each;

		exchange(me, buffer, bytes, times);
		each = (double)(vm_clock_ns() - begin) / (2.0 * times);
		if (!i || each < least)
			least = each;
	}
	return least;
}

static void point_add(struct vm_xfer_table *table, enum vm_path path,
		      size_t bytes, double time)
{
	if (table->count[path] < VM_XFER_POINTS)
		table->point[path][table->count[path]++] =
			(struct vm_xfer_point){ bytes, time };
}

/* A message takes no longer than a larger one: where it seemed to, another
 * program had the processor. */
static void points_smooth(struct vm_xfer_table *table)
{
	for (int path = 0; path < VM_PATHS; path++)
		for (unsigned i = table->count[path]; i-- > 1;) {
			struct vm_xfer_point *point = &table->point[path][i];

			if (point[-1].time > point->time)
				point[-1].time = point->time;
		}
}

static int body(void *arg)
{
	struct measure *measure = arg;
	int me = vmpi_rank();
	char *buffer = malloc(LARGEST);

	if (!buffer)
		return -VMPI_ENOMEM;
	memset(buffer, 1, LARGEST); /* its pages are there */
	for (size_t i = 0; i < SIZES; i++) {
		double time = way_time(me, buffer, sizes[i]);

		if (me == 0)
			point_add(measure->table, measure->path, sizes[i],
				  time);
	}
	free(buffer);
	return 0;
}

static int local_measure(struct vm_xfer_table *table)
{
	struct measure worker = { table, VM_PATH_WORKER };
	struct measure node = { table, VM_PATH_NODE };
	int rc = vmpi_run(&(vmpi_config){ .ranks = 2, .workers = 1 }, body,
			  &worker);

	return rc ? rc :
		    vmpi_run(&(vmpi_config){ .ranks = 2, .workers = 2 }, body,
			     &node);
}

bool calibrate_is_node(void)
{
	return getenv(NODE_VARIABLE) != NULL && vm_job_present();
}

int calibrate_node(void)
{
	struct vm_xfer_table table = { 0 };
	struct measure measure = { &table, VM_PATH_FABRIC };
	struct vm_boot *boot;
	struct vm_job job;
	vmpi_config config;
	int rc;

	vm_core_vars_add();
	if (vm_job_from_env(&job) || vm_vars_load(job.set) ||
	    vm_boot_open(&boot, &job))
		return VM_EXIT_MISTAKE;
	vm_job_fini(&job);
	vm_node_hooks.boot = boot;
	config = (vmpi_config){ .ranks = boot->rank_count, .workers = 1 };
	rc = vmpi_start(&config);
	if (!rc)
		rc = vmpi_run(NULL, body, &measure);
	if (!rc && boot->process == 0)
		rc = vm_xfer_write(&table, stdout);
	if (!rc)
		rc = vmpi_stop();
	vm_boot_close(boot);
	return rc ? EXIT_FAILURE : 0;
}

/* vmpirun is beside this program, or where the build has it. */
static int vmpirun_find(char self[PATH_MAX], char path[PATH_MAX])
{
	static const char *const places[] = { "vmpirun", "../vmpirun/vmpirun" };
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);
	int directory;

	if (n < 0)
		return -VMPI_ENOENT;
	self[n] = '\0';
	directory = (int)(strrchr(self, '/') - self);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct stat stat_;

		snprintf(path, PATH_MAX, "%.*s/%s", directory, self, places[i]);
		if (stat(path, &stat_) == 0 && S_ISREG(stat_.st_mode))
			return 0;
	}
	return -VMPI_ENOENT;
}

static _Noreturn void vmpirun_start(const char *vmpirun, const char *self,
				    int out)
{
	setenv(NODE_VARIABLE, "1", 1);
	setenv("VMPI_NODE", self, 1);
	unsetenv("VMPI_OVERLAP_WATCH");
	dup2(out, STDOUT_FILENO);
	execl(vmpirun, vmpirun, "-n", "2", "--nodes", "2", "--workers", "1",
	      "--timeout", "120", "true", (char *)NULL);
	_exit(EXIT_FAILURE);
}

/* The lines of the two node processes. */
static int fabric_lines(struct vm_xfer_table *table, FILE *lines)
{
	char line[128];
	uint64_t bytes;
	double time;

	while (fgets(line, sizeof(line), lines))
		if (sscanf(line, "fabric %" SCNu64 " %lf", &bytes, &time) == 2)
			point_add(table, VM_PATH_FABRIC, bytes, time);
	return table->count[VM_PATH_FABRIC] == SIZES ? 0 : -VMPI_ENOTSUP;
}

static int fabric_measure(struct vm_xfer_table *table)
{
	char self[PATH_MAX], vmpirun[PATH_MAX];
	int ends[2], status, rc = vmpirun_find(self, vmpirun);
	FILE *lines;
	pid_t pid;

	if (rc || pipe(ends))
		return -VMPI_ENOENT;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		vmpirun_start(vmpirun, self, ends[1]);
	}
	close(ends[1]);
	lines = fdopen(ends[0], "r");
	if (pid < 0 || !lines)
		return -VMPI_ENOMEM;
	rc = fabric_lines(table, lines);
	fclose(lines);
	if (waitpid(pid, &status, 0) != pid || status)
		rc = -VMPI_ENOTSUP;
	if (rc)
		table->count[VM_PATH_FABRIC] = 0;
	return rc;
}

static void head_write(FILE *file)
{
	char host[256] = "", date[32] = "";
	time_t now = time(NULL);

	gethostname(host, sizeof(host) - 1);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M", localtime(&now));
	fprintf(file,
		"# Transfer times on %s, %s, for vmpi-overlap(7).\n# "
		"Lines are PATH BYTES NANOSECONDS.\n",
		host, date);
}

/* In the place of an older one only when it is whole. */
static int table_save(const struct vm_xfer_table *table, const char *path)
{
	char new[PATH_MAX + 8];
	FILE *file;
	int rc = -VMPI_EIO;

	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	if (file) {
		head_write(file);
		rc = vm_xfer_write(table, file);
		if (fclose(file))
			rc = -VMPI_EIO;
	}
	if (!rc && rename(new, path) == 0)
		return 0;
	vm_cli_say("%s: %s", path, strerror(errno));
	return -VMPI_EIO;
}

/* Makes the directory of the usual file. */
static void directory_make(const char *path)
{
	char directory[PATH_MAX];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (slash && slash != directory) {
		*slash = '\0';
		/* If it cannot be made, writing the file says why. */
		if (mkdir(directory, 0777))
			return;
	}
}

/* The time of one message, and bytes per second. */
static void point_print(const struct vm_xfer_table *table, enum vm_path path,
			size_t bytes)
{
	char time[VM_AMOUNT_MAX] = "-", rate[VM_AMOUNT_MAX + 2] = "";
	char each[VM_AMOUNT_MAX];

	for (unsigned i = 0; i < table->count[path]; i++) {
		const struct vm_xfer_point *point = &table->point[path][i];

		if (point->bytes != bytes || point->time <= 0)
			continue;
		vm_amount_ns(time, point->time);
		if (bytes < 1024)
			continue;
		vm_amount_bytes(each, (double)bytes * 1e9 / point->time);
		snprintf(rate, sizeof(rate), "%s/s", each);
	}
	printf(" %9s %12s", time, rate);
}

/* For people; the file is for programs. */
static int table_print(const struct vm_xfer_table *table, const char *path)
{
	static const char *const paths[VM_PATHS] = {
		[VM_PATH_WORKER] = "on one worker",
		[VM_PATH_NODE] = "to another worker",
		[VM_PATH_FABRIC] = "to another process",
	};
	char text[VM_AMOUNT_MAX], name[VM_AMOUNT_MAX + 8];

	printf("transfer times, written to %s:\n\n%13s", path, "message");
	for (int p = 0; p < VM_PATHS; p++)
		printf(" %22s", paths[p]);
	printf("\n%13s", "");
	for (int p = 0; p < VM_PATHS; p++)
		printf(" %9s %12s", "time", "rate");
	putchar('\n');
	for (size_t i = 0; i < SIZES; i++) {
		/* The first that another protocol sends is one byte longer. */
		snprintf(name, sizeof(name), "%s%s",
			 i && sizes[i] == sizes[i - 1] + 1 ? "over " : "",
			 vm_amount_bytes(text, (double)sizes[i]));
		printf("%13s", name);
		for (int p = 0; p < VM_PATHS; p++)
			point_print(table, (enum vm_path)p, sizes[i]);
		putchar('\n');
	}
	return vm_cli_end(0);
}

int calibrate(void)
{
	struct vm_xfer_table table = { 0 };
	char usual[PATH_MAX];
	const char *path = overlap_cvar.table;

	if (!path[0]) {
		if (vm_xfer_usual(usual, sizeof(usual))) {
			vm_cli_say(
				"there is no home directory; VMPI_OVERLAP_TABLE must name "
				"the file to write");
			return VM_EXIT_MISTAKE;
		}
		directory_make(usual);
		path = usual;
	}
	overlap_cvar.measure = 0;
	if (local_measure(&table))
		return EXIT_FAILURE;
	if (fabric_measure(&table))
		vm_cli_say("transfers between processes cannot be measured "
			   "here; the table is for jobs of one process");
	points_smooth(&table);
	if (table_save(&table, path))
		return EXIT_FAILURE;
	return table_print(&table, path);
}

int overlap_print(const char *directory)
{
	struct vm_overlap_job job = { .call_name = vm_intercept_call_name };
	int rc = vm_overlap_job_read(&job, directory, 0);

	if (rc == -VMPI_ENOENT)
		vm_option_refuse("--overlap=", directory,
				 "there are no measurements of a job");
	if (!rc)
		vm_overlap_job_print(&job, stdout, "");
	vm_overlap_job_fini(&job);
	return rc ? VM_EXIT_MISTAKE : 0;
}
