/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: text from outside: PMI-1 lines, what clients send the PMI
 * server, lists and files of hosts, commands of --agent, blocks of ranks,
 * configuration files.  The first byte says which.  Without a fuzzer: run.c.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Ilib \
 *		-Iinclude -Ibin/vmpirun -DVM_SYSCONFDIR='"/etc"' t/fuzz/text.c \
 *		lib/boot/{pmi_wire,pmi_server,kvs,place}.c lib/introspect/[nsv]*.c \
 *		lib/sched/vars.c lib/report/option.c bin/vmpirun/{command,hosts}.c -o fuzz-text &&
 *	./fuzz-text -max_len=600 -runs=10000000
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/pmi_server.h"
#include "boot/pmi_wire.h"
#include "boot/place.h"
#include "hosts.h"
#include "introspect/vars/config.h"
#include "introspect/vars/cvar.h"
#include "report/cli.h"
#include "sched/vars.h"
#include "vmpi.h"
#include "command.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Formats the messages about mistakes, and does not print them. */
static void text_drop(const char *format, va_list args)
{
	char text[256];

	if (vsnprintf(text, sizeof(text), format, args) < 0)
		abort();
}

void vm_cli_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_drop(format, args);
	va_end(args);
}

int vm_cli_no_memory(void)
{
	return -VMPI_ENOMEM;
}

void vm_log(enum vm_log_level level, const char *format, ...)
{
	va_list args;

	(void)level;
	va_start(args, format);
	text_drop(format, args);
	va_end(args);
}

void vm_log_set_level(enum vm_log_level level)
{
	(void)level;
}

/* A line of PMI in its parts. */
static void line_try(char *text)
{
	struct vm_pmi_message message;
	size_t room = strlen(text) + 1;

	if (vm_pmi_parse(&message, text))
		return;
	if (message.count < 1 || message.count > VM_PMI_PAIRS_MAX)
		abort();
	for (int i = 0; i < message.count; i++)
		if (message.pairs[i].key < text ||
		    message.pairs[i].value + strlen(message.pairs[i].value) >=
			    text + room)
			abort();
	vm_pmi_number(&message, "rc", 7);
	if (vm_pmi_text(&message, "cmd") != message.command)
		abort();
}

/* Feeds the input of one of two clients to the server, in pieces of as many
 * bytes as the first byte says. */
static void server_try(const uint8_t *data, size_t bytes)
{
	struct vm_pmi_server server;
	size_t piece = bytes ? data[0] + 1u : 1;
	char answers[4096];
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
	    vm_pmi_server_init(&server, 2))
		abort();
	vm_pmi_server_attach(&server, 0, ends[0]);
	for (size_t at = 1; at < bytes; at += piece) {
		size_t most = bytes - at < piece ? bytes - at : piece;

		if (send(ends[1], data + at, most, MSG_NOSIGNAL) < 0)
			break;
		vm_pmi_server_ready(&server, 0);
		while (recv(ends[1], answers, sizeof(answers), MSG_DONTWAIT) >
		       0)
			;
	}
	vm_pmi_server_ended(&server, 1, 0);
	vm_pmi_server_ended(&server, 0, 9);
	vm_pmi_server_fini(&server);
	close(ends[1]);
}

static void hosts_judge(struct hosts *hosts, int rc)
{
	for (int i = 0; i < hosts->count; i++)
		if (!hosts->list[i].name[0] || hosts->list[i].slots < 1)
			abort();
	if (!rc && hosts_slots(hosts) < hosts->count)
		abort();
	hosts_remote(hosts);
	hosts_fini(hosts);
}

/* The name of a file with these bytes. */
static const char *file_of(const uint8_t *data, size_t bytes)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) ||
	    pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
		abort();
	return path;
}

static void hosts_file_try(const uint8_t *data, size_t bytes)
{
	struct hosts hosts = { 0 };

	hosts_judge(&hosts, hosts_add_file(&hosts, file_of(data, bytes)));
}

static void hosts_list_try(const char *text)
{
	struct hosts hosts = { 0 };

	hosts_judge(&hosts, hosts_add_list(&hosts, text));
}

static void command_try(const char *text)
{
	struct command command = { 0 };

	if (!command_add_text(&command, "--agent", text, "host", 3))
		for (size_t i = 0; i < command.count; i++)
			if (!command.list[i])
				abort();
	command_fini(&command);
}

static void blocks_try(const char *text)
{
	int first[5];

	if (vm_place_fill(first, 4, 20, text))
		return;
	for (int i = 0; i < 4; i++)
		if (first[i] >= first[i + 1])
			abort();
	for (int rank = 0; rank < 20; rank++) {
		int process = vm_place_process(first, 4, rank);

		if (rank < first[process] || rank >= first[process + 1])
			abort();
	}
}

static void settings_try(const uint8_t *data, size_t bytes, const char *text)
{
	struct vm_var_files files = { .config = file_of(data, bytes) };
	static bool added;

	if (!added)
		vm_vars_add(&sched_cvar_table);
	added = true;
	vm_vars_load_from(&files, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned kind = bytes ? data[0] % 7 : 0;
	size_t length = bytes ? bytes - 1 : 0;
	char *text = malloc(length + 1);

	if (!text)
		abort();
	if (length)
		memcpy(text, data + 1, length);
	text[length] = '\0';
	switch (kind) {
	case 0:
		line_try(text);
		break;
	case 1:
		server_try(data + 1, length);
		break;
	case 2:
		hosts_file_try(data + 1, length);
		break;
	case 3:
		hosts_list_try(text);
		break;
	case 4:
		command_try(text);
		break;
	case 5:
		blocks_try(text);
		break;
	default:
		settings_try(data + 1, length, text);
	}
	free(text);
	return 0;
}
