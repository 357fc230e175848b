/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 on the wire: lines of pairs "key=value", the first of which is "cmd".
 *
 * Both sides read with this and neither trusts the other: a line is of bounded
 * length, printable, and well-formed, or it is refused.  No memory is allocated
 * and the only call is read.
 */
#ifndef BOOT_PMI_WIRE_H
#define BOOT_PMI_WIRE_H

#include <stddef.h>

/*
 * Our extensions are the pair "vmpi=1" in the answer to init, by which a
 * client knows that it may ask for reports of deaths (cmd=vmpi_events), the
 * lines "cmd=vmpi_left process=P status=S" that follow at any time, and "rc=-1"
 * in a barrier_out that a process has not reached.
 */

#define VM_PMI_LINE_MAX 4096 /* with the newline */
#define VM_PMI_PAIRS_MAX 16
#define VM_PMI_KVSNAME_MAX 64 /* guaranteed by our server, with the zero */
#define VM_PMI_KEY_MAX 64
#define VM_PMI_VALUE_MAX 1024

/* A parsed line; its parts point into it. */
struct vm_pmi_message {
	const char *command;
	int count;
	struct {
		const char *key, *value;
	} pairs[VM_PMI_PAIRS_MAX];
};

/*
 * Parses a line (without its newline) in place.  The value of the key "value"
 * reaches to the end of the line, others to the next blank. Result: 0, or
 * -VMPI_EINVAL (not logged) when it is malformed.
 */
int vm_pmi_parse(struct vm_pmi_message *message, char *line);

/* The value of the key, or NULL. */
const char *vm_pmi_text(const struct vm_pmi_message *message, const char *key);

/* The value of the key as a decimal number, or `none` when there is none. */
int vm_pmi_number(const struct vm_pmi_message *message, const char *key,
		  int none);

/* Bytes that have come and are not parsed yet. */
struct vm_pmi_reader {
	size_t begin, end;
	char bytes[2 * VM_PMI_LINE_MAX];
};

void vm_pmi_reader_init(struct vm_pmi_reader *reader);

/*
 * Reads what the socket has, without waiting.  Result: the number of bytes; 0
 * at its end; -VMPI_EAGAIN; -VMPI_EIO; -VMPI_ELIMIT when a line is too long.
 */
int vm_pmi_reader_fill(struct vm_pmi_reader *reader, int fd);

/* The next whole line, valid until the next fill, or NULL.  Bytes that no line
 * may have are left for vm_pmi_parse() to refuse. */
char *vm_pmi_reader_line(struct vm_pmi_reader *reader);

#endif
