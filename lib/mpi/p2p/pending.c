/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Report of incomplete operations in MPI_Finalize.
 *
 * A rank must have completed its operations and received all messages sent to
 * it (MPI 4.1, 11.2.2).  Programs that have not still work, so these are
 * warnings.  Only operations on existing communicators are reported; channels
 * of vmpi.h are not.
 */
#include "mpi/p2p/pending.h"

#include <stdio.h>

#include "base/log.h"
#include "core/local/mailbox.h"
#include "core/meeting/meet.h"
#include "core/rank/state.h"
#include "mpi/coll/coll.h"
#include "mpi/call/vars.h"
#include "mpi/comm/comm.h"

#define SHOWN_MAX 3 /* operations reported of each kind */

/* Operations of one kind: how many, and the first ones in words. */
struct kind {
	unsigned count;
	size_t length;
	char text[400];
};

struct pending {
	struct vm_mpi *mpi;
	struct kind receives, messages, collectives;
};

/* Adds an operation, described by `what`. */
static void kind_add(struct kind *kind, const char *what)
{
	int n;

	if (kind->count++ >= SHOWN_MAX)
		return;
	n = snprintf(kind->text + kind->length,
		     sizeof(kind->text) - kind->length, "%s%s",
		     kind->count > 1 ? "; " : "", what);
	kind->length += (size_t)n;
	if (kind->length >= sizeof(kind->text))
		kind->length = sizeof(kind->text) - 1;
}

static void kind_log(const struct vm_mpi *mpi, const struct kind *kind,
		     const char *one, const char *many, const char *how)
{
	char more[32] = "";

	if (!kind->count)
		return;
	if (kind->count > SHOWN_MAX)
		snprintf(more, sizeof(more), "; and %u more",
			 kind->count - SHOWN_MAX);
	vm_log(VM_WARN, "rank %d: MPI_Finalize with %u %s %s (%s%s)",
	       mpi->rank->index, kind->count, kind->count == 1 ? one : many,
	       how, kind->text, more);
}

/* "source 1, tag 7 on halo"; false: it is none of MPI's. */
static bool env_text(struct pending *pending, const struct vm_env *env,
		     char *text, size_t size)
{
	const struct vm_comm *comm =
		vm_comm_of_context(pending->mpi, env->context);
	char source[24] = "any source", tag[24] = "any tag";

	/* Those of collectives have the odd contexts. */
	if (!comm || env->context != comm->context)
		return false;
	if (env->source != VM_ANY)
		snprintf(source, sizeof(source), "source %d", env->source);
	if (env->tag != VM_ANY)
		snprintf(tag, sizeof(tag), "tag %d", env->tag);
	snprintf(text, size, "%s, %s on %s", source, tag,
		 vm_comm_text(pending->mpi, comm));
	return true;
}

static void visit_posted(struct vm_match_node *node, void *arg)
{
	struct pending *pending = arg;
	char text[MPI_MAX_OBJECT_NAME + 64];

	if (env_text(pending, &node->env, text, sizeof(text)))
		kind_add(&pending->receives, text);
}

static void visit_arrived(struct vm_match_node *node, void *arg)
{
	const struct vm_msg *msg = vm_container_of(node, struct vm_msg, node);
	struct pending *pending = arg;
	char text[MPI_MAX_OBJECT_NAME + 64], all[sizeof(text) + 32];

	if (!env_text(pending, &node->env, text, sizeof(text)))
		return;
	snprintf(all, sizeof(all), "%zu bytes from %s", msg->bytes, text);
	kind_add(&pending->messages, all);
}

struct visit_comm {
	struct pending *pending;
	const struct vm_comm *comm;
};

static void visit_started(void *args, void *arg)
{
	const struct vm_coll *coll = args;
	const struct visit_comm *visit = arg;
	char text[MPI_MAX_OBJECT_NAME + 64];

	snprintf(text, sizeof(text), "%s on %s", vm_call_name(coll->id),
		 vm_comm_text(visit->pending->mpi, visit->comm));
	kind_add(&visit->pending->collectives, text);
}

/* Adds collectives on a communicator that this rank has started and another one
 * has not. */
static void visit_comm(struct pending *pending, const struct vm_comm *comm)
{
	/* Else it is an incomplete duplicate. */
	if (comm->chan)
		vm_meet_started_each(comm->chan, visit_started,
				     &(struct visit_comm){ pending, comm });
}

static void visit_comms(struct pending *pending)
{
	struct vm_mpi *mpi = pending->mpi;
	struct vm_list *link;

	visit_comm(pending, &mpi->world);
	visit_comm(pending, &mpi->self);
	/* No communicators are made or freed any more. */
	vm_list_each(link, &mpi->alive[VM_OBJECT_COMM])
		visit_comm(pending,
			   vm_container_of(link, struct vm_comm, object.link));
}

/* Tells whether this rank may still report; the last one notes that others
 * remain. */
static bool may_report(void)
{
	unsigned limit = (unsigned)mpi_cvar.finalize_reports;
	unsigned before = atomic_fetch_add_explicit(&vm_node->reports, 1,
						    memory_order_relaxed);

	if (before == limit && limit > 0)
		vm_log(VM_WARN,
		       "MPI_Finalize: further ranks have operations "
		       "that are not completed (mpi_finalize_reports)");
	return before < limit;
}

void vm_pending_report(struct vm_mpi *mpi)
{
	struct pending pending = { .mpi = mpi };

	vm_mailbox_each(mpi->rank, visit_posted, visit_arrived, &pending);
	visit_comms(&pending);
	if (!pending.receives.count && !pending.messages.count &&
	    !pending.collectives.count)
		return;
	if (!may_report())
		return;
	kind_log(mpi, &pending.receives, "receive", "receives",
		 "not completed");
	kind_log(mpi, &pending.messages, "message", "messages",
		 "never received");
	kind_log(mpi, &pending.collectives, "nonblocking collective",
		 "nonblocking collectives", "not completed");
}
