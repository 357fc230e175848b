/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One interface over the backends.  Opening exchanges one host card per
 * process, so that every process knows of every other what boot.h promises, and
 * mistakes of starting show before any rank runs.
 */
#include "boot/boot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/err.h"
#include "base/log.h"
#include "boot/backend.h"
#include "boot/host_card.h"
#include "boot/map.h"
#include "boot/peer_events.h"
#include "boot/place.h"

#define CARD_NAME "card"

struct vm_boot_private {
	const struct vm_boot_backend *backend;
	void *state;
	int *first;	   /* [processes + 1], vm_place_fill() */
	struct vm_map map; /* of a job with a placement */
	struct vm_peer_events events;
	bool watched;
};

/* In the order they are asked.  PMIx before PMI: Slurm may offer both. */
static const struct vm_boot_backend *const backends[] = {
#ifdef VM_HAVE_PMIX
	&vm_boot_pmix,
#endif
	&vm_boot_pmi,
	&vm_boot_refused,
	&vm_boot_alone,
};

const char *const vm_boot_variables[] = {
	"PMI_FD",
	"PMI_RANK",
	"PMI_SIZE",
	"PMI_PORT",
	"PMI_ID",
	"PMIX_NAMESPACE",
	"PMIX_RANK",
	"PMIX_SERVER_URI2",
	"PMIX_SERVER_URI3",
	"PMIX_SERVER_URI4",
	"PMIX_SERVER_URI41",
	NULL,
};

void vm_boot_clear_env(void)
{
	for (int i = 0; vm_boot_variables[i]; i++)
		unsetenv(vm_boot_variables[i]);
}

static const struct vm_boot_backend *backend_find(void)
{
	size_t i = 0;

	while (!backends[i]->present())
		i++;
	return backends[i];
}

static int no_memory(void)
{
	vm_log(VM_ERROR, "out of memory for the processes of the job");
	return -VMPI_ENOMEM;
}

/* The number of ranks of a job of so many processes, or negative. */
static int ranks_of(const struct vm_job *job, int processes)
{
	if (processes == 1 && job->nodes == 1)
		return job->ranks;
	if (!vm_job_present())
		return processes;
	if (job->nodes == processes)
		return job->ranks;
	vm_log(VM_ERROR,
	       "the job is of %d node processes (VMPI_JOB_NODES), but the "
	       "launcher has started %d",
	       job->nodes, processes);
	return -VMPI_EINVAL;
}

static int blocks_refuse(const struct vm_job *job, int processes, int ranks)
{
	if (job->blocks)
		vm_log(VM_ERROR,
		       "VMPI_JOB_BLOCKS=%s: %d numbers from 1 with the sum %d "
		       "are needed, with commas between",
		       job->blocks, processes, ranks);
	else
		vm_log(VM_ERROR,
		       "%d ranks are too few for %d node processes: each has at "
		       "least one",
		       ranks, processes);
	return -VMPI_EINVAL;
}

/* Allocates *first and fills in the blocks of ranks. */
static int first_make(int **first, const struct vm_job *job, int processes,
		      int ranks)
{
	*first = calloc((size_t)processes + 1, sizeof(**first));
	if (!*first)
		return no_memory();
	if (!vm_place_fill(*first, processes, ranks, job->blocks))
		return 0;
	free(*first);
	*first = NULL;
	return blocks_refuse(job, processes, ranks);
}

/* Reads the placement, if there is one. */
static int map_make(struct vm_boot *boot, const struct vm_job *job)
{
	struct vm_boot_private *private = boot->private;
	int rc;

	if (!job->map)
		return 0;
	rc = vm_map_read(&private->map, job->map, private->first,
			 boot->processes);
	if (rc == -VMPI_EINVAL)
		vm_log(VM_ERROR,
		       "VMPI_JOB_MAP: \"cyclic\", or NODE[:WORKER][xCOUNT] with "
		       "commas between is needed, with a place for each of %d "
		       "ranks; vmpirun makes it of --map",
		       boot->ranks);
	if (rc)
		return rc == -VMPI_EINVAL ? rc : no_memory();
	boot->numbers = calloc((size_t)boot->ranks, sizeof(*boot->numbers));
	boot->workers = calloc((size_t)boot->ranks, sizeof(*boot->workers));
	if (!boot->numbers || !boot->workers)
		return no_memory();
	vm_map_numbers(&private->map, private->first, boot->processes,
		       boot->numbers);
	for (int i = 0; i < boot->ranks; i++)
		boot->workers[i] = private->map.worker[boot->numbers[i]];
	return 0;
}

int vm_boot_ranks_here(const struct vm_job *job)
{
	const struct vm_boot_backend *backend = backend_find();
	int process = backend->process();
	int *first;
	int rc;

	if (process < 0)
		return process;
	if (backend == &vm_boot_alone && job->nodes == 1)
		return job->ranks;
	/* Each process of another launcher's job is a rank. */
	if (!vm_job_present())
		return 1;
	if (process >= job->nodes)
		return ranks_of(job, process + 1);
	rc = first_make(&first, job, job->nodes, job->ranks);
	if (rc)
		return rc;
	rc = first[process + 1] - first[process];
	free(first);
	return rc;
}

static bool key_read(uint8_t *key, const char *text)
{
	for (int i = 0; i < VM_BOOT_KEY_BYTES; i++) {
		unsigned byte;
		char end;

		if (strspn(text, "0123456789abcdefABCDEF") < 2)
			return false;
		if (sscanf((const char[]){ text[0], text[1], 0 }, "%x%c", &byte,
			   &end) != 1)
			return false;
		key[i] = (uint8_t)byte;
		text += 2;
	}
	return !*text;
}

/* The key of the job: given by vmpirun, or made by process 0. */
static int key_make(struct vm_boot *boot, const struct vm_job *job,
		    struct vm_host_card *card)
{
	if (boot->processes == 1)
		return 0;
	if (job->key) {
		if (key_read(boot->key, job->key))
			return 0;
		vm_log(VM_ERROR, "VMPI_JOB_KEY: 32 hexadecimal digits are "
				 "needed; vmpirun sets it");
		return -VMPI_EINVAL;
	}
	if (boot->process == 0 && getrandom(card->key, sizeof(card->key), 0) !=
					  (ssize_t)sizeof(card->key)) {
		vm_log(VM_ERROR, "getrandom: %s", strerror(errno));
		return -VMPI_EIO;
	}
	return 0;
}

static int card_get(struct vm_boot *boot, struct vm_host_card *card,
		    const struct vm_host_card *own, int process)
{
	size_t length = 0;
	const char *wrong = "is not from this version of vmpi";
	int rc = vm_boot_get(boot, card, &length, sizeof(*card), process,
			     CARD_NAME);

	if (rc && rc != -VMPI_ENOENT && rc != -VMPI_ELIMIT)
		return rc;
	if (!rc && length == sizeof(*card))
		wrong = vm_host_card_wrong(card, own);
	if (!wrong)
		return 0;
	vm_log(VM_ERROR, "process %d of the job %s", process, wrong);
	return -VMPI_EINVAL;
}

/* Numbers the hosts in the order of their first process. */
static void host_number(struct vm_boot *boot, const struct vm_host_card *cards,
			int process)
{
	for (int i = 0; i < process; i++)
		if (vm_host_card_same_host(&cards[i], &cards[process])) {
			boot->peers[process].host = boot->peers[i].host;
			return;
		}
	boot->peers[process].host = boot->hosts++;
}

static void cards_use(struct vm_boot *boot, const struct vm_host_card *cards)
{
	const struct vm_host_card *own = &cards[boot->process];

	for (int i = 0; i < boot->processes; i++) {
		struct vm_boot_peer *peer = &boot->peers[i];

		peer->rank_first = boot->private->first[i];
		peer->rank_count =
			boot->private->first[i + 1] - boot->private->first[i];
		memcpy(peer->host_name, cards[i].host_name,
		       sizeof(peer->host_name));
		host_number(boot, cards, i);
		if (i != boot->process &&
		    !vm_host_card_same_cores(&cards[i], own))
			continue;
		boot->share += i < boot->process;
		boot->shares++;
	}
	boot->rank_first = boot->peers[boot->process].rank_first;
	boot->rank_count = boot->peers[boot->process].rank_count;
}

static bool key_is_zero(const uint8_t *key)
{
	static const uint8_t zero[VM_BOOT_KEY_BYTES];

	return !memcmp(key, zero, sizeof(zero));
}

/* Sends our host card to the others and reads theirs. */
static int cards_exchange(struct vm_boot *boot, const struct vm_job *job)
{
	size_t count = (size_t)boot->processes;
	struct vm_host_card *cards = calloc(count, sizeof(*cards));
	struct vm_host_card own;
	int rc;

	boot->peers = calloc(count, sizeof(*boot->peers));
	if (!cards || !boot->peers) {
		free(cards);
		return no_memory();
	}
	vm_host_card_fill(&own, boot->processes, boot->ranks, job->blocks,
			  job->map);
	rc = key_make(boot, job, &own);
	if (!rc)
		rc = vm_boot_put(boot, CARD_NAME, &own, sizeof(own));
	if (!rc)
		rc = vm_boot_fence(boot);
	for (int i = 0; !rc && i < boot->processes; i++)
		rc = card_get(boot, &cards[i], &own, i);
	if (!rc && key_is_zero(boot->key))
		memcpy(boot->key, cards[0].key, sizeof(boot->key));
	if (!rc)
		cards_use(boot, cards);
	free(cards);
	return rc;
}

static struct vm_boot *boot_new(void)
{
	struct vm_boot *boot = calloc(1, sizeof(*boot));
	struct vm_boot_private *private = calloc(1, sizeof(*private));

	if (!boot || !private) {
		free(boot);
		free(private);
		no_memory();
		return NULL;
	}
	boot->private = private;
	return boot;
}

static void boot_free(struct vm_boot *boot)
{
	free(boot->private->first);
	vm_map_fini(&boot->private->map);
	free(boot->numbers);
	free(boot->workers);
	free(boot->private);
	free(boot->peers);
	free(boot);
}

int vm_boot_open(struct vm_boot **result, const struct vm_job *job)
{
	struct vm_boot *boot = boot_new();
	struct vm_boot_private *private;
	int rc;

	if (!boot)
		return -VMPI_ENOMEM;
	private = boot->private;
	private->backend = backend_find();
	boot->backend = private->backend->name;
	rc = vm_peer_events_init(&private->events);
	if (rc) {
		boot_free(boot);
		return rc;
	}
	snprintf(boot->id, sizeof(boot->id), "%s", job->id ? job->id : "");
	rc = private->backend->open(&private->state, boot, &private->events);
	if (rc) {
		vm_peer_events_fini(&private->events);
		boot_free(boot);
		return rc;
	}
	boot->ranks = ranks_of(job, boot->processes);
	rc = boot->ranks < 0 ? boot->ranks :
			       first_make(&private->first, job, boot->processes,
					  boot->ranks);
	if (!rc)
		rc = map_make(boot, job);
	if (!rc)
		rc = cards_exchange(boot, job);
	if (rc) {
		vm_boot_close(boot);
		return rc;
	}
	vm_boot_clear_env();
	*result = boot;
	return 0;
}

void vm_boot_close(struct vm_boot *boot)
{
	struct vm_boot_private *private;

	if (!boot)
		return;
	private = boot->private;
	vm_peer_events_stop(&private->events);
	private->backend->close(private->state);
	vm_peer_events_fini(&private->events);
	boot_free(boot);
}

int vm_boot_process_of(const struct vm_boot *boot, int rank)
{
	VM_ASSERT(rank >= 0 && rank < boot->ranks);
	if (boot->private->map.node)
		return boot->private->map.node[rank];
	return vm_place_process(boot->private->first, boot->processes, rank);
}

static int name_check(const char *name)
{
	size_t length = strlen(name);

	if (length > 0 && length <= VM_BOOT_NAME_MAX &&
	    strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			 "0123456789._-") == length)
		return 0;
	vm_log(VM_ERROR, "'%s' is not the name of a blob of the job", name);
	return -VMPI_EINVAL;
}

int vm_boot_put(struct vm_boot *boot, const char *name, const void *bytes,
		size_t length)
{
	if (name_check(name))
		return -VMPI_EINVAL;
	if (length > VM_BOOT_BLOB_MAX) {
		vm_log(VM_ERROR, "%s has %zu bytes: at most %d may be put",
		       name, length, VM_BOOT_BLOB_MAX);
		return -VMPI_EINVAL;
	}
	return boot->private->backend->put(boot->private->state, name, bytes,
					   length);
}

int vm_boot_fence(struct vm_boot *boot)
{
	return boot->private->backend->fence(boot->private->state);
}

int vm_boot_get(struct vm_boot *boot, void *bytes, size_t *length, size_t room,
		int process, const char *name)
{
	if (name_check(name))
		return -VMPI_EINVAL;
	if (process < 0 || process >= boot->processes) {
		vm_log(VM_ERROR,
		       "there is no process %d among the %d of the "
		       "job",
		       process, boot->processes);
		return -VMPI_EINVAL;
	}
	return boot->private->backend->get(boot->private->state, bytes, length,
					   room, process, name);
}

void vm_boot_abort(struct vm_boot *boot, int code, const char *text,
		   bool in_handler)
{
	if (code < 1 || code > 255)
		code = 1;
	boot->private->backend->abort(boot->private->state, code, text,
				      in_handler);
}

void vm_boot_end_fd(struct vm_boot *boot, int process, int fd)
{
	vm_peer_events_end_fd(&boot->private->events, process, fd);
}

int vm_boot_watch(struct vm_boot *boot, vm_boot_peer_event_fn fn, void *arg)
{
	struct vm_boot_private *private = boot->private;
	int rc;

	VM_ASSERT(!private->watched);
	private->watched = true;
	rc = private->backend->watch(private->state);
	return rc ? rc : vm_peer_events_watch(&private->events, fn, arg);
}
