/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules about time in which cores had nothing to run, and about work in calls.
 *
 * Only idle cores count: a rank that waits while its core runs another one costs
 * nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/advice_rules.h"

#define WASTE_LEAST 150	     /* of 1000 of the busiest worker's time */
#define BOTTLENECK_LEAST 600 /* of 1000 of the time: it holds up the others */
#define GAIN_LEAST 100	     /* of 1000 of its time */

/* What of the busiest worker's time the average one did not run. */
static unsigned waste(const struct vm_advice_facts *facts)
{
	uint64_t mean = facts->workers ? facts->run_ns / facts->workers : 0;

	if (!facts->busiest_ns ||
	    vm_advice_permille(facts->busiest_ns, facts->wall_ns) <
		    BOTTLENECK_LEAST)
		return 0;
	return 1000 - vm_advice_permille(mean, facts->busiest_ns);
}

/* What of it would be gained by placing ranks otherwise. */
static unsigned gain(const struct vm_advice_facts *facts)
{
	return facts->moments_ns ?
		       1000 - vm_advice_permille(facts->placed_ns,
						 facts->moments_ns) :
		       0;
}

unsigned vm_advice_rule_balance(char *text, const struct vm_advice_facts *facts)
{
	/* A worker with one rank has nothing to give. */
	if (waste(facts) < WASTE_LEAST || facts->balance ||
	    facts->ranks < 2 * facts->workers || gain(facts) < GAIN_LEAST)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "the busiest worker ran ranks for %.1f s, the average worker "
		 "for %.1f s; ranks placed by what they did a moment before "
		 "would take " PERCENT " less: %s",
		 (double)facts->busiest_ns / 1e9,
		 (double)facts->run_ns / (double)facts->workers / 1e9,
		 IN_PERCENT(gain(facts)),
		 facts->tied ?
			 "these ranks cannot move: --balance=learn, then --map "
			 "with the file that it writes" :
			 "--balance=auto");
	return gain(facts);
}

#define HEAVY_LEAST 700 /* of 1000 of the busiest worker's time */

/* No placement helps. */
unsigned vm_advice_rule_heavy(char *text, const struct vm_advice_facts *facts)
{
	uint64_t mean = facts->ranks ? facts->run_ns / facts->ranks : 0;

	if (waste(facts) < WASTE_LEAST || facts->workers < 2 ||
	    vm_advice_permille(facts->heaviest.run_ns, facts->busiest_ns) <
		    HEAVY_LEAST ||
	    facts->heaviest.run_ns < 2 * mean)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "rank %" PRIu64 " ran for %.1f s of %.1f s, the average rank "
		 "for %.1f s, which no placement of ranks evens out: give it "
		 "less to do, or divide its work",
		 facts->heaviest.rank, (double)facts->heaviest.run_ns / 1e9,
		 (double)facts->wall_ns / 1e9, (double)mean / 1e9);
	return waste(facts);
}

#define CORES_IDLE_LEAST 150 /* of 1000 */

/* Whether waits that no rank used are worth a sentence. */
static bool cores_idle(const struct vm_advice_facts *facts)
{
	return vm_advice_idle(facts) >= CORES_IDLE_LEAST &&
	       facts->workers > 1 && facts->idle_ns;
}

/* "MPI_Recv at heat.c:31" */
static const char *site_text(char *text, size_t room,
			     const struct vm_advice_site *site)
{
	snprintf(text, room, "%s%s%s", site->name, site->place[0] ? " at " : "",
		 site->place);
	return text;
}

#define SITE_BYTES (VM_ADVICE_CALL_NAME + VM_ADVICE_PLACE + 8)

/* What is known of idle times in messages, of all places. */
struct waiting {
	/* Where most is, or NULL: in receives, in sends, in any call. */
	const struct vm_advice_site *receives, *sends, *most;
	uint64_t receives_ns, sends_ns, all_ns;
	int64_t peer; /* of most of the receives; -1: of no one */
	uint64_t peer_ns;
};

/* Whoever is more than half of all is left in the end. */
static void waiting_peer(struct waiting *waiting,
			 const struct vm_advice_site *site)
{
	if (site->peer == waiting->peer) {
		waiting->peer_ns += site->idle_peer_ns;
	} else if (waiting->peer_ns >= site->idle_peer_ns) {
		waiting->peer_ns -= site->idle_peer_ns;
	} else {
		waiting->peer_ns = site->idle_peer_ns - waiting->peer_ns;
		waiting->peer = site->peer;
	}
}

static struct waiting waiting_of(const struct vm_advice_facts *facts)
{
	struct waiting waiting = { .peer = -1 };
	uint64_t most_receives = 0, most_sends = 0;

	for (int i = 0; i < VM_ADVICE_SITES && facts->sites[i].name[0]; i++) {
		const struct vm_advice_site *site = &facts->sites[i];
		uint64_t sends = site->idle_sends_ns;
		uint64_t receives = site->idle_ns - sends;

		waiting.all_ns += site->idle_ns;
		if (site->idle_ns &&
		    (!waiting.most || site->idle_ns > waiting.most->idle_ns))
			waiting.most = site;
		if (vm_advice_is_collective(site->name))
			continue;
		waiting.receives_ns += receives;
		waiting.sends_ns += sends;
		if (receives > most_receives) {
			most_receives = receives;
			waiting.receives = site;
		}
		if (sends > most_sends) {
			most_sends = sends;
			waiting.sends = site;
		}
		if (receives > sends)
			waiting_peer(&waiting, site);
	}
	return waiting;
}

#define ONE_CORE_MOST 1300   /* of 1000: run time of all by the time */
#define SERIAL_BUSY_MOST 800 /* of 1000: of the time, of the busiest worker */
#define MESSAGES_LEAST 500   /* of 1000 of the idle time in calls */
#define CHAIN_LEAST 200	     /* the same, to name the receive */

/* All together ran no more than one core can, and none all the time. */
static bool is_serial(const struct vm_advice_facts *facts)
{
	return facts->workers > 1 && facts->ranks > 2 &&
	       facts->run_ns < facts->wall_ns / 1000 * ONE_CORE_MOST &&
	       vm_advice_permille(facts->busiest_ns, facts->wall_ns) <
		       SERIAL_BUSY_MOST &&
	       vm_advice_permille(facts->run_ns, facts->wall_ns) >
		       MESSAGES_LEAST;
}

unsigned vm_advice_rule_serial(char *text, const struct vm_advice_facts *facts)
{
	struct waiting waiting = waiting_of(facts);
	bool chain = waiting.receives &&
		     vm_advice_permille(waiting.receives_ns, waiting.all_ns) >=
			     CHAIN_LEAST;
	char site[SITE_BYTES];

	if (!cores_idle(facts) || !is_serial(facts) || !waiting.most)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "of %" PRIu64 " cores one worked at a time (%.1f s of work in "
		 "%.1f s): ranks wait for each other one after the other, most "
		 "in %s: let them begin before the one before them has ended, "
		 "or divide the work into smaller pieces",
		 facts->workers, (double)facts->run_ns / 1e9,
		 (double)facts->wall_ns / 1e9,
		 site_text(site, sizeof(site),
			   chain ? waiting.receives : waiting.most));
	return vm_advice_idle(facts);
}

#define PEER_LEAST 300 /* of 1000, less what was for others */

unsigned vm_advice_rule_sender(char *text, const struct vm_advice_facts *facts)
{
	struct waiting waiting = waiting_of(facts);
	char site[SITE_BYTES], peer[48] = "";

	if (!cores_idle(facts) || is_serial(facts) || !waiting.receives ||
	    vm_advice_permille(waiting.receives_ns, waiting.all_ns) <
		    MESSAGES_LEAST)
		return 0;
	if (waiting.peer >= 0 &&
	    vm_advice_permille(waiting.peer_ns, waiting.receives_ns) >=
		    PEER_LEAST)
		snprintf(peer, sizeof(peer), ", mostly of rank %" PRId64,
			 waiting.peer);
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "cores were idle " PERCENT " of the time, most in %s, where "
		 "ranks waited for messages that were sent late%s: send them "
		 "before other work, or do other work before the receive "
		 "(MPI_Irecv)",
		 IN_PERCENT(vm_advice_idle(facts)),
		 site_text(site, sizeof(site), waiting.receives), peer);
	return vm_advice_idle(facts);
}

unsigned vm_advice_rule_receiver(char *text,
				 const struct vm_advice_facts *facts)
{
	struct waiting waiting = waiting_of(facts);
	char site[SITE_BYTES], peer[48] = "";

	if (!cores_idle(facts) || !waiting.sends ||
	    vm_advice_permille(waiting.sends_ns, waiting.all_ns) <
		    MESSAGES_LEAST)
		return 0;
	if (waiting.sends->peer >= 0 &&
	    vm_advice_permille(waiting.sends->idle_peer_ns,
			       waiting.sends->idle_ns) >= PEER_LEAST)
		snprintf(peer, sizeof(peer), ", mostly rank %" PRId64,
			 waiting.sends->peer);
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "cores were idle " PERCENT " of the time, most in %s, where "
		 "senders waited for their receivers%s: post receives earlier "
		 "(MPI_Irecv)",
		 IN_PERCENT(vm_advice_idle(facts)),
		 site_text(site, sizeof(site), waiting.sends), peer);
	return vm_advice_idle(facts);
}

#define SMALL_MOST 1024	     /* bytes */
#define SMALL_LEAST 100000   /* messages in a second of run time */
#define SMALL_WORK_LEAST 200 /* of 1000 of the run time */

/* The place with most time that sends. */
static const struct vm_advice_site *
sends_most(const struct vm_advice_facts *facts)
{
	const struct vm_advice_site *most = NULL;

	for (int i = 0; i < VM_ADVICE_SITES && facts->sites[i].name[0]; i++) {
		const struct vm_advice_site *site = &facts->sites[i];

		if (strcasestr(site->name, "send") &&
		    (!most || site->count > most->count))
			most = site;
	}
	return most;
}

unsigned vm_advice_rule_small(char *text, const struct vm_advice_facts *facts)
{
	uint64_t mean = facts->sends ? facts->sent_bytes / facts->sends : 0;
	unsigned work = vm_advice_permille(facts->work_ns, facts->run_ns);
	const struct vm_advice_site *site = sends_most(facts);
	char from[SITE_BYTES + 16] = "", at[SITE_BYTES];

	if (!facts->sends || mean > SMALL_MOST || work < SMALL_WORK_LEAST ||
	    (double)facts->sends * 1e9 < SMALL_LEAST * (double)facts->run_ns)
		return 0;
	if (site)
		snprintf(from, sizeof(from), " (most from %s)",
			 site_text(at, sizeof(at), site));
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%" PRIu64 " messages of %" PRIu64
		 " bytes on average%s: calls took " PERCENT
		 " of the time for which ranks ran: send fewer, longer ones",
		 facts->sends, mean, from, IN_PERCENT(work));
	return work;
}
