/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads that act for a rank: what they count is seen while they do.
 */
#include <pthread.h>

#include "base/err.h"
#include "core/rank/rank.h"
#include "introspect/vars/pvar.h"
#include "tap.h"

static int number;

static uint64_t sends(void)
{
	uint64_t value = 0;

	if (vm_pvar_value(&value, number, 0) != 0)
		bail("no value of core_sends");
	return value;
}

static void send_self(int messages)
{
	char c = 0;

	for (int i = 0; i < messages; i++) {
		vmpi_send(vmpi_world(), &c, 1, 0, 1);
		vmpi_recv(vmpi_world(), &c, 1, 0, 1, NULL);
	}
}

static void *helper(void *arg)
{
	if (vmpi_attach(0) != 0)
		bail("cannot attach");
	send_self(5);
	is_int((intmax_t)sends(), 8, "those of two threads are added up");
	vmpi_detach();
	return arg;
}

int main(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };
	pthread_t thread;

	is_int(vmpi_start(&config), 0, "a runtime");
	number = vm_pvar_find("core_sends");
	is_int((intmax_t)sends(), 0, "nothing was sent");
	is_int(vmpi_attach(0), 0, "a thread acts for a rank");
	send_self(3);
	is_int((intmax_t)sends(), 3, "its messages are counted at once");
	pthread_create(&thread, NULL, helper, NULL);
	pthread_join(thread, NULL);
	is_int((intmax_t)sends(), 8, "those of a thread that has left stay");
	send_self(1);
	is_int((intmax_t)sends(), 9, "and others go on");
	vmpi_detach();
	is_int((intmax_t)sends(), 9, "when none is left too");
	is_int(vmpi_stop(), 0, "the end");
	return done_testing();
}
