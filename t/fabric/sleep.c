/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping: packets, kicks and deadlines end it, and nothing else does, so that
 * an idle process does not run.
 */
#include <ctype.h>
#include <dirent.h>
#include <pthread.h>

#include "fork.h"

#define NEVER UINT64_MAX
#define PORTS 2

/* Sleeps until a packet has come; how many rounds that took. */
static unsigned await(struct side *side, uint64_t packets)
{
	unsigned rounds = 0;

	while (side->packets < packets) {
		side_idle(side, NEVER);
		rounds++;
	}
	return rounds;
}

/* Nothing happens for a while: how many times a sleeper wakes. */
static unsigned idle_rounds(struct side *side)
{
	uint64_t end = vm_clock_ns() + 300000000;
	unsigned rounds = 0;

	while (vm_clock_ns() < end) {
		side_idle(side, end);
		rounds++;
	}
	return rounds;
}

static void *kicker(void *arg)
{
	struct side *side = arg;

	usleep(50000);
	vm_fabric_kick(side->fabric);
	return NULL;
}

static void kicks(struct side *side, const char *name)
{
	struct vm_sleep sleep, second;
	pthread_t thread;

	while (side_poll(side))
		;
	/* The end of a poll can leave something to poll. */
	while (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		side_poll(side);
	is_int(vm_fabric_sleep_begin(side->fabric, &second), -VMPI_ESTATE,
	       "%s: one thread at a time sleeps", name);
	vm_fabric_kick(side->fabric);
	vm_fabric_sleep_wait(side->fabric, &sleep, NEVER);
	vm_fabric_sleep_end(side->fabric);
	ok(true, "%s: a kick before the wait ends it", name);
	while (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		side_poll(side);
	pthread_create(&thread, NULL, kicker, side);
	vm_fabric_sleep_wait(side->fabric, &sleep, NEVER);
	vm_fabric_sleep_end(side->fabric);
	pthread_join(thread, NULL);
	ok(true, "%s: a kick from another thread ends it", name);
	vm_fabric_kick(side->fabric);
	while (vm_fabric_sleep_begin(side->fabric, &sleep) < 0)
		side_poll(side);
	vm_fabric_sleep_wait(side->fabric, &sleep, vm_clock_ns() + 1000000);
	vm_fabric_sleep_end(side->fabric);
	ok(true, "%s: a deadline ends it", name);
}

static bool is_epoll(const char *fd)
{
	char path[300], name[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%s", fd);
	return readlink(path, name, sizeof(name) - 1) > 0 &&
	       !strcmp(name, "anon_inode:[eventpoll]");
}

/* The epolls that an epoll of this process has. */
static int inner_epolls(const char *fd)
{
	char path[300], line[200], target[16];
	int count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	file = fopen(path, "r");
	if (!file)
		bail("cannot read %s", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "tfd: %15s", target) == 1)
			count += is_epoll(target);
	fclose(file);
	return count;
}

/* A provider of TCP has one; each packet wakes those around it, too. */
static int nested_epolls(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int count = 0;

	if (!dir)
		bail("no /proc/self/fd");
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_epoll(entry->d_name))
			count += inner_epolls(entry->d_name);
	closedir(dir);
	return count;
}

/* A packet comes at a port that is left to others: only the deadline ends the
 * wait. */
static void left(struct side *side, struct child *child, const char *name)
{
	const bool all[PORTS] = { true, true };
	struct vm_sleep sleep;
	char sent;

	while (vm_fabric_sleep_beside(side->fabric, &sleep, all) < 0)
		side_poll(side);
	child_send(child, 's');
	recv(child->socket, &sent, 1, MSG_WAITALL);
	ok(!vm_fabric_sleep_wait(side->fabric, &sleep,
				 vm_clock_ns() + 50000000),
	   "%s: a packet does not wake who leaves its port to others", name);
	vm_fabric_sleep_end(side->fabric);
}

static void run(const char *provider)
{
	static char data[100];
	struct side side;
	struct child child;
	unsigned rounds;

	child_open(&child, &side, PORTS);
	kicks(&side, provider);
	if (strchr(provider, ';'))
		skip(1, "%s: it has epolls of epolls itself", provider);
	else
		is_int(nested_epolls(), 0,
		       "%s: packets come through one epoll only", provider);
	rounds = idle_rounds(&side);
	ok(rounds < 40, "%s: before any packet a sleeper sleeps (%u rounds)",
	   provider, rounds);
	child_send(&child, 's');
	rounds = await(&side, 1);
	ok(rounds < 1000, "%s: a packet wakes it (%u rounds)", provider,
	   rounds);
	for (int i = 0; i < 20; i++)
		side_send(&side, 1, 0, 0, data, 100, true, NULL);
	rounds = idle_rounds(&side);
	ok(rounds < 200, "%s: then it sleeps again (%u rounds)", provider,
	   rounds);
	child_send(&child, 's');
	rounds = await(&side, 2);
	ok(rounds < 1000, "%s: and wakes again (%u rounds)", provider, rounds);
	for (int i = 0; i < 2; i++)
		recv(child.socket, data, 1, MSG_WAITALL);
	left(&side, &child, provider);
	await(&side, 3);
	is_int(side.faults, 0, "%s: nothing is wrong", provider);
	child_send(&child, 'q');
	is_int(vm_fabric_stop(side.fabric, 10000000000u), 0,
	       "%s: it ends in order", provider);
	is_int(child_wait(&child), 0, "%s: so does the other process",
	       provider);
	vm_fabric_close(side.fabric);
}

int main(void)
{
	vm_clock_init();
	providers_and_shm(run);
	return done_testing();
}
