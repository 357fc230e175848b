/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job: the description that vmpirun hands to the node process.
 *
 * One row of VM_JOB_FIELDS is all there is to a field: its place in struct
 * vm_job, its environment variable VMPI_JOB_<NAME>, and how it is written and
 * read.  vmpirun fills a job and puts it into the environment of the node
 * process; the node process reads it back.  A process without any VMPI_JOB_
 * variable is a job of one rank.  Not thread-safe: call from one thread, early.
 */
#ifndef BOOT_JOB_H
#define BOOT_JOB_H

#include <stdbool.h>
#include <stddef.h>

#define VM_JOB_RANKS_MAX 1000000
#define VM_JOB_PREFIX "VMPI_JOB_"

/*
 * Kinds: COUNT is an int, 1 to VM_JOB_RANKS_MAX, never absent in a job; MANY is
 * the same, but absent when 1; FLAG is a bool, written as 1 and absent when
 * false; TEXT is a string, absent when NULL.
 *
 *	kind, field, environment name, default, text
 */
#define VM_JOB_FIELDS(X)                                                       \
	X(COUNT, ranks, "RANKS", 1, "how many ranks the job has")              \
	X(MANY, nodes, "NODES", 1, "how many node processes have the ranks")   \
	X(TEXT, blocks, "BLOCKS", NULL,                                        \
	  "ranks of each node process, as 6,2; without it equal blocks")       \
	X(TEXT, map, "MAP", NULL,                                              \
	  "the node and worker of each rank (boot/map.h)")                     \
	X(TEXT, id, "ID", NULL, "what vmpistat calls the job")                 \
	X(TEXT, key, "KEY", NULL,                                              \
	  "32 hexadecimal digits that strangers do not know")                  \
	X(FLAG, processes, "PROCESSES", false,                                 \
	  "each rank is a process, of an ordinary executable")                 \
	X(FLAG, label, "LABEL", false, "begin each line with its rank")        \
	X(TEXT, output_dir, "OUTPUT", NULL, "directory of rank.N.{out,err}")   \
	X(FLAG, keep_going, "KEEP_GOING", false,                               \
	  "the others go on when a process fails")                             \
	X(FLAG, apart, "APART", false, "ranks of one process fail one by one") \
	X(FLAG, summary, "SUMMARY", false, "print a table at the end")         \
	X(FLAG, advise, "ADVISE", false, "print recommendations at the end")   \
	X(FLAG, report_bindings, "REPORT_BINDINGS", false,                     \
	  "print which core each worker is bound to")                          \
	X(FLAG, display_map, "DISPLAY_MAP", false,                             \
	  "print the ranks of each worker")                                    \
	X(TEXT, last_word, "LAST_WORD", NULL,                                  \
	  "descriptor by which one process says why all end")                  \
	X(TEXT, hang, "HANG", NULL,                                            \
	  "descriptor by which processes tell of deadlocks, as FD:INODE")      \
	X(TEXT, outlet, "OUTLET", NULL,                                        \
	  "memory that knows whose lines have begun, as FD:INODE")             \
	X(TEXT, libc, "LIBC", NULL,                                            \
	  "version of the C library that can load a program many times")       \
	X(TEXT, private, "PRIVATE", NULL,                                      \
	  "libraries of which each rank has a copy")                           \
	X(TEXT, shared, "SHARED", NULL, "libraries that ranks share")          \
	X(TEXT, parent, "PARENT", NULL,                                        \
	  "port of the rank that has started the job (MPI_Comm_spawn)")        \
	X(TEXT, appnum, "APPNUM", NULL, "which of its commands this one is")   \
	X(TEXT, learn, "LEARN", NULL,                                          \
	  "file for a placement made of the ranks' run times")                 \
	X(TEXT, set, "SET", NULL, "newline-separated NAME=VALUE settings")

#define VM_JOB_TYPE_COUNT int
#define VM_JOB_TYPE_MANY int
#define VM_JOB_TYPE_FLAG bool
#define VM_JOB_TYPE_TEXT char *
#define VM_JOB_FIELD(kind, field, name, value, text) VM_JOB_TYPE_##kind field;

/* Texts belong to the job: vm_job_fini() frees them. */
struct vm_job {
	VM_JOB_FIELDS(VM_JOB_FIELD)
};

/* Makes a job of one rank with no options. */
void vm_job_init(struct vm_job *job);

/* Free the texts of job and make it as after vm_job_init(). */
void vm_job_fini(struct vm_job *job);

/*
 * Replace *text, a text field of a job, by a copy of value.
 * Result: 0 or -VMPI_ENOMEM.
 */
int vm_job_text(char **text, const char *value);

/*
 * Append the line "name=value" to job->set; a later line wins over an earlier.
 * Result: 0 or -VMPI_ENOMEM.
 */
int vm_job_set_add(struct vm_job *job, const char *name, const char *value);

/* Whether this process was given a job: any VMPI_JOB_ variable is set. */
bool vm_job_present(void);

/*
 * Read the job from the environment into job, which need not be initialised.
 * Result: 0; -VMPI_EINVAL after logging which variable is wrong and what would
 * be right; -VMPI_ENOMEM.  job is as after vm_job_init() on an error.
 */
int vm_job_from_env(struct vm_job *job);

/*
 * Put the job into this process's environment, replacing any job there, with
 * the settings libc needs before the node process starts (vm_job_each()).
 * Result: 0 or -VMPI_ENOMEM.
 */
int vm_job_to_env(const struct vm_job *job);

/*
 * Remove the job from the environment, so that a program which a rank starts
 * does not take itself for a part of this job.
 */
void vm_job_clear_env(void);

/* One variable of the environment; value NULL means that it has to be unset. */
typedef int (*vm_job_each_fn)(const char *name, const char *value, void *arg);

/*
 * Call each for every variable that vm_job_to_env() sets or unsets: the fields
 * in the order of the table, then, unless each rank is a process,
 * GLIBC_TUNABLES, which gives the node process room for the thread-local
 * variables of many images.  Stops at the first
 * non-zero result and returns it; -VMPI_ENOMEM; else 0.
 */
int vm_job_each(const struct vm_job *job, vm_job_each_fn each, void *arg);

/*
 * Find the node program and write its path into path[bytes].  VMPI_NODE of the
 * environment overrides all; else the places relative to this executable and to
 * the library that contains this function are tried, then the installed one.
 * Result: 0; -VMPI_ENOENT after logging where it was searched; -VMPI_ELIMIT
 * when path is too short.
 */
int vm_job_node_path(char *path, size_t bytes);

/* The same of vmpirun, which belongs to this library: 0, or -VMPI_ENOENT or
 * -VMPI_ELIMIT after a log. */
int vm_job_vmpirun_path(char *path, size_t bytes);

#endif
