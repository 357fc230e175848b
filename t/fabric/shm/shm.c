/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of several processes: they meet, or have reasons not to; rings, wakes,
 * moves of memory; nothing is left of who is killed.
 */
#include "fabric/shm/shm.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pattern.h"
#include "tap.h"

#define BYTES 100000
#define MUCH (256u << 20) /* takes long to be freed */

/* What the child has to say. */
struct said {
	struct vm_shm_place place;
	struct vm_shm_place far;
	_Atomic int step;
	char *memory;
	bool met;
};

static struct said *said;

static struct vm_shm *shm_new(uint32_t process, uint64_t job)
{
	const struct vm_shm_config config = {
		.job = job, .process = process, .processes = 2, .ports = 2
	};
	struct vm_shm *shm;
	const char *why;

	if (vm_shm_open(&shm, &config, &why) < 0)
		skip_all("no memory can be shared: %s", why);
	return shm;
}

static void step_wait(int step)
{
	while (said->step < step)
		usleep(100);
}

/* Memory that takes the kernel a while to free. */
static void much_take(void)
{
	char *memory = mmap(NULL, MUCH, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory != MAP_FAILED)
		memset(memory, 1, MUCH);
}

static _Noreturn void child(bool hidden, uint64_t job)
{
	struct vm_shm_reader reader = { 0 };
	uint32_t process, from;
	struct vm_shm *shm;
	const char *why;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shm = shm_new(1, job);
	if (hidden)
		prctl(PR_SET_DUMPABLE, 0);
	said->memory = malloc(BYTES);
	pattern_fill(said->memory, 1, BYTES);
	much_take();
	vm_shm_place(shm, &said->place);
	said->met = vm_shm_meet(shm, 0, 2, &said->far, &why) == 0;
	said->step = 1;
	step_wait(2);
	*vm_shm_away(shm) = 1;
	vm_shm_sleep_begin(shm, (const bool[2]){ true, false });
	if (vm_shm_inlets(shm, 1) == 0) {
		struct pollfd fd = { .fd = vm_shm_fd(shm), .events = POLLIN };

		said->step = 3;
		poll(&fd, 1, 10000);
		vm_shm_sleep_end(shm, fd.revents & POLLIN);
	}
	while (!vm_shm_inlet(shm, 1, 0, &reader, &process, &from) ||
	       !vm_shm_peek(&reader))
		usleep(100);
	said->step = process == 0 && from == 1 ? 4 : 5;
	step_wait(9);
	_exit(0);
}

/* Starts a child, which knows our place. */
static pid_t child_start(struct vm_shm *shm, bool hidden, uint64_t job)
{
	pid_t pid;

	memset(said, 0, sizeof(*said));
	vm_shm_place(shm, &said->far);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		child(hidden, job);
	step_wait(1);
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int move_one(struct vm_shm *shm, void *there, void *here, size_t bytes,
		    bool write)
{
	struct iovec local = { here, bytes }, remote = { there, bytes };
	struct vm_load load = vm_load_one(&local, &remote);

	return vm_shm_move(shm, 1, &load, 0, bytes, write);
}

static void moves(struct vm_shm *shm)
{
	char *here = malloc(BYTES);
	char *there = said->memory;

	ok(vm_shm_moves_near(shm, 1) && vm_shm_moves_far(shm, 1),
	   "each may move the other's memory");
	is_int(move_one(shm, there, here, BYTES, false), 0, "a read");
	ok(pattern_fits(here, 1, BYTES), "brings its bytes");
	pattern_fill(here, 2, BYTES);
	is_int(move_one(shm, there, here, BYTES, true), 0, "a write");
	memset(here, 0, BYTES);
	move_one(shm, there, here, BYTES, false);
	ok(pattern_fits(here, 2, BYTES), "takes them there");
	is_int(move_one(shm, (void *)8, here, BYTES, false), -VMPI_EINVAL,
	       "a place that is none is refused");
	ok(vm_shm_moves_near(shm, 1), "which has no consequence");
	free(here);
}

static void together(void)
{
	struct vm_shm *shm = shm_new(0, 5);
	pid_t pid = child_start(shm, false, 5);
	struct vm_shm_writer *outlet, *beside;
	struct vm_shm_slot *slot;
	const char *why;
	siginfo_t info;
	void *data;

	ok(said->met, "the other process finds our memory");
	ok(!vm_shm_near(shm, 1), "it is not near before we have found its");
	is_int(vm_shm_meet(shm, 1, 2, &said->place, &why), 0, "we find its");
	ok(vm_shm_near(shm, 1), "and it is near");
	ok(!vm_shm_is_away(shm, 1), "it has not said that it has yielded");
	said->step = 2;
	step_wait(3);
	ok(vm_shm_is_away(shm, 1), "... until it says so");
	is_int(vm_shm_outlet(&beside, shm, 1, 0, 1), 0, "it has a ring for us");
	is_int(vm_shm_outlet(&outlet, shm, 1, 1, 1), 0, "and one at a port");
	ok(!vm_shm_sleeps(&beside->reader),
	   "it does not wake for what others poll");
	ok(vm_shm_sleeps(&outlet->reader), "but for the port that it watches");
	slot = vm_shm_room(outlet, 4, &data);
	memcpy(data, "wake", 4);
	vm_shm_publish(outlet, slot, 4, data);
	vm_shm_wake(shm, 1, &outlet->reader);
	while (said->step == 3)
		usleep(100);
	is_int(said->step, 4, "it is woken, and knows who has written");
	moves(shm);
	ok(!vm_shm_dead(shm, 1), "it lives");
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	ok(vm_shm_dead(shm, 1), "who is killed does not, waited for or not");
	child_end(pid);
	ok(vm_shm_dead(shm, 1), "nor afterwards");
	vm_shm_wake(shm, 1, &outlet->reader);
	is_int(move_one(shm, said->memory, &(char){ 0 }, 1, false), -VMPI_EPEER,
	       "who is dead has no memory");
	slot = vm_shm_room(outlet, 4, &data);
	vm_shm_publish(outlet, slot, 4, data);
	ok(true, "but its ring can be written to");
	free(outlet);
	free(beside);
	vm_shm_close(shm);
}

/* The memory of a process ends before the process. */
static void dying(void)
{
	struct vm_shm *shm = shm_new(0, 5);
	pid_t pid = child_start(shm, false, 5);
	siginfo_t info = { 0 };
	const char *why;
	char here;
	int rc;

	vm_shm_meet(shm, 1, 2, &said->place, &why);
	kill(pid, SIGKILL);
	do
		rc = move_one(shm, said->memory, &here, 1, false);
	while (rc == 0);
	is_int(rc, -VMPI_EPEER, "who is dying has no memory");
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
	is_int(info.si_pid, pid, "and its parent can wait for it by then");
	child_end(pid);
	vm_shm_close(shm);
}

static void apart(void)
{
	struct vm_shm *shm = shm_new(0, 5);
	pid_t pid = child_start(shm, false, 6);
	struct vm_shm_place other;
	const char *why = "";

	is_int(vm_shm_meet(shm, 1, 2, &said->place, &why), -VMPI_ENOTSUP,
	       "a process of another job is refused");
	is_string(why, "its file has another head", "by its file");
	other = said->place;
	other.space++;
	vm_shm_meet(shm, 1, 2, &other, &why);
	is_string(why, "it is elsewhere", "one of another host");
	other = said->place;
	other.fd = 0;
	is_int(vm_shm_meet(shm, 1, 2, &other, &why), -VMPI_ENOTSUP,
	       "a descriptor of another kind");
	other = said->place;
	other.rings = UINT32_MAX;
	is_int(vm_shm_meet(shm, 1, 2, &other, &why), -VMPI_ENOTSUP,
	       "numbers that are impossible");
	ok(!vm_shm_near(shm, 1), "none of them is near");
	child_end(pid);
	is_int(vm_shm_meet(shm, 1, 2, &said->place, &why), -VMPI_ENOTSUP,
	       "and who is dead has no file");
	vm_shm_close(shm);
}

static void hidden(void)
{
	struct vm_shm *shm = shm_new(0, 5);
	pid_t pid = child_start(shm, true, 5);
	const char *why;
	int rc = vm_shm_meet(shm, 1, 2, &said->place, &why);

	if (rc == 0)
		skip(2, "this user may look into any process");
	else
		ok(said->met && !vm_shm_near(shm, 1),
		   "who forbids to look into it is not near, although it has "
		   "found us");
	child_end(pid);
	vm_shm_close(shm);
}

static void refused(void)
{
	const struct vm_shm_config config = {
		.job = 1, .process = 0, .processes = 2, .ports = 1
	};
	struct rlimit before, none;
	const char *why = NULL;
	struct vm_shm *shm;

	signal(SIGXFSZ, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &before);
	none = before;
	none.rlim_cur = 100000;
	setrlimit(RLIMIT_FSIZE, &none);
	is_int(vm_shm_open(&shm, &config, &why), -VMPI_ELIMIT,
	       "a limit of files is no signal, but a reason");
	setrlimit(RLIMIT_FSIZE, &before);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	is_int(vm_shm_open(&shm, &config, &why), -VMPI_ELIMIT,
	       "and so is a lack of descriptors");
	setrlimit(RLIMIT_NOFILE, &before);
}

int main(void)
{
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	together();
	dying();
	apart();
	hidden();
	refused();
	return done_testing();
}
