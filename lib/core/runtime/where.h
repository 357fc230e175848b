/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the program something went wrong: function, file and line.
 *
 * A process that ends for an error asks a program of vmpi's own, vmpi-where,
 * which reads its memory from outside: debug information takes memory and
 * locks, and those of the process may be what is broken.
 */
#ifndef CORE_RUNTIME_WHERE_H
#define CORE_RUNTIME_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_WHERE_MAX 1000

#define VM_WHERE_VERSION 2
#define VM_WHERE_REGISTERS 33 /* by their numbers in DWARF */

/* What vmpi-where reads from its standard input; its output is the text. */
struct vm_where_ask {
	uint32_t version, bytes; /* of this struct */
	pid_t pid;
	int32_t sp_number; /* of the stack pointer */
	uint32_t own;	   /* without the innermost call, which is named */
	uint64_t registers[VM_WHERE_REGISTERS];
	uint64_t pc;
	uint64_t runtime; /* an address in the file that the library is in */
	/* Of a fault: the address accessed, the rank that runs, the address of
	 * vmpi_debug (core/runtime/debug.h).  Then the answer begins with
	 * "NUMBER " if another rank's buffer is at fault. */
	uint64_t fault, debug;
	int32_t rank;
};

/*
 * Says where the calling thread is, as " in boom, crash.c:3, called from main,
 * crash.c:8", or, context being that of a signal handler, was.  own: without
 * the call and the functions of libc that it is in.  Takes two seconds at most.
 * false: that is not known, and text is empty.  Async-signal-safe.
 */
bool vm_where_say(char text[VM_WHERE_MAX], const void *context, bool own);

/*
 * The same for an access to an address that failed.  If that was in a buffer of
 * a message the text says which part of it is not accessible, and *rank is the
 * rank whose buffer and call it is, which may be another one than the caller's.
 */
bool vm_where_fault(char text[VM_WHERE_MAX], int *rank, const void *context,
		    const void *address);

#endif
