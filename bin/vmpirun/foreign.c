/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What would change which processes there are, where, with which arguments, or
 * the form of their output, is refused: a job that is another one than was meant
 * is worse than none.  The rest has no effect.
 */
#include "foreign.h"

#include <stdio.h>

#include "compat.h"
#include "vmpi.h"

const struct vm_cli_foreign foreign_rows[] = {
	/* name, value, why it is refused */
	{ "use-hwthread-cpus", NULL, NULL },
	{ "bind-to-socket", NULL, NULL },
	{ "nooversubscribe", NULL, NULL },
	{ "cpus-per-proc", "N", NULL },
	{ "cpus-per-rank", "N", NULL },
	{ "membind", "WHAT", NULL },
	{ "display-allocation", NULL, NULL },
	{ "display-devel-allocation", NULL, NULL },
	{ "display-devel-map", NULL, NULL },
	{ "display-diffable-map", NULL, NULL },
	{ "display-topo", NULL, NULL },
	{ "timestamp-output", NULL, NULL },
	{ "output-proctable", NULL, NULL },
	{ "stream-buffering", "N", NULL },
	{ "parsable", NULL, NULL },
	{ "parseable", NULL, NULL },
	/* How another launcher works. */
	{ "prefix", "DIR", NULL },
	{ "noprefix", NULL, NULL },
	{ "demux", "WHAT", NULL },
	{ "localhost", "HOST", NULL },
	{ "personality", "LIST", NULL },
	{ "hint", "WHAT", NULL },
	{ "mpi", "WHAT", NULL },
	{ "rmk", "NAME", NULL },
	{ "topolib", "NAME", NULL },
	{ "usize", "N", NULL },
	{ "debug-daemons", NULL, NULL },
	{ "debug-daemons-file", NULL, NULL },
	{ "debug-devel", NULL, NULL },
	{ "disable-hostname-propagation", NULL, NULL },
	{ "disable-recovery", NULL, NULL },
	{ "exclusive", NULL, NULL },
	{ "leave-session-attached", NULL, NULL },
	{ "novm", NULL, NULL },
	{ "print-all-exitcodes", NULL, NULL },
	{ "show-progress", NULL, NULL },
	{ "use-regexp", NULL, NULL },
	{ "max-vm-size", "N", NULL },
	{ "launch-agent", "COMMAND", NULL },
	{ "do-not-resolve", NULL, NULL },
	{ "do-not-connect", NULL, NULL },
	{ "preload-binary", NULL, NULL },
	{ "report-pid", "WHERE", NULL },
	{ "report-uri", "WHERE", NULL },
	{ "report-events", "URI", NULL },
	{ "report-child-jobs-separately", NULL, NULL },
	{ "report-state-on-timeout", NULL, NULL },
	{ "get-stack-traces", NULL, NULL },
	{ "ompi-server", "WHERE", NULL },
	{ "nameserver", "HOST", NULL },
	{ "fwd-mpirun-port", NULL, NULL },
	{ "forward-signals", "LIST", NULL },
	{ "runtime-options", "LIST", NULL },
	{ "pset", "NAME", NULL },
	{ "max-restarts", "N", NULL },
	{ "enable-x", NULL, NULL },
	{ "disable-x", NULL, NULL },
	{ "pmi-port", NULL, NULL },
	{ "order-nodes", "HOW", NULL },
	{ "gpus-per-proc", "N", NULL },
	{ "gpu-subdevs-per-proc", "N", NULL },
	{ "soft", "SET", NULL },
	{ "arch", "NAME", NULL },
	{ "memory-alloc-kinds", "LIST", NULL },
	{ "am", "FILE", NULL },
	{ "cf", "FILE", NULL },
	{ "cartofile", "FILE", NULL },
	/* Of srun: what it asks a batch system for. */
	{ "account", "NAME", NULL },
	{ "partition", "NAME", NULL },
	{ "job-name", "NAME", NULL },
	{ "qos", "NAME", NULL },
	{ "mem", "SIZE", NULL },
	{ "mem-per-cpu", "SIZE", NULL },
	{ "gres", "LIST", NULL },
	{ "gpus-per-task", "N", NULL },
	{ "cpus-per-task", "N", NULL },
	{ "threads-per-core", "N", NULL },
	{ "exact", NULL, NULL },
	{ "unbuffered", NULL, NULL },
	{ "kill-on-bad-exit", NULL, NULL },
	/* Another job than was meant. */
	{ "num-procs", "N", "-n N says how many ranks there are" },
	{ "tasks", "N", "-n N says how many ranks there are" },
	{ "ranks", "N", "-n N says how many ranks there are" },
	{ "threads", "N", "--workers N says how many threads run the ranks" },
	{ "time", "LIMIT", "--timeout SECONDS ends a job after a time" },
	{ "nodelist", "LIST", "--hosts lists the hosts to use" },
	{ "chdir", "DIR", "-wdir DIR says where to run" },
	{ "distribution", "HOW", "--map block or cyclic places ranks" },
	{ "export", "LIST", "-x VAR sets a variable" },
	{ "multi-prog", "FILE", "-configfile FILE has programs" },
	{ "rf", "FILE", "--map FILE places ranks" },
	{ "rankfile", "FILE", "--map FILE places ranks" },
	{ "npersocket", "N", "-n says how many ranks there are" },
	{ "nolocal", NULL, "--hosts lists the hosts to use" },
	{ "skip-launch-node", NULL, "--hosts lists the hosts to use" },
	{ "add-host", "LIST", "--hosts lists the hosts to use" },
	{ "add-hostfile", "FILE", "--hostfile lists the hosts to use" },
	{ "preload-files", "FILES", "files have to be where ranks run" },
	{ "set-cwd-to-session-dir", NULL, "-wdir DIR says where to run" },
	{ "index-argv-by-rank", NULL, "all ranks get the same arguments" },
	{ "genvnone", NULL, "env -i starts vmpirun without variables" },
	{ "envnone", NULL, "env -i starts vmpirun without variables" },
	{ "xml", NULL, "-l labels lines with their rank" },
	{ "xml-file", "FILE", "--output DIR writes files" },
	{ "xterm", "RANKS", "--output DIR writes files" },
	{ "outfile-pattern", "PATTERN", "--output DIR writes files" },
	{ "errfile-pattern", "PATTERN", "--output DIR writes files" },
	{ "prepend-pattern", "PATTERN", "-l labels lines with their rank" },
	{ "debug", NULL, "--gdb starts a debugger" },
	{ "debugger", "NAME", "--gdb starts a debugger" },
	{ "tv", NULL, "--gdb starts a debugger" },
	{ "info", NULL, "vmpi_info tells what there is" },
	{ "continuous", NULL, "--keep-going lets others continue" },
	{ "dvm", NULL, "vmpirun starts each job by itself" },
	{ "hnp", "URI", "vmpirun starts each job by itself" },
	{ "terminate", NULL, "vmpirun starts each job by itself" },
	{ "daemonize", NULL, "vmpirun starts each job by itself" },
	{ "system-server-first", NULL, "vmpirun starts each job by itself" },
	{ "system-server-only", NULL, "vmpirun starts each job by itself" },
	{ "app", "FILE", "-configfile FILE has programs" },
	{ "file", "FILE", "--hostfile lists hosts, -configfile programs" },
	{ "initial-errhandler", "NAME",
	  "MPI_Comm_set_errhandler sets an error handler" },
};

const size_t foreign_count = sizeof(foreign_rows) / sizeof(foreign_rows[0]);

int foreign_take(struct options *options, const struct vm_cli_foreign *row,
		 const char *value)
{
	char name[64];

	if (row->instead) {
		vm_cli_say("--%s is not supported: %s", row->name,
			   row->instead);
		return -VMPI_EINVAL;
	}
	snprintf(name, sizeof(name), "--%s", row->name);
	return compat_ignore(options, name, value ? value : "");
}
