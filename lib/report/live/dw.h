/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libdw (elfutils) that unwind stacks and name addresses.  The
 * library is loaded when it is asked for, so that programs that are not asked
 * start without it, and run where it is missing.
 */
#ifndef REPORT_LIVE_DW_H
#define REPORT_LIVE_DW_H

#ifdef VM_HAVE_LIBDW
#include <elfutils/libdwfl.h>

#define VM_DW_FUNCTIONS(X)               \
	X(dwarf_attr)                    \
	X(dwarf_diename)                 \
	X(dwarf_filesrc)                 \
	X(dwarf_formudata)               \
	X(dwarf_getscopes)               \
	X(dwarf_getscopes_die)           \
	X(dwarf_getsrcfiles)             \
	X(dwarf_tag)                     \
	X(dwfl_addrmodule)               \
	X(dwfl_attach_state)             \
	X(dwfl_begin)                    \
	X(dwfl_build_id_find_elf)        \
	X(dwfl_end)                      \
	X(dwfl_errmsg)                   \
	X(dwfl_frame_pc)                 \
	X(dwfl_getthread_frames)         \
	X(dwfl_lineinfo)                 \
	X(dwfl_module_addrdie)           \
	X(dwfl_module_addrinfo)          \
	X(dwfl_module_getsrc)            \
	X(dwfl_module_getsym_info)       \
	X(dwfl_module_getsymtab)         \
	X(dwfl_module_info)              \
	X(dwfl_report_begin)             \
	X(dwfl_report_elf)               \
	X(dwfl_report_end)               \
	X(dwfl_standard_find_debuginfo)  \
	X(dwfl_thread_state_register_pc) \
	X(dwfl_thread_state_registers)

#define VM_DW_FIELD(name) __typeof__(name) *name;
struct vm_dw {
	VM_DW_FUNCTIONS(VM_DW_FIELD)
};

/* The functions, or NULL and the reason. */
const struct vm_dw *vm_dw_load(const char **why);
#endif

#endif
