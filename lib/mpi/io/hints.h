/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The info keys of files (MPI 4.1, 14.2.8), and those of ROMIO that have a
 * meaning here.
 */
#ifndef MPI_IO_HINTS_H
#define MPI_IO_HINTS_H

#include <stddef.h>
#include <stdint.h>

#include "mpi.h"

struct vm_call;

/* Field, key, value without a hint, least, most. */
#define VM_IO_NUMBERS(X)                                                  \
	X(cb_buffer, "cb_buffer_size", 4 << 20, 4096, INT32_MAX)          \
	X(cb_block, "cb_block_size", 1 << 20, 1, INT32_MAX)               \
	X(cb_nodes, "cb_nodes", 0, 0, INT32_MAX)                          \
	X(read_buffer, "ind_rd_buffer_size", 512 << 10, 4096, INT32_MAX)  \
	X(write_buffer, "ind_wr_buffer_size", 512 << 10, 4096, INT32_MAX) \
	X(striping_factor, "striping_factor", 1, 1, INT32_MAX)            \
	X(striping_unit, "striping_unit", 64 << 10, 1, INT32_MAX)         \
	X(nb_proc, "nb_proc", 0, 0, INT32_MAX)                            \
	X(num_io_nodes, "num_io_nodes", 0, 0, INT32_MAX)

/* Field, key: automatic, enable or disable. */
#define VM_IO_SWITCHES(X)             \
	X(cb_read, "romio_cb_read")   \
	X(cb_write, "romio_cb_write") \
	X(ds_read, "romio_ds_read")   \
	X(ds_write, "romio_ds_write")

enum vm_io_switch { VM_IO_AUTOMATIC, VM_IO_ENABLE, VM_IO_DISABLE };

struct vm_io_hints {
#define VM_IO_NUMBER_FIELD_(field, key, value, least, most) int64_t field;
	VM_IO_NUMBERS(VM_IO_NUMBER_FIELD_)
#undef VM_IO_NUMBER_FIELD_
#define VM_IO_SWITCH_FIELD_(field, key) uint8_t field;
	VM_IO_SWITCHES(VM_IO_SWITCH_FIELD_)
#undef VM_IO_SWITCH_FIELD_
	int permissions; /* file_perm, octal */
	char access[64]; /* access_style */
};

/* The values without hints. */
void vm_io_hints_init(struct vm_io_hints *hints);

/* Takes over what an info object says, as far as it is a value of a key: 0 or
 * MPI_ERR_INFO. */
int vm_io_hints_take(struct vm_call *call, struct vm_io_hints *hints,
		     MPI_Info info);

/* Returns a new info object: 0 or an MPI error. */
int vm_io_hints_give(struct vm_call *call, const struct vm_io_hints *hints,
		     const char *name, MPI_Info *out);

#endif
