/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of a stack in words: those of the program and of its libraries,
 * also inlined ones, with their lines.  Of the runtime only the calls remain
 * that the program has made.
 */
#ifndef REPORT_LIVE_FRAMES_H
#define REPORT_LIVE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VM_FRAMES_MAX 64

enum vm_frame_kind {
	VM_FRAME_PROGRAM,
	VM_FRAME_SYSTEM, /* of libc and its like */
	VM_FRAME_CALL,	 /* "MPI_Send" */
};

struct vm_frame {
	enum vm_frame_kind kind;
	char name[96];	  /* of the function; empty: unknown */
	char file[56];	  /* of the source, or, if line is 0, of the module */
	int line;	  /* 0: unknown */
	uint64_t offset;  /* in the function, or else in the module */
	bool interrupted; /* by a signal: it called nobody */
};

struct vm_frames {
	struct vm_frame list[VM_FRAMES_MAX]; /* the innermost first */
	/* Those before the floor stay; below: frames of the runtime have come
	 * since. */
	unsigned count, floor;
	bool below;
};

struct vm_modules;
struct vm_module;

/*
 * Adds the frame at pc; runtime: the module of the runtime.  Frames of it, and
 * of what it calls, are dropped again when the call is known.  Returns whether
 * the program's own frames have ended.
 */
bool vm_frames_add(struct vm_frames *frames, const struct vm_modules *modules,
		   uint64_t pc, bool interrupted,
		   const struct vm_module *runtime);

/*
 * "in boom, crash.c:3, called from main, crash.c:8".  inner: how the innermost
 * frames are to be seen: all; or without the call and the functions of libc, as
 * the text before names them.  false: no function of the program is known.
 */
enum vm_frames_inner { VM_FRAMES_ALL, VM_FRAMES_OWN };
bool vm_frames_say(struct vm_frames *frames, char *text, size_t bytes,
		   enum vm_frames_inner inner);

#endif
