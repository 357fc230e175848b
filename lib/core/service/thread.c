/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop around poll(2).  Handlers are examined one by one with the lock held
 * and run without it; `busy` names the running one, so that a thread that drops
 * it waits.
 */
#include "core/service/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/own.h"
#include "core/rank/state.h"

#define DUTIES_MAX VM_SERVICE_HANDLERS_MAX
#define MILLISECOND_NS UINT64_C(1000000)

int vm_service_init(struct vm_node *node)
{
	struct vm_service *service = calloc(1, sizeof(*service));

	if (!service)
		return -VMPI_ENOMEM;
	pthread_mutex_init(&service->lock, NULL);
	pthread_cond_init(&service->rested, NULL);
	service->wake_fd = -1;
	node->service = service;
	return 0;
}

/* Makes the loop examine its handlers again. */
static void wake(struct vm_service *service)
{
	const uint64_t one = 1;

	/* The counter is full only when the loop will wake anyway. */
	if (service->running && write(service->wake_fd, &one, sizeof(one)) < 0)
		VM_ASSERT(errno == EAGAIN || errno == EINTR);
}

static uint64_t due_after(uint64_t period_ns)
{
	uint64_t now = vm_clock_ns();

	return period_ns < UINT64_MAX - now ? now + period_ns : UINT64_MAX;
}

static struct vm_service_handler *handler_find(struct vm_service *service,
					       int id)
{
	for (int i = 0; id > 0 && i < DUTIES_MAX; i++)
		if (service->handlers[i].id == id)
			return &service->handlers[i];
	return NULL;
}

/* Under the lock, which is released meanwhile. */
static void handler_run(struct vm_service *service, int id, short revents)
{
	struct vm_service_handler *handler = handler_find(service, id);
	struct vm_service_handler own;
	uint64_t now = vm_clock_ns();

	if (!handler)
		return;
	own = *handler;
	if (own.fd < 0 && now < own.due_ns)
		return;
	service->busy = id;
	pthread_mutex_unlock(&service->lock);
	if (own.fd < 0)
		own.tick(own.arg, now);
	else
		own.ready(own.arg, own.fd, revents);
	pthread_mutex_lock(&service->lock);
	service->busy = 0;
	pthread_cond_broadcast(&service->rested);
	handler = handler_find(service, id);
	/* It may have got another period meanwhile. */
	if (handler && handler->fd < 0 && handler->due_ns == own.due_ns)
		handler->due_ns = due_after(handler->period_ns);
}

/* The arguments of poll(2).  ids[i] is the handler of fds[i]; the first is
 * `wake_fd`. */
struct round {
	struct pollfd fds[1 + DUTIES_MAX];
	int ids[1 + DUTIES_MAX];
	int ticks[DUTIES_MAX];
	nfds_t fd_count;
	int tick_count;
	uint64_t due_ns;
};

static void round_plan(struct round *round, const struct vm_service *service)
{
	*round = (struct round){ .fd_count = 1, .due_ns = UINT64_MAX };
	round->fds[0] = (struct pollfd){ service->wake_fd, POLLIN, 0 };
	for (int i = 0; i < DUTIES_MAX; i++) {
		const struct vm_service_handler *handler =
			&service->handlers[i];

		if (handler->id && handler->fd >= 0) {
			round->ids[round->fd_count] = handler->id;
			round->fds[round->fd_count++] =
				(struct pollfd){ handler->fd, handler->events,
						 0 };
		} else if (handler->id) {
			round->ticks[round->tick_count++] = handler->id;
			if (handler->due_ns < round->due_ns)
				round->due_ns = handler->due_ns;
		}
	}
}

/* In milliseconds, rounded up; a long time is waited for in parts. */
static int wait_ms(uint64_t due_ns)
{
	const int most_ms = 3600000;
	uint64_t now = vm_clock_ns(), ms;

	if (due_ns == UINT64_MAX)
		return -1;
	if (due_ns <= now)
		return 0;
	ms = (due_ns - now - 1) / MILLISECOND_NS + 1;
	return ms > (uint64_t)most_ms ? most_ms : (int)ms;
}

static void wake_taken(const struct vm_service *service)
{
	uint64_t count;

	if (read(service->wake_fd, &count, sizeof(count)) < 0)
		VM_ASSERT(errno == EAGAIN || errno == EINTR);
}

static void *service_main(void *arg)
{
	struct vm_service *service = arg;
	struct round round;

	pthread_mutex_lock(&service->lock);
	while (!service->stopping) {
		int ready;

		round_plan(&round, service);
		pthread_mutex_unlock(&service->lock);
		ready = poll(round.fds, round.fd_count, wait_ms(round.due_ns));
		if (ready > 0 && round.fds[0].revents)
			wake_taken(service);
		pthread_mutex_lock(&service->lock);
		for (nfds_t i = 1; ready > 0 && i < round.fd_count; i++)
			if (round.fds[i].revents && !service->stopping)
				handler_run(service, round.ids[i],
					    round.fds[i].revents);
		for (int i = 0; i < round.tick_count; i++)
			if (!service->stopping)
				handler_run(service, round.ticks[i], 0);
	}
	pthread_mutex_unlock(&service->lock);
	return NULL;
}

/* Signals of a mistake in a policy must stay enabled to report it. */
static void signals_all(sigset_t *set)
{
	static const int mistakes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
					SIGABRT };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		sigdelset(set, mistakes[i]);
}

/* Under the lock: the thread, which no signal for the program reaches. */
static int thread_start(struct vm_service *service)
{
	sigset_t all, before;
	struct vm_own own;
	int error = 0;

	if (service->running)
		return 0;
	service->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (service->wake_fd < 0) {
		error = errno;
		goto fail;
	}
	signals_all(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	vm_own_begin(&own);
	error = vm_own_create(&service->thread, service_main, service);
	vm_own_end(&own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		close(service->wake_fd);
		goto fail;
	}
	service->running = true;
	return 0;
fail:
	service->wake_fd = -1;
	vm_log(VM_ERROR, "the service's thread cannot be started: %s",
	       vm_own_why(error));
	return -VMPI_ELIMIT;
}

static int next_id(struct vm_service *service)
{
	do
		service->last_id = service->last_id % INT32_MAX + 1;
	while (handler_find(service, service->last_id));
	return service->last_id;
}

/* Puts a handler into the first free place. */
static int handler_add(const struct vm_service_handler *new)
{
	struct vm_service *service;
	int place = 0, rc;

	if (!vm_node)
		return -VMPI_ESTATE;
	service = vm_node->service;
	pthread_mutex_lock(&service->lock);
	while (place < DUTIES_MAX && service->handlers[place].id)
		place++;
	if (service->stopping) {
		rc = -VMPI_ESTATE;
	} else if (place == DUTIES_MAX) {
		vm_log(VM_ERROR, "the service has %d handlers already",
		       DUTIES_MAX);
		rc = -VMPI_ELIMIT;
	} else {
		rc = thread_start(service);
	}
	if (rc == 0) {
		rc = next_id(service);
		service->handlers[place] = *new;
		service->handlers[place].id = rc;
		wake(service);
	}
	pthread_mutex_unlock(&service->lock);
	return rc;
}

int vm_service_every(uint64_t period_ns, vm_service_tick *tick, void *arg)
{
	struct vm_service_handler handler = { .fd = -1,
					      .period_ns = period_ns,
					      .due_ns = due_after(period_ns),
					      .tick = tick,
					      .arg = arg };

	return period_ns ? handler_add(&handler) : -VMPI_EINVAL;
}

int vm_service_fd(int fd, short events, vm_service_ready *ready, void *arg)
{
	struct vm_service_handler handler = {
		.fd = fd, .events = events, .ready = ready, .arg = arg
	};

	return fd < 0 ? -VMPI_EINVAL : handler_add(&handler);
}

/* Locks and finds a handler of the kind; NULL, unlocked: there is none. */
static struct vm_service_handler *handler_take(int id, bool tick)
{
	struct vm_service_handler *handler;

	if (!vm_node)
		return NULL;
	pthread_mutex_lock(&vm_node->service->lock);
	handler = handler_find(vm_node->service, id);
	if (handler && (handler->fd < 0) == tick)
		return handler;
	pthread_mutex_unlock(&vm_node->service->lock);
	return NULL;
}

static void handler_give(void)
{
	wake(vm_node->service);
	pthread_mutex_unlock(&vm_node->service->lock);
}

int vm_service_period(int id, uint64_t period_ns)
{
	struct vm_service_handler *handler;

	if (!period_ns)
		return -VMPI_EINVAL;
	handler = handler_take(id, true);
	if (!handler)
		return -VMPI_ENOENT;
	handler->period_ns = period_ns;
	handler->due_ns = due_after(period_ns);
	handler_give();
	return 0;
}

int vm_service_events(int id, short events)
{
	struct vm_service_handler *handler = handler_take(id, false);

	if (!handler)
		return -VMPI_ENOENT;
	handler->events = events;
	handler_give();
	return 0;
}

int vm_service_drop(int id)
{
	struct vm_service *service;
	struct vm_service_handler *handler;
	int rc = -VMPI_ENOENT;

	if (!vm_node)
		return rc;
	service = vm_node->service;
	pthread_mutex_lock(&service->lock);
	handler = handler_find(service, id);
	if (handler) {
		*handler = (struct vm_service_handler){ 0 };
		wake(service);
		rc = 0;
	}
	while (rc == 0 && service->busy == id &&
	       !pthread_equal(pthread_self(), service->thread))
		pthread_cond_wait(&service->rested, &service->lock);
	pthread_mutex_unlock(&service->lock);
	return rc;
}

void vm_service_stop(struct vm_node *node)
{
	struct vm_service *service = node->service;
	bool running;

	if (!service)
		return;
	pthread_mutex_lock(&service->lock);
	service->stopping = true;
	wake(service);
	running = service->running;
	service->running = false;
	pthread_mutex_unlock(&service->lock);
	if (!running)
		return;
	pthread_join(service->thread, NULL);
	close(service->wake_fd);
	service->wake_fd = -1;
}

void vm_service_fini(struct vm_node *node)
{
	struct vm_service *service = node->service;

	if (!service)
		return;
	vm_service_stop(node);
	node->service = NULL;
	pthread_cond_destroy(&service->rested);
	pthread_mutex_destroy(&service->lock);
	free(service);
}
