/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop around poll(2).  Duties are looked at one by one with the lock held and
 * run without it; `busy` says which one, so that whoever takes it back waits.
 */
#include "core/service/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/runtime/node.h"

#define DUTIES_MAX VM_STEWARD_DUTIES_MAX
#define MILLISECOND_NS UINT64_C(1000000)

void vm_steward_init(struct vm_steward *steward)
{
	memset(steward, 0, sizeof(*steward));
	pthread_mutex_init(&steward->lock, NULL);
	pthread_cond_init(&steward->rested, NULL);
	steward->wake_fd = -1;
}

/* The loop looks at its duties again. */
static void wake(struct vm_steward *steward)
{
	const uint64_t one = 1;

	/* The counter is full only when the loop will wake anyway. */
	if (steward->running && write(steward->wake_fd, &one, sizeof(one)) < 0)
		VM_ASSERT(errno == EAGAIN || errno == EINTR);
}

static uint64_t due_after(uint64_t period_ns)
{
	uint64_t now = vm_clock_ns();

	return period_ns < UINT64_MAX - now ? now + period_ns : UINT64_MAX;
}

static struct vm_steward_duty *duty_find(struct vm_steward *steward, int id)
{
	for (int i = 0; id > 0 && i < DUTIES_MAX; i++)
		if (steward->duties[i].id == id)
			return &steward->duties[i];
	return NULL;
}

/* Under the lock, which is given away meanwhile. */
static void duty_run(struct vm_steward *steward, int id, short revents)
{
	struct vm_steward_duty *duty = duty_find(steward, id);
	struct vm_steward_duty own;
	uint64_t now = vm_clock_ns();

	if (!duty)
		return;
	own = *duty;
	if (own.fd < 0 && now < own.due_ns)
		return;
	steward->busy = id;
	pthread_mutex_unlock(&steward->lock);
	if (own.fd < 0)
		own.tick(own.arg, now);
	else
		own.ready(own.arg, own.fd, revents);
	pthread_mutex_lock(&steward->lock);
	steward->busy = 0;
	pthread_cond_broadcast(&steward->rested);
	duty = duty_find(steward, id);
	/* It may have got another period meanwhile. */
	if (duty && duty->fd < 0 && duty->due_ns == own.due_ns)
		duty->due_ns = due_after(duty->period_ns);
}

/* What poll(2) is asked.  ids[i] is the duty of fds[i]; the first is `wake_fd`. */
struct round {
	struct pollfd fds[1 + DUTIES_MAX];
	int ids[1 + DUTIES_MAX];
	int ticks[DUTIES_MAX];
	nfds_t fd_count;
	int tick_count;
	uint64_t due_ns;
};

static void round_plan(struct round *round, const struct vm_steward *steward)
{
	*round = (struct round){ .fd_count = 1, .due_ns = UINT64_MAX };
	round->fds[0] = (struct pollfd){ steward->wake_fd, POLLIN, 0 };
	for (int i = 0; i < DUTIES_MAX; i++) {
		const struct vm_steward_duty *duty = &steward->duties[i];

		if (duty->id && duty->fd >= 0) {
			round->ids[round->fd_count] = duty->id;
			round->fds[round->fd_count++] =
				(struct pollfd){ duty->fd, duty->events, 0 };
		} else if (duty->id) {
			round->ticks[round->tick_count++] = duty->id;
			if (duty->due_ns < round->due_ns)
				round->due_ns = duty->due_ns;
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

static void wake_taken(const struct vm_steward *steward)
{
	uint64_t count;

	if (read(steward->wake_fd, &count, sizeof(count)) < 0)
		VM_ASSERT(errno == EAGAIN || errno == EINTR);
}

static void *steward_main(void *arg)
{
	struct vm_steward *steward = arg;
	struct round round;

	pthread_mutex_lock(&steward->lock);
	while (!steward->stopping) {
		int ready;

		round_plan(&round, steward);
		pthread_mutex_unlock(&steward->lock);
		ready = poll(round.fds, round.fd_count, wait_ms(round.due_ns));
		if (ready > 0 && round.fds[0].revents)
			wake_taken(steward);
		pthread_mutex_lock(&steward->lock);
		for (nfds_t i = 1; ready > 0 && i < round.fd_count; i++)
			if (round.fds[i].revents && !steward->stopping)
				duty_run(steward, round.ids[i],
					 round.fds[i].revents);
		for (int i = 0; i < round.tick_count; i++)
			if (!steward->stopping)
				duty_run(steward, round.ticks[i], 0);
	}
	pthread_mutex_unlock(&steward->lock);
	return NULL;
}

/* Those of a mistake in a policy have to say what and where. */
static void signals_all(sigset_t *set)
{
	static const int mistakes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
					SIGABRT };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++)
		sigdelset(set, mistakes[i]);
}

/* Under the lock: the thread, which no signal for the program reaches. */
static int thread_start(struct vm_steward *steward)
{
	sigset_t all, before;
	int error = 0;

	if (steward->running)
		return 0;
	steward->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (steward->wake_fd < 0) {
		error = errno;
		goto fail;
	}
	signals_all(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&steward->thread, NULL, steward_main, steward);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		close(steward->wake_fd);
		goto fail;
	}
	steward->running = true;
	return 0;
fail:
	steward->wake_fd = -1;
	vm_log(VM_ERROR, "the steward's thread cannot be started: %s",
	       strerror(error));
	return -VMPI_ELIMIT;
}

static int next_id(struct vm_steward *steward)
{
	do
		steward->last_id = steward->last_id % INT32_MAX + 1;
	while (duty_find(steward, steward->last_id));
	return steward->last_id;
}

/* Puts a duty into the first free place. */
static int duty_add(const struct vm_steward_duty *new)
{
	struct vm_steward *steward;
	int place = 0, rc;

	if (!vm_node)
		return -VMPI_ESTATE;
	steward = &vm_node->steward;
	pthread_mutex_lock(&steward->lock);
	while (place < DUTIES_MAX && steward->duties[place].id)
		place++;
	if (steward->stopping) {
		rc = -VMPI_ESTATE;
	} else if (place == DUTIES_MAX) {
		vm_log(VM_ERROR, "the steward has %d duties already",
		       DUTIES_MAX);
		rc = -VMPI_ELIMIT;
	} else {
		rc = thread_start(steward);
	}
	if (rc == 0) {
		rc = next_id(steward);
		steward->duties[place] = *new;
		steward->duties[place].id = rc;
		wake(steward);
	}
	pthread_mutex_unlock(&steward->lock);
	return rc;
}

int vm_steward_every(uint64_t period_ns, vm_steward_tick *tick, void *arg)
{
	struct vm_steward_duty duty = { .fd = -1,
					.period_ns = period_ns,
					.due_ns = due_after(period_ns),
					.tick = tick,
					.arg = arg };

	return period_ns ? duty_add(&duty) : -VMPI_EINVAL;
}

int vm_steward_fd(int fd, short events, vm_steward_ready *ready, void *arg)
{
	struct vm_steward_duty duty = {
		.fd = fd, .events = events, .ready = ready, .arg = arg
	};

	return fd < 0 ? -VMPI_EINVAL : duty_add(&duty);
}

/* Locks and finds a duty of the kind; NULL, unlocked: there is none. */
static struct vm_steward_duty *duty_take(int id, bool tick)
{
	struct vm_steward_duty *duty;

	if (!vm_node)
		return NULL;
	pthread_mutex_lock(&vm_node->steward.lock);
	duty = duty_find(&vm_node->steward, id);
	if (duty && (duty->fd < 0) == tick)
		return duty;
	pthread_mutex_unlock(&vm_node->steward.lock);
	return NULL;
}

static void duty_give(void)
{
	wake(&vm_node->steward);
	pthread_mutex_unlock(&vm_node->steward.lock);
}

int vm_steward_period(int id, uint64_t period_ns)
{
	struct vm_steward_duty *duty;

	if (!period_ns)
		return -VMPI_EINVAL;
	duty = duty_take(id, true);
	if (!duty)
		return -VMPI_ENOENT;
	duty->period_ns = period_ns;
	duty->due_ns = due_after(period_ns);
	duty_give();
	return 0;
}

int vm_steward_events(int id, short events)
{
	struct vm_steward_duty *duty = duty_take(id, false);

	if (!duty)
		return -VMPI_ENOENT;
	duty->events = events;
	duty_give();
	return 0;
}

int vm_steward_drop(int id)
{
	struct vm_steward *steward;
	struct vm_steward_duty *duty;
	int rc = -VMPI_ENOENT;

	if (!vm_node)
		return rc;
	steward = &vm_node->steward;
	pthread_mutex_lock(&steward->lock);
	duty = duty_find(steward, id);
	if (duty) {
		*duty = (struct vm_steward_duty){ 0 };
		wake(steward);
		rc = 0;
	}
	while (rc == 0 && steward->busy == id &&
	       !pthread_equal(pthread_self(), steward->thread))
		pthread_cond_wait(&steward->rested, &steward->lock);
	pthread_mutex_unlock(&steward->lock);
	return rc;
}

void vm_steward_stop(struct vm_steward *steward)
{
	bool running;

	pthread_mutex_lock(&steward->lock);
	steward->stopping = true;
	wake(steward);
	running = steward->running;
	steward->running = false;
	pthread_mutex_unlock(&steward->lock);
	if (!running)
		return;
	pthread_join(steward->thread, NULL);
	close(steward->wake_fd);
	steward->wake_fd = -1;
}

void vm_steward_fini(struct vm_steward *steward)
{
	vm_steward_stop(steward);
	pthread_cond_destroy(&steward->rested);
	pthread_mutex_destroy(&steward->lock);
}
