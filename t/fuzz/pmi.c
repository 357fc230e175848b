/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: PMI-1: lines in their parts, what processes send the server of
 * vmpirun, what a launcher answers a process, and the cards that processes
 * show each other.
 *
 *	make fuzz TARGET=pmi SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boot/backend.h"
#include "boot/boot.h"
#include "boot/host_card.h"
#include "boot/peer_events.h"
#include "boot/pmi_server.h"
#include "boot/pmi_wire.h"
#include "input.h"

#define CLIENT_FD 100 /* as the environment says */
#define ANSWERS_MAX 16384

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

static void ends_make(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
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

	ends_make(ends);
	if (vm_pmi_server_init(&server, 2))
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

/* What a process asks, one after the other. */
static void client_ask(void *state)
{
	unsigned char bytes[64];
	size_t length = 0;

	if (vm_boot_pmi.put(state, "card", "0123456789", 10) ||
	    vm_boot_pmi.fence(state))
		return;
	for (int i = 0; i < 4; i++)
		if (!vm_boot_pmi.get(state, bytes, &length, sizeof(bytes),
				     i % 2, "card") &&
		    length > sizeof(bytes))
			abort();
}

/* Answers that are all there before the first question; then the launcher is
 * gone. */
static void client_try(const uint8_t *data, size_t bytes)
{
	struct vm_peer_events events;
	struct vm_boot boot = { .process = 0 };
	void *state;
	int ends[2];

	if (bytes > ANSWERS_MAX)
		return;
	setenv("PMI_FD", "100", 1);
	setenv("PMI_RANK", "1", 1);
	setenv("PMI_SIZE", "2", 1);
	ends_make(ends);
	if (dup2(ends[0], CLIENT_FD) < 0 || close(ends[0]) ||
	    send(ends[1], data, bytes, MSG_NOSIGNAL) != (ssize_t)bytes ||
	    shutdown(ends[1], SHUT_WR) || vm_peer_events_init(&events))
		abort();
	if (!vm_boot_pmi.open(&state, &boot, &events)) {
		client_ask(state);
		vm_peer_events_stop(&events);
		vm_boot_pmi.close(state);
	} else {
		close(CLIENT_FD);
	}
	vm_peer_events_fini(&events);
	close(ends[1]);
}

static void card_try(const uint8_t *data, size_t bytes)
{
	static uint8_t out[4096 + sizeof(struct vm_host_card)];
	static struct vm_host_card own;
	struct vm_host_card card;
	const char *why;

	if (bytes > 4096)
		return;
	if (!own.magic)
		vm_host_card_fill(&own, 2, 4, "2,2", NULL);
	if (fuzz_change(out, &own, sizeof(own), data, bytes) != sizeof(card))
		return;
	memcpy(&card, out, sizeof(card));
	why = vm_host_card_wrong(&card, &own);
	if (!why && strlen(card.host_name) >= sizeof(card.host_name))
		abort();
	vm_host_card_same_host(&card, &own);
	vm_host_card_same_cores(&card, &own);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text;

	if (!bytes)
		return 0;
	switch (data[0] % 4) {
	case 0:
		text = fuzz_text(data + 1, bytes - 1);
		line_try(text);
		free(text);
		break;
	case 1:
		server_try(data + 1, bytes - 1);
		break;
	case 2:
		client_try(data + 1, bytes - 1);
		break;
	default:
		card_try(data + 1, bytes - 1);
	}
	return 0;
}
