/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T: event types and sources, registrations per rank, safety levels,
 * dropped events, freeing; the code of each error.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "mtap.h"

#define is_code(call, want, ...) all_ok((call) == (want), __VA_ARGS__)
#define JUNK ((void *)0x31415926)
#define TAG 77
#define ROUNDS 20

static int find(const char *name)
{
	int index = -1;

	return MPI_T_event_get_index(name, &index) ? -1 : index;
}

static void none_called(MPI_T_event_instance event,
			MPI_T_event_registration reg, MPI_T_cb_safety safety,
			void *user)
{
	(void)event;
	(void)reg;
	(void)safety;
	(void)user;
}

static void early(void)
{
	MPI_T_event_registration reg = JUNK;
	MPI_Count ticks;
	char text[8];
	MPI_Info info;
	int n, bad = 0;

#define EARLY(call) bad += (call) != MPI_T_ERR_NOT_INITIALIZED
	EARLY(MPI_T_event_get_num(&n));
	EARLY(MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
				   NULL, NULL, NULL, NULL));
	EARLY(MPI_T_event_get_index("vmpi.tune", &n));
	EARLY(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &reg));
	EARLY(MPI_T_event_handle_set_info(reg, MPI_INFO_NULL));
	EARLY(MPI_T_event_handle_get_info(reg, &info));
	EARLY(MPI_T_event_handle_free(reg, NULL, NULL));
	EARLY(MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_NONE,
					    MPI_INFO_NULL, NULL, none_called));
	EARLY(MPI_T_event_callback_set_info(reg, MPI_T_CB_REQUIRE_NONE,
					    MPI_INFO_NULL));
	EARLY(MPI_T_event_callback_get_info(reg, MPI_T_CB_REQUIRE_NONE, &info));
	EARLY(MPI_T_event_set_dropped_handler(reg, NULL));
	EARLY(MPI_T_event_read(NULL, 0, text));
	EARLY(MPI_T_event_copy(NULL, text));
	EARLY(MPI_T_event_get_timestamp(NULL, &ticks));
	EARLY(MPI_T_event_get_source(NULL, &n));
	EARLY(MPI_T_source_get_num(&n));
	EARLY(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
				    NULL));
	EARLY(MPI_T_source_get_timestamp(0, &ticks));
	all_ok(bad == 0, "before MPI_T_init_thread all fail with its code");
}

/* Tells whether the description of type `i` is as MPI requires. */
static bool type_right(int i)
{
	char name[64], again[64], item[64];
	MPI_Datatype types[8];
	MPI_Aint places[8], end = 0;
	int length = sizeof(name), half = 6, count = 8, items, size_of, one = 1;
	MPI_T_enum words;
	bool right = true;

	MPI_T_event_get_info(i, name, &length, NULL, types, places, &count,
			     &words, NULL, NULL, NULL, NULL);
	MPI_T_event_get_info(i, again, &half, NULL, NULL, NULL, &one, NULL,
			     NULL, NULL, NULL, NULL);
	right = find(name) == i && length == (int)strlen(name) + 1 &&
		half == length && one == count && strlen(again) == 5;
	MPI_T_enum_get_info(words, &items, NULL, NULL);
	for (int e = 0; e < count; e++) {
		MPI_Type_size(types[e], &size_of);
		right = right && places[e] == end;
		end += size_of;
		length = sizeof(item);
		right = right &&
			!MPI_T_enum_get_item(words, e, NULL, item, &length);
		right = right && item[0];
	}
	return right && items == count && end <= 64;
}

static void types(void)
{
	int count, right = 0;

	MPI_T_event_get_num(&count);
	for (int i = 0; i < count; i++)
		right += type_right(i);
	all_ok(count >= 11 && right == count,
	       "all types have names, elements and names for these");
}

static void sources(void)
{
	MPI_T_source_order order;
	MPI_Count rate, max, before, after;
	char name[64];
	int count, ordered = 0, right = 0;

	MPI_T_source_get_num(&count);
	for (int i = 0; i < count; i++) {
		int length = sizeof(name);

		right += !MPI_T_source_get_info(i, name, &length, NULL, NULL,
						&order, &rate, &max, NULL) &&
			 rate >= 1000000 && max > 0 && name[0];
		ordered += order == MPI_T_SOURCE_ORDERED;
	}
	all_ok(right == count && ordered == count - 3,
	       "sources: each worker is an ordered one");
	MPI_T_source_get_timestamp(0, &before);
	MPI_T_source_get_timestamp(count - 1, &after);
	all_ok(before > 0 && after >= before, "their time goes on");
}

/* All calls on a freed registration report that it is invalid. */
static void over(MPI_T_event_registration reg, const char *what)
{
	MPI_Info info = MPI_INFO_NULL;

	is_code(MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_NONE,
					      MPI_INFO_NULL, NULL, none_called),
		MPI_T_ERR_INVALID_HANDLE, "%s: a callback", what);
	is_code(MPI_T_event_callback_get_info(reg, MPI_T_CB_REQUIRE_NONE,
					      &info),
		MPI_T_ERR_INVALID_HANDLE, "%s: its information", what);
	is_code(MPI_T_event_callback_set_info(reg, MPI_T_CB_REQUIRE_NONE,
					      MPI_INFO_NULL),
		MPI_T_ERR_INVALID_HANDLE, "%s: other information", what);
	is_code(MPI_T_event_handle_get_info(reg, &info),
		MPI_T_ERR_INVALID_HANDLE, "%s: information", what);
	is_code(MPI_T_event_handle_set_info(reg, MPI_INFO_NULL),
		MPI_T_ERR_INVALID_HANDLE, "%s: setting it", what);
	is_code(MPI_T_event_set_dropped_handler(reg, NULL),
		MPI_T_ERR_INVALID_HANDLE, "%s: who hears of losses", what);
}

static void mistakes(void)
{
	MPI_Count time;
	char buffer[64];
	MPI_T_event_registration reg;
	int n, count;

	MPI_T_event_get_num(&count);
	is_code(MPI_T_event_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL,
				     NULL, NULL, NULL, NULL, NULL),
		MPI_T_ERR_INVALID_INDEX, "a type beyond");
	is_code(MPI_T_event_get_index("vmpi.none", &n), MPI_T_ERR_INVALID_NAME,
		"a name that is none");
	is_code(MPI_T_event_get_index(NULL, &n), MPI_T_ERR_INVALID, "no name");
	is_code(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &reg),
		MPI_T_ERR_INVALID_INDEX, "a registration for no type");
	is_code(MPI_T_source_get_timestamp(-1, NULL), MPI_T_ERR_INVALID_INDEX,
		"a source that is none");
	is_code(MPI_T_event_handle_free(JUNK, NULL, NULL),
		MPI_T_ERR_INVALID_HANDLE, "a handle that never was");
	is_code(MPI_T_event_read(NULL, 0, &n), MPI_T_ERR_INVALID_HANDLE,
		"no event");
	is_code(MPI_T_event_copy(NULL, buffer), MPI_T_ERR_INVALID_HANDLE,
		"no event to copy");
	is_code(MPI_T_event_get_source(NULL, &n), MPI_T_ERR_INVALID_HANDLE,
		"nor with a source");
	is_code(MPI_T_event_get_timestamp(NULL, &time),
		MPI_T_ERR_INVALID_HANDLE, "nor with a time");
	is_code(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL),
		MPI_T_ERR_INVALID, "nowhere for the registration");
	MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &reg);
	is_code(MPI_T_event_register_callback(reg, (MPI_T_cb_safety)2,
					      MPI_INFO_NULL, NULL, none_called),
		MPI_T_ERR_INVALID, "a level that is none");
	is_code(MPI_T_event_handle_free(reg, NULL, NULL), MPI_SUCCESS,
		"a registration ends");
	is_code(MPI_T_event_handle_free(reg, NULL, NULL),
		MPI_T_ERR_INVALID_HANDLE, "but only once");
	over(reg, "a registration that is over");
	over(NULL, "none");
	over(JUNK, "one that never was");
}

/* The events that a registration has received; callbacks of several threads add
 * to it. */
struct heard {
	atomic_int calls, foreign, sent, received, bytes, wrong, freed;
	atomic_llong dropped;
	int self;
};

static void count_call(MPI_T_event_instance event, MPI_T_event_registration reg,
		       MPI_T_cb_safety safety, void *user)
{
	struct heard *heard = user;
	int32_t who, whole[2];
	MPI_Count ticks = 0;
	int source = -1, flag;

	(void)reg;
	MPI_T_event_read(event, 0, &who);
	MPI_T_event_copy(event, whole);
	MPI_T_event_get_timestamp(event, &ticks);
	MPI_T_event_get_source(event, &source);
	heard->calls++;
	heard->foreign += who != heard->self || whole[0] != who;
	heard->wrong +=
		ticks <= 0 || source != 0 || safety != MPI_T_CB_REQUIRE_NONE ||
		MPI_T_event_read(event, 2, &who) != MPI_T_ERR_INVALID_INDEX;
	/* Anything may be done here; it is not reported. */
	MPI_Iprobe(MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &flag,
		   MPI_STATUS_IGNORE);
}

static void count_end(MPI_T_event_registration reg, MPI_T_cb_safety safety,
		      void *user)
{
	(void)reg;
	(void)safety;
	((struct heard *)user)->freed++;
}

static MPI_T_event_registration hear(const char *name, MPI_T_cb_safety safety,
				     MPI_T_event_cb_function fn, void *user)
{
	MPI_T_event_registration reg = NULL;

	MPI_T_event_handle_alloc(find(name), NULL, MPI_INFO_NULL, &reg);
	MPI_T_event_register_callback(reg, safety, MPI_INFO_NULL, user, fn);
	return reg;
}

/* A ring of messages: each rank sends ROUNDS, and receives as many. */
static void ring(void)
{
	static char out[20000], in[20000];

	for (int i = 0; i < ROUNDS; i++)
		MPI_Sendrecv(out, i % 2 ? 8 : 20000, MPI_BYTE,
			     (rank + 1) % size, TAG, in, 20000, MPI_BYTE,
			     (rank + size - 1) % size, TAG, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static void calls(void)
{
	struct heard heard = { .self = rank };
	MPI_T_event_registration reg = hear(
		"vmpi.call_enter", MPI_T_CB_REQUIRE_NONE, count_call, &heard);
	MPI_T_event_registration all = reg;
	int at_end;

	ring();
	at_end = heard.calls;
	MPI_T_event_handle_free(reg, &heard, count_end);
	ring();
	all_ok(at_end == ROUNDS, "each call is told once");
	all_ok(heard.foreign == 0, "none of another rank");
	all_ok(heard.wrong == 0, "with time, source and level");
	all_ok(heard.freed == 1 && heard.calls == at_end,
	       "after the end nothing is told");
	is_code(MPI_T_event_set_dropped_handler(all, NULL),
		MPI_T_ERR_INVALID_HANDLE, "the handle is over");
}

/* Elements 0 bytes, 2 rank, 4 tag, 5 side. */
static void count_xfer(MPI_T_event_instance event, MPI_T_event_registration reg,
		       MPI_T_cb_safety safety, void *user)
{
	struct heard *heard = user;
	int32_t who, tag, side;
	uint64_t bytes;

	(void)reg;
	MPI_T_event_read(event, 0, &bytes);
	MPI_T_event_read(event, 2, &who);
	MPI_T_event_read(event, 4, &tag);
	MPI_T_event_read(event, 5, &side);
	if (tag != TAG)
		return;
	heard->foreign += who != heard->self;
	heard->wrong += safety != MPI_T_CB_REQUIRE_THREAD_SAFE;
	heard->sent += side == 0;
	heard->received += side == 1;
	heard->bytes += (int)bytes;
}

static void transfers(void)
{
	static const char *const names[] = { "vmpi.xfer_begin",
					     "vmpi.xfer_end" };
	const int bytes = ROUNDS * 20008;

	for (int i = 0; i < 2; i++) {
		struct heard heard = { .self = rank };
		MPI_T_event_registration reg =
			hear(names[i], MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
			     count_xfer, &heard);

		MPI_Barrier(MPI_COMM_WORLD);
		ring();
		all_ok(heard.sent == ROUNDS, "%s: of each send", names[i]);
		all_ok(heard.received == ROUNDS, "of each receive");
		all_ok(heard.bytes == bytes, "with its bytes");
		all_ok(heard.foreign == 0 && heard.wrong == 0,
		       "only own ones, at the level of the place");
		MPI_T_event_handle_free(reg, &heard, count_end);
		all_ok(heard.freed == 1, "the end is told");
	}
}

static void count_drops(MPI_Count count, MPI_T_event_registration reg,
			int source, MPI_T_cb_safety safety, void *user)
{
	(void)reg;
	(void)source;
	(void)safety;
	((struct heard *)user)->dropped += count;
}

static void drops(void)
{
	struct heard heard = { .self = rank };
	MPI_T_event_registration reg = hear(
		"vmpi.xfer_end", MPI_T_CB_REQUIRE_NONE, count_xfer, &heard);

	MPI_T_event_set_dropped_handler(reg, count_drops);
	ring();
	all_ok(heard.sent == 0 && heard.dropped == 0,
	       "a callback that needs a safe place is not called in others");
	MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_THREAD_SAFE,
				      MPI_INFO_NULL, &heard, count_xfer);
	ring();
	all_ok(heard.dropped >= 2 * ROUNDS, "what was dropped is told later");
	all_ok(heard.sent == ROUNDS, "a stricter callback misses nothing");
	/* Left to MPI_T_finalize. */
}

/* Elements 0 bytes, 1 total, 2 pool. */
static void count_pool(MPI_T_event_instance event, MPI_T_event_registration reg,
		       MPI_T_cb_safety safety, void *user)
{
	struct heard *heard = user;
	uint64_t bytes = 0, total = 0;
	int32_t pool = -1;

	(void)reg;
	MPI_T_event_read(event, 0, &bytes);
	MPI_T_event_read(event, 1, &total);
	MPI_T_event_read(event, 2, &pool);
	heard->wrong += !bytes || bytes > total || pool != 0 ||
			safety != MPI_T_CB_REQUIRE_THREAD_SAFE;
	heard->calls++;
}

/* The sum over all ports; -1 on failure. */
static long long pool_grows(MPI_T_pvar_session session, MPI_T_pvar_handle grows,
			    int count)
{
	uint64_t values[64];
	long long sum = 0;

	if (count > 64 || MPI_T_pvar_read(session, grows, values))
		return -1;
	for (int i = 0; i < count; i++)
		sum += (long long)values[i];
	return sum;
}

/* Messages that are not received yet need packets, where they are packets. */
static void pools(void)
{
	enum { MESSAGES = 100 };
	static char out[MESSAGES][4000], in[4000];
	struct heard heard = { .self = rank };
	MPI_T_event_registration reg = hear("vmpi.pool_grow",
					    MPI_T_CB_REQUIRE_THREAD_SAFE,
					    count_pool, &heard);
	MPI_T_pvar_session session;
	MPI_T_pvar_handle grows;
	MPI_Request requests[MESSAGES];
	int index = -1, count = 0;
	long long before, after;

	MPI_T_pvar_session_create(&session);
	MPI_T_pvar_get_index("fabric_pool_grows", MPI_T_PVAR_CLASS_COUNTER,
			     &index);
	MPI_T_pvar_handle_alloc(session, index, NULL, &grows, &count);
	before = pool_grows(session, grows, count);
	for (int i = 0; i < MESSAGES; i++)
		MPI_Isend(out[i], 4000, MPI_BYTE, (rank + 1) % size, TAG + 2,
			  MPI_COMM_WORLD, &requests[i]);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < MESSAGES; i++)
		MPI_Recv(in, 4000, MPI_BYTE, (rank + size - 1) % size, TAG + 2,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
	after = pool_grows(session, grows, count);
	all_ok(before >= 0 && heard.calls >= after - before,
	       "all memory that pools take is told before it is counted");
	all_ok(heard.wrong == 0, "with its bytes, at the level of the place");
	MPI_T_event_handle_free(reg, &heard, count_end);
	MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv)
{
	int provided;

	mtap_init(&argc, &argv);
	early();
	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	types();
	sources();
	mistakes();
	calls();
	transfers();
	pools();
	drops();
	is_code(MPI_T_finalize(), MPI_SUCCESS, "finalised with one left");
	ring();
	return mtap_end();
}
