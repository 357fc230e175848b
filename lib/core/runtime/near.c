/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each receive and probe that waits is compared with each message that was not
 * expected: of their context, source and tag two are equal.
 */
#include "core/runtime/near.h"

#include <stdbool.h>
#include <stdio.h>

#include "core/instrument/intercept.h"
#include "core/local/engine.h"
#include "core/local/msg.h"
#include "core/local/req.h"
#include "core/rank/state.h"

#define COMPARED_MAX 100000 /* pairs of a process */

/* The comparison under way. */
struct near {
	const struct vm_rank *rank;
	vm_near_line line;
	void *arg;
	unsigned lines, compared;
};

static const char *tag_text(char text[24], int32_t tag)
{
	if (tag == VM_ANY)
		return "any tag";
	snprintf(text, 24, "tag %d", (int)tag);
	return text;
}

/* "rank 1", or, where it has another number in the world, "rank 1 of
 * communicator 4". */
static const char *source_text(char text[48], const struct vm_env *env)
{
	uint32_t context = env->context & ~1u;

	if (env->source == VM_ANY)
		return "any rank";
	if (context)
		snprintf(text, 48, "rank %d of communicator %u",
			 (int)env->source, context);
	else
		snprintf(text, 48, "rank %d", (int)env->source);
	return text;
}

/* One message against one wait. */
static void pair_compare(struct near *near, const struct vm_env *wanted,
			 const struct vm_msg *msg)
{
	const struct vm_env *env = &msg->node.env;
	bool source = wanted->source == VM_ANY || wanted->source == env->source;
	bool tag = wanted->tag == VM_ANY || wanted->tag == env->tag;
	bool context = wanted->context == env->context;
	char text[VM_NEAR_TEXT_MAX], want[24], has[24], from[48], whose[48];

	near->compared++;
	/* Collectives' own messages are odd. */
	if ((env->context & 1) || near->lines >= VM_NEAR_LINES_MAX ||
	    source + tag + context != 2)
		return;
	if (!tag)
		snprintf(text, sizeof(text),
			 "rank %d waits for %s of %s, whose message of %zu "
			 "bytes has %s",
			 near->rank->index, tag_text(want, wanted->tag),
			 source_text(from, wanted), msg->bytes,
			 tag_text(has, env->tag));
	else if (!source)
		snprintf(text, sizeof(text),
			 "rank %d waits for %s of %s, but the message of %zu "
			 "bytes with %s is of %s",
			 near->rank->index, tag_text(want, wanted->tag),
			 source_text(from, wanted), msg->bytes,
			 tag_text(has, env->tag), source_text(whose, env));
	else
		snprintf(text, sizeof(text),
			 "rank %d waits for %s in communicator %u, but the "
			 "message of %zu bytes with %s is of communicator %u",
			 near->rank->index, tag_text(want, wanted->tag),
			 wanted->context & ~1u, msg->bytes,
			 tag_text(has, env->tag), env->context);
	near->lines++;
	near->line(text, near->arg);
}

static void wait_compare(struct near *near, const struct vm_env *wanted)
{
	struct vm_list *link;

	if (wanted->context & 1)
		return;
	vm_list_each(link, &near->rank->match.order) {
		const struct vm_match_node *node = vm_container_of(
			link, const struct vm_match_node, order);

		if (near->compared >= COMPARED_MAX)
			return;
		pair_compare(near, wanted,
			     vm_container_of(node, const struct vm_msg, node));
	}
}

static void posted_visit(struct vm_match_node *node, void *arg)
{
	wait_compare(arg, &node->env);
}

void vm_near_say(vm_near_line line, void *arg)
{
	struct near near = { .line = line, .arg = arg };

	for (int i = 0; i < vm_own_count(); i++) {
		struct vm_rank *rank = vm_node->own[i];
		struct vm_list *link;

		near.rank = rank;
		/* As any thread may that is no worker's. */
		vm_engine_lock_slow(rank->engine);
		vm_match_each(&rank->match.posted, posted_visit, &near);
		vm_list_each(link, &rank->probers)
			wait_compare(&near,
				     &vm_container_of(link, struct vm_prober,
						      link)
					      ->env);
		vm_lock_give(&rank->engine->lock);
	}
}

/* "receive from rank 2, tag 3, communicator 0" */
static void operation_text(char *text, size_t bytes, const struct vm_req *req)
{
	const struct vm_env *env = &req->node.env;
	char tag[24], from[48];

	if (req->kind == VM_REQ_RECV)
		snprintf(text, bytes, "a receive from %s, %s, communicator %u",
			 source_text(from, env), tag_text(tag, env->tag),
			 env->context & ~1u);
	else if (req->kind == VM_REQ_SEND && req->rank)
		snprintf(text, bytes, "a send to rank %d, %s, %zu bytes",
			 req->rank->index, tag_text(tag, req->status.tag),
			 req->data.bytes);
	else if (req->kind == VM_REQ_COLL)
		snprintf(text, bytes, "%s of communicator %u",
			 vm_intercept_call_name((uint32_t)env->tag),
			 env->context & ~1u);
	else
		snprintf(text, bytes, "a generalized request");
}

#define OPERATIONS_MAX 4 /* of a rank */

void vm_near_several_say(vm_near_line line, void *arg)
{
	unsigned lines = 0;

	for (int i = 0; i < vm_own_count(); i++) {
		const struct vm_rank *rank = vm_node->own[i];
		const struct vm_several *several = &rank->several;
		char text[VM_NEAR_TEXT_MAX], operation[200];
		int shown = 0;

		for (int k = 0; k < several->count && shown < OPERATIONS_MAX &&
				lines < VM_NEAR_LINES_MAX;
		     k++) {
			const struct vm_req *req = several->reqs[k];

			if (vm_req_is_null(req) || !req->active ||
			    vm_req_is_done(req))
				continue;
			operation_text(operation, sizeof(operation), req);
			snprintf(text, sizeof(text),
				 "rank %d waits for one of several: %s",
				 rank->index, operation);
			line(text, arg);
			shown++;
			lines++;
		}
	}
}

/* The wait of a rank in a line. */
static void wait_say(const struct vm_rank *rank, vm_near_line line, void *arg)
{
	const struct vm_export_wait *wait = &rank->wait;
	const char *call = wait->call ? vm_intercept_call_name(wait->call) :
					"a call";
	struct vm_env env = { .source = wait->peer, .tag = wait->tag };
	char text[VM_NEAR_TEXT_MAX], tag[24], from[48];

	if (!(wait->flags & VM_EXPORT_OF_WORLD))
		env.context = wait->context;
	if (wait->peer == VM_EXPORT_NOBODY || (wait->flags & VM_EXPORT_ALL))
		snprintf(text, sizeof(text),
			 "rank %d waits in %s, communicator %u", rank->index,
			 call, wait->context);
	else
		snprintf(text, sizeof(text),
			 "rank %d waits in %s for %s, %s, communicator %u",
			 rank->index, call, source_text(from, &env),
			 tag_text(tag, wait->tag), wait->context);
	line(text, arg);
}

void vm_near_waits_say(vm_near_line line, void *arg)
{
	unsigned lines = 0;

	for (int i = 0; i < vm_own_count() && lines < VM_NEAR_LINES_MAX; i++) {
		uint64_t state = vm_node->own[i]->pvars.state;

		if (state < VM_EXPORT_RECEIVE || state > VM_EXPORT_COLLECTIVE)
			continue;
		lines++;
		wait_say(vm_node->own[i], line, arg);
	}
}
