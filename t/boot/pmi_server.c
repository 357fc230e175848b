/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMI-1 server, with requests by hand: the answers, the fence of the
 * living, reports of deaths, limits; and clients that send malformed lines.
 */
#include "boot/pmi_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/pmi_wire.h"
#include "tap.h"
#include "vmpi.h"

#define MOST 8
#define RANDOM_SEED 4711u

static struct vm_pmi_server server;
static int ends[MOST];

static void begin(int count)
{
	if (vm_pmi_server_init(&server, count))
		bail("no server");
	for (int i = 0; i < count; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
			bail("no sockets");
		vm_pmi_server_attach(&server, i, pair[0]);
		ends[i] = pair[1];
	}
}

static void end(void)
{
	for (int i = 0; i < server.count; i++)
		close(ends[i]);
	vm_pmi_server_fini(&server);
}

static void tell(int process, const char *text)
{
	if (send(ends[process], text, strlen(text), MSG_NOSIGNAL) < 0)
		diag("process %d cannot send: %s", process, strerror(errno));
	vm_pmi_server_ready(&server, process);
}

/* The server's answer to process, without the last newline. */
static const char *heard(int process)
{
	static char text[65536];
	ssize_t got = recv(ends[process], text, sizeof(text) - 1, MSG_DONTWAIT);

	if (got == 0)
		return "(closed)";
	text[got > 0 ? got : 0] = '\0';
	if (got > 0 && text[got - 1] == '\n')
		text[got - 1] = '\0';
	return text;
}

static void answers_test(void)
{
	static const struct {
		const char *line, *answer;
	} rows[] = {
		{ "cmd=init pmi_version=1 pmi_subversion=1",
		  "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0 "
		  "vmpi=1" },
		{ "cmd=init pmi_version=2 pmi_subversion=0",
		  "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1 "
		  "vmpi=1" },
		{ "cmd=get_maxes", "cmd=maxes rc=0 kvsname_max=64 "
				   "keylen_max=64 vallen_max=1024" },
		{ "cmd=get_appnum", "cmd=appnum rc=0 appnum=0" },
		{ "cmd=get_universe_size", "cmd=universe_size rc=0 size=2" },
		{ "cmd=get_my_kvsname", "cmd=my_kvsname rc=0 kvsname=vmpi" },
		{ "cmd=get kvsname=vmpi key=PMI_process_mapping",
		  "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))" },
		{ "cmd=put kvsname=vmpi key=k value=a b c",
		  "cmd=put_result rc=0 msg=success" },
		{ "cmd=put kvsname=vmpi key=k value=d",
		  "cmd=put_result rc=-1 msg=key_is_there" },
		{ "cmd=put kvsname=vmpi key= value=d",
		  "cmd=put_result rc=-1 msg=no_key_or_value" },
		{ "cmd=put kvsname=vmpi key=x",
		  "cmd=put_result rc=-1 msg=no_key_or_value" },
		{ "cmd=get kvsname=vmpi key=k",
		  "cmd=get_result rc=0 msg=success value=a b c" },
		{ "cmd=get kvsname=vmpi key=nosuch",
		  "cmd=get_result rc=-1 msg=key_not_found value=unknown" },
		{ "cmd=get", "cmd=get_result rc=-1 msg=key_not_found "
			     "value=unknown" },
		{ "cmd=publish_name service=s port=p",
		  "cmd=unknown_cmd rc=-1 msg=not_supported" },
		{ "mcmd=spawn\nnprocs=1\nexecname=x y\nendcmd",
		  "cmd=spawn_result rc=-1 msg=not_supported" },
		{ "cmd=finalize", "cmd=finalize_ack rc=0" },
	};
	char line[256];

	begin(2);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(line, sizeof(line), "%s\n", rows[i].line);
		tell(0, line);
		is_string(heard(0), rows[i].answer, "%.40s is answered",
			  rows[i].line);
	}
	ok(vm_pmi_server_joined(&server, 0) && vm_pmi_server_left(&server, 0),
	   "who sent init and finalize has joined and left");
	ok(!vm_pmi_server_joined(&server, 1) && !vm_pmi_server_left(&server, 1),
	   "the other one has not");
	end();
}

static void fence_test(void)
{
	begin(3);
	tell(0, "cmd=barrier_in\n");
	tell(1, "cmd=barrier_in\n");
	is_string(heard(0), "", "two of three do not end a fence");
	tell(2, "cmd=vmpi_events\ncmd=barrier_in\n");
	for (int i = 0; i < 2; i++)
		is_string(heard(i), "cmd=barrier_out", "process %d passes", i);
	is_string(heard(2), "cmd=vmpi_events_on rc=0\ncmd=barrier_out",
		  "so does who asked for events before");
	tell(0, "cmd=vmpi_events\n");
	heard(0);
	tell(0, "cmd=barrier_in\n");
	tell(1, "cmd=barrier_in\n");
	close(ends[2]);
	vm_pmi_server_ended(&server, 2, 137);
	is_string(heard(0),
		  "cmd=vmpi_left process=2 status=137\ncmd=barrier_out rc=-1",
		  "a death is reported and ends the fence, which has failed");
	is_string(heard(1), "cmd=barrier_out",
		  "who has not asked for events passes");
	tell(1, "cmd=vmpi_events\n");
	is_string(heard(1),
		  "cmd=vmpi_events_on rc=0\ncmd=vmpi_left process=2 status=137",
		  "who asks later hears of it then");
	tell(1, "cmd=finalize\n");
	heard(1);
	vm_pmi_server_ended(&server, 1, 0);
	is_string(heard(0), "", "to leave properly is not reported");
	tell(0, "cmd=barrier_in\n");
	is_string(heard(0), "cmd=barrier_out rc=-1",
		  "a fence without those who have left fails");
	ends[2] = dup(0);
	end();
}

static void abort_test(void)
{
	begin(3);
	is_int(server.abort_process, -1, "nobody has aborted");
	tell(1, "cmd=abort exitcode=42\n");
	tell(2, "cmd=abort exitcode=9\n");
	is_int(server.abort_process, 1, "the first abort counts");
	is_int(server.abort_code, 42, "with its code");
	ok(vm_pmi_server_aborted(&server, 2), "the second is known");
	ok(!vm_pmi_server_aborted(&server, 0), "who did not, did not");
	end();
	for (const char *const *code =
		     (const char *const[]){ "0", "256", "-1", "x", "", NULL };
	     *code; code++) {
		char line[64];

		begin(1);
		snprintf(line, sizeof(line), "cmd=abort exitcode=%s\n", *code);
		tell(0, line);
		is_int(server.abort_code, 1, "code '%s' becomes 1", *code);
		end();
	}
}

static void limits_test(void)
{
	static char line[VM_PMI_LINE_MAX + 64], text[VM_PMI_LINE_MAX];
	int stored = 0;

	begin(2);
	memset(text, 'k', VM_PMI_KEY_MAX);
	snprintf(line, sizeof(line), "cmd=put kvsname=v key=%s value=x\n",
		 text);
	tell(0, line);
	is_string(heard(0), "cmd=put_result rc=-1 msg=key_or_value_too_long",
		  "a long key is refused");
	memset(text, 'v', VM_PMI_VALUE_MAX);
	snprintf(line, sizeof(line), "cmd=put kvsname=v key=x value=%s\n",
		 text);
	tell(0, line);
	is_string(heard(0), "cmd=put_result rc=-1 msg=key_or_value_too_long",
		  "so is a long value");
	text[VM_PMI_VALUE_MAX - 1] = '\0';
	for (int i = 0; i < 20000; i++) {
		snprintf(line, sizeof(line),
			 "cmd=put kvsname=v key=k%d value=%s\n", i, text);
		tell(0, line);
		if (strcmp(heard(0), "cmd=put_result rc=0 msg=success") != 0)
			break;
		stored++;
	}
	ok(stored > 10000 && stored < 20000,
	   "one client may store much, but not all (%d values)", stored);
	tell(1, "cmd=put kvsname=v key=mine value=y\n");
	is_string(heard(1), "cmd=put_result rc=0 msg=success",
		  "which does not touch another one's share");
	end();
}

/* A client that asks and asks and never reads. */
static void deaf_test(void)
{
	int fd, sent = 0;
	short events = POLLIN;

	begin(2);
	while (sent < 200000 && (events & POLLIN)) {
		if (send(ends[0], "cmd=get key=PMI_process_mapping\n", 32,
			 MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			break;
		sent++;
		vm_pmi_server_ready(&server, 0);
		events = vm_pmi_server_events(&server, &fd, 0);
	}
	is_int(events, POLLOUT, "who does not read is not read any more");
	tell(1, "cmd=get_appnum\n");
	is_string(heard(1), "cmd=appnum rc=0 appnum=0", "others are");
	for (int i = 0; i < 10000 && !(events & POLLIN); i++) {
		heard(0);
		vm_pmi_server_ready(&server, 0);
		events = vm_pmi_server_events(&server, &fd, 0);
	}
	ok(events & POLLIN, "until it has read");
	end();
}

static void hostile_test(void)
{
	static const char *const texts[] = {
		"\n",
		"hello\n",
		"GET / HTTP/1.1\r\n\r\n",
		"cmd=\n",
		"cmd=put \x01\n",
		"\xff\xfe\xfd\n",
		"cmd=put key\n",
	};
	static char much[2 * VM_PMI_LINE_MAX];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		begin(2);
		tell(1, "cmd=barrier_in\n");
		tell(0, texts[i]);
		is_string(heard(0), "(closed)",
			  "text %zu ends the connection of its sender", i);
		is_string(heard(1), "cmd=barrier_out",
			  "and the fence of the others");
		end();
	}
	begin(2);
	memset(much, 'x', sizeof(much) - 1);
	tell(0, much);
	is_string(heard(0), "(closed)", "so does a line without an end");
	tell(1, "cmd=get_appnum\n");
	is_string(heard(1), "cmd=appnum rc=0 appnum=0", "others go on");
	end();
}

static unsigned random_next(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Clients that send random requests in random pieces, and die. */
static void random_test(void)
{
	static const char *const lines[] = {
		"cmd=init pmi_version=1\n",
		"cmd=barrier_in\n",
		"cmd=put kvsname=v key=a value=b\n",
		"cmd=get kvsname=v key=a\n",
		"cmd=vmpi_events\n",
		"cmd=abort exitcode=3\n",
		"cmd=finalize\n",
		"mcmd=spawn\n",
		"endcmd\n",
		"nonsense\n",
		"cmd=",
	};
	unsigned state = RANDOM_SEED;
	int rounds = 0;

	for (; rounds < 3000; rounds++) {
		begin(MOST);
		for (int step = 0; step < 40; step++) {
			int who = (int)(random_next(&state) % MOST);
			unsigned what = random_next(&state) % 14;

			if (what < sizeof(lines) / sizeof(lines[0]))
				send(ends[who], lines[what],
				     strlen(lines[what]),
				     MSG_NOSIGNAL | MSG_DONTWAIT);
			if (what == 12)
				shutdown(ends[who], SHUT_RDWR);
			if (what == 13)
				vm_pmi_server_ended(&server, who, 9);
			else
				vm_pmi_server_ready(&server, who);
		}
		end();
	}
	ok(rounds == 3000, "%d rounds of random clients end", rounds);
}

int main(void)
{
	answers_test();
	fence_test();
	abort_test();
	limits_test();
	deaf_test();
	hostile_test();
	vm_log_set_level(VM_ERROR - 1);
	random_test();
	return done_testing();
}
