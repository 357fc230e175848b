/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of leaders that both sides expect.  After an error a leader still
 * sends the messages that others wait for, empty: these are too short, so the
 * error reaches all that would have got the data.
 */
#include <stdlib.h>

#include "core/rank/chan.h"
#include "core/meeting/leaders.h"
#include "core/meeting/leaders_ahead.h"
#include "core/meeting/leaders_msg.h"
#include "core/meeting/leaders_talk.h"
#include "core/meeting/meet.h"
#include "core/comm/cancel.h"
#include "core/local/layout.h"
#include "core/local/req.h"

struct vm_leaders_message {
	struct vm_req *req;
	size_t bytes; /* of a receive */
	int process;  /* of a send */
	bool receive;
};

void vm_leaders_data_begin(struct vm_leaders_data *talk,
			   const struct vm_meet *meet)
{
	*talk = (struct vm_leaders_data){ .meet = meet };
}

static void note(struct vm_leaders_data *talk, int error)
{
	if (error && !talk->error)
		talk->error = error;
}

/* Room for one more; NULL: no memory. */
static struct vm_leaders_message *message_new(struct vm_leaders_data *talk)
{
	struct vm_leaders_message *more;
	int room = talk->room ? 2 * talk->room : 16;

	if (talk->count == talk->room) {
		more = realloc(talk->messages, (size_t)room * sizeof(*more));
		if (!more) {
			note(talk, -VMPI_ENOMEM);
			return NULL;
		}
		talk->messages = more;
		talk->room = room;
	}
	return &talk->messages[talk->count];
}

void vm_leaders_send(struct vm_leaders_data *talk, int process,
		     const struct vm_data *data)
{
	struct vm_data none = vm_data_bytes(NULL, 0);
	struct vm_leaders_message *message;
	int rc;

	if (!talk->error && !data->layout &&
	    vm_leaders_msg_tell(talk->meet, process, data->addr, data->bytes,
				false))
		return;
	message = message_new(talk);
	if (!message)
		return;
	message->receive = false;
	message->process = process;
	rc = vm_leaders_msg_send(talk->meet, process,
				 talk->error ? &none : data, &message->req);
	if (rc)
		note(talk, rc);
	else
		talk->count++;
}

void vm_leaders_recv(struct vm_leaders_data *talk, int process,
		     const struct vm_data *data)
{
	struct vm_leaders_message *message = message_new(talk);
	int rc;

	if (!message)
		return;
	message->receive = true;
	message->bytes = data->bytes;
	rc = vm_leaders_msg_recv(talk->meet, process, data, &message->req);
	if (rc)
		note(talk, rc);
	else
		talk->count++;
}

static void message_wait(struct vm_leaders_data *talk,
			 struct vm_leaders_message *message)
{
	size_t bytes = 0;

	note(talk, vm_leaders_msg_wait(talk->meet, &message->req, &bytes));
	if (message->receive && bytes != message->bytes)
		note(talk, bytes ? -VMPI_ETRUNC : -VMPI_EPEER);
}

int vm_leaders_received(struct vm_leaders_data *talk)
{
	int sends = 0;

	for (int i = 0; i < talk->count; i++)
		if (talk->messages[i].receive)
			message_wait(talk, &talk->messages[i]);
		else
			talk->messages[sends++] = talk->messages[i];
	talk->count = sends;
	return talk->error;
}

int vm_leaders_wait(struct vm_leaders_data *talk)
{
	vm_leaders_received(talk);
	for (int i = 0; i < talk->count; i++)
		message_wait(talk, &talk->messages[i]);
	talk->count = 0;
	return talk->error;
}

int vm_leaders_hear_late(const struct vm_meet *meet,
			 struct vm_leaders_data *talk)
{
	int rc = vm_leaders_late_end(meet);

	for (int i = 0; i < talk->count && rc == -VMPI_EMISMATCH; i++)
		if (!talk->messages[i].receive &&
		    meet->talks[talk->messages[i].process].ahead)
			vm_req_cancel(talk->messages[i].req);
	return rc;
}

int vm_leaders_data_end(struct vm_leaders_data *talk)
{
	int rc = vm_leaders_wait(talk);

	free(talk->messages);
	talk->messages = NULL;
	talk->room = 0;
	return rc;
}
