/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is counted of messages: sizes, protocols, and what waits in a mailbox.
 */
#include <string.h>
#include <vmpi.h>

#include "base/err.h"
#include "introspect/pvar.h"
#include "tap.h"

#define LONG_BYTES 100000 /* stays with the sender */

static char buffer[LONG_BYTES], other[LONG_BYTES];

static uint64_t words[VM_PVAR_WORDS_MAX];

/* A variable of rank 0, or word `word` of it. */
static int word_of(const char *name, int word)
{
	if (vm_pvar_value(words, vm_pvar_find(name), 0))
		bail(name);
	return (int)words[word];
}

static int value_of(const char *name)
{
	return word_of(name, 0);
}

static void sizes(void)
{
	is_int((int)vm_pvar_size(0), 0, "nothing is the first size");
	is_int((int)vm_pvar_size(1), 1, "one byte the next one");
	is_int((int)vm_pvar_size(2), 2, "then two");
	is_int((int)vm_pvar_size(3), 2, "and three");
	is_int((int)vm_pvar_size(4), 3, "then four");
	is_int((int)vm_pvar_size((1u << 30) - 1), 30, "a size is a power");
	is_int((int)vm_pvar_size(UINT64_C(1) << 40), 31, "the last has all");
}

static void send_to_self(vmpi_req **req, size_t bytes, int tag)
{
	vmpi_isend(vmpi_world(), req, buffer, bytes, 0, tag);
}

static void waiting(void)
{
	vmpi_req *reqs[3];

	send_to_self(&reqs[0], 0, 1);
	send_to_self(&reqs[1], 100, 2);
	send_to_self(&reqs[2], LONG_BYTES, 3);
	is_int(value_of("core_unexpected_len"), 3, "three messages wait");
	is_int(value_of("core_unexpected_bytes"), 100 + LONG_BYTES,
	       "with their payload");
	is_int(word_of("core_sizes_near", 0), 0, "short ones are not");
	is_int(word_of("core_sizes_near", 7), 1, "one has 64 bytes or more");
	is_int(word_of("core_sizes_near", 17), 1, "one 64 KiB or more");
	is_int(value_of("core_bytes_copy"), 100, "one was copied");
	is_int(value_of("core_bytes_direct"), LONG_BYTES, "one was not");
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 3, NULL);
	is_int(value_of("core_unexpected_len"), 2, "two still wait");
	is_int(value_of("core_unexpected_bytes"), 100, "with theirs");
	is_int(value_of("core_unexpected_attempts"), 2,
	       "two others were looked at first");
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 1, NULL);
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 2, NULL);
	vmpi_wait_all(reqs, NULL, 3);
	is_int(value_of("core_unexpected_len"), 0, "then none");
	is_int(value_of("core_unexpected_bytes"), 0, "with nothing");
	is_int(value_of("core_unexpected_max"), 3, "three were the most");
	is_int(value_of("core_unexpected_bytes_max"), 100 + LONG_BYTES,
	       "and had the most");
}

static void posted(void)
{
	vmpi_req *reqs[4];

	vmpi_irecv(vmpi_world(), &reqs[0], other, 8, 0, 1);
	vmpi_irecv(vmpi_world(), &reqs[1], other + 8, 8, 0, 2);
	is_int(value_of("core_posted_len"), 2, "two receives are posted");
	send_to_self(&reqs[2], 8, 2);
	is_int(value_of("core_posted_len"), 1, "one of them matches");
	is_int(value_of("core_posted_attempts"), 1,
	       "the other one was looked at first");
	send_to_self(&reqs[3], 8, 1);
	vmpi_wait_all(reqs, NULL, 4);
	is_int(value_of("core_posted_len"), 0, "then none is posted");
	is_int(value_of("core_posted_max"), 2, "two were the most");
	is_int(value_of("core_unexpected"), 3, "three times the receiver was");
	is_int(value_of("core_sends"), 5, "all sends were counted");
}

static int body(void *arg)
{
	waiting();
	posted();
	return *(int *)arg;
}

int main(void)
{
	const vmpi_config config = { .ranks = 1 };
	int status = 0;

	sizes();
	is_int(vmpi_run(&config, body, &status), 0, "a rank runs");
	return done_testing();
}
