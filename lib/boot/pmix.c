/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMIx client: srun --mpi=pmix, Open MPI's mpirun and others.
 *
 * libpmix is loaded when a PMIx launcher has started us, and not linked: it
 * brings a dozen libraries and a thread along, which the other backends do not
 * need.  Only its functions are taken from it; what its headers do with macros
 * is written out here, because these call more functions in each version.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/own.h"
#include "boot/backend.h"
#include "boot/boot.h"
#include "boot/peer_events.h"

#define FUNCTIONS(X)                     \
	X(PMIx_Init)                     \
	X(PMIx_Finalize)                 \
	X(PMIx_Put)                      \
	X(PMIx_Commit)                   \
	X(PMIx_Fence)                    \
	X(PMIx_Get)                      \
	X(PMIx_Abort)                    \
	X(PMIx_Register_event_handler)   \
	X(PMIx_Deregister_event_handler) \
	X(PMIx_Error_string)

#define FUNCTION_FIELD(name) __typeof__(&name) name;

struct pmix {
	FUNCTIONS(FUNCTION_FIELD)
	pmix_proc_t self;
	size_t handler; /* of events, while watching */
	bool watching;
};

/* The handler of events has no argument of ours: one process, one boot.  It
 * runs on libpmix's thread. */
static struct vm_peer_events *_Atomic pmix_events;

static bool pmix_present(void)
{
	return getenv("PMIX_NAMESPACE") != NULL;
}

static int pmix_process(void)
{
	const char *text = getenv("PMIX_RANK");
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (digits > 0 && digits < 10 && !text[digits])
		return (int)strtol(text, NULL, 10);
	vm_log(VM_ERROR,
	       "PMIX_NAMESPACE is set, but PMIX_RANK=%s: a number "
	       "from 0 is needed; the launcher sets both",
	       text ? text : "");
	return -VMPI_EINVAL;
}

static int failed(const struct pmix *pmix, const char *what, int status)
{
	vm_log(VM_ERROR, "%s: %s", what, pmix->PMIx_Error_string(status));
	return -VMPI_EIO;
}

/* It stays loaded: its threads may still run in it when it is finalized. */
static int library_load(struct pmix *pmix)
{
	void *library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
	char *why;

	if (!library)
		library = dlopen(VM_PMIX_LIBDIR "/libpmix.so.2",
				 RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		why = dlerror();
		vm_log(VM_ERROR,
		       "a PMIx launcher has started this program, "
		       "but libpmix cannot be loaded: %s",
		       why ? why : "no reason given");
		return -VMPI_ENOTSUP;
	}
#define FUNCTION_LOAD(name)                                                 \
	pmix->name = (__typeof__(pmix->name))dlsym(library, #name);         \
	if (!pmix->name) {                                                  \
		vm_log(VM_ERROR, "libpmix.so.2 has no function %s", #name); \
		return -VMPI_ENOTSUP;                                       \
	}
	FUNCTIONS(FUNCTION_LOAD)
	return 0;
}

static void flag_info(pmix_info_t *info, const char *key)
{
	memset(info, 0, sizeof(*info));
	snprintf(info->key, sizeof(info->key), "%s", key);
	info->value.type = PMIX_BOOL;
	info->value.data.flag = true;
}

static pmix_proc_t proc_of(const struct pmix *pmix, pmix_rank_t rank)
{
	pmix_proc_t proc = pmix->self;

	proc.rank = rank;
	return proc;
}

/* Frees a value, of the types we ask for. */
static void value_free(pmix_value_t *value)
{
	if (value->type == PMIX_BYTE_OBJECT)
		free(value->data.bo.bytes);
	free(value);
}

static int processes_ask(const struct pmix *pmix, int *processes)
{
	pmix_proc_t all = proc_of(pmix, PMIX_RANK_WILDCARD);
	pmix_value_t *value = NULL;
	pmix_status_t status;
	uint32_t count;

	status = pmix->PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &value);
	if (status || !value)
		return failed(pmix, "PMIx: the size of the job", status);
	count = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
	value_free(value);
	if (count < 1 || count > VM_JOB_RANKS_MAX || pmix->self.rank >= count) {
		vm_log(VM_ERROR, "PMIx: this is process %u of %u",
		       (unsigned)pmix->self.rank, (unsigned)count);
		return -VMPI_EIO;
	}
	*processes = (int)count;
	return 0;
}

static int pmix_open(void **state, struct vm_boot *boot,
		     struct vm_peer_events *events)
{
	struct pmix *pmix = calloc(1, sizeof(*pmix));
	int rc = -VMPI_ENOMEM;
	pmix_status_t status;
	struct vm_own own;

	if (!pmix) {
		vm_log(VM_ERROR, "out of memory for PMIx");
		return rc;
	}
	rc = library_load(pmix);
	if (rc)
		goto free;
	/* Its thread wakes no rank, so that it hides no deadlock. */
	vm_own_begin(&own);
	status = pmix->PMIx_Init(&pmix->self, NULL, 0);
	vm_own_end(&own);
	if (status) {
		rc = failed(pmix, "PMIx_Init", status);
		goto free;
	}
	rc = processes_ask(pmix, &boot->processes);
	if (!rc)
		rc = vm_peer_events_count(events, boot->processes);
	if (rc)
		goto finalize;
	boot->process = (int)pmix->self.rank;
	if (!boot->id[0])
		snprintf(boot->id, sizeof(boot->id), "%.*s",
			 (int)sizeof(boot->id) - 1, pmix->self.nspace);
	/* Slurm does so when it is told to (-K), but does not say whether it
	 * was. */
	boot->launcher_kills = !getenv("SLURM_STEP_ID");
	boot->launcher_silent = !boot->launcher_kills;
	atomic_store(&pmix_events, events);
	*state = pmix;
	return 0;
finalize:
	pmix->PMIx_Finalize(NULL, 0);
free:
	free(pmix);
	return rc;
}

static void key_make(pmix_key_t key, const char *name)
{
	snprintf(key, sizeof(pmix_key_t), "vmpi.%s", name);
}

static int pmix_put(void *state, const char *name, const void *bytes,
		    size_t length)
{
	const struct pmix *pmix = state;
	pmix_value_t value = { .type = PMIX_BYTE_OBJECT };
	pmix_status_t status;
	pmix_key_t key;

	key_make(key, name);
	/* It is copied; the pointer is only not const. */
	value.data.bo.bytes = (char *)(uintptr_t)bytes;
	value.data.bo.size = length;
	status = pmix->PMIx_Put(PMIX_GLOBAL, key, &value);
	return status ? failed(pmix, "PMIx_Put", status) : 0;
}

static int pmix_fence(void *state)
{
	const struct pmix *pmix = state;
	pmix_status_t status = pmix->PMIx_Commit();
	pmix_info_t collect;

	if (status)
		return failed(pmix, "PMIx_Commit", status);
	flag_info(&collect, PMIX_COLLECT_DATA);
	status = pmix->PMIx_Fence(NULL, 0, &collect, 1);
	return status ? failed(pmix, "PMIx_Fence", status) : 0;
}

/* How long others may take to hand over what they have put. */
#define GET_SECONDS 5

/*
 * Everything put before the fence has come, as a rule, and is asked for without
 * waiting for more.  Open MPI 5 leaves it on the host of who has put it: it is
 * fetched from there when it is asked for without that word.  Slurm, which does
 * not, would wait for what is not there however long it is told to.
 */
static pmix_status_t value_get(const struct pmix *pmix, pmix_value_t **value,
			       int process, const char *key)
{
	pmix_proc_t proc = proc_of(pmix, (pmix_rank_t)process);
	pmix_status_t status;
	pmix_info_t how;

	flag_info(&how, PMIX_IMMEDIATE);
	status = pmix->PMIx_Get(&proc, key, &how, 1, value);
	if (status != PMIX_ERR_NOT_FOUND || proc.rank == pmix->self.rank ||
	    getenv("SLURM_STEP_ID"))
		return status;
	flag_info(&how, PMIX_TIMEOUT);
	how.value.type = PMIX_INT;
	how.value.data.integer = GET_SECONDS;
	*value = NULL;
	status = pmix->PMIx_Get(&proc, key, &how, 1, value);
	return status == PMIX_ERR_TIMEOUT || status == PMIX_ERROR ?
		       PMIX_ERR_NOT_FOUND :
		       status;
}

static int pmix_get(void *state, void *bytes, size_t *length, size_t room,
		    int process, const char *name)
{
	const struct pmix *pmix = state;
	pmix_value_t *value = NULL;
	pmix_status_t status;
	pmix_key_t key;
	int rc = 0;

	key_make(key, name);
	status = value_get(pmix, &value, process, key);
	if (status == PMIX_ERR_NOT_FOUND)
		return -VMPI_ENOENT;
	if (status || !value)
		return failed(pmix, "PMIx_Get", status);
	if (value->type != PMIX_BYTE_OBJECT) {
		vm_log(VM_ERROR, "process %d has put no valid %s", process,
		       name);
		rc = -VMPI_EIO;
	} else {
		*length = value->data.bo.size;
		if (*length > room)
			rc = -VMPI_ELIMIT;
		else if (*length)
			memcpy(bytes, value->data.bo.bytes, *length);
	}
	value_free(value);
	return rc;
}

static void pmix_abort(void *state, int code, const char *text, bool in_handler)
{
	const struct pmix *pmix = state;

	/* Launchers end a job one process of which exits with a code; from a
	 * handler that must suffice. */
	if (!in_handler)
		pmix->PMIx_Abort(code, text, NULL, 0);
}

/* The process that an event is about: in the list of infos, or the source of
 * the event. */
static int event_process(const pmix_proc_t *source, const pmix_info_t *info,
			 size_t count)
{
	const pmix_proc_t *about = source;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) &&
		    info[i].value.type == PMIX_PROC)
			about = info[i].value.data.proc;
	return about && about->rank < VM_JOB_RANKS_MAX ? (int)about->rank : -2;
}

static void event_take(size_t id, pmix_status_t event,
		       const pmix_proc_t *source, pmix_info_t *info,
		       size_t count, pmix_info_t *results, size_t result_count,
		       pmix_event_notification_cbfunc_fn_t done, void *done_arg)
{
	struct vm_peer_events *events = atomic_load(&pmix_events);

	if (events)
		vm_peer_events_add(events,
				   event == PMIX_ERR_LOST_CONNECTION ?
					   -1 :
					   event_process(source, info, count),
				   -1);
	if (done)
		done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_arg);
}

/* The result of a registration; the caller waits for it. */
struct registration {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool done;
	pmix_status_t status;
	size_t handler;
};

static void registered(pmix_status_t status, size_t handler, void *arg)
{
	struct registration *registration = arg;

	pthread_mutex_lock(&registration->lock);
	registration->status = status;
	registration->handler = handler;
	registration->done = true;
	pthread_cond_signal(&registration->changed);
	pthread_mutex_unlock(&registration->lock);
}

static int pmix_watch(void *state)
{
	pmix_status_t codes[] = {
		PMIX_ERR_LOST_CONNECTION,   PMIX_ERR_PROC_TERM_WO_SYNC,
		PMIX_EVENT_PROC_TERMINATED, PMIX_ERR_PROC_KILLED_BY_CMD,
		PMIX_ERR_PROC_ABORTED,
	};
	struct registration registration = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct pmix *pmix = state;

	pmix->PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(*codes),
					  NULL, 0, event_take, registered,
					  &registration);
	pthread_mutex_lock(&registration.lock);
	while (!registration.done)
		pthread_cond_wait(&registration.changed, &registration.lock);
	pthread_mutex_unlock(&registration.lock);
	if (registration.status)
		return failed(pmix, "PMIx_Register_event_handler",
			      registration.status);
	pmix->handler = registration.handler;
	pmix->watching = true;
	return 0;
}

static void pmix_close(void *state)
{
	struct pmix *pmix = state;

	/* Blocks without a callback: no event is under way afterwards. */
	if (pmix->watching)
		pmix->PMIx_Deregister_event_handler(pmix->handler, NULL, NULL);
	atomic_store(&pmix_events, NULL);
	pmix->PMIx_Finalize(NULL, 0);
	free(pmix);
}

const struct vm_boot_backend vm_boot_pmix = {
	.name = "pmix",
	.present = pmix_present,
	.process = pmix_process,
	.open = pmix_open,
	.put = pmix_put,
	.fence = pmix_fence,
	.get = pmix_get,
	.abort = pmix_abort,
	.watch = pmix_watch,
	.close = pmix_close,
};
